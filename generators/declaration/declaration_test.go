package declaration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	yaml3 "go.yaml.in/yaml/v3"
	yaml4 "go.yaml.in/yaml/v4"
	yaml2 "sigs.k8s.io/yaml/goyaml.v2"

	"github.com/flow-agents/flow-agents/generators/declaration"
	"github.com/flow-agents/flow-agents/generators/load"
	"github.com/flow-agents/flow-agents/generators/model"
	"github.com/flow-agents/flow-agents/internal/golden"
)

func catalog(t *testing.T) *model.Catalog {
	t.Helper()
	data, err := os.ReadFile("testdata/sample.cue")
	require.NoError(t, err)
	d, err := load.Load(os.DirFS("../.."), load.Options{Extra: []load.Manifest{{Name: "sample.cue", Data: data}}, Alone: true})
	require.NoError(t, err)
	return d.Catalog
}

func TestGolden(t *testing.T) {
	c := catalog(t)
	for _, h := range c.Hosts {
		t.Run(h.ID, func(t *testing.T) {
			out, err := declaration.Emit(c, h)
			require.NoError(t, err)
			require.Len(t, out, 2)
			for _, f := range out {
				golden.Equal(t, filepath.Join("testdata", "golden", h.ID, f.Path), f.Data)
			}
		})
	}
}

// Strings that readers of YAML like to take for something else, and the
// integers at the edge of what a float can hold.
var hostile = []string{
	"1.10", "on", "no", "y", "0x1F", "12:30", "2026-11-30", "null", "~", "1e3", "007", "", "*x", "a: b", "a #b", "- x",
	"a\nb", "é", `C:\Users\O'Neil`, "true", "Yes", "OFF", ".5", "+1", "0o17", "1_000", ".inf", ".NaN", "<<", "=", "!tag", "&a", "|", ">",
	"%x", "@x", "`x`", "{a}", "[a]", "a,b", "? x", ": x", "#x", " leading", "trailing ", "\ttab", "a\r\nb", "\r", "\x00", "\x1b[0m", "\x7f",
	"\u0085", "\u00a0", "\u2028", "\u2029", "\ufeff", "\ufffd", "\U0001f600", "\U0010ffff", `"quoted"`, `\n`, "'", "---", "...", "日本語", "</script>", "a\tb",
}

func hostileCatalog(id, text string, n int) (*model.Catalog, model.Host) {
	c := &model.Catalog{
		Events:   []model.Event{{ID: "preToolUse"}, {ID: id, Extension: true}},
		Policies: []model.Policy{{ID: id, Title: text, Blocks: true, Mode: text}},
	}
	h := model.Host{
		ID: "sample", Title: text, Kind: text, Homepage: text,
		Tested: model.Tested{Package: text, Min: text, Max: text},
		Surfaces: map[string]model.Surface{id: {Title: text, Events: map[string]model.Mapping{
			"preToolUse": {
				Kind: "native", Native: []string{text}, Fidelity: "reduced", Loss: text, TimeoutMs: n, LoopCap: &n, Note: text,
				Answer: &model.Answer{Style: text, Deny: &model.Say{Channel: text, Cap: n}},
				Claim:  model.Claim{Basis: text, Version: text, On: text, File: text, Note: text},
			},
			id: {Kind: "gap", Gap: text, Degradation: text, Approximation: text},
		}}},
		Trust: []model.TrustStep{{Scope: text, Text: text, Command: text}},
		Holes: []model.Hole{{ID: text, Text: text, CaughtBy: text}},
		Declaration: model.Declaration{
			Level: "L0", SurfaceLevel: "L3", Missing: []string{text}, Planned: []string{text},
			Surfaces: map[string]model.SurfaceDeclaration{id: {Policies: map[string]model.PolicyState{
				id: {Status: text, State: text, Triggers: []model.TriggerState{{Event: "preToolUse", Needs: "deny", State: "full", Channel: text}}},
			}}},
		},
	}
	return c, h
}

// TestReadBack: YAML 1.1 and 1.2 readers see what a JSON reader sees, type for
// type, whatever the texts are.
func TestReadBack(t *testing.T) {
	readers := map[string]func([]byte) (any, error){
		"yaml v4":    func(b []byte) (v any, err error) { return v, yaml4.Unmarshal(b, &v) },
		"yaml v3":    func(b []byte) (v any, err error) { return v, yaml3.Unmarshal(b, &v) },
		"goyaml.v2":  func(b []byte) (v any, err error) { return v, yaml2.Unmarshal(b, &v) },
		"goyaml v2s": func(b []byte) (v any, err error) { return v, yaml2.UnmarshalStrict(b, &v) },
	}
	numbers := []int{1, 10, 600_000, 9_007_199_254_740_993}
	ids := []string{"plain", "on", "no", "y", "Null", "e3"}
	for i, s := range hostile {
		c, h := hostileCatalog(ids[i%len(ids)], s, numbers[i%len(numbers)])
		out, err := declaration.Emit(c, h)
		require.NoError(t, err)
		d := json.NewDecoder(strings.NewReader(string(out[1].Data)))
		d.UseNumber()
		var want any
		require.NoError(t, d.Decode(&want), "%q", s)
		require.Equal(t, s, want.(map[string]any)["host"].(map[string]any)["title"])
		for name, read := range readers {
			got, err := read(out[0].Data)
			require.NoError(t, err, "%s: %q\n%s", name, s, out[0].Data)
			require.Equal(t, want, normal(got), "%s: %q", name, s)
		}
	}
}

// normal gives what a YAML reader returned the types of a JSON reader.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, x := range v {
			m[k] = normal(x)
		}
		return m
	case map[any]any:
		m := map[string]any{}
		for k, x := range v {
			s, ok := k.(string)
			if !ok {
				s = fmt.Sprintf("key of type %T: %v", k, k)
			}
			m[s] = normal(x)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, x := range v {
			l[i] = normal(x)
		}
		return l
	case int, int64, uint64:
		return json.Number(fmt.Sprint(v))
	}
	return v
}

// TestReadBackPython asks a YAML 1.1 reader of another family.
func TestReadBackPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	if exec.Command(python, "-c", "import yaml").Run() != nil {
		t.Skip("python3 has no yaml module")
	}
	dir := t.TempDir()
	for i, s := range hostile {
		c, h := hostileCatalog("on", s, 9_007_199_254_740_993)
		out, err := declaration.Emit(c, h)
		require.NoError(t, err)
		for j, ext := range []string{"yaml", "json"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.%s", i, ext)), out[j].Data, 0o644))
		}
	}
	script := `
import json, sys, yaml
for i in range(int(sys.argv[1])):
    y = yaml.safe_load(open("%d.yaml" % i, encoding="utf-8", newline=""))
    j = json.load(open("%d.json" % i, encoding="utf-8"))
    assert y == j, (i, y, j)
`
	cmd := exec.Command(python, "-c", script, fmt.Sprint(len(hostile)))
	cmd.Dir = dir
	msg, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", msg)
}

func TestNoFloatNoise(t *testing.T) {
	c, h := hostileCatalog("plain", "x", 9_007_199_254_740_993)
	out, err := declaration.Emit(c, h)
	require.NoError(t, err)
	for _, f := range out {
		require.Contains(t, string(f.Data), "9007199254740993", f.Path)
		require.NotContains(t, string(f.Data), "e+", f.Path)
	}
}

func TestIncompleteModel(t *testing.T) {
	c, h := hostileCatalog("plain", "x", 1)
	c.Events = append(c.Events, model.Event{ID: "stop"})
	_, err := declaration.Emit(c, h)
	require.EqualError(t, err, "declaration of sample: surface plain neither maps stop nor names it as a gap")
}

func TestBlocking(t *testing.T) {
	heard := []model.TriggerState{{Needs: "deny", State: "reduced"}}
	for _, tc := range []struct {
		blocks bool
		state  model.PolicyState
		want   string
	}{
		{false, model.PolicyState{Status: "enforced", Triggers: heard}, "never"},
		{true, model.PolicyState{Status: "enforced", Triggers: heard}, "enforced"},
		{true, model.PolicyState{Status: "planned", Triggers: heard}, "planned"},
		{true, model.PolicyState{Status: "enforced", Triggers: []model.TriggerState{{Needs: "block", State: "mute"}}}, "unavailable"},
	} {
		require.Equal(t, tc.want, declaration.Blocking(model.Policy{Blocks: tc.blocks}, tc.state))
	}
}
