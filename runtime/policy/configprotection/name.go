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
	name, _ := last(path)
	return fold(name)
}

// last returns the base name of a path, without what Windows leaves out, and
// the place in the path where it ends.
func last(path string) (string, int) {
	if i := strings.IndexByte(path, 0); i >= 0 {
		path = path[:i]
	}
	up := 0
	for path != "" {
		end, name := len(path), path
		if i := strings.LastIndexAny(path, `/\`); i >= 0 {
			path, name = path[:i], path[i+1:]
		} else {
			path = ""
		}
		switch name = strings.TrimSpace(name); {
		case name == "..":
			up++
		case plain(name) == "":
		case up > 0:
			up--
		default:
			return plain(name), end
		}
	}
	return "", 0
}

// plain is a name as Windows reads it: without drive, stream, trailing dots
// and blanks. It is empty for ".", too.
func plain(name string) string {
	if len(name) >= 2 && name[1] == ':' && isLetter(name[0]) {
		name = name[2:]
	}
	if i := strings.IndexByte(name, ':'); i >= 0 {
		name = name[:i]
	}
	return strings.TrimRight(name, ". ")
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// tree returns all names of an absolute path in the form in which Base returns
// the last one, joined by slashes, without one in front.
func tree(path string) string {
	if i := strings.IndexByte(path, 0); i >= 0 {
		path = path[:i]
	}
	var names []string
	for path != "" {
		name := path
		if i := strings.IndexAny(path, `/\`); i >= 0 {
			name, path = path[:i], path[i+1:]
		} else {
			path = ""
		}
		switch name = strings.TrimSpace(name); {
		case name == "..":
			names = names[:max(0, len(names)-1)]
		case plain(name) != "":
			names = append(names, fold(plain(name)))
		}
	}
	return strings.Join(names, "/")
}

// fold makes names equal that a case-insensitive file system takes for one:
// lower case, ligatures and sharp s taken apart, letters put together with
// their accents, and without the characters that HFS+ ignores. Of the accents
// it knows those of Latin-1 and Latin Extended-A; a rule about a file with
// other ones should be written in the form that the file system keeps.
func fold(s string) string {
	ascii := true
	for i := 0; i < len(s) && ascii; i++ {
		ascii = s[i] < utf8.RuneSelf
	}
	if ascii {
		return strings.ToLower(s)
	}
	out := make([]byte, 0, len(s)+8)
	for _, r := range s {
		switch r = unicode.ToLower(r); {
		case r == 0x017f: // long s
			out = append(out, 's')
		case r == 'ß':
			out = append(out, "ss"...)
		case r >= 0xfb00 && int(r-0xfb00) < len(ligatures):
			out = append(out, ligatures[r-0xfb00]...)
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		default:
			if c := accented(out, r); c != "" {
				out = append(out[:len(out)-1], c...)
				continue
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// ligatures are what U+FB00 and the following fold to.
var ligatures = [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}

// accents lists letters of two bytes each, and what they are without the mark.
var accents = [...]struct {
	mark            rune
	plain, accented string
}{
	{0x300, "aeiou", "àèìòù"},
	{0x301, "aeiouyclnrsz", "áéíóúýćĺńŕśź"},
	{0x302, "aeioucghjswy", "âêîôûĉĝĥĵŝŵŷ"},
	{0x303, "anoiu", "ãñõĩũ"},
	{0x304, "aeiou", "āēīōū"},
	{0x306, "aegiou", "ăĕğĭŏŭ"},
	{0x307, "cegz", "ċėġż"},
	{0x308, "aeiouy", "äëïöüÿ"},
	{0x30a, "au", "åů"},
	{0x30b, "ou", "őű"},
	{0x30c, "cdelnrstz", "čďěľňřšťž"},
	{0x327, "cgklnrst", "çģķļņŗşţ"},
	{0x328, "aeiu", "ąęįų"},
}

// accented returns the letter that the last one of name and a mark make; empty
// if they make none.
func accented(name []byte, mark rune) string {
	if mark < 0x300 || mark > 0x328 || len(name) == 0 {
		return ""
	}
	for _, a := range accents {
		if a.mark == mark {
			if i := strings.IndexByte(a.plain, name[len(name)-1]); i >= 0 {
				return a.accented[2*i : 2*i+2]
			}
		}
	}
	return ""
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
