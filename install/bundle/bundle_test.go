package bundle

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestLoadAll(t *testing.T) {
	all, err := LoadAll(os.DirFS("../testdata/bundles"))
	require.NoError(t, err)
	require.Equal(t, "claude-code", all[0].Target.ID)
	_, err = LoadAll(fstest.MapFS{})
	require.ErrorContains(t, err, "no bundles found")
}

func TestLoadRefuses(t *testing.T) {
	good := `{"schema_version": 1, "target": {"id": "h"}, "home": {"dir": ".h"}, "owned": {"program": "p", "first_arg": "h"}, "files": [
		{"id": "f", "merge": "merge-json", "shape": "nested", "install": true, "scopes": {"project": {"source": "s.json", "dest": ".h/s.json"}}}]}`
	tests := []struct{ old, new, want string }{
		{`"schema_version": 1`, `"schema_version": 2`, "schema_version is 2; this program reads 1"},
		{`"id": "h"`, `"id": ""`, "target.id, owned.program and owned.first_arg are needed"},
		{`".h/s.json"`, `"../s.json"`, `path "../s.json" leaves its folder`},
		{`".h/s.json"`, `"/etc/passwd"`, `path "/etc/passwd" leaves its folder`},
		{`"s.json"`, `"../s.json"`, `source "../s.json" leaves the bundle`},
		{`"dir": ".h"`, `"dir": ".."`, `path ".." leaves its folder`},
		{`merge-json`, `merge-toml`, `merge "merge-toml" is not known`},
		{`nested`, `free`, `shape "free" can't be merged by entry`},
		{`"project"`, `"system"`, `scope "system" is not project, local or user`},
		{`"schema_version": 1,`, ``, "schema_version is 0"},
		{`{"schema_version"`, `"schema_version"`, "invalid character"},
	}
	load := func(text string) error {
		_, err := LoadAll(fstest.MapFS{"h/bundle.json": {Data: []byte(text)}})
		return err
	}
	require.NoError(t, load(good))
	for _, tt := range tests {
		require.ErrorContains(t, load(strings.Replace(good, tt.old, tt.new, 1)), tt.want)
	}
}

func TestSource(t *testing.T) {
	files := fstest.MapFS{"h/bundle.json": {Data: []byte(`{"schema_version": 1, "target": {"id": "h"}, "home": {"dir": ".h"}, "owned": {"program": "p", "first_arg": "h"}, "files": [
		{"id": "f", "merge": "own", "shape": "flat", "placeholder": {"raw": "__H__", "shell": "__H_SH__"}, "scopes": {"user": {"source": "s.json", "dest": "s.json"}}}]}`)},
		"h/s.json": {Data: []byte(`{"exec": {"command": "__H__", "args": ["h"]}, "shell": "__H_SH__ h Stop"}`)}}
	all, err := LoadAll(files)
	require.NoError(t, err)
	f := all[0].Files[0]
	tests := []struct{ hook, shell string }{
		{"/home/u/hook", "/home/u/hook h Stop"},
		{`C:\Users\O'Neil Dev\hook.exe`, `'C:\Users\O'\''Neil Dev\hook.exe' h Stop`},
		{`\\server\share\a"b\hook.exe`, `'\\server\share\a"b\hook.exe' h Stop`},
		{"/new\nline/hook", "'/new\nline/hook' h Stop"},
		{"/dollar$HOME/`id`/hook", "'/dollar$HOME/`id`/hook' h Stop"},
		{"/umläut-日本/hook", "'/umläut-日本/hook' h Stop"},
	}
	for _, tt := range tests {
		src, err := all[0].Source(f, User, tt.hook)
		require.NoError(t, err)
		var got struct {
			Exec  struct{ Command string }
			Shell string
		}
		require.NoError(t, json.Unmarshal(src, &got))
		require.Equal(t, tt.hook, got.Exec.Command)
		require.Equal(t, tt.shell, got.Shell)
	}
	for hook, want := range map[string]string{
		"/a\xff/hook":    "is not UTF-8",
		"/a\x00/hook":    "holds a NUL byte",
		"/a${HOME}/hook": "holds ${, which hosts replace by a variable",
	} {
		_, err := all[0].Source(f, User, hook)
		require.ErrorContains(t, err, want)
	}
	_, err = all[0].Source(f, Project, "/hook")
	require.ErrorContains(t, err, "has no project scope")
}

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"/a/b-c_d.e+f@g%h:i,j": "/a/b-c_d.e+f@g%h:i,j", "": "''", "a b": "'a b'", "it's": `'it'\''s'`,
		"~": "'~'", "a=b": "'a=b'", "*": "'*'", "'": `''\'''`,
	} {
		require.Equal(t, want, Quote(word))
	}
}
