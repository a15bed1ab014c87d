package wrapper

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/flow-agents/flow-agents/generators/config"
)

type m = map[string]any

// step is a call of the host as recorded.
func step(t *testing.T, name string) m {
	t.Helper()
	return recorded(t, "opencode/calls/"+name+".json")
}

func before(session, call, tool string, args any) m {
	return m{"hook": "tool.execute.before", "input": m{"tool": tool, "sessionID": session, "callID": call}, "output": m{"args": args}}
}

func prompt(session, text string) m {
	return m{"hook": "chat.message", "input": m{"sessionID": session}, "output": m{
		"message": m{"id": "msg_9", "agent": "build", "model": m{"providerID": "mock", "modelID": "mock-1"}},
		"parts":   []m{{"id": "prt_9", "messageID": "msg_9", "sessionID": session, "type": "text", "text": text}},
	}}
}

func stepFinish(session, message, reason string) m {
	return m{"hook": "event:message.part.updated", "input": m{"type": "message.part.updated", "properties": m{
		"part": m{"type": "step-finish", "id": "prt_f" + message, "messageID": message, "sessionID": session, "reason": reason}}}}
}

func TestOpencodeExports(t *testing.T) {
	r := newRig(t, host(t, "opencode"))
	o, log := r.run(m{"steps": []m{}})
	if !reflect.DeepEqual(o.Exports, []string{"default"}) {
		t.Errorf("exports %v, want one default", o.Exports)
	}
	if o.ID != "flow-agents" {
		t.Errorf("id %q", o.ID)
	}
	if o.Stderr != "" {
		t.Errorf("stderr %q", o.Stderr)
	}
	// Only the second setup of the driver has tool hooks to register on.
	if len(log) != 1 || log[0].event != "tool.execute.before" || log[0].payload["session_id"] != "ses_2" {
		t.Errorf("asked %v", log)
	}
}

func TestOpencodeDeny(t *testing.T) {
	r := newRig(t, host(t, "opencode"))
	const reason = "BLOCKED: .eslintrc.json configures ESLint — \"quoted\", <b>, $HOME, `x`, ünï."
	r.answer("tool.execute.before", m{"decision": "deny", "reason": reason})
	steps := []m{step(t, "tool.execute.before.write"), step(t, "tool.execute.before.apply_patch"), before("ses_0001", "c", "write", nil), {"hook": "tool.execute.before", "input": m{"tool": "write", "sessionID": "ses_0001", "callID": "d"}}}
	o, log := r.run(m{"steps": steps})
	for i, res := range o.Results {
		if res.Threw == nil || *res.Threw != reason {
			t.Errorf("step %d threw %v, want exactly the reason", i, res.Threw)
		}
	}
	if o.Second != reason {
		t.Errorf("opencode 2: threw %q", o.Second)
	}
	p := log[0].payload
	if log[0].host != "opencode" || p["tool_name"] != "write" || p["tool_use_id"] != "call_0_0" || p["session_id"] != "ses_0001" || p["cwd"] != r.dir {
		t.Errorf("payload %v", p)
	}
	same(t, "arguments arrive as they are", p["tool_input"], steps[0]["output"].(m)["args"])
	same(t, "patch text arrives", log[1].payload["tool_input"], steps[1]["output"].(m)["args"])
	same(t, "missing arguments", log[2].payload["tool_input"], m{})
	same(t, "missing output", log[3].payload["tool_input"], m{})
}

func TestOpencodeAllows(t *testing.T) {
	for name, script := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := host(t, "opencode")
			if strings.HasPrefix(name, "hanging") {
				h = patient(h, 300)
			}
			r := newRig(t, h)
			for _, e := range []string{"tool.execute.before", "tool.execute.after", "chat.message", "session.created", "session.idle"} {
				r.write(e, script, 0o644)
			}
			steps := []m{step(t, "event-session.created"), step(t, "chat.message"), step(t, "tool.execute.before.write"), step(t, "tool.execute.after.write")}
			if name != "other decision" { // a block is an answer at the end of a turn
				steps = append(steps, stepFinish("ses_0001", "msg_1", "stop"))
			}
			start := time.Now()
			o, _ := r.run(m{"steps": steps})
			if took := time.Since(start); took > 25*time.Second {
				t.Errorf("took %v", took)
			}
			for i, res := range o.Results {
				if res.Threw != nil {
					t.Errorf("step %d threw %q", i, *res.Threw)
				}
				if want := steps[i]["output"]; want != nil {
					same(t, "output unchanged", res.Output, want)
				}
			}
			if len(o.Prompts) > 0 {
				t.Errorf("prompts %v", o.Prompts)
			}
		})
	}
}

func TestOpencodeWithoutTheBinary(t *testing.T) {
	r := newRig(t, host(t, "opencode"))
	if err := os.Remove(filepath.Join(r.dir, "home/bin/flow-agents-hook")); err != nil {
		t.Fatal(err)
	}
	o, log := r.run(m{"steps": []m{
		step(t, "event-session.created"), prompt("ses_0001", "one"), step(t, "tool.execute.before.write"), prompt("ses_0001", "two"),
	}})
	if len(log) > 0 {
		t.Errorf("asked %v", log)
	}
	if n := strings.Count(o.Stderr, config.Missing(host(t, "opencode"))); n != 1 {
		t.Errorf("said %d times on stderr: %q", n, o.Stderr)
	}
	for i, res := range o.Results {
		if res.Threw != nil {
			t.Errorf("step %d threw %q", i, *res.Threw)
		}
	}
	parts := o.Results[1].Output["parts"].([]any)
	if len(parts) != 2 || parts[1].(m)["text"] != config.Missing(host(t, "opencode")) {
		t.Errorf("first prompt %v", parts)
	}
	if parts := o.Results[3].Output["parts"].([]any); len(parts) != 1 {
		t.Errorf("second prompt %v", parts)
	}
}

func TestOpencodeContext(t *testing.T) {
	r := newRig(t, host(t, "opencode"))
	r.answer("session.created", m{"decision": "allow", "context": "START"})
	r.answer("chat.message", m{"decision": "allow", "context": "PROMPT"})
	r.answer("tool.execute.after", m{"decision": "allow", "context": "AFTER"})
	o, log := r.run(m{"steps": []m{
		step(t, "event-session.created"), step(t, "chat.message"), prompt("ses_0001", "again"),
		step(t, "tool.execute.after.write"), step(t, "tool.execute.after.bash.exit-127"), step(t, "tool.execute.after.echo_shout"),
		prompt("ses_resumed", "go on"),
	}})
	first := o.Results[1].Output["parts"].([]any)
	same(t, "the first prompt carries both texts", first[1], m{
		"id": "prt_0001flow", "sessionID": "ses_0001", "messageID": "msg_0001", "type": "text", "text": "START\n\nPROMPT", "synthetic": true,
	})
	if parts := o.Results[2].Output["parts"].([]any); parts[1].(m)["text"] != "PROMPT" {
		t.Errorf("second prompt %v", parts)
	}
	if got := o.Results[3].Output["output"]; got != "Wrote file successfully.\n\nAFTER" {
		t.Errorf("after write: %q", got)
	}
	same(t, "an MCP result stays as it is", o.Results[5].Output, step(t, "tool.execute.after.echo_shout")["output"])
	if parts := o.Results[6].Output["parts"].([]any); parts[1].(m)["text"] != "START\n\nPROMPT" {
		t.Errorf("resumed session %v", parts)
	}
	same(t, "events", events(log), []string{
		"session.created", "chat.message", "chat.message", "tool.execute.after", "tool.execute.after", "tool.execute.after",
		"session.created", "chat.message", "tool.execute.before",
	})
	if log[0].payload["source"] != "startup" || log[6].payload["source"] != "resume" {
		t.Errorf("sources %v, %v", log[0].payload["source"], log[6].payload["source"])
	}
	if log[1].payload["prompt"] != `"please do the work"` || log[1].payload["model"] != "mock-1" {
		t.Errorf("prompt %v", log[1].payload)
	}
	same(t, "exit code", log[4].payload["tool_response"], m{"output": "/usr/bin/bash: line 1: nosuchcmd-xyz: command not found\n", "is_error": false, "exit_code": 127})
	same(t, "MCP text", log[5].payload["tool_response"], m{"output": "HELLO", "is_error": false})
}

func TestOpencodeExitCodeOfKilledCommand(t *testing.T) {
	r := newRig(t, host(t, "opencode"))
	_, log := r.run(m{"steps": []m{step(t, "tool.execute.after.bash.timeout")}})
	code, has := log[0].payload["tool_response"].(m)["exit_code"]
	if !has || code != nil {
		t.Errorf("exit_code %v, %v; want null", code, has)
	}
}

func TestOpencodeFailedCalls(t *testing.T) {
	r := newRig(t, host(t, "opencode"))
	r.write("tool.execute.before", `case $input in *refuse*) echo '{"decision":"deny","reason":"no"}';; esac`, 0o644)
	failure := func(part, call string) m {
		return m{"hook": "event:message.part.updated", "input": m{"type": "message.part.updated", "properties": m{"part": m{
			"type": "tool", "id": part, "sessionID": "ses_0001", "callID": call, "tool": "edit",
			"state": m{"status": "error", "error": "not found", "input": m{"filePath": "a.js"}}}}}}
	}
	_, log := r.run(m{"steps": []m{
		before("ses_0001", "call_a", "edit", m{"filePath": "a.js"}), failure("prt_a", "call_a"), failure("prt_a", "call_a"),
		before("ses_0001", "call_b", "edit", m{"filePath": "refuse"}), failure("prt_b", "call_b"),
	}})
	same(t, "a failure is reported once, a refusal not at all", events(log)[:3], []string{"tool.execute.before", "tool.execute.after", "tool.execute.before"})
	if p := log[1].payload; p["error"] != "not found" || p["tool_name"] != "edit" || p["tool_use_id"] != "call_a" {
		t.Errorf("payload %v", p)
	}
}

func TestOpencodeSubagents(t *testing.T) {
	r := newRig(t, host(t, "opencode"))
	r.answer("chat.message", m{"decision": "allow", "context": "PROMPT"})
	r.answer("session.idle", m{"decision": "block", "reason": "go on"})
	child := step(t, "chat.message.subagent")
	o, log := r.run(m{
		"parents": m{"ses_0003": "ses_0001"},
		"steps": []m{
			step(t, "event-session.created"), step(t, "event-session.created.subagent"), child,
			before("ses_0002", "call_0_0", "write", m{"filePath": ".eslintrc.json"}), stepFinish("ses_0002", "msg_c", "stop"),
			// A child of an earlier process, which only the server knows.
			prompt("ses_0003", "carry on"), stepFinish("ses_0003", "msg_d", "stop"),
		},
	})
	same(t, "no text for the child", o.Results[2].Output, child["output"])
	if len(o.Prompts) > 0 {
		t.Errorf("prompts %v", o.Prompts)
	}
	same(t, "events", events(log), []string{"session.created", "tool.execute.before", "tool.execute.before"})
	p := log[1].payload
	if p["session_id"] != "ses_0001" || p["agent_id"] != "ses_0002" || p["agent_type"] != "general" {
		t.Errorf("payload %v", p)
	}
}

func TestOpencodeStop(t *testing.T) {
	r := newRig(t, host(t, "opencode"))
	r.write("session.idle", `[ -f "$STUB/stopped" ] || { touch "$STUB/stopped"; echo '{"decision":"block","reason":"STOP: goal open"}'; }`, 0o644)
	o, log := r.run(m{"steps": []m{
		prompt("ses_0001", "work"), stepFinish("ses_0001", "msg_1", "tool-calls"), stepFinish("ses_0001", "msg_2", "stop"),
		prompt("ses_0001", "STOP: goal open"), stepFinish("ses_0001", "msg_3", "stop"), stepFinish("ses_0001", "msg_4", "length"),
	}})
	if len(o.Prompts) != 1 {
		t.Fatalf("prompts %v", o.Prompts)
	}
	same(t, "the reason comes back as a prompt under the same agent and model", o.Prompts[0], m{
		"path": m{"id": "ses_0001"},
		"body": m{"agent": "build", "model": m{"providerID": "mock", "modelID": "mock-1"}, "parts": []m{{"type": "text", "text": "STOP: goal open"}}},
	})
	same(t, "our own prompt is not asked about", events(log), []string{"session.created", "chat.message", "session.idle", "session.idle", "session.idle", "tool.execute.before"})
	for i, active := range []bool{false, true, false} {
		if got := log[2+i].payload["stop_hook_active"]; got != active {
			t.Errorf("stop %d: stop_hook_active %v", i, got)
		}
	}
}

func TestOpencodeCompaction(t *testing.T) {
	r := newRigOf(t, eager(t), host(t, "opencode"))
	summary := m{"hook": "event:message.updated", "input": m{"type": "message.updated", "properties": m{"info": m{
		"id": "msg_s", "role": "assistant", "sessionID": "ses_0001", "summary": true, "mode": "compaction", "time": m{"created": 1}}}}}
	auto := prompt("ses_0001", "Continue if you have next steps")
	auto["output"].(m)["parts"].([]m)[0]["synthetic"] = true
	o, log := r.run(m{"steps": []m{
		step(t, "experimental.session.compacting"), summary, stepFinish("ses_0001", "msg_s", "stop"), step(t, "event-session.compacted"), auto,
	}})
	same(t, "events", events(log), []string{"experimental.session.compacting", "session.compacted", "tool.execute.before"})
	same(t, "the host's own prompt", o.Results[4].Output, auto["output"])
}

func TestOpencodeTelemetry(t *testing.T) {
	r := newRigOf(t, eager(t), host(t, "opencode"))
	done := step(t, "event-message.updated.assistant")
	info := done["input"].(m)["properties"].(m)["info"].(m)
	info["time"] = m{"created": 1, "completed": 2}
	info["finish"] = "stop"
	info["tokens"] = m{"input": 900, "output": 20, "reasoning": 3, "cache": m{"read": 100, "write": 5}}
	_, log := r.run(m{"steps": []m{
		step(t, "event-session.created"), step(t, "event-message.updated.user"), step(t, "event-message.updated.assistant"), done, done,
		before("ses_0001", "call_9_0", "bash", m{"command": "x"}), step(t, "event-permission.asked"), {"hook": "dispose"}, {"hook": "dispose"},
		{"hook": "event:unknown.event", "input": m{"type": "unknown.event", "properties": nil}},
		{"hook": "event:session.created", "input": m{"type": "session.created"}},
	}})
	same(t, "events", events(log), []string{"session.created", "message.updated", "tool.execute.before", "permission.asked", "dispose", "tool.execute.before"})
	p := log[1].payload
	same(t, "usage", p["token_usage"], m{"input_tokens": 900, "output_tokens": 20, "reasoning_output_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5})
	if p["response_id"] != "msg_0002" || p["model"] != "mock-1" || p["provider"] != "mock" {
		t.Errorf("payload %v", p)
	}
	if p := log[3].payload; p["tool_name"] != "bash" || p["permission"] != "external_directory" {
		t.Errorf("permission %v", p)
	}
}

// A copy in the project and one in the home: everything happens once, but each
// refuses for itself.
func TestOpencodeTwoCopies(t *testing.T) {
	r := newRig(t, host(t, "opencode"))
	r.answer("chat.message", m{"decision": "allow", "context": "PROMPT"})
	r.answer("tool.execute.after", m{"decision": "allow", "context": "AFTER"})
	r.answer("session.idle", m{"decision": "block", "reason": "go on"})
	r.write("tool.execute.before", `case $input in *refuse*) echo '{"decision":"deny","reason":"no"}';; esac`, 0o644)
	o, log := r.run(m{"copies": 2, "steps": []m{
		step(t, "event-session.created"), step(t, "chat.message"), step(t, "tool.execute.before.write"), step(t, "tool.execute.after.write"),
		before("ses_0001", "call_b", "edit", m{"filePath": "refuse"}),
		{"hook": "event:message.part.updated", "input": m{"type": "message.part.updated", "properties": m{"part": m{
			"type": "tool", "id": "prt_b", "sessionID": "ses_0001", "callID": "call_b", "tool": "edit", "state": m{"status": "error", "error": "no"}}}}},
		stepFinish("ses_0001", "msg_2", "stop"), {"hook": "dispose"},
	}})
	same(t, "events", events(log), []string{
		"session.created", "chat.message", "tool.execute.before", "tool.execute.before", "tool.execute.after",
		"tool.execute.before", "session.idle", "dispose", "tool.execute.before",
	})
	if parts := o.Results[1].Output["parts"].([]any); len(parts) != 2 {
		t.Errorf("parts %v", parts)
	}
	if got := o.Results[3].Output["output"]; got != "Wrote file successfully.\n\nAFTER" {
		t.Errorf("output %q", got)
	}
	if len(o.Prompts) != 1 {
		t.Errorf("prompts %v", o.Prompts)
	}
}

// A hook may answer before it has read a large payload, or without reading it.
func TestOpencodeLargeInput(t *testing.T) {
	r := newRig(t, host(t, "opencode"))
	big := strings.Repeat("x", 3<<20)
	write := before("ses_0001", "call_a", "write", m{"filePath": "a.txt", "content": big})
	_, log := r.run(m{"steps": []m{write}})
	if got := log[0].payload["tool_input"].(m)["content"]; got != big {
		t.Error("the payload was cut")
	}
	r.write("home/bin/flow-agents-hook", "#!/bin/sh\necho '{\"decision\":\"deny\",\"reason\":\"unread\"}'\n", 0o755)
	o, _ := r.run(m{"steps": []m{write}})
	if o.Results[0].Threw == nil || *o.Results[0].Threw != "unread" {
		t.Errorf("threw %v", o.Results[0].Threw)
	}
}
