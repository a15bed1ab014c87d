package shell

import "strings"

// A token of code: 's' a string, 'x' a command in backquotes, 'i' a name, 'p' a
// mark, 'n' the end of a line, 'o' something else.
type token struct {
	kind  byte
	text  string
	space bool // a blank stands before it
}

// tokenize cuts code into tokens. It knows of each language only what tells
// strings, comments and names apart.
func tokenize(t, lang string) []token {
	var out []token
	space := false
	add := func(kind byte, text string) {
		out = append(out, token{kind, text, space})
		space = false
	}
	value := false // a value ends here, so a slash divides
	for i := 0; i < len(t); {
		c := t[i]
		switch {
		case c == '\n':
			add('n', "")
			value = false
			i++
		case c == ' ' || c == '\t' || c == '\r':
			space = true
			i++
		case c == '#' && lang != "js" && !(lang == "perl" && i > 0 && t[i-1] == '$'), c == '/' && i+1 < len(t) && t[i+1] == '/' && (lang == "js" || lang == "php") && !value:
			i = upto(t, i, "\n")
		case c == '/' && i+1 < len(t) && t[i+1] == '*' && (lang == "js" || lang == "php"):
			if j := strings.Index(t[i+2:], "*/"); j >= 0 {
				i += j + 4
			} else {
				i = len(t)
			}
		case c == '"' || c == '\'' && lang != "awk" || c == '`':
			text, next := quoted(t, i, lang)
			if c == '`' && lang != "js" {
				add('x', text)
			} else {
				add('s', text)
			}
			i, value = next, true
		case c == '/' && !value && lang != "python" && lang != "php":
			// A regular expression.
			j := i + 1
			for in := false; j < len(t) && t[j] != '\n' && (t[j] != '/' || in); j++ {
				switch t[j] {
				case '\\':
					j++
				case '[':
					in = true
				case ']':
					in = false
				}
			}
			add('o', "")
			i, value = min(j+1, len(t)), true
		case letter(c) || (c == '$' || c == '@' || c == '%' && lang == "perl") && i+1 < len(t) && letter(t[i+1]):
			j := i + 1
			for j < len(t) && (letter(t[j]) || t[j] >= '0' && t[j] <= '9') {
				j++
			}
			word := t[i:j]
			if next, ok := prefixed(t, i, j, lang); ok {
				if next.kind == 'S' { // python's r'', f''
					text, end := quoted(t, j, lang)
					if strings.ContainsAny(word, "fF") {
						text = holes(text, "{", "}")
					}
					if strings.ContainsAny(word, "rR") {
						text = strings.Trim(t[j:end], t[j:j+1])
					}
					add('s', text)
					i, value = end, true
					continue
				}
				if next.text == "qw" {
					add('p', "[")
					for k, w := range strings.Fields(t[next.from:next.to]) {
						if k > 0 {
							add('p', ",")
						}
						add('s', w)
					}
					add('p', "]")
				} else if next.kind != 0 {
					add(next.kind, t[next.from:next.to])
				}
				i, value = min(next.to+1, len(t)), true
				continue
			}
			add('i', word)
			value = !one("return print puts in of and or not if unless while split grep map push", word)
			i = j
		case c == '%' && lang == "ruby" && !value && i+2 < len(t):
			if n, ok := percent(t, i); ok {
				if n.text == "qw" {
					add('p', "[")
					for k, w := range strings.Fields(t[n.from:n.to]) {
						if k > 0 {
							add('p', ",")
						}
						add('s', w)
					}
					add('p', "]")
				} else {
					add(n.kind, t[n.from:n.to])
				}
				i, value = min(n.to+1, len(t)), true
				continue
			}
			add('p', "%")
			i++
		case c >= '0' && c <= '9':
			j := i
			for j < len(t) && (letter(t[j]) || t[j] >= '0' && t[j] <= '9') {
				j++
			}
			add('o', t[i:j])
			i, value = j, true
		case c == mark[0] && len(t) >= i+3 && t[i+1] == mark[1]:
			add('o', "")
			i, value = i+3, true
		default:
			n := 1
			for _, two := range []string{"->", "::", "?."} {
				if strings.HasPrefix(t[i:], two) {
					n = 2
				}
			}
			add('p', t[i:i+n])
			value = c == ')' || c == ']' || c == '}'
			i += n
		}
		if len(out) > maxSteps {
			return out
		}
	}
	return out
}

func letter(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 && c != mark[0]
}

// upto is where one of some characters comes next.
func upto(t string, i int, chars string) int {
	if j := strings.IndexAny(t[i:], chars); j >= 0 {
		return i + j
	}
	return len(t)
}

// quoted reads a string that begins at i, and says where it ends. What is put
// in when the code runs is a hole.
func quoted(t string, i int, lang string) (text string, end int) {
	q := t[i]
	if lang == "python" && strings.HasPrefix(t[i:], strings.Repeat(string(q), 3)) {
		body := t[i+3:]
		if j := strings.Index(body, t[i:i+3]); j >= 0 {
			return escapes(body[:j]), i + 3 + j + 3
		}
		return escapes(body), len(t)
	}
	j := i + 1
	for j < len(t) && t[j] != q {
		if t[j] == '\\' {
			j++
		}
		j++
	}
	j = min(j, len(t))
	text = t[i+1 : j]
	switch {
	case q == '\'' && (lang == "perl" || lang == "ruby" || lang == "php"):
		text = strings.ReplaceAll(text, `\'`, `'`)
	case q == '`' && lang == "js":
		text = holes(escapes(text), "${", "}")
	case q == '"' && lang == "ruby":
		text = holes(escapes(text), "#{", "}")
	case q == '"' && (lang == "perl" || lang == "php"):
		text = sigils(escapes(text))
	default:
		text = escapes(text)
	}
	return text, min(j+1, len(t))
}

// escapes decodes the escapes that the languages share.
func escapes(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return ansi(strings.ReplaceAll(s, "\\\n", ""))
}

// holes replaces what stands between two marks.
func holes(s, from, to string) string {
	if !strings.Contains(s, from) {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, from)
		if i < 0 {
			break
		}
		j := strings.Index(s[i:], to)
		if j < 0 {
			break
		}
		b.WriteString(s[:i])
		b.WriteString(hole)
		s = s[i+j+len(to):]
	}
	b.WriteString(s)
	return b.String()
}

// sigils replaces $name and @name.
func sigils(s string) string {
	if !strings.ContainsAny(s, "$@") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if (s[i] == '$' || s[i] == '@') && i+1 < len(s) && (letter(s[i+1]) || s[i+1] == '{') {
			j := i + 1
			if s[j] == '{' {
				j = min(upto(s, j, "}")+1, len(s))
			} else {
				for j < len(s) && (letter(s[j]) || s[j] >= '0' && s[j] <= '9') {
					j++
				}
			}
			b = append(b, hole...)
			i = j
			continue
		}
		b = append(b, s[i])
		i++
	}
	return string(b)
}

// A span is a part of the code that a special quote holds.
type span struct {
	kind     byte
	text     string
	from, to int
}

// prefixed tells names that begin a string: r” of python, q() of perl.
func prefixed(t string, i, j int, lang string) (span, bool) {
	word := t[i:j]
	switch lang {
	case "python":
		if j < len(t) && (t[j] == '\'' || t[j] == '"') && len(word) <= 2 && strings.Trim(word, "rRbBfFuU") == "" {
			return span{kind: 'S'}, true
		}
	case "perl":
		kind := byte(0)
		switch word {
		case "q", "qq":
			kind = 's'
		case "qx":
			kind = 'x'
		case "qw":
			kind = 's'
		case "m", "qr", "s", "tr", "y":
			kind = 'o'
		}
		if kind == 0 || j >= len(t) || letter(t[j]) || strings.IndexByte(" \t\n=,;)>", t[j]) >= 0 {
			return span{}, false
		}
		end := closing(t, j)
		if word == "s" || word == "tr" || word == "y" {
			from := end
			if t[j] != closer(t[j]) && end+1 < len(t) {
				from = end + 1
			}
			end = closing(t, from)
			return span{'o', "", min(j+1, end), end}, true
		}
		return span{kind, word, min(j+1, end), end}, true
	}
	return span{}, false
}

// percent reads a %w[] of ruby.
func percent(t string, i int) (span, bool) {
	c, at := t[i+1], i+2
	kind, text := byte('s'), ""
	switch c {
	case 'w', 'W', 'i':
		text = "qw"
	case 'q', 'Q':
	case 'x':
		kind = 'x'
	case '(', '[', '{':
		at = i + 1
	default:
		return span{}, false
	}
	if at >= len(t) || letter(t[at]) || t[at] == ' ' {
		return span{}, false
	}
	end := closing(t, at)
	return span{kind, text, min(at+1, end), end}, true
}

func closer(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	case '<':
		return '>'
	}
	return c
}

// closing is where the quote that opens at i closes.
func closing(t string, i int) int {
	if i >= len(t) {
		return len(t)
	}
	open, end, depth := t[i], closer(t[i]), 0
	for j := i + 1; j < len(t); j++ {
		switch {
		case t[j] == '\\':
			j++
		case t[j] == end && depth == 0:
			return j
		case t[j] == end:
			depth--
		case t[j] == open:
			depth++
		}
	}
	return len(t)
}
