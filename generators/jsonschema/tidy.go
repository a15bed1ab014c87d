package jsonschema

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

type object = map[string]any

// tidier rewrites one document: its definitions as they were exported, and as
// they become.
type tidier struct{ exported, defs object }

func tidy(doc object) (object, error) {
	t := tidier{defs: object{}}
	t.exported, _ = doc["$defs"].(object)
	for name, def := range t.exported {
		t.defs[name] = t.schema(def)
	}
	doc["$defs"] = t.defs
	out, ok := t.schema(doc).(object)
	if !ok {
		return nil, fmt.Errorf("the definition has no shape of its own")
	}
	t.prune(out)
	rename(out)
	return out, hollow(out)
}

// schema rewrites a schema from the inside out.
func (t *tidier) schema(x any) any {
	m, ok := x.(object)
	if !ok {
		return x
	}
	out := object{}
	for k, v := range m {
		switch k {
		case "$defs":
			out[k] = v // done already
		case "properties", "patternProperties":
			props := object{}
			for name, p := range v.(object) {
				props[name] = t.schema(p)
			}
			out[k] = props
		case "anyOf", "allOf", "oneOf", "prefixItems":
			list := v.([]any)
			done := make([]any, len(list))
			for i, e := range list {
				done[i] = t.schema(e)
			}
			out[k] = done
		case "items", "additionalProperties", "not", "contains", "propertyNames":
			out[k] = t.schema(v)
		case "pattern":
			out[k] = portable(v.(string))
		case "description":
			out[k] = prose(v.(string))
		default:
			out[k] = v
		}
	}
	anyOf(out)
	allOf(out)
	list(out)
	t.embed(out)
	return out
}

// anyOf drops the branches that only carry an error text, and says the rest in
// the shortest form.
func anyOf(m object) {
	branches, ok := m["anyOf"].([]any)
	if !ok {
		return
	}
	branches = slices.DeleteFunc(branches, func(b any) bool { return b == false })
	var values []any
	for _, b := range branches {
		if o, ok := b.(object); ok && len(o) == 1 {
			if c, ok := o["const"]; ok {
				values = append(values, c)
			} else if e, ok := o["enum"].([]any); ok {
				values = append(values, e...)
			}
		}
	}
	m["anyOf"] = branches
	switch {
	case len(values) >= len(branches) && len(values) > 0 && allConst(branches):
		delete(m, "anyOf")
		m["enum"] = values
	case len(branches) == 1:
		delete(m, "anyOf")
		if o, ok := branches[0].(object); !ok || !merge(m, o) {
			m["anyOf"] = branches
		}
	}
}

func allConst(branches []any) bool {
	for _, b := range branches {
		o, ok := b.(object)
		if !ok || len(o) != 1 || o["const"] == nil && o["enum"] == nil {
			return false
		}
	}
	return true
}

// allOf folds conjuncts into the schema itself where they don't contradict.
func allOf(m object) {
	parts, ok := m["allOf"].([]any)
	if !ok {
		return
	}
	delete(m, "allOf")
	var rest []any
	for _, p := range parts {
		if o, ok := p.(object); !ok || !merge(m, o) {
			rest = append(rest, p)
		}
	}
	if len(rest) > 0 {
		m["allOf"] = rest
	}
}

// merge adds the keywords of o to m, unless one is there already and says
// something else. An integer is a number.
func merge(m, o object) bool {
	for k, v := range o {
		have, ok := m[k]
		if !ok || reflect.DeepEqual(have, v) || k == "description" {
			continue
		}
		if k == "type" && (have == "number" && v == "integer" || have == "integer" && v == "number") {
			continue
		}
		return false
	}
	for k, v := range o {
		if have, ok := m[k]; ok && (k == "description" || k == "type" && have == "integer") {
			continue
		}
		m[k] = v
	}
	return true
}

// list drops what is said of the first element if it is said of all.
func list(m object) {
	first, ok := m["prefixItems"].([]any)
	if ok && !slices.ContainsFunc(first, func(x any) bool { return !reflect.DeepEqual(x, m["items"]) }) {
		delete(m, "prefixItems")
	}
}

// embed takes over the fields of an embedded definition: two closed schemas
// side by side would each forbid the other's fields.
func (t *tidier) embed(m object) {
	ref, ok := m["$ref"].(string)
	if !ok || m["properties"] == nil {
		return
	}
	def, ok := t.schema(t.exported[strings.TrimPrefix(ref, "#/$defs/")]).(object)
	if !ok {
		return
	}
	props := maps.Clone(m["properties"].(object))
	embedded, _ := def["properties"].(object)
	for k, v := range embedded {
		if _, ok := props[k]; !ok {
			props[k] = v
		}
	}
	var required []string
	for _, r := range []any{m["required"], def["required"]} {
		names, _ := r.([]any)
		for _, n := range names {
			if s := n.(string); !slices.Contains(required, s) {
				required = append(required, s)
			}
		}
	}
	slices.Sort(required)
	m["properties"] = props
	if len(required) > 0 {
		names := make([]any, len(required))
		for i, n := range required {
			names[i] = n
		}
		m["required"] = names
	}
	delete(m, "$ref")
}

// prune drops definitions that nothing refers to any more.
func (t *tidier) prune(doc object) {
	used := map[string]bool{}
	var visit func(x any)
	visit = func(x any) {
		switch x := x.(type) {
		case object:
			if ref, ok := x["$ref"].(string); ok {
				if name := strings.TrimPrefix(ref, "#/$defs/"); !used[name] {
					used[name] = true
					visit(t.defs[name])
				}
			}
			for k, v := range x {
				if k != "$defs" {
					visit(v)
				}
			}
		case []any:
			for _, v := range x {
				visit(v)
			}
		}
	}
	visit(doc)
	maps.DeleteFunc(t.defs, func(name string, _ any) bool { return !used[name] })
	if len(t.defs) == 0 {
		delete(doc, "$defs")
	}
}

// rename calls definitions by the name of what they describe: a name that ends
// in Doc is a twin made for export.
func rename(doc object) {
	defs, _ := doc["$defs"].(object)
	names := map[string]string{}
	for name := range defs {
		if short, ok := strings.CutSuffix(name, "Doc"); ok && defs[short] == nil {
			names[name] = short
		}
	}
	var visit func(x any)
	visit = func(x any) {
		switch x := x.(type) {
		case object:
			if ref, ok := x["$ref"].(string); ok {
				if short, ok := names[strings.TrimPrefix(ref, "#/$defs/")]; ok {
					x["$ref"] = "#/$defs/" + short
				}
			}
			for _, v := range x {
				visit(v)
			}
		case []any:
			for _, v := range x {
				visit(v)
			}
		}
	}
	visit(doc)
	for name, short := range names {
		defs[short] = defs[name]
		delete(defs, name)
	}
}

// hollow reports a definition that accepts anything: the exporter gives up on
// conditions without a word.
func hollow(doc object) error {
	defs, _ := doc["$defs"].(object)
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		def, _ := defs[name].(object)
		says := false
		for k := range def {
			says = says || k != "description" && k != "title"
		}
		if !says {
			return fmt.Errorf("definition %s would accept anything; it needs a twin without conditions", name)
		}
	}
	return nil
}

// prose is a comment of the schema as one paragraph, without CUE's name for
// what it describes.
func prose(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return regexp.MustCompile(`#([A-Z][A-Za-z]*?)(Doc)?\b`).ReplaceAllString(s, "$1")
}

// portable spells out a leading (?i), which other dialects of regular
// expressions don't have.
func portable(p string) string {
	rest, ok := strings.CutPrefix(p, "(?i)")
	if !ok {
		return p
	}
	var b strings.Builder
	escaped := false
	for _, r := range rest {
		lower, upper := strings.ToLower(string(r)), strings.ToUpper(string(r))
		if !escaped && lower != upper {
			b.WriteString("[" + upper + lower + "]")
		} else {
			b.WriteRune(r)
		}
		escaped = !escaped && r == '\\'
	}
	return b.String()
}
