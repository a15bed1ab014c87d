package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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

func TestWriteProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hook")
	require.NoError(t, WriteProgram(OS, path, []byte("one")))
	for _, mode := range []fs.FileMode{0o644, 0o700, 0o400} {
		require.NoError(t, os.Chmod(path, mode))
		require.NoError(t, WriteProgram(OS, path, []byte("two")))
		info, err := os.Stat(path)
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			require.Equal(t, ProgramMode, info.Mode().Perm())
		}
	}
}

// windows is a file system that keeps running programs from being replaced and
// removed, but not from being moved.
type windows struct {
	FS
	running map[string]bool
	broken  bool // nothing can be moved to the program's place
	path    string
}

var errBusy = errors.New("the file is in use")

func (w windows) Remove(path string) error {
	if w.running[filepath.Base(path)] {
		return errBusy
	}
	return w.FS.Remove(path)
}

func (w windows) Rename(from, to string) error {
	if _, err := os.Lstat(to); err == nil && w.running[filepath.Base(to)] || w.broken && to == w.path && from == TempName(w.path) {
		return errBusy
	}
	return w.FS.Rename(from, to)
}

func TestReplaceRunning(t *testing.T) {
	set := func(t *testing.T) (path string, read func(name string) string) {
		dir := t.TempDir()
		path = filepath.Join(dir, "hook.exe")
		for name, text := range map[string]string{"hook.exe": "old", "hook.exe.old": "the user's", filepath.Base(TempName(path)): "new"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
		}
		return path, func(name string) string {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return ""
			}
			return string(data)
		}
	}
	t.Run("moved aside", func(t *testing.T) {
		path, read := set(t)
		running := map[string]bool{"hook.exe": true}
		require.NoError(t, replaceRunning(windows{FS: OS, running: running}, TempName(path), path))
		require.Equal(t, "new", read("hook.exe"))
		require.Equal(t, "old", read(".hook.exe.flow-agents-old-0"))
		require.Equal(t, "the user's", read("hook.exe.old"))

		// The old one still runs; so does the new one by now.
		running[".hook.exe.flow-agents-old-0"] = true
		require.NoError(t, os.WriteFile(TempName(path), []byte("newer"), 0o755))
		require.NoError(t, replaceRunning(windows{FS: OS, running: running}, TempName(path), path))
		require.Equal(t, "newer", read("hook.exe"))
		require.Equal(t, "new", read(".hook.exe.flow-agents-old-1"))

		// When neither runs any more, they go.
		require.NoError(t, os.WriteFile(TempName(path), []byte("newest"), 0o755))
		require.NoError(t, replaceRunning(windows{FS: OS}, TempName(path), path))
		require.Equal(t, "newest", read("hook.exe"))
		require.Equal(t, "newer", read(".hook.exe.flow-agents-old-0"))
		require.Empty(t, read(".hook.exe.flow-agents-old-1"))
	})
	t.Run("moved back", func(t *testing.T) {
		path, read := set(t)
		require.ErrorIs(t, replaceRunning(windows{FS: OS, broken: true, path: path}, TempName(path), path), errBusy)
		require.Equal(t, "old", read("hook.exe"))
		require.Equal(t, "the user's", read("hook.exe.old"))
	})
	t.Run("too many", func(t *testing.T) {
		path, read := set(t)
		running := map[string]bool{}
		for n := range asides {
			name := filepath.Base(asideName(path, n))
			running[name] = true
			require.NoError(t, os.WriteFile(asideName(path, n), []byte("runs"), 0o755))
		}
		require.ErrorContains(t, replaceRunning(windows{FS: OS, running: running}, TempName(path), path), "16 older versions of it run")
		require.Equal(t, "old", read("hook.exe"))
	})
}
