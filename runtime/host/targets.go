package host

import (
	"os"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/patch"
	"github.com/flow-agents/flow-agents/runtime/tables"
)

// targets collects the files that a call names.
type targets struct {
	list []event.Target
	// What the tool makes of a path before it opens it.
	syntax []tables.PathSyntax
	// Something stood where a file should, and it could not be read.
	odd bool
	// A field whose name says that it holds a path had one.
	named bool
}

func (t *targets) full() bool { return len(t.list) > event.MaxTargets }

// add takes one path, in both readings where the tool's differs.
func (t *targets) add(path string, op event.Op) {
	if strings.TrimSpace(path) == "" || t.full() {
		return
	}
	t.list = append(t.list, event.Target{Path: path, Op: op})
	if as := reading(path, t.syntax); as != path && as != "" {
		t.list = append(t.list, event.Target{Path: as, Op: op})
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
			return !t.full()
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
	t.odd = !t.patched(s) || t.odd
}

// patched takes what may be a patch; false if it is none.
func (t *targets) patched(s string) bool {
	found := patch.Targets(s)
	for _, f := range found {
		t.add(f.Path, f.Op)
	}
	return len(found) > 0
}

// reading is what a tool makes of a path; empty if that is no file.
func reading(path string, syntax []tables.PathSyntax) string {
	for _, s := range syntax {
		switch s {
		case tables.Trim:
			path = strings.TrimSpace(path)
		case tables.Spaces:
			path = strings.Map(plainSpace, path)
		case tables.At:
			path = strings.TrimPrefix(path, "@")
		case tables.Tilde:
			path = expandHome(path)
		case tables.FileURL:
			path = fileURI(path)
		}
	}
	return path
}

// plainSpace turns the blanks that fit in a line into the usual one.
func plainSpace(r rune) rune {
	if r == 0xa0 || r >= 0x2000 && r <= 0x200a || r == 0x202f || r == 0x205f || r == 0x3000 {
		return ' '
	}
	return r
}

func expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			return home + rest
		}
	}
	return path
}

// A field is what the name of a field says of what it holds.
type field uint8

const (
	plainField   field = iota // nothing
	pathField                 // a path
	sourceField               // where something comes from
	patchField                // a patch
	contentField              // neither a path nor a patch
)

// meaning tells what a field holds by the words of its name.
func meaning(name string) field {
	w := words(name[:min(len(name), maxName)])
	any := func(list []string) bool {
		return slices.ContainsFunc(w, func(s string) bool { return slices.Contains(list, s) })
	}
	switch {
	case len(w) == 0:
		return plainField
	case any(tables.PatchWords):
		return patchField
	case slices.Contains(tables.ContentWords, w[len(w)-1]):
		return contentField
	case slices.Contains(tables.SourceWords, w[0]):
		return sourceField
	case any(tables.PathWords):
		return pathField
	}
	return plainField
}

// A search goes through the input of a tool whose fields no manifest names.
type search struct {
	*targets
	// moves: the tool takes its source away; copies: it only reads it.
	moves, copies bool
	// patches: the tool applies patches, whatever it calls their field.
	patches bool
}

const (
	// maxNesting is how deep a search goes.
	maxNesting = 32
	// maxPlain is longer in bytes than a path is where nothing says that it is
	// one.
	maxPlain = 4096
)

// search looks for files wherever they may be in the input of a tool that
// writes. v is what the tool's name says.
func (t *targets) search(input jsontext.Value, v verbs) {
	t.syntax = append(slices.Clone(t.syntax), tables.Trim, tables.Tilde, tables.FileURL)
	s := search{
		targets: t,
		moves:   v.has(tables.MoveWords),
		copies:  v.has(tables.CopyWords),
		patches: slices.ContainsFunc(v.words, func(w string) bool { return w == "apply" || slices.Contains(tables.PatchWords, w) }),
	}
	if text, ok := input.Text(); ok {
		s.patched(text)
		return
	}
	s.value(input, plainField, 0)
}

// value takes what a field of the given meaning holds.
func (s search) value(v jsontext.Value, f field, depth int) {
	switch {
	case s.full():
	case v.Kind() == '"':
		s.text(v.Str(), f)
	case f == contentField && !s.patches:
	case depth == maxNesting && (v.Kind() == '[' || v.Kind() == '{'):
		s.odd = true
	case v.Kind() == '[':
		v.Each(func(e jsontext.Value) bool { s.value(e, f, depth+1); return !s.full() })
	case v.Kind() == '{':
		for _, m := range v.Object(nil) {
			name := m.Name()
			means := meaning(name)
			// In a map of files the keys are the files.
			switch path := strings.ContainsAny(name, `./\`); {
			case f == pathField && (path || means == plainField):
				s.text(name, pathField)
			case path:
				s.text(name, plainField)
			}
			s.value(m.Value, means, depth+1)
		}
	}
}

// text takes one string.
func (s search) text(text string, f field) {
	lines := strings.IndexByte(text, '\n') >= 0 || strings.HasPrefix(text, "*** ")
	if f == patchField || lines && (f != contentField || s.patches) {
		s.named = s.patched(text) || s.named
	}
	op := event.Change
	switch f {
	case contentField, patchField:
		return
	case sourceField:
		if s.copies {
			return
		}
		if s.moves {
			op = event.MoveFrom
		}
	case plainField:
		if len(text) > maxPlain || strings.ContainsAny(text, " \t\r\n") || !strings.ContainsAny(text, `./\`) {
			return
		}
	case pathField:
		s.named = s.named || strings.TrimSpace(text) != ""
	}
	// What lies elsewhere (https://...) is no file.
	if fileURI(text) != "" {
		s.add(text, op)
	}
}

// fileURI returns the path of a file: URI, nothing for what lies elsewhere
// (https://...), and anything else as it is: what has ".." in it may be meant
// as a path, whatever it begins with.
func fileURI(s string) string {
	if len(s) < 5 || !strings.EqualFold(s[:5], "file:") {
		if i := strings.Index(s, "://"); i > 1 && !strings.ContainsAny(s[:i], `/\.`) && !strings.Contains(s, "..") {
			return ""
		}
		return s
	}
	s = s[5:]
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		// Up to the next slash stands the machine's name.
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			s = rest[i:]
		}
	}
	if i := strings.IndexAny(s, "?#"); i >= 0 {
		s = s[:i]
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, ok1 := hexDigit(s[i+1])
			lo, ok2 := hexDigit(s[i+2])
			if ok1 && ok2 {
				out = append(out, hi<<4|lo)
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
