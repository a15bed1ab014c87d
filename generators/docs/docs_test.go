package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators/docs"
	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/load"
	"github.com/flow-agents/flow-agents/generators/model"
	"github.com/flow-agents/flow-agents/internal/golden"
)

// sample is the emitters' shared invented hosts; the zero options are the
// shipped manifests.
func sample(t *testing.T) *model.Catalog {
	t.Helper()
	data, err := os.ReadFile("../declaration/testdata/sample.cue")
	require.NoError(t, err)
	return catalog(t, load.Options{Extra: []load.Manifest{{Name: "sample.cue", Data: data}}, Alone: true})
}

func catalog(t *testing.T, o load.Options) *model.Catalog {
	t.Helper()
	d, err := load.Load(os.DirFS("../.."), o)
	require.NoError(t, err)
	return d.Catalog
}

func emitAll(t *testing.T, c *model.Catalog) fileset.Set {
	t.Helper()
	out, err := docs.Emit(c, os.DirFS("../.."))
	require.NoError(t, err)
	for _, h := range c.Hosts {
		one, err := docs.EmitHost(c, h, os.DirFS("../.."))
		require.NoError(t, err)
		out = append(out, one.Under(h.ID)...)
	}
	return out
}

func TestGolden(t *testing.T) {
	for _, f := range emitAll(t, sample(t)) {
		golden.Equal(t, filepath.Join("testdata", "golden", f.Path), f.Data)
	}
}

// TestShippedHosts holds for whatever the manifests say.
func TestShippedHosts(t *testing.T) {
	for _, f := range emitAll(t, catalog(t, load.Options{})) {
		text := string(f.Data)
		require.NotContains(t, text, "<no value>", f.Path)
		require.NotContains(t, text, "ZgotmplZ", f.Path)
		require.NotContains(t, text, "%!", f.Path)
		if strings.HasSuffix(f.Path, ".md") {
			tables(t, f.Path, text)
			require.NotContains(t, text, "\n\n\n", f.Path)
		}
	}
}

// tables checks that each row of a table has as many cells as its head.
func tables(t *testing.T, name, text string) {
	t.Helper()
	cells := 0
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		n := len(regexp.MustCompile(`(^|[^\\])\|`).FindAllString(line, -1))
		if cells == 0 {
			cells = n
		}
		require.Equal(t, cells, n, "%s: %s", name, line)
	}
}

// TestEscape: texts of a manifest stay texts, whatever is in them.
func TestEscape(t *testing.T) {
	c := sample(t)
	h := &c.Hosts[0]
	evil := "</script><img src=x onerror=alert(1)> | `code` *b* [l](javascript:x) {{.}} \"'\nnext"
	h.Title, h.Homepage = evil, "https://x.invalid/ |"
	s := h.Surfaces["main"]
	m := s.Events["stop"]
	m.Note, m.Claim.Note, m.Claim.Version = evil, evil, evil
	s.Events["stop"] = m
	s.Title = evil
	h.Surfaces["main"] = s
	for _, f := range emitAll(t, c) {
		text := string(f.Data)
		require.NotContains(t, text, "<img", f.Path)
		if strings.HasSuffix(f.Path, ".md") {
			tables(t, f.Path, text)
			require.NotRegexp(t, `[^\\]\]\(javascript`, text, f.Path)
		} else {
			require.Equal(t, 1, strings.Count(text, "</script>"), f.Path)
		}
	}
}

func TestBrokenTemplates(t *testing.T) {
	c := sample(t)
	_, err := docs.Emit(c, fstest.MapFS{})
	require.ErrorContains(t, err, "read template")
	_, err = docs.EmitHost(c, c.Hosts[0], fstest.MapFS{"templates/docs/mapping.md.tmpl": {Data: []byte("{{.Nope}}")}})
	require.ErrorContains(t, err, "Nope")
	delete(c.Hosts[0].Declaration.Surfaces, "ide")
	_, err = docs.Emit(c, os.DirFS("../.."))
	require.EqualError(t, err, "matrix: alpha: surface ide has no computed state")
	_, err = docs.EmitHost(c, c.Hosts[0], os.DirFS("../.."))
	require.EqualError(t, err, "mapping of alpha: surface ide has no computed state")
}
