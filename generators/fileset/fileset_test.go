package fileset

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func sample() Set {
	var s Set
	s.Add("b/two.txt", []byte("two\n"))
	s.AddExecutable("a.sh", []byte("#!/bin/sh\n"))
	return s
}

func TestTwoFilesOfOneNameAreAnError(t *testing.T) {
	s := sample()
	s.Add("a.sh", nil)
	_, err := s.Sorted()
	require.EqualError(t, err, "two emitters wrote a.sh")
}

func TestWriteThenCompare(t *testing.T) {
	dir := t.TempDir()
	keep := func(p string) bool { return p == "hand.go" }
	s := sample()
	drifts, err := s.Compare(filepath.Join(dir, "not-there"), keep)
	require.NoError(t, err)
	require.Equal(t, []Drift{{"a.sh", "missing"}, {"b/two.txt", "missing"}}, drifts)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "hand.go"), []byte("package x\n"), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "old", "deep"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "old", "deep", "gone.txt"), nil, 0o644))
	require.NoError(t, s.Write(dir, keep))
	drifts, err = s.Compare(dir, keep)
	require.NoError(t, err)
	require.Empty(t, drifts)
	require.NoDirExists(t, filepath.Join(dir, "old"))
	require.FileExists(t, filepath.Join(dir, "hand.go"))

	// What is right already is not touched.
	before, err := os.Stat(filepath.Join(dir, "b", "two.txt"))
	require.NoError(t, err)
	require.NoError(t, s.Write(dir, keep))
	after, err := os.Stat(filepath.Join(dir, "b", "two.txt"))
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime())

	require.NoError(t, os.WriteFile(filepath.Join(dir, "b", "two.txt"), []byte("2\n"), 0o644))
	require.NoError(t, os.Chmod(filepath.Join(dir, "a.sh"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c"), nil, 0o644))
	drifts, err = s.Compare(dir, keep)
	require.NoError(t, err)
	require.Equal(t, []Drift{{"a.sh", "mode"}, {"b/two.txt", "changed"}, {"c", "stale"}}, drifts)
}

func TestArchivesHoldTheSameAndNothingOfTheMachine(t *testing.T) {
	s := sample()
	data, err := s.Tar("top")
	require.NoError(t, err)
	zr, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	require.Empty(t, zr.Name)
	require.True(t, zr.ModTime.IsZero())
	tr := tar.NewReader(zr)
	var names []string
	for {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		names = append(names, h.Name)
		require.Zero(t, h.Uid)
		require.Empty(t, h.Uname)
		require.True(t, h.ModTime.Equal(epoch))
		if h.Name == "top/a.sh" {
			require.EqualValues(t, 0o755, h.Mode)
		}
	}
	require.Equal(t, []string{"top/a.sh", "top/b/two.txt"}, names)

	data, err = s.Zip("top")
	require.NoError(t, err)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	require.Len(t, z.File, 2)
	require.Equal(t, "top/a.sh", z.File[0].Name)
	require.Equal(t, Executable, z.File[0].Mode().Perm())
	f, err := z.File[1].Open()
	require.NoError(t, err)
	got, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "two\n", string(got))
}
