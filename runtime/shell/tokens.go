package shell

import "strings"

// tokens reads a script that could not be parsed: it cuts it into words and
// commands as well as it can, and takes each command for itself. Bodies of
// here-documents are read as commands, too, because where they end is not
// known for sure.
func (s *scanner) tokens(text string) {
	l := lexer{text: text, escape: '\\', pipe: true}
	s.commands(&l, func(argv []string) {
		for len(argv) > 0 {
			name, value, ok := strings.Cut(argv[0], "=")
			switch {
			case ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == "":
				s.setText(name, value)
			case one("if then else elif do while until ! { } time coproc case esac fi done", argv[0]):
			default:
				s.depth++
				if s.depth <= 2*maxDepth {
					s.run(argv)
				}
				s.depth--
				return
			}
			argv = argv[1:]
		}
	})
}

// commands cuts a text into commands, and records what redirections write.
func (s *scanner) commands(l *lexer, run func(argv []string)) {
	var argv []string
	redirect := false
	end := func() {
		if len(argv) > 0 && s.steps > 0 {
			in := s.stdin
			s.stdin = nil
			run(argv)
			s.stdin = in
		}
		argv, redirect = nil, false
	}
	for s.spend(1) {
		kind, word := l.next()
		switch kind {
		case 0:
			end()
			return
		case ';':
			end()
		case '<':
			redirect = false
			l.next()
		case '>':
			redirect = true
		default:
			if redirect {
				if word != "&1" && word != "&2" && word != "$null" && !strings.EqualFold(word, "nul") {
					s.effect(Write, word, "redirect", false, false)
				}
				redirect = false
				continue
			}
			argv = append(argv, word)
		}
	}
}

// A lexer cuts text into words without a grammar.
type lexer struct {
	text   string
	at     int
	escape byte // quotes the next character
	pipe   bool // a backquote and "$(" begin a command
	single bool // '' stands for ' in a string, as PowerShell has it
	cmd    bool // only " quotes, and blanks alone separate
}

// next returns the next word ('w'), redirection ('>' or '<') or separator
// (';'), 0 at the end.
func (l *lexer) next() (kind byte, word string) {
	t := l.text
	for l.at < len(t) && (t[l.at] == ' ' || t[l.at] == '\t' || t[l.at] == '\r') {
		l.at++
	}
	if l.at >= len(t) {
		return 0, ""
	}
	b := make([]byte, 0, 16)
	started := false
	for l.at < len(t) {
		c := t[l.at]
		switch {
		case c == l.escape && c != 0:
			if l.at+1 < len(t) && t[l.at+1] != '\n' {
				b = append(b, t[l.at+1])
				started = true
			}
			l.at += 2
			continue
		case c == '\'' && !l.cmd:
			j := l.at + 1
			for j < len(t) {
				if t[j] == '\'' {
					if !l.single || j+1 >= len(t) || t[j+1] != '\'' {
						break
					}
					b = append(b, '\'')
					j += 2
					continue
				}
				b = append(b, t[j])
				j++
			}
			l.at, started = j+1, true
			continue
		case c == '"':
			j := l.at + 1
			for j < len(t) && t[j] != '"' {
				switch {
				case t[j] == l.escape && c != 0 && j+1 < len(t):
					j++
					b = append(b, t[j])
				case t[j] == '$' && !l.cmd:
					b = append(b, hole...)
					for j+1 < len(t) && (letter(t[j+1]) || t[j+1] >= '0' && t[j+1] <= '9' || t[j+1] == '{' || t[j+1] == '}' || t[j+1] == ':' && l.single) {
						j++
					}
				default:
					b = append(b, t[j])
				}
				j++
			}
			l.at, started = j+1, true
			continue
		case c == '$' && !l.cmd && l.pipe:
			b = append(b, hole...)
			for l.at++; l.at < len(t) && (letter(t[l.at]) || t[l.at] >= '0' && t[l.at] <= '9' || t[l.at] == '{' || t[l.at] == '}'); l.at++ {
			}
			started = true
			continue
		case c == '%' && l.cmd && l.at+1 < len(t):
			if j := strings.IndexByte(t[l.at+1:], '%'); j > 0 && !strings.ContainsAny(t[l.at+1:l.at+1+j], " \t\n\"") {
				b = append(b, hole...)
				l.at += j + 2
				started = true
				continue
			}
		}
		stop := c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '|' || c == '&' || c == '>' || c == '<' || c == ';' && !l.cmd || (c == '(' || c == ')' || c == '`') && !l.single || l.single && (c == '{' || c == '}' || c == '(' || c == ')' || c == ',')
		if !stop {
			if !l.cmd && (c == '*' || c == '?' || c == '[') || l.cmd && (c == '*' || c == '?') {
				b = appendWild(b, c)
			} else {
				b = append(b, c)
			}
			l.at++
			continue
		}
		if started || len(b) > 0 {
			// The number of a descriptor belongs to the redirection.
			if (c == '>' || c == '<') && (digits(string(b)) || string(b) == "*") && !started {
				b = b[:0]
				continue
			}
			return 'w', string(b)
		}
		switch c {
		case '>':
			for l.at++; l.at < len(t) && (t[l.at] == '>' || t[l.at] == '|'); l.at++ {
			}
			if l.at+1 < len(t) && t[l.at] == '&' {
				if t[l.at+1] >= '0' && t[l.at+1] <= '9' || t[l.at+1] == '-' { // 2>&1
					l.at += 2
					return l.next()
				}
				l.at++
			}
			return '>', ""
		case '<':
			for l.at++; l.at < len(t) && (t[l.at] == '<' || t[l.at] == '-'); l.at++ {
			}
			return '<', ""
		case '&':
			if l.at+1 < len(t) && t[l.at+1] == '>' {
				l.at++
				continue
			}
			l.at++
			return ';', ""
		case '|':
			l.at++
			return ';', "|"
		case ',':
			l.at++
			return 'w', ","
		default:
			l.at++
			return ';', string(c)
		}
	}
	if started || len(b) > 0 {
		return 'w', string(b)
	}
	return 0, ""
}
