// Package patch finds the files that a patch would change. It reads two
// formats: the one of apply_patch tools ("*** Update File: x") and diffs, git's
// extensions included. It looks at headers only; whether the
// patch would apply is the tool's business.
package patch

import (
	"strings"

	"github.com/flow-agents/flow-agents/runtime/event"
)

// Targets returns the files that text adds, changes, deletes or moves, in
// order, at most one more than event.MaxTargets. A move yields both ends. Text
// that is no patch yields none.
//
// Where appliers differ the wider reading is taken: a line that only some of
// them would take for a header counts. Both formats are looked for all the way
// through, because an applier skips what is junk to it; only the content of a
// file, which begins with +, - or a blank, is no header of the other format.
func Targets(text string) []event.Target {
	p := parser{envelope: strings.Contains(text, "*** ")}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		if !p.envelope || !p.header(line) {
			p.unified(line)
		}
		if len(p.targets) > event.MaxTargets {
			return p.targets
		}
	}
	p.flush()
	return p.targets
}

type parser struct {
	targets []event.Target
	// The text may hold lines of the apply_patch format.
	envelope bool
	// A file of that format is open, so lines that begin with + or - are its
	// content.
	section bool
	// In an update, lines that begin with a blank are context, not headers.
	update bool

	hunk bool // after "@@", until the next header
	// The whole diff is indented, which some appliers undo.
	indented bool
	// The names of the last "--- " and "+++ " lines that wait: outside of
	// content the first for the second, inside of it for a hunk, because
	// without one they are content.
	old, new string
	git      string // of a "diff --git" line that no other header has explained
}

func (p *parser) add(path string, op event.Op) {
	if path = strings.TrimSpace(path); path != "" {
		p.targets = append(p.targets, event.Target{Path: path, Op: op})
	}
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
	if line == "" || (p.update || p.hunk) && (line[0] == ' ' || line[0] == '\t') {
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
		p.flush()
		p.file(line[len(h.prefix):], h.op)
		p.section, p.hunk = true, false
		p.update = h.op == event.Change || h.op == event.MoveTo
		return true
	}
	if strings.HasPrefix(line, "*** Begin Patch") || strings.HasPrefix(line, "*** End Patch") {
		p.flush()
		p.section, p.update, p.hunk = false, false, false
		return true
	}
	return false
}

// file takes the name in a header.
func (p *parser) file(path string, op event.Op) {
	if op == event.MoveTo {
		// Both ends of a move are moved.
		if n := len(p.targets); n > 0 && p.targets[n-1].Op == event.Change {
			p.targets[n-1].Op = event.MoveFrom
		}
		if before, after, ok := strings.Cut(path, " -> "); ok {
			p.add(before, event.MoveFrom)
			path = after
		}
	}
	p.add(path, op)
}

// unified takes a line of a unified diff.
func (p *parser) unified(line string) {
	content := p.hunk || p.section
	if flat := strings.TrimLeft(line, " \t"); !content || p.indented {
		p.indented = p.indented || strings.HasPrefix(flat, "@@") && flat != line
		line = flat
	}
	if rest, ok := strings.CutPrefix(line, "+++ "); ok {
		p.new = rest
		if !content {
			p.pair()
		}
		return
	}
	if p.old != "" && !content {
		// "--- a/x" that no "+++ " follows.
		p.side(p.old, event.Delete)
		p.old = ""
	}
	if rest, ok := strings.CutPrefix(line, "--- "); ok {
		p.old = rest
		return
	}
	switch {
	case strings.HasPrefix(line, "diff --git "):
		p.flush()
		p.hunk, p.section = false, false
		p.git = line[len("diff --git "):]
	case strings.HasPrefix(line, "Index: "):
		p.hunk = false
		p.add(unquote(line[len("Index: "):]), event.Change)
	case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "***************"):
		p.pair()
		p.hunk = true
	case strings.HasPrefix(line, "*** ") && !p.section:
		// A context diff names the old file so, and then the new one by "--- ".
		p.new = line[len("*** "):]
	case !p.hunk:
		p.extended(line)
	}
}

// extended takes git's lines of a move.
func (p *parser) extended(line string) {
	for _, h := range []struct {
		prefix string
		op     event.Op
	}{{"rename from ", event.MoveFrom}, {"rename to ", event.MoveTo}, {"copy to ", event.Add}} {
		if rest, ok := strings.CutPrefix(line, h.prefix); ok {
			p.add(unquote(rest), h.op)
			p.git = ""
			return
		}
	}
}

// pair takes the two names of a unified diff, if there are any.
func (p *parser) pair() {
	old, new := p.old, p.new
	p.old, p.new = "", ""
	if old == "" && new == "" {
		return
	}
	p.git = ""
	switch {
	case null(old):
		p.side(new, event.Add)
	case null(new):
		p.side(old, event.Delete)
	case old == "", new == "", clean(old) == clean(new):
		p.side(new, event.Change)
		if new == "" {
			p.side(old, event.Change)
		}
	default:
		p.side(old, event.MoveFrom)
		p.side(new, event.MoveTo)
	}
}

// side adds the file of a "--- " or "+++ " line. A time stamp stands after a
// tab, or, as some programs write it, after a blank; there a name with blanks
// can't be told from it, so each reading counts.
func (p *parser) side(s string, op event.Op) {
	if null(s) {
		return
	}
	p.name(s, op)
	if strings.IndexByte(s, '\t') >= 0 || strings.HasPrefix(s, `"`) {
		return
	}
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, ' '); i >= 0 {
		p.name(s[:i], op)
	}
	for i := 0; i+4 < len(s); i++ {
		if s[i] == ' ' && digit(s[i+1]) && digit(s[i+2]) && strings.IndexByte(s[:i], ' ') >= 0 {
			p.name(s[:i], op)
			return
		}
	}
}

func (p *parser) name(s string, op event.Op) { p.add(clean(s), op) }

func digit(c byte) bool { return '0' <= c && c <= '9' }

func null(s string) bool { return clean(s) == "/dev/null" }

// clean takes the path from a file line: without a time stamp after a tab,
// quotes, and one leading a/ or b/ (or i/ w/ c/ o/, git's mnemonic ones). An
// applier may leave that prefix; the base name is the same.
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
	if p.old != "" && !p.hunk && !p.section {
		p.side(p.old, event.Delete)
	}
	p.old, p.new = "", ""
	if p.git == "" {
		return
	}
	s := p.git
	p.git = ""
	if i := max(strings.LastIndex(s, " b/"), strings.LastIndex(s, ` "`)); i >= 0 {
		p.name(s[:i], event.Change)
		p.name(s[i+1:], event.Change)
		return
	}
	// Without prefixes, both names are the same.
	if n := len(s) / 2; s[n] == ' ' && s[:n] == s[n+1:] {
		p.name(s[:n], event.Change)
		return
	}
	if before, after, ok := strings.Cut(s, " "); ok {
		p.name(before, event.Change)
		p.name(after, event.Change)
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
