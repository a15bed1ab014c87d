package host

import (
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/patch"
	"github.com/flow-agents/flow-agents/runtime/tables"
)

// byName tells what a tool does that no manifest lists, by the words of its
// name. Of an MCP tool's name the part after the server counts, if it has a
// word that says something.
func byName(name string) (event.Class, bool) {
	own := name
	if i := max(strings.LastIndex(name, "__")+1, strings.LastIndex(name, "/")); i > 0 {
		own = name[i+1:]
	}
	for _, s := range []string{own, name} {
		w := words(s)
		reads, writes := has(w, tables.ReadWords), has(w, tables.WriteWords)
		// A name that joins two verbs does what the second one says:
		// search_and_replace, get_or_create, find_replace.
		if reads && writes {
			reads = !has(w, []string{"and", "or", "replace"})
		}
		switch {
		case reads:
			return event.Read, false
		case writes:
			return event.Write, true
		}
	}
	return event.Other, false
}

func has(words, list []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
}

// words splits an identifier, however it is spelled, into lower-case words.
func words(s string) []string {
	var out []string
	start := 0
	end := func(i int) {
		if i > start {
			out = append(out, strings.ToLower(s[start:i]))
		}
	}
	for i := 0; i < len(s); i++ {
		switch {
		case !upper(s[i]) && !lower(s[i]):
			end(i)
			start = i + 1
		case upper(s[i]) && i > start && (lower(s[i-1]) || i+1 < len(s) && lower(s[i+1])):
			end(i)
			start = i
		}
	}
	end(len(s))
	return out
}

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
func lower(c byte) bool { return 'a' <= c && c <= 'z' }

// generic looks for files in all the usual places.
func (t *targets) generic(c *event.Call) {
	for _, p := range tables.PathFields {
		each(c.Input, p, func(v jsontext.Value) {
			switch v.Kind() {
			case '"':
				t.add(fileURI(v.Str()), event.Change)
			case '[':
				v.Each(func(e jsontext.Value) bool {
					t.add(fileURI(e.Str()), event.Change)
					return true
				})
			}
		})
	}
	if !slices.Contains(words(c.Tool), "copy") {
		for _, p := range tables.SourceFields {
			each(c.Input, p, func(v jsontext.Value) { t.add(fileURI(v.Str()), event.MoveFrom) })
		}
	}
	for _, p := range tables.PatchFields {
		each(c.Input, p, func(v jsontext.Value) { t.list = append(t.list, patch.Targets(v.Str())...) })
	}
}

// fileURI returns the path of a file: URI, nothing for what lies elsewhere
// (https://...), and anything else as it is.
func fileURI(s string) string {
	if len(s) < 5 || !strings.EqualFold(s[:5], "file:") {
		if i := strings.Index(s, "://"); i > 1 && !strings.ContainsAny(s[:i], `/\.`) {
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
