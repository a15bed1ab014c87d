// Package atomicfile replaces files so that a reader, or a crash at any point,
// sees the old content or the new, never a part.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// An FS makes the changes that this package needs. Tests put one in that dies
// between two of them.
type FS interface {
	Mkdir(path string, perm fs.FileMode) error
	// Create makes a new file for writing; one that is there is an error.
	Create(path string, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(path string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(path string) error
}

// A File is a new file that is being written.
type File interface {
	Write(p []byte) (int, error)
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
}

// OS is the real file system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) Mkdir(path string, perm fs.FileMode) error { return os.Mkdir(path, perm) }
func (osFS) Rename(from, to string) error              { return os.Rename(from, to) }
func (osFS) Remove(path string) error                  { return os.Remove(path) }

func (osFS) Create(path string, perm fs.FileMode) (File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
}

func (osFS) SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // folders can't be opened for writing there
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// TempName is the file that Write fills before it takes the place of path. The
// name is fixed, so that what a crash left behind is found again; callers hold
// a lock.
func TempName(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".flow-agents-new")
}

// Write gives path the content data. A file that is there keeps its mode and
// owner; a new one gets perm, cut by the umask. The folder must exist; path must
// not be a symbolic link, which would be replaced.
func Write(fsys FS, path string, data []byte, perm fs.FileMode) error {
	info, err := os.Lstat(path)
	exists := err == nil
	if exists {
		perm = info.Mode().Perm()
	}
	tmp := TempName(path)
	if err := fsys.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := fsys.Create(tmp, perm)
	if err != nil {
		return err
	}
	err = func() error {
		if _, err := f.Write(data); err != nil {
			return err
		}
		if exists {
			if err := keepOwner(tmp, info); err != nil {
				return err
			}
			if err := f.Chmod(perm); err != nil {
				return err
			}
		}
		return f.Sync()
	}()
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, fsys.Remove(tmp))
	}
	if err := replace(fsys, tmp, path); err != nil {
		return errors.Join(err, fsys.Remove(tmp))
	}
	return fsys.SyncDir(filepath.Dir(path))
}

// replace moves tmp to path. Windows refuses that for a program that runs, but
// lets the program be moved aside.
func replace(fsys FS, tmp, path string) error {
	err := fsys.Rename(tmp, path)
	if err == nil || runtime.GOOS != "windows" {
		return err
	}
	aside := path + ".old"
	if e := fsys.Remove(aside); e != nil && !errors.Is(e, fs.ErrNotExist) {
		return fmt.Errorf("%w (stop the programs that run it)", err)
	}
	if fsys.Rename(path, aside) != nil {
		return err
	}
	return fsys.Rename(tmp, path)
}

// MkdirAll makes a folder and its parents.
func MkdirAll(fsys FS, path string, perm fs.FileMode) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s is not a folder", path)
		}
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := MkdirAll(fsys, parent, perm); err != nil {
			return err
		}
	}
	if err := fsys.Mkdir(path, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
