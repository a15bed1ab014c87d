package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	flowagents "github.com/flow-agents/flow-agents"
	"github.com/flow-agents/flow-agents/generators"
	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/load"
)

const modulePath = "module github.com/flow-agents/flow-agents\n"

// A source is where CUE and templates are read from: the checkout around the
// working directory, else the copy in this program.
type source struct {
	// root is the checkout; empty for the embedded copy.
	root string
	fsys fs.FS
}

func findSource() (source, error) {
	dir, err := os.Getwd()
	if err != nil {
		return source{}, err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		// A go.mod alone may be a copy that somebody left.
		if err == nil && strings.HasPrefix(string(mod), modulePath) && isDir(filepath.Join(dir, "schema")) {
			return source{dir, os.DirFS(dir)}, nil
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
			continue
		}
		return source{"", flowagents.Sources}, nil
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// show names a file of the checkout the way that the user would.
func (s source) show(p string) string {
	if s.root == "" {
		return p
	}
	abs := filepath.Join(s.root, filepath.FromSlash(p))
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, abs); err == nil {
			return rel
		}
	}
	return abs
}

// load reads the description with manifests from elsewhere joined in: single
// files, and every .cue file of the given directories.
func (s source) load(files, dirs []string) (*load.Description, error) {
	o := load.Options{Show: s.show}
	var recordings []fs.FS
	if s.root != "" {
		recordings = append(recordings, os.DirFS(filepath.Join(s.root, "conformance", "recordings")))
		for _, d := range dirs {
			recordings = append(recordings, os.DirFS(filepath.Join(d, "recordings")))
		}
	}
	for _, d := range dirs {
		found, err := filepath.Glob(filepath.Join(d, "*.cue"))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s holds no .cue file; --manifests takes a folder of manifests", d)
		}
		files = append(files, found...)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: no such file", f)
		}
		if isDir(f) {
			return nil, fmt.Errorf("%s is a folder; name the manifests in it, as in %s", f, filepath.Join(f, "*.cue"))
		}
		if err != nil {
			return nil, err
		}
		o.Extra = append(o.Extra, load.Manifest{Name: f, Data: data})
	}
	return generators.Load(s.fsys, o, recordings...)
}

// describe finds the source and loads it, with the findings already told.
func describe(files, dirs []string) (source, *load.Description, error) {
	src, err := findSource()
	if err != nil {
		return src, nil, err
	}
	d, err := src.load(files, dirs)
	if err != nil {
		return src, nil, report(err)
	}
	return src, d, nil
}

// put writes a set beside what a folder holds and lists its files.
func put(set fileset.Set, dir string) error {
	if err := set.Write(dir, func(string) bool { return true }); err != nil {
		return err
	}
	for _, f := range set {
		fmt.Println(filepath.Join(dir, filepath.FromSlash(f.Path)))
	}
	return nil
}

// note prints what an author should know and may leave as it is.
func note(d *load.Description) {
	for _, n := range d.Notes {
		fmt.Fprintf(os.Stderr, "note: %v\n", n)
	}
}

// report prints the findings of a load, if err is that, and says so.
func report(err error) error {
	var f load.Findings
	if !errors.As(err, &f) {
		return err
	}
	fmt.Fprintln(os.Stderr, firstSyntax(f).Error())
	return errFailed
}
