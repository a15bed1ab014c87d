// Package workspace finds the folder that an event is about. It asks the file
// system only; no git process is started.
package workspace

import (
	"os"
	"path/filepath"
)

// Dir is the folder of a project's own settings and state, and the name of
// the machine's in the user's home.
const Dir = ".flow-agents"

// maxCwd is the longest folder in bytes that is looked around from: each level
// costs a few system calls, and none takes a longer path anyway.
const maxCwd = 4096

// A View is where an event happened.
type View struct {
	// Cwd is where the agent works; absolute.
	Cwd string
	// Root is the nearest folder above Cwd that holds .flow-agents/, else the
	// top of the git work tree, else Cwd. FLOW_AGENTS_ROOT overrides.
	Root string
	// Managed: Root holds .flow-agents/, so the product may write there.
	Managed bool
	// Home is the machine's folder, ~/.flow-agents or FLOW_AGENTS_HOME; empty
	// if the user has no home.
	Home string
	// Problem is what was wrong with the place that the host named, for the
	// local log.
	Problem string
}

// Open looks around from cwd; if that is empty or too long, from the
// process's own.
func Open(cwd string) View {
	var v View
	if len(cwd) > maxCwd {
		cwd, v.Problem = "", "the host's working directory is longer than any path can be; the process's own is used"
	}
	if v.Home = os.Getenv("FLOW_AGENTS_HOME"); v.Home != "" {
		v.Home = filepath.Clean(v.Home)
	} else if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		v.Home = filepath.Join(home, Dir)
	}
	v.Cwd = absolute(cwd)
	if root := os.Getenv("FLOW_AGENTS_ROOT"); root != "" {
		v.Root = absolute(root)
		v.Managed = v.managed(v.Root)
		return v
	}
	v.Root = v.Cwd
	top := false
	for dir := v.Cwd; ; {
		if v.managed(dir) {
			v.Root, v.Managed = dir, true
			return v
		}
		if !top {
			// In a linked work tree .git is a file.
			if _, err := os.Lstat(join(dir, ".git")); err == nil {
				v.Root, top = dir, true
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return v
		}
		dir = up
	}
}

// managed reports whether dir holds a project's .flow-agents/. The machine's
// own folder of that name doesn't make a user's home a project; it is told by
// the programs in it, too, because the home may not be known or not be this
// user's.
func (v View) managed(dir string) bool {
	p := join(dir, Dir)
	if p == v.Home {
		return false
	}
	info, err := os.Lstat(p)
	if err != nil || !info.IsDir() {
		return false
	}
	// In a work tree it is a project's, whatever an agent may put into it.
	if _, err := os.Lstat(join(p, "bin")); err == nil {
		if _, err := os.Lstat(join(dir, ".git")); err != nil {
			return false
		}
	}
	// The home may have another name, through a link.
	home, err := os.Stat(v.Home)
	return err != nil || !os.SameFile(info, home)
}

func absolute(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	wd, err := os.Getwd()
	if err != nil {
		return string(filepath.Separator)
	}
	return filepath.Join(wd, p)
}

// join is filepath.Join for a clean folder and a plain name.
func join(dir, name string) string {
	if os.IsPathSeparator(dir[len(dir)-1]) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}
