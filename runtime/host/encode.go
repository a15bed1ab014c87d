package host

import (
	"strings"

	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/tables"
	"github.com/flow-agents/flow-agents/runtime/text"
)

// An Answer is what the process says to its host. The zero Answer is no
// objection: the host does what it would have done without the hook.
type Answer struct {
	Exit           int
	Stdout, Stderr []byte
}

// Says reports whether the host can be told the verdict at this event.
func (h Hook) Says(v event.Verdict) bool { return v == event.Allow || h.form(v) != nil }

func (h Hook) form(v event.Verdict) *tables.Form {
	switch e := h.Event; v {
	case event.Context:
		return e.Context
	case event.Ask:
		if e.Ask != nil {
			return e.Ask
		}
		return e.Deny
	case event.Deny:
		return e.Deny
	case event.Block:
		return e.Block
	}
	return nil
}

// Encode says a decision in the host's own form. It is silent where there is
// nothing to say or no way to say it, and where the decision is only observed.
// A refusal always has a reason.
func (h Hook) Encode(d event.Decision) Answer {
	form := h.form(d.Verdict)
	if form == nil || d.Observed {
		return Answer{}
	}
	body := text.Clean(d.Text)
	if strings.TrimSpace(body) == "" {
		if d.Verdict == event.Context {
			return Answer{}
		}
		body = "BLOCKED by the policy " + d.Policy + "."
	}
	body = text.Cut(body, form.Cap)
	return Answer{form.Exit, h.write(form.Stdout, body), h.write(form.Stderr, body)}
}

func (h Hook) write(pieces []tables.Piece, body string) []byte {
	if len(pieces) == 0 {
		return nil
	}
	out := make([]byte, 0, len(body)+128)
	for _, p := range pieces {
		out = append(out, p.Lit...)
		var s string
		switch p.Var {
		case tables.Text:
			s = body
		case tables.Name:
			s = h.Event.Native
		}
		if p.JSON {
			out = jsontext.AppendInside(out, s)
		} else {
			out = append(out, s...)
		}
	}
	return out
}
