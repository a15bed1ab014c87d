package jsonedit

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// A container is an object or array of a text, by offsets.
type container struct {
	open, close int // of the brackets
	items       []item
}

// An item is a member or an element. before is where the blanks and comments
// in front of it start; comma is -1 if none follows.
type item struct{ before, start, end, comma int }

func containerOf(src []byte, v *hujson.Value) (container, bool) {
	c := container{open: v.StartOffset, close: v.EndOffset - 1}
	add := func(first, last *hujson.Value, isLast bool) {
		it := item{before: first.StartOffset - len(first.BeforeExtra), start: first.StartOffset, end: last.EndOffset, comma: -1}
		// The parser marks a trailing comma by what follows the last value.
		if !isLast || last.AfterExtra != nil {
			it.comma = last.EndOffset + len(last.AfterExtra)
		}
		c.items = append(c.items, it)
	}
	switch t := v.Value.(type) {
	case *hujson.Object:
		for i := range t.Members {
			add(&t.Members[i].Name, &t.Members[i].Value, i == len(t.Members)-1)
		}
	case *hujson.Array:
		for i := range t.Elements {
			add(&t.Elements[i], &t.Elements[i], i == len(t.Elements)-1)
		}
	default:
		return c, false
	}
	return c, true
}

// tail is where the last item ends, its comma included.
func (c container) tail() int {
	if len(c.items) == 0 {
		return c.open + 1
	}
	last := c.items[len(c.items)-1]
	if last.comma >= 0 {
		return last.comma + 1
	}
	return last.end
}

// spread reports whether the items stand on lines of their own.
func (c container) spread(src []byte) bool {
	if hasNewline(src[c.tail():c.close]) {
		return true
	}
	return len(c.items) > 0 && hasNewline(src[c.open:c.items[0].start])
}

// A span replaces the bytes from start to end.
type span struct {
	start, end int
	text       []byte
}

func (d *Doc) apply(spans ...span) error {
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, s := range spans {
		out = append(append(out, d.src[at:s.start]...), s.text...)
		at = s.end
	}
	return d.read(append(out, d.src[at:]...))
}

// Append adds value as the last element of the array at path.
func (d *Doc) Append(path Path, value hujson.Value) error {
	return d.insert(path, '[', "", value)
}

// Put adds a member as the last one of the object at path, which must not have
// the key yet.
func (d *Doc) Put(path Path, key string, value hujson.Value) error {
	if d.blank && len(path) == 0 {
		// The text's own blanks stay in front.
		if err := d.read(append(bytes.Clone(d.src), "{}"+d.style.newline...)); err != nil {
			return err
		}
	}
	if d.Has(path.With(key)...) {
		return fmt.Errorf("%s is there already", path.With(key))
	}
	return d.insert(path, '{', key, value)
}

func (d *Doc) insert(path Path, kind hujson.Kind, key string, value hujson.Value) error {
	v := d.at(path)
	if v == nil || v.Value.Kind() != kind {
		return fmt.Errorf("%s: nothing to insert into", path)
	}
	c, _ := containerOf(d.src, v)
	spread := d.spread(path)

	var spans []span
	trailing := ""
	if n := len(c.items); n > 0 {
		if last := c.items[n-1]; last.comma < 0 {
			spans = append(spans, span{last.end, last.end, []byte(",")})
		} else {
			trailing = ","
		}
	}

	// Comments behind the last item belong to it and stay in front of ours.
	tail := d.src[c.tail():c.close]
	comment := lastComment(tail)
	pos := c.tail() + comment
	if len(c.items) == 0 && comment == 0 && !hasNewline(tail) {
		pos = c.close
	}

	outer := lineIndent(d.src, c.open)
	indent := outer + d.style.indent
	if n := len(c.items); n > 0 {
		if own, ok := ownLine(d.src, c.items[n-1].start); ok {
			indent = own
		} else if !spread {
			indent = lineIndent(d.src, c.items[n-1].start)
		}
	}
	// A value is laid out over lines unless its container is all on one.
	pretty := spread || hasNewline(d.src[c.open:c.close])
	var text []byte
	switch {
	case spread:
		text = append(text, d.style.newline+indent...)
	case len(c.items) > 0 || comment > 0:
		text = append(text, d.style.blank...)
	}
	if kind == '{' {
		text = append(text, hujson.String(key)...)
		text = append(text, ":"+d.style.colon...)
	}
	text = append(d.render(text, value, pretty, indent), trailing...)
	if spread && !hasNewline(d.src[pos:c.close]) {
		text = append(text, d.style.newline+outer...)
	}
	return d.apply(append(spans, span{pos, pos, text})...)
}

// spread reports whether a value inserted at path gets lines of its own. An
// empty container does as its parent does.
func (d *Doc) spread(path Path) bool {
	for n := len(path); ; n-- {
		c, ok := containerOf(d.src, d.at(path[:n]))
		if ok && (len(c.items) > 0 || hasNewline(d.src[c.open:c.close])) {
			return c.spread(d.src)
		}
		if n == 0 {
			return true
		}
	}
}

// Replace puts value in the place of the one at path.
func (d *Doc) Replace(path Path, value hujson.Value) error {
	v := d.at(path)
	if v == nil {
		return fmt.Errorf("%s: nothing to replace", path)
	}
	pretty := hasNewline(d.src[v.StartOffset:v.EndOffset])
	if !pretty && len(path) > 0 {
		pretty = d.spread(path[:len(path)-1])
	}
	text := d.render(nil, value, pretty, lineIndent(d.src, v.StartOffset))
	return d.apply(span{v.StartOffset, v.EndOffset, text})
}

// Delete removes the member or element at path, with its comma and the blanks
// in front of it. Comments stay.
func (d *Doc) Delete(path Path) error {
	if len(path) == 0 || !d.Has(path...) {
		return fmt.Errorf("%s: nothing to delete", path)
	}
	c, _ := containerOf(d.src, d.at(path[:len(path)-1]))
	start := d.start(path)
	k := slices.IndexFunc(c.items, func(it item) bool { return it.start == start })
	it := c.items[k]
	blanks := it.before + lastComment(d.src[it.before:it.start])

	// What lies between the value and its comma goes too, unless it is a
	// comment.
	end, comma := it.end, span{}
	if it.comma >= 0 {
		if lastComment(d.src[it.end:it.comma]) == 0 {
			end = it.comma + 1
		} else {
			comma = span{start: it.comma, end: it.comma + 1}
		}
	}
	spans := []span{{start: blanks, end: end}}
	if comma.end > 0 {
		spans = append(spans, comma)
	}
	switch last := len(c.items) - 1; {
	case last == 0:
		rest := d.src[end:c.close]
		if comma.end == 0 && lastComment(rest) == 0 && blanks == c.open+1 {
			spans[0].end = c.close
		}
	case k == last && it.comma < 0:
		prev := c.items[k-1].comma
		spans = append(spans, span{start: prev, end: prev + 1})
	case blanks == it.start && comma.end == 0:
		for spans[0].end < c.close && (d.src[spans[0].end] == ' ' || d.src[spans[0].end] == '\t') {
			spans[0].end++
		}
	}
	// A line comment that stays keeps its line end if something follows.
	if rest := d.src[blanks:it.start]; blanks > it.before && hasNewline(rest) && !blankLine(d.src[spans[0].end:]) {
		spans[0].start = blanks + bytes.IndexByte(rest, '\n') + 1
	}
	return d.apply(spans...)
}

// blankLine reports whether the first line of b has nothing on it.
func blankLine(b []byte) bool {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return len(bytes.TrimSpace(line)) == 0
}

// MapStrings returns src with f applied to every string in it, keys excepted.
// All else stays byte for byte. file is the name used in errors.
func MapStrings(file string, src []byte, f func(string) string) ([]byte, error) {
	d, err := Parse(file, src, JSONC)
	if err != nil {
		return nil, err
	}
	var spans []span
	var visit func(v *hujson.Value)
	visit = func(v *hujson.Value) {
		switch t := v.Value.(type) {
		case *hujson.Object:
			for i := range t.Members {
				visit(&t.Members[i].Value)
			}
		case *hujson.Array:
			for i := range t.Elements {
				visit(&t.Elements[i])
			}
		case hujson.Literal:
			if t.Kind() != '"' {
				return
			}
			if old := t.String(); f(old) != old {
				spans = append(spans, span{v.StartOffset, v.EndOffset, hujson.String(f(old))})
			}
		}
	}
	visit(&d.root)
	err = d.apply(spans...)
	return d.src, err
}
