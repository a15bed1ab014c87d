package text

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext":                   "plain\n\ttext",
		"a\x00b\x07c\x7fd\u0085e\u009bf":  "abcdef",
		"\x1b[31mred\x1b[0m \x1b[2Kgone":  "red gone",
		"\x1b]0;title\x07after":           "after",
		"\x1b]8;;http://x\x1b\\link":      "link",
		"\x1b[31":                         "[31",
		"\x1b]never ends":                 "]never ends",
		"\x1b]0;a\x1b]0;title\x07after":   "]0;aafter",
		"ab\u202etxt\u2066\u2069\u200fcd": "abtxtcd",
		"x\U000E0041y\ufeffz\u2028":       "xyz",
		"\xff\xfe":                        "\ufffd\ufffd",
		"é 漢 👩\u200d💻":                    "é 漢 👩💻",
	} {
		require.Equal(t, want, Clean(in), "%q", in)
	}
	for _, r := range []rune{
		0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x180e, 0x200b, 0x200c, 0x200d, 0x2028, 0x202e, 0x2060, 0x2061, 0x2064, 0x2065, 0x206f, 0x3164,
		0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0x1d173, 0xe0001, 0xe007f, 0xe0100, 0xe01ef,
	} {
		require.Equal(t, "ab", Clean("a"+string(r)+"b"), "%U", r)
	}
	for _, r := range []rune{0xa0, 0xac, 0xae, 0x350, 0x200a, 0x2010, 0x2027, 0x202f, 0x205f, 0x2070, 0x3163, 0xfdff, 0xfe10, 0xfffd, 0x1f469} {
		require.Equal(t, "a"+string(r)+"b", Clean("a"+string(r)+"b"), "%U", r)
	}
	// A sequence ends somewhere.
	long := strings.Repeat("x", maxEscape)
	require.Equal(t, "]"+long+"\n", Clean("\x1b]"+long+"\x07\n"))
	require.Equal(t, "["+strings.Repeat("1", maxEscape)+"m", Clean("\x1b["+strings.Repeat("1", maxEscape)+"m"))
}

// Whatever is sent, cleaning takes time in proportion.
func TestCleanIsLinear(t *testing.T) {
	for _, part := range []string{"\x1b]", "\x1b]x", "\x1b[1", "\x1b]\x1b", "\x1b", "\x1b]" + strings.Repeat("x", 300), "\u200b", "\xff"} {
		s := strings.Repeat(part, 4<<20/len(part))
		start := time.Now()
		Clean(s)
		Line(s, 300)
		Tail(s, 300)
		require.Less(t, time.Since(start), 5*time.Second, "%.8q", part)
	}
}

func TestCut(t *testing.T) {
	require.Equal(t, "abc", Cut("abc", 0))
	require.Equal(t, "abc", Cut("abc", 3))
	require.Equal(t, "ab [...]", Cut("abcdefghijk", 8))
	require.Equal(t, "", Cut("漢漢", 2))
	for n := 1; n < 40; n++ {
		got := Cut(strings.Repeat("漢字", 10), n)
		require.LessOrEqual(t, len(got), n)
		require.True(t, utf8.ValidString(got))
	}
}

func TestLine(t *testing.T) {
	require.Equal(t, "a b c", Line(" a\r\n\tb\u00a0\x1b[1m c\n", 0))
	require.Equal(t, "abcd [...]", Line("abcd efgh ijkl", 10))
	// What was left out is marked, even if what remains is short.
	require.Equal(t, "a [...]", Line("a"+strings.Repeat("\x00", 200)+"b", 20))
	require.Equal(t, strings.Repeat("漢", 4)+" [...]", Line(strings.Repeat("漢", 1000), 20))
	require.Equal(t, strings.Repeat("x", 9000), Line(strings.Repeat("x", 9000), 0))
}

func TestTail(t *testing.T) {
	require.Equal(t, "a b", Tail(" a\n b", 0))
	require.Equal(t, "a/b", Tail("a/b", 3))
	require.Equal(t, "[...] /xyz.json", Tail("some/where/xyz.json", 15))
	require.Equal(t, "[...] b", Tail("a"+strings.Repeat("\x00", 200)+"b", 20))
	for n := 1; n < 40; n++ {
		got := Tail(strings.Repeat("漢字", 1000), n)
		require.LessOrEqual(t, len(got), n)
		require.True(t, utf8.ValidString(got))
	}
}

// Whatever comes in, what goes out can be seen, is valid, and fits.
func FuzzText(f *testing.F) {
	f.Add("a\x1b]0;x\x07b", 10)
	f.Add("/x/\u202e\xff\U000E0041/y.json", 7)
	f.Fuzz(func(t *testing.T, s string, max int) {
		max &= 1023
		for _, out := range []string{Clean(s), Line(s, max), Tail(s, max)} {
			if !utf8.ValidString(out) || strings.ContainsFunc(out, hidden) {
				t.Fatalf("%q gives %q", s, out)
			}
		}
		if max > 0 && (len(Line(s, max)) > max || len(Tail(s, max)) > max) {
			t.Fatalf("%q is not cut to %d", s, max)
		}
		if again := Clean(Clean(s)); again != Clean(s) {
			t.Fatalf("%q is not clean: %q", s, again)
		}
	})
}
