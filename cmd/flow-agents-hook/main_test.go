package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/flow-agents/flow-agents"

// allowed are the packages that the hook may link, beside the project's own
// below runtime/ and what the standard library keeps internal. Each costs size
// and start-up time on every event of every session.
var allowed = strings.Fields(`
	bytes cmp crypto crypto/cipher crypto/fips140 crypto/sha256 crypto/subtle errors hash io io/fs iter math math/bits os path
	path/filepath runtime slices strconv strings sync sync/atomic syscall time unicode unicode/utf16 unicode/utf8 unsafe
`)

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", ".").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		pkg, mod, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case mod == module:
			if pkg != module+"/cmd/flow-agents-hook" && !strings.HasPrefix(pkg, module+"/runtime/") {
				t.Errorf("the hook links %s: only runtime/ belongs in it", pkg)
			}
		case mod != "":
			t.Errorf("the hook links %s of module %s", pkg, mod)
		case !strings.Contains("/"+pkg+"/", "/internal/") && !slices.Contains(allowed, pkg):
			t.Errorf("the hook links %s: add it to the list only if it is worth its size on every event", pkg)
		}
	}
}

// The tables are laid out by the linker. A map, a function call or a slice of
// computed values in them would be built again at every start.
func TestTablesNeedNoStart(t *testing.T) {
	bin := build(t)
	out, err := exec.Command("go", "tool", "nm", bin).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		name := f[len(f)-1]
		if strings.HasPrefix(name, module+"/runtime/") && regexp.MustCompile(`\.(init(\.\d+)?|map\.init\.\d+)$`).MatchString(name) {
			t.Errorf("%s runs at every start", name)
		}
	}
}

// build returns the path of the hook with its symbols.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "flow-agents-hook")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}

func TestCommandLine(t *testing.T) {
	bin := build(t)
	home := t.TempDir()
	for _, c := range []struct {
		args     string
		in       string
		code     int
		out, err string // regular expressions
	}{
		{"--version", "", 0, `^flow-agents-hook devel\n$`, `^$`},
		{"version", "", 0, `^flow-agents-hook devel\n$`, `^$`},
		{"--contract-version", "", 0, `^\{"contract_version":"1\.0","runner":"flow-agents-hook"\}\n$`, `^$`},
		{"help", "", 0, `usage:(?s:.*)hosts: .*claude-code`, `^$`},
		// Never 2 for a wrong call: to a host that would be a refusal.
		{"", "", 1, `^$`, `usage:`},
		{"claude-code", "", 1, `^$`, `usage:`},
		{"--no-such-flag x", "", 1, `^$`, `usage:`},
		{"claude-code PreToolUse extra", "", 1, `^$`, `usage:`},
		{"engine PreToolUse", "", 1, `^$`, `no "engine"`},
		{"nobody PreToolUse", "{}", 0, `^$`, `^flow-agents-hook: unknown host "nobody PreToolUse"; nothing was checked\n$`},
		{"claude-code PreToolUse", `{"tool_name":"Write","tool_input":{"file_path":"biome.json"}}`, 0, `"deny"`, `^$`},
		{"kiro preToolUse", `{"tool_name":"fs_write","tool_input":{"path":"biome.json"}}`, 2, `^$`, `^BLOCKED: biome\.json`},
		{"claude-code PreToolUse", `{"tool_name":"Write","tool_input":{"file_path":"ok"}}`, 0, `^$`, `^$`},
	} {
		cmd := exec.Command(bin, strings.Fields(c.args)...)
		cmd.Stdin = strings.NewReader(c.in)
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run()
		require.Equal(t, c.code, cmd.ProcessState.ExitCode(), c.args)
		require.Regexp(t, c.out, out.String(), c.args)
		require.Regexp(t, c.err, errs.String(), c.args)
	}
}
