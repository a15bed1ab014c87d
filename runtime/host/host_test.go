package host

import (
	"encoding/json"
	"slices"
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
		{Name: "patch_sh", Class: event.Shell, Command: []tables.Path{{{Key: "cmd"}}}, ShellPatch: true},
		{Name: "sh", Class: event.Shell, Command: []tables.Path{{{Key: "cmd"}}, {{Key: "command"}}}},
	},
}

func decodeCall(t *testing.T, tool, input string) event.Call {
	t.Helper()
	return decodeOn(t, &sample, tool, input)
}

func decodeOn(t *testing.T, host *tables.Host, tool, input string) event.Call {
	t.Helper()
	surface := tables.Surface{Payload: tables.Payload{
		Tool: []tables.Path{{{Key: "tool"}}}, Input: []tables.Path{{{Key: "in"}}},
	}}
	h := Hook{host, &surface, &tables.Event{Native: "Pre", Kind: event.PreToolUse}}
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
		// What only looks like a path is judged, but is no answer to which file.
		{"edit", `{"foo":"a.ts","new_string":"b.ts"}`, event.Edit, true, "a.ts", true},
		{"edit", `{"files":{"a.ts":{"content":"x"}}}`, event.Edit, true, "a.ts", false},
		{"edit", `{"file_path":" ","foo":"a.ts"}`, event.Edit, true, "a.ts", true},
		{"edit", `{"foo":{"a.ts":1}}`, event.Edit, true, "a.ts", true},

		{"apply_patch", `{"command":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n+x\n*** End Patch"}`, event.Edit, true, "a b", false},
		{"apply_patch", `{"command":["apply_patch\n","*** Add File: a\n+x"]}`, event.Edit, true, "a", false},
		{"apply_patch", `"*** Add File: a\n+x"`, event.Edit, true, "a", false},
		{"apply_patch", `{"command":"rubbish"}`, event.Edit, true, "", true},
		{"apply_patch", `{"command":1}`, event.Edit, true, "", true},
		{"apply_patch", `{"input":"*** Add File: a\n+x"}`, event.Edit, true, "a", false},

		{"look", `{"path":".eslintrc"}`, event.Read, false, "", false},
		{"note", `{"path":".eslintrc"}`, event.Other, false, "", false},

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
	require.Equal(t, "ls -l", decodeCall(t, "sh", `{"command":"ls -l"}`).Command)
	require.Equal(t, "bash -c ls", decodeCall(t, "sh", `{"cmd":["bash","-c","ls"]}`).Command)
}

// Tools that no manifest lists, by name and input: the files that they are
// taken to write, or "-" for one that writes none.
func TestUnlisted(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"mcp__fs__write_file", `{"path":"a"}`, "a"},
		{"mcp__fs__move_file", `{"source":"a","destination":"b"}`, "a b"},
		{"mcp__fs__copy_file", `{"source":"a","destination":"b"}`, "b"},
		{"mcp__fs__cp", `{"src":"a","dst":"b"}`, "b"},
		{"mcp__fs__mv", `{"src":"a","dst":"b"}`, "a b"},
		{"mcp__fs__rename", `{"old_path":"a","new_name":"b"}`, "a b"},
		{"mcp__fs__move_file", `{"from":"x","to":"biome.json"}`, "x biome.json"},
		{"mcp__fs__delete", `{"source":"a"}`, "a"},
		{"mcp__fs__read_file", `{"path":"a"}`, "-"},
		{"mcp__search__write_file", `{"files":[{"path":"a"},{"path":"b"}]}`, "a b"},
		{"mcp__fs__search_and_replace", `{"paths":["a","b"]}`, "a b"},
		{"mcp__fs__find_replace", `{"file":"a"}`, "a"},
		{"mcp__fs__get_or_create", `{"file":"a"}`, "a"},
		{"mcp__ide__applyEdit", `{"uri":"file:///w/%2eeslintrc%20x"}`, "file:///w/%2eeslintrc%20x /w/.eslintrc x"},
		{"mcp__x__patch", `{"diff":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n"}`, "x"},

		// The first verb of the tool's own part decides.
		{"mcp__fs__update_info", `{"path":"a"}`, "a"},
		{"mcp__fs__write_list", `{"path":"a"}`, "a"},
		{"mcp__fs__apply_diff", `{"path":"a"}`, "a"},
		{"mcp__fs__write_back", `{"path":"a"}`, "a"},
		{"mcp__fs__set_get", `{"path":"a"}`, "a"},
		{"mcp__fs__diff_apply", `{"path":"a"}`, "a"},
		{"mcp__fs__list_updates", `{"path":"a"}`, "-"},
		{"mcp__fs__list_edit", `{"path":"a"}`, "-"},
		{"mcp__git__git_diff", `{"path":"a"}`, "-"},
		{"mcp__fs__validate_patch", `{"path":"a","patch":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n"}`, "-"},
		{"mcp__fs__preview_edit", `{"path":"a","new_text":"x"}`, "-"},
		{"mcp__fs__view_and_edit", `{"path":"a"}`, "a"},
		// What the server is called never does.
		{"mcp__text-edit__open", `{"path":"a"}`, "-"},
		{"mcp__text-edit__thing", `{"path":"a"}`, "-"},
		{"mcp__write__read", `{"path":"a"}`, "-"},
		{"mcp__viewer__edit", `{"path":"a"}`, "a"},
		{"@patch/show", `{"path":"a"}`, "-"},
		{"@viewer/edit", `{"path":"a"}`, "a"},
		// A gateway's tool has the name of a server in its own.
		{"mcp__gate__fs__write_file", `{"path":"a"}`, "a"},
		{"mcp__gate__text-edit__open", `{"path":"a"}`, "-"},
		{"mcp__gate__delete__file", `{"path":"a"}`, "a"},
		{"write__file", `{"path":"a"}`, "-"},
		// All the verbs.
		{"mcp__x__set_config", `{"file":"a"}`, "a"}, {"mcp__x__add_rule", `{"file":"a"}`, "a"}, {"mcp__x__push_files", `{"files":[{"path":"a"}]}`, "a"},
		{"mcp__x__change", `{"file":"a"}`, "a"}, {"mcp__x__prepend", `{"file":"a"}`, "a"}, {"mcp__x__formatDocument", `{"uri":"a"}`, "a"},
		{"mcp__x__generate", `{"output":"a"}`, "a"}, {"mcp__x__restore", `{"file":"a"}`, "a"}, {"mcp__x__revert", `{"file":"a"}`, "a"},
		{"mcp__x__upload", `{"file":"a"}`, "a"}, {"mcp__x__download", `{"url":"https://x/y.json","path":"a"}`, "a"}, {"mcp__x__rm", `{"file":"a"}`, "a"},
		{"mcp__x__unlink", `{"file":"a"}`, "a"}, {"mcp__x__symlink", `{"target":"a"}`, "a"}, {"mcp__x__link", `{"target":"a"}`, "a"},
		{"mcp__x__multiedit", `{"file":"a"}`, "a"}, {"mcp__x__writefile", `{"file":"a"}`, "a"}, {"mcp__x__deletefiles", `{"files":["a"]}`, "a"},
		{"mcp__x__readfile", `{"file":"a","content":"x"}`, "-"},
		// Without a verb the input tells.
		{"mcp__x__file", `{"path":"a","content":"x"}`, "a"},
		{"mcp__x__text_editor", `{"command":"create","path":"a"}`, "a"},
		{"mcp__x__text_editor", `{"command":"view","path":"a"}`, "-"},
		{"mcp__x__text_editor", `{"command":"undo","path":"a","new_str":"x"}`, "a"},
		{"mcp__x__run", `{"command":"rm -rf a"}`, "-"},
		{"mcp__lint__eslint", `{"path":"a","text":"x"}`, "-"},

		// What is written is no file, so files are only mentioned.
		{"mcp__gh__add_comment", `{"path":".eslintrc.json","body":"x"}`, "-"},
		{"mcp__dbg__set_breakpoint", `{"file":"a"}`, "-"},
		{"mcp__dbg__set_breakpoint_in_file", `{"file":"a"}`, "-"},
		{"mcp__gh__create_pull_request_review_comment", `{"path":".eslintrc.json"}`, "-"},
		{"mcp__zip__create_archive", `{"files":["a","b"]}`, "-"},
		{"mcp__zip__add_files_to_archive", `{"files":["a","b"]}`, "-"},
		{"mcp__x__update_index", `{"path":"a"}`, "-"},
		{"mcp__x__add_file_to_context", `{"path":"a"}`, "-"},
		{"mcp__x__write_file_summary", `{"path":"a"}`, "-"},
		{"mcp__chat__create_message", `{"text":"hi"}`, "-"},
		{"mcp__mail__send_mail", `{"content":"hi","attachments":["biome.json"]}`, "-"},
		{"mcp__gh__add_comment_to_pending_review", `{"path":"biome.json"}`, "-"},
		{"mcp__memory__create_entities", `{"entities":[{"name":"biome.json"}]}`, "-"},
		{"mcp__todo__task_update", `{"file":"a"}`, "-"},
		{"mcp__git__git_add", `{"files":["biome.json"]}`, "-"},
		{"git_git_add", `{"files":["biome.json"]}`, "-"},
		{"mcp__ide__set_active_file", `{"path":"a"}`, "-"},
		// But here they are written.
		{"mcp__x__edit_task_file", `{"path":"a"}`, "a"},
		{"mcp__x__save_summary_to_file", `{"path":"a"}`, "a"},
		{"mcp__x__add_comment_to_file", `{"path":"a"}`, "a"},
		{"mcp__x__delete_file_from_index", `{"path":"a"}`, "a"},
		{"mcp__x__move_file_to_archive", `{"path":"a"}`, "a"},
		{"mcp__gh__create_or_update_file", `{"path":"a"}`, "a"},
		{"mcp__gh__push_files_to_branch", `{"files":[{"path":"a","content":"x"}]}`, "a"},
		{"task-master_write", `{"path":"a"}`, "a"},

		// Told only to look.
		{"str_replace_based_edit_tool", `{"command":"view","path":"a"}`, "-"},
		{"str_replace_based_edit_tool", `{"command":"view","path":"a","view_range":[1,2]}`, "-"},
		{"str_replace_based_edit_tool", `{"command":"create","path":"a","file_text":"x"}`, "a"},
		{"str_replace_based_edit_tool", `{"command":"view","path":"a","new_str":"x"}`, "a"},
		{"str_replace_based_edit_tool", `{"path":"a"}`, "a"},
		{"mcp__fs__edit_file", `{"path":"a","dryRun":true,"edits":[{"oldText":"a","newText":"b"}]}`, "-"},
		{"mcp__fs__edit_file", `{"path":"a","dry_run":true}`, "-"},
		{"mcp__fs__edit_file", `{"path":"a","dryRun":false}`, "a"},
		{"mcp__fs__edit_file", `{"path":"a","dryRun":"true"}`, "a"},
		{"mcp__fs__delete_file", `{"path":"a","dryRun":true}`, "a"},
		{"mcp__fs__write_file", `{"path":"a","mode":"read"}`, "a"},

		// Every field that may hold a path.
		{"mcp__x__write", `{"fileName":"a","to":"b","dst":"c","destination_path":"d","destinationPath":"e"}`, "a b c d e"},
		{"mcp__x__write", `{"target_path":"a","targetPath":"b","pathInProject":"c","file_paths":["d"],"filePaths":["e"]}`, "a b c d e"},
		{"mcp__x__write", `{"output_path":"a","full_path":"b","changes":[{"path":"c"}],"operations":[{"file_path":"d"}]}`, "a b c d"},
		{"mcp__x__edit", `{"edits":[{"filePath":"a"},{"filePath":"b"}]}`, "a b"},
		{"mcp__x__write", `{"files":[{"name":"a.json"}]}`, "a.json"},
		{"mcp__x__write", `{"files":{"biome.json":{"content":"x"},"shellcheckrc":"x"}}`, "biome.json shellcheckrc"},
		{"mcp__x__write", `{"whatever":{"sub/x":1}}`, "sub/x"},
		{"mcp__x__write", `{"anything":"biome.json","flag":true,"line":7}`, "biome.json"},
		{"mcp__x__write", `{"path":"with blanks/a"}`, "with blanks/a"},
		{"mcp__x__write", `{"args":{"options":[{"file":"a"}]}}`, "a"},
		{"mcp__lsp__apply_edit", `{"edit":{"changes":{"file:///w/a%20b":[{"newText":"biome.json"}]}}}`, "file:///w/a%20b /w/a b"},
		{"mcp__lsp__apply_edit", `{"edit":{"documentChanges":[{"textDocument":{"uri":"file:///w/a"}}]}}`, "file:///w/a /w/a"},
		// And those that hold something else.
		{"mcp__x__write", `{"path":"a","content":"biome.json","contents":{"path":"b"},"new_string":"c.x","old_str":"d.x","code":"e.x"}`, "a"},
		{"mcp__x__write", `{"path":"a","commit_message":"x/biome.json","description":"biome.json","instructions":"see biome.json"}`, "a"},
		{"mcp__x__write", `{"path":"a","reasoning":"move it to biome.json","url":"https://x/biome.json","link":"https://x/y"}`, "a"},
		{"mcp__x__replace_in_file", `{"path":"a","search":"biome.json","replace":"biome.jsonc"}`, "a"},
		{"mcp__x__create_from_template", `{"source":"biome.json","path":"a"}`, "a"},
		{"mcp__x__write", `{"path":"a","content":"*** Begin Patch\n*** Update File: biome.json\n"}`, "a"},
		// Patches, wherever they are.
		{"mcp__x__apply", `{"text":"*** Begin Patch\n*** Update File: biome.json\n"}`, "biome.json"},
		{"mcp__x__apply_patch", `{"content":"--- x\n+++ x\n@@ -1 +1 @@\n"}`, "x"},
		{"mcp__x__edit", `{"changes":"--- x\n+++ x\n@@ -1 +1 @@\n"}`, "x"},
		{"mcp__x__edit", `{"patch_text":"*** Delete File: x"}`, "x"},
		{"mcp__x__edit", `"*** Delete File: x"`, "x"},
		{"mcp__x__edit", `"{\"path\":\"x\"}"`, "x"},
	} {
		got := decodeCall(t, c.tool, c.input)
		want, writes := c.want, c.want != "-"
		if !writes {
			want = ""
		}
		require.Equal(t, writes, got.Writes, "%s %s", c.tool, c.input)
		require.Equal(t, want, paths(got), "%s %s", c.tool, c.input)
		require.False(t, got.Unread)
	}
}

// A call that names too many files, or hides them too deep, is not read.
func TestBounds(t *testing.T) {
	many := strings.Repeat(`"x",`, event.MaxTargets) + `"y"`
	patch := `"` + strings.Repeat(`*** Delete File: x\n`, event.MaxTargets+1) + `"`
	nest := func(n int) string { return strings.Repeat(`{"a":`, n) + `{"path":"p"}` + strings.Repeat("}", n) }
	for _, c := range []struct {
		tool, input string
		unread      bool
	}{
		{"edit", `{"file_path":[` + many + `]}`, true},
		{"edit", `{"file_path":[` + many[4:] + `]}`, false},
		{"apply_patch", `{"command":` + patch + `}`, true},
		{"patch_sh", `{"cmd":"apply_patch *** Begin Patch\n` + patch[1:] + `}`, true},
		{"mcp__x__write", `{"files":[` + many + `]}`, true},
		{"mcp__x__write", `{"words":[` + strings.ReplaceAll(many, "x", "x.y") + `,"x.y"]}`, true},
		{"mcp__x__write", `{"words":[` + many + `]}`, false},
		{"mcp__x__write", `{"path":"a","content":[` + many + `]}`, false},
		{"mcp__x__write", nest(maxNesting), true},
		{"mcp__x__write", nest(maxNesting - 1), false},
		{"mcp__x__read", nest(maxNesting), false},
	} {
		got := decodeCall(t, c.tool, c.input)
		require.Equal(t, c.unread, got.Unread, "%s %.60s", c.tool, c.input)
		require.LessOrEqual(t, len(got.Targets), event.MaxTargets+2)
	}
	// Nested deeper than JSON is checked, the input is looked into all the same.
	deep := decodeCall(t, "edit", `{"x":`+nest(9000)+`,"file_path":"a"}`)
	require.Equal(t, "a", paths(deep))
}

// A command carries a patch only on a host whose shell applies it.
func TestShellPatch(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: x\n*** End Patch\n"
	for in, want := range map[string]string{
		"apply_patch <<'E'\n" + patch + "E":                                                    "x",
		"cd sub && apply_patch <<'E'\n" + patch + "E":                                          "x",
		"applypatch <<'E'\n" + patch + "E":                                                     "x",
		"A=1 B=2 apply_patch <<'E'\n" + patch + "E":                                            "x",
		"command apply_patch <<'E'\n" + patch + "E":                                            "x",
		"timeout 5 apply_patch <<'E'\n" + patch + "E":                                          "x",
		"{ apply_patch <<'E'\n" + patch + "E\n}":                                               "x",
		"if true; then apply_patch <<'E'\n" + patch + "E\nfi":                                  "x",
		"bash -lc \"apply_patch <<'E'\n" + patch + "E\"":                                       "x",
		"bash -c 'apply_patch \"" + patch + "\"'":                                              "x",
		"printf '" + patch + "' | apply_patch":                                                 "x",
		"/usr/local/bin/apply_patch <<'E'\n" + patch + "E":                                     "x",
		"\"apply_patch\" <<'E'\n" + patch + "E":                                                "x",
		"apply_patch.bat <<'E'\n" + patch + "E":                                                "x",
		"printf '*** Begin Patch\\n*** Update File: x\\n*** End Patch' | apply_patch":          "x",
		"apply_patch <<-E\n\t*** Begin Patch\n\t*** Update File: x\n\t@@\n\t*** Add File: y\n": "x x y",
		"cat notes; apply_patch \"*** Begin Patch\n*** Delete File: a b\n*** End Patch\"":      "a b",
		// No patch, or nobody to apply it.
		"git commit -m 'describe apply_patch'":                           "",
		"cat > AGENTS.md <<'E'\n" + patch + "E":                          "",
		"cat > doc/my_apply_patch.md <<'E'\n" + patch + "E":              "",
		"cat > doc/apply_patches <<'E'\n" + patch + "E":                  "",
		"git apply <<'E'\n--- a/x\n+++ b/x\n@@ -1 +1 @@\napply_patch\nE": "",
	} {
		input := `":` + string(jsontext.AppendString(nil, in)) + `}`
		c := decodeCall(t, "patch_sh", `{"cmd`+input)
		require.Equal(t, event.Shell, c.Class)
		require.Equal(t, want, paths(c), in)
		require.Equal(t, want != "", c.Writes, in)
		require.False(t, c.Unread)
		require.False(t, decodeCall(t, "sh", `{"cmd`+input).Writes, in)
	}
}

// Both readings of a path count: as it stands, and as the host opens it.
func TestPathSyntax(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	t.Setenv("USERPROFILE", "/home/me")
	claude := []tables.PathSyntax{tables.Trim, tables.Tilde}
	pi := []tables.PathSyntax{tables.Spaces, tables.At, tables.Tilde, tables.FileURL}
	for _, c := range []struct {
		syntax   []tables.PathSyntax
		in, want string
	}{
		{nil, "@a", "@a"}, {nil, "~/a", "~/a"}, {nil, " a", " a"}, {nil, "file:///a", "file:///a"},
		{claude, "~/a", "~/a|/home/me/a"}, {claude, "~", "~|/home/me"}, {claude, " \n~/a\t", " \n~/a\t|/home/me/a"}, {claude, " a ", " a |a"},
		{claude, "a", "a"}, {claude, "~a", "~a"}, {claude, "a/~/b", "a/~/b"}, {claude, "@a", "@a"}, {claude, "file:///a", "file:///a"},
		{pi, "@a", "@a|a"}, {pi, "@@a", "@@a|@a"}, {pi, "@~/a", "@~/a|/home/me/a"}, {pi, "file:///w/%61", "file:///w/%61|/w/a"},
		{pi, "@file:///w/a%2f", "@file:///w/a%2f|/w/a/"}, {pi, "x\u00a0y", "x\u00a0y|x y"}, {pi, " a", " a"}, {pi, "https://x/a", "https://x/a"},
	} {
		host := sample
		host.PathSyntax = c.syntax
		got := decodeOn(t, &host, "edit", `{"file_path":`+string(jsontext.AppendString(nil, c.in))+`}`)
		require.Equal(t, c.want, strings.ReplaceAll(join(got), "\x00", "|"), "%v %q", c.syntax, c.in)
	}
	// Nobody knows how a server reads a path.
	require.Equal(t, "~/a|/home/me/a", strings.ReplaceAll(join(decodeCall(t, "mcp__x__write", `{"path":"~/a"}`)), "\x00", "|"))
}

func join(c event.Call) string {
	var out []string
	for _, t := range c.Targets {
		out = append(out, t.Path)
	}
	return strings.Join(out, "\x00")
}

// What the manifests say of the real hosts.
func TestPathSyntaxOfHosts(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	t.Setenv("USERPROFILE", "/home/me")
	for _, c := range []struct{ id, native, tool, field, in, want string }{
		{"claude-code", "PreToolUse", "Write", "file_path", " ~/a ", " ~/a |/home/me/a"},
		{"claude-code", "PreToolUse", "Write", "file_path", "@a", "@a"},
		{"pi", "tool_call", "write", "path", "@~/a", "@~/a|/home/me/a"},
		{"pi", "tool_call", "edit", "path", "file:///a", "file:///a|/a"},
		{"kiro", "preToolUse", "fs_write", "path", "~/a", "~/a|/home/me/a"},
		{"opencode", "tool.execute.before", "write", "filePath", "~/a", "~/a"},
	} {
		h, err := Find(c.id, c.native)
		require.NoError(t, err)
		raw := `{"tool_name":"` + c.tool + `","tool_input":{"` + c.field + `":"` + c.in + `"}}`
		got := h.Decode(jsontext.Value(raw), false).Call
		require.Equal(t, c.want, strings.ReplaceAll(join(got), "\x00", "|"), raw)
	}
	// A heredoc is a patch on one host, and a text on another.
	const command = `apply_patch <<E\n*** Begin Patch\n*** Update File: biome.json\nE`
	for id, writes := range map[string]bool{"codex": true, "claude-code": false} {
		h, err := Find(id, "PreToolUse")
		require.NoError(t, err)
		got := h.Decode(jsontext.Value(`{"tool_name":"Bash","tool_input":{"command":"`+command+`"}}`), false).Call
		require.Equal(t, writes, got.Writes, id)
	}
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
		"https://x/biome.json": "", "https://../biome.json": "https://../biome.json", "ab://../x": "ab://../x", "file://../x": "/x", "C://x/biome.json": "C://x/biome.json", "./a://b": "./a://b",
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

// Whatever else the input of a tool that writes holds, the file in a field of
// that name is found, and the search ends.
func FuzzSearch(f *testing.F) {
	f.Add("write_file", []byte(`{"a":[{"b":"c/d"}],"content":"x"}`))
	f.Add("multi__edit", []byte(`{"files":{"x.y":{"to":"*** Begin Patch\n*** Delete File: z"}},"from":"~/q","uri":"file:///%41"}`))
	f.Add("delete_comment_from_file", []byte(`{"edits":[[[{"patch":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n"}]]]}`))
	f.Fuzz(func(t *testing.T, tool string, data []byte) {
		_, v := unlisted(tool, jsontext.Trim(data))
		if v.silent() && v.at >= 0 {
			t.Fatalf("%q has a verb that says nothing", tool)
		}
		if !json.Valid(data) || jsontext.Trim(data).Kind() != '{' {
			return
		}
		in := jsontext.Trim(data)
		comma := ","
		if len(in.Object(nil)) == 0 {
			comma = ""
		}
		input := append(append([]byte(nil), in[:len(in)-1]...), comma+`"file_path":"\u002eeslintrc.json"}`...)
		c := event.Call{Tool: "mcp__" + strings.ReplaceAll(tool, "/", "") + "__write_file", Input: input}
		(Hook{Host: &sample}).classify(&c)
		found := slices.ContainsFunc(c.Targets, func(x event.Target) bool { return x.Path == ".eslintrc.json" })
		if !c.Writes || !found && !c.Unread {
			t.Fatalf("%s: %+v", input, c)
		}
	})
}
