package configprotection

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/host"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/settings"
	"github.com/flow-agents/flow-agents/runtime/tables"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

func decide(dir string, s *settings.Settings, paths ...string) event.Decision {
	e := &event.Event{Kind: event.PreToolUse, Call: event.Call{Tool: "Edit", Class: event.Edit, Writes: true}}
	for _, p := range paths {
		e.Call.Targets = append(e.Call.Targets, event.Target{Path: p})
	}
	return Decide(e, workspace.View{Cwd: dir, Root: dir}, s)
}

// Every listed name, on every host and surface, by every tool that takes a
// path or a patch.
func TestPathsOnEveryHost(t *testing.T) {
	f, err := os.Open("testdata/paths.jsonl")
	require.NoError(t, err)
	defer f.Close()
	dir := t.TempDir()
	rows := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		rows++
		var row struct {
			Path   string `json:"file_path"`
			Expect string `json:"expect"`
		}
		require.NoError(t, json.Unmarshal(s.Bytes(), &row))
		for _, id := range tables.IDs {
			h := tables.Lookup(id)
			for i := range h.Surfaces {
				for j := range h.Surfaces[i].Events {
					ev := &h.Surfaces[i].Events[j]
					if ev.Kind == event.PreToolUse {
						everyTool(t, host.Hook{Host: h, Surface: &h.Surfaces[i], Event: ev}, dir, row.Path, row.Expect)
					}
				}
			}
		}
	}
	require.Equal(t, 36, rows)
}

func everyTool(t *testing.T, h host.Hook, dir, path, expect string) {
	for _, tool := range h.Host.Tools {
		if tool.Class != event.Write && tool.Class != event.Edit || strings.HasSuffix(tool.Name, "*") {
			continue
		}
		var inputs []any
		for _, p := range tool.Path {
			inputs = append(inputs, at(p, path))
		}
		for _, p := range tool.Patch {
			for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Update File: src/x.ts\n*** Move to: "} {
				inputs = append(inputs, at(p, "*** Begin Patch\n"+head+path+"\n+x\n*** End Patch"))
			}
		}
		for _, in := range inputs {
			raw, err := json.Marshal(map[string]any{"cwd": dir, "tool_name": tool.Name, "tool_input": in})
			require.NoError(t, err)
			e := h.Decode(jsontext.Value(raw), false)
			d := Decide(e, workspace.View{Cwd: dir, Root: dir}, &settings.Settings{})
			got := "allow"
			if d.Verdict != event.Allow {
				got = d.Verdict.String()
			}
			require.Equal(t, expect, got, "%s %s: %s", h.Host.ID, tool.Name, raw)
			if got == "deny" {
				require.Contains(t, d.Text, "BLOCKED")
				require.Contains(t, d.Text, filepath.Base(path))
				require.True(t, h.Says(event.Deny), "%s can't be told a denial", h.Host.ID)
			}
		}
	}
}

// at builds the input that has value at the path.
func at(p tables.Path, value any) any {
	if len(p) == 0 {
		return value
	}
	v := at(p[1:], value)
	if p[0].Each {
		v = []any{v}
	}
	return map[string]any{p[0].Key: v}
}

func TestNames(t *testing.T) {
	for path, deny := range map[string]bool{
		".eslintrc.json": true, "a/b/.eslintrc.json/": true, "a/.eslintrc.json/.": true, "a/.eslintrc.json/x/..": true,
		`a\b\.eslintrc.json`: true, `C:\x\biome.json`: true, "C:biome.json": true, "biome.json.": true, "biome.json . .": true,
		"biome.json::$DATA": true, "biome.json:x": true, "biome.json\x00.txt": true, " biome.json\n": true, "BIOME.JSON": true,
		"b\u200ciome.json": true, "biome.j\u017fon": true, "/abs/../.prettierrc": true, "ruff.toml/../ruff.toml": true,
		"shellcheckrc": true, "./.markdownlint-cli2.yaml": true, "stylelint.config.mjs": true,
		"a/.eslintrc.json/..": false, "biome.json/x": false, "": false, ".": false, "..": false, "/": false, `\`: false,
		"xbiome.json": false, "biome.json5": false, "biome.jsonl": false, "eslint.config": false, "prettierrc": false, "ruff.toml.md": false,
		"src/.eslintrcs/../a.ts": false, "pyproject.toml": false, "package.json": false,
	} {
		d := decide("/nowhere", &settings.Settings{}, path)
		require.Equal(t, deny, d.Verdict == event.Deny, "%q", path)
		if deny {
			require.Equal(t, RuleName, d.Rule)
		}
	}
}

func TestReason(t *testing.T) {
	d := decide("/nowhere", &settings.Settings{}, "pkg/{tool}\x1b[31m\n/biome.json")
	require.Contains(t, d.Text, "BLOCKED: pkg/{tool} /biome.json configures Biome")
	require.Equal(t, "config-protection", d.Policy)
	require.Less(t, len(decide("/nowhere", &settings.Settings{}, strings.Repeat("x/", 5000)+"biome.json").Text), 1000)
}

func TestWhatIsNotJudged(t *testing.T) {
	v := workspace.View{Cwd: "/nowhere", Root: "/nowhere"}
	target := []event.Target{{Path: ".eslintrc"}}
	for name, e := range map[string]event.Event{
		"read":       {Kind: event.PreToolUse, Call: event.Call{Tool: "Read", Class: event.Read, Targets: target}},
		"after":      {Kind: event.PostToolUse, Call: event.Call{Tool: "Edit", Writes: true, Targets: target}},
		"prompt":     {Kind: event.UserPromptSubmit, Truncated: true},
		"after, cut": {Kind: event.PostToolUse, Truncated: true, Call: event.Call{Tool: "Edit", Writes: true, Targets: target}},
	} {
		require.Zero(t, Decide(&e, v, &settings.Settings{}), name)
	}
}

func TestClosed(t *testing.T) {
	v := workspace.View{Cwd: "/nowhere", Root: "/nowhere"}
	cut := Decide(&event.Event{Kind: event.PreToolUse, Truncated: true}, v, &settings.Settings{})
	require.Equal(t, event.Deny, cut.Verdict)
	require.Equal(t, RuleTruncated, cut.Rule)
	require.Equal(t, tables.ReasonTruncated, cut.Text)

	unread := event.Event{Kind: event.PreToolUse, Call: event.Call{Writes: true, Unread: true, Targets: []event.Target{{Path: "ok"}}}}
	require.Equal(t, RuleUnread, Decide(&unread, v, &settings.Settings{}).Rule)
	// A name that is known to be protected says more.
	unread.Call.Targets = append(unread.Call.Targets, event.Target{Path: ".eslintrc"})
	require.Equal(t, RuleName, Decide(&unread, v, &settings.Settings{}).Rule)
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "real", "sub")
	require.NoError(t, os.MkdirAll(sub, 0o755))
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".eslintrc.json"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ok.json"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "real", "x.json"), nil, 0o644))
	link(".eslintrc.json", "one.json")
	link("one.json", "two.json")
	link("real/../two.json", "three.json")
	link(filepath.Join(dir, ".eslintrc.json"), "absolute.json")
	link("gone/biome.json", "dangling.json")
	link("ok.json", "fine.json")
	link("fine.json", ".prettierrc")
	link("loop-b", "loop-a")
	link("loop-a", "loop-b")
	link("real/sub", "into")
	// From real/sub the way up leads to real, not to dir.
	require.NoError(t, os.Symlink("../../.eslintrc.json", filepath.Join(sub, "up.json")))
	link("into/../../one.json", "around.json")

	for path, rule := range map[string]string{
		"one.json": RuleLink, "two.json": RuleLink, "three.json": RuleLink, "absolute.json": RuleLink, "dangling.json": RuleLink,
		filepath.Join(dir, "one.json"): RuleLink, "one.json/": RuleLink, "./real/../one.json": RuleLink,
		"one.json/.": RuleLink, "into/../one.json": RuleLink, "nowhere/../one.json": RuleLink, "into/up.json": RuleLink, "around.json": RuleLink, ".prettierrc": RuleName,
		"fine.json": "", "ok.json": "", "loop-a": "", "into/../x.json": "", "missing.json": "",
	} {
		require.Equal(t, rule, decide(dir, &settings.Settings{}, path).Rule, path)
	}
	require.Contains(t, decide(dir, &settings.Settings{}, "two.json").Text, "two.json (which leads to .eslintrc.json)")
}

func TestRules(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "real", "deep"), 0o755))
	s := &settings.Settings{Rules: []settings.Rule{
		{Glob: ".prettierrc*", Mode: settings.Allow, User: true},
		{Glob: "Jest.Config.*", Mode: settings.Ask, Reason: "tests are shared", User: true},
		{Glob: "infra/**/*.tf", Reason: "BLOCKED: ask ops"},
		{Glob: "/real/", Mode: settings.Deny},
		{Glob: "tsconfig?.json", Mode: settings.Ask},
		{Glob: ".eslintrc*", Mode: settings.Ask},
	}}
	for path, want := range map[string]event.Verdict{
		".prettierrc.json": event.Allow, ".eslintrc": event.Deny, "x/jest.config.ts": event.Ask,
		"infra/main.tf": event.Deny, "INFRA/a/b/Main.tf": event.Deny, "infra/main.tfvars": event.Allow, "other/infra/main.tf": event.Allow,
		filepath.Join(dir, "infra", "x.tf"): event.Deny, "x/../infra/x.tf": event.Deny, "../infra/x.tf": event.Allow,
		"real/deep/x": event.Deny, "really": event.Allow, "tsconfigé.json": event.Ask, "tsconfig.json": event.Allow,
		`infra\win.tf`: event.Deny,
	} {
		require.Equal(t, want.String(), decide(dir, s, path).Verdict.String(), path)
	}
	require.Equal(t, "BLOCKED: x/jest.config.ts: tests are shared", decide(dir, s, "x/jest.config.ts").Text)
	require.Equal(t, "BLOCKED: infra/a.tf: ask ops", decide(dir, s, "infra/a.tf").Text)
	// The strongest of several targets counts.
	require.Equal(t, event.Deny, decide(dir, s, "ok", "jest.config.js", ".eslintrc").Verdict)

	if os.Symlink("real", filepath.Join(dir, "alias")) == nil {
		require.Equal(t, event.Deny, decide(dir, s, "alias/x").Verdict)
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"a*c", "abc", true}, {"a*c", "ac", true}, {"a*c", "acb", false}, {"*", "", true}, {"", "", true}, {"", "a", false},
		{"*a*b*", "xxaxxbxx", true}, {"*ab", "aab", true}, {"a?c", "aéc", true}, {"?", "", false}, {"a**", "a", true},
	} {
		require.Equal(t, c.want, Match(c.glob, c.name), "%+v", c)
	}
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"a/*", "a/b", true}, {"a/*", "a/b/c", false}, {"a/**", "a/b/c", true}, {"**/c", "c", true}, {"**/c", "a/b/c", true},
		{"a/**/c", "a/c", true}, {"a/**/b/**/c", "a/x/b/y/z/c", true}, {"./a/b", "a/b", true}, {"a/", "a/x", true}, {"a/", "ab", false},
	} {
		require.Equal(t, c.want, MatchPath(c.glob, c.path), "%+v", c)
	}
}

// However a protected name is dressed up in folders, it stays protected, and
// matching ends quickly on any glob.
func FuzzBase(f *testing.F) {
	f.Add("a/b", "*a*b*")
	f.Add(`..\x/`, "?*")
	f.Fuzz(func(t *testing.T, dir, glob string) {
		if strings.ContainsRune(dir, 0) || len(dir) > 1000 || len(glob) > 100 {
			return
		}
		for _, tail := range []string{"/.eslintrc.json", `\.EslintRC.json`, "/.eslintrc.json. .", "/.eslintrc.json/"} {
			if got := Base(dir + tail); !Match(".eslintrc*", got) {
				t.Fatalf("%q gives %q", dir+tail, got)
			}
		}
		Match(glob, dir)
		MatchPath(glob, dir)
	})
}
