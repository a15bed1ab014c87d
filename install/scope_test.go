package install

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/install/atomicfile"
	"github.com/flow-agents/flow-agents/install/bundle"
)

func TestUserScope(t *testing.T) {
	for _, moved := range []bool{false, true} {
		w := newWorld(t)
		dir := filepath.Join(w.Home, ".claude")
		if moved {
			dir = filepath.Join(filepath.Dir(w.Home), "elsewhere")
			w.env["CLAUDE_CONFIG_DIR"] = dir
		}
		require.NoError(t, os.MkdirAll(dir, 0o755))
		path := filepath.Join(dir, "settings.json")
		require.NoError(t, os.WriteFile(path, []byte(`{"model": "opus"}`), 0o600))
		project := contents(t, w.root)

		req := Request{Root: w.root, Scope: bundle.User, Hosts: []string{"claude-code"}}
		plan := w.init(req)
		require.Empty(t, plan.Commit)
		require.Equal(t, []bundle.Trust{{Scope: "user", Text: "Nothing to trust."}}, plan.Trust)
		require.Equal(t, project, contents(t, w.root))
		require.FileExists(t, filepath.Join(w.Machine, "state", "install.json"))
		status := w.status()
		require.True(t, status.OK)
		require.Equal(t, bundle.User, status.Hosts[0].Scope)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

		w.uninstall(Request{Scope: bundle.User})
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, `{"model": "opus"}`, string(data))
	}
}

func TestScopesThatClash(t *testing.T) {
	w := newWorld(t)
	local := w.request("claude-code")
	local.Scope = bundle.Local
	w.init(local)
	require.NoFileExists(t, filepath.Join(w.root, ".flow-agents/settings.json"))

	_, err := w.Init(w.request("claude-code"), false)
	require.ErrorContains(t, err, ".claude/settings.local.json:6: claude-code is installed in the local scope too, so every event would run twice; to undo: ~/.flow-agents/bin/flow-agents uninstall --scope local --host claude-code")

	// A user's own hooks are reported, not refused.
	user := Request{Scope: bundle.User, Hosts: []string{"claude-code"}}
	w.init(user)
	plan := w.init(local)
	require.Contains(t, plan.Findings[0].Text, "uninstall --global --host claude-code")
	require.False(t, plan.Changed())

	// Two scopes that share a file are one installation.
	codex := w.request("codex")
	w.init(codex)
	codex.Scope = bundle.Local
	w.init(codex)
	require.NotContains(t, w.read(".codex/hooks.json"), "test -x")
	for _, h := range w.status().Hosts {
		if h.Host == "codex" {
			require.Equal(t, bundle.Local, h.Scope)
			require.True(t, h.OK)
		}
	}
	w.uninstall(codex)
	require.NoDirExists(t, filepath.Join(w.root, ".codex"))
}

func TestOurPluginIsEnabled(t *testing.T) {
	for text, refused := range map[string]bool{
		"{\n  \"enabledPlugins\": {\n    \"flow-agents@acme\": true\n  }\n}":   true,
		"{\n  \"enabledPlugins\": {\n    \"flow-agents@acme\": false\n  }\n}":  false,
		"{\n  \"enabledPlugins\": {\n    \"flow-agents-x@acme\": true\n  }\n}": false,
		"{\n  \"plugins\": [\n    \"flow-agents@1.0.0\"]\n}":                   true,
	} {
		w := newWorld(t)
		path := filepath.Join(w.Home, ".claude", "settings.json")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := w.Init(w.request("claude-code"), false)
		if !refused {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "~/.claude/settings.json:3: ")
		require.ErrorContains(t, err, "the plugin of flow-agents is enabled, so every event would run twice")
	}
}

func TestSurfaces(t *testing.T) {
	agent, hooks := ".kiro/agents/flow-agents.json", ".kiro/hooks/flow-agents.json"
	has := func(w *world, rel string) bool { return exists(filepath.Join(w.root, rel)) }
	tests := []struct {
		name, surface string
		folders       []string
		agent, hooks  bool
	}{
		{"nothing found", "", nil, true, false},
		{"hooks found", "", []string{".kiro/hooks"}, false, true},
		{"agents found", "", []string{".kiro/agents"}, true, false},
		{"named", "cli-v3", []string{".kiro/agents"}, false, true},
		{"named by another surface that reads the file", "ide", []string{".kiro/agents"}, false, true},
		{"both", BothSurfaces, nil, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			for _, f := range tt.folders {
				require.NoError(t, os.MkdirAll(filepath.Join(w.root, f), 0o755))
			}
			before := contents(t, w.root)
			req := w.request("kiro")
			req.Surface = tt.surface
			w.init(req)
			require.Equal(t, tt.agent, has(w, agent))
			require.Equal(t, tt.hooks, has(w, hooks))

			// What is installed is the default from then on.
			require.False(t, w.init(w.request("kiro")).Changed())

			// Another choice takes the place of the first.
			req.Surface = "cli-v3"
			w.init(req)
			require.False(t, has(w, agent))
			require.True(t, has(w, hooks))
			w.uninstall(w.request())
			require.Equal(t, before, contents(t, w.root))
		})
	}
	w := newWorld(t)
	req := w.request("kiro")
	req.Surface = "emacs"
	_, err := w.Init(req, false)
	require.EqualError(t, err, `kiro has no surface "emacs"; it has agent, cli-v3, both`)
	open, err := w.Surfaces(w.request("kiro", "claude-code"))
	require.NoError(t, err)
	require.Equal(t, map[string]Choice{"kiro": {Options: []string{"agent", "cli-v3"}}}, open)
}

func TestSymbolicLinks(t *testing.T) {
	link := func(t *testing.T, target, name string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.Symlink(target, name))
	}
	t.Run("inside the project", func(t *testing.T) {
		w := newWorld(t)
		real := w.write("config/claude.json", []byte("{}\n"))
		link(t, "../config/claude.json", filepath.Join(w.root, ".claude/settings.json"))
		w.init(w.request("claude-code"))
		target, err := os.Readlink(filepath.Join(w.root, ".claude/settings.json"))
		require.NoError(t, err)
		require.Equal(t, "../config/claude.json", target)
		require.Contains(t, w.read("config/claude.json"), "flow-agents-hook")
		w.uninstall(w.request())
		data, err := os.ReadFile(real)
		require.NoError(t, err)
		require.Equal(t, "{}\n", string(data))
	})
	t.Run("out of the project", func(t *testing.T) {
		for _, folder := range []bool{false, true} {
			w := newWorld(t)
			outside := filepath.Join(w.Home, "outside")
			require.NoError(t, os.MkdirAll(outside, 0o755))
			victim := filepath.Join(outside, "settings.json")
			require.NoError(t, os.WriteFile(victim, []byte("{}"), 0o644))
			if folder {
				link(t, outside, filepath.Join(w.root, ".claude"))
			} else {
				link(t, victim, filepath.Join(w.root, ".claude/settings.json"))
			}
			_, err := w.Init(w.request("claude-code"), false)
			require.ErrorContains(t, err, "which is outside "+w.root)
			data, err := os.ReadFile(victim)
			require.NoError(t, err)
			require.Equal(t, "{}", string(data))
		}
	})
	t.Run("to nowhere", func(t *testing.T) {
		w := newWorld(t)
		link(t, "gone.json", filepath.Join(w.root, ".claude/settings.json"))
		_, err := w.Init(w.request("claude-code"), false)
		require.ErrorContains(t, err, "is a symbolic link that leads nowhere")
	})
	t.Run("state folder", func(t *testing.T) {
		w := newWorld(t)
		link(t, w.Home, filepath.Join(w.root, ".flow-agents"))
		_, err := w.Init(w.request("claude-code"), false)
		require.ErrorContains(t, err, "which is outside "+w.root)
		require.NoDirExists(t, filepath.Join(w.Home, "state"))
	})
	t.Run("backups folder", func(t *testing.T) {
		w := newWorld(t)
		link(t, w.Home, filepath.Join(w.root, ".flow-agents/state/backups"))
		_, err := w.Init(w.request("claude-code"), false)
		require.ErrorContains(t, err, "which is outside "+w.root)
	})
	t.Run("dotfiles in the home", func(t *testing.T) {
		w := newWorld(t)
		real := filepath.Join(w.Home, "dotfiles", "claude")
		require.NoError(t, os.MkdirAll(real, 0o755))
		link(t, real, filepath.Join(w.Home, ".claude"))
		w.init(Request{Scope: bundle.User, Hosts: []string{"claude-code"}})
		require.FileExists(t, filepath.Join(real, "settings.json"))
	})
}

func TestRefusals(t *testing.T) {
	t.Run("read-only file", func(t *testing.T) {
		w := newWorld(t)
		require.NoError(t, os.Chmod(w.write(".claude/settings.json", []byte("{}")), 0o444))
		_, err := w.Init(w.request("claude-code"), false)
		require.ErrorContains(t, err, ".claude/settings.json is read-only")
	})
	t.Run("a folder in its place", func(t *testing.T) {
		w := newWorld(t)
		require.NoError(t, os.MkdirAll(filepath.Join(w.root, ".claude/settings.json"), 0o755))
		_, err := w.Init(w.request("claude-code"), false)
		require.ErrorContains(t, err, "is not a regular file")
	})
	t.Run("somebody else's file of our name", func(t *testing.T) {
		w := newWorld(t)
		w.write(".opencode/plugins/flow-agents.js", []byte("export default {}\n"))
		_, err := w.Init(w.request("opencode"), false)
		require.ErrorContains(t, err, ".opencode/plugins/flow-agents.js is there already and is not ours; move it away")
	})
	t.Run("one bad host stops all", func(t *testing.T) {
		w := newWorld(t)
		w.write(".codex/hooks.json", []byte("{"))
		before := snapshot(t, w.root)
		_, err := w.Init(w.request("claude-code", "codex"), false)
		require.ErrorContains(t, err, ".codex/hooks.json:1:2: can't be parsed")
		require.Equal(t, before, snapshot(t, w.root))
	})
	t.Run("requests", func(t *testing.T) {
		w := newWorld(t)
		for want, req := range map[string]Request{
			"is your home folder":                     {Root: w.Home, Scope: bundle.Project, Hosts: []string{"codex"}},
			`scope "system" is not one of`:            {Root: w.root, Scope: "system"},
			`mode "audit" is not one of`:              {Root: w.root, Scope: bundle.Project, Mode: "audit"},
			"observe mode is set for one project":     {Scope: bundle.User, Mode: Observe},
			`host "emacs" is not known; known are c`:  {Root: w.root, Scope: bundle.Project, Hosts: []string{"emacs"}},
			"has nothing to install in the local":     {Root: w.root, Scope: bundle.Local, Hosts: []string{"kiro"}},
			"nothing is installed in the project sco": {Root: w.root, Scope: bundle.Project},
			"is not a folder":                         {Root: w.Hook, Scope: bundle.Project, Hosts: []string{"codex"}},
		} {
			_, err := w.Init(req, false)
			var usage *UsageError
			require.ErrorAs(t, err, &usage)
			require.ErrorContains(t, err, want)
		}
	})
}

func TestDetect(t *testing.T) {
	w := newWorld(t)
	detect := func() string {
		hosts, how, err := w.Detect(w.root)
		require.NoError(t, err)
		return fmt.Sprint(hosts, how)
	}
	require.Equal(t, "[]", detect())
	require.NoError(t, os.MkdirAll(filepath.Join(w.Home, ".codex"), 0o755))
	require.Equal(t, "[codex]found in your home", detect())
	require.NoError(t, os.MkdirAll(filepath.Join(w.root, ".kiro"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(w.root, ".claude"), 0o755))
	require.Equal(t, "[claude-code kiro]found in the project", detect())
	w.env["GEMINI_CLI"] = "1"
	require.Equal(t, "[gemini-cli]running", detect())
}

func TestObserveMode(t *testing.T) {
	w := newWorld(t)
	settings := filepath.Join(w.Machine, "settings.json")
	require.NoError(t, os.MkdirAll(w.Machine, 0o755))
	original := "{\n    \"profile\": \"strict\",\n    \"observe\": [\"/other\"]\n}\n"
	require.NoError(t, os.WriteFile(settings, []byte(original), 0o600))
	req := w.request("claude-code")
	req.Mode = Observe
	for range 2 {
		w.init(req)
		require.Equal(t, Observe, w.Rules(w.root).Mode)
		require.Equal(t, Observe, w.status().Mode)
	}
	data, err := os.ReadFile(settings)
	require.NoError(t, err)
	require.Contains(t, string(data), `"observe": ["/other", "`)
	req.Mode = ""
	w.init(req)
	require.Equal(t, Observe, w.Rules(w.root).Mode)
	req.Mode = Enforce
	w.init(req)
	require.Equal(t, Enforce, w.Rules(w.root).Mode)
	data, err = os.ReadFile(settings)
	require.NoError(t, err)
	require.Equal(t, original, string(data))

	require.NoError(t, os.WriteFile(settings, []byte("{\"observe\": 3}"), 0o600))
	req.Mode = Observe
	_, err = w.Init(req, false)
	require.ErrorContains(t, err, "~/.flow-agents/settings.json:1:2: observe: is not an array of project paths")
}

func TestConcurrentInits(t *testing.T) {
	w := newWorld(t)
	w.write(".claude/settings.json", []byte("{\n  \"model\": \"opus\"\n}\n"))
	before := contents(t, w.root)
	var wg sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		wg.Go(func() {
			in := *w.Installer
			in.Files = unsynced{atomicfile.OS}
			_, errs[i] = in.Init(w.request([]string{"claude-code", "codex", "gemini-cli"}[i%3]), false)
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, w.status().Hosts, 3)
	require.True(t, w.status().OK)
	w.uninstall(w.request())
	require.Equal(t, before, contents(t, w.root))
}
