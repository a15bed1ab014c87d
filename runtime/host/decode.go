package host

import (
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/patch"
	"github.com/flow-agents/flow-agents/runtime/tables"
)

// Decode turns a payload into a canonical event. raw is one JSON value, or the
// beginning of one if truncated; whatever is missing or of the wrong type is
// left empty, so there is no error.
func (h Hook) Decode(raw jsontext.Value, truncated bool) *event.Event {
	var buf [32]jsontext.Field
	top := raw.Object(buf[:0])
	p := &h.Surface.Payload
	e := &event.Event{
		Host: h.Host.ID, Surface: h.Surface.ID, Native: h.Event.Native, Kind: h.Event.Kind, Also: h.Event.Also,
		Session: first(top, p.Session).Str(), Cwd: first(top, p.Cwd).Str(), AgentID: first(top, p.AgentID).Str(),
		Model: first(top, p.Model).Str(), Source: first(top, p.Source).Str(),
		Truncated: truncated, Raw: raw,
	}
	switch e.Kind {
	case event.UserPromptSubmit:
		e.Prompt = first(top, p.Prompt).Str()
		start := strings.TrimSpace(e.Prompt)
		e.NotUser = slices.ContainsFunc(p.NotUser, func(s string) bool { return strings.HasPrefix(start, s) })
	case event.PreToolUse, event.PostToolUse, event.PermissionRequest:
		c := &e.Call
		c.ID = first(top, p.CallID).Str()
		c.Tool = first(top, p.Tool).Str()
		c.Input = inner(first(top, p.Input))
		c.Response = first(top, p.Response)
		c.Error = scalar(first(top, p.Error))
		c.Pending = string(first(top, p.Pending)) == "true"
		h.classify(c)
	}
	return e
}

// first returns the first of the paths that leads to something.
func first(top jsontext.Object, paths []tables.Path) jsontext.Value {
	for _, p := range paths {
		if len(p) == 0 {
			continue
		}
		v := top.Get(p[0].Key)
		for _, s := range p[1:] {
			v = v.Get(s.Key)
		}
		if !v.Absent() {
			return v
		}
	}
	return nil
}

// inner unwraps a tool input that the host sends as a string of JSON.
func inner(v jsontext.Value) jsontext.Value {
	if s, ok := v.Text(); ok && strings.HasPrefix(strings.TrimSpace(s), "{") {
		if b := []byte(s); jsontext.Valid(b) {
			return jsontext.Trim(b)
		}
	}
	return v
}

// scalar returns a string decoded and anything else as its JSON text.
func scalar(v jsontext.Value) string {
	if s, ok := v.Text(); ok {
		return s
	}
	if v.Absent() {
		return ""
	}
	return string(v)
}

// classify finds out what the call does and to which files.
func (h Hook) classify(c *event.Call) {
	tool := h.tool(c.Tool)
	if tool == nil || tool.Class == event.MCP {
		class, writes := byName(c.Tool)
		if c.Class = class; tool != nil {
			c.Class = event.MCP
		}
		if c.Writes = writes; writes {
			t := targets{}
			t.generic(c)
			c.Targets = t.list
		}
		return
	}
	c.Class = tool.Class
	if len(tool.Command) > 0 {
		for _, p := range tool.Command {
			if each(c.Input, p, func(v jsontext.Value) { c.Command = command(v) }); c.Command != "" {
				break
			}
		}
		c.Targets = shellPatch(c.Command)
		c.Writes = len(c.Targets) > 0
	}
	if c.Class != event.Write && c.Class != event.Edit {
		return
	}
	c.Writes = true
	t := targets{}
	for _, p := range tool.Path {
		each(c.Input, p, t.path)
	}
	for _, p := range tool.Patch {
		each(c.Input, p, t.patch)
	}
	if len(tool.Patch) > 0 {
		// The whole input may be the patch.
		if s, ok := c.Input.Text(); ok {
			t.diff(s)
		}
	}
	if len(t.list) == 0 && !t.odd {
		t.generic(c)
	}
	c.Targets = t.list
	c.Unread = t.odd || len(t.list) == 0
}

// shellPatch returns the files of patches that a command line hands to an
// apply_patch that some hosts put in front of the shell. It is not a program
// that could be run some other way, so it counts only as a command's first
// word.
func shellPatch(command string) []event.Target {
	const name = "apply_patch"
	before, rest, ok := strings.Cut(command, name)
	for ok {
		at := strings.TrimRight(before, " \t\"'")
		if at == "" || strings.IndexByte("&;|(\n", at[len(at)-1]) >= 0 {
			return patch.Targets(rest)
		}
		before, rest, ok = strings.Cut(rest, name)
	}
	return nil
}

// tool returns the host's entry for a tool: its own, else the longest one that
// ends in *. nil if there is none.
func (h Hook) tool(name string) *tables.Tool {
	var best *tables.Tool
	for i := range h.Host.Tools {
		t := &h.Host.Tools[i]
		if t.Name == name {
			return t
		}
		stem, ok := strings.CutSuffix(t.Name, "*")
		if ok && strings.HasPrefix(name, stem) && (best == nil || len(t.Name) > len(best.Name)) {
			best = t
		}
	}
	return best
}

// each calls f with every value that the path leads to.
func each(v jsontext.Value, p tables.Path, f func(jsontext.Value)) {
	if len(p) == 0 {
		if !v.Absent() {
			f(v)
		}
		return
	}
	v = v.Get(p[0].Key)
	if !p[0].Each {
		each(v, p[1:], f)
		return
	}
	v.Each(func(e jsontext.Value) bool { each(e, p[1:], f); return true })
}

// command returns a command line, whether it is given as text or as words.
func command(v jsontext.Value) string {
	if s, ok := v.Text(); ok {
		return s
	}
	var words []string
	v.Each(func(e jsontext.Value) bool { words = append(words, e.Str()); return true })
	return strings.Join(words, " ")
}

// targets collects the files that a call names.
type targets struct {
	list []event.Target
	// Something stood where a file should, and it could not be read.
	odd bool
}

func (t *targets) add(path string, op event.Op) {
	if strings.TrimSpace(path) != "" {
		t.list = append(t.list, event.Target{Path: path, Op: op})
	}
}

// path takes the value of a path field: a string, or several.
func (t *targets) path(v jsontext.Value) {
	switch v.Kind() {
	case '"':
		t.add(v.Str(), event.Change)
	case '[':
		v.Each(func(e jsontext.Value) bool {
			s, ok := e.Text()
			t.odd = t.odd || !ok
			t.add(s, event.Change)
			return true
		})
	default:
		t.odd = true
	}
}

// patch takes the value of a patch field: a string, or several.
func (t *targets) patch(v jsontext.Value) {
	switch v.Kind() {
	case '"':
		t.diff(v.Str())
	case '[':
		t.diff(strings.ReplaceAll(command(v), "\r", ""))
	default:
		t.odd = true
	}
}

func (t *targets) diff(s string) {
	found := patch.Targets(s)
	t.odd = t.odd || len(found) == 0
	t.list = append(t.list, found...)
}
