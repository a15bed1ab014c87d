package install

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/flow-agents/flow-agents/install/atomicfile"
	"github.com/flow-agents/flow-agents/install/bundle"
)

// previous is what the name of a program ends in that an upgrade replaced.
const previous = ".previous"

// sumsName lists checksums of the files beside it, as sha256sum writes them.
const sumsName = "SHA256SUMS"

// placePrograms plans the copies of the hook binary and of this program.
func (p *planner) placePrograms(bundles []*bundle.Bundle) error {
	var paths []string
	for _, b := range bundles {
		paths = union(paths, p.in.programPaths(b, p.req))
	}
	for _, dst := range paths {
		if err := p.placeProgram(p.in.Hook, dst, hookProgram); err != nil {
			return err
		}
	}
	if p.in.Self == "" {
		return nil
	}
	name := selfProgram
	if p.in.Release == "" {
		name = "" // it is this very program
	}
	return p.placeProgram(p.in.Self, p.in.self(), name)
}

// self is where this program is installed.
func (in *Installer) self() string { return filepath.Join(in.Machine, "bin", exe(selfProgram)) }

// Command is what a reader types to run this program: its name, if that is what
// the PATH leads to, else its path.
func (in *Installer) Command() string {
	path := in.self()
	if !exists(path) && in.Self != "" {
		path = in.Self
	}
	if found := in.onPath(selfProgram); found != "" && (same(found, path) || sameBytes(found, path)) {
		return selfProgram
	}
	if runtime.GOOS != "windows" {
		path = in.show("", path)
	}
	if strings.HasPrefix(path, "~/") {
		return "~/" + bundle.Quote(path[2:])
	}
	return bundle.Quote(path)
}

// onPath is the program that a shell runs for a name; empty if there is none.
func (in *Installer) onPath(name string) string {
	for _, dir := range filepath.SplitList(in.Getenv("PATH")) {
		path := filepath.Join(dir, exe(name))
		info, err := os.Stat(path)
		if dir != "" && err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0) {
			return path
		}
	}
	return ""
}

// sameBytes reports whether two files hold the same.
func sameBytes(a, b string) bool {
	ia, ea := os.Stat(a)
	ib, eb := os.Stat(b)
	if ea != nil || eb != nil || ia.Size() != ib.Size() {
		return false
	}
	x, ea := os.ReadFile(a)
	y, eb := os.ReadFile(b)
	return ea == nil && eb == nil && bytes.Equal(x, y)
}

// CheckCommand is the command line that says whether the hooks are alive. dest is
// the project as the user named it, empty for the one of the current folder.
func (in *Installer) CheckCommand(dest string) string {
	if dest != "" {
		return in.Command() + " status --dest " + bundle.Quote(dest)
	}
	return in.Command() + " status"
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
	if foreignCommand(cmd) {
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

// foreignCommand reports whether a command is written for another platform.
func foreignCommand(cmd string) bool {
	if runtime.GOOS == "windows" {
		return strings.HasPrefix(cmd, "${FLOW_AGENTS_HOME:-")
	}
	return strings.HasSuffix(strings.ToLower(cmd), ".exe")
}

// withExe adds what Windows shells add.
func withExe(path string) string {
	if filepath.Ext(path) == "" {
		return exe(path)
	}
	return path
}

// placeProgram plans the copy of one program. name is how it has to call itself;
// empty: that is known.
func (p *planner) placeProgram(src, dst, name string) error {
	old, err := readProgram(dst)
	if err != nil {
		return err
	}
	c := Change{Action: Create, rank: rankProgram, target: dst, before: old, perm: 0o755}
	if old != nil && !runnable(dst) {
		c.Action, c.remode, c.Note = Update, true, "it could not be run: its mode was wrong"
	}
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
	if err := p.in.verifySum(src, sumOf(c.after)); err != nil {
		return err
	}
	if name != "" {
		if err := checkName(src, name); err != nil {
			return err
		}
	}
	if bytes.Equal(old, c.after) {
		p.add(c)
		return nil
	}
	if old != nil {
		c.Action = Update
	}
	if old != nil && !impostor(dst) {
		// The one before stays for a rollback.
		prev := dst + previous
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

// runnable reports whether a program has the mode that it is installed with.
func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (runtime.GOOS == "windows" || info.Mode().Perm() == atomicfile.ProgramMode)
}

// impostor reports whether what is in the place of a program of ours runs, and
// says that it is another: nobody wants that one back.
func impostor(path string) bool {
	version, err := Version(path)
	return err == nil && !strings.HasPrefix(version, strings.TrimSuffix(filepath.Base(path), ".exe")+" ")
}

// checkName refuses a program that does not call itself name.
func checkName(src, name string) error {
	version, err := Version(src)
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s is for another platform than this one, %s/%s", src, runtime.GOOS, runtime.GOARCH)
	case err != nil:
		return fmt.Errorf("%s can't be run: %w; if it is %s, make it executable (chmod +x)", src, err, name)
	case !strings.HasPrefix(version, name+" "):
		return fmt.Errorf("%s is not %s: to --version it says %q", src, name, brief(version))
	}
	return nil
}

// verifySum compares a sum with those in the lists beside the file and in the
// folder of the release, if they name it.
func (in *Installer) verifySum(file, sum string) error {
	dirs := []string{filepath.Dir(file)}
	if in.Release != "" && in.Release != dirs[0] {
		dirs = append(dirs, in.Release)
	}
	for _, dir := range dirs {
		rel, err := filepath.Rel(dir, file)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		list := filepath.Join(dir, sumsName)
		want, err := listedSum(list, filepath.ToSlash(rel))
		if err != nil {
			return err
		}
		if want != "" && !strings.EqualFold(want, sum) {
			return fmt.Errorf("%s has SHA-256 %s, but %s says %s; get the release again", file, sum, list, want)
		}
	}
	return nil
}

// listedSum returns the sum that a list has for a name, empty if it has none.
func listedSum(list, name string) (string, error) {
	data, err := os.ReadFile(list)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		sum, listed, ok := strings.Cut(strings.TrimSuffix(lines.Text(), "\r"), " ")
		listed = strings.TrimPrefix(strings.TrimLeft(listed, " *"), "./")
		if ok && listed == name {
			return sum, nil
		}
	}
	return "", nil
}
