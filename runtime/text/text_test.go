package text

import (
	"strings"
	"testing"
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
		"ab\u202etxt\u2066\u2069\u200fcd": "abtxtcd",
		"x\U000E0041y\ufeffz\u2028":       "xyz",
		"\xff\xfe":                        "\ufffd\ufffd",
		"é 漢 👩\u200d💻":                    "é 漢 👩\u200d💻",
	} {
		require.Equal(t, want, Clean(in), "%q", in)
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
}
