package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// procSubst is what <(...) stands for: a name under /dev/fd, and here what can
// be read there.
const procSubst = "/dev/fd/63\x00"

// words returns the fields that words come to.
func (s *scanner) words(list []*syntax.Word) []string {
	var x expansion
	if n := len(list); n > 1 {
		x.fields = make([]string, 0, n)
	}
	x.s = s
	for _, w := range list {
		if !s.spend(1) || len(x.fields) > maxFields {
			s.undecided("the command has too many words")
			break
		}
		// Nearly all words are plain.
		if len(w.Parts) == 1 {
			if lit, ok := w.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(lit.Value, "\\~*?[{") {
				x.fields = append(x.fields, lit.Value)
				continue
			}
		}
		x.word(w)
	}
	return x.fields
}

// text returns what a word comes to where it is one field, as in an
// assignment.
func (s *scanner) text(w *syntax.Word) string {
	if w == nil || !s.spend(1) {
		return ""
	}
	x := expansion{s: s, one: true}
	x.parts(w.Parts)
	return string(x.cur)
}

// pattern returns a word that is matched as a pattern.
func (s *scanner) pattern(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	x := expansion{s: s, one: true, glob: true}
	x.parts(w.Parts)
	return string(x.cur)
}

// An expansion turns words into fields.
type expansion struct {
	s      *scanner
	fields []string
	cur    []byte
	open   bool // a field has begun, though it may be empty
	one    bool // there is only one field, and no wildcards in it
	glob   bool // but with wildcards
}

func (x *expansion) word(w *syntax.Word) {
	braces := 0
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			braces += strings.Count(lit.Value, "{")
		}
	}
	if braces > 16 {
		x.fields = append(x.fields, hole)
		return
	}
	if braces > 0 {
		copied := *w
		syntax.SplitBraces(&copied)
		w = &copied
	}
	for _, parts := range x.braces(w.Parts) {
		x.parts(parts)
		x.end()
	}
}

// braces returns a word's parts for each field that brace expansion makes.
func (x *expansion) braces(parts []syntax.WordPart) [][]syntax.WordPart {
	for i, p := range parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		var all [][]syntax.WordPart
		for _, elem := range elems(b) {
			for _, e := range x.braces(elem) {
				whole := append(append(append([]syntax.WordPart(nil), parts[:i]...), e...), parts[i+1:]...)
				all = append(all, x.braces(whole)...)
				if !x.s.spend(1) || len(all) > maxFields {
					x.s.undecided("the command has too many words")
					return all
				}
			}
		}
		return all
	}
	return [][]syntax.WordPart{parts}
}

func elems(b *syntax.BraceExp) [][]syntax.WordPart {
	var list [][]syntax.WordPart
	if !b.Sequence {
		for _, e := range b.Elems {
			list = append(list, e.Parts)
		}
		return list
	}
	lit := func(s string) []syntax.WordPart { return []syntax.WordPart{&syntax.Lit{Value: s}} }
	from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
	i, err1 := strconv.Atoi(from)
	j, err2 := strconv.Atoi(to)
	switch {
	case err1 == nil && err2 == nil && len(b.Elems) == 2 && from[0] != '0' && to[0] != '0' && i <= j && j-i < maxRounds:
		for ; i <= j; i++ {
			list = append(list, lit(strconv.Itoa(i)))
		}
	case len(from) == 1 && len(to) == 1 && len(b.Elems) == 2 && from[0] <= to[0]:
		for c := int(from[0]); c <= int(to[0]); c++ {
			list = append(list, lit(string(rune(c))))
		}
	default:
		list = append(list, lit(hole))
	}
	return list
}

// end ends a field.
func (x *expansion) end() {
	if x.open || len(x.cur) > 0 {
		x.fields = append(x.fields, string(x.cur))
	}
	x.cur, x.open = x.cur[:0], false
}

func (x *expansion) parts(parts []syntax.WordPart) {
	for i, p := range parts {
		if lit, ok := p.(*syntax.Lit); ok && i == 0 && strings.HasPrefix(lit.Value, "~") {
			x.tilde(lit.Value, len(parts) == 1)
			continue
		}
		x.part(p, false)
	}
}

func (x *expansion) tilde(v string, last bool) {
	name, rest := v, ""
	if i := strings.IndexByte(v, '/'); i >= 0 {
		name, rest = v[:i], v[i:]
	} else if !last {
		x.lit(v)
		return
	}
	switch name {
	case "~":
		home, _ := x.s.get("HOME")
		x.add(home)
	case "~+":
		x.add(x.s.pwd())
	default:
		x.add(hole)
	}
	x.lit(rest)
}

func (x *expansion) add(s string) {
	if len(x.cur)+len(s) > maxText || !x.s.spend(len(s)/64) {
		x.cur = append(x.cur[:0], hole...)
		return
	}
	x.cur = append(x.cur, s...)
}

// lit adds unquoted text of the script.
func (x *expansion) lit(v string) {
	if !strings.ContainsAny(v, "\\*?[") {
		x.add(v)
		return
	}
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '\\' && i+1 < len(v):
			if i++; v[i] != '\n' {
				x.cur = append(x.cur, v[i])
				x.open = true
			}
		case c == '\\':
			x.cur = append(x.cur, c)
		case x.one && !x.glob, c == '[' && strings.IndexByte(v[i:], ']') < 0:
			x.cur = append(x.cur, c)
		default:
			x.cur = appendWild(x.cur, c)
		}
	}
}

func (x *expansion) part(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			x.quotedLit(p.Value)
		} else {
			x.lit(p.Value)
		}
	case *syntax.SglQuoted:
		x.open = true
		if p.Dollar {
			x.add(ansi(p.Value))
		} else {
			x.add(p.Value)
		}
	case *syntax.DblQuoted:
		x.open = true
		for _, q := range p.Parts {
			x.part(q, true)
		}
		if len(p.Parts) == 1 && len(x.cur) == 0 {
			// "$@" of nothing is nothing.
			if e, ok := p.Parts[0].(*syntax.ParamExp); ok && e.Param != nil && e.Param.Value == "@" && x.s.given && len(x.s.params) == 0 {
				x.open = false
			}
		}
	case *syntax.ParamExp:
		vals, many := x.s.param(p)
		x.values(vals, many, quoted)
	case *syntax.CmdSubst:
		x.values([]string{x.s.subst(p.Stmts)}, false, quoted)
	case *syntax.ArithmExp:
		x.s.arithm(p.X)
		if w, ok := p.X.(*syntax.Word); ok && digits(w.Lit()) {
			x.add(w.Lit())
			return
		}
		x.add(hole)
	case *syntax.ProcSubst:
		text := ""
		if p.Op == syntax.CmdOut {
			x.s.apart(p.Stmts)
		} else {
			text = x.s.subst(p.Stmts)
		}
		x.add(procSubst + text)
	case *syntax.ExtGlob:
		x.add(star)
	case *syntax.BraceExp:
		x.add(hole)
	default:
		x.add(hole)
	}
}

// quotedLit adds text from between double quotes.
func (x *expansion) quotedLit(v string) {
	for {
		i := strings.IndexByte(v, '\\')
		if i < 0 || i+1 >= len(v) {
			x.add(v)
			return
		}
		x.add(v[:i])
		switch v[i+1] {
		case '$', '`', '"', '\\':
			x.add(v[i+1 : i+2])
		case '\n':
		default:
			x.add(v[i : i+2])
		}
		v = v[i+2:]
	}
}

// values adds what an expansion comes to: without quotes it is split into
// fields, and wildcards count.
func (x *expansion) values(vals []string, many, quoted bool) {
	for i, v := range vals {
		if i > 0 {
			switch {
			case x.one || quoted && !many:
				x.add(" ")
			default:
				x.end()
				x.open = quoted
			}
		}
		if quoted || x.one && !x.glob {
			x.add(v)
			continue
		}
		if x.one {
			x.add(wild(v))
			continue
		}
		ifs, _ := x.s.get("IFS")
		x.split(wild(v), ifs)
	}
}

func (x *expansion) split(v, ifs string) {
	if !known(ifs) {
		ifs = " \t\n"
	}
	for v != "" {
		i := strings.IndexAny(v, ifs)
		if ifs == "" || i < 0 {
			x.add(v)
			return
		}
		x.add(v[:i])
		if i > 0 || x.open || len(x.cur) > 0 {
			x.end()
		}
		if len(x.fields) > maxFields {
			return
		}
		_, n := utf8.DecodeRuneInString(v[i:])
		v = v[i+n:]
	}
}

// subst follows a command substitution, and returns its output.
func (s *scanner) subst(list []*syntax.Stmt) string {
	out, choices, rerun := s.out, s.choices, s.rerun
	c := &capture{}
	s.out = c
	s.apart(list)
	s.out, s.choices, s.rerun = out, choices, rerun
	return strings.TrimRight(string(c.text), "\n")
}

// pwd is the folder in force, as $PWD gives it.
func (s *scanner) pwd() string {
	dir := ""
	if d := s.dirs(); len(d) > 0 {
		if i := s.pick(dirVar, len(d)); i >= 0 {
			dir = d[i]
		} else {
			dir = hole
		}
	}
	if strings.HasPrefix(dir, "/") {
		return dir
	}
	start := hole
	if s.env != nil {
		if p, ok := s.env("PWD"); ok {
			start = p
		}
	}
	return join(start, dir)
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// ansi decodes the escapes of $'...', and of printf and echo -e.
func ansi(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'n':
			b = append(b, '\n')
		case 't':
			b = append(b, '\t')
		case 'r':
			b = append(b, '\r')
		case 'a', 'b', 'e', 'E', 'f', 'v':
			b = append(b, "\a\b\x1b\x1b\f\v"[strings.IndexByte("abeEfv", c)])
		case '\\', '\'', '"', '?':
			b = append(b, c)
		case 'c':
			i++
		case 'x':
			n := hexLen(s[i+1:], 2)
			b, i = appendCode(b, s[i+1:i+1+n], 16, false), i+n
		case 'u':
			n := hexLen(s[i+1:], 4)
			b, i = appendCode(b, s[i+1:i+1+n], 16, true), i+n
		case 'U':
			n := hexLen(s[i+1:], 8)
			b, i = appendCode(b, s[i+1:i+1+n], 16, true), i+n
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n, most := 0, 3
			if c == '0' {
				most = 4 // \0nnn of echo
			}
			for n < most && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
				n++
			}
			b, i = appendCode(b, s[i:i+n], 8, false), i+n-1
		default:
			b = append(b, '\\', c)
		}
	}
	return string(b)
}

func hexLen(s string, most int) int {
	n := 0
	for n < most && n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'f') {
		n++
	}
	return n
}

func appendCode(b []byte, code string, radix int, char bool) []byte {
	v, err := strconv.ParseUint(code, radix, 32)
	switch {
	case err != nil:
		return b
	case v == 0:
		// It ends an item of a list, as a newline does.
		return append(b, '\n')
	case char:
		return utf8.AppendRune(b, rune(v))
	}
	return append(b, byte(v))
}
