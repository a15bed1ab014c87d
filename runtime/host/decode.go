package host

import (
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
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
		in := jsontext.FirstValue(strings.NewReader(s), len(s), nil)
		if in.End == jsontext.Complete || in.End == jsontext.TooDeep {
			return in.Text
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
	t := targets{syntax: h.Host.PathSyntax}
	switch {
	case tool == nil || tool.Class == event.MCP:
		class, v := unlisted(c.Tool, c.Input)
		if c.Class = class; tool != nil {
			c.Class = event.MCP
		}
		if c.Writes = v.changes; c.Writes {
			t.search(c.Input, v)
			c.Unread = t.odd
		}
	case tool.Class == event.Write, tool.Class == event.Edit:
		c.Class, c.Writes = tool.Class, true
		t.listed(c, tool)
		c.Unread = t.odd || len(t.list) == 0
	default:
		c.Class = tool.Class
		c.Command = firstCommand(c.Input, tool.Command)
		if tool.ShellPatch && holdsPatch(c.Command) {
			c.Writes = t.patched(c.Command)
			// The shell may turn \n into a new line, and take the tabs off a text
			// that stands behind <<-.
			if s := strings.ReplaceAll(strings.ReplaceAll(c.Command, `\n`, "\n"), "\t", ""); s != c.Command {
				c.Writes = t.patched(s) || c.Writes
			}
		}
	}
	c.Targets = t.list
	c.Unread = c.Unread || t.full()
}

// listed collects the files of a tool whose fields the manifest names. Where
// they hold nothing, another field may be telling.
func (t *targets) listed(c *event.Call, tool *tables.Tool) {
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
		t.search(c.Input, verbs{at: -1})
		t.odd = t.odd || !t.named
	}
}

func firstCommand(input jsontext.Value, paths []tables.Path) (line string) {
	for _, p := range paths {
		if each(input, p, func(v jsontext.Value) { line = command(v) }); line != "" {
			break
		}
	}
	return line
}

// holdsPatch reports whether a command line may hand a patch to the apply_patch
// that some hosts put on the shell's path. It is a program like any other, so
// whatever stands before its name may run it, and the patch may be anywhere.
func holdsPatch(command string) bool {
	return strings.Contains(command, "*** Begin Patch") && (hasWord(command, "apply_patch") || hasWord(command, "applypatch"))
}

// hasWord reports whether a name stands in s that is not part of a longer one.
func hasWord(s, name string) bool {
	joins := func(c byte) bool { return upper(c) || lower(c) || '0' <= c && c <= '9' || c == '_' || c == '-' }
	for at := 0; ; {
		i := strings.Index(s[at:], name)
		if i < 0 {
			return false
		}
		at += i + len(name)
		if (at == len(name) || !joins(s[at-len(name)-1])) && (at == len(s) || !joins(s[at])) {
			return true
		}
	}
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
