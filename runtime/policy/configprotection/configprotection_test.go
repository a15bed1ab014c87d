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
	"github.com/flow-agents/flow-agents/runtime/host/hosttest"
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
			inputs = append(inputs, hosttest.At(p, path))
		}
		for _, p := range tool.Patch {
			for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Update File: src/x.ts\n*** Move to: "} {
				inputs = append(inputs, hosttest.At(p, "*** Begin Patch\n"+head+path+"\n+x\n*** End Patch"))
			}
		}
		for _, in := range inputs {
			raw := hosttest.Call(h.Surface, dir, tool.Name, in)
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

func TestNames(t *testing.T) {
	for path, deny := range map[string]bool{
		".eslintrc.json": true, "a/b/.eslintrc.json/": true, "a/.eslintrc.json/.": true, "a/.eslintrc.json/x/..": true,
		`a\b\.eslintrc.json`: true, `C:\x\biome.json`: true, "C:biome.json": true, "biome.json.": true, "biome.json . .": true,
		"biome.json::$DATA": true, "biome.json:x": true, "biome.json\x00.txt": true, " biome.json\n": true, "BIOME.JSON": true,
		"b\u200ciome.json": true, "biome.j\u017fon": true, "/abs/../.prettierrc": true, "ruff.toml/../ruff.toml": true,
		"shellcheckrc": true, "./.markdownlint-cli2.yaml": true, "stylelint.config.mjs": true,
		"biome.json/...": true, "biome.json/ . ./": true,
		// As APFS folds them.
		"ru\ufb00.toml": true, "eslint.con\ufb01g.js": true, "pre\u1e9ftier": false, "E\u017fLINT.CONFIG.js": true, "\u212a": false,
		// Text about the configuration, and tests of it.
		"docs/.eslintrc-guide.md": false, "docs/eslint.config.md": false, "docs/.Prettierrc.MDX": false, ".eslintrc.txt": false,
		"test/fixtures/.prettierrc.test.ts": false, "eslint.config.spec.mjs": false, "a/__snapshots__/eslint.config.js.snap": false,
		".markdownlint.md": false, ".eslintrc.md.": false, ".eslintrc.test.json": true, ".eslintrc.spec.yml": true, ".prettierrc.toml": true, ".eslintrc": true,
		".markdownlintignore": true, ".eslintrc.md/x/..": false, ".eslintrc.md:x": false, ".eslintrc.test.tsx": false, ".md.eslintrc": false, "eslint.config.tsx": true,
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

	// However long the way is, the base name is there.
	long := strings.Repeat("folder/", 5000)
	for path, want := range map[string]string{
		long + "biome.json": "folder/biome.json configures Biome",
		long + "biome.json" + strings.Repeat("/x/..", 500): "folder/biome.json configures Biome",
		long + "biome.json/" + strings.Repeat("./", 500):   "folder/biome.json configures Biome",
		".eslintrc." + strings.Repeat("\xff", 200):         ".eslintrc." + strings.Repeat("\ufffd", 200) + " configures ESLint",
		".eslintrc." + strings.Repeat("y", 500):            ".eslintrc." + strings.Repeat("y", 500) + " configures ESLint",
		long + ".eslintrc." + strings.Repeat("y", 500):     "[...] .eslintrc." + strings.Repeat("y", 500) + " configures ESLint",
	} {
		text := decide("/nowhere", &settings.Settings{}, path).Text
		require.Contains(t, text, want)
		require.Less(t, len(text), 1500)
	}
	require.Less(t, len(decide("/nowhere", &settings.Settings{}, ".eslintrc"+strings.Repeat("y", 1<<20)).Text), 3000)
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

	// Too many files are not judged one and all, but a protected one is named.
	many := event.Event{Kind: event.PreToolUse, Call: event.Call{Writes: true, Unread: true, Targets: make([]event.Target, event.MaxTargets+1)}}
	require.Equal(t, tables.ReasonMany, Decide(&many, v, &settings.Settings{}).Text)
	many.Call.Targets[event.MaxTargets].Path = ".eslintrc"
	require.Equal(t, RuleName, Decide(&many, v, &settings.Settings{}).Rule)

	late := Unanswered()
	require.Equal(t, event.Deny, late.Verdict)
	require.Contains(t, late.Text, "BLOCKED")
}

// What one event may ask the file system is bounded; more is not judged.
func TestLookupsAreBounded(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
	long := strings.Repeat("a/../", 2000) + "x"
	paths := make([]string, 100)
	for i := range paths {
		paths[i] = long
	}
	d := decide(dir, &settings.Settings{}, paths...)
	require.Equal(t, event.Deny, d.Verdict)
	require.Equal(t, tables.ReasonMany, d.Text)
	require.Equal(t, event.Allow, decide(dir, &settings.Settings{}, paths[:10]...).Verdict)
	// The first protected name ends it.
	require.Equal(t, RuleName, decide(dir, &settings.Settings{}, append([]string{"biome.json"}, paths...)...).Rule)
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
	// real/one.json leads nowhere that matters, dir's own does.
	link("into/../plain.json", "not-around.json")
	require.NoError(t, os.Symlink("../.eslintrc.json", filepath.Join(dir, "real", "l1")))
	require.NoError(t, os.Symlink("../../biome.json", filepath.Join(sub, "l2")))

	for path, rule := range map[string]string{
		"one.json": RuleLink, "two.json": RuleLink, "three.json": RuleLink, "absolute.json": RuleLink, "dangling.json": RuleLink,
		filepath.Join(dir, "one.json"): RuleLink, "one.json/": RuleLink, "./real/../one.json": RuleLink,
		"one.json/.": RuleLink, "into/../one.json": RuleLink, "nowhere/../one.json": RuleLink, "into/up.json": RuleLink, "around.json": RuleLink, ".prettierrc": RuleName,
		"into/../l1": RuleLink, "into/../l1/": RuleLink, filepath.Join(dir, "into") + "/../l1": RuleLink, "into/l2": RuleLink, "into/../sub/l2": RuleLink,
		"real/sub/../../into/../l1": RuleLink, "nowhere/into/../../into/../l1": RuleLink, "missing/../into/./../l1/.": RuleLink,
		"fine.json": "", "ok.json": "", "loop-a": "", "into/../x.json": "", "missing.json": "", "not-around.json": "", "into/nothing/here": "", "ok.json/l1": "",
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

// A rule about a place holds however the place is reached and spelled.
func TestRulesAboutPlaces(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	dir := filepath.Join(base, "project")
	for _, d := range []string{"infra/deep", "open", "configs", "elsewhere/sub"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	link("infra", "alias")
	link("../infra/main.tf", "open/tf")
	link("main.tf", "infra/inner")
	link("../open/free", "infra/out")
	link("../infra/deep", "open/deep")
	link("..", "configs/up")
	link("configs", "shortcut")
	require.NoError(t, os.Symlink(dir, filepath.Join(base, "other-way")))
	s := &settings.Settings{Rules: []settings.Rule{
		{Glob: "configs/**", Mode: settings.Allow, User: true},
		{Glob: "infra/**/*.tf"},
		{Glob: "infra/deep/"},
		{Glob: "infra/out"},
		{Glob: "secret.TXT"},
		{Glob: "Ré*.cfg"},
	}}
	for path, want := range map[string]event.Verdict{
		"infra/main.tf": event.Deny, "alias/main.tf": event.Deny, "alias/new/x/main.tf": event.Deny, "alias/new/../main.tf": event.Deny, "open/tf": event.Deny,
		"alias/inner": event.Deny, "infra/inner": event.Deny, "infra/out": event.Deny, "alias/out": event.Deny, "open/deep/x": event.Deny, "open/deep/new/x": event.Deny,
		"open/deep/../main.tf": event.Deny, "nowhere/../alias/main.tf": event.Deny,
		filepath.Join(base, "other-way", "infra", "main.tf"): event.Deny, filepath.Join(base, "other-way", "alias", "a.tf"): event.Deny,
		// As Windows and macOS read names.
		"infra/main.tf.": event.Deny, "infra/main.tf::$DATA": event.Deny, "INFRA./Main.TF . ": event.Deny, `infra\deep\x`: event.Deny,
		strings.ToUpper(dir) + "/infra/main.tf": event.Deny, "secret.txt.": event.Deny, "SECRET.TXT:s": event.Deny,
		"r\u00e9.cfg": event.Deny, "RE\u0301.cfg": event.Deny, "re.cfg": event.Allow,
		"open/main.tf": event.Allow, "open/free": event.Allow, "infra/x.md": event.Allow, "infrared/main.tf": event.Allow, "../infra/main.tf": event.Allow,
		"alias/x.md": event.Allow,
		// What the user allows is allowed where it really is.
		"configs/.eslintrc": event.Allow, filepath.Join(base, "other-way", "configs", ".eslintrc"): event.Allow, "shortcut/.eslintrc": event.Allow,
		"configs/up/.eslintrc": event.Deny, "elsewhere/.eslintrc": event.Deny, "configs/../.eslintrc": event.Deny,
	} {
		require.Equal(t, want.String(), decide(dir, s, path).Verdict.String(), path)
	}
	require.Contains(t, decide(dir, s, "open/tf").Text, "open/tf (which leads to ../infra/main.tf)")
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"ABC": "abc", "\u017f\u212a": "sk", "Straße": "strasse", "\u1e9e": "ss", "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06": "fffiflffifflstst",
		"a\u200db\ufeff": "ab", "e\u0301": "é", "E\u0301": "é", "É": "é", "Z\u030c": "ž", "o\u030b": "ő", "\u0301": "\u0301", "x\u0301": "x\u0301",
		"e\u200d\u0301": "é", "漢\u0301": "漢\u0301", "\xff": "\ufffd",
	} {
		require.Equal(t, want, fold(in), "%q", in)
	}
	require.Equal(t, "", Base("..."))
	require.Equal(t, "w/a/bb", tree(`/w/./x\..//A./Bb::$DATA/`))
	require.Equal(t, "w", tree("C:/w/..."))
	require.Equal(t, "", tree("/../.."))
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
		for _, tail := range []string{"/.eslintrc.json", `\.EslintRC.json`, "/.eslintrc.json. .", "/.eslintrc.json/", "/.eslintrc.json:x/..."} {
			if got := Base(dir + tail); !Match(".eslintrc*", got) {
				t.Fatalf("%q gives %q", dir+tail, got)
			}
			if got := tree(dir + tail); got != ".eslintrc.json" && !strings.HasSuffix(got, "/.eslintrc.json") {
				t.Fatalf("%q gives %q", dir+tail, got)
			}
			if got := shown(dir + tail); !strings.Contains(strings.ToLower(got), ".eslintrc.json") {
				t.Fatalf("%q is shown as %q", dir+tail, got)
			}
		}
		if again := fold(fold(dir)); again != fold(dir) {
			t.Fatalf("%q folds to %q and then %q", dir, fold(dir), again)
		}
		Match(glob, dir)
		MatchPath(glob, dir)
	})
}

// A path that can be opened ends in the place where the system says it is.
func FuzzWalk(f *testing.F) {
	base, err := filepath.EvalSymlinks(f.TempDir())
	require.NoError(f, err)
	require.NoError(f, os.MkdirAll(filepath.Join(base, "a", "b"), 0o755))
	require.NoError(f, os.WriteFile(filepath.Join(base, "a", "x"), nil, 0o644))
	for name, to := range map[string]string{"l": "a/b", "m": "l/..", "a/up": "..", "a/b/abs": base + "/m/", "n": "a/./up//n2", "n2": "m/x", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(base, name)); err != nil {
			f.Skip("no symbolic links here: ", err)
		}
	}
	names := []string{"", ".", "..", "a", "b", "x", "l", "m", "up", "abs", "n", "n2", "loop", "gone"}
	f.Add([]byte{6, 2, 5})
	f.Add([]byte{7, 8, 7, 5, 1})
	f.Add([]byte{3, 4, 9, 8, 10})
	f.Fuzz(func(t *testing.T, pick []byte) {
		path := base
		for _, p := range pick[:min(len(pick), 30)] {
			path += "/" + names[int(p)%len(names)]
		}
		places, end := (&follower{lookups: maxLookups}).walk(nil, path)
		want, err := filepath.EvalSymlinks(path)
		if _, stat := os.Stat(path); err != nil || stat != nil {
			return
		}
		if end != want {
			t.Fatalf("%s: %s, want %s", path, end, want)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && places[len(places)-1].path != want {
			t.Fatalf("%s: %v, want %s", path, places, want)
		}
	})
}
