package patch

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/runtime/event"
)

func t(path string, op event.Op) event.Target { return event.Target{Path: path, Op: op} }

var cases = []struct {
	name, text string
	want       []event.Target
}{
	{"empty", "", nil},
	{"no patch", "just words\n+++", nil},
	{"all kinds", "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: b c.txt\n@@\n-x\n+y\n*** Delete File: d.txt\n*** End Patch",
		[]event.Target{t("a.txt", event.Add), t("b c.txt", event.Change), t("d.txt", event.Delete)}},
	{"move", "*** Begin Patch\n*** Update File: old.json\n*** Move to: new/.eslintrc.json\n@@\n a\n*** End Patch\n",
		[]event.Target{t("old.json", event.MoveFrom), t("new/.eslintrc.json", event.MoveTo)}},
	{"carriage returns, blanks, case", "*** Begin Patch\r\n  *** add file:   x.txt  \r\n+x\r\n*** End Patch\r\n",
		[]event.Target{t("x.txt", event.Add)}},
	{"no blank after the colon", "*** Delete File:x", []event.Target{t("x", event.Delete)}},
	{"heredoc", "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: x\n@@\n+y\n*** End Patch\nEOF\n", []event.Target{t("x", event.Change)}},
	{"context is not a header", "*** Begin Patch\n*** Update File: doc.md\n@@\n *** Add File: biome.json\n-*** Delete File: biome.json\n+*** Add File: biome.json\n*** End Patch",
		[]event.Target{t("doc.md", event.Change)}},
	{"diff lines in an envelope are content", "*** Begin Patch\n*** Update File: sql\n@@\n--- a/x\n+++ b/biome.json\n*** End Patch",
		[]event.Target{t("sql", event.Change)}},
	{"empty name", "*** Add File:   \n", nil},
	{"unified", "--- a/src/x.go\n+++ b/src/x.go\n@@ -1 +1 @@\n-a\n+b\n", []event.Target{t("src/x.go", event.Change)}},
	{"unified without prefixes", "--- x.go\t2026-01-01\n+++ x.go\t2026-01-02\n@@ -1 +1 @@\n", []event.Target{t("x.go", event.Change)}},
	{"unified, new and gone", "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
		[]event.Target{t("new", event.Add), t("gone", event.Delete)}},
	{"unified, two names", "--- a/x\n+++ b/y\n@@ -1 +1 @@\n", []event.Target{t("x", event.MoveFrom), t("y", event.MoveTo)}},
	{"content that looks like a header", "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- a comment\n+++i;\n", []event.Target{t("x.sql", event.Change)}},
	{"second file after a hunk", "--- a/x\n+++ b/x\n@@ -1,99 +1,99 @@\n-a\n--- a/.eslintrc\n+++ b/.eslintrc\n@@ -1 +1 @@\n",
		[]event.Target{t("x", event.Change), t(".eslintrc", event.Change)}},
	{"git rename", "diff --git a/x.json b/biome.json\nsimilarity index 100%\nrename from x.json\nrename to biome.json\n",
		[]event.Target{t("x.json", event.MoveFrom), t("biome.json", event.MoveTo)}},
	{"git binary", "diff --git a/my file b/my file\nindex 1..2\nGIT binary patch\n", []event.Target{t("my file", event.Change), t("my file", event.Change)}},
	{"git mode then another", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n",
		[]event.Target{t("x", event.Change), t("x", event.Change), t("y", event.Change)}},
	{"git quotes", "--- \"a/\\303\\251.js\"\n+++ \"b/\\303\\251.js\"\n@@ -1 +1 @@\n", []event.Target{t("é.js", event.Change)}},
	{"only new name", "+++ b/x\n@@ -0,0 +1 @@\n+x\n", []event.Target{t("x", event.Change)}},
	{"only old name", "--- a/x\n", []event.Target{t("x", event.Delete)}},
}

func TestTargets(tt *testing.T) {
	for _, c := range cases {
		require.Equal(tt, c.want, Targets(c.text), c.name)
	}
}

// Whatever the text is, targets are non-empty names that occur in it, give or
// take git's quoting.
func FuzzTargets(f *testing.F) {
	for _, c := range cases {
		f.Add(c.text)
	}
	f.Fuzz(func(tt *testing.T, text string) {
		for _, x := range Targets(text) {
			if strings.TrimSpace(x.Path) == "" {
				tt.Fatalf("empty target in %q", text)
			}
			if !strings.Contains(text, x.Path) && !strings.Contains(text, `"`) {
				tt.Fatalf("%q is not in %q", x.Path, text)
			}
		}
		// A header that follows always counts.
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		got := Targets(text + "*** End Patch\n*** Add File: .eslintrc.json\n")
		if !slices.Contains(got, t(".eslintrc.json", event.Add)) {
			tt.Fatalf("header lost after %q: %v", text, got)
		}
	})
}
