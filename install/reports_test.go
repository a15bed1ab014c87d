package install

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/install/entries"
)

func testdata(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(path)))
	require.NoError(t, err)
	return data
}

// TestReports replays public bug reports about installers of this kind, each
// under its id; testdata/reports/README.md says where they are from. The files
// of R16 come through init and uninstall byte for byte in TestForeignFilesSurvive.
func TestReports(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"R16_comments_in_strict_json":        commentsInStrictJSON,
		"R18_off_switch_in_toml":             offSwitchInTOML,
		"R20_byte_order_mark":                byteOrderMark,
		"R21_shared_group":                   sharedGroup,
		"R23_two_names_of_one_file":          twoNamesOfOneFile,
		"R23_second_name_appears_later":      secondNameAppearsLater,
		"R25_folder_names":                   folderNames,
		"R25_folder_that_no_config_can_name": folderThatNoConfigCanName,
	} {
		t.Run(name, test)
	}
}

// A host that reads strict JSON already ignores a file with comments.
func commentsInStrictJSON(t *testing.T) {
	for _, name := range []string{"gemini-settings.json", "qwen-settings.json", "opencode.jsonc"} {
		w := newWorld(t)
		w.write(".claude/settings.json", testdata(t, "reports/jsonc/"+name))
		before := snapshot(t, w.root)
		_, err := w.Init(w.request("claude-code"), false)
		require.ErrorContains(t, err, ".claude/settings.json:")
		require.ErrorContains(t, err, "a comment is not JSON, so the host already ignores this whole file")
		require.Equal(t, before, snapshot(t, w.root))
		require.NoDirExists(t, filepath.Join(w.Machine, "bin"))
	}
}

func byteOrderMark(t *testing.T) {
	for host, dest := range map[string]string{"claude-code": ".claude/settings.json", "gemini-cli": ".gemini/settings.json"} {
		w := newWorld(t)
		w.write(dest, testdata(t, "reports/bom-crlf.json"))
		before := snapshot(t, w.root)
		_, err := w.Init(w.request(host), false)
		require.ErrorContains(t, err, dest+":1:1: starts with a byte-order mark (EF BB BF)")
		require.ErrorContains(t, err, "save it as UTF-8 without BOM")
		require.Equal(t, before, snapshot(t, w.root))
	}

	// Without the mark the line ends and tabs are kept.
	w := newWorld(t)
	data := testdata(t, "reports/bom-crlf.json")[3:]
	w.write(".claude/settings.json", data)
	w.init(w.request("claude-code"))
	requireLineEnds(t, data, []byte(w.read(".claude/settings.json")))

	// A tool puts one in front later: status says so, uninstall refuses to
	// guess.
	w.write(".claude/settings.json", []byte("\xef\xbb\xbf"+w.read(".claude/settings.json")))
	status := w.status()
	require.False(t, status.OK)
	require.Equal(t, unreadable, status.Hosts[0].Files[0].State)
	require.Contains(t, status.Hosts[0].Findings[0].Text, "byte-order mark")
	require.True(t, status.Hosts[0].Findings[0].Dead)
	_, err := w.Uninstall(w.request(), false)
	require.ErrorContains(t, err, "byte-order mark")

	for _, host := range []string{"claude-code", "codex", "kiro", "opencode"} {
		w := newWorld(t)
		w.init(w.request(host))
		for path, text := range contents(t, w.root) {
			require.NotContains(t, text, "\xef\xbb\xbf", path)
		}
	}
}

// The user moves our hook into a group of his own and deletes ours.
func sharedGroup(t *testing.T) {
	w := newWorld(t)
	original := testdata(t, "reports/shared-groups.json")
	w.write(".claude/settings.json", original)
	plan := w.init(w.request("claude-code"))
	require.Len(t, plan.Findings, 1)
	require.Equal(t, ".claude/settings.json:41: hooks.Notification: is a string, not an array; the host may ignore this entry or the whole file; it is left as it is", plan.Findings[0].String())

	doc := parseJSON(t, w.read(".claude/settings.json"))
	pre := doc["hooks"].(map[string]any)["PreToolUse"].([]any)
	mine, our := pre[0].(map[string]any), pre[1].(map[string]any)
	mine["hooks"] = append(append([]any{}, our["hooks"].([]any)...), mine["hooks"].([]any)...)
	doc["hooks"].(map[string]any)["PreToolUse"] = []any{mine}
	edited, err := json.MarshalIndent(doc, "", "  ")
	require.NoError(t, err)
	w.write(".claude/settings.json", edited)

	status := w.status()
	require.Equal(t, entries.Modified, status.Hosts[0].Files[0].State)
	w.uninstall(w.request())
	require.Equal(t, parseJSON(t, string(original)), parseJSON(t, w.read(".claude/settings.json")))
	require.NotContains(t, w.read(".claude/settings.json"), "flow-agents-hook")
}

func parseJSON(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &out), text)
	return out
}

func offSwitchInTOML(t *testing.T) {
	for name, line := range map[string]int{"inline.toml": 5, "dotted.toml": 1, "state.toml": 0} {
		for _, scope := range []string{bundle.Project, bundle.User} {
			t.Run(name+" "+scope, func(t *testing.T) {
				w := newWorld(t)
				data := testdata(t, "reports/toml-switch/"+name)
				path, shown := filepath.Join(w.root, ".codex/config.toml"), ".codex/config.toml"
				if scope == bundle.User {
					w.env["CODEX_HOME"] = filepath.Join(w.Home, "codex home")
					path, shown = filepath.Join(w.env["CODEX_HOME"], "config.toml"), "~/codex home/config.toml"
				}
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, data, 0o644))
				req := w.request("codex")
				req.Scope = scope
				plan := w.init(req)
				after, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, string(data), string(after))
				require.NoError(t, toml.Unmarshal(after, &map[string]any{}))

				status := w.status()
				require.Equal(t, line == 0, status.OK)
				if line == 0 {
					require.Empty(t, plan.Findings)
					return
				}
				want := Finding{Host: "codex", File: shown, Line: line, Key: "features.hooks", Text: "features.hooks is false, so no hook runs; set it to true or remove it", Dead: true}
				require.Equal(t, []Finding{want}, plan.Findings)
				require.Equal(t, []Finding{want}, status.Hosts[0].Findings)
			})
		}
	}
}

// Only the file that the host loads is edited, and no second one appears.
func twoNamesOfOneFile(t *testing.T) {
	both := map[string][]byte{"opencode.json": testdata(t, "reports/two-names/opencode.json"), "opencode.jsonc": testdata(t, "reports/two-names/opencode.jsonc")}
	elsewhere := map[string][]byte{"custom.json": both["opencode.json"]}
	tests := map[string]struct {
		files  map[string][]byte
		edited string
	}{
		"jsonc only": {map[string][]byte{"opencode.jsonc": both["opencode.jsonc"]}, "opencode.jsonc"},
		"json only":  {map[string][]byte{"opencode.json": both["opencode.json"]}, "opencode.json"},
		"both":       {both, "opencode.jsonc"},
		"neither":    {nil, "opencode.json"},
		"elsewhere":  {elsewhere, "opencode.json"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for file, data := range tt.files {
				w.write(file, data)
			}
			before := contents(t, w.root)
			plan := w.init(w.request("two-names"))
			for file := range contents(t, w.root) {
				if strings.HasPrefix(file, ".flow-agents") || file == "." {
					continue
				}
				if file == tt.edited {
					require.NotEqual(t, before[file], contents(t, w.root)[file])
				} else {
					require.Equal(t, before[file], contents(t, w.root)[file], file)
				}
			}
			if name == "both" {
				require.Contains(t, plan.Findings[0].String(), "opencode.json: left alone; the host reads opencode.jsonc first")
			}
			require.True(t, w.status().OK)
			w.uninstall(w.request())
			require.Equal(t, before, contents(t, w.root))

			// The host with a plugin folder needs none of these files.
			w.env["OPENCODE_CONFIG"] = filepath.Join(w.root, "custom.json")
			w.init(w.request("opencode"))
			require.FileExists(t, filepath.Join(w.root, ".opencode/plugins/flow-agents.js"))
			for file, text := range before {
				require.Equal(t, text, contents(t, w.root)[file])
			}
			_, shadow := contents(t, w.root)["opencode.json"]
			_, had := before["opencode.json"]
			require.Equal(t, had, shadow)
		})
	}
}

// A second name that appears later gets our entries, and the first loses them.
func secondNameAppearsLater(t *testing.T) {
	w := newWorld(t)
	w.write("opencode.json", testdata(t, "reports/two-names/opencode.json"))
	w.init(w.request("two-names"))
	w.write("opencode.jsonc", testdata(t, "reports/two-names/opencode.jsonc"))
	w.init(w.request("two-names"))
	require.Equal(t, string(testdata(t, "reports/two-names/opencode.json")), w.read("opencode.json"))
	require.Contains(t, w.read("opencode.jsonc"), "flow-agents-hook")
}

// Every folder name is data, never a part of a command.
func folderNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names that Windows does not have")
	}
	names := []string{"$(touch injected)", "`touch injected`", "a;touch injected;b", "*", "&& touch injected"}
	for line := range strings.Lines(string(testdata(t, "reports/dirs.jsonl"))) {
		var row struct{ Dir string }
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		names = append(names, row.Dir)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.MkdirAll(dir, 0o755))
			for _, req := range []Request{
				{Scope: bundle.Project, Hosts: []string{"claude-code", "codex", "kiro", "gemini-cli", "flat-hooks"}},
				{Scope: bundle.Local, Hosts: []string{"claude-code", "codex"}},
				{Scope: bundle.User, Hosts: []string{"claude-code", "codex", "kiro", "gemini-cli"}},
			} {
				w := newWorldIn(t, filepath.Join(dir, req.Scope))
				req.Root = w.root
				w.init(req)
				require.True(t, w.status().OK)
				for _, host := range req.Hosts {
					requireDenies(t, w, host, req.Scope)
				}
				w.uninstall(req)
			}
			for _, d := range []string{dir, "."} {
				require.NoFileExists(t, filepath.Join(d, "injected"))
			}
		})
	}
}

// requireDenies runs every registered command of a host as the host does, and
// asserts that our program was asked.
func requireDenies(t *testing.T, w *world, host, scope string) {
	t.Helper()
	bundles, err := w.bundles([]string{host})
	require.NoError(t, err)
	sites, _ := w.sites(bundles[0], scope, w.root)
	ran := 0
	for _, s := range sites {
		data, err := os.ReadFile(s.path)
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		var visit func(v any)
		visit = func(v any) {
			switch h := v.(type) {
			case []any:
				for _, v := range h {
					visit(v)
				}
			case map[string]any:
				if line, ok := h["command"].(string); ok {
					ran++
					cmd := exec.Command("sh", "-c", line)
					if args, ok := h["args"].([]any); ok {
						cmd = exec.Command(line, args[0].(string), args[1].(string))
					}
					cmd.Dir = w.root
					cmd.Env = append(os.Environ(), "HOME="+w.Home)
					out, err := cmd.CombinedOutput()
					require.NoError(t, err, "%s\n%s", line, out)
					require.True(t, strings.HasPrefix(string(out), "deny "+host+" "), "%s\n%s", line, out)
				}
				for _, v := range h {
					visit(v)
				}
			}
		}
		visit(any(parseJSON(t, string(data))))
	}
	require.NotZero(t, ran)
}

func folderThatNoConfigCanName(t *testing.T) {
	w := newWorldIn(t, filepath.Join(t.TempDir(), "a${HOME}b"))
	req := w.request("claude-code")
	req.Scope = bundle.Local
	_, err := w.Init(req, false)
	require.ErrorContains(t, err, "holds ${, which hosts replace by a variable; set FLOW_AGENTS_HOME")
	w.init(w.request("claude-code")) // the committed form has no such path
}
