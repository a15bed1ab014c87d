package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/install/bundle"
)

// What an uninstall leaves is listed with its whole path, in a dry run too, and
// is really there; what it removes is not.
func TestWhatAnUninstallLeaves(t *testing.T) {
	for name, c := range map[string]struct {
		make func(w *world)
		want []string
	}{
		"nothing": {func(*world) {}, nil},
		"records": {func(w *world) { w.write(".telemetry/full.jsonl", nil) }, []string{".telemetry"}},
		"an empty folder": {func(w *world) {
			w.write(".telemetry/.gitignore", nil)
			require.NoError(w.t, os.MkdirAll(filepath.Join(w.root, ".kontourai/flow-agents"), 0o755))
		}, nil},
		"records elsewhere": {func(w *world) {
			w.write(".flow-agents/settings.json", []byte(`{"telemetry":{"data_dir":"var/t"}}`))
			w.write("var/t/full.jsonl", nil)
		}, []string{"var/t", ".flow-agents/settings.json"}},
		"the hook's log": {func(w *world) { w.write(".flow-agents/state/hook.log", nil) }, []string{".flow-agents/state"}},
		"a changed file": {func(w *world) {
			w.write(".opencode/plugins/flow-agents.js", []byte(w.read(".opencode/plugins/flow-agents.js")+"// mine\n"))
		}, []string{".flow-agents/state/kept"}},
		"tasks": {func(w *world) { w.write(".kontourai/flow-agents/x/state.json", nil) }, []string{".kontourai/flow-agents"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.init(w.request("claude-code", "opencode"))
			require.NoError(t, os.WriteFile(filepath.Join(w.Machine, "settings.json"), []byte("{}"), 0o600))
			c.make(w)
			require.Empty(t, w.uninstall(w.request("claude-code")).Left) // another host is there
			plan, err := w.Uninstall(w.request(), true)
			require.NoError(t, err)
			done := w.uninstall(w.request())
			require.Equal(t, plan.Left, done.Left)
			want := []string{}
			for _, rel := range c.want {
				want = append(want, filepath.Join(w.root, filepath.FromSlash(rel)))
			}
			for _, rel := range []string{"bin", "settings.json", "state"} {
				want = append(want, filepath.Join(w.Machine, rel))
			}
			got := []string{}
			for _, l := range done.Left {
				require.FileExists(t, filepath.Join(w.Machine, "settings.json"))
				require.True(t, exists(l.Path), l.Path)
				require.Contains(t, l.Remove, l.Path)
				require.NotEmpty(t, l.What)
				got = append(got, l.Path)
			}
			require.Equal(t, want, got)
		})
	}
	t.Run("for the user", func(t *testing.T) {
		w := newWorld(t)
		w.write(".telemetry/full.jsonl", nil)
		req := Request{Root: w.root, Scope: bundle.User, Hosts: []string{"claude-code"}}
		w.init(req)
		left := w.uninstall(req).Left
		require.Len(t, left, 2)
		require.Equal(t, filepath.Join(w.Machine, "bin"), left[0].Path)
	})
}

func TestInitOutsideGit(t *testing.T) {
	for name, c := range map[string]struct {
		git   string
		scope string
		warns bool
	}{
		"repository": {"project/.git", bundle.Project, false}, "below one": {".git", bundle.Project, false}, "none": {"", bundle.Project, true},
		"local": {"", bundle.Local, true}, "user": {"", bundle.User, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w := newWorldIn(t, dir)
			require.NoError(t, os.Remove(filepath.Join(w.root, ".git")))
			if c.git != "" {
				require.NoError(t, os.MkdirAll(filepath.Join(dir, c.git), 0o755))
			}
			plan := w.init(Request{Root: w.root, Scope: c.scope, Hosts: []string{"claude-code"}})
			if !c.warns {
				require.Empty(t, plan.Findings)
				return
			}
			require.Len(t, plan.Findings, 1)
			require.Contains(t, plan.Findings[0].String(), w.root+": is in no git repository, so the hooks hold only for sessions that start in this folder")
			require.Empty(t, plan.Commit)
			require.True(t, w.status().OK)
		})
	}
}
