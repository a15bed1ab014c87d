package shell

import "strings"

// A coder reads code of a language that it doesn't know well: calls by their
// names, strings and how they are put together, and what variables hold.
type coder struct {
	s     *scanner
	lang  string
	argv  []string
	toks  []token
	at    int
	level int
	vars  []variable
	// Strings that might be a file's name, and were only passed on.
	loose []string
	// Something is written whose name isn't known.
	open bool
}

type variable struct {
	name string
	vals []string
}

// An arg is an argument of a call: the values that it may have.
type arg struct {
	name string
	vals []string
	list bool
	word string // it is, or contains, this name: os.O_WRONLY
}

var unknownVals = []string{hole}

func (c *coder) assign(name string, vals []string) {
	for i := range c.vars {
		if c.vars[i].name == name {
			c.vars[i].vals = union(c.vars[i].vals, vals, 4*maxAlts)
			return
		}
	}
	if len(c.vars) < 64 {
		c.vars = append(c.vars, variable{name, vals})
	}
}

func (c *coder) value(name string) []string {
	for i := range c.vars {
		if c.vars[i].name == name {
			return c.vars[i].vals
		}
	}
	return nil
}

func (c *coder) peek(n int) token {
	if c.at+n < len(c.toks) {
		return c.toks[c.at+n]
	}
	return token{kind: 'e'}
}

func (c *coder) is(text string) bool {
	t := c.peek(0)
	return t.kind == 'p' && t.text == text
}

// program reads all of the code.
func (c *coder) program() {
	for c.at < len(c.toks) {
		before := c.at
		c.expr()
		if c.at == before {
			c.at++
		}
		if !c.s.spend(1) {
			return
		}
	}
	if c.open {
		found := false
		for _, f := range c.loose {
			found = true
			c.s.effect(Write, f, c.lang, false, false)
		}
		if !found {
			c.s.undecided("a file that a script writes isn't known")
		}
	}
}

// expr reads an expression, and returns what strings it may come to.
func (c *coder) expr() []string {
	if c.level > 100 {
		c.at++
		c.open = true
		return unknownVals
	}
	c.level++
	defer func() { c.level-- }()
	vals, _ := c.primary()
	for {
		t := c.peek(0)
		switch {
		case t.kind == 's':
			v, _ := c.primary()
			vals = c.concat(vals, v, "")
		case t.kind == 'p' && (t.text == "+" || t.text == "." && (c.lang == "perl" || c.lang == "php")):
			c.at++
			if c.is("=") {
				c.at++
			}
			v, _ := c.primary()
			vals = c.concat(vals, v, "")
		case t.kind == 'p' && t.text == "/" && c.lang == "python":
			c.at++
			v, _ := c.primary()
			vals = c.concat(vals, v, "/")
		case t.kind == 'p' && (t.text == "?" || t.text == ":" || t.text == "|" || t.text == "&") && c.lang != "awk",
			t.kind == 'i' && (t.text == "if" || t.text == "else" || t.text == "or" || t.text == "and") && vals != nil:
			if t.text == ":" && c.lang == "python" || t.kind == 'i' && c.peek(-1).kind == 'n' {
				return vals
			}
			c.at++
			v, _ := c.primary()
			vals = union(vals, v, 4*maxAlts)
		default:
			return vals
		}
	}
}

func (c *coder) concat(a, b []string, sep string) []string {
	if len(a) == 0 {
		a = unknownVals
	}
	if len(b) == 0 {
		b = unknownVals
	}
	if len(a)*len(b) > maxRuns {
		return unknownVals
	}
	var out []string
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > 4096 || !c.s.spend(1) {
				return unknownVals
			}
			if sep == "/" {
				out = append(out, join(strings.TrimSuffix(x, "/"), y))
			} else {
				out = append(out, x+y)
			}
		}
	}
	return out
}

// primary reads a string, a name, a call or a list, with what is called on it.
// list: it is written as a list.
func (c *coder) primary() (vals []string, list bool) {
	t := c.peek(0)
	switch t.kind {
	case 'e', 'n':
		return nil, false
	case 's':
		c.at++
		vals = []string{t.text}
		if !strings.ContainsAny(t.text, " \n") && strings.ContainsAny(t.text, "./") && len(t.text) < 256 && len(c.loose) < maxRuns {
			c.loose = append(c.loose, t.text)
		}
	case 'x': // `command`
		c.at++
		c.s.nest(t.text, nil)
		vals = unknownVals
	case 'p':
		switch t.text {
		case "(", "[", "{":
			args := c.args()
			for _, a := range args {
				vals = union(vals, a.vals, 4*maxAlts)
			}
			list = t.text == "[" || len(args) > 1
		case ")", "]", "}", ",", ";", "=", ":":
			return nil, false
		default:
			c.at++
			if t.text == "." || t.text == "/" {
				return unknownVals, false
			}
			return c.primary1()
		}
	case 'i':
		return c.name(), false
	default:
		c.at++
		vals = unknownVals
	}
	return c.after("", vals, list)
}

// primary1 is primary after an operator in front (!, -, await).
func (c *coder) primary1() ([]string, bool) {
	if c.level > 100 {
		return unknownVals, false
	}
	c.level++
	v, l := c.primary()
	c.level--
	return v, l
}

// name reads a name, dotted or not, and what follows it.
func (c *coder) name() []string {
	t := c.peek(0)
	c.at++
	full := t.text
	switch full {
	case "await", "new", "return", "const", "let", "var", "my", "our", "local", "not", "yield", "async", "print", "puts", "echo", "say", "then", "do", "in", "of", "import", "from", "else", "try":
		if !c.is("(") {
			v, _ := c.primary1()
			return v
		}
	case "for", "foreach":
		c.forEach()
		return nil
	case "as":
		for i := c.at - 2; i >= 0 && c.toks[i].kind != 'n' && c.toks[i].text != ";" && i > c.at-12; i-- {
			if n := c.peek(0); c.toks[i].text == "import" && n.kind == 'i' {
				c.assign(n.text, []string{"os"})
			}
		}
		return nil
	case "lambda":
		return unknownVals
	}
	vals := c.value(full)
	if full == "$_" && vals == nil {
		vals = c.argv
	}
	if c.is("=") && c.peek(1).text != "=" && c.peek(1).text != ">" && c.peek(1).text != "~" {
		c.at++
		v := c.expr()
		if c.is(",") && c.level <= 2 && c.lang == "perl" {
			return v
		}
		c.assign(full, v)
		return v
	}
	v, _ := c.after(full, vals, false)
	return v
}

// forEach reads "for x in list" and its like: x is one of the list.
func (c *coder) forEach() {
	paren := c.is("(")
	start := c.at
	if paren {
		c.at++
	}
	for c.peek(0).kind == 'i' && one("const let var my our", c.peek(0).text) {
		c.at++
	}
	n := c.peek(0)
	if n.kind != 'i' && !(c.lang == "perl" && paren) {
		c.at = start
		return
	}
	name := n.text
	if c.lang == "perl" && paren { // for ('a', 'b') { ... $_ ... }
		c.at, name = start, "$_"
	} else {
		c.at++
	}
	if k := c.peek(0); k.kind == 'i' && (k.text == "in" || k.text == "of") {
		c.at++
	} else if c.lang != "perl" {
		return
	}
	c.assign(name, c.expr())
}

// after reads what follows a name or value: members and calls. path is the
// dotted name so far, vals what it may be.
func (c *coder) after(path string, vals []string, list bool) ([]string, bool) {
	for {
		t := c.peek(0)
		if c.level > 100 {
			return unknownVals, false
		}
		switch {
		case t.kind == 'p' && (t.text == "." && c.lang != "perl" && c.lang != "php" || t.text == "->" || t.text == "::" || t.text == "?."):
			n := c.peek(1)
			if n.kind != 'i' {
				if n.text == "(" && t.text != "." {
					c.at++
					continue
				}
				return vals, list
			}
			c.at += 2
			if one("each forEach map each_with_index", n.text) && vals != nil {
				c.bind(vals)
			}
			if path == "" && len(vals) == 1 {
				path = vals[0] // require('fs').rm
			}
			recv := vals
			path += "." + n.text
			if !c.is("(") && !c.bare(path) {
				if one("parent name stem suffix", n.text) {
					vals = unknownVals
				}
				if recv == nil {
					vals = nil
				}
				if c.is("=") && c.peek(1).text != "=" {
					return vals, list
				}
				continue
			}
			vals, list = c.callee(path, recv)
			path = ""
		case t.kind == 'p' && t.text == "(" && path != "":
			vals, list = c.callee(path, nil)
			path = ""
		case t.kind == 'p' && t.text == "[" && (path != "" || vals != nil) && (c.lang != "ruby" || !t.space):
			// An element: any of them.
			for _, a := range c.args() {
				if path == "sys.argv" || path == "process.argv" || path == "ARGV" || path == "$ARGV" {
					vals = c.argv
				}
				_ = a
			}
			if vals == nil {
				vals = unknownVals
			}
		default:
			if path != "" && c.bare(path) {
				return c.callee(path, nil)
			}
			if path == "ARGV" || path == "@ARGV" || path == "sys.argv" {
				vals = c.argv
			}
			if vals == nil && path != "" {
				vals = unknownVals
			}
			return vals, list
		}
	}
}

// bind gives the parameter of a function that is called for each of some
// values these values: f => ..., function (f) ..., |f| ...
func (c *coder) bind(vals []string) {
	for i := range 6 {
		t := c.peek(i)
		if t.kind == 'i' && t.text != "function" && t.text != "async" && t.text != "do" {
			c.assign(t.text, vals)
			return
		}
	}
}

// bare reports whether a call without brackets follows a name, as perl and ruby
// allow it.
func (c *coder) bare(path string) bool {
	if c.lang != "perl" && c.lang != "ruby" && c.lang != "php" {
		return false
	}
	t := c.peek(0)
	if c.is("(") || t.kind != 's' && t.kind != 'i' && !(t.kind == 'p' && t.text == "[" && t.space) {
		return false
	}
	return verb(path[strings.LastIndexByte(path, '.')+1:]) != nil
}

// args reads the arguments of a call or the elements of a list, brackets
// included; without brackets, up to the end of the statement.
func (c *coder) args() []arg {
	bracket := c.peek(0).kind == 'p' && one("( [ {", c.peek(0).text)
	if bracket {
		c.at++
	}
	var list []arg
	for c.at < len(c.toks) {
		t := c.peek(0)
		if t.kind == 'p' && one(") ] }", t.text) {
			if bracket {
				c.at++
			}
			return list
		}
		if !bracket && (t.kind == 'n' || t.kind == 'p' && t.text == ";") {
			return list
		}
		var a arg
		if t.kind == 'i' {
			a.word = t.text
			if n := c.peek(1); n.kind == 'p' && (n.text == "=" || n.text == ":") {
				a.name = t.text
			}
			if n := c.peek(2); n.kind == 'i' && c.peek(1).text == "." {
				a.word += "." + n.text
			}
		}
		a.list = t.kind == 'p' && t.text == "["
		before := c.at
		a.vals = c.expr()
		for c.at < len(c.toks) {
			t := c.peek(0)
			if t.kind == 'p' && one(", ) ] }", t.text) || !bracket && (t.kind == 'n' || t.text == ";") {
				break
			}
			at := c.at
			if t.kind == 'i' {
				a.word += " " + t.text
			}
			if t.kind == 'p' && t.text == ":" || t.kind == 'p' && t.text == ">" {
				c.at++
				v := c.expr()
				a.vals = union(a.vals, v, 4*maxAlts)
			} else {
				c.expr()
			}
			if c.at == at {
				c.at++
			}
			if !c.s.spend(1) {
				return list
			}
		}
		if c.at > before || c.is(",") {
			if len(list) < maxFields {
				list = append(list, a)
			}
		}
		if c.is(",") {
			c.at++
		} else if c.at == before {
			c.at++
		}
		if !c.s.spend(1) {
			return list
		}
	}
	return list
}
