package install

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/install/entries"
	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// A foreign case is a config file of somebody else, and a host that reads it.
type foreignCase struct {
	name, host, dest string
	data             []byte
	dialect          jsonedit.Dialect
}

func foreignCases(t *testing.T) []foreignCase {
	t.Helper()
	var out []foreignCase
	add := func(prefix, pattern string, dialect jsonedit.Dialect, hosts map[string]string) {
		files, err := filepath.Glob(filepath.Join("testdata", filepath.FromSlash(pattern)))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			for host, dest := range hosts {
				out = append(out, foreignCase{host + "/" + prefix + filepath.Base(file), host, dest, data, dialect})
			}
		}
	}
	strict := map[string]string{"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
	lenient := map[string]string{"gemini-cli": ".gemini/settings.json", "two-names": "opencode.json"}
	add("", "foreign/json/*", jsonedit.JSON, strict)
	add("", "foreign/json/*", jsonedit.JSONC, lenient)
	add("", "foreign/jsonc/*", jsonedit.JSONC, lenient)
	add("R21_", "reports/shared-groups.json", jsonedit.JSON, strict)
	add("R16_", "reports/jsonc/*", jsonedit.JSONC, lenient)
	return out
}

func (c foreignCase) parse(t *testing.T, data []byte) *jsonedit.Doc {
	t.Helper()
	doc, err := jsonedit.Parse(c.dest, data, c.dialect)
	require.NoError(t, err)
	return doc
}

// merger returns the merger of the case's only file.
func (c foreignCase) merger(t *testing.T, w *world) entries.Merger {
	t.Helper()
	bundles, err := w.bundles([]string{c.host})
	require.NoError(t, err)
	sites, _ := w.sites(bundles[0], "project", w.root)
	m, err := w.Installer.merger(sites[0])
	require.NoError(t, err)
	return m
}

// TestForeignFilesSurvive puts our entries into files of every sort and takes
// them out again.
func TestForeignFilesSurvive(t *testing.T) {
	cases := foreignCases(t)
	t.Logf("%d cases", len(cases))
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			path := w.write(c.dest, c.data)
			require.NoError(t, os.Chmod(path, 0o640))
			before := contents(t, w.root)

			w.init(w.request(c.host))
			installed := []byte(w.read(c.dest))
			requireSubsequence(t, c.data, installed)
			requireLineEnds(t, c.data, installed)
			m := c.merger(t, w)
			doc := c.parse(t, installed)
			for _, place := range m.Inspect(doc) {
				require.Equal(t, entries.Present, place.State, place.Path)
			}
			requireForeignKept(t, m, c.parse(t, c.data), doc)

			at := snapshot(t, w.root)
			require.False(t, w.init(w.request(c.host)).Changed())
			require.Equal(t, at, snapshot(t, w.root))

			w.uninstall(w.request(c.host))
			require.Equal(t, before, contents(t, w.root))

			// A second time, for what the first might have left behind.
			w.init(w.request(c.host))
			require.Equal(t, string(installed), w.read(c.dest))
			w.uninstall(w.request(c.host))
			require.Equal(t, before, contents(t, w.root))
		})
	}
}

// TestForeignFilesChangedSince takes our entries out of files that their owner
// has changed in the meantime, with the ledger and without.
func TestForeignFilesChangedSince(t *testing.T) {
	for _, c := range foreignCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, keepLedger := range []bool{true, false} {
				w := newWorld(t)
				w.write(c.dest, c.data)
				w.init(w.request(c.host))
				m := c.merger(t, w)
				edited := append([]byte(w.read(c.dest)), '\n')
				w.write(c.dest, edited)
				if !keepLedger {
					require.NoError(t, os.RemoveAll(filepath.Join(w.root, ".flow-agents", "state")))
				}
				w.uninstall(w.request(c.host))
				got := []byte(w.read(c.dest))
				requireSubsequence(t, got, edited)
				doc := c.parse(t, got)
				_, left := m.Installed(doc)
				require.False(t, left)
				requireForeignKept(t, m, c.parse(t, c.data), doc)
				if keepLedger && !inexact[strings.TrimPrefix(c.name, c.host+"/")] && len(bytes.TrimSpace(c.data)) > 0 {
					require.Equal(t, string(c.data)+"\n", string(got))
				}
			}
		})
	}
}

// inexact are the cases where blanks inside a bracket are not as they were when
// our entries are taken out of a file that was changed since: they are gone from
// an empty container, or a line end is left in front of a bracket.
var inexact = map[string]bool{
	"object-space.json": true, "object-lines.json": true, "hooks-empty-lines.json": true, "events-empty.json": true,
	"crlf-tabs-no-final.json": true, "close-on-last-line.json": true, "ragged-indent.json": true,
	"comments-everywhere.jsonc": true, "only-block-comment-inside.jsonc": true,
}

// requireSubsequence asserts that long is short with bytes put in.
func requireSubsequence(t *testing.T, short, long []byte) {
	t.Helper()
	i := 0
	for _, b := range long {
		if i < len(short) && short[i] == b {
			i++
		}
	}
	require.Equal(t, len(short), i, "not by insertion alone:\n%s", long)
}

// requireLineEnds asserts that a file with one kind of line end still has one.
func requireLineEnds(t *testing.T, before, after []byte) {
	t.Helper()
	if n := bytes.Count(before, []byte("\n")); n > 0 && n == bytes.Count(before, []byte("\r\n")) {
		require.Equal(t, bytes.Count(after, []byte("\n")), bytes.Count(after, []byte("\r\n")), "a lone LF:\n%q", after)
	}
	if !bytes.Contains(before, []byte("\r\n")) {
		require.NotContains(t, string(after), "\r\n")
	}
}

// requireForeignKept asserts that without our entries, and without what is empty
// then, two documents hold the same.
func requireForeignKept(t *testing.T, m entries.Merger, before, after *jsonedit.Doc) {
	t.Helper()
	bare := func(doc *jsonedit.Doc) any {
		doc, err := jsonedit.Parse("bare", doc.Bytes(), jsonedit.JSONC)
		require.NoError(t, err)
		_, err = m.Strip(doc, func(string) bool { return true })
		require.NoError(t, err)
		if doc.Decoded() == nil {
			return map[string]any{}
		}
		return doc.Decoded()
	}
	require.Equal(t, bare(before), bare(after))
}
