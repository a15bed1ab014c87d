package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/install/entries"
)

// Whatever keeps a policy from being enforced is no reason to say alive.
func TestStatusOfWhatWasTamperedWith(t *testing.T) {
	claude, plugin, agent := ".claude/settings.json", ".opencode/plugins/flow-agents.js", ".kiro/agents/flow-agents.json"
	replace := func(old, new string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				panic("the test's file has no " + old)
			}
			return strings.Replace(s, old, new, 1)
		}
	}
	tests := map[string]struct {
		file  string
		edit  func(string) string
		state string
		text  string
	}{
		"own file emptied":        {plugin, func(string) string { return "" }, Changed, "was changed, so it may not do what it should; ~/.flow-agents/bin/flow-agents init puts it right"},
		"own file edited":         {plugin, replace("spawn(process", "(process"), Changed, "was changed"},
		"own file, other program": {plugin, func(string) string { return "export default {}\n" }, Changed, "was changed"},
		"own JSON emptied":        {agent, func(string) string { return "{}" }, Dead, "our hook is missing"},
		"own JSON edited":         {agent, replace(`"name": "flow-agents"`, `"name": "other"`), Changed, `name: is not "flow-agents", which our hooks are written for`},
		"own JSON tools":          {agent, replace("{", `{"extra": 1,`), Changed, "was changed"},
		"own JSON laid out anew":  {agent, func(s string) string { return s + "\n\n" }, Alive, ""},
		"git's line ends":         {plugin, func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }, Alive, ""},
		"event changed":           {claude, replace(`"PreToolUse": [`, `"PreTool": [`), Dead, "hooks.PreToolUse: our hook is missing"},
		"matcher changed":         {claude, replace(`"Bash|Edit|Write"`, `"Bash"`), Changed, "hooks.PreToolUse: our hook was changed or moved"},
		"command changed":         {claude, replace("; exit 0", " || true; exit 0"), Changed, "our hook was changed or moved"},
		"entry removed":           {claude, replace(`claude-code Stop`, `claude-code-Stop`), Dead, "hooks.Stop: our hook is missing"},
		"file removed":            {claude, nil, Dead, "is missing; ~/.flow-agents/bin/flow-agents init puts it back"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.init(w.request("claude-code", "opencode", "kiro"))
			require.True(t, w.status().OK)
			if tt.edit == nil {
				require.NoError(t, os.Remove(filepath.Join(w.root, tt.file)))
			} else {
				w.write(tt.file, []byte(tt.edit(w.read(tt.file))))
			}
			report := w.status()
			require.Equal(t, tt.state == Alive, report.OK)
			for _, h := range report.Hosts {
				if !strings.HasPrefix(h.Files[0].Path, tt.file) {
					require.True(t, h.OK, "%+v", h)
					continue
				}
				require.Equal(t, tt.state, h.State, "%+v", h)
				if tt.text == "" {
					require.Empty(t, h.Findings)
					continue
				}
				require.Contains(t, h.Findings[0].String(), tt.text)
				if tt.edit == nil {
					require.Len(t, h.Findings, 1) // not one for each event
				}
			}
			w.init(w.request())
			require.True(t, w.status().OK)
		})
	}
	t.Run("own file emptied in a clone", func(t *testing.T) {
		w := newWorld(t)
		w.init(w.request("claude-code", "opencode"))
		require.NoError(t, os.RemoveAll(filepath.Join(w.root, ".flow-agents/state")))
		w.write(plugin, nil)
		require.False(t, w.status().OK)
	})
}

// A program counts only if it is the hook.
func TestStatusOfPrograms(t *testing.T) {
	answers := func(version, contract string) string {
		return "#!/bin/sh\ncase $1 in --version) echo '" + version + "' ;; --contract-version) echo '" + contract + "' ;; esac\n"
	}
	good := `{"contract_version":"1.0","runner":"flow-agents-hook"}`
	tests := map[string]struct {
		self, text, state, errorText, note string
	}{
		"same version":    {"1.2.3", answers("flow-agents-hook 1.2.3", good), Alive, "", ""},
		"older":           {"1.3.0", answers("flow-agents-hook 1.2.3", good), Alive, "", "is 1.2.3, older than this program, which is 1.3.0"},
		"newer":           {"1.3.0", answers("flow-agents-hook 1.10.0", good), Alive, "", "is 1.10.0, newer than this program"},
		"before":          {"1.3.0", answers("flow-agents-hook 1.3.0-rc.1", good), Alive, "", "is 1.3.0-rc.1, not of the version of this program"},
		"from a checkout": {"1.3.0", answers("flow-agents-hook devel", good), Alive, "", ""},
		"into a checkout": {"dev", answers("flow-agents-hook 1.2.3", good), Alive, "", ""},
		"other contract":  {"1.2.3", answers("flow-agents-hook 1.2.3", `{"contract_version":"2.0"}`), Alive, "", "speaks engine contract 2.0, and this program was made for 1.0"},
		"no contract":     {"1.2.3", answers("flow-agents-hook 1.2.3", ""), Alive, "", "does not say which engine contract it speaks"},
		"true":            {"1.2.3", "#!/bin/sh\nexit 0\n", Dead, `is another program: to --version it says "", not "flow-agents-hook" and a number`, ""},
		"another program": {"1.2.3", answers("true (GNU coreutils) 9.7", good), Dead, `it says "true (GNU coreutils) 9.7"`, ""},
		"another name":    {"1.2.3", answers("flow-agents-hooks 1.2.3", good), Dead, "is another program", ""},
		"fails":           {"1.2.3", "#!/bin/sh\nexit 3\n", Dead, "can't be run (exit status 3)", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.init(w.request("claude-code"))
			w.Version = tt.self
			require.NoError(t, os.WriteFile(filepath.Join(w.Machine, "bin/flow-agents-hook"), []byte(tt.text), 0o755))
			h := w.status().Hosts[0]
			require.Equal(t, tt.state, h.State, "%+v", h)
			require.Contains(t, h.Programs[0].Error, tt.errorText)
			require.Equal(t, tt.errorText == "", h.Programs[0].Error == "")
			if strings.Contains(h.Programs[0].Error, "is another program") {
				// It is put right, and a rollback doesn't bring it back.
				w.init(w.request())
				require.True(t, w.status().OK)
				require.NoFileExists(t, filepath.Join(w.Machine, "bin/flow-agents-hook"+previous))
			}
			if tt.note == "" {
				require.Empty(t, h.Findings)
				return
			}
			require.Contains(t, h.Findings[0].String(), "~/.flow-agents/bin/flow-agents-hook: "+tt.note)
		})
	}
}

// A repository can name any program in its config, and none of them is run.
func TestStatusRunsNothingOfARepository(t *testing.T) {
	for _, as := range []string{"%s/flow-agents-hook", "./flow-agents-hook", "flow-agents-hook", "$HOME/../project/flow-agents-hook", "$HOME/.flow-agents/bin/../../../project/flow-agents-hook", "$PWD/flow-agents-hook"} {
		t.Run(as, func(t *testing.T) {
			w := newWorld(t)
			bundles, err := filepath.Abs("testdata/bundles")
			require.NoError(t, err)
			w.Bundles = os.DirFS(bundles)
			w.init(w.request("claude-code"))
			w.write("flow-agents-hook", []byte("#!/bin/sh\ntouch \""+w.root+"/ran\"\necho flow-agents-hook 1.2.3\n"))
			require.NoError(t, os.Chmod(filepath.Join(w.root, "flow-agents-hook"), 0o755))
			cmd := strings.Replace(as, "%s", w.root, 1)
			text := strings.ReplaceAll(w.read(".claude/settings.json"), "$HOME/.flow-agents/bin/flow-agents-hook", cmd)
			w.write(".claude/settings.json", []byte(text))
			t.Chdir(w.root)

			report := w.status()
			require.NoFileExists(t, filepath.Join(w.root, "ran"))
			require.Equal(t, Dead, report.Hosts[0].State)
			require.Len(t, report.Hosts[0].Programs, 1)
			require.Contains(t, report.Hosts[0].Programs[0].Error, "the hooks call a program that flow-agents did not install")

			w.init(w.request())
			require.NoFileExists(t, filepath.Join(w.root, "ran"))
			require.True(t, w.status().OK)
		})
	}
}

func TestStatusOfAFileThatAnotherVersionWrote(t *testing.T) {
	w := newWorld(t)
	w.init(w.request("opencode"))
	w.Bundles = newerBundles(t, filepath.Dir(w.root))
	h := w.status().Hosts[0]
	require.Equal(t, Changed, h.State)
	require.Equal(t, entries.Modified, h.Files[0].State)
	require.Contains(t, h.Findings[0].Text, "is as another version of flow-agents wrote it; ~/.flow-agents/bin/flow-agents upgrade brings it up to date")
}

func TestHostInTwoScopes(t *testing.T) {
	w := newWorld(t)
	w.init(w.request("claude-code"))
	plan := w.init(Request{Root: w.root, Scope: bundle.User, Hosts: []string{"claude-code"}})
	require.Len(t, plan.Findings, 1)
	require.Contains(t, plan.Findings[0].String(), "claude-code is installed in the project scope too, so every event runs twice; to undo: ~/.flow-agents/bin/flow-agents uninstall --host claude-code --dest "+w.root)

	report := w.status()
	require.True(t, report.OK)
	require.Len(t, report.Hosts, 2)
	require.Empty(t, report.Hosts[0].Findings)
	require.Contains(t, report.Hosts[1].Findings[0].Text, "every event runs twice; to undo one: ~/.flow-agents/bin/flow-agents uninstall --global --host claude-code")
	user, err := w.Status(w.root, bundle.User)
	require.NoError(t, err)
	require.Len(t, user.Hosts, 1)
}

func TestSwitchThatCantBeRead(t *testing.T) {
	w := newWorld(t)
	w.init(w.request("codex"))
	w.write(".codex/config.toml", []byte("[features]\nhooks = maybe\n"))
	report := w.status()
	require.False(t, report.OK)
	h := report.Hosts[0]
	require.Equal(t, Unknown, h.State)
	require.Len(t, h.Findings, 1)
	require.Regexp(t, `^\.codex/config\.toml:2:9: can't be parsed: .*; mend it, for nobody can tell whether features.hooks keeps the hooks from running$`, h.Findings[0].String())
	require.NotEmpty(t, h.Trust)

	require.NoError(t, os.Remove(filepath.Join(w.root, ".codex/config.toml")))
	require.NoError(t, os.Mkdir(filepath.Join(w.root, ".codex/config.toml"), 0o755))
	require.Equal(t, Unknown, w.status().Hosts[0].State)
}
