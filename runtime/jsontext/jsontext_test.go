package jsontext

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

var samples = []string{
	``, ` `, `{}`, `[]`, `null`, `true`, `false`, `nul`, `truex`, `0`, `-0`, `01`, `-`, `1.`, `1.5e+3`, `1e`, `1E-2 `, `.5`,
	`"a"`, `"a`, `"\u00e9\ud83d\ude00\ud800\ud800\u0041\udc00"`, `"\x"`, `"\u12g4"`, "\"\xff\xc3\x28\"", "\"a\nb\"",
	`{"a":1,"a":2}`, `{"a":{"b":[1,{"c":"d"}]},"e":"\""}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[1 2]`, `[1}`, `{]`, `{} {}`, `{}x`,
	`{"edits":[{"path":"a"},{"path":"b"}]}`, "\xef\xbb\xbf{}", `{"\u0061":3}`, `{"é":1,"\u00e9":2}`, "{\"\xff\":1}", `{"a\\":"\\\""}`,
	`[[[[[[[[[[]]]]]]]]]]`, `[tru]`, `[true,false,null]`, "{\"a\"\t:\r\n1 }",
}

// agree compares everything we can say about b with encoding/json.
func agree(t *testing.T, b []byte) {
	t.Helper()
	want := json.Valid(b)
	require.Equal(t, want, Valid(b), "valid: %q", b)

	// In pieces, the scanner must come to the same end.
	var s Scanner
	var st Status
	rest := b
	for len(rest) > 0 && st == More {
		n := min(1+len(rest)/3, len(rest))
		var used int
		used, st = s.Scan(rest[:n])
		rest = rest[used:]
		if st == More && used != n {
			t.Fatalf("%q: took %d of %d", b, used, n)
		}
	}
	if want && st == More {
		st = s.Finish()
	}
	if want {
		require.Equal(t, Done, st, "%q", b)
	}
	if !want {
		// Whatever was read as a prefix must be safe to look into.
		walk(Trim(b), 0)
		return
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	same(t, v, Trim(b))
}

func walk(v Value, depth int) {
	if depth > 50 {
		return
	}
	v.Text()
	v.Int()
	for _, f := range v.Object(nil) {
		f.Is("a")
		walk(f.Value, depth+1)
	}
	v.Each(func(e Value) bool { walk(e, depth+1); return true })
}

func same(t *testing.T, want any, v Value) {
	t.Helper()
	switch want := want.(type) {
	case nil:
		require.True(t, v.Absent())
	case bool:
		got, ok := v.Bool()
		require.True(t, ok)
		require.Equal(t, want, got)
	case json.Number:
		require.Equal(t, byte('0'), v.Kind())
		require.Equal(t, want.String(), string(v))
		n, err := want.Int64()
		got, ok := v.Int()
		require.Equal(t, err == nil, ok)
		if ok {
			require.Equal(t, n, got)
		}
	case string:
		got, ok := v.Text()
		require.True(t, ok)
		require.Equal(t, want, got)
		out := AppendString(nil, got)
		var back string
		require.NoError(t, json.Unmarshal(out, &back))
		require.Equal(t, want, back)
	case []any:
		i := 0
		v.Each(func(e Value) bool {
			require.Less(t, i, len(want))
			same(t, want[i], e)
			i++
			return true
		})
		require.Len(t, want, i)
	case map[string]any:
		for _, f := range v.Object(nil) {
			key := f.Name()
			require.Contains(t, want, key)
			require.True(t, f.Is(key))
		}
		for k, e := range want {
			same(t, e, v.Get(k))
		}
	}
}

func TestAgreesWithEncodingJSON(t *testing.T) {
	for _, s := range samples {
		agree(t, []byte(s))
	}
	for _, n := range []int{maxDepth, maxDepth + 1} {
		for _, p := range [][2]string{{"[", "]"}, {`{"a":`, "}"}} {
			deep := strings.Repeat(p[0], n) + "1" + strings.Repeat(p[1], n)
			require.Equal(t, json.Valid([]byte(deep)), Valid([]byte(deep)), "depth %d", n)
		}
	}
}

// What is nested too deeply is one value all the same: its end is found, and
// what stands before and behind the depth can be read.
func TestDeep(t *testing.T) {
	nest := func(n int, inside string) string {
		return `{"a":` + strings.Repeat("[", n) + inside + strings.Repeat("]", n) + `,"b":"x"}`
	}
	for _, c := range []struct {
		in   string
		want End
	}{
		{nest(maxDepth-1, "1"), Complete},
		{nest(maxDepth, "1"), TooDeep},
		{nest(maxDepth, `{"]":"\"]}"}`), TooDeep},
		{nest(50_000, ""), TooDeep},
		{nest(50_000, "not checked"), TooDeep},
		{nest(maxDepth, "1") + "garbage", TooDeep},
		{nest(maxDepth, "") + nest(maxDepth, ""), TooDeep},
		{strings.Repeat("[", 50_000), Broken},
		{nest(maxDepth, `"`), Broken},
		{nest(maxDepth, `"\`), Broken},
		{nest(maxDepth, "]"), Malformed},
		{strings.TrimSuffix(nest(maxDepth, ""), `"x"}`) + "x}", Malformed},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			got := FirstValue(r, 1<<20, nil)
			require.Equal(t, c.want, got.End, "%.20q, %d bytes", c.in, len(c.in))
			if c.want != TooDeep {
				continue
			}
			require.Equal(t, "x", Value(got.Text).Get("b").Str())
			require.False(t, Valid(got.Text))
		}
	}
	require.Equal(t, TooLong, FirstValue(strings.NewReader(nest(50_000, "")), 20_000, nil).End)
	require.Equal(t, TooDeep, FirstValue(&open{data: nest(maxDepth, "")}, 1<<20, nil).End)
}

func FuzzAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Fuzz(agree)
}

// Whatever valid value lies at the limit, the whole is found to its last byte.
func FuzzDeep(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	open, end := strings.Repeat("[", maxDepth), strings.Repeat("]", maxDepth)
	f.Fuzz(func(t *testing.T, inside []byte) {
		whole := open + string(inside) + end
		got := FirstValue(strings.NewReader(whole+"]"), 1<<20, nil)
		if !json.Valid(inside) {
			return
		}
		want := Complete
		if k := Trim(inside).Kind(); k == '{' || k == '[' {
			want = TooDeep
		}
		if got.End != want || string(got.Text) != whole {
			t.Fatalf("%q: %d, %d of %d bytes", inside, got.End, len(got.Text), len(whole))
		}
	})
}

func TestAppendInside(t *testing.T) {
	for in, want := range map[string]string{
		"":                     ``,
		"a\"b\\c":              `a\"b\\c`,
		"\n\r\t\x00\x1f":       `\n\r\t\u0000\u001f`,
		"\xff é \u2028\u2029😀": `\ufffd é \u2028\u2029😀`,
	} {
		require.Equal(t, want, string(AppendInside(nil, in)))
		require.Equal(t, want, string(AppendInside(nil, []byte(in))))
	}
}

func TestFirstValue(t *testing.T) {
	const big = 40_000
	long := `{"a":"` + strings.Repeat("x", big-8) + `"}`
	for _, c := range []struct {
		in    string
		limit int
		end   End
		text  string
	}{
		{"", 100, Empty, ""},
		{" \n", 100, Empty, ""},
		{"{}", 100, Complete, "{}"},
		{"{}\n", 100, Complete, "{}"},
		{" {\"a\":1} garbage {", 100, Complete, `{"a":1}`},
		{"{\"a\":1}\n{\"a\":2}", 100, Complete, `{"a":1}`},
		{"\xef\xbb\xbf{}", 100, Complete, "{}"},
		{"12", 100, Complete, "12"},
		{"12 ", 100, Complete, "12"},
		{"{\"a\":", 100, Broken, `{"a":`},
		{"\xef\xbb", 100, Malformed, "\xef\xbb"},
		{"\xff\xfe{\x00", 100, Malformed, "\xff\xfe{\x00"},
		{"nope", 100, Malformed, "nope"},
		{long, big, Complete, long},
		{long + "\n", big, Complete, long},
		{long, big - 1, TooLong, long},
		{long, 5, TooLong, long[:6]},
		{long, big - 2, TooLong, long[:big-1]},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
			got := FirstValue(r, c.limit, nil)
			require.Equal(t, c.end, got.End, "%.40q", c.in)
			if c.end != Malformed {
				require.Equal(t, c.text, string(got.Text), "%.40q", c.in)
			}
		}
	}
}

// open never ends: it blocks for good after its bytes.
type open struct {
	data string
	wait chan struct{}
}

func (o *open) Read(p []byte) (int, error) {
	if o.data == "" {
		<-o.wait
	}
	n := copy(p, o.data)
	o.data = o.data[n:]
	return n, nil
}

func TestFirstValueNeedsNoEOF(t *testing.T) {
	for _, in := range []string{"{}", `[1]`, `"x"`, "\xef\xbb\xbf{}", `{"a":1}` + "\n"} {
		got := FirstValue(&open{data: in}, 100, nil)
		require.Equal(t, Complete, got.End)
	}
}

// What is too long is read to its end, and no further.
func TestFirstValueReadsOn(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 300_000) + `"}`
	r := strings.NewReader(long)
	require.Equal(t, TooLong, FirstValue(r, 1000, nil).End)
	require.Zero(t, r.Len())
	require.Equal(t, TooLong, FirstValue(&open{data: long}, 1000, nil).End)
	endless := io.MultiReader(strings.NewReader(`"`), endless{})
	require.Equal(t, TooLong, FirstValue(endless, 1000, nil).End)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestGetAllocatesNothing(t *testing.T) {
	v := Value(`{"a":"` + strings.Repeat(`\n`, 1000) + `","b":{"c":[1,2,3]},"d":"x"}`)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if v.Get("d").Kind() != '"' || v.Get("b").Get("c").Kind() != '[' {
			t.Fail()
		}
	}))
}
