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

	{"time after a blank", "--- biome.json 2024-01-01 00:00:00\n+++ biome.json 2024-01-02 00:00:00\n@@ -1 +1 @@\n-a\n+b\n", []event.Target{
		t("biome.json 2024-01-01 00:00:00", event.MoveFrom), t("biome.json", event.MoveFrom), t("biome.json 2024-01-01", event.MoveFrom),
		t("biome.json 2024-01-02 00:00:00", event.MoveTo), t("biome.json", event.MoveTo), t("biome.json 2024-01-02", event.MoveTo)}},
	{"time after a blank, name with blanks", "--- my file 2024-01-01\n", []event.Target{
		t("my file 2024-01-01", event.Delete), t("my", event.Delete), t("my file", event.Delete)}},
	{"time after a tab, name with blanks", "--- my file\t2024-01-01\n", []event.Target{t("my file", event.Delete)}},
	{"a junk line in front of a diff", "*** Begin Patch\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", []event.Target{t("x", event.Change)}},
	{"a diff behind a file of the other format", "*** Begin Patch\n*** Update File: ok\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n*** End Patch",
		[]event.Target{t("ok", event.Change), t("x", event.Change)}},
	{"junk between the names", "*** Add File: ok\n--- a/x\nindex 1..2\n+++ b/x\njunk\n@@ -1 +1 @@\n", []event.Target{t("ok", event.Add), t("x", event.Change)}},
	{"only the new name, in content", "@@\n+++ b/x\n@@ -1 +1 @@\n", []event.Target{t("x", event.Change)}},
	{"the other format behind a diff", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n*** Update File: y\n@@\n+z\n",
		[]event.Target{t("x", event.Change), t("y", event.Change)}},
	{"a diff after the end of a patch", "*** Begin Patch\n*** Delete File: y\n*** End Patch\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n",
		[]event.Target{t("y", event.Delete), t("x", event.Change)}},
	{"git after a file of the other format", "*** Add File: ok\n+x\ndiff --git a/x b/y\nrename from x\nrename to y\n",
		[]event.Target{t("ok", event.Add), t("x", event.MoveFrom), t("y", event.MoveTo)}},
	{"a diff in a file that is added", "*** Add File: doc.md\n+--- a/biome.json\n++++ b/biome.json\n+@@ -1 +1 @@\n+*** Delete File: biome.json\n*** End Patch",
		[]event.Target{t("doc.md", event.Add)}},
	{"a patch in a diff", "--- a/doc.md\n+++ b/doc.md\n@@ -1,3 +1,3 @@\n *** Add File: biome.json\n-*** Delete File: biome.json\n+*** Add File: biome.json\n --- a/biome.json\n +++ b/biome.json\n",
		[]event.Target{t("doc.md", event.Change)}},
	{"an indented diff", "  --- a/x\n  +++ b/x\n  @@ -1 +1 @@\n  -a\n  +b\n  --- a/y\n  +++ b/y\n  @@ -1 +1 @@\n",
		[]event.Target{t("x", event.Change), t("y", event.Change)}},
	{"a context diff", "*** x\t2024\n--- x\t2024\n***************\n*** 1,2 ****\n--- 1,2 ----\n", []event.Target{t("x", event.Delete), t("x", event.Change)}},
	{"a context diff that deletes", "*** x\t2024\n--- /dev/null\n***************\n", []event.Target{t("x", event.Change)}},
	{"git without prefixes", "diff --git my file my file\nnew mode 100755\n", []event.Target{t("my file", event.Change)}},
}

func TestTargets(tt *testing.T) {
	for _, c := range cases {
		require.Equal(tt, c.want, Targets(c.text), c.name)
	}
}

// A patch of very many files is read up to the limit.
func TestMany(tt *testing.T) {
	for _, part := range []string{"*** Delete File: x\n", "--- a/x\n", "diff --git a/x b/x\n"} {
		n := len(Targets(strings.Repeat(part, 10*event.MaxTargets)))
		require.Greater(tt, n, event.MaxTargets)
		require.Less(tt, n, event.MaxTargets+10)
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
		if len(Targets(text)) > event.MaxTargets-10 {
			return
		}
		// A header that follows always counts, of either format.
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		got := Targets(text + "*** End Patch\n*** Add File: .eslintrc.json\n")
		if !slices.Contains(got, t(".eslintrc.json", event.Add)) {
			tt.Fatalf("header lost after %q: %v", text, got)
		}
		for _, names := range []string{"--- a/biome.json\n+++ b/biome.json\n", "--- /dev/null\n+++ b/biome.json\n", "--- biome.json 2024-01-01\n+++ /dev/null\n"} {
			got := Targets(text + names + "@@ -1 +1 @@\n")
			if !slices.ContainsFunc(got, func(x event.Target) bool { return x.Path == "biome.json" }) {
				tt.Fatalf("%q lost after %q: %v", names, text, got)
			}
		}
	})
}
