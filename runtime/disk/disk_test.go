package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func symlink(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(file, []byte("12345"), 0o600))
	b, err := Read(file, 5)
	require.NoError(t, err)
	require.Equal(t, "12345", string(b))
	_, err = Read(file, 4)
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = Read(dir, 5)
	require.Error(t, err)
	_, err = Read(filepath.Join(dir, "none"), 5)
	require.ErrorIs(t, err, fs.ErrNotExist)

	symlink(t, "f", filepath.Join(dir, "link"))
	_, err = Read(filepath.Join(dir, "link"), 5)
	require.Error(t, err)
	b, err = ReadLinked(filepath.Join(dir, "link"), 5)
	require.NoError(t, err)
	require.Equal(t, "12345", string(b))
}

// folder is one of ours.
func folder(path string) Folder {
	return Folder{Base: filepath.Dir(path), Path: filepath.Base(path), Make: true, Care: Ours}
}

func add(path, line string) error {
	return folder(filepath.Dir(path)).Append(filepath.Base(path), func(Tail) []byte { return []byte(line) })
}

func TestAppend(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "log")
	require.NoError(t, add(path, "one\n"))
	require.NoError(t, add(path, "two\n"))
	require.NoError(t, folder(dir).Append("log", func(tail Tail) []byte {
		require.Equal(t, "two\n", string(tail.Last(4)))
		require.Equal(t, "one\ntwo\n", string(tail.Last(100)))
		require.Equal(t, "o\n", string(tail.Last(2)))
		require.Empty(t, tail.Last(0))
		return nil
	}))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\n", string(b))

	ignore, err := os.ReadFile(filepath.Join(dir, ".gitignore"))
	require.NoError(t, err)
	require.Equal(t, "*\n", string(ignore))
	if runtime.GOOS != "windows" {
		for name, mode := range map[string]fs.FileMode{dir: 0o700 | fs.ModeDir, path: 0o600} {
			info, err := os.Stat(name)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode())
		}
	}

	// A line that broke off is closed by the next writer.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"torn":`)
	require.NoError(t, errors.Join(err, f.Close()))
	require.NoError(t, add(path, "three\n"))
	b, _ = os.ReadFile(path)
	require.Equal(t, "one\ntwo\n{\"torn\":\nthree\n", string(b))
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"a", "b", "c"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, n), nil, 0o600))
	}
	for most, want := range map[int]int{2: 2, 3: 3, 4: 3} {
		list, more := List(dir, most)
		require.Len(t, list, want)
		require.Equal(t, want < 3, more)
	}
	symlink(t, dir, filepath.Join(dir, "link"))
	for _, n := range []string{"a", "link", "none"} {
		list, more := List(filepath.Join(dir, n), 9)
		require.Empty(t, list)
		require.False(t, more)
	}
}

func TestAppendRefusesLinks(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	require.NoError(t, os.Mkdir(out, 0o700))
	symlink(t, "out", filepath.Join(dir, "folder"))
	symlink(t, "gone", filepath.Join(dir, "dangling"))
	symlink(t, filepath.Join(dir, "victim"), filepath.Join(out, "log"))
	require.ErrorIs(t, add(filepath.Join(dir, "folder", "x"), "l\n"), ErrLink)
	require.ErrorIs(t, add(filepath.Join(dir, "dangling", "x"), "l\n"), ErrLink)
	require.Error(t, add(filepath.Join(out, "log"), "l\n"))
	require.NoFileExists(t, filepath.Join(dir, "victim"))
	require.NoFileExists(t, filepath.Join(out, "x"))
	require.NoDirExists(t, filepath.Join(dir, "gone"))
}

// Every step below the base is a real folder, and none is git's.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	out, base := filepath.Join(dir, "out"), filepath.Join(dir, "base")
	for _, d := range []string{filepath.Join(out, "t"), filepath.Join(base, ".git", "hooks"), filepath.Join(base, "real")} {
		require.NoError(t, os.MkdirAll(d, 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(base, "file"), nil, 0o600))
	symlink(t, out, filepath.Join(base, "sub"))
	symlink(t, out, filepath.Join(base, "real", "sub"))
	symlink(t, filepath.Join(base, "real"), filepath.Join(base, "inner"))
	symlink(t, filepath.Join(dir, "gone"), filepath.Join(base, "dangling"))
	for path, want := range map[string]error{
		"sub": ErrLink, "sub/t": ErrLink, "sub/new": ErrLink, "real/sub/t": ErrLink, "inner/x": ErrLink, "dangling/x": ErrLink, "file": ErrNotFolder, "file/x": ErrNotFolder,
		".git": ErrGit, ".git/hooks": ErrGit, "real/.git/x": ErrGit, ".GIT/x": ErrGit, "git~1/x": ErrGit, ".git. /x": ErrGit, ".git::$INDEX_ALLOCATION/x": ErrGit,
	} {
		for _, care := range []Care{AsIs, Apart, Ours} {
			err := Folder{Base: base, Path: filepath.FromSlash(path), Care: care}.Append("log", func(Tail) []byte { return []byte("x\n") })
			require.ErrorIs(t, err, want, path)
			require.IsType(t, &PlaceError{}, err)
		}
	}
	for _, d := range []string{out, filepath.Join(out, "t"), filepath.Join(base, ".git"), filepath.Join(base, ".git", "hooks")} {
		require.NoFileExists(t, filepath.Join(d, "log"))
		require.NoFileExists(t, filepath.Join(d, ".gitignore"))
	}
	require.NoDirExists(t, filepath.Join(base, "real", ".git"))
	require.NoDirExists(t, filepath.Join(dir, "gone"))

	// The base itself is the user's, and may be a link. It is made only if asked.
	symlink(t, base, filepath.Join(dir, "home"))
	require.NoError(t, Folder{Base: filepath.Join(dir, "home"), Path: filepath.Join("a", "b"), Care: Ours}.Append("log", func(Tail) []byte { return []byte("x\n") }))
	require.FileExists(t, filepath.Join(base, "a", "b", "log"))
	require.NoFileExists(t, filepath.Join(base, "a", ".gitignore"))
	require.Error(t, Folder{Base: filepath.Join(dir, "no", "where"), Path: "a"}.Append("log", nil))
	require.NoDirExists(t, filepath.Join(dir, "no"))

	// What should be a file must be one.
	require.NoError(t, os.Mkdir(filepath.Join(base, "a", "b", "folder"), 0o700))
	require.IsType(t, &PlaceError{}, Folder{Base: base, Path: "a/b"}.Append("folder", nil))
}

// A folder that is there already gets what it lacks, if it is ours.
func TestFolderThatIsThere(t *testing.T) {
	dir := t.TempDir()
	put := func(care Care, path string) error {
		return Folder{Base: dir, Path: path, Care: care}.Append("log", func(Tail) []byte { return []byte("x\n") })
	}
	for _, d := range []string{"ours", "empty", "full", "kept", "asis"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, d), 0o755))
		require.NoError(t, os.Chmod(filepath.Join(dir, d), 0o755))
	}
	for _, f := range []string{"ours/other", "ours/log", "full/other", "kept/other", "asis/other"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, f), nil, 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kept", ".gitignore"), []byte("log\n"), 0o644))
	require.NoError(t, put(Ours, "ours"))
	require.NoError(t, put(Apart, "empty"))
	require.NoError(t, put(Apart, "empty"), "our own file is no other one")
	// A full disk left it empty.
	for _, care := range []Care{Apart, Ours} {
		ignore := filepath.Join(dir, "empty", ".gitignore")
		require.NoError(t, os.Truncate(ignore, 0))
		require.NoError(t, put(care, "empty"))
		b, err := os.ReadFile(ignore)
		require.NoError(t, err)
		require.Equal(t, "*\n", string(b))
	}
	require.ErrorIs(t, put(Apart, "full"), ErrOthers)
	require.NoError(t, put(Apart, "kept"))
	require.NoError(t, put(AsIs, "asis"))
	require.NoError(t, put(Apart, "new"))
	for path, want := range map[string]bool{"ours": true, "empty": true, "new": true, "full": false, "asis": false} {
		_, err := os.Lstat(filepath.Join(dir, path, ".gitignore"))
		require.Equal(t, want, err == nil, path)
	}
	require.NoFileExists(t, filepath.Join(dir, "full", "log"))
	if runtime.GOOS != "windows" {
		for name, mode := range map[string]fs.FileMode{"ours": 0o700, "new": 0o700, "ours/log": 0o600, "new/log": 0o600, "asis": 0o755, "kept": 0o755} {
			info, err := os.Stat(filepath.Join(dir, name))
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm(), name)
		}
	}
}

// A file is moved aside when it is large, and only where it really is.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	f := folder(filepath.Join(dir, "d"))
	f.Max = 100
	put := func() error {
		return f.Append("log", func(Tail) []byte { return []byte(strings.Repeat("x", 59) + "\n") })
	}
	size := func(name string) int64 {
		info, err := os.Lstat(filepath.Join(dir, "d", name))
		if err != nil {
			return -1
		}
		return info.Size()
	}
	require.NoError(t, errors.Join(put(), put()))
	require.Equal(t, []int64{120, -1}, []int64{size("log"), size("log.1")})
	require.NoError(t, put())
	require.Equal(t, []int64{60, 120}, []int64{size("log"), size("log.1")})

	// It can't be moved, but doesn't grow for ever.
	require.NoError(t, os.Remove(filepath.Join(dir, "d", "log.1")))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "d", "log.1", "x"), 0o700))
	for range 10 {
		_ = put()
	}
	require.Error(t, put())
	require.LessOrEqual(t, size("log"), int64(300))

	require.NoError(t, os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "outside")))
	symlink(t, "outside", filepath.Join(dir, "d"))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "outside", "log.1")))
	require.ErrorIs(t, put(), ErrLink)
	require.NoFileExists(t, filepath.Join(dir, "outside", "log.1"))
}

// Many writers lose no line and mix none.
func TestAppendTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "log")
	const writers, lines = 16, 60
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := range lines {
				if err := add(path, fmt.Sprintf("%d %d %s\n", w, n, strings.Repeat("x", 600))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	seen := map[string]bool{}
	for line := range bytes.Lines(b) {
		require.Len(t, bytes.Fields(line), 3)
		seen[string(bytes.TrimRight(line, "x\n"))] = true
	}
	require.Len(t, seen, writers*lines)
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "victim"), []byte("v"), 0o600))
	symlink(t, "victim", path)
	require.NoError(t, Write(path, []byte("new")))
	b, err := Read(path, 10)
	require.NoError(t, err)
	require.Equal(t, "new", string(b))
	b, _ = os.ReadFile(filepath.Join(dir, "victim"))
	require.Equal(t, "v", string(b))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2)
	require.Error(t, Write(filepath.Join(dir, "none", "f"), nil))
}
