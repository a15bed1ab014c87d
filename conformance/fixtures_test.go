package conformance_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// placeholder stands for the workspace in a fixture.
const placeholder = "__TEMP_WORKSPACE__"

func buildHook(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "flow-agents-hook")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	out, err := exec.Command("go", "build", "-o", bin, "../cmd/flow-agents-hook").CombinedOutput()
	require.NoError(t, err, string(out))
	return bin
}

// run plays a payload in a workspace of its own.
func run(t *testing.T, bin, workspace string, args []string, env map[string]string, payload []byte) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Dir = workspace
	cmd.Env = []string{"HOME=" + filepath.Join(workspace, "home"), "PATH=" + os.Getenv("PATH")}
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdin = bytes.NewReader(payload)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil {
		require.IsType(t, &exec.ExitError{}, err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func fixtures(t *testing.T, kind string, do func(t *testing.T, text []byte)) int {
	t.Helper()
	n := 0
	require.NoError(t, filepath.WalkDir("../bundles", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Base(filepath.Dir(p)) != kind {
			return err
		}
		data, err := os.ReadFile(p)
		require.NoError(t, err)
		n++
		t.Run(strings.TrimPrefix(filepath.ToSlash(p), "../bundles/"), func(t *testing.T) {
			t.Parallel()
			do(t, data)
		})
		return nil
	}))
	return n
}

func fill(t *testing.T, text []byte, into any) string {
	t.Helper()
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(workspace, ".git"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(workspace, "home"), 0o755))
	require.NoError(t, json.Unmarshal(bytes.ReplaceAll(text, []byte(placeholder), []byte(filepath.ToSlash(workspace))), into))
	return workspace
}

// Every native fixture of every bundle: a host's payload, and the exact bytes
// that the host is answered.
func TestNativeFixtures(t *testing.T) {
	bin := buildHook(t)
	n := fixtures(t, "native", func(t *testing.T, text []byte) {
		var f struct {
			Host        string
			NativeEvent string `json:"native_event"`
			Env         map[string]string
			Payload     json.RawMessage
			Expected    struct {
				ExitCode int `json:"exit_code"`
				Stdout   string
				Stderr   string
			}
		}
		w := fill(t, text, &f)
		stdout, stderr, code := run(t, bin, w, []string{f.Host, f.NativeEvent}, f.Env, f.Payload)
		require.Equal(t, f.Expected.Stdout, stdout)
		require.Equal(t, f.Expected.Stderr, stderr)
		require.Equal(t, f.Expected.ExitCode, code)
	})
	require.Greater(t, n, 300)
}

// Every canonical fixture: the decision, as it comes through a host whose
// event and field names are the canonical ones. The exit codes and the echo of
// the engine's own form need that form, and are not looked at here.
func TestCanonicalFixtures(t *testing.T) {
	bin := buildHook(t)
	n := fixtures(t, "canonical", func(t *testing.T, text []byte) {
		var f struct {
			Env            map[string]string
			Payload        json.RawMessage
			WorkspaceSetup map[string]json.RawMessage `json:"workspace_setup"`
			Expected       struct {
				ExitCode int      `json:"exit_code"`
				Stdout   []string `json:"stdout_contains"`
				Stderr   []string `json:"stderr_contains"`
			}
		}
		w := fill(t, text, &f)
		for p, data := range f.WorkspaceSetup {
			at := filepath.Join(w, filepath.FromSlash(p))
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
			var s string
			if json.Unmarshal(data, &s) == nil {
				data = []byte(s)
			}
			require.NoError(t, os.WriteFile(at, data, 0o644))
		}
		var e struct {
			Name string `json:"hook_event_name"`
		}
		require.NoError(t, json.Unmarshal(f.Payload, &e))
		stdout, _, code := run(t, bin, w, []string{"claude-code", e.Name}, f.Env, f.Payload)
		require.Zero(t, code)
		if f.Expected.ExitCode == 2 {
			require.Contains(t, stdout, `"permissionDecision":"deny"`)
		} else {
			require.NotContains(t, stdout, "deny")
			if len(f.Expected.Stdout) == 0 {
				require.Empty(t, stdout)
			}
		}
		for _, want := range append(f.Expected.Stdout, f.Expected.Stderr...) {
			require.Contains(t, stdout, want)
		}
	})
	require.Greater(t, n, 100)
}
