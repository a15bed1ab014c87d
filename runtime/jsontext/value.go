package jsontext

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A Value is the text of one JSON value that a Scanner has accepted, or the
// beginning of one that broke off: what is incomplete counts as absent. An
// empty Value is absent. No method copies what it skips.
type Value []byte

// Trim returns the value in b, without the white space around it.
func Trim(b []byte) Value {
	for len(b) > 0 && space(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && space(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// Kind is the value's first byte with every number as '0': one of { [ " t f n
// 0, or 0 if the value is absent.
func (v Value) Kind() byte {
	if len(v) == 0 {
		return 0
	}
	switch c := v[0]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	}
	return '0'
}

// Absent reports whether there is no value, or null.
func (v Value) Absent() bool { k := v.Kind(); return k == 0 || k == 'n' }

// A Field is one member of an object. Key is the text between the quotes, not
// decoded.
type Field struct {
	Key   []byte
	Value Value
}

// Is reports whether the field's key, decoded, is name.
func (f Field) Is(name string) bool {
	for _, c := range f.Key {
		if c == '\\' || c >= utf8.RuneSelf {
			return string(unquote(f.Key)) == name
		}
	}
	return string(f.Key) == name
}

// Name returns the field's key, decoded.
func (f Field) Name() string { return string(unquote(f.Key)) }

// Object is an object's members in order of appearance.
type Object []Field

// Get returns the value of the last member that is called name: the one that
// encoding/json would keep.
func (o Object) Get(name string) Value {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].Is(name) {
			return o[i].Value
		}
	}
	return nil
}

// Object appends the members of an object to dst and returns it. Any other
// value has none.
func (v Value) Object(dst Object) Object {
	if v.Kind() != '{' {
		return dst
	}
	i := 1
	for {
		i = next(v, i)
		if i >= len(v) || v[i] != '"' {
			return dst
		}
		end, ok := skip(v, i)
		if !ok {
			return dst
		}
		key := v[i+1 : end-1]
		i = next(v, end)
		end, ok = skip(v, i)
		if !ok {
			return dst
		}
		dst = append(dst, Field{key, v[i:end]})
		i = end
	}
}

// Get returns the value of a member of an object. If the name occurs more than
// once the last one counts.
func (v Value) Get(name string) Value {
	var buf [16]Field
	return v.Object(buf[:0]).Get(name)
}

// Each calls f for each element of an array until f returns false.
func (v Value) Each(f func(Value) bool) {
	if v.Kind() != '[' {
		return
	}
	i := 1
	for {
		i = next(v, i)
		end, ok := skip(v, i)
		if !ok || !f(v[i:end]) {
			return
		}
		i = end
	}
}

// Text returns the decoded string, and false if the value is not a string.
// Invalid UTF-8 and lone surrogates become U+FFFD.
func (v Value) Text() (string, bool) {
	if v.Kind() != '"' || len(v) < 2 {
		return "", false
	}
	return string(unquote(v[1 : len(v)-1])), true
}

// Str is Text, with "" for what is not a string.
func (v Value) Str() string { s, _ := v.Text(); return s }

// Int returns the value of an integer that fits.
func (v Value) Int() (int64, bool) {
	if v.Kind() != '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	return n, err == nil
}

// Bool returns the value of true or false; ok is false for anything else.
func (v Value) Bool() (val, ok bool) {
	k := v.Kind()
	return k == 't', k == 't' || k == 'f'
}

// next skips white space and what stands between values.
func next(b []byte, i int) int {
	for i < len(b) && (space(b[i]) || b[i] == ',' || b[i] == ':') {
		i++
	}
	return i
}

// skip returns the end of the value that begins at i. It is false if there is
// none or it runs out of the text.
func skip(b []byte, i int) (int, bool) {
	if i >= len(b) {
		return i, false
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case ']', '}':
		return i, false
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				end, ok := skipString(b, i)
				if !ok {
					return end, false
				}
				i = end
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1, true
				}
			}
			i++
		}
		return i, false
	}
	for i < len(b) {
		switch b[i] {
		case ',', ']', '}', ' ', '\t', '\n', '\r':
			return i, true
		}
		i++
	}
	return i, false
}

func skipString(b []byte, i int) (int, bool) {
	i++
	for {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return len(b), false
		}
		q += i
		n := 0
		for q-n > i && b[q-n-1] == '\\' {
			n++
		}
		if n%2 == 0 {
			return q + 1, true
		}
		i = q + 1
	}
}

// unquote decodes the inside of a JSON string, as encoding/json does.
func unquote(b []byte) []byte {
	i := 0
	for i < len(b) && b[i] != '\\' && b[i] < utf8.RuneSelf {
		i++
	}
	if i == len(b) {
		return b
	}
	out := make([]byte, 0, len(b))
	out = append(out, b[:i]...)
	for i < len(b) {
		c := b[i]
		switch {
		case c == '\\' && i+1 < len(b):
			i++
			switch b[i] {
			case 'b':
				out = append(out, '\b')
			case 'f':
				out = append(out, '\f')
			case 'n':
				out = append(out, '\n')
			case 'r':
				out = append(out, '\r')
			case 't':
				out = append(out, '\t')
			case 'u':
				r := unhex4(b[i-1:])
				i += 4
				if utf16.IsSurrogate(r) {
					r2 := unhex4(b[min(i+1, len(b)):])
					if r = utf16.DecodeRune(r, r2); r != utf8.RuneError {
						i += 6
					}
				}
				out = utf8.AppendRune(out, r)
			default:
				out = append(out, b[i])
			}
			i++
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	return out
}

// unhex4 reads \uXXXX at the beginning of b; -1 if it isn't there.
func unhex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		d, ok := unhex(c)
		if !ok {
			return -1
		}
		r = r<<4 | d
	}
	return r
}
