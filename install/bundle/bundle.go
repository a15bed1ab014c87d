// Package bundle reads bundles: for each host a directory with bundle.json and
// the files that it names. bundle.json is all that the installer knows of a
// host; its shape is #Bundle in schema/.
package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// Name is the file that makes a directory a bundle.
const Name = "bundle.json"

// Scopes that a bundle can be installed in.
const (
	Project = "project" // committed with the project
	Local   = "local"   // in the project, on this machine only
	User    = "user"    // for every project of this user
)

// Merge modes of a file.
const (
	Own        = "own"         // the file is ours alone
	MergeJSON  = "merge-json"  // joined with what is there; the host reads strict JSON
	MergeJSONC = "merge-jsonc" // the same, and the host reads comments
)

// A Bundle is one bundle.json, with the directory that it stands in.
type Bundle struct {
	SchemaVersion int      `json:"schema_version"`
	Target        Target   `json:"target"`
	Tested        Tested   `json:"tested"`
	Detect        Detect   `json:"detect"`
	Home          Home     `json:"home"`
	Surfaces      []string `json:"surfaces"`
	Files         []File   `json:"files"`
	Owned         Owned    `json:"owned"`
	Trust         []Trust  `json:"trust"`
	Switches      []Switch `json:"switches"`

	dir fs.FS
}

// A Target is the host that a bundle is for.
type Target struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Kind  string `json:"kind"` // harness, framework
}

// Tested is the range of releases that the bundle was checked against.
type Tested struct {
	Package string `json:"package"`
	Min     string `json:"min"`
	Max     string `json:"max"`
}

// Detect tells how the host is recognised: variables that it sets for its
// children, and what it leaves in a project and in a home.
type Detect struct {
	Env     []string `json:"env"`
	Project []string `json:"project"`
	User    []string `json:"user"`
	// Session are variables in which commands that an agent runs find the id of
	// the session.
	Session []string `json:"session"`
}

// Home is the host's own folder: what Env holds, else Dir below the user's home.
type Home struct {
	Env string `json:"env"`
	Dir string `json:"dir"`
}

// A File is one file to place.
type File struct {
	ID      string `json:"id"`
	Doc     string `json:"doc"`
	Surface string `json:"surface"`
	// Serves are further surfaces that read the file.
	Serves []string `json:"serves"`
	Merge  string   `json:"merge"`
	Also   []string `json:"also"`
	Shape  string   `json:"shape"` // nested, flat, list, free
	// Scopes maps a scope to where the file comes from and goes.
	Scopes      map[string]Place `json:"scopes"`
	Placeholder *Placeholder     `json:"placeholder"`
	Install     bool             `json:"install"`
}

// A Place is a source below the bundle and a destination below the project, or
// below the host's home for the user scope.
type Place struct {
	Source string `json:"source"`
	Dest   string `json:"dest"`
}

// A Placeholder stands in a source for the absolute path of the hook binary: as
// it is, or quoted for a POSIX shell.
type Placeholder struct {
	Raw   string `json:"raw"`
	Shell string `json:"shell"`
}

// Owned is how our entries are recognised in a shared file: by a program's base
// name and the word behind it.
type Owned struct {
	Program  string `json:"program"`
	FirstArg string `json:"first_arg"`
}

// A Trust step has to be done or known before the host runs the hooks.
type Trust struct {
	Scope string `json:"scope"` // project, user, any
	// Surfaces that it concerns; empty: all.
	Surfaces []string `json:"surfaces,omitempty"`
	Text     string   `json:"text"`
	Command  string   `json:"command"`
	CI       string   `json:"ci"`
}

// A Switch is a setting of the host that keeps every hook dead.
type Switch struct {
	Scope    string   `json:"scope"` // project, user
	Path     string   `json:"path"`
	Format   string   `json:"format"` // json, toml
	Key      []string `json:"key"`
	DeadWhen bool     `json:"dead_when"`
	Text     string   `json:"text"`
}

// LoadAll reads every bundle of a tree of <host>/bundle.json, by host id. A tree
// that is one bundle itself is read as that.
func LoadAll(tree fs.FS) ([]*Bundle, error) {
	if _, err := fs.Stat(tree, Name); err == nil {
		b, err := load(tree)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", Name, err)
		}
		return []*Bundle{b}, nil
	}
	names, err := fs.Glob(tree, "*/"+Name)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no bundles found: expected <host>/%s", Name)
	}
	var all []*Bundle
	for _, name := range names {
		dir, err := fs.Sub(tree, path.Dir(name))
		if err != nil {
			return nil, err
		}
		b, err := load(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *Bundle) int { return strings.Compare(a.Target.ID, b.Target.ID) })
	return all, nil
}

func load(dir fs.FS) (*Bundle, error) {
	data, err := fs.ReadFile(dir, Name)
	if err != nil {
		return nil, err
	}
	b := &Bundle{dir: dir}
	if err := json.Unmarshal(data, b); err != nil {
		return nil, err
	}
	if b.SchemaVersion != 1 {
		return nil, fmt.Errorf("schema_version is %d; this program reads 1, a newer flow-agents may read it", b.SchemaVersion)
	}
	return b, b.check()
}

// check refuses what would make the installer write outside its places.
func (b *Bundle) check() error {
	if b.Target.ID == "" || b.Owned.Program == "" || b.Owned.FirstArg == "" {
		return errors.New("target.id, owned.program and owned.first_arg are needed")
	}
	paths := slices.Concat(b.Detect.Project, b.Detect.User, []string{b.Home.Dir})
	for _, s := range b.Switches {
		paths = append(paths, s.Path)
	}
	for _, f := range b.Files {
		paths = append(paths, f.Also...)
		for scope, p := range f.Scopes {
			if !slices.Contains([]string{Project, Local, User}, scope) {
				return fmt.Errorf("file %s: scope %q is not project, local or user", f.ID, scope)
			}
			paths = append(paths, p.Dest)
			if !fs.ValidPath(p.Source) {
				return fmt.Errorf("file %s: source %q leaves the bundle", f.ID, p.Source)
			}
		}
		switch f.Merge {
		case Own:
		case MergeJSON, MergeJSONC:
			if f.Install && f.Free() {
				return fmt.Errorf("file %s: shape %q can't be merged by entry", f.ID, f.Shape)
			}
		default:
			return fmt.Errorf("file %s: merge %q is not known", f.ID, f.Merge)
		}
	}
	for _, p := range paths {
		if !filepath.IsLocal(filepath.FromSlash(p)) {
			return fmt.Errorf("path %q leaves its folder", p)
		}
	}
	return nil
}

// Source returns the source of a file for a scope, with hook, the absolute path
// of the hook binary, in the place of its placeholders.
func (b *Bundle) Source(f File, scope, hook string) ([]byte, error) {
	place, ok := f.Scopes[scope]
	if !ok {
		return nil, fmt.Errorf("%s: file %s has no %s scope", b.Target.ID, f.ID, scope)
	}
	src, err := fs.ReadFile(b.dir, place.Source)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", b.Target.ID, err)
	}
	if f.Placeholder == nil || !mentions(src, *f.Placeholder) {
		return src, nil
	}
	var bad error
	out, err := jsonedit.MapStrings(place.Source, src, func(s string) string {
		s, err := f.Placeholder.fill(s, hook)
		bad = errors.Join(bad, err)
		return s
	})
	return out, errors.Join(err, bad)
}

// Free reports that the file has no hooks as entries, so that it can only be
// placed as a whole.
func (f File) Free() bool { return !slices.Contains([]string{"nested", "flat", "list"}, f.Shape) }

func mentions(src []byte, p Placeholder) bool {
	return p.Raw != "" && bytes.Contains(src, []byte(p.Raw)) || p.Shell != "" && bytes.Contains(src, []byte(p.Shell))
}
