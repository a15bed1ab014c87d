package configprotection

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Base returns the base name of a path in the form in which it is compared:
// lower case, without what file systems ignore. Both kinds of slash separate,
// "." and ".." are followed, and a Windows drive, stream (name::$DATA),
// trailing dots and blanks are left out. It is empty for a path that names no
// file.
func Base(path string) string {
	if i := strings.IndexByte(path, 0); i >= 0 {
		path = path[:i]
	}
	up := 0
	for path != "" {
		name := path
		if i := strings.LastIndexAny(path, `/\`); i >= 0 {
			path, name = path[:i], path[i+1:]
		} else {
			path = ""
		}
		switch name = strings.TrimSpace(name); name {
		case "", ".":
			continue
		case "..":
			up++
			continue
		}
		if up > 0 {
			up--
			continue
		}
		if len(name) >= 2 && name[1] == ':' && isLetter(name[0]) {
			name = name[2:]
		}
		if i := strings.IndexByte(name, ':'); i >= 0 {
			name = name[:i]
		}
		return fold(strings.TrimRight(name, ". "))
	}
	return ""
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// fold makes names equal that a case-insensitive file system takes for one:
// lower case, with the letters that fold to ASCII, and without the characters
// that HFS+ ignores.
func fold(s string) string {
	ascii := true
	for i := 0; i < len(s) && ascii; i++ {
		ascii = s[i] < utf8.RuneSelf
	}
	if ascii {
		return strings.ToLower(s)
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == 0x017f: // long s
			return 's'
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// Match reports whether a glob matches the whole of name: * stands for any run
// of characters, ? for one.
func Match(glob, name string) bool {
	star, retry := -1, 0
	g, n := 0, 0
	for n < len(name) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, retry = g, n
			g++
		case g < len(glob) && glob[g] == '?':
			_, size := utf8.DecodeRuneInString(name[n:])
			g++
			n += size
		case g < len(glob) && glob[g] == name[n]:
			g++
			n++
		case star >= 0:
			retry++
			g, n = star+1, retry
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}

// MatchPath is Match for slash-separated paths: * and ? stay within one name,
// ** stands for any number of folders, and a glob that ends in a slash covers
// all that is below.
func MatchPath(glob, path string) bool {
	glob = strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/")
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	return matchNames(strings.Split(glob, "/"), strings.Split(path, "/"))
}

func matchNames(glob, path []string) bool {
	// The last ** that was passed, and where the rest was tried.
	star, retry := -1, 0
	g, p := 0, 0
	for p < len(path) {
		switch {
		case g < len(glob) && glob[g] == "**":
			star, retry = g, p
			g++
		case g < len(glob) && Match(glob[g], path[p]):
			g++
			p++
		case star >= 0:
			retry++
			g, p = star+1, retry
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == "**" {
		g++
	}
	return g == len(glob)
}
