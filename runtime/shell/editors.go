package shell

import "strings"

// sed follows sed: files that are edited in place, and those that a script
// writes itself.
func (s *scanner) sed(p *program, args []string) {
	for i, a := range args {
		// sed of BSD takes the suffix apart: -i ''.
		if (a == "-i" || a == "-I") && i+1 < len(args) && args[i+1] == "" {
			args = append(append([]string(nil), args[:i+1]...), args[i+2:]...)
			break
		}
	}
	o := parse(args, p.short, p.long, false)
	files := o.operands
	var scripts []string
	o.each("e expression", func(v string) { scripts = append(scripts, v) })
	o.each("f file", func(v string) {
		if text, ok := s.file(v); ok {
			scripts = append(scripts, text)
		} else if v == "-" && s.stdin != nil || v == "/dev/stdin" && s.stdin != nil {
			scripts = append(scripts, s.stdin.text)
		} else {
			s.undecided("a script of sed isn't known")
		}
	})
	if !o.has("e expression f file") && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	if suffix, ok := o.get("i in-place I"); ok {
		for _, f := range files {
			s.effect(Write, f, p.name, false, false)
			if suffix != "" {
				s.effect(Write, f+suffix, p.name, false, false)
			}
		}
	}
	s.sedScript(strings.Join(scripts, "\n"))
	if len(files) == 0 && s.stdin != nil && s.stdin.text == "" {
		return
	}
	s.unknown()
}

// sedScript looks for the commands w, W and e, and the flags of s that do the
// same.
func (s *scanner) sedScript(t string) {
	line := func() string {
		l, rest, _ := strings.Cut(t, "\n")
		t = rest
		return strings.TrimSpace(l)
	}
	write := func() {
		if f := line(); f != "" {
			s.effect(Write, f, "sed", false, false)
		}
	}
	for t != "" {
		c := t[0]
		t = t[1:]
		switch c {
		case '/':
			t = delimited(t, '/')
		case '\\':
			if t != "" {
				t = delimited(t[1:], t[0])
			}
		case 'w', 'W':
			write()
		case 'e':
			if cmd := line(); cmd != "" {
				s.nest(cmd, nil)
			} else {
				s.undecided("sed runs what it reads")
			}
		case 'a', 'i', 'c', 'r', 'R', '#':
			line()
		case 'b', 't', 'T', ':':
			if i := strings.IndexAny(t, ";\n}"); i >= 0 {
				t = t[i:]
			} else {
				t = ""
			}
		case 's', 'y':
			if t == "" {
				return
			}
			d := t[0]
			t = delimited(delimited(t[1:], d), d)
		flags:
			for c == 's' && t != "" {
				switch f := t[0]; {
				case f == 'w':
					t = t[1:]
					write()
					break flags
				case f == 'e':
					s.undecided("sed runs what it reads")
				case f != 'g' && f != 'p' && f|0x20 != 'i' && f|0x20 != 'm' && (f < '0' || f > '9'):
					break flags
				}
				t = t[1:]
			}
		}
		if !s.spend(1) {
			return
		}
	}
}

// delimited is what follows the next delimiter that isn't quoted.
func delimited(t string, d byte) string {
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '\\':
			i++
		case d:
			return t[i+1:]
		}
	}
	return ""
}

// editor follows ed, ex and vim, whose commands come as options or as input.
func (s *scanner) editor(p *program, args []string) {
	s.unknown()
	var scripts, files []string
	known := false
	if p.arg == "emacs" {
		s.undecided("a script of emacs isn't followed")
		return
	}
	var plain []string
	for _, a := range args {
		switch {
		case strings.HasPrefix(a, "+"):
			known = true
			scripts = append(scripts, a[1:])
		case len(a) > 2 && strings.HasPrefix(a, "-") && strings.HasSuffix(a, "sc") && p.name != "ed", len(a) > 2 && strings.HasPrefix(a, "-") && strings.HasSuffix(a, "ec") && p.name != "ed":
			plain = append(plain, "-c")
		default:
			plain = append(plain, a)
		}
	}
	o := parse(plain, p.short, p.long, false)
	files = o.operands
	o.each("c cmd", func(v string) { known = true; scripts = append(scripts, v) })
	o.each("S", func(v string) {
		if text, ok := s.file(v); ok {
			scripts = append(scripts, text)
		} else {
			known = false
			scripts = append(scripts, "w")
		}
	})
	if s.stdin != nil {
		known = true
		scripts = append(scripts, s.stdin.text)
	}
	saves := !known
	for _, script := range scripts {
		if strings.Contains(script, hole) {
			saves = true
		}
		for line := range strings.SplitSeq(strings.ReplaceAll(script, "|", "\n"), "\n") {
			cmd := strings.TrimLeft(line, ": \t0123456789,$%.;")
			if i := strings.LastIndexByte(cmd, '/'); i >= 0 && i+1 < len(cmd) && (cmd[i+1] == 'w' || cmd[i+1] == 'x') {
				cmd = cmd[i+1:] // a range or s/// before it
			}
			if rest, ok := strings.CutPrefix(cmd, "!"); ok {
				s.nest(rest, nil)
				continue
			}
			name := cmd
			arg := ""
			if i := strings.IndexAny(cmd, " \t!"); i >= 0 {
				name, arg = cmd[:i], strings.TrimSpace(strings.TrimLeft(cmd[i:], "!"))
			}
			switch name {
			case "w", "W", "wq", "x", "xit", "write", "up", "update", "wa", "wall", "wqa", "xa", "xall", "wn", "sav", "saveas", "silent", "sil", "normal", "norm", "exe", "execute", "argdo", "bufdo":
				if saves = true; arg != "" && arg[0] != '>' && name[0] != 'n' {
					s.effect(Write, arg, p.name, false, false)
				}
			default:
				if strings.HasSuffix(cmd, "ZZ") {
					saves = true
				}
			}
			if !s.spend(1) {
				return
			}
		}
	}
	if saves && !o.has("R") && p.name != "view" {
		s.all(Write, files, p.name, false)
	}
}
