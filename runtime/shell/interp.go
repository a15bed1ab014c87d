package shell

import "strings"

// interpreter follows a call of a language's interpreter: its code, if that is
// an argument, comes in by a pipe or is a file that the line has written.
func (s *scanner) interpreter(p *program, args []string) {
	lang := p.arg
	var code []string
	var files []string
	inPlace, suffix, more := false, "", false
	i := 0
	if (p.name == "deno" || p.name == "bun") && len(args) > 0 {
		switch args[0] {
		case "eval":
			code = append(code, strings.Join(args[1:], " "))
			args = nil
		case "run":
			args = args[1:]
		case "x":
			s.packageProgram(args[1:])
			return
		case "install", "add", "test", "build", "task", "fmt", "lint", "pm":
			s.unknown()
			return
		}
	}
	for ; i < len(args); i++ {
		a := args[i]
		if a == "-" || len(a) < 2 || a[0] != '-' {
			break
		}
		if a == "--" {
			i++
			break
		}
		take := func(attached string) string {
			if attached == "" && i+1 < len(args) {
				i++
				attached = args[i]
			}
			return attached
		}
		if strings.HasPrefix(a, "--") {
			name, v, _ := strings.Cut(a[2:], "=")
			switch name {
			case "eval", "print", "run", "execute":
				code = append(code, take(v))
			case "require", "import", "loader", "config", "env-file":
				take(v)
			}
			continue
		}
		if a == "-pe" && lang == "js" {
			code = append(code, take(""))
			continue
		}
	cluster:
		for j := 1; j < len(a); j++ {
			switch c := a[j]; {
			case c == 'c' && lang == "python":
				code = append(code, take(a[j+1:]))
				// What follows are the code's own arguments.
				more = true
				i++
				break cluster
			case c == 'm' && lang == "python":
				s.module(take(a[j+1:]), args[i+1:])
				return
			case (c == 'e' || c == 'E') && lang != "python" && lang != "php" && !(c == 'E' && lang == "ruby"), c == 'p' && lang == "js", (c == 'r' || c == 'B' || c == 'R' || c == 'E') && lang == "php":
				code = append(code, take(a[j+1:]))
				break cluster
			case c == 'i' && (lang == "perl" || lang == "ruby"):
				inPlace, suffix = true, a[j+1:]
				if strings.HasPrefix(suffix, "pe") || strings.HasPrefix(suffix, "ne") || suffix == "p" || suffix == "n" || suffix == "e" {
					// perl -ipe: what looks like the suffix is one.
					break cluster
				}
				break cluster
			case (c == 'r' || c == 'C') && lang == "js", (c == 'W' || c == 'X') && lang == "python", (c == 'I' || c == 'r' || c == 'C') && lang == "ruby":
				take(a[j+1:])
				break cluster
			case (c == 'I' || c == 'M' || c == 'm' || c == 'F' || c == 'x' || c == '0' || c == 'l') && lang == "perl", c == 'd' && lang == "php":
				if c == 'I' && j+1 == len(a) || c == 'd' && j+1 == len(a) {
					take("")
				}
				if c != '0' && c != 'l' {
					break cluster
				}
			}
		}
		if more {
			break
		}
	}
	if i > len(args) {
		i = len(args)
	}
	files = args[i:]
	if inPlace {
		op := files
		if len(code) == 0 && len(op) > 0 {
			op = op[1:]
		}
		for _, f := range op {
			s.effect(Write, f, p.name, false, false)
			if suffix != "" && !strings.Contains(suffix, "*") {
				s.effect(Write, f+suffix, p.name, false, false)
			}
		}
	}
	argv := files
	switch {
	case len(code) > 0:
	case len(files) > 0 && files[0] != "-" && files[0] != "/dev/stdin":
		argv = files[1:]
		if strings.HasPrefix(files[0], procSubst) {
			code = append(code, files[0][len(procSubst):])
		} else if text, ok := s.file(files[0]); ok {
			code = append(code, text)
		} else if p.name == "deno" || p.name == "bun" || p.name == "tsx" {
			argv = nil
		}
	case s.stdin != nil:
		if len(files) > 0 {
			argv = files[1:]
		}
		code = append(code, s.stdin.text)
		s.stdin = nil
	}
	for _, c := range code {
		s.codeWith(c, lang, argv)
	}
	s.unknown()
}

// module follows python -m.
func (s *scanner) module(name string, args []string) {
	s.unknown()
	switch name {
	case "json.tool":
		if o := parse(args, "", "indent=", false); len(o.operands) > 1 {
			s.effect(Write, o.operands[1], name, false, false)
		}
	case "zipfile", "tarfile":
		s.undecided("what is in an archive isn't known")
	case "this", "http.server", "venv", "pip", "pytest", "unittest":
	default:
		if p := find(name); p != nil && p.name == name {
			s.program(name, append([]string{name}, args...))
		}
	}
}

func (s *scanner) code(text, lang string) { s.codeWith(text, lang, nil) }

// codeWith follows code of a language: which files it writes.
func (s *scanner) codeWith(text, lang string, argv []string) {
	if only(text, hole) && text != "" {
		s.undecided("a script isn't known")
		return
	}
	if s.depth >= maxDepth || s.nested < len(text) || !s.spend(1+len(text)/16) {
		s.undecided("the command has too many scripts in each other")
		return
	}
	s.nested -= len(text)
	s.depth++
	c := coder{s: s, lang: lang, argv: argv}
	c.toks = tokenize(text, lang)
	c.program()
	s.depth--
}
