package shell

import "strings"

// awk follows awk: what it prints into files and commands.
func (s *scanner) awk(p *program, args []string) {
	o := parse(args, "F:v:f:i:l:e:", "field-separator= assign= file= include= source=", true)
	files := o.operands
	var code []string
	c := coder{s: s, lang: "awk"}
	o.each("v assign", func(v string) {
		if name, text, ok := strings.Cut(v, "="); ok {
			c.assign(name, []string{text})
		}
	})
	o.each("e source", func(v string) { code = append(code, v) })
	o.each("f file", func(v string) {
		if text, ok := s.file(v); ok {
			code = append(code, text)
		}
	})
	if !o.has("f file e source") && len(files) > 0 {
		code, files = files[:1], files[1:]
	}
	o.each("i include", func(v string) {
		if v == "inplace" {
			s.all(Write, files, p.name, false)
		}
	})
	for _, f := range files {
		if name, text, ok := strings.Cut(f, "="); ok {
			c.assign(name, []string{text})
		}
	}
	for _, text := range code {
		c.awk(text)
	}
	s.unknown()
}

// awk reads code of awk: print > "file", print | "command", system("command").
func (c *coder) awk(text string) {
	if !c.s.spend(1 + len(text)/16) {
		return
	}
	c.toks, c.at = tokenize(text, "awk"), 0
	printing, depth := false, 0
	for c.at < len(c.toks) {
		t := c.toks[c.at]
		c.at++
		switch {
		case t.kind == 'i' && (t.text == "print" || t.text == "printf"):
			printing, depth = true, 0
		case t.kind == 'n', t.kind == 'p' && (t.text == ";" || t.text == "}" || t.text == "{"):
			printing = false
		case t.kind == 'p' && t.text == "(":
			depth++
		case t.kind == 'p' && t.text == ")":
			depth--
		case t.kind == 'i' && c.is("=") && c.peek(1).text != "=":
			c.at++
			c.assign(t.text, c.awkValue())
		case t.kind == 'i' && t.text == "system" && c.is("("):
			c.at++
			for _, v := range c.awkValue() {
				c.s.nest(v, nil)
			}
		case t.kind == 'p' && t.text == ">" && printing && depth <= 0:
			if c.is(">") {
				c.at++
			}
			for _, v := range c.awkValue() {
				c.s.effect(Write, v, "awk", false, false)
			}
		case t.kind == 'p' && t.text == "|" && printing:
			for _, v := range c.awkValue() {
				c.s.nest(v, nil)
			}
		case t.kind == 's' && c.is("|") && c.peek(1).text == "getline":
			c.s.nest(t.text, nil)
		}
	}
}

// awkValue reads strings and variables side by side.
func (c *coder) awkValue() []string {
	var vals []string
	for {
		var v []string
		switch t := c.peek(0); {
		case t.kind == 's':
			v = []string{t.text}
		case t.kind == 'i':
			if v = c.value(t.text); v == nil {
				v = unknownVals
			}
		case t.kind == 'p' && t.text == "(":
			c.at++
			continue
		case t.kind == 'o':
			v = unknownVals
		default:
			if vals == nil {
				return unknownVals
			}
			return vals
		}
		c.at++
		if vals == nil {
			vals = v
		} else {
			vals = c.concat(vals, v, "")
		}
	}
}
