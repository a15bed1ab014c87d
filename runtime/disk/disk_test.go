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

func add(path, line string) error {
	return Append(path, MakeIgnored, func([]byte) []byte { return []byte(line) })
}

func TestAppend(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "log")
	require.NoError(t, add(path, "one\n"))
	require.NoError(t, add(path, "two\n"))
	require.NoError(t, Append(path, MakeIgnored, func(tail []byte) []byte {
		require.Equal(t, "one\ntwo\n", string(tail))
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

func TestAppendShowsTheTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, add(path, strings.Repeat("x", TailSize)+"\n"))
	require.NoError(t, Append(path, MakeIgnored, func(tail []byte) []byte {
		require.Equal(t, strings.Repeat("x", TailSize-1)+"\n", string(tail))
		return nil
	}))
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
