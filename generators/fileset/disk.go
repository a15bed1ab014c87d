package fileset

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Drift is one difference between a set and a directory.
type Drift struct {
	Path string
	// Kind is missing, changed, mode or stale.
	Kind string
}

func (d Drift) String() string { return d.Kind + " " + d.Path }

// Compare lists how dir differs from the set, in path order. keep names files
// of dir that are written by hand and no concern of the set.
func (s Set) Compare(dir string, keep func(path string) bool) ([]Drift, error) {
	want := map[string]File{}
	var out []Drift
	for _, f := range s {
		want[f.Path] = f
		at := filepath.Join(dir, filepath.FromSlash(f.Path))
		got, err := os.ReadFile(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, Drift{f.Path, "missing"})
			continue
		case err != nil:
			return nil, err
		case !bytes.Equal(got, f.Data):
			out = append(out, Drift{f.Path, "changed"})
			continue
		}
		if st, err := os.Stat(at); err == nil && st.Mode().Perm()&0o111 != f.Mode&0o111 && os.PathSeparator == '/' {
			out = append(out, Drift{f.Path, "mode"})
		}
	}
	stale, err := stale(dir, want, keep)
	if err != nil {
		return nil, err
	}
	for _, p := range stale {
		out = append(out, Drift{p, "stale"})
	}
	slices.SortFunc(out, func(a, b Drift) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
	return out, nil
}

// Write makes dir hold exactly the set and what keep names. Files that are
// right already are left alone, so that build caches stay warm.
func (s Set) Write(dir string, keep func(path string) bool) error {
	want := map[string]File{}
	for _, f := range s {
		want[f.Path] = f
		at := filepath.Join(dir, filepath.FromSlash(f.Path))
		if got, err := os.ReadFile(at); err == nil && bytes.Equal(got, f.Data) {
			if err := os.Chmod(at, f.Mode); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, f.Data, f.Mode); err != nil {
			return err
		}
		if err := os.Chmod(at, f.Mode); err != nil {
			return err
		}
	}
	old, err := stale(dir, want, keep)
	if err != nil {
		return err
	}
	for _, p := range old {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(p))); err != nil {
			return fmt.Errorf("remove what is generated no more: %w", err)
		}
	}
	return removeEmpty(dir)
}

// stale lists the files of dir that are neither in the set nor kept.
func stale(dir string, want map[string]File, keep func(string) bool) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && p == dir {
			return filepath.SkipAll
		}
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if _, ok := want[rel]; !ok && (keep == nil || !keep(rel)) {
			out = append(out, rel)
		}
		return nil
	})
	return out, err
}

// removeEmpty removes directories below dir that hold nothing, deepest first.
func removeEmpty(dir string) error {
	var dirs []string
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && p != dir {
			dirs = append(dirs, p)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range slices.Backward(dirs) {
		if es, err := os.ReadDir(d); err == nil && len(es) == 0 {
			if err := os.Remove(d); err != nil {
				return err
			}
		}
	}
	return nil
}
