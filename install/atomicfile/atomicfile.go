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

// ProgramMode is the mode of a program: everybody may run it.
const ProgramMode fs.FileMode = 0o755

// Write gives path the content data. A file that is there keeps its mode and
// owner; a new one gets perm, cut by the umask. The folder must exist; path must
// not be a symbolic link, which would be replaced.
func Write(fsys FS, path string, data []byte, perm fs.FileMode) error {
	return write(fsys, path, data, perm, false)
}

// WriteProgram is Write for a program, which may be running. It gets
// ProgramMode, whatever mode a file that is there has, and the umask too.
func WriteProgram(fsys FS, path string, data []byte) error {
	return write(fsys, path, data, ProgramMode, true)
}

func write(fsys FS, path string, data []byte, perm fs.FileMode, program bool) error {
	info, err := os.Lstat(path)
	exists := err == nil
	if exists && !program {
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
		}
		if exists || program {
			if err := f.Chmod(perm); err != nil {
				return err
			}
		}
		return f.Sync()
	}()
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, fsys.Remove(tmp))
	}
	err = fsys.Rename(tmp, path)
	if err != nil && program && runtime.GOOS == "windows" {
		err = replaceRunning(fsys, tmp, path)
	}
	if err != nil {
		return errors.Join(err, fsys.Remove(tmp))
	}
	return fsys.SyncDir(filepath.Dir(path))
}

// asides is how many versions of a program may be running at once.
const asides = 16

// asideName is where a running program is moved to: a name that nobody else
// uses, so that what is found there may be removed.
func asideName(path string, n int) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.flow-agents-old-%d", filepath.Base(path), n))
}

// replaceRunning moves tmp to the path of a program that may be running. Windows
// refuses to replace such a file, but lets it be moved aside. What earlier calls
// moved aside goes, once it runs no more.
func replaceRunning(fsys FS, tmp, path string) error {
	aside := ""
	for n := range asides {
		name := asideName(path, n)
		err := fsys.Remove(name)
		if aside == "" && (err == nil || errors.Is(err, fs.ErrNotExist)) {
			aside = name
		}
	}
	if aside == "" {
		return fmt.Errorf("%s can't be replaced while %d older versions of it run; stop them and try again", path, asides)
	}
	if err := fsys.Rename(path, aside); err != nil {
		return fmt.Errorf("%w (stop the programs that run it)", err)
	}
	if err := fsys.Rename(tmp, path); err != nil {
		return errors.Join(err, fsys.Rename(aside, path))
	}
	return nil
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
