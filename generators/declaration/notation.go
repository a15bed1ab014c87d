package declaration

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An object is a mapping that keeps the order of its keys. Values are string,
// int, bool, object or list.
type object []field

type list []any

type field struct {
	key   string
	value any
	// optional: left out when the value is empty, zero or false.
	optional bool
	// note is a comment above the key, where the notation has comments.
	note string
}

func texts(ss []string) list {
	out := make(list, len(ss))
	for i, s := range ss {
		out[i] = s
	}
	return out
}

// present returns the fields that are written.
func (o object) present() object {
	var out object
	for _, f := range o {
		if f.optional {
			switch v := f.value.(type) {
			case string:
				if v == "" {
					continue
				}
			case int:
				if v == 0 {
					continue
				}
			case bool:
				if !v {
					continue
				}
			case list:
				if len(v) == 0 {
					continue
				}
			}
		}
		out = append(out, f)
	}
	return out
}

// scalar writes a value without structure in a form that JSON, YAML 1.1 and
// YAML 1.2 read alike.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	}
	panic(fmt.Sprintf("declaration: no notation for %T", v))
}

// quote writes s between double quotes with the escapes that JSON and YAML
// share. Whatever a YAML reader doesn't count as printable, or may take for a
// line break, is escaped; bytes that are not UTF-8 become U+FFFD.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20, r >= 0x7f && r <= 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == utf8.RuneError, r >= 0xfffe && r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func jsonText(o object) []byte {
	var b bytes.Buffer
	writeJSON(&b, o, "")
	b.WriteByte('\n')
	return b.Bytes()
}

func writeJSON(b *bytes.Buffer, v any, indent string) {
	in := indent + "  "
	switch v := v.(type) {
	case object:
		fields := v.present()
		if len(fields) == 0 {
			b.WriteString("{}")
			return
		}
		for i, f := range fields {
			b.WriteString(opening('{', i) + in + quote(f.key) + ": ")
			writeJSON(b, f.value, in)
		}
		b.WriteString("\n" + indent + "}")
	case list:
		if flat(v) {
			b.WriteString(flow(v))
			return
		}
		for i, x := range v {
			b.WriteString(opening('[', i) + in)
			writeJSON(b, x, in)
		}
		b.WriteString("\n" + indent + "]")
	default:
		b.WriteString(scalar(v))
	}
}

func opening(bracket byte, i int) string {
	if i > 0 {
		return ",\n"
	}
	return string(bracket) + "\n"
}

// flat reports whether a list is short enough for one line: nothing but
// strings without spaces, such as event names.
func flat(l list) bool {
	for _, x := range l {
		s, ok := x.(string)
		if !ok || strings.ContainsAny(s, " \n") {
			return false
		}
	}
	return true
}

func flow(l list) string {
	parts := make([]string, len(l))
	for i, x := range l {
		parts[i] = scalar(x)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func yamlText(o object, header string) []byte {
	var b bytes.Buffer
	b.WriteString("# " + header + "\n")
	writeYAML(&b, o, "")
	return b.Bytes()
}

// writeYAML writes block style at the given indentation; the caller has
// written the first line's indentation of a list's element already.
func writeYAML(b *bytes.Buffer, o object, indent string) {
	for i, f := range o.present() {
		if indent == "" && f.note != "" {
			fmt.Fprintf(b, "\n# %s\n", f.note)
		} else if i == 0 && indent == "" {
			b.WriteByte('\n')
		}
		b.WriteString(indent + yamlKey(f.key) + ":")
		writeYAMLValue(b, f.value, indent)
	}
}

func writeYAMLValue(b *bytes.Buffer, v any, indent string) {
	switch v := v.(type) {
	case object:
		if len(v.present()) == 0 {
			b.WriteString(" {}\n")
			return
		}
		b.WriteByte('\n')
		writeYAML(b, v, indent+"  ")
	case list:
		if flat(v) {
			b.WriteString(" " + flow(v) + "\n")
			return
		}
		b.WriteByte('\n')
		for _, x := range v {
			o, ok := x.(object)
			if !ok {
				b.WriteString(indent + "  - " + scalar(x) + "\n")
				continue
			}
			var item bytes.Buffer
			writeYAML(&item, o, indent+"    ")
			b.WriteString(indent + "  - ")
			b.Write(bytes.TrimPrefix(item.Bytes(), []byte(indent+"    ")))
		}
	default:
		b.WriteString(" " + scalar(v) + "\n")
	}
}

// yamlKey leaves a key bare only if no YAML reader takes it for anything but a
// string.
func yamlKey(k string) string {
	switch strings.ToLower(k) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return quote(k)
	}
	if k == "" || !letter(k[0]) || strings.ContainsFunc(k, func(r rune) bool {
		return r > 0x7f || !letter(byte(r)) && (r < '0' || r > '9') && r != '_' && r != '-'
	}) {
		return quote(k)
	}
	return k
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
