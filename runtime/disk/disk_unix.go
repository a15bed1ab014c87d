//go:build unix

package disk

import (
	"os"
	"syscall"
)

// open never follows a link at the path and never waits for a pipe.
func open(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
}

// lock takes the file's lock if nobody holds it. Closing the file gives it
// back.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
