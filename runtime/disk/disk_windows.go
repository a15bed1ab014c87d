package disk

import (
	"io/fs"
	"os"
	"syscall"
	"unsafe"
)

// open refuses a link at the path.
func open(path string, flag int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrLink}
	}
	return os.OpenFile(path, flag, 0o600)
}

// openLinked follows links. A path of the file system is never a pipe here.
func openLinked(path string) (*os.File, error) { return os.Open(path) }

// loose: rights are inherited here, and the mode says nothing about them.
func loose(fs.FileInfo) bool { return false }

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// lock takes the file's lock if nobody holds it. Closing the file gives it
// back. The locked range lies behind any real content, because on Windows it
// can't be written while it is locked.
func lock(f *os.File) bool {
	const exclusiveNow = 3 // LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY
	o := syscall.Overlapped{OffsetHigh: 1 << 30}
	ok, _, _ := lockFileEx.Call(f.Fd(), exclusiveNow, 0, 1, 0, uintptr(unsafe.Pointer(&o)))
	return ok != 0
}
