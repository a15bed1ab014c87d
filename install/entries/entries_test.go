package entries

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/install/jsonedit"
)

var ours = Owner{Program: "flow-agents-hook", FirstArg: "host"}

func TestOwns(t *testing.T) {
	tests := []struct {
		hook string
		want []string
	}{
		{`{"command": "/a/flow-agents-hook", "args": ["host", "Stop"]}`, []string{"/a/flow-agents-hook"}},
		{`{"command": "C:\\Users\\O'Neil Dev\\flow-agents-hook.exe", "args": ["host"]}`, []string{`C:\Users\O'Neil Dev\flow-agents-hook.exe`}},
		{`{"command": "/a/flow-agents-hook", "args": ["other", "host"]}`, nil},
		{`{"command": "/a/flow-agents-hook", "args": []}`, nil},
		{`{"command": "/a/flow-agents-hook"}`, nil},
		{`{"command": "logger", "args": ["flow-agents-hook", "host"]}`, nil},
		{`{"command": ["/a/flow-agents-hook", "host"]}`, []string{"/a/flow-agents-hook"}},
		{`{"action": {"type": "command", "command": "/a/flow-agents-hook host Stop"}}`, []string{"/a/flow-agents-hook"}},
		{`{"command": "test -x \"$HOME/b/flow-agents-hook\" && exec \"$HOME/b/flow-agents-hook\" host Stop; exit 0"}`, []string{"$HOME/b/flow-agents-hook"}},
		{`{"command": "if [ -x ~/b/flow-agents-hook ]; then exec ~/b/flow-agents-hook host Stop; fi"}`, []string{"~/b/flow-agents-hook"}},
		{`{"command": "'/it'\\''s/a b/flow-agents-hook' host Stop"}`, []string{"/it's/a b/flow-agents-hook"}},
		{`{"command": "'/new\nline/flow-agents-hook' host Stop"}`, []string{"/new\nline/flow-agents-hook"}},
		{`{"command": "A=1 B='x y' flow-agents-hook host"}`, []string{"flow-agents-hook"}},
		{`{"command": "env A=1 timeout 5 /a/flow-agents-hook host Stop || true"}`, []string{"/a/flow-agents-hook"}},
		{`{"bash": "/a/flow-agents-hook host Stop", "powershell": "& 'C:\\a\\flow-agents-hook.exe' host Stop"}`, []string{"/a/flow-agents-hook", `C:\a\flow-agents-hook.exe`}},
		{`{"commandWindows": "if exist \"%USERPROFILE%\\flow-agents-hook.exe\" \"%USERPROFILE%\\flow-agents-hook.exe\" host Stop"}`, []string{`%USERPROFILE%\flow-agents-hook.exe`}},
		{`{"command": "/a/flow-agents-hook hostess Stop"}`, nil},
		{`{"command": "/a/my-flow-agents-hook host Stop"}`, nil},
		{`{"command": "/a/flow-agents-hook-old host Stop"}`, nil},
		{`{"command": "echo /a/flow-agents-hook host Stop"}`, nil},
		{`{"command": "grep 'flow-agents-hook host' log"}`, nil},
		{`{"command": "true # /a/flow-agents-hook host"}`, nil},
		{`{"command": "echo 'not closed /a/flow-agents-hook host"}`, nil},
		{`{"x-owner": "flow-agents", "command": "true"}`, nil},
		{`"/a/flow-agents-hook host"`, []string{"/a/flow-agents-hook"}},
		{`null`, nil}, {`3`, nil}, {`[]`, nil},
	}
	for _, tt := range tests {
		var hook any
		require.NoError(t, json.Unmarshal([]byte(tt.hook), &hook), tt.hook)
		require.Equal(t, tt.want, ours.Commands(hook), tt.hook)
		require.Equal(t, tt.want != nil, ours.Owns(hook), tt.hook)
	}
}

func doc(t testing.TB, text string) *jsonedit.Doc {
	t.Helper()
	d, err := jsonedit.Parse("f.json", []byte(text), jsonedit.JSONC)
	require.NoError(t, err)
	return d
}

func nested(t testing.TB) Merger {
	return Merger{Nested, ours, doc(t, `{"hooks": {
		"Pre": [{"matcher": "A", "hooks": [{"command": "/a/flow-agents-hook host Pre", "timeout": 30}]}],
		"Stop": [{"hooks": [{"command": "/a/flow-agents-hook host Stop"}]}]}}`)}
}

func TestMergeUpdatesInPlace(t *testing.T) {
	m := nested(t)
	d := doc(t, `{"hooks": {
  "Pre": [
    {"matcher": "mine", "hooks": [{"command": "x"}]},
    {"matcher": "old", "hooks": [{"command": "/old/flow-agents-hook host Pre"}]}, // ours
    {"matcher": "last", "hooks": [{"command": "y"}]}
  ],
  "Gone": [{"hooks": [{"command": "/old/flow-agents-hook host Gone"}]}],
  "Shared": [{"hooks": [{"command": "/old/flow-agents-hook host Shared"}, {"command": "z"}]}]
}}`)
	created, err := m.Merge(d)
	require.NoError(t, err)
	require.Equal(t, []string{"hooks.Stop"}, created)
	require.Equal(t, `{"hooks": {
  "Pre": [
    {"matcher": "mine", "hooks": [{"command": "x"}]},
    {
      "matcher": "A",
      "hooks": [
        {
          "command": "/a/flow-agents-hook host Pre",
          "timeout": 30
        }
      ]
    }, // ours
    {"matcher": "last", "hooks": [{"command": "y"}]}
  ],
  "Shared": [{"hooks": [{"command": "z"}]}],
  "Stop": [
    {
      "hooks": [
        {
          "command": "/a/flow-agents-hook host Stop"
        }
      ]
    }
  ]
}}`, string(d.Bytes()))
}

func TestMergePutsAMovedHookRight(t *testing.T) {
	m := nested(t)
	d := doc(t, `{"hooks": {"Pre": [{"matcher": "Bash", "hooks": [{"command": "/a/flow-agents-hook host Pre", "timeout": 30}, {"command": "x"}]}]}}`)
	places := m.Inspect(d)
	require.Equal(t, Modified, places[0].State)
	require.Equal(t, Missing, places[1].State)
	_, err := m.Merge(d)
	require.NoError(t, err)
	require.JSONEq(t, `{"hooks": {
		"Pre": [{"matcher": "Bash", "hooks": [{"command": "x"}]}, {"matcher": "A", "hooks": [{"command": "/a/flow-agents-hook host Pre", "timeout": 30}]}],
		"Stop": [{"hooks": [{"command": "/a/flow-agents-hook host Stop"}]}]}}`, string(d.Bytes()))
}

func TestMergeTwiceAndStrip(t *testing.T) {
	sources := map[string]struct{ source, foreign string }{
		Nested: {`{"hooks": {"Pre": [{"hooks": [{"command": "flow-agents-hook host Pre"}]}]}}`, `{"hooks": {"Pre": [{"hooks": [{"command": "x"}]}]}, "a": 1}`},
		Flat: {`{"version": 1, "hooks": {"pre": [{"command": "flow-agents-hook host pre"}, {"command": "flow-agents-hook host pre", "matcher": "m"}]}}`,
			`{"version": 1, "hooks": {"pre": [{"command": "x"}], "other": [{"command": "y"}]}}`},
		List: {`{"version": "v1", "hooks": [{"trigger": "Pre", "action": {"command": "flow-agents-hook host Pre"}}]}`,
			`{"version": "v1", "hooks": [{"trigger": "Pre", "action": {"command": "x"}}]}`},
	}
	for shape, s := range sources {
		for _, before := range []string{s.foreign, "{}", ""} {
			m := Merger{shape, ours, doc(t, s.source)}
			d := doc(t, before)
			created, err := m.Merge(d)
			require.NoError(t, err)
			require.Equal(t, len(m.Inspect(d)), countState(m.Inspect(d), Present))
			once := string(d.Bytes())
			again, err := m.Merge(d)
			require.NoError(t, err)
			require.Empty(t, again)
			require.Equal(t, once, string(d.Bytes()))

			n, err := m.Strip(d, func(place string) bool {
				for _, c := range created {
					if c == place {
						return true
					}
				}
				return false
			})
			require.NoError(t, err)
			require.Equal(t, m.Count(), n)
			if before == "" {
				before = "{}\n"
			}
			require.Equal(t, before, string(d.Bytes()))
		}
	}
}

func countState(places []Place, state string) int {
	n := 0
	for _, p := range places {
		if p.State == state {
			n++
		}
	}
	return n
}

func TestMergeRefuses(t *testing.T) {
	tests := map[string]struct{ before, want string }{
		"root":           {`[]`, "f.json:1:1: is an array, not an object; the host can't read settings from it"},
		"hooks null":     {`{"hooks": null}`, "f.json:1:2: hooks: is null, not an object; correct or remove it"},
		"hooks array":    {`{"hooks": []}`, "f.json:1:2: hooks: is an array, not an object; correct or remove it"},
		"hooks text":     {`{"hooks": "x"}`, "f.json:1:2: hooks: is a string, not an object; correct or remove it"},
		"hooks twice":    {"{\"hooks\": {},\n\"hooks\": {}}", "f.json:2:1: hooks: appears twice, first on line 1; keep one"},
		"event text":     {"{\"hooks\": {\n  \"Pre\": \"x\"}}", "f.json:2:3: hooks.Pre: is a string, not an array; correct or remove it"},
		"event object":   {`{"hooks": {"Stop": {}}}`, "f.json:1:12: hooks.Stop: is an object, not an array; correct or remove it"},
		"event twice":    {"{\"hooks\": {\n\"Pre\": [],\n\"P\\u0072e\": []}}", "f.json:3:1: hooks.Pre: appears twice, first on line 2; keep one"},
		"group a number": {`{"hooks": {"Pre": [{}, 3]}}`, "f.json:1:24: hooks.Pre[1]: is a number, not an object; correct or remove it"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := doc(t, tt.before)
			_, err := nested(t).Merge(d)
			require.EqualError(t, err, tt.want)
			require.Equal(t, tt.before, string(d.Bytes()))
		})
	}
	flat := Merger{Flat, ours, doc(t, `{"version": 1, "hooks": {"pre": [{"command": "flow-agents-hook host pre"}]}}`)}
	_, err := flat.Merge(doc(t, `{"version": 2}`))
	require.EqualError(t, err, "f.json:1:2: version: is 2, but our hooks are written for 1; change it or move the file away")
}

func TestMalformedForeignEntriesAreReported(t *testing.T) {
	got := nested(t).Malformed(doc(t, "{\"hooks\": {\n\"Notification\": \"oops\",\n\"X\": [1]}}"))
	require.Len(t, got, 2)
	require.Equal(t, "f.json:2:1: hooks.Notification: is a string, not an array; the host may ignore this entry or the whole file; it is left as it is", got[0].Error())
	require.Equal(t, "hooks.X[0]", got[1].Key)
}

func FuzzOwner(f *testing.F) {
	f.Add(`test -x "$HOME/x" && exec '/a b/flow-agents-hook' host Stop; exit 0`)
	f.Add("a\\")
	f.Add("'\"")
	f.Fuzz(func(_ *testing.T, line string) { ours.Commands(line) })
}

// FuzzMerge joins our entries with any file and takes them out again.
func FuzzMerge(f *testing.F) {
	for _, s := range []string{"", "{}", `{"hooks":{"Pre":[{"matcher":"A","hooks":[{"command":"x"}]}]}}`, `{"hooks":{"Pre":[{"hooks":[{"command":"/a/flow-agents-hook host Pre"},{}]}]}}`,
		"{\n  \"hooks\": { // x\n    \"Stop\": [ ],\n  },\n}", `{"hooks":{"Other":[{"hooks":[{"command":"/a/flow-agents-hook host"}]}]}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		d, err := jsonedit.Parse("f.json", []byte(src), jsonedit.JSONC)
		if err != nil {
			return
		}
		m := nested(t)
		_, had := m.Installed(d)
		if _, err := m.Merge(d); err != nil {
			return
		}
		require.Equal(t, countState(m.Inspect(d), Present), len(m.Inspect(d)))
		once := string(d.Bytes())
		_, err = m.Merge(d)
		require.NoError(t, err)
		require.Equal(t, once, string(d.Bytes()))
		if !had {
			i := 0
			for _, b := range []byte(once) {
				if i < len(src) && src[i] == b {
					i++
				}
			}
			require.Equal(t, len(src), i, "not by insertion alone: %q", once)
		}
		_, err = m.Strip(d, func(string) bool { return true })
		require.NoError(t, err)
		_, left := m.Installed(d)
		require.False(t, left)
	})
}
