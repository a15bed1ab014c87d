package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators/model"
	"github.com/flow-agents/flow-agents/generators/tables"
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

// A host that takes a line of its own for Windows gets one in every scope. None
// of it is run by these tests: they hold it to the rules of PowerShell.
func TestWindowsCommands(t *testing.T) {
	c := catalog(t)
	h := host(t, c, "codex")
	lines := func(scope string) map[string]string {
		hooks, err := Hooks(c, h, h.Files["hooks"], scope)
		require.NoError(t, err)
		out := map[string]string{}
		for _, k := range hooks {
			require.NotNil(t, k.CommandWindows, "%s %s", scope, k.Native)
			out[k.Native] = *k.CommandWindows
		}
		return out
	}
	const exe = `"$HOME/.flow-agents/bin/flow-agents-hook.exe"`
	project := lines("project")
	guarded := "if (Test-Path -LiteralPath " + exe + ") { & " + exe + " codex PreToolUse; exit $LASTEXITCODE }"
	require.Equal(t, guarded, project["PreToolUse"])
	require.Equal(t, strings.ReplaceAll(guarded, "PreToolUse", "SessionStart")+" else { Write-Output '"+Missing(h)+"' }", project["SessionStart"])
	said := 0
	for _, w := range project {
		said += strings.Count(w, "Write-Output")
	}
	require.Equal(t, 1, said)

	user := lines("user")
	require.Equal(t, "& @'\n__FLOW_AGENTS_HOOK__\n'@ codex PreToolUse; exit $LASTEXITCODE", user["PreToolUse"])
	// A here-string ends at a line that starts with '@, and a path on Windows is
	// one line that starts with a drive or a share.
	here := regexp.MustCompile(`(?s)^& @'\n(.*?)\n['‘’‚‛]@ (.*)$`)
	for _, path := range []string{`C:\Users\O'Neil\b.exe`, `C:\Users\O’Neil\b.exe`, `C:\a'@ b\b.exe`, "C:\\$HOME`a\\b.exe", `\\host\share\a b\b.exe`} {
		m := here.FindStringSubmatch(strings.ReplaceAll(user["Stop"], Placeholder, path))
		require.Equal(t, []string{path, "codex Stop; exit $LASTEXITCODE"}, m[1:])
	}
	for _, h := range c.Hosts {
		require.NotRegexp(t, `['‘’‚‛\x00-\x1f]`, Missing(h))
	}
}

// Hosts that compare names read a matcher with any other character in it as a
// pattern that may match anywhere: Read|mcp__.* would match NotebookRead.
func TestNamesWithAWildcardAreAnchored(t *testing.T) {
	c := catalog(t)
	for _, id := range []string{"claude-code", "codex"} {
		h := host(t, c, id)
		for _, f := range h.Files {
			if f.Accepts.Matcher != "names" {
				continue
			}
			matcher := func(classes ...string) string {
				m := matchers(h, f, tables.NativeEvent{Native: "PreToolUse", Mapping: model.Mapping{Match: classes}})
				require.Len(t, m, 1)
				return *m[0]
			}
			require.NotContains(t, matcher("shell", "edit"), "^", "plain names are compared whole")
			m := matcher("shell", "mcp")
			require.Regexp(t, `^\^\(Bash\|.*mcp__\.\*\)\$$`, m)
			re := regexp.MustCompile(m)
			for name, want := range map[string]bool{"Bash": true, "mcp__a__b": true, "BashOutput": false, "NotBash": false, "x_mcp__a": false} {
				require.Equal(t, want, re.MatchString(name), name)
			}
			for _, classes := range [][]string{{"shell", "mcp"}, {"mcp"}, {"shell"}} {
				quoted := []byte(`"` + matcher(classes...) + `"`)
				require.NoError(t, acceptor{h, f}.matcher("at", "PreToolUse", quoted))
			}
		}
	}
	dashed := model.Host{Tools: map[string]model.Tool{"a-b": {Class: "read"}, "c.d": {Class: "read"}}}
	f := model.File{Accepts: &model.Accepts{Matcher: "names", Matchable: []string{"Pre"}}}
	m := matchers(dashed, f, tables.NativeEvent{Native: "Pre", Mapping: model.Mapping{Match: []string{"read"}}})
	require.Equal(t, `^(a-b|c\.d)$`, *m[0], "some releases read a dash as part of a pattern")
}
