package shell

import "strings"

// Text that is followed through a command line may have parts that aren't
// known, and wildcards that a quote would have made plain characters. Each is
// one of four characters of Unicode's private use area, so that such text is a
// string like any other, and can even be parsed again as a script. A command
// line that has them itself is only less known than it could be.
const (
	hole  = "\uf8f0" // any text
	star  = "\uf8f1" // *
	any1  = "\uf8f2" // ?
	class = "\uf8f3" // [
	mark  = "\xef\xa3"
)

// special returns what a string begins with, 0 if that is an ordinary
// character, and its length.
func special(s string) (c byte, n int) {
	if len(s) >= 3 && s[0] == mark[0] && s[1] == mark[1] && s[2] >= 0xb0 && s[2] <= 0xb3 {
		return "h*?["[s[2]-0xb0], 3
	}
	return 0, 1
}

// known reports whether a text has no part that isn't known.
func known(s string) bool { return !strings.Contains(s, hole) }

// exact reports whether a text is known and has no wildcards.
func exact(s string) bool {
	for i := strings.Index(s, mark); i >= 0; {
		if c, _ := special(s[i:]); c != 0 {
			return false
		}
		j := strings.Index(s[i+1:], mark)
		if j < 0 {
			break
		}
		i += 1 + j
	}
	return true
}

// only reports whether a text is nothing but repetitions of another one.
func only(s, part string) bool {
	for strings.HasPrefix(s, part) {
		s = s[len(part):]
	}
	return s == ""
}

// render writes a text as a literal, or as a pattern if it isn't exact.
func render(s string) (string, bool) {
	if exact(s) {
		return s, false
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		c, n := special(s[i:])
		switch {
		case c == 'h':
			if !strings.HasSuffix(string(b), "**") {
				b = append(b, "**"...)
			}
		case c == '*':
			if len(b) == 0 || b[len(b)-1] != '*' {
				b = append(b, '*')
			}
		case c != 0:
			b = append(b, c)
		case strings.IndexByte(`*?[\`, s[i]) >= 0:
			b = append(b, '\\', s[i])
		default:
			b = append(b, s[i])
		}
		i += n
	}
	return string(b), true
}

// wild turns the plain wildcards of a text into such that match.
func wild(s string) string {
	if !strings.ContainsAny(s, "*?[") {
		return s
	}
	b := make([]byte, 0, len(s)+8)
	for i := range len(s) {
		if s[i] == '[' && strings.LastIndexByte(s, ']') < i {
			b = append(b, '[')
			continue
		}
		b = appendWild(b, s[i])
	}
	return string(b)
}

func appendWild(b []byte, c byte) []byte {
	switch c {
	case '*':
		return append(b, star...)
	case '?':
		return append(b, any1...)
	case '[':
		return append(b, class...)
	}
	return append(b, c)
}

// tame is the opposite of wild.
func tame(s string) string {
	if exact(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		c, n := special(s[i:])
		if c == 0 || c == 'h' {
			b = append(b, s[i:i+n]...)
		} else {
			b = append(b, c)
		}
		i += n
	}
	return string(b)
}

// match compares a shell pattern with a text, whole against whole. A class
// matches any one character.
func match(pattern, s string) bool {
	p, i := 0, 0
	backP, backI := -1, 0
	for i < len(s) {
		if p < len(pattern) {
			c, n := special(pattern[p:])
			switch {
			case c == '*' || c == 'h':
				p += n
				backP, backI = p, i
				continue
			case c == '[':
				end := strings.IndexByte(pattern[p+n:], ']')
				if end < 0 {
					end = -1
				}
				p += n + end + 1
				i++
				continue
			case c == '?' || c == 0 && pattern[p] == s[i]:
				p += n
				i++
				continue
			}
		}
		if backP < 0 {
			return false
		}
		backI++
		p, i = backP, backI
	}
	for p < len(pattern) {
		c, n := special(pattern[p:])
		if c != '*' && c != 'h' {
			return false
		}
		p += n
	}
	return true
}

// Overlap reports whether some name matches both an effect's pattern and a
// glob, each of them of one name, without slashes. The glob knows * for any
// run of characters and ? for one. Letter case matters; fold both, if it
// shouldn't. Long ones overlap.
func Overlap(pattern, glob string) bool {
	const long = 512
	if len(pattern) > long || len(glob) > long {
		return true
	}
	// What a pattern begins with doesn't match a leading dot, unless it is text
	// that isn't known.
	dotless := pattern != "" && !strings.HasPrefix(pattern, "**") && strings.IndexByte("*?[", pattern[0]) >= 0
	if dotless && strings.HasPrefix(glob, ".") {
		return false
	}
	row := make([]bool, len(glob)+1) // row[j]: the pattern so far and glob[:j] overlap
	next := make([]bool, len(glob)+1)
	row[0] = true
	spread := func(r []bool) {
		for j := range len(glob) {
			if glob[j] == '*' && r[j] {
				r[j+1] = true
			}
		}
	}
	spread(row)
	for p := 0; p < len(pattern); {
		c, n, one := pattern[p], 1, false
		switch {
		case c == '*':
			for p+n < len(pattern) && pattern[p+n] == '*' {
				n++
			}
			// Any run: whatever of the glob comes next may be it.
			seen := false
			for j := range row {
				seen = seen || row[j]
				row[j] = seen
			}
			p += n
			continue
		case c == '?':
			one = true
		case c == '[':
			one = true
			if end := strings.IndexByte(pattern[p+1:], ']'); end > 0 {
				n = end + 2
			}
		case c == '\\' && p+1 < len(pattern):
			c, n = pattern[p+1], 2
		}
		clear(next)
		for j := range len(glob) {
			if !row[j] {
				continue
			}
			switch {
			case glob[j] == '*':
				next[j] = true
			case glob[j] == '?' || one || glob[j] == c:
				next[j+1] = true
			}
		}
		if row[len(glob)] && strings.HasSuffix(glob, "*") {
			next[len(glob)] = true
		}
		spread(next)
		row, next = next, row
		p += n
	}
	return row[len(glob)]
}

// join is a path in a folder.
func join(dir, path string) string {
	switch {
	case path == "", path == ".":
		return dir
	case path[0] == '/' || dir == "":
		return path
	case dir[len(dir)-1] == '/':
		return dir + path
	}
	return dir + "/" + path
}

// base is the last name of a path.
func base(path string) string {
	for len(path) > 1 && path[len(path)-1] == '/' {
		path = path[:len(path)-1]
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// device reports whether a path is no file that keeps anything.
func device(path string) bool {
	return strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/dev/shm/")
}

// one reports whether a list, words with blanks between them, has a word.
func one(list, word string) bool {
	if word == "" {
		return false
	}
	for {
		i := strings.Index(list, word)
		if i < 0 {
			return false
		}
		end := i + len(word)
		if (i == 0 || list[i-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		list = list[i+1:]
	}
}
