// Package style formats the project's CUE and jsonnet sources, the way gofmt
// does Go's.
package style

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"

	cueformat "cuelang.org/go/cue/format"
	"github.com/google/go-jsonnet/formatter"

	"github.com/flow-agents/flow-agents/generators/fileset"
)

// Dirs are the folders that hold such sources.
var Dirs = []string{"cue.mod", "schema", "manifests", "templates"}

// Unformatted returns, well formatted, every source below Dirs that is not. A
// file that does not parse is an error that names its place.
func Unformatted(tree fs.FS) (fileset.Set, error) {
	var out fileset.Set
	for _, dir := range Dirs {
		err := fs.WalkDir(tree, dir, func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			format := formats[path.Ext(p)]
			if format == nil {
				return nil
			}
			data, err := fs.ReadFile(tree, p)
			if err != nil {
				return err
			}
			want, err := format(p, data)
			if err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
			if !bytes.Equal(data, want) {
				out.Add(p, want)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

var formats = map[string]func(name string, data []byte) ([]byte, error){
	".cue": func(_ string, data []byte) ([]byte, error) { return cueformat.Source(data) },
	".jsonnet": func(name string, data []byte) ([]byte, error) {
		s, err := formatter.Format(name, string(data), formatter.DefaultOptions())
		return []byte(s), err
	},
}
