package settings

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// load writes the two files, where given, and reads them.
func load(t *testing.T, user, project string, env ...string) Settings {
	t.Helper()
	for _, k := range []string{"SA_HOOK_PROFILE", "SA_DISABLED_HOOKS", "FLOW_AGENTS_MODE", "FLOW_AGENTS_ROOT", "TELEMETRY_DATA_DIR"} {
		t.Setenv(k, "")
	}
	for i := 0; i < len(env); i += 2 {
		t.Setenv(env[i], env[i+1])
	}
	dir := t.TempDir()
	v := workspace.View{Home: filepath.Join(dir, "home"), Root: filepath.Join(dir, "root"), Managed: true}
	for d, text := range map[string]string{v.Home: user, filepath.Join(v.Root, workspace.Dir): project} {
		require.NoError(t, os.MkdirAll(d, 0o755))
		if text != "" {
			text = strings.ReplaceAll(text, "ROOT", filepath.ToSlash(v.Root))
			require.NoError(t, os.WriteFile(filepath.Join(d, Name), []byte(text), 0o644))
		}
	}
	return Load(v)
}

func TestDefaults(t *testing.T) {
	require.Equal(t, Settings{Profile: Standard}, load(t, "", ""))
	require.Equal(t, Settings{Profile: Standard}, Load(workspace.View{}))
}

func TestProfile(t *testing.T) {
	for _, c := range []struct {
		user, project, env string
		want               uint8
	}{
		{"", "", "strict", Strict}, {"", "", " Minimal ", Minimal}, {"", "", "default", Standard}, {"", "", "", Standard},
		{"minimal", "", "", Minimal}, {"minimal", "strict", "", Strict}, {"strict", "minimal", "", Strict},
		{"minimal", "strict", "standard", Standard}, {"", "minimal", "", Standard}, {"odd", "", "", Standard},
	} {
		file := func(p string) string {
			if p == "" {
				return ""
			}
			return `{"profile":"` + p + `"}`
		}
		require.Equal(t, c.want, load(t, file(c.user), file(c.project), "SA_HOOK_PROFILE", c.env).Profile, "%+v", c)
	}
}

func TestRuns(t *testing.T) {
	const only = uint8(0)
	for _, c := range []struct {
		profile, lists uint8
		want           bool
	}{
		{Minimal, Minimal, true}, {Minimal, Standard | Strict, false}, {Minimal, only, false},
		{Standard, Standard, true}, {Standard, Strict, true}, {Standard, Minimal, false},
		{Strict, Minimal, true}, {Strict, Standard, true}, {Strict, Strict, true},
	} {
		s := Settings{Profile: c.profile}
		require.Equal(t, c.want, s.Runs("x", c.lists), "%+v", c)
	}
	s := load(t, `{"disabled_hooks":["quality-gate"]}`, "", "SA_DISABLED_HOOKS", " Pre:Config-Protection.js,, stop:stop-goal-fit ,workflow-steering,x")
	for _, id := range []string{"quality-gate", "config-protection", "stop-goal-fit", "workflow-steering"} {
		require.False(t, s.Runs(id, 7), id)
	}
	require.True(t, s.Runs("evidence-capture", 7))
	require.Equal(t, "SA_DISABLED_HOOKS", s.Off("config-protection", 7))
	require.Regexp(t, `home.*settings\.json$`, s.Off("quality-gate", 7))
	require.Len(t, s.Problems, 1)
	require.Contains(t, s.Problems[0], `SA_DISABLED_HOOKS has "x", which counts for nothing; it takes workflow-steering, quality-gate`)
	s = load(t, "", "", "SA_HOOK_PROFILE", "minimal")
	require.Equal(t, "the profile of SA_HOOK_PROFILE", s.Off("quality-gate", Standard))
}

// A word that nobody knows changes nothing, and is named.
func TestMisspeltEnvironment(t *testing.T) {
	for _, c := range []struct {
		name, word, want string
		words            []string
	}{
		{"FLOW_AGENTS_MODE", "obsreve", `"obsreve", which counts for nothing; it takes enforce or observe`, []string{"enforce", "observe"}},
		{"SA_HOOK_PROFILE", "default", `"default", which counts for nothing; it takes minimal, standard or strict`, []string{"minimal", "standard", "strict"}},
		{"SA_HOOK_INPUT_MAX_BYTES", "1 MB", `"1 MB", which counts for nothing; it takes a number of bytes`, nil},
		{"SA_HOOK_INPUT_MAX_BYTES", "0", `"0", which counts for nothing; it takes a number of bytes`, nil},
		{"SA_HOOK_INPUT_TRUNCATED", "yes", `"yes", which counts for nothing; it takes 0, 1, false or true`, []string{"0", "1", "false", "true"}},
		{"FLOW_AGENTS_CLAUDE_CODE_HOOK_TIMEOUT_MS", "5s", `"5s", which counts for nothing; it takes a number of milliseconds`, nil},
		{"FLOW_AGENTS_MODE", "a\nb", `"a b", which counts for nothing; it takes enforce or observe`, []string{"enforce", "observe"}},
	} {
		t.Run(c.name+" "+c.word, func(t *testing.T) {
			s := load(t, "", "", c.name, c.word)
			require.Equal(t, []string{c.name + " has " + c.want}, s.Problems)
			require.Len(t, s.Misread, 1)
			require.Equal(t, c.name, s.Misread[0].Name)
			require.Equal(t, c.words, s.Misread[0].Words)
			s.Problems, s.Misread = nil, nil
			require.Equal(t, Settings{Profile: Standard}, s)
		})
	}
	require.Less(t, len(load(t, "", "", "SA_DISABLED_HOOKS", strings.Repeat("x,", 9000)).Problems), 100)
	for name, word := range map[string]string{"SA_HOOK_INPUT_TRUNCATED": "false", "SA_HOOK_INPUT_MAX_BYTES": "9", "FLOW_AGENTS_CODEX_HOOK_TIMEOUT_MS": "9"} {
		require.Empty(t, load(t, "", "", name, word).Problems, name)
	}
}

// A root that isn't there leaves a project's rules out, so it is named.
func TestRootThatIsNoFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for root, bad := range map[string]bool{dir: false, filepath.Join(dir, "none"): true, file: true} {
		t.Setenv("FLOW_AGENTS_ROOT", root)
		s := Load(workspace.View{Root: root})
		if !bad {
			require.Empty(t, s.Problems)
			continue
		}
		require.Equal(t, []string{"FLOW_AGENTS_ROOT has " + strconv.Quote(root) + ", which is no folder, so no project's settings hold; it takes the absolute path of a project"}, s.Problems)
	}
	require.Empty(t, Load(workspace.View{}).Problems)
}

// The project's file may make things stricter, never looser.
func TestProjectOnlyTightens(t *testing.T) {
	s := load(t, "", `{"disabled_hooks":["config-protection"],"profile":"minimal","fail_closed":false,"telemetry":{"enabled":false,"data_dir":"../out"},
		"observe":["ROOT"],"config_protection":{"rules":[{"glob":".eslintrc*","mode":"allow"},{"glob":"a/*","mode":"ask","reason":"r"}]}}`)
	require.Empty(t, s.Disabled)
	require.Equal(t, Standard, s.Profile)
	require.False(t, s.Observe)
	require.Equal(t, Telemetry{}, s.Telemetry)
	require.Equal(t, []Rule{{Glob: "a/*", Mode: Ask, Reason: "r"}}, s.Rules)
	all := strings.Join(s.Problems, "\n")
	for _, want := range []string{"disabled_hooks would loosen", "profile would loosen", "telemetry.enabled: false would loosen", "data_dir must be below", "mode allow would loosen", "observe would loosen"} {
		require.Contains(t, all, want)
	}

	s = load(t, `{"fail_closed":false}`, `{"fail_closed":true,"telemetry":{"data_dir":"var/t","enabled":true},"profile":"strict"}`)
	require.True(t, s.FailClosed)
	require.Equal(t, Telemetry{Dir: "var/t", From: Project}, s.Telemetry)
	require.Equal(t, Strict, s.Profile)
	require.Empty(t, s.Problems)
	require.True(t, load(t, `{"fail_closed":true}`, `{"fail_closed":false}`).FailClosed)
}

func TestUserLoosens(t *testing.T) {
	s := load(t, `{"$schema":"x","schema_version":1,"disabled_hooks":["quality-gate"],"telemetry":{"enabled":false,"data_dir":"/t"},"observe":["/other","ROOT"],
		"config_protection":{"rules":[{"glob":".prettierrc","mode":"allow"},{"glob":"x"}]}}`, `{"telemetry":{"data_dir":"p"},"config_protection":{"rules":[{"glob":"y","mode":"deny"}]}}`)
	require.Len(t, s.Disabled, 1)
	require.True(t, s.Observe)
	require.Equal(t, Telemetry{Off: true, Dir: "/t", From: User}, s.Telemetry)
	require.Equal(t, []Rule{{Glob: ".prettierrc", Mode: Allow, User: true}, {Glob: "x", User: true}, {Glob: "y"}}, s.Rules)
	require.Empty(t, s.Problems)
	require.Equal(t, Telemetry{Dir: "/env", From: Environment}, load(t, `{"telemetry":{"data_dir":"/t"}}`, `{"telemetry":{"data_dir":"p"}}`, "TELEMETRY_DATA_DIR", "/env").Telemetry)
}

func TestObserve(t *testing.T) {
	require.True(t, load(t, `{"observe":["ROOT/"]}`, "").Observe)
	require.True(t, load(t, `{"observe":["ROOT/../root"]}`, "").Observe)
	require.False(t, load(t, `{"observe":["ROOT/sub","root","/"]}`, "").Observe)
	require.False(t, load(t, `{"observe":["ROOT"]}`, "", "FLOW_AGENTS_MODE", "enforce").Observe)
	require.True(t, load(t, "", "", "FLOW_AGENTS_MODE", "Observe").Observe)
	require.False(t, load(t, "", "", "FLOW_AGENTS_MODE", "off").Observe)
}

// A file can be full of anything; what counts of it, and what is said about it,
// is bounded.
func TestBounds(t *testing.T) {
	all := func(s Settings) string { return strings.Join(s.Problems, "\n") }
	repeat := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }

	s := load(t, `{"config_protection":{"rules":[{"glob":"mine"}]}}`, `{"config_protection":{"rules":[`+repeat(40_000, `{"glob":"a/b"}`)+`]}}`)
	require.Len(t, s.Rules, maxRules+1)
	require.Equal(t, "mine", s.Rules[0].Glob)
	require.Contains(t, all(s), "only the first 500 count")
	require.Len(t, s.Problems, 1)

	s = load(t, `{"disabled_hooks":[`+repeat(9_000, `"quality-gate"`)+`],"disabled_hooks":["y"],"observe":[`+repeat(9_000, `"/"`)+`]}`, "")
	require.Len(t, s.Disabled, maxList)
	require.Contains(t, all(s), "disabled_hooks: only the first 200 entries count")
	require.Contains(t, all(s), "observe: only the first 200 entries count")

	for _, text := range []string{
		`{` + repeat(60_000, `"nope":1`) + `}`,
		`{"telemetry":{` + repeat(60_000, `"nope":1`) + `}}`,
		`{"config_protection":{"rules":[{` + repeat(60_000, `"nope":1`) + `}]}}`,
	} {
		s = load(t, "", text)
		require.Len(t, s.Problems, maxProblems+1)
		require.Regexp(t, `: and (59990|59991) more problems$`, s.Problems[maxProblems])
		require.Less(t, len(all(s)), 20_000)
	}
	s = load(t, "", `{"`+strings.Repeat("k", 500_000)+`":1}`)
	require.Less(t, len(all(s)), 1000)

	s = load(t, "", `{"config_protection":{"rules":[{"glob":"`+strings.Repeat("*a", 1000)+`"},{"glob":"x","reason":"`+strings.Repeat("r", 5000)+`"}]},"telemetry":{"data_dir":"`+strings.Repeat("d", 5000)+`"}}`)
	require.Len(t, s.Rules, 1)
	require.Len(t, s.Rules[0].Reason, maxText)
	require.Contains(t, all(s), "a glob is longer than 1000 bytes")
	require.Contains(t, all(s), "data_dir must be a path")

	v := workspace.View{Problem: "odd"}
	require.Equal(t, []string{"odd"}, Load(v).Problems)
}

// The root itself is no folder for telemetry: a project's files are in it.
func TestDataDirIsNotTheRoot(t *testing.T) {
	for _, dir := range []string{".", "./", "a/.."} {
		s := load(t, "", `{"telemetry":{"data_dir":"`+dir+`"}}`)
		require.Equal(t, Telemetry{}, s.Telemetry)
		require.Contains(t, strings.Join(s.Problems, "\n"), "not the project's root")
	}
}

// A slip in a rule is named, and doesn't open what the rule was to guard.
func TestSlips(t *testing.T) {
	for _, mode := range []string{"Deny", " deny ", "alow", "warn"} {
		s := load(t, "", `{"config_protection":{"rules":[{"glob":"a","mode":"`+mode+`"}]}}`)
		require.Equal(t, []Rule{{Glob: "a"}}, s.Rules, mode)
		require.Equal(t, mode == "alow" || mode == "warn", len(s.Problems) == 1, mode)
		require.Empty(t, s.Unread)
	}
	s := load(t, "", "\xef\xbb\xbf"+`{"config_protection":{"rules":[{"glob":"a"}]}}`)
	require.Len(t, s.Rules, 1)
	require.Empty(t, s.Problems)

	s = load(t, "", `{"config_protection":{"rules":[{"glob":"a"},]}}`)
	require.Len(t, s.Unread, 1)
	require.Contains(t, s.Problems[0], "a comma before a bracket")

	s = load(t, "", `{"config_protection":{"rules":[{"glob":"`+strings.Repeat("a*", 17)+`"}]}}`)
	require.Empty(t, s.Rules)
	require.Contains(t, s.Problems[0], "more than 16 stars")
}

func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "not valid JSON", `[]`: "not a JSON object", `{} // x`: "not valid JSON", `{"nope":1}`: "unknown key nope",
		`{"telemetry":{"x":1}}`: "unknown key telemetry.x", `{"telemetry":1}`: "telemetry must be an object",
		`{"profile":7}`: "profile must be", `{"fail_closed":"yes"}`: "fail_closed must be", `{"disabled_hooks":"a"}`: "must be a list",
		`{"config_protection":{"rules":[{"glob":"/","mode":"deny"}]}}`:    "needs a glob",
		`{"config_protection":{"rules":[{"glob":"x","mode":"warn"}]}}`:    "mode must be",
		`{"config_protection":{"rules":[{"glob":"x","z":1}],"other":[]}}`: "config_protection.other",
		`{"config_protection":{"rules":[7,{"glob":7}]}}`:                  "needs a glob",
		`{"telemetry":{"enabled":"no"}}`:                                  "telemetry.enabled must be",
		`{"telemetry":{"data_dir":""}}`:                                   "telemetry.data_dir must be",
		`{"profile":"strict","x":"` + strings.Repeat("x", maxSize) + `"}`: "larger than the limit",
	} {
		s := load(t, text, "")
		require.Contains(t, strings.Join(s.Problems, "\n"), want, text[:min(len(text), 60)])
	}
}
