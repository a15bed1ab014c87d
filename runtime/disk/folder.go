package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Folder is where files are written. Base is taken as it is, wherever it
// leads. Below it Path goes through real folders only, not through links,
// which a repository can bring along, and never into git's own folder.
//
// Each step is looked at before it is taken. Who swaps a folder for a link
// between the look and the step runs as the same user already; os.Root would
// close that gap for 37 KB of every hook.
type Folder struct {
	Base, Path string
	// Make: Base is made, too, if it is missing.
	Make bool
	Care Care
	// Max is the size of a file in bytes at which it is moved aside, to its
	// name with ".1"; 0 means none.
	Max int64
}

// Care says what becomes of a folder that is there already. One that is made
// is private to the user, and git doesn't look into it.
type Care uint8

const (
	// AsIs: it is the user's, and stays as it is.
	AsIs Care = iota
	// Apart: it must hold nothing but our file, or keep git out by itself.
	Apart
	// Ours: it is made private and kept from git.
	Ours
)

// A PlaceError says that something can't be written where it should go,
// whatever the state of the disk.
type PlaceError struct {
	Path string
	Err  error
}

func (e *PlaceError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *PlaceError) Unwrap() error { return e.Err }

// What can be wrong with a place, beside ErrLink and ErrNotRegular.
var (
	ErrNotFolder = errors.New("not a folder")
	ErrGit       = errors.New("is git's own folder")
	ErrOthers    = errors.New("holds other files, which git would no longer see; use a folder of its own")
)

// ready returns the folder's path when it is fit to write the named file to.
func (d Folder) ready(name string) (string, error) {
	dir, made := d.Base, false
	var info fs.FileInfo
	if d.Path != "." {
		for part := range strings.SplitSeq(filepath.ToSlash(d.Path), "/") {
			if isGit(part) {
				return "", &PlaceError{d.Base + string(filepath.Separator) + d.Path, ErrGit}
			}
			dir = filepath.Join(dir, part)
			var err error
			if made, info, err = d.step(dir); err != nil {
				return "", err
			}
		}
	}
	switch {
	case made || d.Care == Ours:
		if info != nil && loose(info) {
			// A folder of somebody else can't be changed, but may do.
			_ = os.Chmod(dir, info.Mode().Perm()&0o700)
		}
		return dir, ignore(dir)
	case d.Care == Apart:
		return dir, d.apart(dir, name)
	}
	return dir, nil
}

// step makes one folder on the way, or makes sure that it is one.
func (d Folder) step(dir string) (made bool, info fs.FileInfo, err error) {
	info, err = os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if d.Make {
			if err := os.MkdirAll(d.Base, 0o700); err != nil {
				return false, nil, err
			}
		}
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, nil, err
		}
		made = true
		// Of several processes one made it, or something else did.
		info, err = os.Lstat(dir)
	}
	if err == nil && !info.IsDir() {
		err = misplaced(dir, info, ErrNotFolder)
	}
	return made, info, err
}

// apart keeps git out of a folder, unless it holds other files than the named
// one, which git may have to see.
func (d Folder) apart(dir, name string) error {
	if info, err := os.Lstat(filepath.Join(dir, ".gitignore")); err == nil && info.Size() > 0 {
		return nil
	}
	list, _ := List(dir, 3)
	for _, e := range list {
		if e.Name() != name && e.Name() != ".gitignore" {
			return &PlaceError{dir, ErrOthers}
		}
	}
	return ignore(dir)
}

// ignore keeps git out of a folder. What is said about that there already
// holds; an empty file says nothing, and is what a full disk leaves.
func ignore(dir string) error {
	path := filepath.Join(dir, ".gitignore")
	if info, err := os.Lstat(path); err == nil && (info.Size() > 0 || !info.Mode().IsRegular()) {
		return nil
	}
	f, err := open(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}

// isGit knows the names that lead to .git, on Windows and macOS too.
func isGit(part string) bool {
	part, _, _ = strings.Cut(part, ":")
	part = strings.TrimRight(part, ". ")
	return strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1")
}

// misplaced says what is at the path instead of what is wanted there.
func misplaced(path string, info fs.FileInfo, want error) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		want = ErrLink
	}
	return &PlaceError{path, want}
}
