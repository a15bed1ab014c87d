package jsonedit

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// A style is the layout of a text, taken from the text itself.
type style struct {
	newline string
	indent  string
	// What follows a colon, and a comma on one line.
	colon, blank string
}

func detectStyle(src []byte, root hujson.Value) style {
	s := style{newline: "\n", indent: "  ", colon: " ", blank: " "}
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if obj, ok := root.Value.(*hujson.Object); ok && len(obj.Members) > 0 {
		first := obj.Members[0]
		if len(first.Value.BeforeExtra) == 0 {
			s.colon, s.blank = "", ""
		}
		if own, ok := ownLine(src, first.Name.StartOffset); ok && own != "" {
			s.indent = own
			return s
		}
	}
	for line := range bytes.Lines(src) {
		if rest := bytes.TrimLeft(line, " \t"); len(rest) < len(line) && len(bytes.TrimSpace(rest)) > 0 {
			s.indent = string(line[:len(line)-len(rest)])
			break
		}
	}
	return s
}

// render appends value in the text's style: over lines as JSON.stringify does,
// because that is how hosts write the file back, or all on one line.
func (d *Doc) render(out []byte, value hujson.Value, pretty bool, indent string) []byte {
	c, ok := value.Value.(hujson.Literal)
	if ok {
		return append(out, c...)
	}
	inner := indent + d.style.indent
	separate := func(i int) {
		if i > 0 {
			out = append(out, ',')
		}
		switch {
		case pretty:
			out = append(out, d.style.newline+inner...)
		case i > 0:
			out = append(out, d.style.blank...)
		}
	}
	finish := func(n int, bracket byte) []byte {
		if pretty && n > 0 {
			out = append(out, d.style.newline+indent...)
		}
		return append(out, bracket)
	}
	switch t := value.Value.(type) {
	case *hujson.Object:
		out = append(out, '{')
		for i, m := range t.Members {
			separate(i)
			out = append(out, m.Name.Value.(hujson.Literal)...)
			out = append(out, ":"+d.style.colon...)
			out = d.render(out, m.Value, pretty, inner)
		}
		return finish(len(t.Members), '}')
	case *hujson.Array:
		out = append(out, '[')
		for i, e := range t.Elements {
			separate(i)
			out = d.render(out, e, pretty, inner)
		}
		return finish(len(t.Elements), ']')
	}
	return out
}

func hasNewline(b []byte) bool { return bytes.IndexByte(b, '\n') >= 0 }

// lineIndent returns the blanks at the start of the line that holds offset.
func lineIndent(src []byte, offset int) string {
	line := src[bytes.LastIndexByte(src[:offset], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// ownLine returns the blanks in front of offset if nothing else is on its line.
func ownLine(src []byte, offset int) (string, bool) {
	start := bytes.LastIndexByte(src[:offset], '\n') + 1
	before := string(src[start:offset])
	return before, start > 0 && strings.Trim(before, " \t") == ""
}

// lastComment returns the offset at which the last comment of extra ends,
// without the line end that closes it; 0 if there is none.
func lastComment(extra []byte) int {
	end := 0
	for i := 0; i < len(extra); {
		rest := extra[i:]
		switch {
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				return len(extra)
			}
			end = i + len(bytes.TrimSuffix(rest[:n], []byte("\r")))
			i += n
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return len(extra)
			}
			i += n + 4
			end = i
		default:
			i++
		}
	}
	return end
}
