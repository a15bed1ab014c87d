package load

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/flow-agents/flow-agents/internal/spelling"
)

// A Finding is one mistake in a manifest.
type Finding struct {
	// Pos is file:line:column of the author's own line; empty if unknown.
	Pos string
	// Path leads to the field, keys joined by dots.
	Path string
	Text string
	// Hint says what to write instead, where that can be known.
	Hint string

	at token.Position
	// node is the author's field that is at fault; with it mended, nothing more
	// is to be said about the paths in mends.
	node     *ast.Field
	within   *ast.Field
	mends    []string
	stageTwo bool
	// plain: the text was CUE's own, put in an author's words.
	plain bool
}

// unknownField and missingField recognise CUE's two messages about structure.
func (f Finding) unknownField() bool { return strings.HasSuffix(f.Text, "field not allowed") }
func (f Finding) missingField() bool { return strings.HasSuffix(f.Text, "required but not present") }

func (f Finding) String() string {
	s := f.Text
	if f.Path != "" {
		s = f.Path + ": " + s
	}
	if f.Pos != "" {
		s = f.Pos + ": " + s
	}
	if f.Hint != "" {
		s += "\n\thint: " + f.Hint
	}
	return s
}

// Findings are the mistakes of one load, in file order.
type Findings []Finding

// consequence tells whether a finding may come from having mended others: it
// is about what was mended, or CUE's own word about something incomplete.
func (f Finding) consequence(mended []string) bool {
	if !strings.HasPrefix(f.Path, "hosts.") || f.Pos == "" || cueOwn.MatchString(f.Text) {
		return true
	}
	for _, m := range mended {
		if f.Path == m || strings.HasPrefix(f.Path, m+".") || strings.HasPrefix(m, f.Path+".") {
			return true
		}
	}
	if f.missingField() {
		// What the author wrote there may be borrowed from a place that is
		// mended.
		if f.within == nil {
			return true
		}
		_, whole := f.within.Value.(*ast.StructLit)
		return !whole
	}
	return false
}

// stage is 2 if the findings are about what follows from sound manifests.
func (f Findings) stage() int {
	if len(f) > 0 && f[0].stageTwo {
		return 2
	}
	return 1
}

// Error tells each mistake once: where it was made again follows below it, a
// line for each place.
func (f Findings) Error() string {
	type message struct{ text, hint string }
	first := map[message]int{}
	var out []string
	for _, x := range f {
		m := message{x.Text, x.Hint}
		i, told := first[m]
		if !told || x.Pos == "" {
			first[m] = len(out)
			out = append(out, x.String())
			continue
		}
		out[i] += "\n\talso " + x.Pos + ": " + short(x.Path)
	}
	return strings.Join(out, "\n")
}

// short is a path without what it shares with most others.
func short(path string) string {
	if _, rest, ok := strings.Cut(path, ".events."); ok {
		return rest
	}
	if keys := strings.SplitN(path, ".", 3); len(keys) == 3 {
		return keys[2]
	}
	return path
}

// explainer maps CUE's errors to the author's lines.
type explainer struct {
	tree   *tree
	author *build.Instance
	// schema tells what belongs in a struct.
	schema cue.Value
}

// cueOwn recognises messages that CUE made itself; all others were written in
// the schema for the author and say more.
var cueOwn = regexp.MustCompile(`^(conflicting values|\d+ errors in empty disjunction|invalid value|empty disjunction|incomplete value|unresolved disjunction|required field missing|non-concrete|error in call|mismatched types|undefined field|structural cycle)`)

func (x explainer) explain(err error, root cue.Value) Findings {
	var all Findings
	for _, e := range cueerrors.Errors(err) {
		format, args := e.Msg()
		text := fmt.Sprintf(format, args...)
		raw := e.Path()
		p, leaf := authorPath(raw)
		checked := len(raw) > 0 && raw[0] == "checks" // its messages quote the manifest
		// An unknown field is told by what it holds.
		for strings.HasSuffix(text, "field not allowed") && len(p) > 1 && isIndex(p[len(p)-1]) {
			p = p[:len(p)-1]
		}
		if m := lacking.FindStringSubmatch(text); m != nil {
			p, text = append(p, m[1]), "field is required but not present"
		}
		unnamed := isUnnamed(p)
		if unnamed {
			p = p[:3]
		}
		f := Finding{Path: joinPath(p), Text: text}
		node, pos := x.locate(p, e)
		x.put(&f, pos)
		f.node, f.mends = node, []string{f.Path}
		f.Text, f.plain = plain(text, x.belongs(p), node)
		if unnamed {
			f.Text, f.Hint, f.plain = "a surface stands under its name", "most hosts have one: surfaces: main: {title: ..., events: ...}", true
		}
		if m := packages.FindStringSubmatch(text); m != nil {
			f = x.foreign(m)
		}
		if strings.HasSuffix(f.Path, ".claim.basis") && strings.Contains(text, `values "unexamined" and`) {
			f.Text, f.Hint, f.plain = "a gap that is unexamined claims nothing", `leave claim out, or say what was found: gap: "no-event", "no-channel", "not-delivered" or "undocumented"`, true
		}
		if again := x.again(text, e); again != "" {
			f.Text, f.Hint, f.plain = "written twice, and not the same: "+strings.TrimPrefix(text, "conflicting values "), again, true
		}
		// A check may say itself what to write.
		if said, advice, ok := strings.Cut(f.Text, "; hint: "); ok {
			f.Text, f.Hint = said, advice
		}
		if strings.HasSuffix(text, "import failed") {
			f.Path, f.Text = "", x.imports(text) // the path is the package that wants it
		}
		for _, suggest := range []func() string{
			func() string { return hint(root, p, leaf, text, node) },
			func() string { return x.definition(text) },
			func() string { return x.known(root, p, text) },
			func() string { return shape(f.Text, p, node) },
			func() string { return correct(f.Text, literal(node, "")) },
			func() string { return example(f, p) },
		} {
			if f.Hint == "" {
				f.Hint = suggest()
			}
		}
		switch {
		case f.unknownField():
			if near, ok := strings.CutPrefix(f.Hint, "did you mean "); ok {
				near, _, _ = strings.Cut(near, "?")
				f.mends = append(f.mends, parent(f.Path)+"."+near)
			}
		case unnamed:
		case discriminates(f) && len(p) > 1:
			// The shape of a struct hangs on its kind: without it there is no
			// saying what is wrong with the rest.
			f.within = node
			f.node, _ = x.locate(p[:len(p)-1], e)
			f.mends = append(f.mends, parent(f.Path))
		case f.missingField():
			f.within, f.node = node, nil // what is there is not at fault
		}
		if v := literal(node, leaf); v != "" && leaf == "" && !strings.Contains(f.Text, v) && !(checked && says(f.Text, v)) && !f.missingField() && !f.unknownField() && !cueOwn.MatchString(f.Text) && !strings.HasPrefix(f.Text, "undefined ") {
			f.Text += ", not " + v
		} else if kind := kindOf(node); strings.HasPrefix(f.Text, "must be ") && (kind == "list" || kind == "struct") && !strings.HasPrefix(f.Text, "must be a "+kind) {
			f.Text += ", not a " + kind
		}
		if m := noEvent.FindStringSubmatch(f.Text); m != nil && f.Hint == "" {
			f.Hint = fmt.Sprintf("if the host has it, add %q to nativeEvents", m[1])
		}
		// The whole vocabulary is noise once the likely word is known.
		if f.Hint != "" {
			f.Text, _, _ = strings.Cut(f.Text, "; known: ")
		}
		all = append(all, f)
	}
	all = single(all)
	all.Sort()
	return all
}

// Sort puts findings in the order of files and lines.
func (f Findings) Sort() {
	sort.SliceStable(f, func(i, j int) bool {
		a, b := f[i].at, f[j].at
		if a.Filename != b.Filename {
			return a.Filename < b.Filename
		}
		return a.Offset < b.Offset
	})
}

// single keeps one finding for each mistake: the one that the schema wrote for
// the author where there is one, and no consequence of another finding.
func single(all Findings) Findings {
	rank := func(f Finding) int {
		switch {
		case cueOwn.MatchString(f.Text):
			return 1
		case f.Pos == "", f.plain:
			return 2
		}
		return 3
	}
	var out Findings
	for i, f := range all {
		keep := true
		for j, g := range all {
			if i == j {
				continue
			}
			same := f.Path == g.Path || f.Pos != "" && f.Pos == g.Pos && f.Text == g.Text
			switch {
			case same && rank(g) > rank(f), same && rank(g) == rank(f) && j < i:
				keep = false
			// A check on a hidden field, or an error of a helper that is not
			// the author's at all, follows from a mistake beside it.
			case hidden(f.Path) && !hidden(g.Path) && strings.HasPrefix(g.Path, parent(f.Path)):
				keep = false
			case !strings.HasPrefix(f.Path, "hosts") && strings.HasPrefix(g.Path, "hosts"):
				keep = false
			// What a struct may hold hangs on the field that says its kind.
			case f.unknownField() && discriminates(g) && strings.HasPrefix(f.Path, parent(g.Path)+"."):
				keep = false
			// A value that fails in one place fails all that contains it.
			case rank(f) == 1 && strings.HasPrefix(g.Path, f.Path+"."):
				keep = false
			}
		}
		if keep {
			// Hidden checks are ours: show the field that they are about.
			if hidden(f.Path) {
				f.Path = parent(f.Path)
				f.mends = []string{f.Path}
			}
			out = append(out, f)
		}
	}
	return out
}

// discriminates tells whether a finding is about a field on which the shape of
// its struct depends.
func discriminates(f Finding) bool {
	switch f.Path[strings.LastIndexByte(f.Path, '.')+1:] {
	case "kind", "style", "basis", "fidelity", "gap":
		return !f.unknownField()
	}
	return false
}

func hidden(p string) bool {
	return strings.HasPrefix(p[strings.LastIndexByte(p, '.')+1:], "_")
}

func parent(p string) string {
	if i := strings.LastIndexByte(p, '.'); i >= 0 {
		return p[:i]
	}
	return ""
}

// authorPath turns a path of schema/declare into the manifest's own: checks
// mirror the manifests, with one more step for the element of a list.
func authorPath(p []string) (path []string, leaf string) {
	out := make([]string, 0, len(p))
	for _, s := range p {
		if u, err := strconv.Unquote(s); err == nil {
			s = u
		}
		out = append(out, s)
	}
	if len(out) == 0 || out[0] != "checks" {
		return out, ""
	}
	out[0] = "hosts"
	for i, s := range out[:len(out)-1] {
		if s == "native" || s == "matchable" || s == "caps" || s == "serves" || s == "surfaces" && i > 2 {
			return out[:i+1], out[i+1]
		}
	}
	return out, ""
}

func joinPath(p []string) string {
	q := make([]string, len(p))
	for i, s := range p {
		q[i] = s
		if strings.Contains(s, ".") {
			q[i] = strconv.Quote(s)
		}
	}
	return strings.Join(q, ".")
}

// locate finds the author's node for a path: the deepest label along it in the
// author's files, else a position of the error that lies in them.
func (x explainer) locate(p []string, e cueerrors.Error) (*ast.Field, token.Pos) {
	best, depth := x.descend(p)
	if depth == len(p) && best != nil {
		return best, best.Label.Pos()
	}
	// The value comes from elsewhere in the author's files: a shared field.
	for _, q := range cueerrors.Positions(e) {
		if f := x.literalAt(q); f != nil {
			return f, f.Value.Pos()
		}
	}
	if best == nil || depth < len(p)-1 {
		for _, q := range cueerrors.Positions(e) {
			if x.wrote(q) {
				return best, q
			}
		}
	}
	if best != nil {
		return best, best.Label.Pos()
	}
	return nil, e.Position()
}

// descend finds the author's deepest field along a path, and how deep that is.
func (x explainer) descend(p []string) (best *ast.Field, depth int) {
	for _, f := range x.author.Files {
		if n, d := descend(f.Decls, p, nil); d > depth {
			best, depth = n, d
		}
	}
	return best, depth
}

// put says where a finding is, if that is known.
func (x explainer) put(f *Finding, pos token.Pos) {
	if pos.IsValid() {
		f.at = pos.Position()
		f.Pos = place(x.tree.name(pos.Filename()), pos)
	}
}

// wrote tells whether a position lies in the author's files.
func (x explainer) wrote(p token.Pos) bool {
	for _, f := range x.author.Files {
		if f.Filename == p.Filename() {
			return true
		}
	}
	return false
}

// literalAt finds the field whose literal value starts at a position.
func (x explainer) literalAt(p token.Pos) (found *ast.Field) {
	if !p.IsValid() || !x.wrote(p) {
		return nil
	}
	for _, f := range x.author.Files {
		if f.Filename != p.Filename() {
			continue
		}
		ast.Walk(f, func(n ast.Node) bool {
			if fld, ok := n.(*ast.Field); ok && literal(fld, "") != "" && fld.Value.Pos().Offset() == p.Offset() {
				found = fld
			}
			return found == nil
		}, nil)
	}
	return found
}

// descend follows a path through field labels and, for digits, list elements.
// A value that is borrowed from a field beside or above (x: _shared & {...}) is
// followed to where it was written. scope holds the enclosing declarations,
// outermost first.
func descend(decls []ast.Decl, p []string, scope [][]ast.Decl) (found *ast.Field, depth int) {
	if len(p) == 0 || len(scope) > 64 {
		return nil, 0
	}
	scope = append(scope[:len(scope):len(scope)], decls)
	for _, d := range decls {
		fld, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		name, _, err := ast.LabelName(fld.Label)
		if err != nil || name != p[0] {
			continue
		}
		at, n := fld, 1
		deeper := func(v ast.Expr, p []string, used int) {
			for _, s := range borrowed(v, scope) {
				if q, m := descend(s.Elts, p, scope); m > 0 && m+used > n {
					at, n = q, m+used
				}
			}
		}
		deeper(fld.Value, p[1:], 1)
		if l, ok := fld.Value.(*ast.ListLit); ok && len(p) > 1 {
			if i, err := strconv.Atoi(p[1]); err == nil && i >= 0 && i < len(l.Elts) {
				at, n = elementField(fld, l.Elts[i]), 2
				deeper(l.Elts[i], p[2:], 2)
			}
		}
		if n > depth {
			found, depth = at, n
		}
	}
	return found, depth
}

// borrowed lists the struct literals that an expression is made of, its own
// and those of the fields that it refers to.
func borrowed(x ast.Expr, scope [][]ast.Decl) []*ast.StructLit {
	switch x := x.(type) {
	case *ast.BinaryExpr:
		return append(borrowed(x.X, scope), borrowed(x.Y, scope)...)
	case *ast.ParenExpr:
		return borrowed(x.X, scope)
	case *ast.Ident:
		for i := len(scope) - 1; i >= 0; i-- {
			for _, d := range scope[i] {
				if f, ok := d.(*ast.Field); ok {
					if name, _, err := ast.LabelName(f.Label); err == nil && name == x.Name && f.Value != ast.Expr(x) {
						return borrowed(f.Value, scope[:i+1])
					}
				}
			}
		}
		return nil
	}
	return structs(x)
}

// elementField stands for a list element, whose place is its own.
func elementField(f *ast.Field, v ast.Expr) *ast.Field {
	lbl := &ast.Ident{Name: "element", NamePos: v.Pos()}
	return &ast.Field{Label: lbl, Value: f.Value}
}

// value is what the author wrote in a field, or as the element that it stands
// for.
func value(n *ast.Field) ast.Expr {
	if l, ok := n.Value.(*ast.ListLit); ok {
		for _, e := range l.Elts {
			if e.Pos() == n.Label.Pos() {
				return e
			}
		}
	}
	return n.Value
}

// structs lists the struct literals of an expression: a & {b} has one.
func structs(x ast.Expr) []*ast.StructLit {
	switch x := x.(type) {
	case *ast.StructLit:
		return []*ast.StructLit{x}
	case *ast.BinaryExpr:
		return append(structs(x.X), structs(x.Y)...)
	case *ast.ParenExpr:
		return structs(x.X)
	}
	return nil
}

// literal is the text of the value that the author wrote, if it is a literal.
func literal(n *ast.Field, leaf string) string {
	if leaf != "" {
		return strconv.Quote(leaf)
	}
	if n == nil {
		return ""
	}
	switch v := value(n).(type) {
	case *ast.BasicLit:
		return v.Value
	case *ast.UnaryExpr:
		if b, ok := v.X.(*ast.BasicLit); ok {
			return v.Op.String() + b.Value
		}
	}
	return ""
}

// says tells whether a message names a value already, without its quotes.
func says(text, v string) bool {
	if u, err := strconv.Unquote(v); err == nil {
		v = u
	}
	return v != "" && slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;:", r) }), v)
}

var listed = regexp.MustCompile(`(?:must be one of|known:|must be|is one of) ([A-Za-z0-9_@.*:/-]+(?:(?:, | or )[A-Za-z0-9_@.*:/-]+)*)`)

// grammar says how the keys of a map are spelled.
var grammar = map[string]string{
	"tools":    "a tool's name is one word as the host sends it; a final * stands for any rest",
	"surfaces": "a surface's name is lower-case words joined by '-'",
	"files":    "a file's name here is an id: a word such as settings",
	"env":      "an environment variable is written in capitals, digits and _",
}

// unquoted is what CUE says of a bare word.
var unquoted = regexp.MustCompile(`^reference "([^"]+)" not found$`)

func isIndex(key string) bool {
	_, err := strconv.Atoi(key)
	return err == nil
}

// span is a time written the way people do.
var span = regexp.MustCompile(`^"(\d+) ?(ms|s|m)"$`)

// hint says what to write instead.
func hint(root cue.Value, p []string, leaf, text string, n *ast.Field) string {
	if strings.HasSuffix(text, "import failed") {
		return "a manifest imports github.com/flow-agents/flow-agents/schema, and CUE's own packages"
	}
	if m := unquoted.FindStringSubmatch(text); m != nil {
		switch {
		case m[1] == "schema":
			return `below the package line stands import "github.com/flow-agents/flow-agents/schema"`
		case strings.HasPrefix(m[1], "#"):
			return "a definition is the schema's: schema." + m[1]
		}
		return "a word that is a value stands in quotes: \"" + m[1] + "\""
	}
	if strings.HasPrefix(text, "imported and not used") {
		return "a host is described as hosts: ID: schema.#Host & {...}"
	}
	if strings.Contains(text, "field not allowed") && len(p) > 2 && grammar[p[len(p)-2]] != "" && Nearest(fieldsAt(root, p[:len(p)-1]), p[len(p)-1]) == "" {
		return grammar[p[len(p)-2]]
	}
	if strings.Contains(text, "required but not present") && len(p) > 1 && p[len(p)-2] == "events" {
		return fmt.Sprintf("map %s, name the gap, or say that nobody has looked: %s: {kind: \"gap\", gap: \"unexamined\"}", p[len(p)-1], p[len(p)-1])
	}
	if strings.HasPrefix(text, "incomplete value ") {
		return "write one value; a type, a choice or a reference to itself is none"
	}
	if strings.Contains(text, "field not allowed") && len(p) > 1 && root.Exists() {
		if near := Nearest(fieldsAt(root, p[:len(p)-1]), p[len(p)-1]); near != "" {
			if eg := examples[near]; eg != "" && p[len(p)-1] != "on" {
				return "did you mean " + near + "? As in " + eg
			}
			return "did you mean " + near + "?"
		}
		return ""
	}
	word := leaf
	if word == "" {
		if v, err := strconv.Unquote(literal(n, "")); err == nil {
			word = v
		}
	}
	if word == "" {
		return ""
	}
	if m := listed.FindStringSubmatch(text); m != nil {
		if near := Nearest(strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' }), word); near != "" {
			return "did you mean " + near + "?"
		}
	}
	if ms := span.FindStringSubmatch(literal(n, "")); ms != nil && p[len(p)-1] == "timeoutMs" {
		k, _ := strconv.Atoi(ms[1])
		return fmt.Sprintf("write %d", k*map[string]int{"ms": 1, "s": 1000, "m": 60_000}[ms[2]])
	}
	return ""
}

// again says where else a value was written that is written here as another.
func (x explainer) again(text string, e cueerrors.Error) string {
	if !strings.HasPrefix(text, "conflicting values ") || mismatch.MatchString(text) {
		return ""
	}
	var places []token.Pos
	for _, q := range cueerrors.Positions(e) {
		if x.wrote(q) && x.literalAt(q) != nil && !slices.Contains(places, q) {
			places = append(places, q)
		}
	}
	if len(places) < 2 {
		return ""
	}
	for i, q := range places {
		places[i] = x.literalAt(q).Label.Pos()
	}
	slices.SortFunc(places, func(a, b token.Pos) int { return a.Offset() - b.Offset() })
	last := places[len(places)-1]
	return "keep one of the two; the other is at " + place(x.tree.name(last.Filename()), last)
}

// imports names the package that could not be imported; CUE names the one that
// wants it.
func (x explainer) imports(text string) string {
	for _, f := range x.author.Files {
		for s := range f.ImportSpecs() {
			if s.Path != nil && strings.Contains(s.Path.Value, ".") && !strings.HasSuffix(s.Path.Value, `/flow-agents/schema"`) {
				return s.Path.Value + ": import failed"
			}
		}
	}
	return text
}

// undefined is what CUE says of a name that a package lacks.
var undefined = regexp.MustCompile(`^undefined field: (#?[A-Za-z]+)$`)

// definition names the definition of the schema that was probably meant.
func (x explainer) definition(text string) string {
	m := undefined.FindStringSubmatch(text)
	if m == nil || !x.schema.Exists() {
		return ""
	}
	it, err := x.schema.Fields(cue.Definitions(true))
	if err != nil {
		return ""
	}
	var names []string
	for it.Next() {
		names = append(names, it.Selector().String())
	}
	if near := Nearest(names, m[1]); near != "" {
		return "did you mean schema." + near + "?"
	}
	return ""
}

// What CUE says of a struct without a field on which its shape depends, of a
// folder with two packages, and the schema of an event outside nativeEvents.
var (
	lacking  = regexp.MustCompile(`^required field missing: ([A-Za-z]+)$`)
	packages = regexp.MustCompile(`^found packages "([^"]+)" \(([^)]+)\) and "([^"]+)" \(([^)]+)\) in `)
	noEvent  = regexp.MustCompile(` has no event ([^ ;]+); known: `)
)

// isUnnamed tells whether a path leads to a field of a surface that stands
// where the surface's name belongs.
func isUnnamed(p []string) bool {
	return len(p) > 3 && p[0] == "hosts" && p[2] == "surfaces" && slices.Contains([]string{"title", "events", "payload", "env"}, p[3])
}

// foreign is a finding about a file of the folder that is in another package.
func (x explainer) foreign(m []string) Finding {
	pkg, file := m[1], m[2]
	if pkg == "manifests" {
		pkg, file = m[3], m[4]
	}
	f := Finding{Pos: file, Text: "the package of a manifest is manifests, not " + pkg}
	for abs, name := range x.tree.shown {
		if filepath.Base(abs) == file && filepath.Base(filepath.Dir(abs)) == "manifests" {
			f.Pos = name + ":1:1"
		}
	}
	return f
}

// known lists what may stand where an unknown field does, beside what the author
// wrote there; or, if that hangs on a field that is missing, names that one.
func (x explainer) known(root cue.Value, p []string, text string) string {
	if !strings.HasSuffix(text, "field not allowed") || len(p) < 2 {
		return ""
	}
	at := p[: len(p)-1 : len(p)-1]
	var fields []string
	for _, f := range fieldsAt(root, at) {
		if _, depth := x.descend(append(at, f)); depth > len(at) {
			continue
		}
		if f == "style" || f == "kind" || f == "gap" {
			return fmt.Sprintf("without %s nothing else fits here: such as %s", f, examples[f])
		}
		fields = append(fields, f)
	}
	if len(fields) == 0 || len(fields) > 12 {
		return ""
	}
	return "known here: " + strings.Join(fields, ", ")
}

// fieldsAt lists the fields that the schema knows at a place.
func fieldsAt(root cue.Value, at []string) []string {
	sel := make([]cue.Selector, len(at))
	for i, s := range at {
		sel[i] = cue.Str(s)
		if k, err := strconv.Atoi(s); err == nil {
			sel[i] = cue.Index(k)
		}
	}
	if !root.Exists() {
		return nil
	}
	it, err := root.LookupPath(cue.MakePath(sel...)).Fields(cue.All())
	if err != nil {
		return nil
	}
	var out []string
	for it.Next() {
		if it.Selector().LabelType() == cue.StringLabel {
			out = append(out, it.Selector().Unquoted())
		}
	}
	return out
}

// Nearest is the candidate within two edits of name, if there is one.
func Nearest(candidates []string, name string) string {
	best, d := "", 3
	for _, k := range candidates {
		if k == name {
			continue
		}
		if n := spelling.Distance(strings.ToLower(k), strings.ToLower(name)); n < d && n < len(name) {
			best, d = k, n
		}
	}
	return best
}
