//go:build unix

package disk

import (
	"io/fs"
	"os"
	"syscall"
)

// open never follows a link at the path and never waits for a pipe.
func open(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
}

// openLinked follows links, but doesn't wait for a pipe either.
func openLinked(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// loose: others than the user have rights to a file or folder.
func loose(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// lock takes the file's lock if nobody holds it. Closing the file gives it
// back.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
