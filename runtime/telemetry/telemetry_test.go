package telemetry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/runtime/disk"
	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/settings"
	"github.com/flow-agents/flow-agents/runtime/tables"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

func view(t *testing.T, managed bool) workspace.View {
	t.Helper()
	for _, c := range tables.Channels {
		t.Setenv(c.Override, "")
		os.Unsetenv(c.Override)
	}
	dir := t.TempDir()
	v := workspace.View{Root: filepath.Join(dir, "my project"), Home: filepath.Join(dir, "home", ".flow-agents"), Managed: managed}
	v.Cwd = v.Root
	require.NoError(t, os.MkdirAll(v.Root, 0o755))
	return v
}

func toolEvent(kind event.Kind, id string) *event.Event {
	return &event.Event{
		Host: "claude-code", Native: "N", Kind: kind, Session: "s1", Cwd: "/w", Model: "m", Raw: jsontext.Value(`{"a":"b"}`),
		Call: event.Call{ID: id, Tool: "Edit", Class: event.Edit, Input: jsontext.Value(`{"file_path":"x"}`), Response: jsontext.Value(`"done"`)},
	}
}

func records(t *testing.T, dir string) []map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, File))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	var out []map[string]any
	for line := range bytes.Lines(b) {
		var r map[string]any
		require.NoError(t, json.Unmarshal(line, &r), "%s", line)
		out = append(out, r)
	}
	return out
}

func TestPlaces(t *testing.T) {
	v := workspace.View{Root: "/x/.my repo", Home: "/h/.flow-agents", Managed: true}
	dirs := func(dir string, from settings.Source) string {
		var out []string
		for _, f := range places(v, &settings.Settings{Telemetry: settings.Telemetry{Dir: dir, From: from}}) {
			out = append(out, filepath.ToSlash(filepath.Join(f.Base, f.Path)))
		}
		return strings.Join(out, " ")
	}
	home := "/h/.flow-agents/telemetry/projects/" + projectName(v.Root)
	require.Regexp(t, `/my-repo-[0-9a-f]{8}$`, home)
	require.Equal(t, "/x/.my repo/.telemetry "+home, dirs("", settings.Default))
	require.Equal(t, "/x/.my repo/var/t /x/.my repo/.telemetry "+home, dirs("var/t", settings.Project))
	for _, from := range []settings.Source{settings.User, settings.Environment} {
		require.Equal(t, "/x/.my repo/var/t", dirs("var/t", from))
		require.Equal(t, "/x/t", dirs("../t/.", from))
	}
	abs := filepath.ToSlash(filepath.Join(t.TempDir(), "t"))
	require.Equal(t, abs, dirs(abs+"/.", settings.Environment))

	// Nothing is written into a repository that was not set up.
	v.Managed = false
	require.Equal(t, home, dirs("", settings.Default))
	require.Equal(t, home, dirs("var/t", settings.User))
	require.Equal(t, "/x/.my repo/var/t", dirs("var/t", settings.Environment))
	v.Home = ""
	require.Empty(t, dirs("", settings.Default))
}

// A project can't lead records out of itself, nor turn them off by naming a
// place that is no good.
func TestProjectsPlace(t *testing.T) {
	for what, c := range map[string]struct {
		prepare func(root, out string) error
		dir     string
		want    string
		trouble string
	}{
		"link":         {func(root, out string) error { return os.Symlink(out, filepath.Join(root, "sub")) }, "sub/t", ".telemetry", "sub: is a symbolic link"},
		"git":          {func(root, out string) error { return os.MkdirAll(filepath.Join(root, ".git", "hooks"), 0o755) }, ".git/hooks", ".telemetry", "git's own"},
		"a file":       {func(root, out string) error { return os.WriteFile(filepath.Join(root, "src"), nil, 0o600) }, "src", ".telemetry", "not a folder"},
		"others":       {func(root, out string) error { return os.WriteFile(filepath.Join(root, "x"), nil, 0o600) }, "sub/..", ".telemetry", "holds other files"},
		"in the way":   {func(root, out string) error { return os.Symlink(out, filepath.Join(root, ".telemetry")) }, "", "home", ".telemetry: is a symbolic link"},
		"linked file":  {func(root, out string) error { return linkedFile(root, out) }, "", "home", "full.jsonl: is a symbolic link"},
		"good":         {func(root, out string) error { return nil }, "var/t", "var/t", ""},
		"a pre-made":   {func(root, out string) error { return os.Mkdir(filepath.Join(root, ".telemetry"), 0o755) }, "", ".telemetry", ""},
		"pre-made sub": {func(root, out string) error { return os.MkdirAll(filepath.Join(root, "var", "t"), 0o755) }, "var/t", "var/t", ""},
	} {
		v := view(t, true)
		out := t.TempDir()
		if err := c.prepare(v.Root, out); err != nil {
			t.Skip(err)
		}
		s := &settings.Settings{}
		if c.dir != "" {
			s.Telemetry = settings.Telemetry{Dir: c.dir, From: settings.Project}
		}
		err := Append(v, s, toolEvent(event.PreToolUse, "c"), event.Decision{}, true)
		dir := filepath.Join(v.Root, filepath.FromSlash(c.want))
		if c.want == "home" {
			dir = filepath.Join(v.Home, "telemetry", "projects", projectName(v.Root))
		}
		if c.trouble == "" {
			require.NoError(t, err, what)
		} else {
			require.ErrorContains(t, err, c.trouble, what)
			require.ErrorContains(t, err, "records go to "+dir, what)
		}
		require.Len(t, records(t, dir), 1, what)
		ignore, err := os.ReadFile(filepath.Join(dir, ".gitignore"))
		require.NoError(t, err, what)
		require.Equal(t, "*\n", string(ignore))
		list, err := os.ReadDir(out)
		require.NoError(t, err)
		require.Empty(t, list, what)
	}
}

func linkedFile(root, out string) error {
	if err := os.Mkdir(filepath.Join(root, ".telemetry"), 0o755); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(out, "x"), filepath.Join(root, ".telemetry", File))
}

// The environment's folder may be anywhere, but is not a link.
func TestUsersPlace(t *testing.T) {
	v := view(t, false)
	dir := t.TempDir()
	s := &settings.Settings{Telemetry: settings.Telemetry{Dir: filepath.Join(dir, "a", "b"), From: settings.Environment}}
	require.NoError(t, Append(v, s, toolEvent(event.PreToolUse, "c"), event.Decision{}, true))
	require.Len(t, records(t, s.Telemetry.Dir), 1)
	if os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "link")) == nil {
		s.Telemetry.Dir = filepath.Join(dir, "link")
		require.ErrorContains(t, Append(v, s, toolEvent(event.PreToolUse, "c"), event.Decision{}, true), "is a symbolic link")
		require.NoFileExists(t, filepath.Join(dir, "a", File))
		s.Telemetry.Dir = filepath.Join(dir, "link", "c")
		require.NoError(t, Append(v, s, toolEvent(event.PreToolUse, "c"), event.Decision{}, true))
	}
	require.NoDirExists(t, v.Home)
}

// Ids and names are short lines without control characters or credentials.
func TestLabels(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "claude-opus-4": "claude-opus-4", "a\nb\tc\x00\x1b[31md\u202e": "abcd", "toolu_01A09q90qw90lq917835lq9": "toolu_01A09q90qw90lq917835lq9",
		"task-runner-with-a-long-name-1": "task-runner-with-a-long-name-1", "mcp__risk-2024__x": "mcp__risk-2024__x", "sk-short": "sk-short",
		"5e0a4b3c-5d1f-4f9e-8a51-6d3c2b1a0f9e": "5e0a4b3c-5d1f-4f9e-8a51-6d3c2b1a0f9e", "AKIA": "AKIA", "gpt-5-ghp_": "gpt-5-ghp_",
		"sk-abcd1234efgh": redacted, "x sk-proj-abcdefghijklmnop": redacted, "ghp_abcdefghijklmnopqrst": redacted, "m:AKIAIOSFODNN7EXAMPLE": redacted,
		"s\x00k-ant-api03-abcdefgh": redacted, "-----BEGIN OPENSSH PRIVATE KEY-----": redacted, "github_pat_11ABCDEFG0abcdefgh": redacted,
		"sk-short sk-abcd1234efgh": redacted, "task-1 sk-abcd1234efgh": redacted, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi": redacted,
		strings.Repeat("漢", 100): strings.Repeat("漢", 64) + " [...]",
	} {
		require.Equal(t, want, label(in), "%q", in)
	}
	v := view(t, true)
	e := toolEvent(event.PreToolUse, "id\n"+strings.Repeat("i", 1<<20))
	e.Model, e.Source, e.Session, e.AgentID, e.Call.Tool = "sk-abcd1234efgh", "ghp_abcdefghijklmnopqrst", "AKIAIOSFODNN7EXAMPLE", "-----BEGIN", "Bash sk-abcd1234efgh"
	e.Cwd = "/a  b\n" + strings.Repeat("/é", 4000)
	require.NoError(t, Append(v, &settings.Settings{}, e, event.Decision{}, true))
	r := records(t, filepath.Join(v.Root, ".telemetry"))[0]
	hook, tool := r["hook"].(map[string]any), r["tool"].(map[string]any)
	for _, got := range []any{hook["model"], hook["source"], hook["runtime_session_id"], hook["agent_id"], tool["name"]} {
		require.Equal(t, redacted, got)
	}
	require.Len(t, tool["id"], maxLabel)
	cwd := r["context"].(map[string]any)["cwd"].(string)
	require.True(t, strings.HasPrefix(cwd, "/a  b/é/é"))
	require.LessOrEqual(t, len(cwd), maxCwd)
	require.True(t, utf8.ValidString(cwd))
	// The hash still tells sessions apart.
	other := *e
	other.Session = "AKIAIOSFODNN8EXAMPLE"
	require.NotEqual(t, sessionID(e), sessionID(&other))
}

func TestRecord(t *testing.T) {
	v := view(t, true)
	d := event.Decision{Verdict: event.Deny, Policy: "config-protection", Rule: "r", Text: "why", Observed: true}
	require.NoError(t, Append(v, &settings.Settings{}, toolEvent(event.PreToolUse, "c1"), d, true))
	got := records(t, filepath.Join(v.Root, ".telemetry"))
	require.Len(t, got, 1)
	r := got[0]
	at, err := time.Parse(timeFormat, r["timestamp"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), at, time.Minute)
	require.Regexp(t, `^e-[0-9a-f]{24}$`, r["event_id"])
	require.Regexp(t, `^r-[0-9a-f]{24}$`, r["session_id"])
	delete(r, "timestamp")
	delete(r, "event_id")
	delete(r, "session_id")
	require.Equal(t, map[string]any{
		"schema_version": "0.3.0", "event_type": "tool.invoke",
		"agent":    map[string]any{"runtime": "claude-code"},
		"hook":     map[string]any{"event_name": "N", "canonical_event": "preToolUse", "runtime_session_id": "s1", "model": "m"},
		"context":  map[string]any{"cwd": "/w"},
		"tool":     map[string]any{"name": "Edit", "class": "edit", "id": "c1"},
		"decision": map[string]any{"verdict": "deny", "observed": true, "policy": "config-protection", "rule": "r"},
	}, r)
	if runtime.GOOS != "windows" {
		for name, mode := range map[string]os.FileMode{".telemetry": 0o700, ".telemetry/full.jsonl": 0o600} {
			info, err := os.Stat(filepath.Join(v.Root, name))
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm())
		}
	}
	require.FileExists(t, filepath.Join(v.Root, ".telemetry", ".gitignore"))
}

// Paths are left out where they are, and never made.
func TestRedaction(t *testing.T) {
	const name = "TELEMETRY_CHANNEL_FULL_REDACT"
	for _, c := range []struct {
		set   bool
		value string
		want  string // paths that are there
	}{
		{false, "", "context.cwd tool.name"},
		{true, "", "context.cwd hook.raw_input tool.input tool.name"},
		{true, "tool", "context.cwd hook.raw_input"},
		{true, " context.cwd , tool.input,nope.x", "hook.raw_input tool.name"},
		{true, "too,tool.inp", "context.cwd hook.raw_input tool.input tool.name"},
	} {
		v := view(t, true)
		if c.set {
			t.Setenv(name, c.value)
		}
		require.NoError(t, Append(v, &settings.Settings{}, toolEvent(event.PreToolUse, ""), event.Decision{}, true))
		r := records(t, filepath.Join(v.Root, ".telemetry"))[0]
		var there []string
		for _, p := range []string{"context.cwd", "hook.raw_input", "nope.x", "tool.input", "tool.name", "tool.output", "turn.prompt_text"} {
			object, field, _ := strings.Cut(p, ".")
			if m, ok := r[object].(map[string]any); ok && m[field] != nil {
				there = append(there, p)
			}
		}
		require.Equal(t, c.want, strings.Join(there, " "), "%+v", c)
		require.NotContains(t, r, "turn")
		require.NotContains(t, r, "nope")
	}

	v := view(t, true)
	t.Setenv(name, "")
	e := toolEvent(event.PostToolUse, "")
	require.NoError(t, Append(v, &settings.Settings{}, e, event.Decision{}, true))
	e.Call.Response, e.Call.Error, e.Call.ID = nil, "Exit code 1\n\"x\"", "2"
	require.NoError(t, Append(v, &settings.Settings{}, e, event.Decision{}, true))
	p := &event.Event{Host: "h", Native: "P", Kind: event.UserPromptSubmit, Prompt: "hé \x00\xff"}
	require.NoError(t, Append(v, &settings.Settings{}, p, event.Decision{}, true))
	got := records(t, filepath.Join(v.Root, ".telemetry"))
	require.Equal(t, `"done"`, got[0]["tool"].(map[string]any)["output"])
	require.Equal(t, `{"a":"b"}`, got[0]["hook"].(map[string]any)["raw_input"])
	require.Equal(t, "Exit code 1\n\"x\"", got[1]["tool"].(map[string]any)["output"])
	require.NotContains(t, got[1]["tool"], "input")
	require.Equal(t, map[string]any{"prompt_text": "hé \x00\ufffd", "prompt_length": float64(5)}, got[2]["turn"])
}

func TestTypes(t *testing.T) {
	edit := event.Call{Tool: "Edit", Class: event.Edit}
	task := event.Call{Tool: "Task", Class: event.Subagent}
	for _, c := range []struct {
		e    event.Event
		ends bool
		want string
	}{
		{event.Event{Kind: event.AgentSpawn}, true, "session.start"},
		{event.Event{Kind: event.UserPromptSubmit}, true, "turn.user"},
		{event.Event{Kind: event.UserPromptSubmit, NotUser: true}, true, ""},
		{event.Event{Kind: event.PreToolUse, Call: edit}, true, "tool.invoke"},
		{event.Event{Kind: event.PermissionRequest, Call: edit}, true, "tool.permission_request"},
		{event.Event{Kind: event.PostToolUse, Call: edit}, true, "tool.result"},
		{event.Event{Kind: event.SubagentStart}, true, "agent.delegate"},
		{event.Event{Kind: event.SubagentStop}, true, "agent.delegate.result"},
		{event.Event{Kind: event.SessionEnd}, true, "session.end"},
		// Where no event tells the end of a session, a stop is all there is.
		{event.Event{Kind: event.Stop}, true, ""},
		{event.Event{Kind: event.Stop}, false, "session.end"},
		{event.Event{Kind: event.Notification}, true, ""},
		{event.Event{Kind: event.PreToolUse, Call: edit, Also: []event.Kind{event.SubagentStart}}, true, "tool.invoke"},
		{event.Event{Kind: event.PreToolUse, Call: task, Also: []event.Kind{event.SubagentStart}}, true, "tool.invoke agent.delegate"},
		{event.Event{Kind: event.PostToolUse, Call: task, Also: []event.Kind{event.SubagentStop}}, true, "tool.result agent.delegate.result"},
		{event.Event{Kind: event.UserPromptSubmit, Also: []event.Kind{event.AgentSpawn}}, true, "turn.user session.start"},
	} {
		require.Equal(t, c.want, strings.Join(types(&c.e, c.ends), " "), "%+v", c)
	}
}

func TestSessionID(t *testing.T) {
	a := &event.Event{Host: "a", Session: "s"}
	require.Equal(t, sessionID(a), sessionID(&event.Event{Host: "a", Session: "s", Cwd: "/elsewhere"}))
	require.NotEqual(t, sessionID(a), sessionID(&event.Event{Host: "b", Session: "s"}))
	none := &event.Event{Host: "a", Cwd: "/w"}
	require.Equal(t, sessionID(none), sessionID(&event.Event{Host: "a", Cwd: "/w"}))
	require.NotEqual(t, sessionID(none), sessionID(&event.Event{Host: "a", Cwd: "/x"}))
}

// Two registrations of the hook yield one record.
func TestOnce(t *testing.T) {
	v := view(t, true)
	dir := filepath.Join(v.Root, ".telemetry")
	s := &settings.Settings{}
	add := func(e *event.Event) int {
		require.NoError(t, Append(v, s, e, event.Decision{}, true))
		return len(records(t, dir))
	}
	require.Equal(t, 1, add(toolEvent(event.PreToolUse, "c1")))
	require.Equal(t, 1, add(toolEvent(event.PreToolUse, "c1")))
	require.Equal(t, 2, add(toolEvent(event.PreToolUse, "c2")))
	require.Equal(t, 3, add(toolEvent(event.PostToolUse, "c1")))
	// Without a call id equal content is the same event, for a moment.
	require.Equal(t, 4, add(toolEvent(event.PreToolUse, "")))
	require.Equal(t, 4, add(toolEvent(event.PreToolUse, "")))
	other := toolEvent(event.PreToolUse, "")
	other.Call.Input = jsontext.Value(`{"file_path":"y"}`)
	require.Equal(t, 5, add(other))

	// The same again later is another event.
	path := filepath.Join(dir, File)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	aged := b
	for _, r := range records(t, dir) {
		at, err := time.Parse(timeFormat, r["timestamp"].(string))
		require.NoError(t, err)
		aged = bytes.ReplaceAll(aged, []byte(r["timestamp"].(string)), []byte(at.Add(-3*time.Second).Format(timeFormat)))
	}
	require.NoError(t, os.WriteFile(path, aged, 0o600))
	require.Equal(t, 5, add(toolEvent(event.PreToolUse, "c1")))
	require.Equal(t, 6, add(toolEvent(event.PreToolUse, "")))
	seen := map[any]bool{}
	for _, r := range records(t, dir) {
		seen[r["event_id"]] = true
	}
	require.Len(t, seen, 6)
}

// Other records between two of one event, and long ones, hide nothing.
func TestOnceAmongMany(t *testing.T) {
	v := view(t, true)
	s := &settings.Settings{}
	dir := filepath.Join(v.Root, ".telemetry")
	add := func(e *event.Event) int {
		require.NoError(t, Append(v, s, e, event.Decision{}, true))
		return len(records(t, dir))
	}
	first := toolEvent(event.PreToolUse, "first")
	require.Equal(t, 1, add(first))
	for i := range 100 {
		add(toolEvent(event.PreToolUse, fmt.Sprint("c", i)))
	}
	require.Equal(t, 101, add(first))

	// Lines longer than what is looked at first, and than all of it.
	t.Setenv("TELEMETRY_CHANNEL_FULL_REDACT", "")
	for i, size := range []int{20 << 10, 300 << 10, 2 << 20} {
		e := toolEvent(event.PreToolUse, fmt.Sprint("long", i))
		e.Call.Input = jsontext.Value(`"` + strings.Repeat("x", size) + `"`)
		require.Equal(t, 102+i, add(e))
		require.Equal(t, 102+i, add(e))
	}
}

func tail(s string) disk.Tail { return disk.Tail{ReaderAt: strings.NewReader(s), Size: int64(len(s))} }

func TestWindow(t *testing.T) {
	now := time.Now()
	line := func(age time.Duration, key string) string {
		return `{"schema_version":"0.3.0","timestamp":"` + now.Add(-age).UTC().Format(timeFormat) + `","event_id":"` + key + `00","x":"` + strings.Repeat("x", 300) + `"}` + "\n"
	}
	for text, want := range map[string]bool{
		"": false, "\n": false, "x": false,
		line(0, "k"): true,
		line(0, "k") + line(0, "a") + line(0, "b"):   true,
		line(time.Minute, "k"):                       false,
		line(time.Minute, "a") + line(0, "k"):        true,
		line(0, "a") + line(time.Minute, "k") + "\n": false,
		// Half a line is not a record, nor is anything else.
		strings.TrimSuffix(line(0, "k"), "\n"): false,
		line(0, "k") + "torn\n":                true,
		line(0, "k") + "torn":                  true,
		line(0, "k") + `{"schema_version":"0.3.0","timestamp":"yesterday","event_id":"k` + "\n": true,
		`{"x":"` + line(0, "k"): false,
		// A wrong clock's record says nothing.
		line(-time.Hour, "k"):                false,
		line(0, "k") + line(-time.Hour, "a"): true,
		// Behind an old one, further back than the first piece, nothing is new.
		line(0, "k") + strings.Repeat(line(0, "b"), 40) + line(time.Minute, "a") + line(0, "b"): false,
		// One line longer than everything that is looked at.
		line(0, "k") + strings.Repeat("x", lookBack+piece) + "\n": true,
		line(0, "k") + strings.Repeat("x", longest+piece) + "\n":  false,
	} {
		require.Equal(t, want, within(now, time.Minute).holds(tail(text), "k"), "%.300q", text)
	}
	// Wherever the pieces meet.
	for n := range 2*piece + 2*header {
		text := line(0, "a") + line(0, "k") + strings.Repeat("x", n)
		require.True(t, within(now, time.Minute).holds(tail(text), "k"), n)
		if n%7 == 0 {
			text = line(0, "a") + strings.TrimSuffix(line(0, "k"), "\n") + strings.Repeat("x", n)
			require.False(t, within(now, time.Minute).holds(tail(text), "k"), n)
			require.True(t, within(now, time.Minute).holds(tail(text+"\n"), "k"), n)
		}
	}
	require.False(t, within(now, time.Minute).holds(tail(line(0, "k")+strings.Repeat(line(0, "a"), lookBack/300)), "k"))
}

func TestNowhere(t *testing.T) {
	v := view(t, true)
	require.NoError(t, Append(v, &settings.Settings{Telemetry: settings.Telemetry{Off: true}}, toolEvent(event.PreToolUse, ""), event.Decision{}, true))
	require.NoDirExists(t, filepath.Join(v.Root, ".telemetry"))
	require.NoError(t, Append(v, &settings.Settings{}, &event.Event{Kind: event.Notification}, event.Decision{}, true))
	require.NoDirExists(t, filepath.Join(v.Root, ".telemetry"))

	// A file where the folder should be.
	require.NoError(t, os.WriteFile(filepath.Join(v.Root, ".telemetry"), nil, 0o600))
	err := Append(v, &settings.Settings{}, toolEvent(event.PreToolUse, ""), event.Decision{}, true)
	require.ErrorContains(t, err, "telemetry: ")
	v.Managed, v.Home = false, ""
	require.Error(t, Append(v, &settings.Settings{}, toolEvent(event.PreToolUse, ""), event.Decision{}, true))
}

func FuzzRecord(f *testing.F) {
	f.Add("Edit", "id", "s", "text", "{}")
	f.Add("sk-abcd1234efgh", "x ghp_abcdefghijklmnopqrst", "\u202eAKIAIOSFODNN7EXAMPLE", "p", "{}")
	f.Add("\x00", "\"", "\xff", "\u2028", `{"a":"\ud800"}`)
	f.Fuzz(func(t *testing.T, tool, id, session, prompt, input string) {
		for _, k := range []event.Kind{event.PreToolUse, event.PostToolUse, event.UserPromptSubmit} {
			e := &event.Event{Host: "h", Native: "N", Kind: k, Session: session, Prompt: prompt, Cwd: prompt, Raw: jsontext.Value(input)}
			e.Call = event.Call{Tool: tool, ID: id, Input: jsontext.Value(input), Error: prompt}
			now := time.Now()
			key := eventKey("x", e)
			line := record(nil, "x", eventID(key, now), now, e, event.Decision{}, nil)
			if bytes.Count(line, []byte("\n")) != 1 || !json.Valid(line) {
				t.Fatalf("%q", line)
			}
			w := within(now, sameContent)
			if !w.holds(tail("torn\n"+string(line)), key) {
				t.Fatalf("not found again: %q", line)
			}
			if w.holds(tail(string(line[:len(line)-1])), key) {
				t.Fatalf("half a line is found: %q", line)
			}
			for _, got := range []string{label(tool), label(id), label(session)} {
				if len(got) > maxLabel || secret(got) || !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
					t.Fatalf("%q", got)
				}
			}
		}
	})
}
