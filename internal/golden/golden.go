// Package golden compares what a test made with the file that is committed for
// it. With UPDATE set in the environment it writes the file instead; a variable,
// because a flag would fail in every package that lacks it.
package golden

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Updating says whether files are written rather than compared.
func Updating() bool { return os.Getenv("UPDATE") != "" }

// Equal fails if the file at name differs from got.
func Equal(t testing.TB, name string, got []byte) {
	t.Helper()
	if Updating() {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v\nmake update writes it", err)
	}
	if !bytes.Equal(want, got) {
		line, old, now := firstDifference(want, got)
		t.Fatalf("%s:%d differs; if the change is meant, run make update and read the diff\nis:   %s\ngot:  %s", name, line, old, now)
	}
}

// firstDifference is the number, from 1, of the first line that differs, and
// both forms of it.
func firstDifference(want, got []byte) (line int, old, now []byte) {
	w, g := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range max(len(w), len(g)) {
		old, now = nil, nil
		if i < len(w) {
			old = w[i]
		}
		if i < len(g) {
			now = g[i]
		}
		if i >= len(w) || i >= len(g) || !bytes.Equal(old, now) {
			return i + 1, old, now
		}
	}
	return 0, nil, nil
}
