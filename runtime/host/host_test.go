package host

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/tables"
)

// sample is a host with everything that a manifest can say.
var sample = tables.Host{
	ID: "sample",
	Surfaces: []tables.Surface{
		{ID: "marked", Env: "SAMPLE_MARK", Events: []tables.Event{{Native: "Both", Kind: event.Stop}, {Native: "OnlyMarked", Kind: event.Stop}}},
		{ID: "plain", Events: []tables.Event{{Native: "Both", Kind: event.Stop}}},
	},
	Tools: []tables.Tool{
		{Name: "apply_patch", Class: event.Edit, Patch: []tables.Path{{{Key: "command"}}}},
		{Name: "bare", Class: event.Edit},
		{Name: "edit", Class: event.Edit, Path: []tables.Path{{{Key: "file_path"}}, {{Key: "edits", Each: true}, {Key: "path"}}}},
		{Name: "look", Class: event.Read, Path: []tables.Path{{{Key: "path"}}}},
		{Name: "mcp__*", Class: event.MCP},
		{Name: "mcp__shell__*", Class: event.Shell, Command: []tables.Path{{{Key: "command"}}}},
		{Name: "note", Class: event.Other},
		{Name: "sh", Class: event.Shell, Command: []tables.Path{{{Key: "cmd"}}, {{Key: "command"}}}},
	},
}

func decodeCall(t *testing.T, tool, input string) event.Call {
	t.Helper()
	surface := tables.Surface{Payload: tables.Payload{
		Tool: []tables.Path{{{Key: "tool"}}}, Input: []tables.Path{{{Key: "in"}}},
	}}
	h := Hook{&sample, &surface, &tables.Event{Native: "Pre", Kind: event.PreToolUse}}
	raw := `{"tool":` + string(jsontext.AppendString(nil, tool)) + `,"in":` + input + `}`
	require.True(t, json.Valid([]byte(raw)), raw)
	return h.Decode(jsontext.Value(raw), false).Call
}

func paths(c event.Call) string {
	var out []string
	for _, t := range c.Targets {
		out = append(out, t.Path)
	}
	return strings.Join(out, " ")
}

func TestFind(t *testing.T) {
	_, err := Find("nobody", "PreToolUse")
	require.ErrorIs(t, err, ErrUnknownHost)
	_, err = Find("claude-code", "pretooluse")
	require.ErrorIs(t, err, ErrUnknownEvent)
	h, err := Find("claude-code", "PreToolUse")
	require.NoError(t, err)
	require.Equal(t, event.PreToolUse, h.Event.Kind)
}

// Surfaces are told by the event's spelling, then by the marker.
func TestSurfaces(t *testing.T) {
	for _, c := range []struct{ native, mark, want string }{
		{"preToolUse", "", "agent"},
		{"preToolUse", "1", "agent"},
		{"PreToolUse", "", "cli-v3"},
		{"PreToolUse", "1", "ide"},
	} {
		t.Run(c.native+c.mark, func(t *testing.T) {
			h := tables.Lookup("kiro")
			require.NotNil(t, h)
			if c.mark != "" {
				t.Setenv(h.Surfaces[0].Env, c.mark)
			}
			got, err := Find("kiro", c.native)
			require.NoError(t, err)
			require.Equal(t, c.want, got.Surface.ID)
		})
	}
}

func TestCalls(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		class       event.Class
		writes      bool
		paths       string
		unread      bool
	}{
		{"edit", `{"file_path":"a.ts"}`, event.Edit, true, "a.ts", false},
		{"edit", `{"file_path":"a.ts","edits":[{"path":"b"},{"path":"c d"},{}]}`, event.Edit, true, "a.ts b c d", false},
		{"edit", `{"edits":[{"path":"b"}]}`, event.Edit, true, "b", false},
		{"edit", `{"file_path":"a","file_path":"b"}`, event.Edit, true, "b", false},
		{"edit", `{"file\u005fpath":"\u002eeslintrc"}`, event.Edit, true, ".eslintrc", false},
		{"edit", `"{\"file_path\":\"in a string\"}"`, event.Edit, true, "in a string", false},
		{"edit", `{"file_path":["a","b"]}`, event.Edit, true, "a b", false},
		// The usual field is missing, but another one is telling.
		{"edit", `{"path":"x"}`, event.Edit, true, "x", false},
		{"bare", `{"file_path":"x"}`, event.Edit, true, "x", false},
		// Nothing to go by.
		{"edit", `{}`, event.Edit, true, "", true},
		{"edit", `null`, event.Edit, true, "", true},
		{"edit", `[]`, event.Edit, true, "", true},
		{"edit", `"text"`, event.Edit, true, "", true},
		{"edit", `{"file_path":""}`, event.Edit, true, "", true},
		{"edit", `{"file_path":7}`, event.Edit, true, "", true},
		{"edit", `{"file_path":{"a":1},"path":"decoy"}`, event.Edit, true, "", true},
		{"edit", `{"file_path":"ok","edits":[{"path":7}]}`, event.Edit, true, "ok", true},
		{"edit", `{"file_path":["ok",7]}`, event.Edit, true, "ok", true},

		{"apply_patch", `{"command":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n+x\n*** End Patch"}`, event.Edit, true, "a b", false},
		{"apply_patch", `{"command":["apply_patch\n","*** Add File: a\n+x"]}`, event.Edit, true, "a", false},
		{"apply_patch", `"*** Add File: a\n+x"`, event.Edit, true, "a", false},
		{"apply_patch", `{"command":"rubbish"}`, event.Edit, true, "", true},
		{"apply_patch", `{"command":1}`, event.Edit, true, "", true},

		{"look", `{"path":".eslintrc"}`, event.Read, false, "", false},
		{"note", `{"path":".eslintrc"}`, event.Other, false, "", false},

		// Tools that no manifest lists.
		{"mcp__fs__write_file", `{"path":"a"}`, event.MCP, true, "a", false},
		{"mcp__fs__move_file", `{"source":"a","destination":"b"}`, event.MCP, true, "b a", false},
		{"mcp__fs__copy_file", `{"source":"a","destination":"b"}`, event.MCP, true, "b", false},
		{"mcp__fs__read_file", `{"path":"a"}`, event.MCP, false, "", false},
		{"mcp__search__write_file", `{"files":[{"path":"a"},{"path":"b"}]}`, event.MCP, true, "a b", false},
		{"mcp__fs__search_and_replace", `{"paths":["a","b"]}`, event.MCP, true, "a b", false},
		{"mcp__fs__get_or_create", `{"file":"a"}`, event.MCP, true, "a", false},
		{"mcp__fs__list_updates", `{"path":"a"}`, event.MCP, false, "", false},
		{"mcp__ide__applyEdit", `{"uri":"file:///w/%2eeslintrc%20x"}`, event.MCP, true, "/w/.eslintrc x", false},
		{"mcp__chat__create_message", `{"text":"hi"}`, event.MCP, true, "", false},
		{"mcp__x__patch", `{"diff":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n"}`, event.MCP, true, "x", false},
		{"mcp__shell__run", `{"command":"ls"}`, event.Shell, false, "", false},
		{"createFile", `{"filePath":"a"}`, event.Write, true, "a", false},
		{"HTTPGet", `{"path":"a"}`, event.Read, false, "", false},
		{"thing", `{"path":"a"}`, event.Other, false, "", false},
		{"", `{"path":"a"}`, event.Other, false, "", false},
	} {
		got := decodeCall(t, c.tool, c.input)
		what := c.tool + " " + c.input
		require.Equal(t, c.class.String(), got.Class.String(), what)
		require.Equal(t, c.writes, got.Writes, what)
		require.Equal(t, c.paths, paths(got), what)
		require.Equal(t, c.unread, got.Unread, what)
	}
	for in, want := range map[string]string{
		`apply_patch <<'E'\n*** Begin Patch\n*** Update File: x\n*** End Patch\nE`:        "x",
		`cd sub && apply_patch <<'E'\n*** Begin Patch\n*** Add File: x\n*** End Patch\nE`: "x",
		`echo apply_patch '\n*** Begin Patch\n*** Add File: x\n'`:                         "",
		`cat notes; apply_patch \"*** Begin Patch\n*** Delete File: a b\n*** End Patch\"`: "a b",
		`git commit -m 'describe apply_patch'`:                                            "",
	} {
		c := decodeCall(t, "sh", `{"command":"`+in+`"}`)
		require.Equal(t, want, paths(c), in)
		require.Equal(t, want != "", c.Writes, in)
		require.False(t, c.Unread)
	}
	require.Equal(t, "ls -l", decodeCall(t, "sh", `{"command":"ls -l"}`).Command)
	require.Equal(t, "bash -c ls", decodeCall(t, "sh", `{"cmd":["bash","-c","ls"]}`).Command)
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"mcp__fs__write_file": "mcp fs write file", "strReplace": "str replace", "HTTPGetURL": "http get url",
		"fs2write": "fs write", "@srv/read-it": "srv read it", "": "", "É": "",
	} {
		require.Equal(t, want, strings.Join(words(in), " "), in)
	}
}

func TestFileURI(t *testing.T) {
	for in, want := range map[string]string{
		"a.ts": "a.ts", "file:///a/b%20c#L1": "/a/b c", "FILE://host/x": "/x", "file:x?y": "x", "file:///a%2": "/a%2", "files/x": "files/x",
		"https://x/biome.json": "", "C://x/biome.json": "C://x/biome.json", "./a://b": "./a://b",
	} {
		require.Equal(t, want, fileURI(in), in)
	}
}

// An event that broke off still tells what came before.
func TestDecodeTruncated(t *testing.T) {
	h, err := Find("claude-code", "PreToolUse")
	require.NoError(t, err)
	e := h.Decode(jsontext.Value(`{"session_id":"s","cwd":"/w","tool_name":"Write","tool_input":{"file_path":"/w/.esl`), true)
	require.True(t, e.Truncated)
	require.Equal(t, "s", e.Session)
	require.Equal(t, "/w", e.Cwd)
	require.Equal(t, "Write", e.Call.Tool)
	require.True(t, e.Call.Unread)
}

func TestNotUser(t *testing.T) {
	h, err := Find("claude-code", "UserPromptSubmit")
	require.NoError(t, err)
	for in, want := range map[string]bool{
		`{"prompt":"fix it"}`: false, `{"prompt":"<task-notification>\n<id>"}`: true, `{"prompt":"\n <task-notification>"}`: true, `{}`: false,
	} {
		require.Equal(t, want, h.Decode(jsontext.Value(in), false).NotUser, in)
	}
}

func TestEncode(t *testing.T) {
	lit := func(s string) []tables.Piece { return []tables.Piece{{Lit: s}} }
	h := Hook{&sample, &sample.Surfaces[1], &tables.Event{
		Native: "Ev\"x",
		Deny: &tables.Form{Stdout: []tables.Piece{
			{Lit: `{"e":"`, Var: tables.Name, JSON: true}, {Lit: `","r":"`, Var: tables.Text, JSON: true}, {Lit: "\"}\n"},
		}},
		Block: &tables.Form{Exit: 2, Stderr: append([]tables.Piece{{Var: tables.Text}}, lit("\n")...), Cap: 20},
	}}
	d := func(v event.Verdict, s string) event.Decision {
		return event.Decision{Verdict: v, Policy: "p", Text: s}
	}

	require.Equal(t, Answer{}, h.Encode(event.Decision{}))
	// There is no form for context, and an ask falls back to a denial.
	require.Equal(t, Answer{}, h.Encode(d(event.Context, "text")))
	require.False(t, h.Says(event.Context))
	require.Equal(t, "{\"e\":\"Ev\\\"x\",\"r\":\"no\\n\\\"q\\\"\"}\n", string(h.Encode(d(event.Ask, "no\n\"q\"")).Stdout))

	a := h.Encode(d(event.Deny, "a\x1b[31m\u202eb\x00"))
	require.Equal(t, "{\"e\":\"Ev\\\"x\",\"r\":\"ab\"}\n", string(a.Stdout))
	require.Empty(t, a.Stderr)
	require.Zero(t, a.Exit)

	a = h.Encode(d(event.Block, strings.Repeat("é", 100)))
	require.Equal(t, 2, a.Exit)
	require.Empty(t, a.Stdout)
	require.Equal(t, strings.Repeat("é", 7)+" [...]\n", string(a.Stderr))
	require.True(t, utf8.Valid(a.Stderr))

	// Never a refusal without a reason.
	require.Equal(t, "BLOCKED by the [...]\n", string(h.Encode(d(event.Block, "\x00")).Stderr))

	seen := d(event.Deny, "no")
	seen.Observed = true
	require.Equal(t, Answer{}, h.Encode(seen))
}

// Whatever a host sends, decoding neither fails nor lets an edit of an unknown
// file pass for a known one, and what a refusal prints is well-formed.
func FuzzDecode(f *testing.F) {
	for i, id := range tables.IDs {
		for _, r := range recorded(f, tables.Lookup(id)) {
			f.Add(byte(i), r.native, r.data, false)
		}
	}
	f.Add(byte(0), "PreToolUse", []byte(`{"tool_name":"Edit","tool_input":{"file_path":[{}]}}`), true)
	f.Fuzz(func(t *testing.T, host byte, native string, data []byte, cut bool) {
		id := tables.IDs[int(host)%len(tables.IDs)]
		h, err := Find(id, native)
		if err != nil {
			return
		}
		in := jsontext.FirstValue(strings.NewReader(string(data)), 1<<16, nil)
		if in.End == jsontext.Malformed {
			return
		}
		e := h.Decode(in.Text, cut)
		c := e.Call
		if tool := h.tool(c.Tool); tool != nil && (tool.Class == event.Write || tool.Class == event.Edit) && c.Writes && !c.Unread && len(c.Targets) == 0 {
			t.Fatalf("an edit without a target passes: %s", in.Text)
		}
		for _, v := range []event.Verdict{event.Context, event.Ask, event.Deny, event.Block} {
			a := h.Encode(event.Decision{Verdict: v, Policy: "p", Text: string(data)})
			if a.Exit == 2 && len(strings.TrimSpace(string(a.Stderr))) == 0 {
				t.Fatal("exit 2 without a reason")
			}
			if out := a.Stdout; len(out) > 0 && out[0] == '{' && h.form(v).Stdout[0].JSON && !json.Valid(out) {
				t.Fatalf("not JSON: %s", out)
			}
		}
	})
}
