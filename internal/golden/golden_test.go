package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A spy is a test that may fail without failing this one.
type spy struct {
	testing.TB
	failed string
}

func (s *spy) Helper() {}

func (s *spy) Fatalf(format string, args ...any) {
	s.failed = fmt.Sprintf(format, args...)
	panic(s)
}

func judge(name, got string) (failed string) {
	s := &spy{}
	defer func() {
		if recover() != nil {
			failed = s.failed
		}
	}()
	Equal(s, name, []byte(got))
	return ""
}

func TestEqual(t *testing.T) {
	t.Setenv("UPDATE", "")
	name := filepath.Join(t.TempDir(), "deep", "x.golden")
	if got := judge(name, "a\n"); !strings.Contains(got, "make update") {
		t.Errorf("a missing file: %q", got)
	}
	t.Setenv("UPDATE", "1")
	if got := judge(name, "a\nb\nc\n"); got != "" {
		t.Errorf("update: %q", got)
	}
	t.Setenv("UPDATE", "")
	if got := judge(name, "a\nb\nc\n"); got != "" {
		t.Errorf("equal: %q", got)
	}
	for got, line := range map[string]int{"a\nB\nc\n": 2, "a\nb\nc": 4, "": 1, "a\nb\nc\n\n": 5} {
		if failed := judge(name, got); !strings.Contains(failed, fmt.Sprintf("x.golden:%d differs", line)) {
			t.Errorf("%q: %q", got, failed)
		}
	}
	if data, _ := os.ReadFile(name); string(data) != "a\nb\nc\n" {
		t.Errorf("the file was touched: %q", data)
	}
}
