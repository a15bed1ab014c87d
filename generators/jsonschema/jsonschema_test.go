package jsonschema_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cueload "cuelang.org/go/cue/load"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators/jsonschema"
	"github.com/flow-agents/flow-agents/internal/golden"
)

// evaluate returns the schema package and the hosts of the manifests.
func evaluate(t *testing.T) (schema, hosts cue.Value) {
	t.Helper()
	insts := cueload.Instances([]string{"./schema", "./manifests"}, &cueload.Config{Dir: "../..", Env: []string{"CUE_REGISTRY=none"}})
	ctx := cuecontext.New()
	var vals []cue.Value
	for _, in := range insts {
		require.NoError(t, in.Err)
		vals = append(vals, ctx.BuildInstance(in))
	}
	return vals[0], vals[1].LookupPath(cue.ParsePath("hosts"))
}

func TestGolden(t *testing.T) {
	schema, _ := evaluate(t)
	out, err := jsonschema.Emit(schema)
	require.NoError(t, err)
	require.Len(t, out, 4)
	for _, f := range out {
		golden.Equal(t, filepath.Join("testdata", "golden", filepath.Base(f.Path)), f.Data)
		require.NotContains(t, string(f.Data), `"#`+"/$defs/"+`_`, "a hidden definition got out")
		compile(t, f.Data)
	}
}

func compile(t *testing.T, data []byte) *validator.Schema {
	t.Helper()
	doc, err := validator.UnmarshalJSON(strings.NewReader(string(data)))
	require.NoError(t, err)
	c := validator.NewCompiler()
	require.NoError(t, c.AddResource("mem:///schema.json", doc))
	s, err := c.Compile("mem:///schema.json")
	require.NoError(t, err)
	return s
}

// A judge says whether a JSON document is acceptable.
type judge func(doc string) error

func byCUE(schema cue.Value, definition string) judge {
	def := schema.LookupPath(cue.ParsePath(definition))
	return func(doc string) error {
		v := cuecontext.New().CompileString(doc)
		if v.Err() != nil {
			return v.Err()
		}
		return def.Unify(v).Validate(cue.All(), cue.Concrete(true))
	}
}

// byTwin judges by contradictions only: to CUE, a case of a disjunction that
// lacks a required field is not wrong, but unfinished.
func byTwin(schema cue.Value, definition string) judge {
	def := schema.LookupPath(cue.ParsePath(definition))
	return func(doc string) error { return def.Unify(cuecontext.New().CompileString(doc)).Validate() }
}

func byJSONSchema(t *testing.T, schema cue.Value, definition string) judge {
	t.Helper()
	data, err := jsonschema.Export(schema, definition, "test")
	require.NoError(t, err)
	s := compile(t, data)
	return func(doc string) error {
		inst, err := validator.UnmarshalJSON(strings.NewReader(doc))
		if err != nil {
			return err
		}
		return s.Validate(inst)
	}
}

const (
	text     = "Twenty characters of real text at the least."
	claim    = `{"basis":"source","version":"1.2.3","on":"2026-11"}`
	recorded = `{"basis":"recorded","version":"1.2.3","on":"2026-11","file":"a/b.json"}`
	wired    = `"native":["PreToolUse"],"answer":{"style":"none"},"claim":` + claim
)

type sample struct {
	ok  bool
	doc string
}

// samples: the definition that authors use, the one that is exported, and
// documents on which all must agree.
var samples = []struct {
	author, export string
	docs           []sample
}{
	{"#Claim", "#ClaimDoc", []sample{
		{true, claim}, {true, recorded},
		{true, `{"basis":"documented","version":"0.0.0","on":"2026-01","note":"` + text + `"}`},
		{false, `{"basis":"recorded","version":"1.2.3","on":"2026-11"}`},
		{false, `{"basis":"observed","version":"1.2.3","on":"2026-11"}`},
		{false, `{"basis":"source","version":"1.2","on":"2026-11"}`},
		{false, `{"basis":"source","version":"v1.2.3","on":"2026-11"}`},
		{false, `{"basis":"source","version":"1.02.3","on":"2026-11"}`},
		{false, `{"basis":"source","version":"1.2.3","on":"2026-13"}`},
		{false, `{"basis":"source","version":"1.2.3","on":"2026-11-30"}`},
		{false, `{"basis":"source","version":"1.2.3","on":"2026-11","file":"a.json"}`},
		{false, `{"basis":"recorded","version":"1.2.3","on":"2026-11","file":"/a.json"}`},
		{false, `{"basis":"recorded","version":"1.2.3","on":"2026-11","file":"../a.json"}`},
		{false, `{"basis":"recorded","version":"1.2.3","on":"2026-11","file":"a\\b.json"}`},
		{false, `{"basis":"source","version":"1.2.3","on":"2026-11","note":"short"}`},
		{false, `{"basis":"source","version":"1.2.3","on":"2026-11","note":"Long enough, but still a Todo for later."}`},
		{false, `{"basis":"source","version":"1.2.3"}`},
		{false, `{}`}, {false, `[]`}, {false, `"source"`}, {false, `null`},
	}},
	{"#Answer", "#AnswerDoc", []sample{
		{true, `{"style":"none"}`},
		{true, `{"style":"nested-json","deny":{"channel":"permissionDecisionReason"},"context":{"channel":"additionalContext","cap":256}}`},
		{true, `{"style":"nested-json"}`},
		{true, `{"style":"flat-json","block":{"channel":"followup_message"}}`},
		{true, `{"style":"exit-code","deny":{"channel":"stderr"},"block":{"channel":"reason"}}`},
		{true, `{"style":"bridge","deny":{"channel":"thrown-error"}}`},
		{false, `{"style":"nested"}`}, {false, `{"style":"none","deny":{"channel":"stderr"}}`},
		{false, `{"style":"exit-code","ask":{"channel":"stderr"}}`},
		{false, `{"style":"nested-json","deny":{"channel":"reason"}}`},
		{false, `{"style":"nested-json","deny":{}}`},
		{false, `{"style":"nested-json","deny":{"channel":"permissionDecisionReason","cap":255}}`},
		{false, `{"style":"nested-json","deny":{"channel":"permissionDecisionReason","cap":300.5}}`},
		{false, `{"style":"nested-json","deni":{"channel":"permissionDecisionReason"}}`},
		{false, `{"deny":{"channel":"stderr"}}`}, {false, `{}`},
	}},
	{"#Mapping", "#MappingDoc", []sample{
		{true, `{"kind":"native",` + wired + `}`},
		{true, `{"kind":"native","fidelity":"full",` + wired + `}`},
		{true, `{"kind":"native","fidelity":"reduced","loss":"` + text + `",` + wired + `}`},
		{true, `{"kind":"native","timeoutMs":1,"loopCap":0,"match":["write","edit"],"note":"` + text + `",` + wired + `}`},
		{true, `{"kind":"native","timeoutMs":86400000,` + wired + `}`},
		{true, `{"kind":"emulated","degradation":"` + text + `",` + wired + `}`},
		{true, `{"kind":"emulated","via":"preToolUse","fidelity":"reduced","degradation":"` + text + `",` + wired + `}`},
		{true, `{"kind":"gap","gap":"no-event","degradation":"` + text + `","claim":` + claim + `}`},
		{true, `{"kind":"gap","gap":"undocumented","degradation":"` + text + `","approximation":"` + text + `","claim":` + recorded + `}`},
		{false, `{"kind":"native","fidelity":"reduced",` + wired + `}`},
		{false, `{"kind":"native","loss":"` + text + `",` + wired + `}`},
		{false, `{"kind":"native","degradation":"` + text + `",` + wired + `}`},
		{false, `{"kind":"native","fidelity":"some",` + wired + `}`},
		{false, `{"kind":"native","timeoutMs":0,` + wired + `}`},
		{false, `{"kind":"native","timeoutMs":86400001,` + wired + `}`},
		{false, `{"kind":"native","timeoutMs":1.5,` + wired + `}`},
		{false, `{"kind":"native","loopCap":-1,` + wired + `}`},
		{false, `{"kind":"native","match":[],` + wired + `}`},
		{false, `{"kind":"native","match":["writes"],` + wired + `}`},
		{false, `{"kind":"native","native":[],"answer":{"style":"none"},"claim":` + claim + `}`},
		{false, `{"kind":"native","native":["a b"],"answer":{"style":"none"},"claim":` + claim + `}`},
		{false, `{"kind":"native","native":["A"],"answer":{"style":"none"}}`},
		{false, `{"kind":"native","native":["A"],"claim":` + claim + `}`},
		{false, `{"kind":"emulated",` + wired + `}`},
		{false, `{"kind":"emulated","fidelity":"full","degradation":"` + text + `",` + wired + `}`},
		{false, `{"kind":"emulated","via":"preTool","degradation":"` + text + `",` + wired + `}`},
		{true, `{"kind":"gap","gap":"unexamined"}`}, {true, `{"kind":"gap","gap":"unexamined","claim":{"basis":"unexamined"}}`},
		{false, `{"kind":"gap","gap":"unexamined","claim":` + claim + `}`}, {false, `{"kind":"gap","gap":"no-event","degradation":"` + text + `","claim":{"basis":"unexamined"}}`},
		{false, `{"kind":"gap","gap":"no-event","claim":` + claim + `}`},
		{false, `{"kind":"gap","gap":"no-event","degradatoin":"` + text + `","claim":` + claim + `}`},
		{false, `{"kind":"gap","gap":"none","degradation":"` + text + `","claim":` + claim + `}`},
		{false, `{"kind":"gap","gap":"no-event","degradation":"` + text + `","claim":` + claim + `,"native":["A"]}`},
		{false, `{"kind":"missing"}`}, {false, `{}`},
	}},
	{"#Tool", "#ToolDoc", []sample{
		{true, `{"class":"write","path":["file_path"]}`}, {true, `{"class":"edit","patch":["input"]}`},
		{true, `{"class":"edit","path":["a.b","edits[].path"],"patch":["input"]}`},
		{true, `{"class":"shell","command":["command"]}`}, {true, `{"class":"read"}`}, {true, `{"class":"mcp"}`},
		{true, `{"class":"read","path":["p"],"alias":false}`}, {true, `{"class":"edit","alias":true}`}, {true, `{"class":"shell","alias":true}`},
		{true, `{"class":"shell","command":["command"],"shellPatch":true}`}, {false, `{"class":"shell","command":["command"],"shellPatch":1}`},
		{false, `{"class":"edit","path":["p"],"shellPatch":true}`}, {false, `{"class":"shell","alias":true,"shellPatch":true}`},
		{false, `{"class":"write"}`}, {false, `{"class":"edit","alias":false}`}, {false, `{"class":"shell"}`},
		{false, `{"class":"write","path":[]}`}, {false, `{"class":"write","path":["a b"]}`}, {false, `{"class":"write","path":"a"}`},
		{false, `{"class":"writes","path":["a"]}`}, {false, `{"path":["a"]}`}, {false, `{"class":"read","paths":["a"]}`}, {false, `{"class":"read","alias":"yes"}`},
	}},
	{"#File", "#FileDoc", []sample{
		{true, file(`"kind":"config","accepts":{"shape":"nested","top":["hooks"],"handler":["type"],"matcher":"names"}`)},
		{true, file(`"kind":"config","accepts":{"shape":"free","top":[],"open":true,"handler":[],"matcher":"none","matchable":["A"]},"also":["a.jsonc"],"exec":true,"install":false`)},
		{true, file(`"kind":"source"`)},
		{true, file(`"kind":"source","timeout":{"key":"timeout","unit":"s","min":1,"max":600}`)},
		{false, file(`"kind":"config"`)}, {false, file(`"kind":"data"`)}, {false, file(`"kind":"source","mode":1`)},
		{false, file(`"kind":"source","timeout":{"key":"","unit":"s","min":1,"max":600}`)},
		{false, file(`"kind":"source","timeout":{"key":"t","unit":"m","min":1,"max":600}`)},
		{false, file(`"kind":"source","timeout":{"key":"t","unit":"s","min":-1,"max":600}`)},
		{false, file(`"kind":"source","timeout":{"key":"t","unit":"s","min":1,"max":600,"caps":{"A B":1}}`)},
		{false, file(`"kind":"source","also":["../x"]`)},
		{false, file(`"kind":"config","accepts":{"shape":"nested","top":["hooks"],"handler":["type"]}`)},
	}},
}

func file(more string) string {
	return `{"doc":"` + text + `","template":"a.tmpl","surface":"main","dest":{"project":".x/y.json"},"merge":"own",` + more + `}`
}

// TestTwins: an author's definition and the JSON Schema that its twin exports
// to accept and refuse the same documents.
func TestTwins(t *testing.T) {
	schema, _ := evaluate(t)
	for _, x := range samples {
		t.Run(x.author, func(t *testing.T) {
			agree(t, schema, x.author, x.export, x.docs)
		})
	}
}

func agree(t *testing.T, schema cue.Value, author, export string, docs []sample) {
	t.Helper()
	judges := map[string]judge{author: byCUE(schema, author), "JSON Schema": byJSONSchema(t, schema, export)}
	twin := byTwin(schema, export)
	for _, d := range docs {
		for name, judge := range judges {
			if err := judge(d.doc); (err == nil) != d.ok {
				t.Errorf("%s: want ok %t, got %v for\n%.600s", name, d.ok, err, d.doc)
			}
		}
		if d.ok {
			require.NoError(t, twin(d.doc), "%s: %.600s", export, d.doc)
		}
	}
}

// TestManifests: the shipped manifests are valid by their JSON Schema, and
// typical mistakes in them are not.
func TestManifests(t *testing.T) {
	schema, hosts := evaluate(t)
	var docs []sample
	it, err := hosts.Fields()
	require.NoError(t, err)
	var one string
	for it.Next() {
		data, err := it.Value().MarshalJSON()
		require.NoError(t, err)
		docs = append(docs, sample{true, string(data)})
		if it.Selector().String() == `"claude-code"` {
			one = string(data)
		}
	}
	require.NotEmpty(t, one)
	change := func(edit func(h map[string]any)) sample {
		var h map[string]any
		require.NoError(t, json.Unmarshal([]byte(one), &h))
		edit(h)
		data, err := json.Marshal(h)
		require.NoError(t, err)
		return sample{false, string(data)}
	}
	for _, key := range []string{"id", "title", "kind", "tested", "nativeEvents", "surfaces", "tools", "timeout", "detect", "home", "files", "trust", "switches", "holes"} {
		docs = append(docs, change(func(h map[string]any) { delete(h, key) }))
		docs = append(docs, change(func(h map[string]any) { h[key] = 1 }))
	}
	events := func(h map[string]any) map[string]any {
		return h["surfaces"].(map[string]any)["main"].(map[string]any)["events"].(map[string]any)
	}
	docs = append(docs,
		change(func(h map[string]any) { h["extra"] = "x" }),
		change(func(h map[string]any) { h["id"] = "run" }),
		change(func(h map[string]any) { h["id"] = "Upper" }),
		change(func(h map[string]any) { h["title"] = "" }),
		change(func(h map[string]any) { h["nativeEvents"] = []any{} }),
		change(func(h map[string]any) { h["claimLevel"] = "L4" }),
		change(func(h map[string]any) { h["pathSyntax"] = []any{"glob"} }),
		change(func(h map[string]any) { h["pathSyntax"] = "tilde" }),
		change(func(h map[string]any) { delete(events(h), "stop") }),
		change(func(h map[string]any) { events(h)["preTol"] = events(h)["stop"] }),
		change(func(h map[string]any) { delete(events(h)["stop"].(map[string]any), "claim") }),
		change(func(h map[string]any) {
			h["surfaces"].(map[string]any)["Bad Name"] = h["surfaces"].(map[string]any)["main"]
		}),
		change(func(h map[string]any) { h["tools"].(map[string]any)["a b"] = map[string]any{"class": "read"} }),
		change(func(h map[string]any) { h["files"].(map[string]any)["x"] = map[string]any{} }),
		change(func(h map[string]any) { h["home"].(map[string]any)["dir"] = "/abs" }),
		change(func(h map[string]any) { h["home"].(map[string]any)["env"] = "lower" }),
	)
	agree(t, schema, "#Host", "#HostDoc", docs)
}

func TestRecords(t *testing.T) {
	schema, _ := evaluate(t)
	record := func(more string) string {
		return `{"schema_version":"0.3.0","timestamp":"2026-11-30T20:00:00.000Z","event_id":"e-` + strings.Repeat("0", 24) + `","event_type":"tool.invoke","session_id":"r-` +
			strings.Repeat("a", 24) + `","agent":{"runtime":"alpha"},"hook":{"event_name":"PreToolUse","canonical_event":"preToolUse"},"context":{}` + more + `}`
	}
	agree(t, schema, "#Record", "#Record", []sample{
		{true, record("")},
		{true, record(`,"turn":{"prompt_length":0}`)},
		{true, record(`,"tool":{"name":"Write","class":"write"},"decision":{"verdict":"deny","policy":"config-protection","observed":true}`)},
		{false, record(`,"turn":{"prompt_length":-1}`)}, {false, record(`,"turn":{}`)}, {false, record(`,"tool":{"name":"Write"}`)},
		{false, record(`,"decision":{"verdict":"refuse"}`)}, {false, record(`,"tool":{"name":"Write","class":"writes"}`)},
		{false, record(`,"more":1`)},
		{false, strings.Replace(record(""), "0.3.0", "0.4.0", 1)}, {false, strings.Replace(record(""), ".000Z", "Z", 1)},
		{false, strings.Replace(record(""), `"e-`, `"x-`, 1)}, {false, strings.Replace(record(""), "tool.invoke", "tool.call", 1)},
		{false, strings.Replace(record(""), `"runtime":"alpha"`, "", 1)}, {false, strings.Replace(record(""), `"context":{}`, `"context":{"home":"/x"}`, 1)},
		{false, `{}`},
	})
}

func TestBundles(t *testing.T) {
	schema, _ := evaluate(t)
	bundle := func(file, more string) string {
		return `{"schema_version":1,"target":{"id":"alpha","title":"Alpha","kind":"harness"},"tested":{"package":"a","min":"1.0.0","max":"1.0.0"},` +
			`"detect":{"env":[],"project":[".alpha"],"user":[]},"home":{"dir":".alpha"},"surfaces":["main"],"files":[` + file + `],` +
			`"owned":{"program":"flow-agents-hook","first_arg":"alpha"},"trust":[],"switches":[]` + more + `}`
	}
	entry := func(scopes, more string) string {
		return `{"id":"settings","doc":"x","surface":"main","serves":[],"timeouts":{"key":"timeout","unit":"s","by_event":{"Stop":180}},"merge":"merge-json","also":[],"shape":"nested","install":true,"scopes":` + scopes + more + `}`
	}
	place := `{"source":"config/settings.json","dest":".alpha/settings.json"}`
	agree(t, schema, "#Bundle", "#Bundle", []sample{
		{true, bundle("", "")}, {true, bundle(entry(`{"project":`+place+`,"user":`+place+`}`, ""), "")},
		{true, bundle(entry(`{}`, `,"placeholder":{"raw":"x","shell":"y"}`), "")},
		{false, bundle("", `,"version":"1.0.0"`)}, {false, bundle(entry(`{"global":`+place+`}`, ""), "")}, {false, bundle(entry(`{"project":{}}`, ""), "")},
		{false, bundle(entry(`{}`, `,"placeholder":{"raw":"x"}`), "")}, {false, strings.Replace(bundle("", ""), `"kind":"harness"`, `"kind":"tool"`, 1)},
		{false, strings.Replace(bundle(entry(`{}`, ""), ""), `180`, `"180"`, 1)}, {false, strings.Replace(bundle("", ""), `"schema_version":1`, `"schema_version":2`, 1)},
		{false, strings.Replace(bundle("", ""), `"1.0.0"`, `"1.0"`, 1)}, {false, `{}`},
	})
}

// TestEmptyDefinition: the exporter drops conditions without a word, which
// must not go unseen.
func TestEmptyDefinition(t *testing.T) {
	v := cuecontext.New().CompileString(`
		#Outer: inner!: #Inner
		#Inner: {kind!: string, if kind == "a" {more!: int}}
	`)
	_, err := jsonschema.Export(v, "#Outer", "x")
	require.EqualError(t, err, "export #Outer: definition Inner would accept anything; it needs a twin without conditions")
	_, err = jsonschema.Export(v, "#Other", "x")
	require.EqualError(t, err, "export #Other: the schema has no such definition")
}

// TestPatterns: every pattern means something to JavaScript too.
func TestPatterns(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	schema, _ := evaluate(t)
	out, err := jsonschema.Emit(schema)
	require.NoError(t, err)
	var patterns []string
	for _, f := range out {
		for _, m := range regexp.MustCompile(`"pattern": ("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(string(f.Data), -1) {
			var s string
			require.NoError(t, json.Unmarshal([]byte(m[1]), &s))
			patterns = append(patterns, s)
		}
	}
	require.NotEmpty(t, patterns)
	require.NotContains(t, strings.Join(patterns, "\n"), "(?i)")
	data, err := json.Marshal(patterns)
	require.NoError(t, err)
	msg, err := exec.Command(node, "-e", "for (const p of JSON.parse(process.argv[1])) new RegExp(p, 'u')", string(data)).CombinedOutput()
	require.NoError(t, err, "%s", msg)
}
