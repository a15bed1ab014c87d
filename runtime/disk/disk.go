// Package disk reads and writes the small files of the hook. Nothing goes
// through a symbolic link, reads are bounded, appends are single writes under
// a lock, and what it creates is private to the user.
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

// TailSize is how many bytes of the end of a file Append shows.
const TailSize = 8 << 10

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
	f, err := os.Open(path)
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

// Append adds one line to the file at path. With the file locked, compose is
// given the file's last bytes, at most TailSize, and returns the line with its
// newline, or nil to add nothing. A line that an earlier writer left
// unfinished is closed first. If the folder is missing, mkdir makes it.
func Append(path string, mkdir func(dir string) error, compose func(tail []byte) []byte) error {
	dir := filepath.Dir(path)
	switch info, err := os.Lstat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		if err := mkdir(dir); err != nil {
			return err
		}
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return &fs.PathError{Op: "append", Path: dir, Err: ErrLink}
	}
	f, err := open(path, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	locked := wait(f)
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "append", Path: path, Err: ErrNotRegular}
	}
	size := info.Size()
	var tail []byte
	if size > 0 {
		tail = tailOf(f, size)
	}
	line := compose(tail)
	if line == nil {
		return nil
	}
	if n := len(tail); n > 0 && tail[n-1] != '\n' {
		line = append([]byte{'\n'}, line...)
	}
	if n, err := f.Write(line); err != nil {
		if locked && n > 0 {
			// A full disk: rather no line than half of one.
			err = errors.Join(err, f.Truncate(size))
		}
		return err
	}
	return nil
}

func tailOf(f *os.File, size int64) []byte {
	b := make([]byte, min(size, TailSize))
	n, _ := f.ReadAt(b, size-int64(len(b)))
	return b[:n]
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

// MakePrivate creates a folder, and its parents, for the user alone.
func MakePrivate(dir string) error { return os.MkdirAll(dir, 0o700) }

// MakeIgnored creates a private folder that git doesn't look into.
func MakeIgnored(dir string) error {
	if err := MakePrivate(dir); err != nil {
		return err
	}
	f, err := open(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
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
