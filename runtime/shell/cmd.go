package shell

import "strings"

// The scan of cmd is the simplest one. It cuts the text into commands at new
// lines, "&", "|" and brackets, knows "..." and ^, redirections, cd, and the
// commands below. %NAME% is not known. for, if and call are taken for words in
// front of a command.

func (s *scanner) cmd(text string) {
	if s.depth >= maxDepth || s.nested < len(text) {
		s.undecided("the command has too many scripts in each other")
		return
	}
	s.nested -= len(text)
	s.depth++
	l := lexer{text: text, escape: '^', cmd: true}
	s.commands(&l, s.cmdCommand)
	s.depth--
}

func (s *scanner) cmdCommand(argv []string) {
	for len(argv) > 0 {
		switch w := strings.ToLower(strings.TrimPrefix(argv[0], "@")); {
		case w == "" || w == "call" || w == "do" || w == "else":
			argv = argv[1:]
			continue
		case w == "if":
			// if [not] exist x command, if x==y command
			n := 2
			for i, a := range argv[1:] {
				if a := strings.ToLower(a); a == "not" || a == "/i" || a == "exist" || a == "defined" || a == "errorlevel" {
					n = i + 3
				}
			}
			argv = argv[min(n, len(argv)):]
			continue
		case w == "for":
			for len(argv) > 0 && !strings.EqualFold(argv[0], "do") {
				argv = argv[1:]
			}
			continue
		}
		break
	}
	if len(argv) == 0 {
		return
	}
	name := strings.ToLower(strings.TrimPrefix(argv[0], "@"))
	if i := strings.LastIndexByte(name, '\\'); i >= 0 {
		name = name[i+1:]
	}
	var args []string
	to := false
	for _, a := range argv[1:] {
		if strings.HasPrefix(a, "/") && len(a) > 1 && len(a) < 8 {
			to = to || strings.EqualFold(a, "/d")
			continue
		}
		if strings.HasPrefix(a, "%") {
			a = hole // the variable of a loop
		}
		args = append(args, strings.ReplaceAll(a, `\`, "/"))
	}
	n := len(args)
	switch name {
	case "cd", "chdir", "pushd":
		if n > 0 {
			s.chdir(args[0])
		}
	case "set":
		if len(argv) > 1 {
			s.export(strings.Join(argv[1:], " "), true)
			if name, _, ok := strings.Cut(argv[1], "="); ok {
				s.export(name, true)
			}
		}
	case "del", "erase", "rd", "rmdir":
		s.all(Delete, args, name, true)
	case "copy", "xcopy", "robocopy":
		if n == 0 {
			return
		}
		if n == 1 {
			args, n = append(args, "."), 2
		}
		s.cmdInto(name, args[n-1], args[:n-1])
	case "move":
		if n < 2 {
			return
		}
		s.all(Delete, args[:n-1], name, true)
		s.cmdInto(name, args[n-1], args[:n-1])
	case "ren", "rename":
		if n == 2 {
			s.effect(Delete, args[0], name, true, false)
			s.effect(Write, dirOf(args[0])+args[1], name, true, false)
		}
	case "mklink":
		if n >= 2 {
			s.effect(Write, args[0], name, false, false)
			s.effect(Link, args[1], name, false, false)
		}
	case "attrib", "icacls", "takeown":
		for _, a := range args {
			if !strings.HasPrefix(a, "+") && !strings.HasPrefix(a, "-") {
				s.effect(Permission, a, name, false, false)
			}
		}
	case "echo", "type", "dir", "find", "findstr", "rem", "more", "sort", "exit", "title", "cls":
	case "start":
		for len(argv) > 1 && (strings.HasPrefix(argv[1], "/") || argv[1] == "") {
			argv = argv[1:]
		}
		s.psProgram(argv[1:])
	default:
		s.psProgram(argv)
	}
}

func (s *scanner) cmdInto(name, to string, from []string) {
	s.effect(Write, to, name, true, false)
	for _, f := range from {
		for part := range strings.SplitSeq(f, "+") {
			s.effect(Write, join(to, base(part)), name, true, true)
		}
	}
}

// cmdProgram follows cmd /c as a program.
func (s *scanner) cmdProgram(args []string) {
	for i, a := range args {
		if p := strings.ToLower(a); p == "/c" || p == "/k" || p == "//c" || p == "-c" || p == "/r" {
			s.cmd(strings.Join(args[i+1:], " "))
			return
		}
	}
	if s.stdin != nil {
		s.cmd(s.stdin.text)
	}
}
