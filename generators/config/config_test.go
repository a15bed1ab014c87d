package config

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators/load"
	"github.com/flow-agents/flow-agents/generators/model"
)

var tree = os.DirFS("../..")

func catalog(t *testing.T) *model.Catalog {
	t.Helper()
	d, err := load.Load(tree, load.Options{})
	require.NoError(t, err)
	return d.Catalog
}

func host(t *testing.T, c *model.Catalog, id string) model.Host {
	t.Helper()
	for _, h := range c.Hosts {
		if h.ID == id {
			return h
		}
	}
	t.Fatalf("no host %s", id)
	return model.Host{}
}

// Every template is rendered for every host that uses it: jsonnet is lazy, and
// a mistake in a part that nobody evaluates is no error.
func TestEveryConfigIsAccepted(t *testing.T) {
	c := catalog(t)
	n := 0
	for _, h := range c.Hosts {
		set, err := Emit(c, h, tree)
		require.NoError(t, err)
		for _, f := range set {
			require.True(t, json.Valid(f.Data), f.Path)
			require.NotContains(t, string(f.Data), "\xef\xbb\xbf")
			n++
		}
	}
	require.Greater(t, n, 8)
}

// Units: one canonical timeout of ten seconds, in each host's own spelling.
// From the field: hosts differ in seconds and milliseconds, and a copied number
// becomes a deadline of 30 ms or of 83 minutes.
func TestTenSeconds(t *testing.T) {
	c := catalog(t)
	for _, tt := range []struct {
		name string
		unit model.TimeoutUnit
		key  string
		want int
	}{
		{"claude-code", host(t, c, "claude-code").Timeout, "timeout", 10},
		{"codex", host(t, c, "codex").Timeout, "timeout", 10},
		{"kiro agent config", host(t, c, "kiro").Timeout, "timeout_ms", 10_000},
		{"kiro v1 hook file", unitOf(t, host(t, c, "kiro"), "kiro-hooks.jsonnet"), "timeout", 10},
		{"gemini-cli", model.TimeoutUnit{Key: "timeout", Unit: "ms", Min: 1, Max: 600_000}, "timeout", 10_000},
		{"qwen-code", model.TimeoutUnit{Key: "timeout", Unit: "s", Min: 1, Max: 999}, "timeout", 10},
		{"copilot-cli", model.TimeoutUnit{Key: "timeoutSec", Unit: "s", Min: 1, Max: 600}, "timeoutSec", 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.key, tt.unit.Key)
			got, err := Timeout(tt.unit, "PreToolUse", 10_000)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	qwen := model.TimeoutUnit{Key: "timeout", Unit: "s", Min: 1, Max: 999}
	_, err := Timeout(qwen, "Stop", 1_200_000)
	require.ErrorContains(t, err, "outside of what the host takes: 1 to 999")
	_, err = Timeout(qwen, "Stop", 1_500)
	require.ErrorContains(t, err, "not a whole number of seconds")
	codex := host(t, c, "codex").Timeout
	_, err = Timeout(codex, "SessionEnd", 10_000)
	require.ErrorContains(t, err, "1 to 3")
}

func unitOf(t *testing.T, h model.Host, template string) model.TimeoutUnit {
	for _, f := range h.Files {
		if f.Template == template {
			return Unit(h, f)
		}
	}
	t.Fatalf("no file by %s", template)
	return model.TimeoutUnit{}
}

// The installed value, read back, is the canonical one: in every file of every
// host.
func TestTimeoutsReadBack(t *testing.T) {
	c := catalog(t)
	for _, h := range c.Hosts {
		for id, f := range h.Files {
			if f.Kind != "config" || f.Accepts.Shape == "free" {
				continue
			}
			for _, scope := range Scopes(f) {
				hooks, err := Hooks(c, h, f, scope)
				require.NoError(t, err)
				require.NotEmpty(t, hooks)
				u := Unit(h, f)
				for _, k := range hooks {
					ms := k.Timeout
					if u.Unit == "s" {
						ms *= 1000
					}
					require.Equal(t, declared(h, f, k.Native), ms, "%s %s %s", h.ID, id, k.Native)
				}
			}
		}
	}
}

func declared(h model.Host, f model.File, native string) int {
	for _, m := range h.Surfaces[f.Surface].Events {
		if m.Kind != model.Native {
			continue
		}
		for _, n := range m.Native {
			if n == native {
				return m.TimeoutMs
			}
		}
	}
	return -1
}

// What the host would ignore, drop or misread can't be built.
func TestAcceptRefuses(t *testing.T) {
	c := catalog(t)
	claude := host(t, c, "claude-code")
	kiro := host(t, c, "kiro")
	for _, tt := range []struct {
		name, template, want string
		h                    model.Host
		file                 string
	}{
		{"unknown top key", `function(ctx) {hooks: {}, extra: 1}`, `top-level key "extra"`, claude, "settings"},
		{"no hooks", `function(ctx) {}`, "no hooks", claude, "settings"},
		{"unknown event", `function(ctx) {hooks: {PreTool: []}}`, "has no such event", claude, "settings"},
		{"flat instead of nested", `function(ctx) {hooks: {Stop: [{type: 'command', command: 'x', timeout: 1}]}}`, "a group has matcher and hooks", claude, "settings"},
		{"nested instead of flat", `function(ctx) {name: 'a', hooks: {stop: [{matcher: '*', hooks: []}]}}`, "accepts only", kiro, agentFile(t, kiro)},
		{"unknown handler key", `function(ctx) {hooks: {Stop: [{hooks: [{type: 'command', command: 'x', timeout: 1, once: true}]}]}}`, "once", claude, "settings"},
		{"no command", `function(ctx) {hooks: {Stop: [{hooks: [{type: 'command', timeout: 1}]}]}}`, "command: missing", claude, "settings"},
		{"matcher where it is not read", `function(ctx) {hooks: {Stop: [{matcher: 'Bash', hooks: [{type: 'command', command: 'x', timeout: 1}]}]}}`, "does not read a matcher at Stop", claude, "settings"},
		{"matcher in another vocabulary", `function(ctx) {hooks: {PreToolUse: [{matcher: 'write_file', hooks: [{type: 'command', command: 'x', timeout: 1}]}]}}`, `no tool "write_file"`, claude, "settings"},
		{"matcher in the wrong case", `function(ctx) {hooks: {PreToolUse: [{matcher: 'bash', hooks: [{type: 'command', command: 'x', timeout: 1}]}]}}`, `no tool "bash"`, claude, "settings"},
		{"timeout as text", `function(ctx) {hooks: {Stop: [{hooks: [{type: 'command', command: 'x', timeout: '10'}]}]}}`, "not a whole number", claude, "settings"},
		{"timeout with a fraction", `function(ctx) {hooks: {Stop: [{hooks: [{type: 'command', command: 'x', timeout: 0.5}]}]}}`, "not a whole number", claude, "settings"},
		{"timeout in milliseconds", `function(ctx) {hooks: {Stop: [{hooks: [{type: 'command', command: 'x', timeout: 30000}]}]}}`, "outside of 1 to 600 s", claude, "settings"},
		{"no timeout", `function(ctx) {hooks: {Stop: [{hooks: [{type: 'command', command: 'x'}]}]}}`, "missing", claude, "settings"},
		{"event of another surface's file", `function(ctx) {version: 'v1', hooks: [{name: 'a', trigger: 'beforeTool', action: {type: 'command', command: 'x'}, timeout: 1}]}`, "has no event", kiro, hooksFile(t, kiro)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := tt.h.Files[tt.file]
			f.Template = "x.jsonnet"
			_, err := render(c, tt.h, f, "project", fstest.MapFS{"templates/config/x.jsonnet": {Data: []byte(tt.template)}})
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func agentFile(t *testing.T, h model.Host) string { return fileBy(t, h, "kiro-agent.jsonnet") }
func hooksFile(t *testing.T, h model.Host) string { return fileBy(t, h, "kiro-hooks.jsonnet") }

func fileBy(t *testing.T, h model.Host, template string) string {
	for id, f := range h.Files {
		if f.Template == template {
			return id
		}
	}
	t.Fatalf("no file by %s", template)
	return ""
}

// Strings that look like something else, and numbers that jsonnet prints with
// noise, come through a template as they are. From the field: version-like and
// boolean-like strings change type, and 0.1 becomes 0.10000000000000001.
func TestValuesSurviveTemplates(t *testing.T) {
	c := catalog(t)
	h := host(t, c, "claude-code")
	f := h.Files["pluginManifest"]
	f.Template = "x.jsonnet"
	templates := fstest.MapFS{"templates/config/x.jsonnet": {Data: []byte(`function(ctx) {description: ctx.title}`)}}
	for _, s := range []string{"1.10", "on", "no", "y", "0x1F", "12:30", "2026-11-30", "null", "~", "1e3", "007", "", "*x", "a: b", "a #b", "- x", "a\nb", "é", `C:\Users\O'Neil`, "<&>", "\u2028"} {
		h.Title = s
		data, err := render(c, h, f, "project", templates)
		require.NoError(t, err)
		var got struct{ Description string }
		require.NoError(t, json.Unmarshal(data, &got))
		require.Equal(t, s, got.Description)
		require.NotContains(t, string(data), `\u003c`)
	}
}

// Registered commands let work go on where the binary is missing, and say so
// once.
func TestGuardedCommands(t *testing.T) {
	c := catalog(t)
	for _, h := range c.Hosts {
		for _, f := range h.Files {
			if f.Kind != "config" || f.Accepts.Shape == "free" {
				continue
			}
			said := 0
			hooks, err := Hooks(c, h, f, "project")
			require.NoError(t, err)
			for _, k := range hooks {
				require.Contains(t, k.Command, `test -x "$HOME/.flow-agents/bin/flow-agents-hook" && exec `)
				require.Nil(t, k.Args)
				said += strings.Count(k.Command, "echo ")
			}
			require.Equal(t, 1, said, "%s says once that the binary is missing", h.ID)
		}
	}
}
