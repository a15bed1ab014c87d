//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Root edits the file of a user, who has to be able to edit it afterwards.
func TestWriteKeepsTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, os.Chown(path, 12345, 23456))
	require.NoError(t, Write(OS, path, []byte("new"), 0o600))
	info, err := os.Stat(path)
	require.NoError(t, err)
	stat, ok := info.Sys().(*syscall.Stat_t)
	require.True(t, ok)
	require.Equal(t, []uint32{12345, 23456}, []uint32{stat.Uid, stat.Gid})
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.False(t, OwnedByUser(info))
}

func TestCanWrite(t *testing.T) {
	require.True(t, CanWrite(t.TempDir()))
	require.False(t, CanWrite(filepath.Join(t.TempDir(), "none")))
}
