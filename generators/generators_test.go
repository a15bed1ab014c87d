package generators_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators"
	"github.com/flow-agents/flow-agents/generators/descriptor"
	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/load"
	"github.com/flow-agents/flow-agents/generators/tables"
)

var tree = os.DirFS("..")

func text(t testing.TB) fileset.Set {
	t.Helper()
	d, err := generators.Load(tree, load.Options{})
	require.NoError(t, err)
	set, err := generators.Text(d, tree)
	require.NoError(t, err)
	tab, err := tables.Emit(d.Catalog)
	require.NoError(t, err)
	set, err = append(set, tab.Under("tables")...).Sorted()
	require.NoError(t, err)
	return set
}

func TestTextIsDeterministic(t *testing.T) {
	one, two := text(t), text(t)
	require.Equal(t, len(one), len(two))
	for i := range one {
		require.Equal(t, one[i].Path, two[i].Path)
		require.True(t, bytes.Equal(one[i].Data, two[i].Data), one[i].Path)
	}
	a, err := one.Tar("x")
	require.NoError(t, err)
	b, err := two.Tar("x")
	require.NoError(t, err)
	require.True(t, bytes.Equal(a, b))
}

// What is committed is what the sources give; the failing check names the fix.
func TestCommittedTextIsCurrent(t *testing.T) {
	d, err := generators.Load(tree, load.Options{})
	require.NoError(t, err)
	set, err := generators.Text(d, tree)
	require.NoError(t, err)
	keep := func(p string) bool { return strings.HasSuffix(p, ".go") }
	drifts, err := set.Compare("../bundles", keep)
	require.NoError(t, err)
	require.Empty(t, drifts, "to fix: go run ./cmd/build-bundles --text-only")
}

// Generated text is text: UTF-8 without a mark, one kind of line end, nothing
// of the machine that made it.
func TestTextIsPortable(t *testing.T) {
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	wd, err := filepath.Abs("..")
	require.NoError(t, err)
	for _, f := range text(t) {
		s := string(f.Data)
		require.NotContains(t, s, "\r", f.Path)
		require.False(t, strings.HasPrefix(s, "\xef\xbb\xbf"), f.Path)
		require.True(t, strings.HasSuffix(s, "\n"), "%s ends without a newline", f.Path)
		require.NotContains(t, s, home+"/", f.Path)
		require.NotContains(t, s, wd+"/", f.Path)
		if strings.HasSuffix(f.Path, ".json") {
			require.True(t, json.Valid(f.Data), f.Path)
		}
	}
}

// No float noise, no rounded integer, in anything that is generated.
func TestNumbersAreExact(t *testing.T) {
	for _, f := range text(t) {
		if !strings.HasSuffix(f.Path, ".json") {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(f.Data))
		dec.UseNumber()
		for {
			tok, err := dec.Token()
			if err != nil {
				break
			}
			if n, ok := tok.(json.Number); ok {
				require.LessOrEqual(t, len(n), 16, "%s holds %s", f.Path, n)
				require.NotContains(t, n.String(), "e", f.Path)
			}
		}
	}
}

// A console that looks for a field in our records finds it: every attribute of
// the telemetry source is a field of #Record.
func TestDescriptorNamesFieldsOfRecords(t *testing.T) {
	d, err := load.Load(tree, load.Options{})
	require.NoError(t, err)
	set, err := descriptor.Emit(d.Catalog)
	require.NoError(t, err)
	var doc struct {
		RecordSources []struct {
			ID         string
			Attributes map[string]string
		}
	}
	require.NoError(t, json.Unmarshal(set[0].Data, &doc))
	require.Equal(t, "flow-agents-telemetry", doc.RecordSources[0].ID)
	for name, field := range doc.RecordSources[0].Attributes {
		v := d.Schema.LookupPath(cue.ParsePath("#Record"))
		for key := range strings.SplitSeq(field, ".") {
			if next := v.LookupPath(cue.MakePath(cue.Str(key))); next.Exists() {
				v = next
			} else {
				v = v.LookupPath(cue.MakePath(cue.Str(key).Optional()))
			}
		}
		require.True(t, v.Exists(), "%s shows %s, which no record has", name, field)
	}
}

// BenchmarkText is load, validate and generate, for all hosts.
func BenchmarkText(b *testing.B) {
	for b.Loop() {
		text(b)
	}
}
