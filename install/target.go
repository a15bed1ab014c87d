package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flow-agents/flow-agents/install/atomicfile"
	"github.com/flow-agents/flow-agents/install/bundle"
)

// resolve follows the symbolic links of a path that is about to be written, and
// refuses one that leads out of where the scope may write: the project, or for
// the user scope what the user owns.
func (in *Installer) resolve(s site) (string, error) {
	if err := in.checkFolder(s); err != nil {
		return "", err
	}
	real, err := contained(s.path, s.base)
	if s.scope == bundle.User {
		if real, err = followed(s.path); err == nil {
			err = in.ownFolder(s.path, real)
		}
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return real, nil
	}
	if err != nil {
		return "", err
	}
	switch {
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", s.path)
	case s.scope == bundle.User && real != s.path && !atomicfile.OwnedByUser(info):
		return "", fmt.Errorf("%s leads to %s, which belongs to another user", s.path, real)
	}
	return real, nil
}

// checkFolder refuses a file where a folder of the host has to be.
func (in *Installer) checkFolder(s site) error {
	dir := nearest(filepath.Dir(s.path))
	info, err := os.Stat(dir)
	if err != nil || info.IsDir() {
		return nil // a link to nowhere is reported where it is followed
	}
	root := ""
	if s.scope != bundle.User {
		root = s.base
	}
	return fmt.Errorf("%s is a file, but %s looks for its config in a folder of that name; rename or remove the file",
		in.show(root, dir), s.bundle.Target.Title)
}

// ownFolder refuses a path of the user that a link takes to somebody else's
// folder. A tree of dotfiles may be anywhere.
func (in *Installer) ownFolder(path, real string) error {
	home, err := followed(in.Home)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(home, real); err == nil && filepath.IsLocal(rel) {
		return nil
	}
	dir := nearest(filepath.Dir(real))
	if info, err := os.Stat(dir); err != nil || !atomicfile.OwnedByUser(info) {
		return fmt.Errorf("%s leads to %s, and %s belongs to another user", path, real, dir)
	}
	return nil
}

// nearest is the innermost part of a path that exists.
func nearest(path string) string {
	for !exists(path) && filepath.Dir(path) != path {
		path = filepath.Dir(path)
	}
	return path
}

// contained returns path without symbolic links, if that is below fence.
func contained(path, fence string) (string, error) {
	real, err := followed(path)
	if err != nil {
		return "", err
	}
	limit, err := followed(fence)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(limit, real); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s leads to %s, which is outside %s; replace the link by a file, or edit the target by hand", path, real, fence)
	}
	return real, nil
}

// followed returns path without symbolic links. The end of it need not exist,
// but a link must lead somewhere.
func followed(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s is a symbolic link that leads nowhere; remove or mend it", path)
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path, nil
	}
	real, err = followed(parent)
	return filepath.Join(real, filepath.Base(path)), err
}

// outside is the folder that a scope was given, and that we never made.
func (in *Installer) outside(s site) string {
	if s.scope != bundle.User {
		return s.base
	}
	if rel, err := filepath.Rel(in.Home, s.base); err == nil && filepath.IsLocal(rel) {
		return in.Home
	}
	return filepath.Dir(s.base)
}

// missingDirs lists the folders between base and the file that don't exist yet,
// outermost first.
func missingDirs(base, path string) []string {
	var dirs []string
	for dir := filepath.Dir(path); len(dir) > len(base) && !exists(dir); dir = filepath.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}
