package load

import (
	"fmt"
	"regexp"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
)

// What CUE says of a value that has the wrong shape. The order of the two types
// depends on which it met first.
var (
	mismatch = regexp.MustCompile(`\(mismatched types ([a-z]+) and ([a-z|() ]+)\)$`)
	regular  = regexp.MustCompile(`^cannot combine regular field "[^"]*" with `)
	lengths  = regexp.MustCompile(`^incompatible list lengths \(0 and `)
	bound    = regexp.MustCompile(`^invalid value (.+) \(out of bound (.+)\)$`)
)

// plain puts CUE's own words about a wrong shape into an author's. fields are
// the fields that belong at the place, if a struct does.
func plain(text string, fields []string) (string, bool) {
	switch {
	case regular.MatchString(text):
		return "must be " + structOf(fields), true
	case lengths.MatchString(text):
		return "needs at least one element", true
	}
	if m := bound.FindStringSubmatch(text); m != nil {
		return "does not fit " + m[2], true
	}
	m := mismatch.FindStringSubmatch(text)
	if m == nil {
		return text, false
	}
	for _, want := range []string{"list", "struct", "bool", "int", "number"} {
		// The value itself is quoted first or second; what it should be is the
		// type that its text does not have.
		if (m[1] == want) != (m[2] == want) && !strings.HasPrefix(strings.TrimPrefix(text, "conflicting values "), literalStart(want)) {
			if want == "struct" {
				return "must be " + structOf(fields), true
			}
			return "must be " + words[want], true
		}
	}
	return "must be a string", true
}

var words = map[string]string{"list": "a list", "bool": "true or false", "int": "a whole number", "number": "a number"}

// definitions names, by the label of a field, what belongs in it.
var definitions = map[string]string{
	"answer": "#Answer", "claim": "#Claim", "deny": "#Say", "ask": "#Say", "context": "#Say", "block": "#Say",
	"timeout": "#TimeoutUnit", "accepts": "#Accepts", "payload": "#Payload", "tested": "#Tested", "driver": "#Driver",
}

// belongs lists the fields that a struct at a path has.
func (x explainer) belongs(p []string) []string {
	if len(p) < 2 {
		return nil
	}
	def := definitions[p[len(p)-1]]
	switch p[len(p)-2] {
	case "tools":
		def = "#Tool"
	case "files":
		def = "#File"
	case "trust":
		def = "#TrustStep"
	case "switches":
		def = "#Switch"
	case "holes":
		def = "#Hole"
	}
	if def == "" || !x.schema.Exists() {
		return nil
	}
	it, err := x.schema.LookupPath(cue.ParsePath(def)).Fields(cue.Optional(true))
	if err != nil {
		return nil
	}
	var out []string
	for it.Next() {
		out = append(out, it.Selector().Unquoted())
	}
	return out
}

// literalStart is how the text of a value of a type begins.
func literalStart(kind string) string {
	switch kind {
	case "list":
		return "["
	case "struct":
		return "{"
	}
	return "\x00"
}

func structOf(fields []string) string {
	if len(fields) == 0 {
		return "a struct"
	}
	if len(fields) > 8 {
		fields = append(fields[:8:8], "...")
	}
	return "a struct with " + strings.Join(fields, ", ")
}

// shape shows how a value would be written that is right but for its shape.
func shape(text string, n *ast.Field) string {
	v := literal(n, "")
	if v == "" {
		return ""
	}
	switch {
	case strings.HasPrefix(text, "must be a list"):
		return fmt.Sprintf("write [%s]", v)
	case strings.HasPrefix(text, "must be a struct with style"):
		return fmt.Sprintf("write {style: %s}", v)
	case strings.HasPrefix(text, "must be a struct with channel"):
		return fmt.Sprintf("write {channel: %s}", v)
	case strings.HasPrefix(text, "must be a struct with basis"):
		return fmt.Sprintf("write {basis: %s, version: \"1.0.0\", on: \"2026-11\"}", v)
	}
	return ""
}
