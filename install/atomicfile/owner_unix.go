//go:build unix

package atomicfile

import (
	"os"
	"syscall"
)

// keepOwner gives tmp the owner and group of an existing file: root may edit the
// file of a user, who has to be able to edit it afterwards.
func keepOwner(tmp string, info os.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || (int(stat.Uid) == os.Geteuid() && int(stat.Gid) == os.Getegid()) {
		return nil
	}
	err := os.Lchown(tmp, int(stat.Uid), int(stat.Gid))
	if int(stat.Uid) == os.Geteuid() {
		return nil // only the group differs, and a user may not be in it
	}
	return err
}

// CanWrite reports whether the user may make files in a folder.
func CanWrite(dir string) bool {
	const write = 2
	return syscall.Access(dir, write) == nil
}

// OwnedByUser reports whether a file belongs to the user who runs this.
func OwnedByUser(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}
