// Package disk reads and writes the small files of the hook. Reads are bounded
// and never wait for a pipe, appends are single writes under a lock, what it
// makes is private to the user, and nothing is written through a symbolic link.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Errors of this package, beside those of the system.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("larger than the limit")
	ErrLink       = errors.New("is a symbolic link")
)

// lockWait is how long an append waits for other writers before it goes on
// without the lock: a writer that hangs must not stop work.
const lockWait = time.Second

// Read returns the content of a regular file of at most max bytes. A symbolic
// link at the path itself is refused.
func Read(path string, max int64) ([]byte, error) {
	f, err := open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return read(f, max)
}

// ReadLinked is Read for files that their owner may keep behind a link.
func ReadLinked(path string, max int64) ([]byte, error) {
	f, err := openLinked(path)
	if err != nil {
		return nil, err
	}
	return read(f, max)
}

func read(f *os.File, max int64) ([]byte, error) {
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, ErrNotRegular
	case info.Size() > max:
		return nil, ErrTooLarge
	}
	b := make([]byte, info.Size())
	n, err := io.ReadFull(f, b)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil
	}
	return b[:n], err
}

// List returns entries of a folder that is not a link: all of them, or the
// first max with more set.
func List(dir string, max int) (list []fs.DirEntry, more bool) {
	if !IsFolder(dir) {
		return nil, false
	}
	f, err := open(dir, os.O_RDONLY)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	list, _ = f.ReadDir(max + 1)
	if len(list) > max {
		return list[:max], true
	}
	return list, false
}

// IsFolder reports whether there is a folder at the path, and no link to one.
func IsFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// Append adds to the file of the given name in the folder, which is made if it
// is missing. With the file locked, compose is given the file's end and
// returns whole lines with their newlines, or nil to add nothing. A line that
// an earlier writer left unfinished is closed first. An error that has to do
// with where the file is, and not with the disk, is a *PlaceError.
func (d Folder) Append(name string, compose func(Tail) []byte) error {
	dir, err := d.ready(name)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	if err := d.rotate(path); err != nil {
		return err
	}
	f, err := open(path, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		if info, e := os.Lstat(path); e == nil && !info.Mode().IsRegular() {
			return misplaced(path, info, ErrNotRegular)
		}
		return err
	}
	defer f.Close()
	locked := wait(f)
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return misplaced(path, info, ErrNotRegular)
	case d.Care == Ours && loose(info):
		_ = os.Chmod(path, info.Mode().Perm()&0o700)
	}
	tail := Tail{f, info.Size()}
	line := compose(tail)
	if line == nil {
		return nil
	}
	if last := tail.Last(1); len(last) > 0 && last[0] != '\n' {
		line = append([]byte{'\n'}, line...)
	}
	if n, err := f.Write(line); err != nil {
		if locked && n > 0 {
			// A full disk: rather no line than half of one.
			err = errors.Join(err, f.Truncate(tail.Size))
		}
		return err
	}
	return nil
}

// rotate moves a file that has grown over the limit aside. Of several
// processes that come here at once, one moves the old file.
func (d Folder) rotate(path string) error {
	if d.Max == 0 {
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil || info.Size() <= d.Max || !info.Mode().IsRegular() {
		return nil
	}
	if err := os.Rename(path, path+".1"); err != nil && info.Size() > 2*d.Max {
		// It can't be moved, but it must not grow for ever.
		return err
	}
	return nil
}

// A Tail is the end of a file, or as much of it as somebody reads.
type Tail struct {
	io.ReaderAt
	Size int64
}

// Last returns the file's last n bytes, or all of them if there are fewer.
func (t Tail) Last(n int) []byte {
	b := make([]byte, min(int64(n), t.Size))
	n, _ = t.ReadAt(b, t.Size-int64(len(b)))
	return b[:n]
}

// ErrBusy: another process held a lock all the time.
var ErrBusy = errors.New("another process is at work on it; try again")

// Lock takes the lock of a file that is there for nothing else, and makes it
// if it is missing. It waits for as long as an append would.
func Lock(path string) (unlock func(), err error) {
	f, err := open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if !wait(f) {
		return nil, errors.Join(ErrBusy, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

func wait(f *os.File) bool {
	for pause, left := 100*time.Microsecond, lockWait; left > 0; left -= pause {
		if lock(f) {
			return true
		}
		pause = min(2*pause, 5*time.Millisecond)
		time.Sleep(pause)
	}
	return false
}

// Write replaces the file at path as a whole: readers see the old content or
// the new. A link at the path is replaced, not followed.
func Write(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
