//go:build !unix

package atomicfile

import "os"

// keepOwner does nothing: a new file inherits its rights from the folder.
func keepOwner(string, os.FileInfo) error { return nil }

// CanWrite reports true: only trying tells.
func CanWrite(string) bool { return true }

// OwnedByUser reports true: rights decide here, not owners.
func OwnedByUser(os.FileInfo) bool { return true }
