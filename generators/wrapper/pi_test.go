package wrapper

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flow-agents/flow-agents/generators/config"
)

// piEvent is an event of the host as recorded.
func piEvent(t *testing.T, version, name string) m {
	t.Helper()
	rec := recorded(t, "pi/calls/"+version+"/"+name+".json")
	return m{"event": rec["hook"], "input": rec["input"]}
}

func piPrompt(text string) m {
	return m{"event": "before_agent_start", "input": m{"prompt": text}}
}

func TestPiFactory(t *testing.T) {
	r := newRig(t, host(t, "pi"))
	o, log := r.run(m{"steps": []m{}, "refuse": []string{"agent_before_settle", "session_compact"}})
	if !reflect.DeepEqual(o.Exports, []string{"default"}) {
		t.Errorf("exports %v", o.Exports)
	}
	if len(log) > 0 || o.Stderr != "" {
		t.Errorf("the factory did something: %v, %q", log, o.Stderr)
	}
	for _, e := range []string{"tool_call", "turn_end", "session_shutdown"} {
		if !slices.Contains(o.Events, e) {
			t.Errorf("not subscribed to %s: %v", e, o.Events)
		}
	}
}

func TestPiDeny(t *testing.T) {
	r := newRig(t, host(t, "pi"))
	const reason = "BLOCKED: .eslintrc.json — \"quoted\", <b>, $HOME."
	r.answer("tool_call", m{"decision": "deny", "reason": reason})
	steps := []m{piEvent(t, "1.6.0", "tool_call.write"), piEvent(t, "0.73.1", "tool_call.write"), piEvent(t, "1.6.0", "tool_call.edit"), {"event": "tool_call", "input": m{}, "bare": true}}
	o, log := r.run(m{"steps": steps})
	for i, res := range o.Results {
		same(t, "returned", res.Returned, m{"block": true, "reason": reason})
		same(t, "input", log[i].payload["tool_input"], orEmpty(steps[i]["input"].(m)["input"]))
	}
	p := log[0].payload
	if log[0].host != "pi" || p["tool_name"] != "write" || p["tool_use_id"] != "call_0_0" || p["session_id"] != "pi-session" || p["cwd"] != r.dir || p["model"] != "mock-1" {
		t.Errorf("payload %v", p)
	}
}

func orEmpty(v any) any {
	if v == nil {
		return m{}
	}
	return v
}

func TestPiAllows(t *testing.T) {
	for name, script := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := host(t, "pi")
			if strings.HasPrefix(name, "hanging") {
				h = patient(h, 300)
			}
			r := newRig(t, h)
			steps := []m{piEvent(t, "1.6.0", "session_start"), piEvent(t, "1.6.0", "before_agent_start"), piEvent(t, "1.6.0", "tool_call.write"), piEvent(t, "1.6.0", "tool_result.write")}
			if name != "other decision" {
				steps = append(steps, piEvent(t, "1.6.0", "agent_before_settle"), m{"event": "turn_end", "input": m{"message": m{"stopReason": "stop"}, "toolResults": []any{}}})
			}
			for _, s := range steps {
				r.write(s["event"].(string), script, 0o644)
			}
			start := time.Now()
			o, _ := r.run(m{"steps": steps})
			if took := time.Since(start); took > 25*time.Second {
				t.Errorf("took %v", took)
			}
			for i, res := range o.Results {
				if res.Threw != nil || res.Returned != nil {
					t.Errorf("step %d: threw %v, returned %v", i, res.Threw, res.Returned)
				}
			}
			if len(o.Messages) > 0 {
				t.Errorf("messages %v", o.Messages)
			}
		})
	}
}

func TestPiWithoutTheBinary(t *testing.T) {
	r := newRig(t, host(t, "pi"))
	if err := os.Remove(filepath.Join(r.dir, "home/bin/flow-agents-hook")); err != nil {
		t.Fatal(err)
	}
	o, _ := r.run(m{"steps": []m{piEvent(t, "1.6.0", "session_start"), piPrompt("one"), piEvent(t, "1.6.0", "tool_call.write"), piPrompt("two")}})
	if n := strings.Count(o.Stderr, config.Missing(host(t, "pi"))); n != 1 {
		t.Errorf("said %d times on stderr: %q", n, o.Stderr)
	}
	message, _ := o.Results[1].Returned["message"].(m)
	if message["content"] != config.Missing(host(t, "pi")) {
		t.Errorf("first prompt %v", o.Results[1].Returned)
	}
	if o.Results[2].Returned != nil || o.Results[3].Returned != nil {
		t.Errorf("later events %v", o.Results[2:])
	}
}

func TestPiContext(t *testing.T) {
	r := newRig(t, host(t, "pi"))
	r.answer("session_start", m{"decision": "allow", "context": "START"})
	r.answer("before_agent_start", m{"decision": "allow", "context": "PROMPT"})
	r.answer("tool_result", m{"decision": "allow", "context": "AFTER"})
	custom := m{"event": "before_agent_start", "input": m{"messageType": "custom"}}
	write, bash := piEvent(t, "1.6.0", "tool_result.write"), piEvent(t, "1.6.0", "tool_result.bash")
	o, log := r.run(m{"steps": []m{piEvent(t, "1.6.0", "session_start"), piEvent(t, "1.6.0", "before_agent_start"), custom, piPrompt("two"), write, bash}})
	message := func(text string) m {
		return m{"message": m{"customType": "flow-agents", "content": text, "display": false}}
	}
	same(t, "first prompt", o.Results[1].Returned, message("START\n\nPROMPT"))
	if o.Results[2].Returned != nil {
		t.Errorf("a run that no user started got %v", o.Results[2].Returned)
	}
	same(t, "second prompt", o.Results[3].Returned, message("PROMPT"))
	after := func(e m) []any {
		return append(slices.Clone(e["input"].(m)["content"].([]any)), m{"type": "text", "text": "AFTER"})
	}
	same(t, "after write", o.Results[4].Returned, m{"content": after(write)})
	same(t, "what pi would drop is kept", o.Results[5].Returned, m{"content": after(bash), "structuredContent": bash["input"].(m)["structuredContent"]})
	same(t, "events", events(log), []string{"session_start", "before_agent_start", "before_agent_start", "tool_result", "tool_result"})
}

func TestPiExitCodes(t *testing.T) {
	r := newRig(t, host(t, "pi"))
	_, log := r.run(m{"steps": []m{
		piEvent(t, "1.6.0", "tool_result.bash"), piEvent(t, "0.73.1", "tool_result.bash"), piEvent(t, "0.73.1", "tool_result.bash.error"),
		piEvent(t, "1.6.0", "tool_result.edit.error"), piEvent(t, "0.73.1", "tool_result.read"),
	}})
	for i, want := range []any{0.0, 0.0, 1.0, nil, nil} {
		if got := log[i].payload["tool_response"].(m)["exit_code"]; got != want {
			t.Errorf("result %d: exit code %v, want %v", i, got, want)
		}
		if got, want := log[i].payload["error"] != nil, i == 3; got != want {
			t.Errorf("result %d: error %v", i, log[i].payload["error"])
		}
	}
}

func TestPiStop(t *testing.T) {
	r := newRig(t, host(t, "pi"))
	once := `[ -f "$STUB/$2-done" ] || { touch "$STUB/$2-done"; echo '{"decision":"block","reason":"STOP: goal open"}'; }`
	r.write("agent_before_settle", once, 0o644)
	settle := piEvent(t, "1.6.0", "agent_before_settle")
	aborted := m{"event": "agent_before_settle", "input": m{"outcome": "aborted", "entries": []any{}, "continue": false}}
	going := m{"event": "agent_before_settle", "input": m{"outcome": "completed", "entries": []any{}, "continue": true}}
	o, log := r.run(m{"steps": []m{piPrompt("work"), aborted, going, settle, settle, piEvent(t, "1.6.0", "turn_end")}})
	same(t, "returned", o.Results[3].Returned, m{
		"entries":  []any{m{"type": "custom_message", "customType": "flow-agents", "content": "STOP: goal open", "display": true}},
		"continue": true,
	})
	if o.Results[4].Returned != nil || len(o.Messages) > 0 {
		t.Errorf("after the block: %v, %v", o.Results[4].Returned, o.Messages)
	}
	same(t, "events", events(log), []string{"before_agent_start", "agent_before_settle", "agent_before_settle"})
	if log[1].payload["stop_hook_active"] != false || log[2].payload["stop_hook_active"] != true {
		t.Errorf("stop_hook_active %v, %v", log[1].payload["stop_hook_active"], log[2].payload["stop_hook_active"])
	}
}

func TestPiStopBefore087(t *testing.T) {
	r := newRig(t, host(t, "pi"))
	r.write("turn_end", `[ -f "$STUB/stopped" ] || { touch "$STUB/stopped"; echo '{"decision":"block","reason":"STOP: goal open"}'; }`, 0o644)
	end := func(reason string, results ...any) m {
		return m{"event": "turn_end", "input": m{"turnIndex": 1, "message": m{"role": "assistant", "stopReason": reason}, "toolResults": append([]any{}, results...)}}
	}
	o, log := r.run(m{"steps": []m{piPrompt("work"), end("toolUse", m{"toolCallId": "a"}), end("aborted"), end("stop"), piPrompt("STOP: goal open"), end("stop")}})
	same(t, "messages", o.Messages, []m{{"options": m{"deliverAs": "followUp"}, "text": "STOP: goal open"}})
	same(t, "events", events(log), []string{"before_agent_start", "turn_end", "turn_end"})
}

func TestPiTelemetry(t *testing.T) {
	r := newRigOf(t, eager(t), host(t, "pi"))
	_, log := r.run(m{"steps": []m{
		piEvent(t, "1.6.0", "session_start"), piEvent(t, "1.6.0", "message_end.user"), piEvent(t, "1.6.0", "message_end.assistant"),
		piEvent(t, "1.6.0", "session_before_compact"), piEvent(t, "1.6.0", "session_compact"), piEvent(t, "1.6.0", "session_shutdown"),
	}})
	same(t, "events", events(log), []string{"session_start", "message_end", "session_before_compact", "session_compact", "session_shutdown"})
	p := log[1].payload
	same(t, "usage", p["token_usage"], m{"input_tokens": 900, "output_tokens": 20, "reasoning_output_tokens": 0, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 0})
	if p["response_id"] != "chatcmpl-1" || p["provider"] != "mock" {
		t.Errorf("payload %v", p)
	}
}

// A copy in the project and one in the home: everything happens once, but each
// refuses for itself.
func TestPiTwoCopies(t *testing.T) {
	r := newRig(t, host(t, "pi"))
	_, log := r.run(m{"copies": 2, "steps": []m{
		piEvent(t, "1.6.0", "session_start"), piEvent(t, "1.6.0", "before_agent_start"), piEvent(t, "1.6.0", "tool_call.write"),
		piEvent(t, "1.6.0", "tool_result.write"), piEvent(t, "1.6.0", "message_end.assistant"), piEvent(t, "1.6.0", "agent_before_settle"),
		piEvent(t, "1.6.0", "session_shutdown"), piEvent(t, "1.6.0", "session_start"), piPrompt("again"),
	}})
	same(t, "events", events(log), []string{
		"session_start", "before_agent_start", "tool_call", "tool_call", "tool_result", "agent_before_settle",
		"session_shutdown", "session_start", "before_agent_start",
	})
}

// A hook may answer before it has read a large payload, or without reading it.
func TestPiLargeInput(t *testing.T) {
	r := newRig(t, host(t, "pi"))
	big := strings.Repeat("x", 3<<20)
	write := m{"event": "tool_call", "input": m{"toolName": "write", "toolCallId": "a", "input": m{"path": "a.txt", "content": big}}}
	_, log := r.run(m{"steps": []m{write}})
	if got := log[0].payload["tool_input"].(m)["content"]; got != big {
		t.Error("the payload was cut")
	}
	r.write("home/bin/flow-agents-hook", "#!/bin/sh\necho '{\"decision\":\"deny\",\"reason\":\"unread\"}'\n", 0o755)
	o, _ := r.run(m{"steps": []m{write}})
	same(t, "returned", o.Results[0].Returned, m{"block": true, "reason": "unread"})
}
