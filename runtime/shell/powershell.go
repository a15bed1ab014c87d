package shell

import "strings"

// The scan of PowerShell is simpler than that of bash. It cuts the text into
// commands at new lines, ";", "|", "&" and brackets, knows quotes, backticks
// and redirections, and variables that are assigned a plain string. It knows
// the cmdlets and aliases of the table below, static methods of [IO.File] and
// its like, Set-Location, and programs as bash does. Expressions, splatting,
// functions and blocks are not followed: what they come to is not known.

// A cmdlet is what a command of PowerShell does with its path.
type cmdlet struct {
	names string // in lower case
	do    action
	// Parameters that hold what is written, beside the first operand.
	path string
	// Parameters that hold where something goes.
	to string
}

var cmdlets = [...]cmdlet{
	{"set-content sc add-content ac clear-content clc out-file tee-object export-csv epcsv export-clixml set-item si clear-item cli start-transcript invoke-webrequest iwr curl wget invoke-restmethod irm", writes, "path literalpath pspath filepath outfile", ""},
	{"new-item ni", writes, "path name", ""},
	{"remove-item ri rm del erase rd rmdir", deletes, "path literalpath pspath", ""},
	{"move-item mi mv move", moves, "path literalpath pspath", "destination"},
	{"copy-item copy cp cpi", copies, "path literalpath pspath", "destination"},
	{"rename-item rni ren", moves, "path literalpath pspath", "newname"},
	{"set-itemproperty sp set-acl", permission, "path literalpath pspath", ""},
}

// Parameters that take a value, beside those above. A value of one that isn't
// listed counts as an operand.
const psValues = "value encoding itemtype type target filter include exclude delimiter inputobject width stream credential method body headers uri variable erroraction ea"

func (s *scanner) powershell(text string) {
	if s.depth >= maxDepth || s.nested < len(text) {
		s.undecided("the command has too many scripts in each other")
		return
	}
	s.nested -= len(text)
	s.depth++
	s.ioFile(text)
	l := lexer{text: herestrings(text), escape: '`', single: true}
	s.commands(&l, s.psCommand)
	s.depth--
}

// herestrings takes here-strings out of a text: what is in them is no command.
func herestrings(text string) string {
	for _, q := range []string{"@'\n", "@\"\n", "@'\r\n", "@\"\r\n"} {
		for {
			i := strings.Index(text, q)
			if i < 0 {
				break
			}
			j := strings.Index(text[i:], "\n"+q[1:2]+"@")
			if j < 0 {
				break
			}
			text = text[:i] + "'x'" + text[i+j+3:]
		}
	}
	return text
}

func (s *scanner) psCommand(argv []string) {
	// $x = 'name'
	if strings.HasPrefix(strings.ToLower(argv[0]), "$env:") {
		s.psEnv(argv)
		return
	}
	if len(argv) >= 2 && argv[1] == "=" && strings.HasPrefix(argv[0], "$") {
		value := hole
		if len(argv) == 3 {
			value = argv[2]
		}
		s.setText("ps "+strings.ToLower(argv[0][1:]), value)
		return
	}
	for i, a := range argv {
		argv[i] = s.psVars(a)
	}
	if name, value, ok := strings.Cut(argv[0], "="); ok && strings.HasPrefix(name, "$") {
		s.setText("ps "+strings.ToLower(name[1:]), value)
		return
	}
	for len(argv) > 0 && one("if else elseif foreach while do try catch finally return . &", strings.ToLower(argv[0])) {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return
	}
	name := strings.ToLower(argv[0])
	switch name {
	case "cd", "sl", "chdir", "set-location", "push-location", "pushd":
		for _, a := range argv[1:] {
			if !strings.HasPrefix(a, "-") {
				s.chdir(strings.ReplaceAll(a, `\`, "/"))
				return
			}
		}
		return
	case "invoke-expression", "iex":
		if len(argv) > 1 {
			s.powershell(strings.Join(argv[1:], " "))
		} else {
			s.undecided("a script isn't known")
		}
		return
	case "echo", "write-output", "write-host", "get-content", "gc", "cat", "type", "get-item", "get-childitem", "gci", "ls", "dir", "select-string", "test-path":
		return
	case "start-process", "saps", "start":
		s.psProgram(argv[1:])
		return
	}
	for i := range cmdlets {
		if one(cmdlets[i].names, name) {
			s.cmdlet(&cmdlets[i], name, argv[1:])
			return
		}
	}
	s.psProgram(argv)
}

// psEnv takes $env:NAME = value.
func (s *scanner) psEnv(argv []string) {
	name, value, ok := strings.Cut(argv[0], "=")
	if !ok && len(argv) > 2 && argv[1] == "=" {
		value = argv[2]
	}
	s.setText(name[len("$env:"):], value)
	s.export(name[len("$env:"):], true)
}

// psVars puts in what variables are known to hold.
func (s *scanner) psVars(a string) string {
	if strings.HasPrefix(a, "$") && !strings.ContainsAny(a, "=.:[(") {
		if v, ok := s.vars["ps "+strings.ToLower(a[1:])]; ok && len(v.alts) == 1 {
			return v.alts[0]
		}
		if !strings.EqualFold(a, "$null") && !strings.EqualFold(a, "$true") && !strings.EqualFold(a, "$false") {
			return a
		}
	}
	return a
}

// psProgram follows a program that isn't a cmdlet.
func (s *scanner) psProgram(argv []string) {
	var list []string
	for _, a := range argv {
		if strings.HasPrefix(a, "$") {
			a = hole
		}
		if a != "," {
			list = append(list, a)
		}
	}
	if len(list) > 0 && list[0] != "" && list[0][0] != '[' {
		name := list[0][strings.LastIndexByte(list[0], '\\')+1:]
		if exact(name) && name != "" {
			s.program(base(name), list)
		} else if name != "" {
			s.undecided("the name of a program isn't known")
		}
	}
}

func (s *scanner) cmdlet(c *cmdlet, name string, args []string) {
	var files, to []string
	folder := ""
	value := func(a string) string {
		if strings.HasPrefix(a, "$") {
			return hole
		}
		return strings.ReplaceAll(a, `\`, "/")
	}
	symbolic := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "," {
			continue
		}
		if len(a) < 2 || a[0] != '-' {
			files = append(files, value(a))
			for i+2 < len(args) && args[i+1] == "," { // a list is one operand
				i += 2
				if c.do == moves || c.do == copies {
					continue
				}
				files = append(files, value(args[i]))
			}
			continue
		}
		param, attached, ok := strings.Cut(strings.ToLower(a[1:]), ":")
		v := attached
		if !ok && i+1 < len(args) {
			v = args[i+1]
		}
		switch {
		case param == "whatif" || param == "wi":
			return
		case completes(c.to, param):
			to = append(to, value(v))
		case completes(c.path, param):
			if name == "new-item" || name == "ni" {
				if completes("name", param) && folder != "" {
					v = folder + "/" + v
				}
				folder = v
			}
			files = append(files[:0:0], value(v))
			for i+3 < len(args) && args[i+2] == "," {
				files = append(files, value(args[i+3]))
				i += 2
			}
		case completes(psValues, param):
			symbolic = symbolic || (param == "itemtype" || param == "type") && strings.Contains(strings.ToLower(v), "link")
			if completes("target value", param) && symbolic {
				s.effect(Link, value(v), name, false, false)
			}
		default:
			continue // a switch
		}
		if !ok {
			i++
		}
	}
	web := one("invoke-webrequest iwr curl wget invoke-restmethod irm", name)
	switch c.do {
	case writes:
		// Only the first operand is a path, and of a download none is.
		if web {
			f := files[:0:0]
			for _, x := range files {
				if !strings.Contains(x, "://") {
					f = append(f, x)
				}
			}
			files = f
		} else if len(files) > 1 && !hasComma(args) {
			files = files[:1]
		}
		s.all(Write, files, name, false)
	case deletes:
		s.all(Delete, files, name, true)
	case permission:
		s.all(Permission, files[:min(1, len(files))], name, false)
	case moves, copies:
		if len(to) == 0 && len(files) > 1 {
			to, files = files[len(files)-1:], files[:len(files)-1]
		}
		for _, t := range to {
			for _, f := range files {
				if c.do == moves {
					s.effect(Delete, f, name, true, false)
				}
				at := t
				if completes(c.to, "newname") && strings.IndexByte(t, '/') < 0 {
					at = dirOf(f) + t
				}
				s.effect(Write, at, name, true, false)
				s.effect(Write, join(t, base(f)), name, true, true)
			}
		}
		if len(to) == 0 && c.do == moves {
			s.all(Delete, files, name, true)
		}
	}
}

func hasComma(args []string) bool {
	for _, a := range args {
		if a == "," {
			return true
		}
	}
	return false
}

// completes reports whether one of the names in a list begins with a word.
func completes(list, word string) bool {
	return word != "" && (strings.HasPrefix(list, word) || strings.Contains(list, " "+word))
}

// ioFile looks for [IO.File]::WriteAllText('x', ...) and its like.
func (s *scanner) ioFile(text string) {
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		lower = text
	}
	for i := 0; ; {
		j := strings.Index(lower[i:], "]::")
		if j < 0 || !s.spend(1) {
			return
		}
		i += j + 3
		open := strings.IndexByte(lower[i:], '(')
		if open < 0 {
			return
		}
		method := lower[i : i+open]
		kind := Write
		n := 1
		switch {
		case strings.HasPrefix(method, "writeall"), strings.HasPrefix(method, "appendall"), strings.HasPrefix(method, "append"), strings.HasPrefix(method, "create"), method == "openwrite":
		case method == "delete":
			kind = Delete
		case method == "move", method == "copy", method == "replace":
			n = 2
		default:
			continue
		}
		l := lexer{text: text[i+open+1:], escape: '`', single: true}
		if end := strings.IndexByte(l.text, ')'); end >= 0 {
			l.text = l.text[:end]
		}
		for k := 0; k < n; {
			t, word := l.next()
			if t == 0 {
				break
			}
			if word == "," || t != 'w' {
				continue
			}
			if k++; n == 2 && k == 1 {
				if kind = Write; method == "move" {
					s.effect(Delete, word, "powershell", false, false)
				}
				continue
			}
			if word = s.psVars(word); strings.HasPrefix(word, "$") {
				word = hole
			}
			s.effect(kind, strings.ReplaceAll(word, `\`, "/"), "powershell", false, false)
		}
	}
}

// powershellProgram follows pwsh as a program.
func (s *scanner) powershellProgram(args []string) {
	for i := 0; i < len(args); i++ {
		p := strings.ToLower(strings.TrimLeft(args[i], "-/"))
		switch {
		case args[i] == "-":
			if s.stdin != nil {
				s.powershell(s.stdin.text)
			}
			return
		case !strings.HasPrefix(args[i], "-") && !strings.HasPrefix(args[i], "/"):
			s.powershell(strings.Join(args[i:], " "))
			return
		case p != "" && strings.HasPrefix("command", p):
			s.powershell(strings.Join(args[i+1:], " "))
			return
		case p == "e" || p == "ec" || len(p) > 1 && strings.HasPrefix("encodedcommand", p):
			s.undecided("an encoded command isn't read")
			return
		case p == "f" || p == "file":
			if i+1 < len(args) {
				if text, ok := s.file(args[i+1]); ok {
					s.powershell(text)
				}
			}
			return
		case one("executionpolicy ep ex exec version psconsolefile inputformat outputformat windowstyle w configurationname workingdirectory wd", p):
			i++
		}
	}
	if s.stdin != nil {
		s.powershell(s.stdin.text)
	}
}
