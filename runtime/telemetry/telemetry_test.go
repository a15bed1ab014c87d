package telemetry

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

func TestDir(t *testing.T) {
	v := workspace.View{Root: "/x/.my repo", Home: "/h/.flow-agents", Managed: true}
	none := &settings.Settings{}
	require.Equal(t, filepath.FromSlash("/x/.my repo/.telemetry"), Dir(v, none))
	v.Managed = false
	// Nothing is written into a repository that was not set up.
	require.Regexp(t, `^/h/\.flow-agents/telemetry/projects/my-repo-[0-9a-f]{8}$`, filepath.ToSlash(Dir(v, none)))
	v.Home = ""
	require.Empty(t, Dir(v, none))
	s := &settings.Settings{Telemetry: settings.Telemetry{Dir: "var/t"}}
	require.Equal(t, filepath.FromSlash("/x/.my repo/var/t"), Dir(v, s))
	abs := filepath.Join(t.TempDir(), "t")
	s.Telemetry.Dir = abs + "/."
	require.Equal(t, abs, Dir(v, s))
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
			if !recorded(append([]byte("torn\n"), line...), key, now, false) {
				t.Fatalf("not found again: %q", line)
			}
		}
	})
}
