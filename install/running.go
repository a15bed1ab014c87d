package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/runtime/tables"
)

// The programs of a release.
const (
	hookProgram = "flow-agents-hook"
	selfProgram = "flow-agents"
)

// ProgramInfo is a program that hooks call.
type ProgramInfo struct {
	Path    string `json:"path"`
	Version string `json:"version,omitempty"`
	// Contract is the version of the engine contract that it speaks.
	Contract string `json:"contract_version,omitempty"`
	Error    string `json:"error,omitempty"`

	note string
}

// installedHere reports whether path is where init puts the program of a
// bundle. No other program is ever run for a look: what a repository's config
// names can be anything.
func (in *Installer) installedHere(b *bundle.Bundle, path string) bool {
	for _, machine := range []string{in.Machine, filepath.Join(in.Home, ".flow-agents")} {
		want := filepath.Join(machine, "bin", exe(b.Owned.Program))
		if path == want || runtime.GOOS == "windows" && strings.EqualFold(path, want) {
			return true
		}
	}
	return false
}

func (in *Installer) programInfo(b *bundle.Bundle, path string) ProgramInfo {
	info := ProgramInfo{Path: in.show("", path)}
	if !in.installedHere(b, path) {
		info.Error = "the hooks call a program that flow-agents did not install, so it is not looked at; " + in.Command() + " init puts the hooks right"
		return info
	}
	if !exists(path) {
		info.Error = "is not there; " + in.Command() + " init puts it in place"
		return info
	}
	version, err := Version(path)
	if err != nil {
		info.Error = fmt.Sprintf("can't be run (%v); %s init puts it right, or --hook PATH puts another one in place", err, in.Command())
		return info
	}
	number, ok := strings.CutPrefix(version, b.Owned.Program+" ")
	if !ok {
		info.Error = fmt.Sprintf("is another program: to --version it says %q, not %q and a number; %s init --hook PATH puts the right one in place", brief(version), b.Owned.Program, in.Command())
		return info
	}
	info.Version = version
	info.Contract = contract(path)
	switch {
	case info.Contract == "":
		info.note = "does not say which engine contract it speaks"
	case info.Contract != tables.ContractVersion:
		info.note = fmt.Sprintf("speaks engine contract %s, and this program was made for %s; %s upgrade brings both to one version", info.Contract, tables.ContractVersion, in.Command())
	default:
		if info.note = compareReleases(number, in.Version); info.note != "" {
			info.note += "; " + in.Command() + " upgrade of the newer release brings both to one version"
		}
	}
	return info
}

// compareReleases says how the hook's version differs from this program's.
// Builds from a checkout have no number and differ from none.
func compareReleases(hook, self string) string {
	a, okA := release(hook)
	b, okB := release(self)
	if !okA || !okB || hook == self {
		return ""
	}
	word := "not of the version of"
	for i := range a {
		if a[i] != b[i] {
			word = "newer than"
			if a[i] < b[i] {
				word = "older than"
			}
			break
		}
	}
	return fmt.Sprintf("is %s, %s this program, which is %s", hook, word, self)
}

// release reads the numbers of a version. What follows a minus or plus does
// not count.
func release(version string) (numbers [3]int, ok bool) {
	core, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "+")
	core, _, _ = strings.Cut(core, "-")
	parts := strings.Split(core, ".")
	if len(parts) > len(numbers) {
		return numbers, false
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil {
			return numbers, false
		}
		numbers[i] = n
	}
	return numbers, true
}

// Version runs a program for its version: one line. An error says why it
// can't be run.
func Version(program string) (string, error) {
	out, err := ask(program, "--version")
	line, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	return line, err
}

func contract(program string) string {
	out, err := ask(program, "--contract-version")
	var answer struct {
		Version string `json:"contract_version"`
	}
	if err != nil || json.Unmarshal([]byte(out), &answer) != nil {
		return ""
	}
	return brief(answer.Version)
}

// ask puts a question to a program. One that was just written may still be
// open in a child that some other thread of this process has forked and that
// has not yet become its own program; the system then calls it busy.
func ask(program, question string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	for wait := time.Millisecond; ; wait *= 2 {
		cmd := exec.CommandContext(ctx, program, question)
		cmd.WaitDelay = time.Second
		out, err := cmd.Output()
		if !errors.Is(err, syscall.ETXTBSY) || wait > time.Second {
			return string(out), err
		}
		time.Sleep(wait)
	}
}

// brief cuts what another program said down to a line.
func brief(text string) string {
	if len(text) > 60 {
		return strings.ToValidUTF8(text[:60], "") + "..."
	}
	return text
}
