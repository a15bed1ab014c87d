package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call follows a plain command.
func (s *scanner) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			s.assign(a, false)
		}
		return
	}
	argv := s.words(c.Args)
	type saved struct {
		name string
		val  value
	}
	var before []saved
	for _, a := range c.Assigns {
		if a.Name != nil {
			before = append(before, saved{a.Name.Value, s.vars[a.Name.Value]})
			s.assign(a, true)
		}
	}
	s.run(argv)
	for i := len(before) - 1; i >= 0; i-- {
		b := before[i]
		if len(b.val.alts) == 0 && !b.val.array {
			b.val.alts = []string{hole}
			if b.name == "IFS" {
				b.val.alts = []string{" \t\n"}
			}
		}
		s.log = append(s.log, change{b.name, s.vars[b.name], true})
		s.vars[b.name] = b.val
	}
	if n := len(argv); n > 0 {
		s.last = argv[n-1]
	}
}

func (s *scanner) assign(a *syntax.Assign, export bool) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	if a.Array != nil {
		v := value{array: true, export: export}
		if a.Append {
			v.list = append(v.list, s.vars[name].list...)
		}
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				v.list = append(v.list, s.words([]*syntax.Word{e.Value})...)
			}
			if len(v.list) > maxFields {
				break
			}
		}
		s.set(name, v)
		return
	}
	text := s.text(a.Value)
	switch {
	case a.Index != nil:
		s.arithm(a.Index)
		old := s.vars[name]
		s.set(name, value{array: true, list: union(old.list, []string{text}, maxFields)})
	case a.Append:
		old, ok := s.get(name)
		if !ok && s.env == nil {
			old = hole
		}
		s.setText(name, old+text)
	case a.Naked:
		if export {
			if v, ok := s.vars[name]; ok {
				v.export = true
				s.set(name, v)
			}
		}
	default:
		s.setText(name, text)
	}
	if export {
		if v, ok := s.vars[name]; ok && !v.export {
			v.export = true
			s.vars[name] = v
		}
	}
}

// declare follows export, local, declare and the like.
func (s *scanner) declare(d *syntax.DeclClause) {
	export := d.Variant.Value == "export"
	for _, a := range d.Args {
		if a.Name == nil {
			// An option, or what is only known now.
			for _, w := range s.words([]*syntax.Word{a.Value}) {
				s.export(w, export)
				export = export || strings.HasPrefix(w, "-") && strings.Contains(w, "x")
			}
			continue
		}
		s.assign(a, export)
	}
}

// export takes an argument of export, as text.
func (s *scanner) export(arg string, export bool) {
	name, text, ok := strings.Cut(arg, "=")
	if name == "" || name[0] == '-' {
		return
	}
	if ok {
		s.setText(strings.TrimSuffix(name, "+"), text)
	}
	if v, was := s.vars[name]; was && export {
		v.export = true
		s.set(name, v)
	}
}

// run follows a program or builtin with its arguments.
func (s *scanner) run(argv []string) {
	if len(argv) == 0 || !s.spend(1+len(argv)/4) {
		return
	}
	name := base(argv[0])
	if !exact(name) {
		s.undecided("the name of a program isn't known")
		s.unknown()
		return
	}
	if text, ok := s.aliases[argv[0]]; ok {
		s.alias(argv[0], text, argv[1:])
		return
	}
	if body, ok := s.funcs[argv[0]]; ok {
		s.function(body, argv[1:])
		return
	}
	if name == argv[0] && s.builtin(name, argv[1:]) {
		return
	}
	s.program(name, argv)
}

func (s *scanner) alias(name, text string, args []string) {
	delete(s.aliases, name) // An alias doesn't call itself.
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	s.nested -= len(text)
	switch {
	case err != nil || s.nested < 0:
		s.undecided("an alias could not be parsed")
	case len(file.Stmts) == 0:
		s.run(args)
	default:
		n := len(file.Stmts) - 1
		s.stmts(file.Stmts[:n])
		if c, ok := file.Stmts[n].Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 && s.depth < maxDepth {
			s.depth++
			for _, a := range c.Assigns {
				s.assign(a, true)
			}
			s.run(append(s.words(c.Args), args...))
			s.depth--
		} else {
			s.stmt(file.Stmts[n])
		}
	}
	if s.aliases != nil {
		s.aliases[name] = text
	}
}

func (s *scanner) function(body *syntax.Stmt, args []string) {
	if s.depth >= maxDepth {
		s.undecided("functions call each other too deeply")
		return
	}
	params, given := s.params, s.given
	s.params, s.given = args, true
	s.depth++
	s.stmt(body)
	s.depth--
	s.params, s.given = params, given
}

// nest follows a script that is an argument or input of a command.
func (s *scanner) nest(text string, params []string) {
	if only(text, hole) && text != "" {
		s.undecided("a script isn't known")
		return
	}
	old, given := s.params, s.given
	if params != nil {
		s.params, s.given = params, true
	}
	s.bash(text)
	s.params, s.given = old, given
}

// builtin follows what a shell does itself.
func (s *scanner) builtin(name string, args []string) bool {
	switch name {
	case ":", "true", "false", "set", "shift", "unset", "alias", "unalias", "cd", "chdir", "pushd", "popd", "export", "declare", "typeset",
		"local", "readonly", "read", "mapfile", "readarray", "getopts", "trap", "wait", "shopt", "return", "exit", "break", "continue",
		"umask", "ulimit", "hash", "enable", "test", "[", "let", "setopt", "unsetopt", "emulate":
		s.quiet(name, args)
	case "echo":
		s.echo(args)
	case "printf":
		s.printf(args)
	case "print": // of zsh and ksh
		s.echo(args)
	case "pwd":
		s.line(s.pwd())
	case "eval":
		s.nest(strings.Join(args, " "), nil)
	case "source", ".":
		if len(args) > 0 {
			s.source(args)
		}
	case "builtin", "command", "exec", "nocorrect", "noglob", "-":
		o := parse(args, "a:", "", true)
		if o.has("v V") {
			for _, a := range o.operands {
				s.line(a)
			}
			return true
		}
		if len(o.operands) > 0 && name != "-" {
			// Neither an alias nor, if it isn't exec, a function.
			if op := o.operands; op[0] != base(op[0]) || !s.builtin(op[0], op[1:]) {
				s.program(base(op[0]), op)
			}
		}
	default:
		return false
	}
	return true
}

// quiet follows a builtin that prints nothing.
func (s *scanner) quiet(name string, args []string) {
	switch name {
	case "set":
		for i, a := range args {
			if a == "--" {
				s.params, s.given = args[i+1:], true
				return
			}
		}
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") && !strings.HasPrefix(args[0], "+") {
			s.params, s.given = args, true
		}
	case "shift":
		if len(args) == 0 && len(s.params) > 0 {
			s.params = s.params[1:]
		} else {
			s.given = false
			s.params = []string{hole}
		}
	case "unset":
		for _, a := range args {
			if a != "" && a[0] != '-' {
				s.setText(a, "")
				delete(s.funcs, a)
			}
		}
	case "alias":
		for _, a := range args {
			if n, text, ok := strings.Cut(a, "="); ok && len(s.aliases) < maxRounds {
				if s.aliases == nil {
					s.aliases = map[string]string{}
				}
				s.aliases[n] = text
			}
		}
	case "unalias":
		for _, a := range args {
			delete(s.aliases, a)
		}
	case "cd", "chdir", "pushd", "popd":
		s.cd(name, args)
	case "export", "declare", "typeset", "local", "readonly":
		export := name == "export"
		for _, a := range args {
			s.export(a, export)
			export = export || strings.HasPrefix(a, "-") && strings.Contains(a, "x")
		}
	case "read":
		s.readLine(args)
	case "mapfile", "readarray":
		o := parse(args, "d:n:O:s:u:C:c:", "", false)
		v := value{array: true, list: []string{hole}}
		if s.stdin != nil {
			v.list = lines(s.stdin.text)
		}
		to := "MAPFILE"
		if len(o.operands) > 0 {
			to = o.operands[0]
		}
		s.set(to, v)
	case "getopts":
		if len(args) > 1 {
			s.setText(args[1], hole)
			s.setText("OPTARG", hole)
		}
	case "trap":
		o := parse(args, "", "", true)
		if len(o.operands) > 1 {
			mark := len(s.log)
			s.nest(o.operands[0], nil)
			s.rollback(mark)
		}
	}
}

func (s *scanner) cd(name string, args []string) {
	to := ""
	for _, a := range args {
		if a != "-" && strings.HasPrefix(a, "-") && len(a) > 1 && !digits(a[1:]) || strings.HasPrefix(a, "+") {
			continue
		}
		to = a
	}
	switch {
	case name == "popd" || to == "-":
		if v, ok := s.vars[oldVar]; ok {
			s.setDir(v.alts)
			return
		}
		s.setDir([]string{hole})
	case to == "" && name == "pushd", digits(strings.TrimPrefix(to, "-")) && strings.HasPrefix(to, "-"):
		s.setDir([]string{hole})
	case to == "":
		home, _ := s.get("HOME")
		s.setDir([]string{home})
	default:
		s.chdir(to)
	}
}

func (s *scanner) readLine(args []string) {
	o := parse(args, "a:d:i:n:N:p:t:u:", "", false)
	names := o.operands
	text, known := hole, false
	if s.stdin != nil && !o.has("u") {
		known = true
		var rest string
		d, other := o.get("d")
		sep := "\n"
		if other && d != "" {
			sep = d[:1]
		}
		text, rest, _ = strings.Cut(s.stdin.text, sep)
		s.stdin.text = rest
		if other && d == "" { // -d '': NUL, or all of it
			text, s.stdin.text = strings.TrimRight(text+"\n"+rest, "\n"), ""
		}
	}
	if a, ok := o.get("a"); ok {
		s.set(a, value{array: true, list: strings.Fields(text)})
		return
	}
	if len(names) == 0 {
		names = []string{"REPLY"}
	}
	for i, n := range names {
		field := text
		if known && i+1 < len(names) {
			ifs, _ := s.get("IFS")
			text = strings.TrimLeft(text, " \t")
			if j := strings.IndexAny(text, ifs); j >= 0 {
				field, text = text[:j], strings.TrimLeft(text[j+1:], " \t")
			} else {
				field, text = text, ""
			}
		}
		s.setText(n, strings.Trim(field, " \t"))
	}
}

// source follows a script that the line itself has written.
func (s *scanner) source(args []string) {
	if strings.HasPrefix(args[0], procSubst) {
		s.nest(args[0][len(procSubst):], args[1:])
		return
	}
	if text, ok := s.file(args[0]); ok {
		s.nest(text, args[1:])
	} else if args[0] == "/dev/stdin" && s.stdin != nil {
		s.nest(s.stdin.text, nil)
	}
}

func (s *scanner) echo(args []string) {
	if s.out == nil {
		return
	}
	newline, escapes := true, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		newline = newline && !strings.Contains(args[0], "n")
		escapes = escapes || strings.Contains(args[0], "e")
		args = args[1:]
	}
	for i, a := range args {
		if i > 0 {
			s.emit(" ")
		}
		if a = tame(a); escapes {
			a = ansi(a)
		}
		s.emit(a)
	}
	if newline {
		s.emit("\n")
	}
}

func (s *scanner) printf(args []string) {
	if len(args) > 1 && args[0] == "-v" {
		name := args[1]
		out := s.out
		s.out = &capture{}
		s.printf(args[2:])
		text := string(s.out.text)
		s.out = out
		s.setText(name, text)
		return
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if s.out == nil || len(args) == 0 {
		return
	}
	format, rest := args[0], args[1:]
	for round := 0; round == 0 || len(rest) > 0; round++ {
		before := len(rest)
		for f := format; f != ""; {
			i := strings.IndexByte(f, '%')
			if i < 0 {
				s.emit(ansi(f))
				break
			}
			s.emit(ansi(f[:i]))
			f = f[i+1:]
			j := 0
			for j < len(f) && strings.IndexByte("-+ #0123456789.'", f[j]) >= 0 {
				j++
			}
			if j == len(f) {
				break
			}
			verb := f[j]
			f = f[j+1:]
			if verb == '%' {
				s.emit("%")
				continue
			}
			arg := ""
			if len(rest) > 0 {
				arg, rest = rest[0], rest[1:]
			}
			switch verb {
			case 's', 'd', 'i', 'q':
				s.emit(tame(arg))
			case 'b':
				s.emit(ansi(tame(arg)))
			case 'c':
				s.emit(arg[:min(1, len(arg))])
			default:
				s.emit(hole)
			}
		}
		if len(rest) == before || !s.spend(1) {
			break
		}
	}
}

// lines are the lines of a text, without an empty last one.
func lines(text string) []string {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
