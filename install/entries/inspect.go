package entries

import (
	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// States of our entries at one place.
const (
	Present  = "present"  // as the source has them
	Modified = "modified" // there, but changed or moved
	Missing  = "missing"
	Stale    = "stale" // at an event that the source does not have
)

// A Place is the state of our entries in one array of hooks.
type Place struct {
	Path  string
	State string
	// Line of the first of our hooks there, 0 if there is none.
	Line int
	// Hooks is how many of ours are there.
	Hooks int
	// Commands are the programs that they run, as written.
	Commands []string
	// Setting: the place is a key of the file that goes with our entries, and
	// Want its value in JSON.
	Setting bool
	Want    string
}

// Inspect compares doc with the source, in the source's order.
func (m Merger) Inspect(doc *jsonedit.Doc) []Place {
	var out []Place
	seen := map[string]bool{}
	for _, s := range m.slots() {
		seen[s.path.String()] = true
		p := m.place(doc, s.path)
		switch {
		case p.Line == 0:
			p.State = Missing
		case m.same(doc, s):
			p.State = Present
		default:
			p.State = Modified
		}
		out = append(out, p)
	}
	for _, key := range m.Source.Keys() {
		if key == hooksKey || jsonedit.Equal(doc.Raw(key), m.Source.Raw(key)) {
			continue
		}
		p := Place{Path: key, State: Modified, Setting: true, Want: canonical(m.Source.Decoded(key))}
		p.Line, _ = doc.Pos(key)
		out = append(out, p)
	}
	for _, path := range m.arrays(doc) {
		if p := m.place(doc, path); p.Line > 0 && !seen[p.Path] {
			p.State = Stale
			out = append(out, p)
		}
	}
	return out
}

// Installed reports whether doc holds any hook of ours, and the line of the
// first.
func (m Merger) Installed(doc *jsonedit.Doc) (line int, ok bool) {
	for _, path := range m.arrays(doc) {
		if p := m.place(doc, path); p.Line > 0 {
			return p.Line, true
		}
	}
	return 0, false
}

// OnlyOurs reports whether doc holds hooks of ours and no others.
func (m Merger) OnlyOurs(doc *jsonedit.Doc) bool {
	n := 0
	for _, path := range m.arrays(doc) {
		for _, hook := range m.hooks(doc, path) {
			if !m.Owner.Owns(doc.Decoded(hook...)) {
				return false
			}
			n++
		}
	}
	return n > 0
}

func (m Merger) place(doc *jsonedit.Doc, path jsonedit.Path) Place {
	p := Place{Path: path.String()}
	for _, hook := range m.hooks(doc, path) {
		if cmds := m.Owner.Commands(doc.Decoded(hook...)); len(cmds) > 0 {
			p.Hooks++
			p.Commands = append(p.Commands, cmds...)
			if p.Line == 0 {
				p.Line, _ = doc.Pos(hook...)
			}
		}
	}
	return p
}

// hooks lists the places of all hooks below an array.
func (m Merger) hooks(doc *jsonedit.Doc, path jsonedit.Path) []jsonedit.Path {
	var out []jsonedit.Path
	for i := range doc.Len(path...) {
		if m.Shape != Nested {
			out = append(out, path.With(i))
			continue
		}
		for j := range doc.Len(path.With(i, hooksKey)...) {
			out = append(out, path.With(i, hooksKey, j))
		}
	}
	return out
}

// same reports whether our elements of an array are exactly those wanted.
func (m Merger) same(doc *jsonedit.Doc, s slot) bool {
	var have []jsonedit.Path
	for i := range doc.Len(s.path...) {
		at := s.path.With(i)
		own := m.Owner.Owns(doc.Decoded(at...))
		if m.Shape == Nested {
			own = len(m.owned(doc, at.With(hooksKey))) > 0
		}
		if own {
			have = append(have, at)
		}
	}
	if len(have) != len(s.want) {
		return false
	}
	for i, at := range have {
		if !jsonedit.Equal(doc.Raw(at...), s.want[i]) {
			return false
		}
	}
	return true
}

// Count is the number of hooks that the source registers.
func (m Merger) Count() int {
	n := 0
	for _, path := range m.arrays(m.Source) {
		n += len(m.hooks(m.Source, path))
	}
	return n
}
