package install

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/flow-agents/flow-agents/install/bundle"
)

// sumsName lists checksums of the files beside it, as sha256sum writes them.
const sumsName = "SHA256SUMS"

// placePrograms plans the copies of the hook binary and of this program.
func (p *planner) placePrograms(bundles []*bundle.Bundle) error {
	var paths []string
	for _, b := range bundles {
		paths = union(paths, p.in.programPaths(b, p.req))
	}
	for _, dst := range paths {
		if err := p.placeProgram(p.in.Hook, dst); err != nil {
			return err
		}
	}
	if p.in.Self == "" {
		return nil
	}
	return p.placeProgram(p.in.Self, filepath.Join(p.in.Machine, "bin", exe("flow-agents")))
}

// programPaths lists where the hook binary has to be: in its place, and where
// the hooks of this scope call it, if that is elsewhere.
func (in *Installer) programPaths(b *bundle.Bundle, req Request) []string {
	paths := []string{in.program(b)}
	sites, _ := in.sites(b, req.Scope, req.Root)
	for _, s := range sites {
		if s.file.Free() {
			continue
		}
		m, err := in.merger(s)
		if err != nil {
			continue // reported where the file is planned
		}
		for _, place := range m.Inspect(m.Source) {
			for _, cmd := range place.Commands {
				if path, ok := in.expand(cmd); ok {
					paths = union(paths, []string{path})
				}
			}
		}
	}
	return paths
}

// variables are what a committed command may start with, and what they stand
// for.
func (in *Installer) variables() map[string]string {
	if runtime.GOOS == "windows" {
		return map[string]string{"%USERPROFILE%": in.Home, "$env:USERPROFILE": in.Home, "$HOME": in.Home, "${HOME}": in.Home, "~": in.Home}
	}
	return map[string]string{
		"${FLOW_AGENTS_HOME:-$HOME/.flow-agents}":   in.Machine,
		"${FLOW_AGENTS_HOME:-${HOME}/.flow-agents}": in.Machine,
		"$HOME": in.Home, "${HOME}": in.Home, "~": in.Home,
	}
}

// expand returns the path that a registered command stands for on this machine;
// false for a command of another platform.
func (in *Installer) expand(cmd string) (string, bool) {
	if runtime.GOOS != "windows" && strings.HasSuffix(strings.ToLower(cmd), ".exe") {
		return "", false
	}
	cmd = filepath.FromSlash(cmd)
	if filepath.IsAbs(cmd) {
		return withExe(cmd), true
	}
	for prefix, dir := range in.variables() {
		rest, ok := strings.CutPrefix(cmd, prefix)
		if ok && rest != "" && os.IsPathSeparator(rest[0]) {
			return withExe(filepath.Join(dir, rest)), true
		}
	}
	return "", false
}

// withExe adds what Windows shells add.
func withExe(path string) string {
	if filepath.Ext(path) == "" {
		return exe(path)
	}
	return path
}

func (p *planner) placeProgram(src, dst string) error {
	old, err := readProgram(dst)
	if err != nil {
		return err
	}
	c := Change{Action: Create, rank: rankProgram, target: dst, before: old, perm: 0o755}
	if src == "" {
		if old == nil {
			return fmt.Errorf("no %s to install: none is beside this program, and %s is not there; give its path with --hook", filepath.Base(dst), p.in.show("", dst))
		}
		c.after = old
		p.add(c)
		return nil
	}
	if c.after, err = readProgram(src); err != nil {
		return err
	}
	if c.after == nil {
		return fmt.Errorf("%s does not exist", src)
	}
	if err := verifySum(src, sumOf(c.after)); err != nil {
		return err
	}
	if bytes.Equal(old, c.after) {
		p.add(c)
		return nil
	}
	if _, err := Version(src); errors.Is(err, syscall.ENOEXEC) {
		return fmt.Errorf("%s is for another platform than this one, %s/%s", src, runtime.GOOS, runtime.GOARCH)
	}
	if old != nil {
		c.Action = Update
		// The one before stays for a rollback.
		prev := dst + ".previous"
		kept, err := readProgram(prev)
		if err != nil {
			return err
		}
		p.add(Change{Action: Update, hidden: true, rank: rankProgram, target: prev, before: kept, after: old, perm: 0o755})
	}
	p.add(c)
	return nil
}

// readProgram returns the bytes of a program; nil if there is none.
func readProgram(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a program", path)
	}
	return os.ReadFile(path)
}

// verifySum compares a sum with the one in the list beside the file, if there
// is a list that has it.
func verifySum(file, sum string) error {
	list := filepath.Join(filepath.Dir(file), sumsName)
	data, err := os.ReadFile(list)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		want, name, ok := strings.Cut(lines.Text(), " ")
		name = strings.TrimLeft(name, " *")
		if !ok || path.Base(name) != filepath.Base(file) || strings.Contains(name, "/") {
			continue
		}
		if !strings.EqualFold(want, sum) {
			return fmt.Errorf("%s has SHA-256 %s, but %s says %s; get the release again", file, sum, list, want)
		}
		return nil
	}
	return nil
}

// Version runs a program for its version: one line. An error says why it
// can't be run.
func Version(program string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line, nil
}
