package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	require.NoError(t, MkdirAll(OS, dir, 0o755))
	require.NoError(t, MkdirAll(OS, dir, 0o755))
	path := filepath.Join(dir, "f.json")
	require.NoError(t, Write(OS, path, []byte("one"), 0o600))
	require.NoError(t, os.Chmod(path, 0o641))
	// What a crash left behind is in nobody's way.
	require.NoError(t, os.WriteFile(TempName(path), []byte("half"), 0o644))
	require.NoError(t, Write(OS, path, []byte("two"), 0o600))

	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "two", string(data))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o641), info.Mode().Perm())
	require.NoFileExists(t, TempName(path))
	require.ErrorContains(t, MkdirAll(OS, filepath.Join(path, "x"), 0o755), "is not a folder")
}

// full is a disk with no room.
type full struct{ FS }

type fullFile struct{ File }

var errFull = errors.New("no space left on device")

func (fullFile) Write([]byte) (int, error) { return 0, errFull }

func (d full) Create(path string, perm fs.FileMode) (File, error) {
	f, err := d.FS.Create(path, perm)
	return fullFile{f}, err
}

func TestFullDiskLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.json")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
	require.ErrorIs(t, Write(full{OS}, path, []byte("new"), 0o644), errFull)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(data))
	require.NoFileExists(t, TempName(path))
}

func TestTempIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("keep"), 0o644))
	path := filepath.Join(dir, "f.json")
	require.NoError(t, os.Symlink(victim, TempName(path)))
	require.NoError(t, Write(OS, path, []byte("new"), 0o644))
	data, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "keep", string(data))
}
