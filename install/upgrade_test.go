package install

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/install/entries"
)

func TestUpgradeAndRollback(t *testing.T) {
	w := newWorld(t)
	original := testdata(t, "reports/shared-groups.json")
	w.write(".claude/settings.json", original)
	before := contents(t, w.root)
	w.init(w.request("claude-code", "opencode"))
	first := contents(t, w.root)
	old := w.Bundles

	w.Bundles = newerBundles(t, filepath.Dir(w.root))
	require.NoError(t, os.WriteFile(w.Hook, []byte(stub+"# newer\n"), 0o755))
	plan := w.init(w.request()) // no host named: those that are installed
	require.Len(t, plan.Hosts, 2)
	require.Contains(t, w.read(".claude/settings.json"), `"timeout": 45`)
	require.Equal(t, strings.ReplaceAll(w.read(".claude/settings.json"), `"timeout": 45`, `"timeout": 30`), bytesOf(first[".claude/settings.json"]))
	require.Contains(t, w.read(".opencode/plugins/flow-agents.js"), "newer")
	require.True(t, w.status().OK)
	require.False(t, w.init(w.request()).Changed())

	_, err := w.Rollback(w.request(), false)
	require.NoError(t, err)
	for _, rel := range []string{".claude/settings.json", ".opencode/plugins/flow-agents.js"} {
		require.Equal(t, first[rel], contents(t, w.root)[rel])
	}
	hook, err := os.ReadFile(filepath.Join(w.Machine, "bin", "flow-agents-hook"))
	require.NoError(t, err)
	require.Equal(t, stub, string(hook))
	require.NoFileExists(t, filepath.Join(w.Machine, "bin", "flow-agents-hook.previous"))
	_, err = w.Rollback(w.request(), false)
	require.ErrorContains(t, err, "nothing to roll back")

	// After a rollback and after an upgrade the way back is the same.
	w.init(w.request())
	w.uninstall(w.request())
	require.Equal(t, before, contents(t, w.root))

	w.Bundles = old
	w.init(w.request("claude-code"))
	w.Bundles = newerBundles(t, filepath.Dir(w.root))
	w.init(w.request())
	w.write(".claude/settings.json", []byte(w.read(".claude/settings.json")+"\n"))
	require.NoError(t, os.Remove(filepath.Join(w.Machine, "bin", "flow-agents-hook"+previous)))
	_, err = w.Rollback(w.request(), false)
	require.ErrorContains(t, err, ".claude/settings.json was changed since the update")
}

func bytesOf(content string) string {
	_, data, _ := strings.Cut(content, "\n")
	return data
}

// A user's change between two versions is not lost by any of the ways back.
func TestUpgradeOverAChangedFile(t *testing.T) {
	w := newWorld(t)
	w.write(".claude/settings.json", []byte("{\n  \"model\": \"opus\"\n}\n"))
	w.init(w.request("claude-code"))
	w.write(".claude/settings.json", []byte(strings.Replace(w.read(".claude/settings.json"), `"opus"`, `"sonnet"`, 1)))
	w.Bundles = newerBundles(t, filepath.Dir(w.root))
	w.init(w.request())
	require.Contains(t, w.read(".claude/settings.json"), `"timeout": 45`)
	w.uninstall(w.request())
	require.Equal(t, "{\n  \"model\": \"sonnet\"\n}\n", w.read(".claude/settings.json"))
}

func TestOwnFileThatWasChanged(t *testing.T) {
	w := newWorld(t)
	path := ".opencode/plugins/flow-agents.js"
	w.init(w.request("opencode"))
	changed := w.read(path) + "// mine\n"
	w.write(path, []byte(changed))
	status := w.status()
	require.False(t, status.OK)
	require.Equal(t, Changed, status.Hosts[0].State)
	require.Equal(t, entries.Modified, status.Hosts[0].Files[0].State)
	plan := w.uninstall(w.request())
	require.NoFileExists(t, filepath.Join(w.root, path))
	for _, c := range plan.Visible() {
		if c.Path == path {
			_, kept, _ := strings.Cut(c.Note, "its text is kept in ")
			require.Equal(t, changed, w.read(kept))
		}
	}
	require.Equal(t, "*\n", w.read(".flow-agents/state/.gitignore"))
}

// A clone has the committed files and no ledger.
func TestClone(t *testing.T) {
	w := newWorld(t)
	w.write(".claude/settings.json", []byte("{\n  \"model\": \"opus\"\n}\n"))
	w.init(w.request("claude-code", "kiro"))
	require.NoError(t, os.RemoveAll(filepath.Join(w.root, ".flow-agents", "state")))
	require.NoError(t, os.RemoveAll(w.Machine))

	status := w.status()
	require.False(t, status.OK)
	require.Len(t, status.Hosts, 2)
	require.Equal(t, "is not there; ~/.flow-agents/bin/flow-agents init puts it in place", status.Hosts[0].Programs[0].Error)

	at := contents(t, w.root)
	w.init(w.request("claude-code", "kiro"))
	require.Equal(t, at, contents(t, w.root))
	require.True(t, w.status().OK)

	w.uninstall(w.request())
	require.Equal(t, "{\n  \"model\": \"opus\"\n}\n", w.read(".claude/settings.json"))
	require.NoFileExists(t, filepath.Join(w.root, ".kiro/agents/flow-agents.json"))
	require.NoDirExists(t, filepath.Join(w.root, ".flow-agents"))
}

func TestStatusFindsWhatIsGone(t *testing.T) {
	w := newWorld(t)
	w.init(w.request("claude-code", "opencode"))
	text := w.read(".claude/settings.json")
	w.write(".claude/settings.json", []byte(strings.Replace(text, `"PreToolUse": [`, `"Gone": [`, 1)))
	require.NoError(t, os.Remove(filepath.Join(w.root, ".opencode/plugins/flow-agents.js")))
	status := w.status()
	require.False(t, status.OK)
	require.Equal(t, FileStatus{Path: ".claude/settings.json", State: entries.Missing, Hooks: 5, Want: 5, surface: "main"}, status.Hosts[0].Files[0])
	var texts []string
	for _, f := range status.Hosts[0].Findings {
		texts = append(texts, f.String())
	}
	require.Equal(t, []string{
		".claude/settings.json: hooks.PreToolUse: our hook is missing; ~/.flow-agents/bin/flow-agents init puts it back",
		".claude/settings.json:29: hooks.Gone: our hook is from another version; ~/.flow-agents/bin/flow-agents upgrade removes it",
	}, texts)
	require.Equal(t, entries.Missing, status.Hosts[1].Files[0].State)

	w.init(w.request())
	require.True(t, w.status().OK)
	require.Equal(t, parseJSON(t, text), parseJSON(t, w.read(".claude/settings.json")))

	// A program that can't be run, and a switch of the host.
	hook := filepath.Join(w.Machine, "bin", "flow-agents-hook")
	require.NoError(t, os.WriteFile(hook, []byte("#!/bin/sh\nexit 3\n"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(w.Home, ".claude"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(w.Home, ".claude/settings.json"), []byte("{\n \"disableAllHooks\": true }"), 0o644))
	status = w.status()
	require.False(t, status.OK)
	require.Contains(t, status.Hosts[0].Programs[0].Error, "can't be run (exit status 3)")
	require.Equal(t, "~/.claude/settings.json:2: disableAllHooks: disableAllHooks is true, so no hook runs; remove it", status.Hosts[0].Findings[0].String())
}

func TestPrograms(t *testing.T) {
	sums := func(w *world, format string, args ...any) {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(w.Hook), sumsName), fmt.Appendf(nil, format, args...), 0o644))
	}
	t.Run("none", func(t *testing.T) {
		w := newWorld(t)
		w.Hook = ""
		_, err := w.Init(w.request("claude-code"), false)
		require.EqualError(t, err, "no flow-agents-hook to install: none is beside this program, and ~/.flow-agents/bin/flow-agents-hook is not there; give its path with --hook")
	})
	t.Run("in place", func(t *testing.T) {
		w := newWorld(t)
		w.init(w.request("claude-code"))
		w.Hook = ""
		w.init(w.request("codex"))
	})
	t.Run("wrong path", func(t *testing.T) {
		w := newWorld(t)
		w.Hook += "-none"
		_, err := w.Init(w.request("claude-code"), false)
		require.ErrorContains(t, err, "flow-agents-hook-none does not exist")
	})
	t.Run("other platform", func(t *testing.T) {
		w := newWorld(t)
		require.NoError(t, os.WriteFile(w.Hook, []byte("\x7fELF\x02\x01\x01 not ours"), 0o755))
		_, err := w.Init(w.request("claude-code"), false)
		require.ErrorContains(t, err, "is for another platform than this one")
	})
	t.Run("checksum", func(t *testing.T) {
		w := newWorld(t)
		sums(w, "%064d  flow-agents-hook\n", 1)
		_, err := w.Init(w.request("claude-code"), false)
		require.ErrorContains(t, err, "has SHA-256 "+fmt.Sprintf("%x", sha256.Sum256([]byte(stub))))
		require.NoDirExists(t, filepath.Join(w.Machine, "bin"))
		sums(w, "%064d  archive.tar.gz\n%x *flow-agents-hook\n", 1, sha256.Sum256([]byte(stub)))
		w.init(w.request("claude-code"))
	})
	t.Run("FLOW_AGENTS_HOME elsewhere", func(t *testing.T) {
		// A committed hook calls the one below the home, so it goes there too.
		w := newWorld(t)
		w.Machine = filepath.Join(filepath.Dir(w.Home), "machine")
		w.init(w.request("claude-code"))
		require.FileExists(t, filepath.Join(w.Machine, "bin/flow-agents-hook"))
		require.FileExists(t, filepath.Join(w.Home, ".flow-agents/bin/flow-agents-hook"))
		require.True(t, w.status().OK)
	})
	t.Run("this program", func(t *testing.T) {
		w := newWorld(t)
		w.Self = filepath.Join(filepath.Dir(w.Hook), "flow-agents")
		require.NoError(t, os.WriteFile(w.Self, []byte("#!/bin/sh\n"), 0o755))
		w.init(w.request("claude-code"))
		data, err := os.ReadFile(filepath.Join(w.Machine, "bin/flow-agents"))
		require.NoError(t, err)
		require.Equal(t, "#!/bin/sh\n", string(data))
	})
}

func TestLedgerOfAnotherVersion(t *testing.T) {
	w := newWorld(t)
	w.write(".flow-agents/state/install.json", []byte(`{"schema_version": 2}`))
	_, err := w.Init(w.request("claude-code"), false)
	require.ErrorContains(t, err, "a newer flow-agents wrote it")
	w.write(".flow-agents/state/install.json", []byte(`{`))
	_, err = w.Init(w.request("claude-code"), false)
	require.ErrorContains(t, err, "remove the file, and uninstall will take out entries by what they run")
}

// A ledger may come with a repository, written by somebody else.
func TestForeignLedger(t *testing.T) {
	w := newWorld(t)
	record := `{"schema_version": 1, "files": [{"host": "claude-code", "scope": "project", "file": "settings", "path": %q, "before": "", "after": %q, "previous": "", "dirs": [%q]}]}`
	sum := sumOf([]byte("x"))
	for _, args := range [][]any{
		{"../home/.bashrc", sum, ".claude"}, {"/etc/passwd", sum, ".claude"},
		{".claude/settings.json", sum, "../home"}, {".claude/settings.json", "../../home/.bashrc", ".claude"},
	} {
		w.write(".flow-agents/state/install.json", fmt.Appendf(nil, record, args...))
		for _, do := range []func(Request, bool) (*Plan, error){w.Init, w.Uninstall, w.Rollback} {
			_, err := do(w.request("claude-code"), false)
			require.ErrorContains(t, err, "so this program did not write the file; remove it")
		}
	}
}

func TestLostBackup(t *testing.T) {
	w := newWorld(t)
	w.write(".claude/settings.json", []byte("{\n  \"model\": \"opus\"\n}\n"))
	w.init(w.request("claude-code"))
	require.NoError(t, os.RemoveAll(filepath.Join(w.root, ".flow-agents/state/backups")))
	plan := w.uninstall(w.request())
	require.Contains(t, plan.Findings[0].Text, "the original bytes are lost")
	require.Equal(t, "{\n  \"model\": \"opus\"\n}\n", w.read(".claude/settings.json"))
}
