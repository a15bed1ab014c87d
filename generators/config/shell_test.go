package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The guarded line runs in whatever shell the host picks: without the binary
// work goes on, with it everything passes through, the exit code included.
func TestGuardedCommandsRunInEveryShell(t *testing.T) {
	c := catalog(t)
	h := host(t, c, "claude-code")
	hooks, err := Hooks(c, h, h.Files["settings"], "project")
	require.NoError(t, err)
	line := map[string]string{}
	for _, k := range hooks {
		line[k.Native] = k.Command
	}
	ran := 0
	for _, shell := range []string{"sh", "dash", "bash", "zsh", "fish", "busybox"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		ran++
		t.Run(shell, func(t *testing.T) {
			run := func(home, command string) (string, int) {
				args := []string{"-c", command}
				if shell == "busybox" {
					args = append([]string{"sh"}, args...)
				}
				cmd := exec.Command(path, args...)
				cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
				cmd.Stdin = strings.NewReader(`{"a":1}`)
				out, err := cmd.CombinedOutput()
				if err != nil {
					require.IsType(t, &exec.ExitError{}, err)
				}
				return string(out), cmd.ProcessState.ExitCode()
			}
			// Names that a shell would read as something else.
			for _, dir := range []string{"plain", "with space", "it's", `a"b`, "dollar$HOME", `back\slash`, "semi;colon", "amp&and", "umläut-日本", "-dash", "brack[et]", "tilde~", "hash#1", "paren(1)", "percent%20", "new\nline"} {
				home := filepath.Join(t.TempDir(), dir)
				require.NoError(t, os.MkdirAll(filepath.Join(home, ".flow-agents", "bin"), 0o755))

				out, code := run(home, line["PreToolUse"])
				require.Empty(t, out, dir)
				require.Zero(t, code, dir)
				out, code = run(home, line["SessionStart"])
				require.Contains(t, out, "flow-agents-hook is not installed on this machine", dir)
				require.Zero(t, code, dir)

				bin := filepath.Join(home, ".flow-agents", "bin", "flow-agents-hook")
				require.NoError(t, os.WriteFile(bin, []byte("#!/bin/sh\nread l\necho \"$1 $2 $l\"\nexit 2\n"), 0o755))
				out, code = run(home, line["PreToolUse"])
				require.Equal(t, "claude-code PreToolUse {\"a\":1}\n", out, dir)
				require.Equal(t, 2, code, dir)
				out, code = run(home, line["SessionStart"])
				require.Equal(t, "claude-code SessionStart {\"a\":1}\n", out, dir)
				require.Equal(t, 2, code, dir)
			}
		})
	}
	require.NotZero(t, ran)
}
