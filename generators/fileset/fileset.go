// Package fileset is a set of generated files held in memory: what an emitter
// returns, and what is written to a directory, compared with one, or packed.
package fileset

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// File modes of generated files.
const (
	Plain      fs.FileMode = 0o644
	Executable fs.FileMode = 0o755
)

// A File is one generated file. Path is slash-separated and relative.
type File struct {
	Path string
	Mode fs.FileMode
	Data []byte
}

// A Set is a list of files with distinct paths.
type Set []File

// Add appends a plain file.
func (s *Set) Add(path string, data []byte) {
	*s = append(*s, File{path, Plain, data})
}

// AddExecutable appends a file that can be run.
func (s *Set) AddExecutable(path string, data []byte) {
	*s = append(*s, File{path, Executable, data})
}

// Under returns the set with every path below dir.
func (s Set) Under(dir string) Set {
	out := make(Set, len(s))
	for i, f := range s {
		f.Path = dir + "/" + f.Path
		out[i] = f
	}
	return out
}

// Sorted returns the files in path order. Two files with one path are a fault
// of the emitters and reported as such.
func (s Set) Sorted() (Set, error) {
	out := slices.Clone(s)
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for i := 1; i < len(out); i++ {
		if out[i].Path == out[i-1].Path {
			return nil, fmt.Errorf("two emitters wrote %s", out[i].Path)
		}
	}
	return out, nil
}
