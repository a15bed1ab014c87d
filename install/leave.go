package install

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/runtime/settings"
	"github.com/flow-agents/flow-agents/runtime/workflow"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// A Leftover is something that an uninstall leaves: what people and sessions
// made, and what other projects use.
type Leftover struct {
	// Path is whole, whatever folder the reader is in.
	Path string `json:"path"`
	What string `json:"what"`
	// Remove is the command line that removes it.
	Remove string `json:"remove"`
}

// leave lists what is there when the plan is done.
func (p *planner) leave() {
	if p.req.Scope != bundle.User {
		root, own := p.req.Root, filepath.Join(p.req.Root, workspace.Dir)
		p.left(p.records(), "what was recorded of sessions")
		p.left(filepath.Join(root, filepath.FromSlash(workflow.Dir)), "the state of tasks")
		p.left(filepath.Join(own, settings.Name), "the project's settings, which are not as init made them")
		p.leftState(filepath.Join(own, "state"), "the hook's log and what it counts")
	}
	found, err := os.ReadDir(p.in.Machine)
	if err != nil {
		found = nil
	}
	for _, f := range found {
		path := filepath.Join(p.in.Machine, f.Name())
		switch f.Name() {
		case "bin":
			p.left(path, "the programs, which the hooks of other projects of yours may call")
		case settings.Name:
			p.left(path, "your own settings, which hold for all projects")
		case "state":
			p.leftState(path, "the lock of the installer, the hook's log and what it counts")
		case "telemetry":
			p.left(path, "what was recorded of projects that have no folder for it")
		}
	}
}

// records is the folder of a project's records.
func (p *planner) records() string {
	v := workspace.Open(p.req.Root)
	v.Home = p.in.Machine
	dir := settings.Load(v).Telemetry.Dir
	switch {
	case dir == "":
		dir = ".telemetry"
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	}
	return filepath.Join(p.req.Root, dir)
}

// leftState lists a folder of state, and first the copies in it.
func (p *planner) leftState(dir, what string) {
	kept := filepath.Join(dir, "kept")
	p.left(kept, "your text of files that flow-agents replaced or removed")
	if p.stays(dir, kept) {
		p.left(dir, what)
	}
}

func (p *planner) left(path, what string) {
	if p.stays(path, "") {
		p.Left = append(p.Left, Leftover{Path: path, What: what, Remove: removal(path)})
	}
}

// stays reports whether there is a file at or below path when the plan is done,
// those aside that are at or below but.
func (p *planner) stays(path, but string) bool {
	below := func(file, dir string) bool {
		return dir != "" && (file == dir || strings.HasPrefix(file, dir+string(filepath.Separator)))
	}
	gone := map[string]bool{}
	for _, c := range p.steps {
		if c.dir {
			continue
		}
		if c.after != nil && below(c.target, path) && !below(c.target, but) && !ignoreFile(c.target) {
			return true
		}
		gone[c.target] = c.after == nil
	}
	found := false
	_ = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || gone[file] || below(file, but) || file != path && ignoreFile(file) {
			return nil // what can't be looked at is the file system's to tell
		}
		found = true
		return fs.SkipAll
	})
	return found
}

// ignoreFile reports whether a file does nothing but keep others out of commits.
func ignoreFile(path string) bool { return filepath.Base(path) == ".gitignore" }

// removal is the command line that removes a file or folder.
func removal(path string) string {
	if runtime.GOOS == "windows" {
		return "Remove-Item -Recurse -Force '" + strings.ReplaceAll(path, "'", "''") + "'"
	}
	flag := "-r "
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		flag = ""
	}
	return "rm " + flag + bundle.Quote(path)
}
