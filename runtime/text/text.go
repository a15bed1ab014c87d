// Package text makes strings from outside fit to be shown to a model or
// written to a log.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark stands where a text was cut.
const Mark = " [...]"

// maxEscape bounds a terminal sequence in bytes: what goes on for longer is
// none, and loses only its first byte.
const maxEscape = 256

// Clean removes what a reader can't see or what would reorder the rest:
// control characters but newline and tab, terminal escape sequences,
// bidirectional controls, and the characters that Unicode calls ignorable
// (joiners, variation selectors, fillers, tags). Invalid UTF-8 becomes U+FFFD.
func Clean(s string) string {
	i := 0
	for i < len(s) && (s[i] >= 0x20 && s[i] < 0x7f || s[i] == '\n' || s[i] == '\t') {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:i])
	for i < len(s) {
		if n := escape(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !hidden(r) {
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// hidden reports whether Clean removes a character: the controls, the two
// separators that break lines, and Unicode's Default_Ignorable_Code_Point.
func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20:
		return true
	case r < 0x7f:
		return false
	case r < 0xa0, r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r == 0x3164, r >= 0xfe00 && r <= 0xfe0f, r == 0xfeff, r == 0xffa0, r >= 0xfff0 && r <= 0xfffb:
		return true
	case r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a:
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}

// escape returns the length of a terminal control sequence at the beginning
// of s: ESC [ ... letter, or ESC ] ... BEL. Another ESC inside begins anew, so
// that no text is looked at more than twice.
func escape(s string) int {
	if len(s) < 2 || s[0] != 0x1b {
		return 0
	}
	s = s[:min(len(s), maxEscape)]
	switch s[1] {
	case '[':
		for i := 2; i < len(s) && s[i] >= 0x20 && s[i] < 0x7f; i++ {
			if s[i] >= 0x40 {
				return i + 1
			}
		}
	case ']':
		for i := 2; i < len(s) && s[i] != '\n'; i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case s[i] == 0x1b:
				return 0
			}
		}
	}
	return 0
}

// Cut shortens s to at most max bytes, the Mark included, without splitting a
// character. max 0 means no limit.
func Cut(s string, max int) string {
	if max <= 0 || len(s) <= max {
		return s
	}
	mark := Mark
	if max < len(mark) {
		mark = ""
	}
	n := max - len(mark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}

// Line is Clean on a single line, of at most max bytes: every run of white
// space becomes one blank. max 0 means no limit.
func Line(s string, max int) string {
	if max <= 0 || len(s) <= clip(max) {
		return Cut(line(s), max)
	}
	// So much is shown at most; the rest is not even looked at.
	n := clip(max)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return Cut(line(s[:n])+Mark, max)
}

// Tail is Line for a text whose end says most, as a path's does: that is what
// it keeps, behind the mark.
func Tail(s string, max int) string {
	n := len(s)
	if max > 0 {
		n = min(n, clip(max))
	}
	from := len(s) - n
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	t := line(s[from:])
	if from == 0 && (max <= 0 || len(t) <= max) {
		return t
	}
	mark := strings.TrimSpace(Mark) + " "
	if max < len(mark) {
		mark = ""
	}
	cut := len(t) - min(len(t), max-len(mark))
	for cut < len(t) && !utf8.RuneStart(t[cut]) {
		cut++
	}
	return mark + t[cut:]
}

// clip is how much of a text is cleaned to show max bytes of it. What is
// hidden needs room, too, but a text that is hardly anything else is not worth
// more.
func clip(max int) int { return 8 * max }

func line(s string) string {
	return strings.Join(strings.FieldsFunc(Clean(s), unicode.IsSpace), " ")
}
