package install

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/install/atomicfile"
	"github.com/flow-agents/flow-agents/install/bundle"
)

// A world is a home and a project of their own.
type world struct {
	*Installer
	t    *testing.T
	root string
	env  map[string]string
}

// stub stands in for the hook binary: it has a version and denies everything.
const stub = "#!/bin/sh\ncase $1 in --version) echo flow-agents-hook stub; exit 0 ;; --contract-version) echo '{\"contract_version\":\"1.0\"}'; exit 0 ;; esac\necho \"deny $1 $2\"\n"

// unsynced is a file system that does not wait for the disk.
type unsynced struct{ atomicfile.FS }

type unsyncedFile struct{ atomicfile.File }

func (unsynced) SyncDir(string) error { return nil }
func (unsyncedFile) Sync() error      { return nil }
func (u unsynced) Create(path string, perm fs.FileMode) (atomicfile.File, error) {
	f, err := u.FS.Create(path, perm)
	return unsyncedFile{f}, err
}

func newWorld(t *testing.T) *world {
	return newWorldIn(t, t.TempDir())
}

func newWorldIn(t *testing.T, dir string) *world {
	t.Helper()
	w := &world{t: t, root: filepath.Join(dir, "project"), env: map[string]string{}}
	w.Installer = &Installer{
		Bundles: os.DirFS("testdata/bundles"),
		Home:    filepath.Join(dir, "home"), Machine: filepath.Join(dir, "home", ".flow-agents"),
		Hook:   filepath.Join(dir, "release", "flow-agents-hook"),
		Getenv: func(name string) string { return w.env[name] },
		Files:  unsynced{atomicfile.OS},
	}
	for _, d := range []string{filepath.Join(w.root, ".git"), w.Home, filepath.Dir(w.Hook)} {
		require.NoError(t, os.MkdirAll(d, 0o755))
	}
	require.NoError(t, os.WriteFile(w.Hook, []byte(stub), 0o755))
	return w
}

func (w *world) request(hosts ...string) Request {
	return Request{Root: w.root, Scope: bundle.Project, Hosts: hosts}
}

func (w *world) write(rel string, data []byte) string {
	w.t.Helper()
	path := filepath.Join(w.root, filepath.FromSlash(rel))
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w.t, os.WriteFile(path, data, 0o644))
	return path
}

func (w *world) read(rel string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(rel)))
	require.NoError(w.t, err)
	return string(data)
}

func (w *world) init(req Request) *Plan {
	w.t.Helper()
	plan, err := w.Init(req, false)
	require.NoError(w.t, err)
	return plan
}

func (w *world) uninstall(req Request) *Plan {
	w.t.Helper()
	plan, err := w.Uninstall(req, false)
	require.NoError(w.t, err)
	return plan
}

func (w *world) status() *Report {
	w.t.Helper()
	r, err := w.Status(w.root, "")
	require.NoError(w.t, err)
	return r
}

// snapshot maps each file and folder below dir to its mode, time and content.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			out[rel] = "dir"
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		out[rel] = info.Mode().String() + " " + info.ModTime().String() + "\n" + string(data)
		return nil
	}))
	return out
}

// contents is a snapshot without times.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := snapshot(t, dir)
	for k, v := range out {
		if head, data, ok := strings.Cut(v, "\n"); ok {
			mode, _, _ := strings.Cut(head, " ")
			out[k] = mode + "\n" + data
		}
	}
	return out
}

func TestInitAndUninstallInAnEmptyProject(t *testing.T) {
	for _, host := range []string{"claude-code", "codex", "kiro", "opencode", "gemini-cli", "two-names", "flat-hooks", "list-hooks"} {
		t.Run(host, func(t *testing.T) {
			w := newWorld(t)
			before := contents(t, w.root)
			plan := w.init(w.request(host))
			require.True(t, plan.Changed())
			require.Contains(t, plan.Commit, ".flow-agents/settings.json")

			status := w.status()
			require.True(t, status.OK, "%+v", status)
			require.Len(t, status.Hosts, 1)
			require.Equal(t, "flow-agents-hook stub", status.Hosts[0].Programs[0].Version)

			require.Equal(t, "*\n", w.read(".flow-agents/state/.gitignore"))
			require.JSONEq(t, `{"schema_version": 1}`, w.read(".flow-agents/settings.json"))

			after := snapshot(t, w.root)
			home := snapshot(t, w.Home)
			plan = w.init(w.request(host))
			require.False(t, plan.Changed(), "%+v", plan.Changes)
			require.Equal(t, after, snapshot(t, w.root))
			require.Equal(t, home, snapshot(t, w.Home))

			w.uninstall(Request{Root: w.root, Scope: bundle.Project})
			require.Equal(t, before, contents(t, w.root))
			require.False(t, w.status().OK)
		})
	}
}

func TestAllHostsTogether(t *testing.T) {
	w := newWorld(t)
	before := contents(t, w.root)
	hosts := []string{"claude-code", "codex", "kiro", "opencode", "gemini-cli", "flat-hooks", "list-hooks"}
	w.init(w.request(hosts...))
	require.Len(t, w.status().Hosts, len(hosts))
	for _, h := range hosts[1:] {
		w.uninstall(w.request(h))
	}
	require.True(t, w.status().OK)
	require.FileExists(t, filepath.Join(w.root, ".flow-agents/settings.json"))
	w.uninstall(w.request())
	require.Equal(t, before, contents(t, w.root))
}

func TestDryRunChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.write(".claude/settings.json", []byte("{\n  \"model\": \"opus\"\n}\n"))
	before := snapshot(t, filepath.Dir(w.root))
	plan, err := w.Init(w.request("claude-code"), true)
	require.NoError(t, err)
	require.Equal(t, before, snapshot(t, filepath.Dir(w.root)))

	var settings Change
	for _, c := range plan.Visible() {
		if c.ID == "settings" {
			settings = c
		}
	}
	require.Equal(t, Insert, settings.Action)
	require.Equal(t, 5, settings.Hooks)
	require.Contains(t, settings.Diff(), "+  \"hooks\": {\n")
	require.Contains(t, settings.Diff(), "-  \"model\": \"opus\"\n+  \"model\": \"opus\",\n")

	_, err = w.Uninstall(w.request(), true)
	require.NoError(t, err)
	require.Equal(t, before, snapshot(t, filepath.Dir(w.root)))
}

func TestPlanAsJSON(t *testing.T) {
	w := newWorld(t)
	data, err := json.Marshal(w.init(w.request("claude-code")))
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(data, &out))
	for _, key := range []string{"root", "scope", "hosts", "changes", "findings", "trust", "commit"} {
		require.Contains(t, out, key)
	}
}

// newerBundles are the test's bundles with other timeouts.
func newerBundles(t testing.TB, dir string) fs.FS {
	t.Helper()
	out := filepath.Join(dir, "newer")
	require.NoError(t, os.RemoveAll(out))
	require.NoError(t, os.CopyFS(out, os.DirFS("testdata/bundles")))
	require.NoError(t, filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := strings.NewReplacer(`"timeout": 30`, `"timeout": 45`, "for a test", "for a newer test").Replace(string(data))
		return os.WriteFile(path, []byte(text), 0o644)
	}))
	return os.DirFS(out)
}
