//go:build unix

package install

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/install/atomicfile"
	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// Variables of a process that dies on purpose.
const (
	faultAt  = "FLOW_AGENTS_TEST_FAULT_AT"  // number of the operation
	faultDir = "FLOW_AGENTS_TEST_FAULT_DIR" // the world
	faultDo  = "FLOW_AGENTS_TEST_FAULT_DO"  // init, upgrade, uninstall
)

func TestMain(m *testing.M) {
	if os.Getenv(faultAt) != "" {
		if err := dieAt(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A mortal file system kills its own process at the n-th operation, in the
// middle of it if it is a write.
type mortal struct {
	atomicfile.FS
	n int
}

func (m *mortal) tick() bool {
	m.n--
	return m.n == 0
}

func die() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }

func (m *mortal) Mkdir(path string, perm fs.FileMode) error {
	if m.tick() {
		die()
	}
	return m.FS.Mkdir(path, perm)
}

func (m *mortal) Rename(from, to string) error {
	if m.tick() {
		die()
	}
	return m.FS.Rename(from, to)
}

func (m *mortal) Remove(path string) error {
	if m.tick() {
		die()
	}
	return m.FS.Remove(path)
}

func (m *mortal) SyncDir(path string) error {
	if m.tick() {
		die()
	}
	return m.FS.SyncDir(path)
}

func (m *mortal) Create(path string, perm fs.FileMode) (atomicfile.File, error) {
	if m.tick() {
		die()
	}
	f, err := m.FS.Create(path, perm)
	return mortalFile{f, m}, err
}

type mortalFile struct {
	atomicfile.File
	m *mortal
}

func (f mortalFile) Write(p []byte) (int, error) {
	if f.m.tick() {
		_, _ = f.File.Write(p[:len(p)/2])
		die()
	}
	return f.File.Write(p)
}

func (f mortalFile) Sync() error {
	if f.m.tick() {
		die()
	}
	return f.File.Sync()
}

var faultHosts = []string{"claude-code", "codex", "opencode", "gemini-cli"}

// faultWorld opens the world in dir.
func faultWorld(dir string) *Installer {
	home := filepath.Join(dir, "home")
	return &Installer{
		Bundles: os.DirFS("testdata/bundles"), Home: home, Machine: filepath.Join(home, ".flow-agents"),
		Hook: filepath.Join(dir, "release", "flow-agents-hook"), Getenv: func(string) string { return "" }, Files: unsynced{atomicfile.OS},
	}
}

func faultRun(in *Installer, dir, do string) error {
	req := Request{Root: filepath.Join(dir, "project"), Scope: bundle.Project, Hosts: faultHosts}
	var err error
	switch do {
	case "init":
		req.Mode = Observe
		_, err = in.Init(req, false)
	case "upgrade":
		in.Bundles = os.DirFS(filepath.Join(dir, "newer"))
		in.Hook += "-newer"
		_, err = in.Init(req, false)
	case "uninstall":
		req.Hosts = nil
		_, err = in.Uninstall(req, false)
	}
	return err
}

func dieAt() error {
	n, err := strconv.Atoi(os.Getenv(faultAt))
	if err != nil {
		return err
	}
	in := faultWorld(os.Getenv(faultDir))
	in.Files = &mortal{FS: unsynced{atomicfile.OS}, n: n}
	return faultRun(in, os.Getenv(faultDir), os.Getenv(faultDo))
}

// setUpFaults makes a world with files of the user, and does what comes first.
func setUpFaults(t *testing.T, steps ...string) (dir string) {
	t.Helper()
	w := newWorld(t)
	dir = filepath.Dir(w.root)
	newerBundles(t, dir)
	require.NoError(t, os.WriteFile(w.Hook+"-newer", []byte(stub+"# newer\n"), 0o755))
	settings, err := os.ReadFile("testdata/reports/shared-groups.json")
	require.NoError(t, err)
	w.write(".claude/settings.json", settings)
	gemini, err := os.ReadFile("testdata/reports/jsonc/gemini-settings.json")
	require.NoError(t, err)
	w.write(".gemini/settings.json", gemini)
	for _, do := range steps {
		require.NoError(t, faultRun(faultWorld(dir), dir, do))
	}
	return dir
}

// watched are the files that a host or a person reads.
var watched = []string{
	"project/.claude/settings.json", "project/.gemini/settings.json", "project/.codex/hooks.json",
	"project/.opencode/plugins/flow-agents.js", "project/.flow-agents/settings.json", "project/.flow-agents/state/install.json",
	"home/.flow-agents/bin/flow-agents-hook", "home/.flow-agents/settings.json",
}

func content(dir, rel string) string {
	data, err := os.ReadFile(filepath.Join(dir, rel))
	if err != nil {
		return "(none)"
	}
	return string(data)
}

// TestKilledAtAnyPoint kills the installer at each operation in turn.
func TestKilledAtAnyPoint(t *testing.T) {
	original := contents(t, filepath.Join(setUpFaults(t), "project"))
	for do, before := range map[string][]string{
		"init": nil, "upgrade": {"init"}, "uninstall": {"init"},
	} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			from := setUpFaults(t, before...)
			done := setUpFaults(t, append(before, do)...)
			want := contents(t, filepath.Join(done, "project"))

			points := 0
			for n := 1; ; n++ {
				dir := setUpFaults(t, before...)
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), faultAt+"="+strconv.Itoa(n), faultDir+"="+dir, faultDo+"="+do)
				out, err := cmd.CombinedOutput()
				if err == nil {
					break
				}
				require.Equal(t, "signal: killed", err.Error(), "%s", out)
				points++

				for _, rel := range watched {
					got := relocate(content(dir, rel), dir)
					old, new := relocate(content(from, rel), from), relocate(content(done, rel), done)
					require.Contains(t, []string{old, new}, got, "operation %d tore %s", n, rel)
					if strings.HasSuffix(rel, "settings.json") && got != "(none)" {
						_, err := jsonedit.Parse(rel, []byte(got), jsonedit.JSONC)
						require.NoError(t, err)
					}
				}
				require.NoError(t, faultRun(faultWorld(dir), dir, do), "operation %d", n)
				require.Equal(t, want, contents(t, filepath.Join(dir, "project")), "operation %d", n)
				require.NoError(t, faultRun(faultWorld(dir), dir, "uninstall"), "operation %d", n)
				require.Equal(t, original, contents(t, filepath.Join(dir, "project")), "operation %d", n)
			}
			t.Logf("%d points", points)
			require.Greater(t, points, 10)
		})
	}
}

// relocate makes texts of two worlds comparable: the user's settings hold the
// project's path.
func relocate(text, dir string) string { return strings.ReplaceAll(text, dir, "DIR") }
