// Package jsonedit edits JSON text in place. Every edit is a set of spans: what
// is not inserted or removed stays byte for byte, comments, key order, tabs and
// line endings included.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// A Dialect is the JSON that a host reads.
type Dialect int

const (
	// JSON is RFC 8259: a comment or a trailing comma is an error.
	JSON Dialect = iota
	// JSONC also has // and /* */ comments and trailing commas.
	JSONC
)

// maxDepth bounds the recursion of the parser.
const maxDepth = 1000

// An Error is a fault of a file that a person has to mend. Line and Column
// count from 1; Column counts characters. Key is empty for syntax errors.
type Error struct {
	File         string
	Line, Column int
	Key          string
	Msg          string
}

func (e *Error) Error() string {
	at := fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.Key != "" {
		at += e.Key + ": "
	}
	return at + e.Msg
}

// A Path leads from the root of a document to a value: string for the key of
// an object, int for the index of an array.
type Path []any

// With returns the path of a value below p.
func (p Path) With(steps ...any) Path {
	return append(append(Path{}, p...), steps...)
}

// String writes the path for a reader: hooks.PreToolUse[0].
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		}
	}
	return b.String()
}

// A Doc is one JSON text. An edit replaces its bytes and reads them again, so
// paths are always those of the text as it is.
type Doc struct {
	file    string
	dialect Dialect
	src     []byte
	blank   bool
	root    hujson.Value
	style   style
}

// Parse reads src; file is the name used in errors, which are *Error. Text
// without any value is an empty document, as every host has it.
func Parse(file string, src []byte, dialect Dialect) (*Doc, error) {
	d := &Doc{file: file, dialect: dialect}
	if err := d.read(src); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Doc) read(src []byte) error {
	d.src = src
	switch {
	case bytes.HasPrefix(src, []byte("\xef\xbb\xbf")):
		return d.errorAt(0, "starts with a byte-order mark (EF BB BF), for which a host may drop the whole file without a word; save it as UTF-8 without BOM")
	case bytes.HasPrefix(src, []byte("\xff\xfe")), bytes.HasPrefix(src, []byte("\xfe\xff")):
		return d.errorAt(0, "is UTF-16; save it as UTF-8 without BOM")
	}
	if i := invalidUTF8(src); i >= 0 {
		return d.errorAt(i, fmt.Sprintf("byte %#x is not UTF-8; save the file as UTF-8", src[i]))
	}
	if len(bytes.Trim(src, " \t\r\n")) == 0 {
		d.blank, d.root = true, hujson.Value{}
		d.style = detectStyle(src, d.root)
		return nil
	}
	if i := tooDeep(src); i >= 0 {
		return d.errorAt(i, fmt.Sprintf("is nested deeper than %d levels", maxDepth))
	}
	text := src
	if d.dialect == JSONC && src[len(src)-1] != '\n' {
		// A comment may end with the file, which the parser does not know.
		text = append(bytes.Clone(src), '\n')
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return d.syntaxError(err)
	}
	if d.dialect == JSON {
		if i, what := extension(src, root); i >= 0 {
			return d.errorAt(i, what+" is not JSON, so the host already ignores this whole file; remove it")
		}
	}
	d.blank, d.root = false, root
	d.style = detectStyle(src, root)
	return nil
}

// Bytes returns the text as it stands.
func (d *Doc) Bytes() []byte { return d.src }

// Has reports whether there is a value at path.
func (d *Doc) Has(path ...any) bool { return d.at(path) != nil }

// Kind returns the kind of the value at path: one of n f t " 0 { [, and 0 if
// there is none. A blank document counts as an empty object.
func (d *Doc) Kind(path ...any) hujson.Kind {
	if d.blank && len(path) == 0 {
		return '{'
	}
	if v := d.at(path); v != nil {
		return v.Value.Kind()
	}
	return 0
}

// Keys returns the keys of the object at path in order, each once.
func (d *Doc) Keys(path ...any) []string {
	obj, _ := d.value(path).(*hujson.Object)
	if obj == nil {
		return nil
	}
	var keys []string
	seen := map[string]bool{}
	for _, m := range obj.Members {
		if k := name(m); !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

// Len returns the number of elements of the array at path.
func (d *Doc) Len(path ...any) int {
	arr, _ := d.value(path).(*hujson.Array)
	if arr == nil {
		return 0
	}
	return len(arr.Elements)
}

// Decoded returns the value at path as encoding/json has it, numbers as
// json.Number; nil if there is none.
func (d *Doc) Decoded(path ...any) any {
	v := d.at(path)
	if v == nil {
		return nil
	}
	return decode(*v)
}

// Raw returns the value at path, to be inserted into a document. It is the zero
// Value if there is none.
func (d *Doc) Raw(path ...any) hujson.Value {
	if v := d.at(path); v != nil {
		return *v
	}
	return hujson.Value{}
}

// Pos returns where the value at path starts, or its key for a member.
func (d *Doc) Pos(path ...any) (line, column int) {
	return d.position(d.start(path))
}

// Errorf returns an error at the value at path.
func (d *Doc) Errorf(path Path, format string, args ...any) *Error {
	line, col := d.Pos(path...)
	return &Error{File: d.file, Line: line, Column: col, Key: path.String(), Msg: fmt.Sprintf(format, args...)}
}

// Unique returns an error if the object at path has key more than once: then
// hosts disagree on which one counts.
func (d *Doc) Unique(path Path, key string) error {
	obj, _ := d.value(path).(*hujson.Object)
	if obj == nil {
		return nil
	}
	first := -1
	for _, m := range obj.Members {
		if name(m) != key {
			continue
		}
		if first < 0 {
			first = m.Name.StartOffset
			continue
		}
		line, _ := d.position(first)
		at, col := d.position(m.Name.StartOffset)
		return &Error{File: d.file, Line: at, Column: col, Key: path.With(key).String(),
			Msg: fmt.Sprintf("appears twice, first on line %d; keep one", line)}
	}
	return nil
}

// Equal reports whether two values are the same JSON, whatever their layout.
func Equal(a, b hujson.Value) bool {
	return reflect.DeepEqual(decode(a), decode(b))
}

func decode(v hujson.Value) any {
	if v.Value == nil {
		return nil
	}
	v = v.Clone()
	v.Standardize()
	dec := json.NewDecoder(bytes.NewReader(v.Pack()))
	dec.UseNumber()
	var out any
	if dec.Decode(&out) != nil {
		return nil
	}
	return out
}

func name(m hujson.ObjectMember) string {
	lit, _ := m.Name.Value.(hujson.Literal)
	if len(lit) > 1 && bytes.IndexByte(lit, '\\') < 0 {
		return string(lit[1 : len(lit)-1])
	}
	return lit.String()
}

// at returns the value at path; of two members with one key the last, as
// JSON.parse has it.
func (d *Doc) at(path Path) *hujson.Value {
	if d.blank {
		return nil
	}
	v := &d.root
	for _, step := range path {
		switch s := step.(type) {
		case string:
			obj, _ := v.Value.(*hujson.Object)
			if obj == nil {
				return nil
			}
			v = nil
			for i := range obj.Members {
				if name(obj.Members[i]) == s {
					v = &obj.Members[i].Value
				}
			}
		case int:
			arr, _ := v.Value.(*hujson.Array)
			if arr == nil || s < 0 || s >= len(arr.Elements) {
				return nil
			}
			v = &arr.Elements[s]
		}
		if v == nil {
			return nil
		}
	}
	return v
}

func (d *Doc) value(path Path) hujson.ValueTrimmed {
	if v := d.at(path); v != nil {
		return v.Value
	}
	return nil
}

// start returns the offset of the value at path, of its key for a member, and
// of the nearest parent if there is no such value.
func (d *Doc) start(path Path) int {
	for n := len(path); n > 0; n-- {
		v := d.at(path[:n])
		if v == nil {
			continue
		}
		if key, ok := path[n-1].(string); ok {
			obj := d.value(path[:n-1]).(*hujson.Object)
			for _, m := range obj.Members {
				if name(m) == key && m.Value.StartOffset == v.StartOffset {
					return m.Name.StartOffset
				}
			}
		}
		return v.StartOffset
	}
	return d.root.StartOffset
}

func (d *Doc) position(offset int) (line, column int) {
	before := d.src[:min(offset, len(d.src))]
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return line, column
}

func (d *Doc) errorAt(offset int, msg string) *Error {
	line, col := d.position(offset)
	return &Error{File: d.file, Line: line, Column: col, Msg: msg}
}

// syntaxError rewrites an error of the parser, which has the position in its
// text, in bytes.
func (d *Doc) syntaxError(err error) error {
	var line, col int
	msg := err.Error()
	if _, e := fmt.Sscanf(msg, "hujson: line %d, column %d:", &line, &col); e != nil {
		return &Error{File: d.file, Line: 1, Column: 1, Msg: msg}
	}
	_, msg, _ = strings.Cut(msg, ": ")
	_, msg, _ = strings.Cut(msg, ": ")
	if strings.Contains(msg, "unexpected EOF") {
		msg = "the file ends in the middle of a value"
	}
	offset := 0
	for i := 1; i < line; i++ {
		n := bytes.IndexByte(d.src[offset:], '\n') + 1
		if n == 0 { // the line that read added
			offset, col = len(d.src), 1
			break
		}
		offset += n
	}
	return d.errorAt(offset+col-1, "can't be parsed: "+msg)
}

func invalidUTF8(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// tooDeep returns the offset at which src is nested too deep for a recursive
// parser, -1 if it isn't. Strings end at a line's end at the latest.
func tooDeep(src []byte) int {
	depth, inString := 0, false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\n':
			inString = false
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}

// extension returns the offset of the first thing in the text that JSON does
// not have, and what it is; -1 if there is none.
func extension(src []byte, root hujson.Value) (int, string) {
	best, what := -1, ""
	found := func(offset int, w string) {
		if best < 0 || offset < best {
			best, what = offset, w
		}
	}
	comment := func(extra hujson.Extra, start int) {
		if i := bytes.IndexByte(extra, '/'); i >= 0 {
			found(start+i, "a comment")
		}
	}
	for v := range root.All() {
		comment(v.BeforeExtra, v.StartOffset-len(v.BeforeExtra))
		comment(v.AfterExtra, v.EndOffset)
		c, ok := containerOf(src, v)
		if !ok {
			continue
		}
		comment(src[c.tail():c.close], c.tail())
		if n := len(c.items); n > 0 && c.items[n-1].comma >= 0 {
			found(c.items[n-1].comma, "a trailing comma")
		}
	}
	return best, what
}
