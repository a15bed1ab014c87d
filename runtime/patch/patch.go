// Package patch finds the files that a patch would change. It reads two
// formats: the one of apply_patch tools ("*** Update File: x") and unified
// diffs, git's extensions included. It looks at headers only; whether the
// patch would apply is the tool's business.
package patch

import (
	"strings"

	"github.com/flow-agents/flow-agents/runtime/event"
)

// Targets returns the files that text adds, changes, deletes or moves, in
// order. A move yields both ends. Text that is no patch yields none.
//
// Where appliers differ the wider reading is taken: a line that only some of
// them would take for a header counts.
func Targets(text string) []event.Target {
	p := parser{envelope: strings.Contains(text, "*** ")}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		if p.envelope && p.header(line) {
			continue
		}
		if !p.inEnvelope {
			p.unified(line)
		}
	}
	p.flush()
	return p.targets
}

type parser struct {
	targets []event.Target
	// The text may hold lines of the apply_patch format.
	envelope bool
	// Such a header was seen, so diff lines are content.
	inEnvelope bool
	// In an update, lines that begin with a blank are context, not headers.
	update bool

	old  string // of a "--- " line that waits for its "+++ "
	hunk bool   // after "@@", until the next header
	git  string // of a "diff --git" line that no other header has explained
}

func (p *parser) add(path string, op event.Op) bool {
	if path = strings.TrimSpace(path); path == "" {
		return false
	}
	p.targets = append(p.targets, event.Target{Path: path, Op: op})
	return true
}

var headers = []struct {
	prefix string
	op     event.Op
}{
	{"*** Add File:", event.Add},
	{"*** Update File:", event.Change},
	{"*** Delete File:", event.Delete},
	{"*** Move to:", event.MoveTo},
	{"*** Move File:", event.MoveFrom},
	{"*** Rename to:", event.MoveTo},
}

// header takes a line of the apply_patch format.
func (p *parser) header(line string) bool {
	if line == "" || p.update && (line[0] == ' ' || line[0] == '\t') {
		return false
	}
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "*** ") {
		return false
	}
	for _, h := range headers {
		if len(line) < len(h.prefix) || !strings.EqualFold(line[:len(h.prefix)], h.prefix) {
			continue
		}
		path := line[len(h.prefix):]
		if h.op == event.MoveTo {
			// Both ends of a move are moved.
			if n := len(p.targets); n > 0 && p.targets[n-1].Op == event.Change {
				p.targets[n-1].Op = event.MoveFrom
			}
			if before, after, ok := strings.Cut(path, " -> "); ok {
				p.add(before, event.MoveFrom)
				path = after
			}
		}
		p.add(path, h.op)
		p.inEnvelope = true
		p.update = h.op == event.Change || h.op == event.MoveTo
		return true
	}
	if strings.HasPrefix(line, "*** Begin Patch") || strings.HasPrefix(line, "*** End Patch") {
		p.inEnvelope = strings.HasPrefix(line, "*** Begin")
		p.update = false
		return true
	}
	return false
}

// unified takes a line of a unified diff.
func (p *parser) unified(line string) {
	old := p.old
	p.old = ""
	if rest, ok := strings.CutPrefix(line, "+++ "); ok && (old != "" || !p.hunk) {
		p.pair(old, rest)
		return
	}
	if old != "" && !p.hunk {
		// "--- a/x" that no "+++ " follows, outside a hunk.
		p.side(old, event.Delete)
	}
	if rest, ok := strings.CutPrefix(line, "--- "); ok {
		p.old = rest
		return
	}
	for _, h := range []struct {
		prefix string
		op     event.Op
	}{{"rename from ", event.MoveFrom}, {"rename to ", event.MoveTo}, {"copy to ", event.Add}} {
		if rest, ok := strings.CutPrefix(line, h.prefix); ok && !p.hunk {
			p.add(unquote(rest), h.op)
			p.git = ""
			return
		}
	}
	switch {
	case strings.HasPrefix(line, "diff --git "):
		p.flush()
		p.hunk = false
		p.git = line[len("diff --git "):]
	case strings.HasPrefix(line, "Index: "):
		p.hunk = false
		p.add(unquote(line[len("Index: "):]), event.Change)
	case strings.HasPrefix(line, "@@"):
		p.hunk = true
	}
}

// pair takes the two file lines of a unified diff.
func (p *parser) pair(old, new string) {
	p.hunk = false
	p.git = ""
	switch {
	case null(old):
		p.side(new, event.Add)
	case null(new):
		p.side(old, event.Delete)
	default:
		if old != "" && clean(old) != clean(new) {
			p.side(old, event.MoveFrom)
			p.side(new, event.MoveTo)
			return
		}
		p.side(new, event.Change)
	}
}

// side adds the file of a "--- " or "+++ " line, with and without git's a/ or
// b/: an applier may strip it or not.
func (p *parser) side(s string, op event.Op) {
	if null(s) {
		return
	}
	p.add(clean(s), op)
}

func null(s string) bool { return clean(s) == "/dev/null" }

// clean takes the path from a file line: without a time stamp after a tab,
// quotes, and one leading a/ or b/ (or i/ w/ c/ o/, git's mnemonic ones).
func clean(s string) string {
	if s, _, _ = strings.Cut(s, "\t"); len(s) > 0 && s[0] == '"' {
		s = unquote(s)
	}
	s = strings.TrimSpace(s)
	if len(s) > 2 && s[1] == '/' && strings.IndexByte("abiwco", s[0]) >= 0 {
		return s[2:]
	}
	return s
}

// flush accounts for a "diff --git a/x b/y" that had no file lines, as for a
// binary file, a change of mode, or an empty file.
func (p *parser) flush() {
	if p.old != "" && !p.hunk {
		p.side(p.old, event.Delete)
		p.old = ""
	}
	if p.git == "" {
		return
	}
	s := p.git
	p.git = ""
	if i := strings.LastIndex(s, " b/"); i >= 0 {
		p.side(s[:i], event.Change)
		p.side(s[i+1:], event.Change)
		return
	}
	if i := strings.LastIndex(s, ` "`); i >= 0 {
		p.side(s[:i], event.Change)
		p.side(s[i+1:], event.Change)
		return
	}
	if before, after, ok := strings.Cut(s, " "); ok {
		p.side(before, event.Change)
		p.side(after, event.Change)
	}
}

// unquote decodes a path that git wrote in C's quotes. Anything else is
// returned as it is.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	in := s[1 : len(s)-1]
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); i++ {
		c := in[i]
		if c != '\\' || i+1 == len(in) {
			out = append(out, c)
			continue
		}
		i++
		switch c = in[i]; {
		case c >= '0' && c <= '7':
			n := 0
			for j := 0; j < 3 && i < len(in) && in[i] >= '0' && in[i] <= '7'; j++ {
				n = n*8 + int(in[i]-'0')
				i++
			}
			i--
			out = append(out, byte(n))
		case c == 'n':
			out = append(out, '\n')
		case c == 't':
			out = append(out, '\t')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}
