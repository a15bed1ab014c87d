// Package telemetry writes what happened as JSON lines: one record for each
// canonical event, in the shape of schema/records.cue, less what the channel
// must not carry.
package telemetry

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flow-agents/flow-agents/runtime/digest"
	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/tables"
	"github.com/flow-agents/flow-agents/runtime/text"
)

const schemaVersion = "0.3.0"

// timeFormat is RFC 3339 in UTC with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// types returns the record types that an event yields. sessionEnds says
// whether the host has an event of its own for the end of a session; where it
// has none, a stop is all there is.
func types(e *event.Event, sessionEnds bool) []string {
	var out []string
	add := func(k event.Kind) {
		switch k {
		case event.AgentSpawn:
			out = append(out, "session.start")
		case event.UserPromptSubmit:
			// What the host itself submits is no turn of the user's.
			if !e.NotUser {
				out = append(out, "turn.user")
			}
		case event.PreToolUse:
			out = append(out, "tool.invoke")
		case event.PermissionRequest:
			out = append(out, "tool.permission_request")
		case event.PostToolUse:
			out = append(out, "tool.result")
		case event.SubagentStart:
			out = append(out, "agent.delegate")
		case event.SubagentStop:
			out = append(out, "agent.delegate.result")
		case event.SessionEnd:
			out = append(out, "session.end")
		case event.Stop:
			if !sessionEnds {
				out = append(out, "session.end")
			}
		}
	}
	add(e.Kind)
	for _, k := range e.Also {
		// A tool event stands in for a delegate's only if it delegates.
		if (k == event.SubagentStart || k == event.SubagentStop) && e.Call.Tool != "" && e.Call.Class != event.Subagent {
			continue
		}
		add(k)
	}
	return out
}

// A redaction is the set of paths that a channel leaves out.
type redaction []string

// redact returns the paths of a channel: the override variable's, if it is
// set, even to nothing, else the default.
func redact(c *tables.Channel) redaction {
	list, set := os.LookupEnv(c.Override)
	if !set {
		return c.Redact
	}
	var r redaction
	for p := range strings.SplitSeq(list, ",") {
		if p = strings.TrimSpace(p); p != "" {
			r = append(r, p)
		}
	}
	return r
}

// hides reports whether the path, or a part of the record that it is in, is
// left out.
func (r redaction) hides(path string) bool {
	return slices.ContainsFunc(r, func(p string) bool {
		return p == path || len(p) < len(path) && path[len(p)] == '.' && strings.HasPrefix(path, p)
	})
}

// A writer builds one record.
type writer struct {
	b      []byte
	path   string // of the object under way, with a dot at the end
	hidden redaction
	first  bool
}

func (w *writer) name(key string) bool {
	if w.hidden.hides(w.path + key) {
		return false
	}
	if !w.first {
		w.b = append(w.b, ',')
	}
	w.first = false
	w.b = jsontext.AppendString(w.b, key)
	w.b = append(w.b, ':')
	return true
}

// str writes a string, always; opt writes it unless it is empty.
func (w *writer) str(key, s string) {
	if w.name(key) {
		w.b = jsontext.AppendString(w.b, s)
	}
}

func (w *writer) opt(key, s string) {
	if s != "" {
		w.str(key, s)
	}
}

func (w *writer) raw(key string, v jsontext.Value) {
	if len(v) > 0 && w.name(key) {
		w.b = append(w.b, '"')
		w.b = jsontext.AppendInside(w.b, []byte(v))
		w.b = append(w.b, '"')
	}
}

// object writes an object of the top level.
func (w *writer) object(key string, fill func()) {
	if !w.name(key) {
		return
	}
	w.b = append(w.b, '{')
	w.path, w.first = key+".", true
	fill()
	w.b = append(w.b, '}')
	w.path, w.first = "", false
}

// record appends one record of the given type as a line to dst.
func record(dst []byte, kind, id string, at time.Time, e *event.Event, d event.Decision, hidden redaction) []byte {
	w := &writer{b: append(dst, '{'), hidden: hidden, first: true}
	w.str("schema_version", schemaVersion)
	w.str("timestamp", at.UTC().Format(timeFormat))
	w.str("event_id", id)
	w.str("event_type", kind)
	w.str("session_id", sessionID(e))
	w.object("agent", func() { w.str("runtime", e.Host) })
	w.object("hook", func() {
		w.str("event_name", e.Native)
		w.str("canonical_event", e.Kind.String())
		w.opt("runtime_session_id", label(e.Session))
		w.opt("model", label(e.Model))
		w.opt("source", label(e.Source))
		w.opt("agent_id", label(e.AgentID))
		w.raw("raw_input", e.Raw)
	})
	w.object("context", func() { w.opt("cwd", text.Cut(plain(e.Cwd), maxCwd)) })
	if kind == "turn.user" {
		w.object("turn", func() {
			w.opt("prompt_text", e.Prompt)
			if w.name("prompt_length") {
				w.b = strconv.AppendInt(w.b, int64(utf8.RuneCountInString(e.Prompt)), 10)
			}
		})
	}
	if e.Call.Tool != "" {
		w.object("tool", func() { call(w, kind, &e.Call) })
	}
	if d.Policy != "" {
		w.object("decision", func() { decision(w, d) })
	}
	return append(w.b, "}\n"...)
}

func call(w *writer, kind string, c *event.Call) {
	w.str("name", label(c.Tool))
	w.str("class", c.Class.String())
	w.opt("id", label(c.ID))
	if kind != "tool.result" {
		w.raw("input", c.Input)
		return
	}
	if len(c.Response) > 0 {
		w.raw("output", c.Response)
	} else {
		w.opt("output", c.Error)
	}
}

func decision(w *writer, d event.Decision) {
	w.str("verdict", d.Verdict.String())
	if d.Observed && w.name("observed") {
		w.b = append(w.b, "true"...)
	}
	w.str("policy", d.Policy)
	w.opt("rule", d.Rule)
}

// sessionID hides the host's own session id behind a hash; without one, the
// host, the folder and the parent process stand for the session.
func sessionID(e *event.Event) string {
	s := e.Session
	if s == "" {
		s = e.Cwd + "\x00" + strconv.Itoa(os.Getppid())
	}
	return "r-" + digest.Hex(12, e.Host, s)
}
