package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param returns what a parameter expansion comes to. many: quotes don't make
// one field of it.
func (s *scanner) param(p *syntax.ParamExp) (vals []string, many bool) {
	if p.Param == nil || p.Flags != nil || len(p.Modifiers) > 0 || p.IsSet || p.Width {
		if p.Param != nil && p.Param.Value != "" && (p.Flags != nil || len(p.Modifiers) > 0) {
			s.get(p.Param.Value)
		}
		return []string{hole}, false
	}
	name := p.Param.Value
	if p.Length || p.Names != 0 {
		return []string{hole}, false
	}
	set := true
	switch {
	case name == "@" || name == "*":
		vals, many = s.params, name == "@"
		if !s.given {
			set = len(vals) > 0
		}
	case digits(name):
		v, ok := s.positional(name)
		vals, set = []string{v}, ok
	case len(name) == 1 && strings.Contains("#?$!-", name):
		return []string{hole}, false
	case name == "_":
		vals = []string{s.last}
	case name == "PWD" && p.Index == nil:
		if _, own := s.vars["PWD"]; own {
			v, _ := s.get("PWD")
			vals = []string{v}
		} else {
			vals = []string{s.pwd()}
		}
	case name == "OLDPWD":
		vals = []string{hole}
		if v, ok := s.vars[oldVar]; ok {
			vals = v.alts[:1]
		}
	default:
		vals, many, set = s.variable(name, p.Index)
	}
	if p.Excl && len(vals) == 1 && exact(vals[0]) {
		v, ok := s.get(vals[0])
		vals, set = []string{v}, ok
	} else if p.Excl {
		vals = []string{hole}
	}
	if p.Exp == nil && p.Repl == nil && p.Slice == nil {
		return vals, many
	}
	return s.expand(p, name, vals, set), many
}

func (s *scanner) positional(name string) (string, bool) {
	n, err := strconv.Atoi(name)
	switch {
	case err != nil:
		return hole, false
	case n == 0:
		return "bash", true
	case n <= len(s.params):
		return s.params[n-1], true
	case s.given:
		return "", false
	}
	return hole, false
}

func (s *scanner) variable(name string, index syntax.ArithmExpr) (vals []string, many, set bool) {
	v, ok := s.vars[name]
	if index == nil || !ok || !v.array {
		text, ok := s.get(name)
		return []string{text}, false, ok
	}
	w, _ := index.(*syntax.Word)
	key := ""
	if w != nil {
		key = s.text(w)
	}
	switch {
	case key == "@" || key == "*":
		return v.list, key == "@", true
	case digits(key):
		if i, err := strconv.Atoi(key); err == nil && i < len(v.list) {
			return v.list[i : i+1], false, true
		}
	case len(v.list) > 0:
		// Any of them.
		if i := s.pick(name+"[]", len(v.list)); i >= 0 && len(v.list) <= maxAlts {
			return v.list[i : i+1], false, true
		}
	}
	return []string{hole}, false, true
}

// expand applies what stands after the name in ${name...}.
func (s *scanner) expand(p *syntax.ParamExp, name string, vals []string, set bool) []string {
	if e := p.Exp; e != nil {
		switch e.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
			syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
			return s.fallback(e, name, vals, set)
		}
	}
	out := make([]string, len(vals))
	for i, v := range vals {
		out[i] = s.edit(p, v)
	}
	return out
}

func (s *scanner) fallback(e *syntax.Expansion, name string, vals []string, set bool) []string {
	empty := len(vals) == 0 || len(vals) == 1 && vals[0] == ""
	word := s.text(e.Word)
	switch e.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		switch {
		case set && !empty:
			return []string{word}
		case set:
			return []string{""}
		case s.pick(name+"+", 2) == 0:
			return []string{word}
		}
		return []string{""}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return vals
	}
	switch {
	case set && !empty:
		return vals
	case set && (e.Op == syntax.DefaultUnset || e.Op == syntax.AssignUnset):
		return vals
	}
	v := word
	if !set && !s.given && s.pick(name+"-", 2) != 0 {
		// It may be set where the line runs.
		v = hole
	}
	if e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull {
		s.setText(name, v)
	}
	return []string{v}
}

// edit applies ${v%x}, ${v/x/y}, ${v:1:2} and the like to one value.
func (s *scanner) edit(p *syntax.ParamExp, v string) string {
	const long = 256
	if !exact(v) || len(v) > long {
		return s.editOpen(p, v)
	}
	switch {
	case p.Exp != nil:
		switch p.Exp.Op {
		case syntax.UpperAll:
			return strings.ToUpper(v)
		case syntax.LowerAll:
			return strings.ToLower(v)
		case syntax.UpperFirst:
			return strings.ToUpper(v[:min(1, len(v))]) + v[min(1, len(v)):]
		case syntax.LowerFirst:
			return strings.ToLower(v[:min(1, len(v))]) + v[min(1, len(v)):]
		}
		pat := s.pattern(p.Exp.Word)
		if !known(pat) || !s.spend(1+len(v)*len(v)*len(pat)/256) {
			return hole
		}
		switch p.Exp.Op {
		case syntax.RemSmallSuffix:
			for i := len(v); i >= 0; i-- {
				if match(pat, v[i:]) {
					return v[:i]
				}
			}
			return v
		case syntax.RemLargeSuffix:
			for i := range len(v) {
				if match(pat, v[i:]) {
					return v[:i]
				}
			}
			return v
		case syntax.RemSmallPrefix:
			for i := range len(v) + 1 {
				if match(pat, v[:i]) {
					return v[i:]
				}
			}
			return v
		case syntax.RemLargePrefix:
			for i := len(v); i >= 0; i-- {
				if match(pat, v[:i]) {
					return v[i:]
				}
			}
			return v
		}
		return hole
	case p.Repl != nil:
		pat, with := s.pattern(p.Repl.Orig), s.text(p.Repl.With)
		anchor := byte(0)
		if pat != "" && (pat[0] == '#' || pat[0] == '%') {
			anchor, pat = pat[0], pat[1:]
		}
		switch {
		case !exact(pat) || pat == "":
			return hole
		case anchor == '#':
			if rest, ok := strings.CutPrefix(v, pat); ok {
				return with + rest
			}
			return v
		case anchor == '%':
			if rest, ok := strings.CutSuffix(v, pat); ok {
				return rest + with
			}
			return v
		case p.Repl.All:
			return strings.ReplaceAll(v, pat, with)
		}
		return strings.Replace(v, pat, with, 1)
	case p.Slice != nil:
		from, ok := number(p.Slice.Offset, 0)
		length, ok2 := number(p.Slice.Length, len(v))
		if from < 0 {
			from += len(v)
		}
		if !ok || !ok2 || from < 0 || from > len(v) {
			return hole
		}
		end := from + length
		if length < 0 {
			end = len(v) + length
		}
		if end < from {
			return ""
		}
		return v[from:min(end, len(v))]
	}
	return v
}

// editOpen is edit for a value that isn't exact: a known end is kept where it
// can be.
func (s *scanner) editOpen(p *syntax.ParamExp, v string) string {
	if p.Exp == nil {
		if p.Repl != nil {
			s.pattern(p.Repl.Orig)
			s.text(p.Repl.With)
		}
		return hole
	}
	pat := s.pattern(p.Exp.Word)
	if (p.Exp.Op == syntax.RemSmallSuffix || p.Exp.Op == syntax.RemLargeSuffix) && exact(pat) && strings.HasSuffix(v, pat) {
		return v[:len(v)-len(pat)]
	}
	return hole
}

func number(x syntax.ArithmExpr, without int) (int, bool) {
	switch x := x.(type) {
	case nil:
		return without, true
	case *syntax.Word:
		n, err := strconv.Atoi(x.Lit())
		return n, err == nil && n < 1<<20
	case *syntax.ParenArithm:
		return number(x.X, without)
	case *syntax.UnaryArithm:
		if x.Op == syntax.Minus {
			n, ok := number(x.X, without)
			return -n, ok
		}
	}
	return 0, false
}
