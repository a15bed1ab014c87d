package load_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cueload "cuelang.org/go/cue/load"
	"github.com/stretchr/testify/require"

	flowagents "github.com/flow-agents/flow-agents"
	"github.com/flow-agents/flow-agents/generators/load"
	"github.com/flow-agents/flow-agents/generators/model"
)

var tree = os.DirFS("../..")

func loadTree(t *testing.T) *load.Description {
	t.Helper()
	d, err := load.Load(tree, load.Options{})
	require.NoError(t, err)
	return d
}

// A field that CUE has and the Go struct lacks would vanish without an error.
func TestModelHoldsAllThatManifestsSay(t *testing.T) {
	ctx := cuecontext.New()
	in := cueload.Instances([]string{"./manifests"}, &cueload.Config{Dir: "../..", Env: []string{"CUE_REGISTRY=none"}})
	v := ctx.BuildInstance(in[0])
	require.NoError(t, v.Err())
	for _, h := range loadTree(t).Catalog.Hosts {
		said, err := v.LookupPath(cue.MakePath(cue.Str("hosts"), cue.Str(h.ID))).MarshalJSON()
		require.NoError(t, err)
		kept, err := json.Marshal(h)
		require.NoError(t, err)
		require.JSONEq(t, normal(t, said), normal(t, kept), h.ID)
	}
}

// The same for the canonical side.
func TestModelHoldsAllThatTheSchemaSays(t *testing.T) {
	d := loadTree(t)
	for name, kept := range map[string]any{
		"protection": d.Catalog.Protection,
		"engineEnv":  d.Catalog.EngineEnv,
		"events":     byID(d.Catalog.Events, func(e model.Event) string { return e.ID }),
		"policies":   byID(d.Catalog.Policies, func(p model.Policy) string { return p.ID }),
		"channels":   byID(d.Catalog.Channels, func(c model.Channel) string { return c.ID }),
	} {
		said, err := d.Schema.LookupPath(cue.ParsePath(name)).MarshalJSON()
		require.NoError(t, err)
		got, err := json.Marshal(kept)
		require.NoError(t, err)
		require.JSONEq(t, normal(t, said), normal(t, got), name)
	}
}

func byID[T any](list []T, id func(T) string) map[string]T {
	m := map[string]T{}
	for _, x := range list {
		m[id(x)] = x
	}
	return m
}

// normal drops what the two sides may say differently: an empty list or
// object, null and absence are one thing.
func normal(t *testing.T, data []byte) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	out, err := json.Marshal(drop(v))
	require.NoError(t, err)
	return string(out)
}

func drop(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			e = drop(e)
			x[k] = e
			switch y := e.(type) {
			case nil:
				delete(x, k)
			case []any:
				if len(y) == 0 {
					delete(x, k)
				}
			case map[string]any:
				if len(y) == 0 {
					delete(x, k)
				}
			}
		}
	case []any:
		for i := range x {
			x[i] = drop(x[i])
		}
	}
	return v
}

// Embedded and on disk are the same sources.
func TestEmbeddedSourcesAreTheTree(t *testing.T) {
	for _, dir := range []string{"cue.mod", "schema", "manifests", "templates"} {
		require.NoError(t, fs.WalkDir(tree, dir, func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			want, err := fs.ReadFile(tree, p)
			require.NoError(t, err)
			got, err := fs.ReadFile(flowagents.Sources, p)
			require.NoError(t, err, p)
			require.Equal(t, string(want), string(got), p)
			return nil
		}))
	}
}

func TestLoadIsDeterministic(t *testing.T) {
	one, err := json.Marshal(loadTree(t).Catalog)
	require.NoError(t, err)
	for range 5 {
		two, err := json.Marshal(loadTree(t).Catalog)
		require.NoError(t, err)
		require.Equal(t, string(one), string(two))
	}
}

// Every host answers for every canonical event, by construction; this pins the
// construction.
func TestEveryEventIsMappedOrNamed(t *testing.T) {
	c := loadTree(t).Catalog
	require.NotEmpty(t, c.Hosts)
	for _, h := range c.Hosts {
		for id, s := range h.Surfaces {
			require.Len(t, s.Events, len(c.Events), "%s %s", h.ID, id)
			for _, m := range s.Events {
				if m.Kind != model.Native {
					require.GreaterOrEqual(t, len(m.Degradation), 20)
				}
			}
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := load.Load(tree, load.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
