package jsonedit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"
)

func value(t testing.TB, text string) hujson.Value {
	t.Helper()
	v, err := hujson.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

func parse(t testing.TB, text string) *Doc {
	t.Helper()
	d, err := Parse("f.json", []byte(text), JSONC)
	require.NoError(t, err)
	return d
}

func TestPutAndDelete(t *testing.T) {
	tests := map[string]struct{ before, after string }{
		"empty":               {"{}", "{\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}"},
		"lines":               {"{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}\n"},
		"tabs CRLF":           {"{\r\n\t\"a\": 1\r\n}", "{\r\n\t\"a\": 1,\r\n\t\"k\": {\r\n\t\t\"x\": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}"},
		"one line":            {`{"a": 1}`, `{"a": 1, "k": {"x": [1]}}`},
		"one line, blanks":    {`{ "a": 1 }`, `{ "a": 1, "k": {"x": [1]} }`},
		"minified":            {`{"a":1}`, `{"a":1,"k":{"x":[1]}}`},
		"comment behind":      {"{\n  \"a\": 1 // one\n}", "{\n  \"a\": 1, // one\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}"},
		"trailing comma":      {"{\n  \"a\": 1, // one\n  // two\n}", "{\n  \"a\": 1, // one\n  // two\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  },\n}"},
		"trailing, one line":  {`{"a": 1,}`, `{"a": 1, "k": {"x": [1]},}`},
		"block comment":       {`{"a": 1 /* one */}`, `{"a": 1, /* one */ "k": {"x": [1]}}`},
		"only a comment":      {"{\n  // none\n}", "{\n  // none\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}"},
		"comment at the end":  {"{\n  \"a\": 1\n} // end", "{\n  \"a\": 1,\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n} // end"},
		"comma first":         {"{ \"a\": 1\n, \"b\": 2\n}", "{ \"a\": 1\n, \"b\": 2,\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}"},
		"CRLF comment behind": {"{\r\n  \"a\": 1 // one\r\n}", "{\r\n  \"a\": 1, // one\r\n  \"k\": {\r\n    \"x\": [\r\n      1\r\n    ]\r\n  }\r\n}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := parse(t, tt.before)
			require.NoError(t, d.Put(nil, "k", value(t, `{"x":[1]}`)))
			require.Equal(t, tt.after, string(d.Bytes()))
			require.Equal(t, []string{"x"}, d.Keys("k"))
			require.NoError(t, d.Delete(Path{"k"}))
			require.Equal(t, tt.before, string(d.Bytes()))
		})
	}
}

func TestPutInBlankText(t *testing.T) {
	for before, after := range map[string]string{
		"": "{\n  \"k\": 1\n}\n", "\n": "\n{\n  \"k\": 1\n}\n", "\r\n": "\r\n{\r\n  \"k\": 1\r\n}\r\n",
	} {
		d := parse(t, before)
		require.Equal(t, hujson.Kind('{'), d.Kind())
		require.NoError(t, d.Put(nil, "k", value(t, "1")))
		require.Equal(t, after, string(d.Bytes()))
	}
}

func TestDelete(t *testing.T) {
	tests := []struct {
		before string
		path   Path
		after  string
	}{
		{`[1, 2, 3]`, Path{0}, `[2, 3]`},
		{`[1, 2, 3]`, Path{1}, `[1, 3]`},
		{`[1, 2, 3]`, Path{2}, `[1, 2]`},
		{`[ 1, 2 ]`, Path{0}, `[ 2 ]`},
		{`[1,2]`, Path{0}, `[2]`},
		{`[1]`, Path{0}, `[]`},
		{`[ 1 ]`, Path{0}, `[]`},
		{"[\n  1\n]", Path{0}, "[]"},
		{"[\n  1,\n]", Path{0}, "[]"},
		{"[\n  1, // one\n  2 // two\n]", Path{1}, "[\n  1 // one\n // two\n]"},
		{"[\n  1, // one\n  2 // two\n]", Path{0}, "[ // one\n  2 // two\n]"},
		{"[ // none\n 1 ]", Path{0}, "[ // none\n ]"},
		{"[ // none\n 1, 2 ]", Path{0}, "[ // none\n 2 ]"},
		{`[1 /* one */, 2]`, Path{0}, `[ /* one */ 2]`},
		{`{"a": 1, "b": {"c": 2}}`, Path{"b", "c"}, `{"a": 1, "b": {}}`},
		{"{\n  // a\n  \"a\": 1,\n  // b\n  \"b\": 2\n}", Path{"b"}, "{\n  // a\n  \"a\": 1\n  // b\n}"},
	}
	for _, tt := range tests {
		d := parse(t, tt.before)
		require.NoError(t, d.Delete(tt.path), tt.before)
		require.Equal(t, tt.after, string(d.Bytes()), "%s of %s", tt.path, tt.before)
	}
	require.Error(t, parse(t, `{}`).Delete(Path{"a"}))
	require.Error(t, parse(t, `{}`).Delete(nil))
}

func TestReplace(t *testing.T) {
	d := parse(t, "{\n\t\"a\": [\n\t\t{\"b\": 1}, // one\n\t\t2\n\t]\n}")
	require.NoError(t, d.Replace(Path{"a", 0}, value(t, `{"c": "\u0041"}`)))
	require.Equal(t, "{\n\t\"a\": [\n\t\t{\n\t\t\t\"c\": \"\\u0041\"\n\t\t}, // one\n\t\t2\n\t]\n}", string(d.Bytes()))
	require.NoError(t, d.Replace(Path{"a", 1}, value(t, `3`)))
	require.Equal(t, "3", string(d.Raw("a", 1).Value.(hujson.Literal)))
	require.Error(t, d.Replace(Path{"z"}, value(t, `3`)))
}

func TestErrors(t *testing.T) {
	tests := map[string]struct {
		src     string
		dialect Dialect
		want    string
	}{
		"comment":         {"{\n  \"a\": 1, // x\n  \"b\": 2\n}", JSON, "f.json:2:11: a comment is not JSON, so the host already ignores this whole file; remove it"},
		"head comment":    {"// x\n{}", JSON, "f.json:1:1: a comment is not JSON, so the host already ignores this whole file; remove it"},
		"inner comment":   {"{\"a\": [ /* x */ ]}", JSON, "f.json:1:9: a comment is not JSON, so the host already ignores this whole file; remove it"},
		"end comment":     {"{}\n/* x */", JSON, "f.json:2:1: a comment is not JSON, so the host already ignores this whole file; remove it"},
		"trailing comma":  {"{\n  \"ü\": [1,],\n}", JSON, "f.json:2:10: a trailing comma is not JSON, so the host already ignores this whole file; remove it"},
		"BOM":             {"\xef\xbb\xbf{}", JSONC, "f.json:1:1: starts with a byte-order mark (EF BB BF), for which a host may drop the whole file without a word; save it as UTF-8 without BOM"},
		"UTF-16":          {"\xff\xfe{\x00}\x00", JSONC, "f.json:1:1: is UTF-16; save it as UTF-8 without BOM"},
		"Latin-1":         {"{\n  \"a\": \"\xfc\"\n}", JSONC, "f.json:2:9: byte 0xfc is not UTF-8; save the file as UTF-8"},
		"truncated":       {"{\n  \"a\": [1,", JSONC, "f.json:2:11: can't be parsed: the file ends in the middle of a value"},
		"truncated text":  {"{\"a\": \"b", JSON, "f.json:1:9: can't be parsed: the file ends in the middle of a value"},
		"missing comma":   {"{\n  \"a\": 1\n  \"b\": 2\n}", JSON, "f.json:3:3: can't be parsed: invalid character '\"' after object value (expecting ',' or '}')"},
		"bare word":       {"{\"a\": yes}", JSON, "f.json:1:7: can't be parsed: invalid literal: yes"},
		"single quotes":   {"{'a': 1}", JSON, "f.json:1:2: can't be parsed: invalid character '\\'' at start of value"},
		"two values":      {"{} {}", JSON, "f.json:1:4: can't be parsed: invalid character '{' after top-level value"},
		"only a comment":  {"// x\n", JSONC, "f.json:2:1: can't be parsed: the file ends in the middle of a value"},
		"merge conflict":  {"{\n<<<<<<< HEAD\n  \"a\": 1\n}", JSON, "f.json:2:1: can't be parsed: invalid character '<' at start of value"},
		"nested too deep": {strings.Repeat("[", 100_000), JSONC, "f.json:1:1001: is nested deeper than 1000 levels"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("f.json", []byte(tt.src), tt.dialect)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestLook(t *testing.T) {
	d := parse(t, "{\n  \"a\": {\"b\": [1, {\"c\": null}]}, \"a\": {\"b\": [true]}, // twice\n}")
	require.Equal(t, []string{"a"}, d.Keys())
	require.Equal(t, []any{true}, d.Decoded("a", "b"))
	require.EqualError(t, d.Unique(nil, "a"), "f.json:2:33: a: appears twice, first on line 2; keep one")
	require.NoError(t, d.Unique(Path{"a"}, "b"))
	require.False(t, d.Has("a", "x", 3))
	require.Zero(t, d.Kind("a", "b", 7))
	require.Nil(t, d.Decoded("x"))
	require.EqualError(t, d.Errorf(Path{"a", "b", 0}, "is %s", "odd"), "f.json:2:45: a.b[0]: is odd")
	require.True(t, Equal(value(t, `{"a":[1,"\u0041"]}`), value(t, "{ // x\n\"a\": [1, \"A\",]}")))
	require.False(t, Equal(value(t, `1`), value(t, `1.0`)))
}

func TestMapStrings(t *testing.T) {
	got, err := MapStrings("f.json", []byte("{ \"P\": [\"P x\", 1],\t\"q\": {\"r\": \"P\\n\"} }"), func(s string) string {
		return strings.ReplaceAll(s, "P", `C:\a "b"`)
	})
	require.NoError(t, err)
	require.Equal(t, "{ \"P\": [\"C:\\\\a \\\"b\\\" x\", 1],\t\"q\": {\"r\": \"C:\\\\a \\\"b\\\"\\n\"} }", string(got))
}

// FuzzEdit puts a member into any text and takes it out again.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{"", "{}", "{\n}", `{"a":1}`, "{\n  \"a\": 1, // x\n}", "{ /* x */ }", "{\r\n\t\"hooks\": [ ]\r\n}", "{\"a\":{} // x\n}", "// x\n{}", "{\"hooks\":{\"a\":[1,2,]}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		d, err := Parse("f.json", []byte(src), JSONC)
		if err != nil || d.Kind() != '{' || d.Has("new") {
			return
		}
		before := d.Decoded()
		require.NoError(t, d.Put(nil, "new", value(t, `{"x":[{"y":1}]}`)))
		i := 0
		for _, b := range d.Bytes() {
			if i < len(src) && src[i] == b {
				i++
			}
		}
		require.Equal(t, len(src), i, "not by insertion alone: %q", d.Bytes())
		require.NoError(t, d.Append(Path{"new", "x"}, value(t, `2`)))
		require.NoError(t, d.Replace(Path{"new", "x", 0}, value(t, `3`)))
		require.NoError(t, d.Delete(Path{"new", "x", 0}))
		require.NoError(t, d.Delete(Path{"new"}))
		if before == nil {
			before = map[string]any{}
		}
		require.Equal(t, before, d.Decoded())
	})
}
