// Package text makes strings from outside fit to be shown to a model or
// written to a log.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark ends a text that was cut.
const Mark = " [...]"

// Clean removes what a reader can't see or what would reorder the rest:
// control characters but newline and tab, terminal escape sequences,
// bidirectional controls, and the invisible tag characters. Invalid UTF-8
// becomes U+FFFD.
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

func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0x2028, r == 0x2029, r == 0xfeff:
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f
}

// escape returns the length of a terminal control sequence at the beginning
// of s: ESC [ ... letter, or ESC ] ... BEL.
func escape(s string) int {
	if len(s) < 2 || s[0] != 0x1b {
		return 0
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s) && s[i] >= 0x20 && s[i] < 0x7f; i++ {
			if s[i] >= 0x40 {
				return i + 1
			}
		}
	case ']':
		for i := 2; i < len(s) && s[i] != '\n'; i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
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
// space becomes one blank.
func Line(s string, max int) string {
	return Cut(strings.Join(strings.FieldsFunc(Clean(s), unicode.IsSpace), " "), max)
}
