package jsonschema

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// order puts what tells a reader most first; definitions come last.
var order = []string{
	"$schema", "$id", "$comment", "title", "description", "$ref", "type", "const", "enum", "pattern", "not", "minLength", "minimum", "maximum",
	"required", "properties", "patternProperties", "additionalProperties", "minItems", "items", "prefixItems", "anyOf", "allOf",
}

func write(doc object) ([]byte, error) {
	var b bytes.Buffer
	if err := put(&b, doc, "", false); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// put writes a value; named says that x maps names of the reader's own to
// schemas, so that its keys are in alphabetical order.
func put(b *bytes.Buffer, x any, indent string, named bool) error {
	in := indent + "  "
	switch x := x.(type) {
	case object:
		keys := slices.Sorted(maps.Keys(x))
		if !named {
			slices.SortStableFunc(keys, func(a, b string) int { return rank(a) - rank(b) })
		}
		if len(keys) == 0 {
			b.WriteString("{}")
			return nil
		}
		b.WriteString("{\n")
		for i, k := range keys {
			b.WriteString(in)
			if err := leaf(b, k); err != nil {
				return err
			}
			b.WriteString(": ")
			if err := put(b, x[k], in, !named && (k == "properties" || k == "patternProperties" || k == "$defs")); err != nil {
				return err
			}
			if i < len(keys)-1 {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
		}
		b.WriteString(indent + "}")
		return nil
	case []any:
		return array(b, x, indent)
	}
	return leaf(b, x)
}

func array(b *bytes.Buffer, x []any, indent string) error {
	short := true
	for _, e := range x {
		_, s := e.(string)
		short = short && s
	}
	if short {
		b.WriteByte('[')
		for i, e := range x {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := leaf(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	b.WriteString("[\n")
	for i, e := range x {
		b.WriteString(indent + "  ")
		if err := put(b, e, indent+"  ", false); err != nil {
			return err
		}
		if i < len(x)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString(indent + "]")
	return nil
}

func rank(k string) int {
	if i := slices.Index(order, k); i >= 0 {
		return i
	}
	if k == "$defs" {
		return len(order) + 1
	}
	return len(order)
}

func leaf(b *bytes.Buffer, x any) error {
	var one strings.Builder
	e := json.NewEncoder(&one)
	e.SetEscapeHTML(false)
	if err := e.Encode(x); err != nil {
		return err
	}
	b.WriteString(strings.TrimSuffix(one.String(), "\n"))
	return nil
}
