package shell

import "strings"

// shell follows sh, bash, zsh and the like.
func (s *scanner) shell(args []string) {
	o := parse(args, "o:O:", "rcfile= init-file=", true)
	if o.has("version help") || o.has("n") && !o.has("c") {
		return
	}
	op := o.operands
	switch {
	case o.has("c"):
		if len(op) == 0 {
			return
		}
		params := []string{}
		if len(op) > 2 {
			params = op[2:]
		}
		s.fork(op[0], params)
	case len(op) > 0 && !o.has("s") && op[0] != "-" && op[0] != "/dev/stdin":
		if strings.HasPrefix(op[0], procSubst) {
			s.fork(op[0][len(procSubst):], op[1:])
		} else if text, ok := s.file(op[0]); ok {
			s.fork(text, op[1:])
		} else {
			s.unknown()
		}
	case s.stdin != nil:
		text := s.stdin.text
		s.stdin = nil
		s.fork(text, op)
	}
}

// fork follows a script in a shell of its own.
func (s *scanner) fork(text string, params []string) {
	mark, funcs, aliases := len(s.log), s.funcs, s.aliases
	s.funcs, s.aliases = nil, nil
	s.nest(text, params)
	s.funcs, s.aliases = funcs, aliases
	s.rollback(mark)
}

// scriptFile follows a file that the line itself wrote and now starts.
func (s *scanner) scriptFile(text string, args []string) {
	first, _, _ := strings.Cut(text, "\n")
	if cmd, ok := strings.CutPrefix(first, "#!"); ok {
		words := strings.Fields(cmd)
		for _, w := range words {
			if p := find(base(w)); p != nil && p.do == runsCode {
				s.code(text, p.arg)
				return
			}
		}
	}
	s.fork(text, args)
}

// environment follows env, sudo, su and the like.
func (s *scanner) environment(p *program, args []string) {
	o := parse(args, p.short, p.long, true)
	op := o.operands
	mark := len(s.log)
	if dir, ok := o.get("chdir"); ok {
		s.chdir(dir)
	} else if dir, ok := o.get("C"); ok && p.name == "env" {
		s.chdir(dir)
	} else if dir, ok := o.get("D"); ok && p.name == "sudo" {
		s.chdir(dir)
	}
	if text, ok := o.get("S split-string"); ok && p.name == "env" {
		op = append(strings.Fields(unquoted(text)), op...)
	}
	if text, ok := o.get("c command"); ok {
		s.nest(text, nil)
	} else if p.arg == "su" {
		op = nil
	}
	for len(op) > 0 {
		name, text, ok := strings.Cut(op[0], "=")
		if !ok || name == "" {
			break
		}
		s.setText(name, text)
		s.export(name, true)
		op = op[1:]
	}
	if len(op) > 0 && op[0] == "--" {
		op = op[1:]
	}
	if len(op) > 0 {
		// Not the shell's own functions and aliases.
		s.program(base(op[0]), op)
		s.checkName(op[0])
	}
	s.rollback(mark)
}

func (s *scanner) checkName(name string) {
	if !exact(base(name)) {
		s.undecided("the name of a program isn't known")
	}
}

// unquoted takes quotes from a text in which they only group.
func unquoted(text string) string {
	return strings.NewReplacer(`"`, "", `'`, "").Replace(text)
}

func (s *scanner) runText(p *program, args []string) {
	o := parse(args, p.short, p.long, p.arg != "each")
	mark := len(s.log)
	if p.arg == "each" {
		for _, text := range o.operands {
			s.nest(text, nil)
		}
		o.each("p prepare s setup", func(v string) { s.nest(v, nil) })
	} else if p.arg != "" {
		o.each(p.arg, func(v string) { s.nest(v, nil) })
	} else if len(o.operands) > 0 {
		s.nest(strings.Join(o.operands, " "), nil)
	}
	s.rollback(mark)
	s.unknown()
}

// packageRunner follows npx, npm and what else runs the programs of packages.
func (s *scanner) packageRunner(p *program, args []string) {
	if p.do == packages {
		s.npm(p.name, args)
		return
	}
	switch p.name {
	case "npx", "bunx", "pnpx", "uvx":
		o := parse(args, p.short, p.long, true)
		if text, ok := o.get("c call"); ok && p.name == "npx" {
			s.nest(text, nil)
		}
		s.packageProgram(o.operands)
	default: // poetry run x, uv run x, mise exec -- x, bundle exec x
		for i, a := range args {
			if a == "run" || a == "exec" || a == "x" {
				o := parse(args[i+1:], "p:C:", "python= with= project= directory= extra= group=", true)
				op := o.operands
				if len(op) > 0 && strings.IndexByte(op[0], '@') > 0 && len(o.rest) == 0 && p.name == "mise" {
					op = op[1:]
				}
				s.packageProgram(op)
				return
			}
		}
		s.unknown()
	}
}

// packageProgram follows the program of a package: name@version, or a name
// that isn't the program's.
func (s *scanner) packageProgram(argv []string) {
	if len(argv) == 0 {
		return
	}
	name := argv[0]
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	switch name {
	case "@biomejs/biome":
		name = "biome"
	case "@eslint/create-config", "@eslint/config", "@eslint/migrate-config", "create-eslint":
		for _, f := range strings.Fields(eslintFiles) {
			s.effect(Write, f, name, false, false)
		}
		return
	case "create-stylelint":
		s.effect(Write, ".stylelintrc"+star, name, false, false)
		return
	}
	if !exact(name) {
		s.checkName(name)
		return
	}
	s.program(base(name), append([]string{base(name)}, argv[1:]...))
}

func (s *scanner) npm(name string, args []string) {
	// Options may stand before the command.
	i := 0
	for i < len(args) && strings.HasPrefix(args[i], "-") {
		switch args[i] {
		case "-C", "--prefix", "--dir", "--cwd", "--workspace", "-w", "--filter":
			i++
		}
		i++
	}
	if i >= len(args) {
		return
	}
	rest := args[i+1:]
	s.unknown()
	switch args[i] {
	case "exec", "x", "dlx":
		o := parse(rest, "p:c:", "package= call=", true)
		if text, ok := o.get("c call"); ok {
			s.nest(text, nil)
		}
		s.packageProgram(o.operands)
	case "pkg":
		if len(rest) > 0 && rest[0] != "get" {
			s.effect(Write, "package.json", name, false, false)
		}
	case "init", "create", "innit":
		o := parse(rest, "y", "", true)
		if len(o.operands) > 0 {
			what := o.operands[0]
			if j := strings.LastIndexByte(what, '@'); j > 0 {
				what = what[:j]
			}
			switch what {
			case "@eslint/config", "eslint":
				s.packageProgram([]string{"@eslint/create-config"})
			case "stylelint":
				s.packageProgram([]string{"create-stylelint"})
			}
		}
		s.effect(Write, "package.json", name, false, false)
	case "run", "run-script":
		// A script of the project; what it does isn't said here.
	default:
		if name == "yarn" || name == "pnpm" {
			if p := find(args[i]); p != nil && p.do != nothing && p.name == args[i] && p.name != "link" && p.name != "install" && p.name != "patch" && p.name != "rm" && p.name != "unlink" && p.name != "node" && p.name != "which" {
				s.program(args[i], args[i:])
			} else if p != nil && p.name == "node" {
				s.program("node", args[i:])
			}
		}
	}
}

func (s *scanner) xargs(p *program, args []string) {
	o := parse(args, p.short, p.long, true)
	text := hole
	if f, ok := o.get("a arg-file"); ok {
		if t, ok := s.file(f); ok {
			text = t
		}
	} else if s.stdin != nil {
		text = s.stdin.text
	}
	s.stdin = &input{}
	argv := o.operands
	if len(argv) == 0 {
		argv = []string{"echo"}
	}
	replace, insert := o.get("I i replace")
	if insert && replace == "" {
		replace = "{}"
	}
	sep := " \t\n"
	if d, ok := o.get("d delimiter"); ok {
		if d = ansi(d); d != "" && d[0] != '\\' {
			sep = d[:1]
		} else {
			sep = "\n"
		}
	} else if insert || o.has("0 null") {
		sep = "\n"
	}
	var items []string
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(sep, r) }) {
		if sep == " \t\n" {
			f = unquoted(f)
		}
		items = append(items, f)
	}
	if !insert {
		_, n := o.get("n max-args L max-lines")
		if !n {
			s.run(append(argv[:len(argv):len(argv)], items...))
			return
		}
	}
	for i, item := range items {
		if i >= maxRounds || !s.spend(1) {
			s.undecided("a loop has too many rounds")
			return
		}
		if !insert {
			s.run(append(argv[:len(argv):len(argv)], item))
			continue
		}
		s.run(replaced(argv, replace, item))
	}
}

func replaced(argv []string, old, with string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = strings.ReplaceAll(a, old, with)
	}
	return out
}

func (s *scanner) parallel(args []string) {
	o := parse(args, "j:I:a:S:N:L:C:d:", "jobs= arg-file= colsep= delimiter= delay= timeout= joblog= results=", true)
	argv, items := o.operands, []string(nil)
	for i, a := range argv {
		if a == ":::" || a == ":::+" || a == "::::" {
			items = argv[i+1:]
			argv = argv[:i]
			if a == "::::" {
				items = []string{hole}
			}
			break
		}
	}
	if items == nil {
		items = []string{hole}
		if s.stdin != nil {
			items = lines(s.stdin.text)
		}
	}
	text := strings.Join(argv, " ")
	for i, item := range items {
		if i >= maxRounds || !s.spend(1) {
			s.undecided("a loop has too many rounds")
			return
		}
		switch {
		case text == "":
			s.fork(item, nil)
		case strings.Contains(text, "{}"):
			s.fork(strings.ReplaceAll(text, "{}", item), nil)
		case strings.Contains(text, "{"):
			s.fork(strings.ReplaceAll(strings.ReplaceAll(text, "{.}", hole), "{/}", base(item)), nil)
		default:
			s.fork(text+" "+item, nil)
		}
	}
	s.unknown()
}

// find follows find and fd: the files that they come to are a pattern.
func (s *scanner) find(p *program, args []string) {
	if p.arg == "fd" {
		s.fd(args)
		return
	}
	for len(args) > 0 && (args[0] == "-H" || args[0] == "-L" || args[0] == "-P") {
		args = args[1:]
	}
	i := 0
	for i < len(args) && !(len(args[i]) > 1 && args[i][0] == '-') && args[i] != "(" && args[i] != "!" {
		i++
	}
	starts := args[:i]
	if len(starts) == 0 {
		starts = []string{"."}
	}
	args = args[i:]
	names := findNames(args)
	var found []string
	for _, d := range starts {
		for _, n := range names {
			found = append(found, join(join(d, hole), n))
		}
		if len(names) == 0 {
			found = append(found, join(d, hole))
		}
	}
	if len(found) > maxRuns {
		found = []string{hole}
	}
	for i := 0; i < len(args); i++ {
		switch a := args[i]; a {
		case "-delete":
			for _, f := range found {
				s.effect(Delete, f, "find", true, false)
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(args) {
				s.effect(Write, args[i+1], "find", false, false)
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end] != ";" && !(args[end] == "+" && args[end-1] == "{}") {
				end++
			}
			argv := args[i+1 : end]
			for _, f := range found {
				if strings.HasSuffix(a, "dir") {
					f = "./" + base(f)
				}
				s.run(replaced(argv, "{}", f))
			}
			i = end
		}
	}
	for _, f := range found {
		s.line(f)
	}
}

// findNames returns what the base names of what find comes to look like; none
// means anything.
func findNames(args []string) []string {
	var names []string
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "!", "-not", ",":
			return nil
		case "-exec", "-execdir", "-ok", "-okdir":
			for i < len(args) && args[i] != ";" && args[i] != "+" {
				i++
			}
		case "-name", "-iname":
			if i+1 < len(args) {
				names = append(names, wild(args[i+1]))
			}
		case "-path", "-ipath", "-wholename", "-regex", "-iregex":
			if i+1 < len(args) && !strings.Contains(args[i], "regex") {
				if b := base(args[i+1]); b != "" {
					names = append(names, wild(b))
					continue
				}
			}
			names = append(names, hole)
		case "-o", "-or":
			if len(names) == 0 {
				return nil
			}
		}
	}
	return names
}

func (s *scanner) fd(args []string) {
	for i, a := range args {
		if a == "-x" || a == "-X" || a == "--exec" || a == "--exec-batch" {
			argv := args[i+1:]
			run := replaced(argv, "{}", hole)
			if strings.Join(run, " ") == strings.Join(argv, " ") {
				run = append(run, hole)
			}
			s.run(run)
			return
		}
	}
	s.unknown()
}
