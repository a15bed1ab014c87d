package load

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
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
// n is what the author wrote there, if that is known.
func plain(text string, fields []string, n *ast.Field) (string, bool) {
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
	if wrote := kindOf(n); (m[1] == wrote) != (m[2] == wrote) {
		want := m[1]
		if want == wrote {
			want = m[2]
		}
		if want == "struct" {
			return "must be " + structOf(fields), true
		}
		if w, ok := words[want]; ok {
			return "must be " + w, true
		}
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

var words = map[string]string{"list": "a list", "bool": "true or false", "int": "a whole number", "number": "a number", "string": "a string"}

// kindOf is the type of what the author wrote, as CUE calls it; empty where it
// is no literal.
func kindOf(n *ast.Field) string {
	if n == nil {
		return ""
	}
	v := value(n)
	if u, ok := v.(*ast.UnaryExpr); ok {
		v = u.X
	}
	switch v := v.(type) {
	case *ast.ListLit:
		return "list"
	case *ast.StructLit:
		return "struct"
	case *ast.BasicLit:
		switch v.Kind {
		case token.STRING:
			if strings.HasPrefix(v.Value, "'") {
				return "bytes"
			}
			return "string"
		case token.INT:
			return "int"
		case token.FLOAT:
			return "float"
		case token.TRUE, token.FALSE:
			return "bool"
		}
	}
	return ""
}

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
func shape(text string, p []string, n *ast.Field) string {
	v := literal(n, "")
	switch {
	case strings.HasPrefix(text, "needs at least one element"):
		return such(p)
	case v == "" && (strings.HasPrefix(text, "must be a struct") || strings.HasPrefix(text, "must be a list")):
		return such(p)
	case v == "":
		return ""
	case strings.HasPrefix(text, "must be a list"):
		return fmt.Sprintf("write [%s]", v)
	case strings.HasPrefix(text, "must be a struct with style"):
		return fmt.Sprintf("write {style: %s}", v)
	case strings.HasPrefix(text, "must be a struct with channel"):
		return fmt.Sprintf("write {channel: %s}", v)
	case strings.HasPrefix(text, "must be a struct with basis"):
		return fmt.Sprintf("write {basis: %s, version: \"1.0.0\", on: \"2026-11\"}", v)
	case strings.HasPrefix(text, "must be a struct with class"):
		return fmt.Sprintf("write {class: %s}", v)
	case strings.HasPrefix(text, "must be a struct"):
		return such(p)
	case strings.HasPrefix(text, "must be a string"):
		return "write " + strconv.Quote(strings.Trim(v, `'`))
	case strings.HasPrefix(text, "must be a whole number"), strings.HasPrefix(text, "must be a number"):
		if digits.MatchString(strings.Trim(v, `"`)) {
			return "write " + strings.Trim(v, `"`)
		}
	case strings.HasPrefix(text, "must be true or false"):
		switch strings.ToLower(strings.Trim(v, `"`)) {
		case "true", "yes", "on", "1":
			return "write true"
		case "false", "no", "off", "0":
			return "write false"
		}
	}
	return ""
}

var (
	digits    = regexp.MustCompile(`^[0-9]+$`)
	release   = regexp.MustCompile(`^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?$`)
	day       = regexp.MustCompile(`^(20\d\d)[-/.](\d\d)[-/.]\d\d`)
	index     = regexp.MustCompile(`\[(?:\d+|\*)\]|\.\*`)
	fieldPath = regexp.MustCompile(`^[A-Za-z_]\w*(\[\])?(\.[A-Za-z_]\w*(\[\])?)*$`)
	variable  = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
)

// correct says how a value would be written that has the wrong form. v is the
// literal as it stands in the file.
func correct(text, v string) string {
	if v == "" {
		return ""
	}
	word := strings.Trim(v, `"`)
	switch {
	case strings.HasPrefix(text, "a version is "):
		if m := release.FindStringSubmatch(word); m != nil {
			for i := range m {
				if m[i] == "" {
					m[i] = "0"
				}
			}
			return fmt.Sprintf("write %q", strings.Join(m[1:], "."))
		}
	case strings.HasPrefix(text, "a date is "):
		if m := day.FindStringSubmatch(word); m != nil {
			return fmt.Sprintf("write %q", m[1]+"-"+m[2])
		}
		for _, form := range []string{"Jan 2006", "January 2006", "2006/01", "01/2006"} {
			if t, err := time.Parse(form, word); err == nil {
				return fmt.Sprintf("write %q", t.Format("2006-01"))
			}
		}
	case strings.HasPrefix(text, "an environment variable "):
		if w := strings.ReplaceAll(strings.ToUpper(strings.Trim(word, "${}")), "-", "_"); variable.MatchString(w) {
			return fmt.Sprintf("write %q", w)
		}
	case strings.HasPrefix(text, "a field path is "):
		w := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(word, "$"), "."), "/")
		w = index.ReplaceAllString(strings.ReplaceAll(w, "/", "."), "[]")
		if fieldPath.MatchString(w) {
			return fmt.Sprintf("write %q", w)
		}
		return `for a payload {"edits": [{"path": "a.js"}]} write "edits[].path"; a key is letters, digits and _`
	case strings.HasPrefix(text, "a path here is relative"):
		return "project and local paths are below the project, such as .acme/hooks.json; user paths below home.dir, such as hooks.json"
	case strings.HasPrefix(text, "unit must be "):
		switch {
		case strings.HasPrefix(word, "ms"), strings.HasPrefix(word, "milli"):
			return `write "ms"`
		case strings.HasPrefix(word, "sec"):
			return `write "s"`
		}
	}
	return ""
}

// examples show, by its label, how a field is written.
var examples = map[string]string{
	"accepts":      `accepts: {shape: "nested", top: ["hooks"], handler: ["type", "command", "timeout"], matcher: "none"}`,
	"answer":       `answer: style: "none", if nothing can be said at this event`,
	"basis":        `basis: "documented"`,
	"claim":        `claim: {basis: "documented", version: "1.0.0", on: "2026-11"}`,
	"class":        `class: "other"`,
	"command":      `command: ["command"], where the command line stands in the tool's input`,
	"degradation":  `degradation: "Prompts are not recorded on this host.", what the user loses`,
	"dest":         `dest: {project: ".acme/hooks.json", user: "hooks.json"}`,
	"detect":       `detect: {env: ["ACME_CODE"], project: [".acme"], user: [".acme"]}`,
	"doc":          `doc: "Hooks in the project's settings file."`,
	"file":         `file: "main/preToolUse.json", below conformance/recordings/<host>/`,
	"files":        "files: {}",
	"gap":          `gap: "no-event"`,
	"handler":      `handler: ["type", "command", "timeout"], the keys of one hook`,
	"holes":        "holes: []",
	"home":         `home: dir: ".acme"`,
	"kind":         `kind: "native", "emulated" or "gap" for an event, "config" or "source" for a file`,
	"loss":         `loss: "Calls of background agents don't come by here."`,
	"matcher":      `matcher: "none"`,
	"merge":        `merge: "merge-json"`,
	"native":       `native: ["PreToolUse"], the host's own name of the event`,
	"nativeEvents": `nativeEvents: ["SessionStart"], every event name that the host knows`,
	"on":           `on: "2026-11"`,
	"patch":        `patch: ["input"], where the patch stands in the tool's input`,
	"path":         `path: ["file_path"], or ["edits[].path"] for each of a list`,
	"style":        `style: "nested-json"`,
	"surfaces":     `surfaces: main: {title: "command line", events: {...}}`,
	"switches":     "switches: []",
	"template":     `template: "nested-hooks.jsonnet"`,
	"tested":       `tested: {package: "acme", min: "1.0.0", max: "1.0.0"}`,
	"timeout":      `timeout: {key: "timeout", unit: "s", min: 1, max: 600}`,
	"tools":        `tools: Write: {class: "write", path: ["file_path"]}`,
	"top":          `top: ["hooks"], the keys at the top of the file`,
	"trust":        "trust: []",
	"version":      `version: "1.0.0", the release that shows it`,
}

// elements show how an element of a list is written.
var elements = map[string]string{
	"holes":    `{id: "config-edits", text: "The agent can edit the host's hook config.", claim: {basis: "documented", version: "1.0.0", on: "2026-11"}}`,
	"switches": `{scope: "user", path: "settings.json", format: "json", key: ["hooks"], deadWhen: false, text: "Hooks are switched off."}`,
	"trust":    `{scope: "any", text: "Start the host once and trust the folder."}`,
}

// such shows how what stands at a path is written.
func such(p []string) string {
	eg := ""
	if n := len(p); n > 1 && isIndex(p[n-1]) {
		eg = elements[p[n-2]]
	} else if n > 1 && p[n-2] == "events" {
		eg = p[n-1] + `: {kind: "gap", gap: "unexamined"}`
	} else if n == 3 && p[2] == "kind" {
		eg = `kind: "harness"`
	} else if n > 0 {
		eg = examples[p[n-1]]
	}
	if eg == "" {
		return ""
	}
	return "such as " + eg
}

// example shows how a field is written that is missing.
func example(f Finding, p []string) string {
	if !f.missingField() || len(p) == 0 {
		return ""
	}
	if n := len(p); n > 1 && p[n-2] == "detect" {
		return p[n-1] + ": [] where there is nothing to go by"
	}
	return such(p)
}
