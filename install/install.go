// Package install puts bundles into projects and homes, takes them out again,
// and says whether they are alive. It knows hosts only through bundle.json.
//
// Every change is planned first, as whole new contents of files, and then made
// file by file: programs, the ledger with what it takes to go back, files of our
// own, and the hosts' config last. A crash leaves each file old or new, and the
// same call again completes the rest.
package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/flow-agents/flow-agents/install/atomicfile"
	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/install/entries"
	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// An Installer works for one user of one machine.
type Installer struct {
	// Bundles is a tree of <host>/bundle.json.
	Bundles fs.FS
	// Home is the user's home, Machine the folder of the programs and of the
	// user's settings, ~/.flow-agents unless it is moved. Both absolute.
	Home, Machine string
	// Hook and Self are the hook binary and the installer to put in place.
	// Empty: what is in place stays, and for Hook has to be there.
	Hook, Self string
	// Release is the folder that they come from, if not from beside this
	// program; its list of checksums holds for them.
	Release string
	// Version is this program's own.
	Version string
	// Notes are told with every plan: what was taken from where.
	Notes []string
	// Getenv reads the environment.
	Getenv func(string) string
	// Files makes changes.
	Files atomicfile.FS
}

// Modes of enforcement in a project.
const (
	Enforce = "enforce"
	Observe = "observe" // decide and record, never block
)

// BothSurfaces asks for every surface of a host.
const BothSurfaces = "both"

// A Request says what to install, and where.
type Request struct {
	// Root is the project, an absolute path. The user scope needs none.
	Root string
	// Scope is bundle.Project, Local or User.
	Scope string
	// Hosts are ids of bundles; for an uninstall or upgrade, empty for all that
	// are installed.
	Hosts []string
	// Surface is a surface of the hosts that have several, BothSurfaces, or
	// empty for those installed, else found, else the first.
	Surface string
	// Mode is Enforce, Observe, or empty to leave it as it is.
	Mode string
}

// A UsageError is a request that makes no sense, whatever is on disk.
type UsageError struct{ Msg string }

func (e *UsageError) Error() string { return e.Msg }

func usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Init puts bundles in place, or brings older ones up to date. With dryRun it
// only plans.
func (in *Installer) Init(req Request, dryRun bool) (*Plan, error) {
	return in.do(req, dryRun, (*planner).planInit)
}

// Uninstall takes bundles out again. Files that nobody changed since get their
// original bytes back; from others only our entries go.
func (in *Installer) Uninstall(req Request, dryRun bool) (*Plan, error) {
	return in.do(req, dryRun, (*planner).planUninstall)
}

// Rollback undoes the last update of bundles that were installed before.
func (in *Installer) Rollback(req Request, dryRun bool) (*Plan, error) {
	return in.do(req, dryRun, (*planner).planRollback)
}

func (in *Installer) do(req Request, dryRun bool, plan func(*planner) error) (*Plan, error) {
	if err := in.checkRequest(req); err != nil {
		return nil, err
	}
	if !dryRun {
		// One lock for the user, because projects share the programs.
		state := filepath.Join(in.Machine, "state")
		if err := atomicfile.MkdirAll(in.Files, state, 0o700); err != nil {
			return nil, err
		}
		unlock, err := lockedfile.MutexAt(filepath.Join(state, "install.lock")).Lock()
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	p, err := in.newPlanner(req)
	if err != nil {
		return nil, err
	}
	if err := plan(p); err != nil {
		return nil, err
	}
	p.finish()
	if err := in.checkWritable(p.Changes); err != nil {
		return nil, err
	}
	if dryRun {
		return &p.Plan, nil
	}
	return &p.Plan, in.apply(&p.Plan)
}

func (in *Installer) checkRequest(req Request) error {
	switch req.Scope {
	case bundle.User:
		if req.Mode == Observe {
			return usagef("observe mode is set for one project at a time, not for the user")
		}
	case bundle.Project, bundle.Local:
		info, err := os.Stat(req.Root)
		if err != nil {
			return usagef("there is no folder %s to install in", req.Root)
		}
		if !info.IsDir() {
			return usagef("%s is not a folder", req.Root)
		}
		if same(req.Root, in.Home) {
			return usagef("%s is your home folder; use --global to install for the user", req.Root)
		}
	default:
		return usagef("scope %q is not one of project, local, user", req.Scope)
	}
	if !slices.Contains([]string{"", Enforce, Observe}, req.Mode) {
		return usagef("mode %q is not one of enforce, observe", req.Mode)
	}
	return nil
}

// bundles reads the bundles with the given ids, all if there are none.
func (in *Installer) bundles(ids []string) ([]*bundle.Bundle, error) {
	all, err := bundle.LoadAll(in.Bundles)
	if err != nil || len(ids) == 0 {
		return all, err
	}
	var out []*bundle.Bundle
	for _, id := range ids {
		i := slices.IndexFunc(all, func(b *bundle.Bundle) bool { return b.Target.ID == id })
		if i < 0 {
			var known []string
			for _, b := range all {
				known = append(known, b.Target.ID)
			}
			return nil, usagef("host %q is not known; known are %s", id, strings.Join(known, ", "))
		}
		if !slices.Contains(out, all[i]) {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// A site is one file of a bundle at one scope: where it goes.
type site struct {
	bundle *bundle.Bundle
	file   bundle.File
	scope  string
	// base is the project or the host's home; path is below it.
	base, path string
}

// hostHome is the host's folder of the user. moved: by a variable.
func (in *Installer) hostHome(b *bundle.Bundle) (dir string, moved bool) {
	if b.Home.Env != "" {
		if dir := in.Getenv(b.Home.Env); filepath.IsAbs(dir) {
			return filepath.Clean(dir), true
		}
	}
	return filepath.Join(in.Home, filepath.FromSlash(b.Home.Dir)), false
}

// sites lists the files of a bundle that are installed at a scope. Of the names
// that a host reads instead of each other, the first that exists is the one;
// others lists the rest that exist.
func (in *Installer) sites(b *bundle.Bundle, scope, root string) (all []site, others []site) {
	base := root
	if scope == bundle.User {
		base, _ = in.hostHome(b)
	}
	for _, f := range b.Files {
		place, ok := f.Scopes[scope]
		if !ok || !f.Install {
			continue
		}
		at := func(rel string) site {
			return site{bundle: b, file: f, scope: scope, base: base, path: filepath.Join(base, filepath.FromSlash(rel))}
		}
		var found []site
		for _, rel := range append(slices.Clone(f.Also), place.Dest) {
			if s := at(rel); exists(s.path) {
				found = append(found, s)
			}
		}
		if len(found) == 0 {
			found = []site{at(place.Dest)}
		}
		all = append(all, found[0])
		others = append(others, found[1:]...)
	}
	return all, others
}

// merger returns what joins a file of ours with the user's.
func (in *Installer) merger(s site) (entries.Merger, error) {
	src, err := s.bundle.Source(s.file, s.scope, in.program(s.bundle))
	if err != nil {
		return entries.Merger{}, err
	}
	name := s.bundle.Target.ID + "/" + s.file.Scopes[s.scope].Source
	doc, err := jsonedit.Parse(name, src, jsonedit.JSONC)
	if err != nil {
		return entries.Merger{}, err
	}
	owner := entries.Owner{Program: s.bundle.Owned.Program, FirstArg: s.bundle.Owned.FirstArg}
	return entries.Merger{Shape: s.file.Shape, Owner: owner, Source: doc}, nil
}

// program is where the hook binary of a bundle is installed.
func (in *Installer) program(b *bundle.Bundle) string {
	return filepath.Join(in.Machine, "bin", exe(b.Owned.Program))
}

func exe(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

func dialect(f bundle.File) jsonedit.Dialect {
	if f.Merge == bundle.MergeJSONC {
		return jsonedit.JSONC
	}
	return jsonedit.JSON
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func same(a, b string) bool {
	ia, ea := os.Stat(a)
	ib, eb := os.Stat(b)
	return ea == nil && eb == nil && os.SameFile(ia, ib)
}

// show writes a path for a reader: below the project, or below the home.
func (in *Installer) show(root, path string) string {
	if root != "" {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	if rel, err := filepath.Rel(in.Home, path); err == nil && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel)
	}
	return path
}

// maxConfig is the size of the largest config file that is read, in bytes.
const maxConfig = 16 << 20

// read returns the content of a regular file; nil if there is none.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() > maxConfig {
		return nil, fmt.Errorf("%s has %d bytes; no config file is larger than %d", path, info.Size(), maxConfig)
	}
	data, err := os.ReadFile(path)
	if data == nil {
		data = []byte{}
	}
	return data, err
}
