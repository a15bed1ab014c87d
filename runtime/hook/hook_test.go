package hook

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/host"
	"github.com/flow-agents/flow-agents/runtime/host/hosttest"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/settings"
	"github.com/flow-agents/flow-agents/runtime/tables"
	"github.com/flow-agents/flow-agents/runtime/workflow"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// project makes a project and a home, and clears what the environment says.
func project(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	root := filepath.Join(dir, "project")
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".git"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".flow-agents"), 0o755))
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("USERPROFILE", filepath.Join(dir, "home"))
	for _, e := range os.Environ() {
		k, _, _ := strings.Cut(e, "=")
		if strings.HasPrefix(k, "FLOW_AGENTS_") || strings.HasPrefix(k, "SA_") || strings.HasPrefix(k, "TELEMETRY_") || k == "VSCODE_PID" {
			t.Setenv(k, "")
			os.Unsetenv(k)
		}
	}
	return root
}

type result struct {
	code     int
	out, err string
}

func send(t *testing.T, id, native, payload string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := Run(id, native, Streams{
		In: strings.NewReader(payload), Out: &out, Err: &errs, Exit: func(int) { t.Error("the watchdog ended the process") },
	})
	return result{code, out.String(), errs.String()}
}

// editOn is an edit as the first edit tool of a host sends it.
func editOn(h *tables.Host, surface int, root, path string) string {
	for _, t := range h.Tools {
		s := &h.Surfaces[surface]
		switch {
		case t.Class != event.Write && t.Class != event.Edit:
		case len(t.Path) > 0:
			return string(hosttest.Call(s, root, t.Name, hosttest.At(t.Path[0], path)))
		case len(t.Patch) > 0:
			return string(hosttest.Call(s, root, t.Name, hosttest.At(t.Patch[0], "*** Begin Patch\n*** Update File: "+path+"\n+x\n*** End Patch")))
		}
	}
	return "{}"
}

// edit is an edit as most hosts send it.
func edit(root, path string) string {
	b, _ := json.Marshal(map[string]any{
		"session_id": "s1", "cwd": root, "tool_name": "Write", "tool_use_id": "c1",
		"tool_input": map[string]string{"file_path": path, "content": "x"},
	})
	return string(b)
}

func records(t *testing.T, root string) []map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, ".telemetry", "full.jsonl"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	var out []map[string]any
	for line := range bytes.Lines(b) {
		var r map[string]any
		require.NoError(t, json.Unmarshal(line, &r))
		out = append(out, r)
	}
	return out
}

func log(root string) string {
	b, _ := os.ReadFile(filepath.Join(root, ".flow-agents", "state", "hook.log"))
	return string(b)
}

func TestDeny(t *testing.T) {
	root := project(t)
	r := send(t, "claude-code", "PreToolUse", edit(root, filepath.Join(root, ".eslintrc.json")))
	require.Zero(t, r.code)
	require.Empty(t, r.err)
	var answer struct {
		HookSpecificOutput map[string]string
	}
	d := json.NewDecoder(strings.NewReader(r.out))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&answer))
	h := answer.HookSpecificOutput
	require.Equal(t, "PreToolUse", h["hookEventName"])
	require.Equal(t, "deny", h["permissionDecision"])
	require.Contains(t, h["permissionDecisionReason"], "BLOCKED")
	require.Contains(t, h["permissionDecisionReason"], ".eslintrc.json")
	require.Len(t, h, 3)

	got := records(t, root)
	require.Len(t, got, 1)
	require.Equal(t, "tool.invoke", got[0]["event_type"])
	require.Equal(t, map[string]any{"verdict": "deny", "policy": "config-protection", "rule": "protected-name"}, got[0]["decision"])
	require.Empty(t, log(root))
}

// Settings of which nothing holds are told at the start of a session, because
// their rules are missing.
func TestUnreadSettingsAreTold(t *testing.T) {
	root := project(t)
	require.NoError(t, os.WriteFile(filepath.Join(root, ".flow-agents", "settings.json"), []byte(`{"config_protection":{"rules":[{"glob":"a"},]}}`), 0o644))
	start, _ := json.Marshal(map[string]string{"session_id": "s1", "cwd": root, "hook_event_name": "SessionStart", "source": "startup"})
	r := send(t, "claude-code", "SessionStart", string(start))
	require.Zero(t, r.code)
	require.Contains(t, r.out, "settings.json can't be read, so no rule in it holds")
	require.Empty(t, send(t, "claude-code", "PreToolUse", edit(root, "src/a.ts")).out)
	require.NoError(t, os.WriteFile(filepath.Join(root, ".flow-agents", "settings.json"), []byte(`{}`), 0o644))
	require.Empty(t, send(t, "claude-code", "SessionStart", string(start)).out)
}

// No objection is no answer: anything else could override the host's own
// permission prompt.
func TestAllowIsSilent(t *testing.T) {
	root := project(t)
	for _, id := range tables.IDs {
		h := tables.Lookup(id)
		for i := range h.Surfaces {
			for _, e := range h.Surfaces[i].Events {
				r := send(t, id, e.Native, editOn(h, i, root, "src/app.ts"))
				require.Equal(t, result{}, r, "%s %s", id, e.Native)
			}
		}
	}
	require.Empty(t, log(root))
}

// On every host the protected file is refused at preToolUse, with the reason.
func TestDenyOnEveryHost(t *testing.T) {
	root := project(t)
	for _, id := range tables.IDs {
		h := tables.Lookup(id)
		for i := range h.Surfaces {
			for _, e := range h.Surfaces[i].Events {
				r := send(t, id, e.Native, editOn(h, i, root, "biome.json"))
				if e.Deny == nil || len(e.Policies) == 0 {
					require.Equal(t, result{}, r, "%s %s", id, e.Native)
					continue
				}
				require.Contains(t, r.out+r.err, "BLOCKED: biome.json", "%s %s", id, e.Native)
				require.Equal(t, e.Deny.Exit, r.code)
			}
		}
	}
}

func TestInput(t *testing.T) {
	root := project(t)
	big := strings.Repeat("x", maxInput)
	bad := edit(root, ".eslintrc")
	t.Chdir(root)
	for name, c := range map[string]struct {
		payload string
		deny    string
		log     string
	}{
		"empty":              {"", "", "not a JSON object"},
		"white space":        {" \n", "", "not a JSON object"},
		"null":               {"null", "", "not a JSON object"},
		"array":              {"[1]", "", "not a JSON object"},
		"not JSON":           {"hello", "", "not JSON"},
		"UTF-16":             {"\xff\xfe{\x00}\x00", "", "not JSON"},
		"byte-order mark":    {"\xef\xbb\xbf" + bad, "configures ESLint", ""},
		"trailing garbage":   {bad + "\n}}}", "configures ESLint", ""},
		"second value":       {bad + edit(root, "ok"), "configures ESLint", ""},
		"invalid UTF-8":      {strings.Replace(bad, `"x"`, "\"\xff\"", 1), "configures ESLint", ""},
		"breaks off":         {bad[:len(bad)-1], "larger than the input limit", "ends too early"},
		"breaks off early":   {`{"cwd":"`, "larger than the input limit", "ends too early"},
		"too long":           {edit(root, "ok"+big), "larger than the input limit", "longer than the limit"},
		"too deep":           {deep("ok"), "nested too deeply", "nested too deeply"},
		"long, but allowed":  {strings.Replace(edit(root, "ok"), `"x"`, `"`+big[:maxInput-1000]+`"`, 1), "", ""},
		"long space behind":  {edit(root, "ok") + strings.Repeat(" ", maxInput), "", ""},
		"odd types":          {`{"cwd":7,"session_id":[],"tool_name":{},"tool_input":"x"}`, "", ""},
		"edit without input": {`{"tool_name":"Write"}`, "names no file", ""},
	} {
		require.NoError(t, os.RemoveAll(filepath.Join(root, ".flow-agents", "state")))
		r := send(t, "claude-code", "PreToolUse", c.payload)
		require.Zero(t, r.code, name)
		require.Empty(t, r.err, name)
		if c.deny == "" {
			require.Empty(t, r.out, name)
		} else {
			require.Contains(t, r.out, c.deny, name)
		}
		if c.log == "" {
			require.Empty(t, log(root), name)
		} else {
			require.Contains(t, log(root), c.log, name)
		}
	}
}

// deep is an edit whose input is nested deeper than JSON is read.
func deep(path string) string {
	nest := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	return `{"tool_name":"Write","tool_input":{"content":` + nest + `,"file_path":"` + path + `"}}`
}

// Exactly the limit is whole; one byte more is not.
func TestLimit(t *testing.T) {
	root := project(t)
	payload := edit(root, "ok")
	t.Setenv("SA_HOOK_INPUT_MAX_BYTES", itoa(len(payload)))
	require.Empty(t, send(t, "claude-code", "PreToolUse", payload).out)
	require.Empty(t, send(t, "claude-code", "PreToolUse", payload+"\n").out)
	t.Setenv("SA_HOOK_INPUT_MAX_BYTES", itoa(len(payload)-1))
	require.Contains(t, send(t, "claude-code", "PreToolUse", payload).out, "larger than the input limit")

	t.Setenv("SA_HOOK_INPUT_MAX_BYTES", "nonsense")
	require.Empty(t, send(t, "claude-code", "PreToolUse", payload).out)
	t.Setenv("SA_HOOK_INPUT_TRUNCATED", "1")
	require.Contains(t, send(t, "claude-code", "PreToolUse", payload).out, "larger than the input limit")
	// Only where a call can be refused, and not if the user switched it off.
	require.Empty(t, send(t, "claude-code", "PostToolUse", payload).out)
	require.Empty(t, send(t, "claude-code", "UserPromptSubmit", payload).out)
	t.Setenv("SA_DISABLED_HOOKS", "pre:config-protection.js")
	require.Empty(t, send(t, "claude-code", "PreToolUse", payload).out)
	t.Setenv("SA_HOOK_INPUT_TRUNCATED", "0")
	require.Empty(t, send(t, "claude-code", "PreToolUse", edit(root, ".eslintrc")).out)
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestProfiles(t *testing.T) {
	root := project(t)
	state := filepath.Join(root, workflow.Dir, "task")
	require.NoError(t, os.MkdirAll(state, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(state, "state.json"), []byte(`{"status":"in_progress"}`), 0o644))
	prompt := `{"session_id":"s1","cwd":` + string(jsontext.AppendString(nil, root)) + `,"prompt":"go"}`
	for profile, steers := range map[string]bool{"minimal": false, "standard": true, "strict": true, "default": true, "": true} {
		t.Setenv("SA_HOOK_PROFILE", profile)
		require.Contains(t, send(t, "claude-code", "PreToolUse", edit(root, ".eslintrc")).out, "deny", profile)
		require.Equal(t, steers, strings.Contains(send(t, "claude-code", "UserPromptSubmit", prompt).out, "STATE: task is status:in_progress"), profile)
	}
}

func TestObserve(t *testing.T) {
	root := project(t)
	t.Setenv("FLOW_AGENTS_MODE", "observe")
	require.Equal(t, result{}, send(t, "claude-code", "PreToolUse", edit(root, ".eslintrc")))
	require.Equal(t, map[string]any{"verdict": "deny", "observed": true, "policy": "config-protection", "rule": "protected-name"}, records(t, root)[0]["decision"])
}

func TestUnknown(t *testing.T) {
	root := project(t)
	t.Chdir(root)
	for _, c := range [][2]string{{"nobody", "PreToolUse"}, {"claude-code", "NoSuchEvent"}, {"claude-code", "x\n\x1b[2J\""}} {
		r := send(t, c[0], c[1], edit(root, ".eslintrc"))
		require.Zero(t, r.code)
		require.Empty(t, r.out)
		require.Regexp(t, `^flow-agents-hook: unknown (host|event) ".*"; nothing was checked\n$`, r.err)
		require.NotContains(t, r.err, "\x1b")
		require.Contains(t, log(root), "unknown")
	}
}

// Trouble with telemetry neither stops the guard nor shows.
func TestTelemetryTrouble(t *testing.T) {
	root := project(t)
	require.NoError(t, os.WriteFile(filepath.Join(root, ".telemetry"), nil, 0o600))
	for range 2 {
		require.Contains(t, send(t, "claude-code", "PreToolUse", edit(root, ".eslintrc")).out, "deny")
		require.Equal(t, result{}, send(t, "claude-code", "PreToolUse", edit(root, "ok")))
	}
	require.Equal(t, 1, strings.Count(log(root), "PreToolUse: telemetry: "), "a message is not repeated")
	require.FileExists(t, filepath.Join(root, ".flow-agents", "state", ".gitignore"))
}

func TestUnknownKeyIsLogged(t *testing.T) {
	root := project(t)
	require.NoError(t, os.WriteFile(filepath.Join(root, ".flow-agents", "settings.json"), []byte(`{"nope":1}`), 0o644))
	require.Equal(t, result{}, send(t, "claude-code", "PreToolUse", edit(root, "ok")))
	require.Contains(t, log(root), "unknown key nope")
}

// A repository that was not set up stays as it is.
func TestUnmanaged(t *testing.T) {
	root := project(t)
	require.NoError(t, os.Remove(filepath.Join(root, ".flow-agents")))
	require.Contains(t, send(t, "claude-code", "PreToolUse", edit(root, ".eslintrc")).out, "deny")
	list, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Len(t, list, 1)
	found, err := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".flow-agents", "telemetry", "projects", "project-*", "full.jsonl"))
	require.NoError(t, err)
	require.Len(t, found, 1)
}

// A panic is an error of our own: open, unless the settings say otherwise.
func TestPanic(t *testing.T) {
	root := project(t)
	t.Chdir(root)
	h, err := host.Find("claude-code", "PreToolUse")
	require.NoError(t, err)
	for _, closed := range []string{"false", "true"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, ".flow-agents", "settings.json"), []byte(`{"fail_closed":`+closed+`}`), 0o644))
		r := &run{Hook: h}
		r.load("")
		r.Surface = nil // makes decoding panic
		a := r.answer(jsontext.Input{Text: []byte("{}")})
		require.Zero(t, a.Exit)
		require.Equal(t, closed == "true", strings.Contains(string(a.Stdout), "could not be checked"))
		r.log.Flush(r.view)
		require.Contains(t, log(root), "internal error: panic")
	}
}

func TestDeadline(t *testing.T) {
	project(t)
	for _, c := range []struct {
		id, name, value string
		timeout         int
		want            time.Duration
	}{
		{"claude-code", "", "", 30_000, 28 * time.Second},
		{"claude-code", "", "", 3_000, 1500 * time.Millisecond},
		{"claude-code", "FLOW_AGENTS_CLAUDE_CODE_HOOK_TIMEOUT_MS", "500", 30_000, 500 * time.Millisecond},
		{"claude-code", "FLOW_AGENTS_CLAUDE_HOOK_TIMEOUT_MS", "700", 30_000, 700 * time.Millisecond},
		{"claude-code", "FLOW_AGENTS_CLAUDE_HOOK_TIMEOUT_MS", "99999999999999", 30_000, 28 * time.Second},
		{"claude-code", "FLOW_AGENTS_CLAUDE_HOOK_TIMEOUT_MS", "-1", 30_000, 28 * time.Second},
		{"codex", "FLOW_AGENTS_CODEX_HOOK_TIMEOUT_MS", "600", 30_000, 600 * time.Millisecond},
	} {
		if c.name != "" {
			t.Setenv(c.name, c.value)
		}
		require.Equal(t, c.want, deadline(c.id, c.timeout), "%+v", c)
		if c.name != "" {
			os.Unsetenv(c.name)
		}
	}
}

// A host that never finishes its input gets no answer, in time.
func TestWatchdog(t *testing.T) {
	root := project(t)
	t.Chdir(root)
	t.Setenv("FLOW_AGENTS_CLAUDE_HOOK_TIMEOUT_MS", "100")
	in, w := io.Pipe() // stays open: the call must not come back
	code := make(chan int)
	go Run("claude-code", "PreToolUse", Streams{In: in, Out: io.Discard, Err: io.Discard, Exit: func(c int) { code <- c }})
	_, err := w.Write([]byte(`{"tool_name":`))
	require.NoError(t, err)
	select {
	case c := <-code:
		require.Zero(t, c)
	case <-time.After(10 * time.Second):
		t.Fatal("no answer")
	}
	require.Contains(t, log(root), "no answer in time")
}

// When time runs out, an edit that was not judged is refused in the host's own
// form, and anything else passes.
func TestTimeRunsOut(t *testing.T) {
	root := project(t)
	t.Chdir(root)
	shell := func(command string) string {
		b, _ := json.Marshal(map[string]any{"cwd": root, "tool_name": "Bash", "tool_input": map[string]string{"command": command}})
		return string(b)
	}
	for name, c := range map[string]struct {
		id, native, payload string
		env                 string
		code                int
		out, err            string
	}{
		"edit":           {"claude-code", "PreToolUse", edit(root, "ok"), "", 0, `"permissionDecision":"deny","permissionDecisionReason":"BLOCKED: there was no time`, ""},
		"edit by code":   {"kiro", "preToolUse", strings.Replace(edit(root, "ok"), "Write", "fs_write", 1), "", 2, "", "BLOCKED: there was no time"},
		"edit by an MCP": {"claude-code", "PreToolUse", strings.Replace(edit(root, "ok"), "Write", "mcp__x__write_file", 1), "", 0, "no time", ""},
		"patch":          {"codex", "PreToolUse", shell("apply_patch <<E\n*** Begin Patch\n*** Add File: ok\nE"), "", 0, "no time", ""},
		"too deep":       {"claude-code", "PreToolUse", deep("ok"), "", 0, "no time", ""},
		"read":           {"claude-code", "PreToolUse", strings.Replace(edit(root, "ok"), "Write", "Read", 1), "", 0, "", ""},
		"shell":          {"claude-code", "PreToolUse", shell("ls"), "", 0, "", ""},
		"after an edit":  {"claude-code", "PostToolUse", edit(root, "ok"), "", 0, "", ""},
		"prompt":         {"claude-code", "UserPromptSubmit", `{"prompt":"p"}`, "", 0, "", ""},
		"observed":       {"claude-code", "PreToolUse", edit(root, "ok"), "FLOW_AGENTS_MODE=observe", 0, "", ""},
		"switched off":   {"claude-code", "PreToolUse", edit(root, "ok"), "SA_DISABLED_HOOKS=config-protection", 0, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if k, v, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(k, v)
			}
			for _, id := range []string{"CLAUDE_CODE", "KIRO", "CODEX"} {
				t.Setenv("FLOW_AGENTS_"+id+"_HOOK_TIMEOUT_MS", "20")
			}
			h, err := host.Find(c.id, c.native)
			require.NoError(t, err)
			in := jsontext.FirstValue(strings.NewReader(c.payload), maxInput, nil)
			r := &run{Hook: h}
			e := r.Decode(in.Text, in.End == jsontext.TooDeep)
			known := settings.Load(workspace.View{})
			r.guard(e, &known)
			var out, errs bytes.Buffer
			code := make(chan int)
			r.start(Streams{Out: &out, Err: &errs, Exit: func(c int) { code <- c }})
			select {
			case got := <-code:
				require.Equal(t, c.code, got)
			case <-time.After(10 * time.Second):
				t.Fatal("no answer")
			}
			for want, got := range map[string]string{c.out: out.String(), c.err: errs.String()} {
				if want != "" {
					require.Contains(t, got, want)
				}
			}
			if c.out+c.err == "" {
				require.Empty(t, out.String()+errs.String())
			}
			require.True(t, r.done.Load())
			require.Contains(t, log(root), "no answer in time")
		})
	}
}

// What is left to do after the decision can't undo it.
func TestLateAnswerIsTheDecision(t *testing.T) {
	root := project(t)
	t.Chdir(root)
	for path, want := range map[string]string{".eslintrc": "configures ESLint", "ok": ""} {
		h, err := host.Find("claude-code", "PreToolUse")
		require.NoError(t, err)
		r := &run{Hook: h}
		a := r.answer(jsontext.Input{Text: []byte(edit(root, path))})
		require.Equal(t, a, *r.late.Load())
		require.Contains(t, string(a.Stdout), want)
		require.Equal(t, want == "", len(a.Stdout) == 0)
	}
}

// What an attacker may send to make the hook miss its deadline, or only slow
// the agent down, is judged in time.
func TestHostileInputIsJudgedInTime(t *testing.T) {
	root := project(t)
	require.NoError(t, os.WriteFile(filepath.Join(root, ".flow-agents", "settings.json"),
		[]byte(`{"config_protection":{"rules":[`+strings.Repeat(`{"glob":"a/**/b*/**/*.tf","mode":"ask"},`, 100)+`{"glob":"infra/**"}]}}`), 0o644))
	const size = maxInput - 2000
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, c := range map[string]struct{ payload, want string }{
		"escapes":             {edit(root, ".eslintrc"+fill("\x1b]")[:size/7]), "configures ESLint"},
		"escapes, ok":         {edit(root, fill("\x1b]")[:size/7]), ""},
		"slashes":             {edit(root, fill("/")+"biome.json"), "configures Biome"},
		"parents":             {edit(root, fill("a/../")+"biome.json"), "configures Biome"},
		"folders":             {edit(root, fill("a/")+"x"), ""},
		"dots":                {edit(root, fill("./")+"x"), ""},
		"blanks":              {edit(root, fill(" ")+"x"), ""},
		"letters":             {edit(root, fill("é")), ""},
		"name":                {edit(root, "biome.json"+fill(".")), "configures Biome"},
		"many files":          {`{"tool_name":"mcp__x__write","tool_input":{"files":[` + fill(`"x/y",`) + `"z"]}}`, "more files"},
		"many edits":          {`{"tool_name":"MultiEdit","tool_input":{"file_path":"a","edits":[` + fill(`{"file_path":"b"},`) + `{}]}}`, "more files"},
		"many, one protected": {`{"tool_name":"mcp__x__write","tool_input":{"files":["biome.json",` + fill(`"x/y",`) + `"z"]}}`, "configures Biome"},
		"nested":              {`{"tool_name":"mcp__x__write","tool_input":` + fill(`{"a":`)[:50_000] + `1` + fill("}")[:10_000] + `}}`, "nested too deeply"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			r := send(t, "claude-code", "PreToolUse", c.payload)
			require.Less(t, time.Since(start), 5*time.Second)
			require.Contains(t, r.out, c.want)
			require.Equal(t, c.want == "", r.out == "", "%.300s", r.out)
		})
	}
}

// Hosts that are answered in JSON are never answered by exit 2, which is also
// how a Go program dies.
func TestExitCodes(t *testing.T) {
	for _, id := range []string{"claude-code", "codex"} {
		for _, s := range tables.Lookup(id).Surfaces {
			for _, e := range s.Events {
				for _, f := range []*tables.Form{e.Deny, e.Ask, e.Context, e.Block} {
					require.True(t, f == nil || f.Exit == 0, "%s %s", id, e.Native)
				}
			}
		}
	}
}

// Nor does it need to close its input.
func TestInputStaysOpen(t *testing.T) {
	root := project(t)
	in, w := io.Pipe()
	defer w.Close()
	go func() { _, _ = w.Write([]byte(edit(root, ".eslintrc"))) }()
	var out bytes.Buffer
	Run("claude-code", "PreToolUse", Streams{In: in, Out: &out, Err: io.Discard, Exit: func(int) { t.Error("too late") }})
	require.Contains(t, out.String(), "deny")
}

func TestSessionEndFreesTheTask(t *testing.T) {
	root := project(t)
	dir := filepath.Join(root, workflow.Dir)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "task"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "task", "state.json"), []byte(`{"status":"in_progress"}`), 0o644))
	say := func(session, native string) string {
		b, _ := json.Marshal(map[string]string{"session_id": session, "cwd": root, "prompt": "p"})
		return send(t, "claude-code", native, string(b)).out
	}
	require.Contains(t, say("one", "SessionStart"), "RESUME: task")
	require.Contains(t, say("two", "UserPromptSubmit"), "Another actor (claude-code:one)")
	require.Empty(t, say("one", "SessionEnd"))
	require.Contains(t, say("two", "UserPromptSubmit"), "it is yours now")
	require.Contains(t, say("one", "UserPromptSubmit"), "WORKFLOW STATE:")
}
