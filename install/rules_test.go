package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNear(t *testing.T) {
	modes, policies := []string{"enforce", "observe"}, []string{"workflow-steering", "config-protection"}
	for _, c := range []struct {
		words     []string
		got, want string
	}{
		{modes, "obsreve", "observe"}, {modes, "OBSERVED", "observe"}, {modes, "enforced", "enforce"}, {modes, "obs", "observe"},
		{modes, "off", ""}, {modes, "", ""}, {modes, "o", ""}, {modes, "on", ""}, {policies, "config", "config-protection"},
		{policies, "config_protection", "config-protection"}, {policies, "steering", ""}, {[]string{"0", "1", "true"}, "x", ""},
		{[]string{"0", "1", "true"}, "tru", "true"}, {nil, "x", ""}, {variables, "FLOW_AGENTS_MOD", FromMode}, {variables, "PATH", ""},
	} {
		require.Equal(t, c.want, near(c.words, c.got), "%+v", c)
	}
}

// What the environment says and the hook doesn't go by has a value, an effect,
// and what it could be.
func TestRulesOfTheEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		set  map[string]string
		want []Problem
	}{
		"nothing": {nil, []Problem{}},
		"good":    {map[string]string{FromMode: " Observe", "SA_HOOK_PROFILE": "strict", "SA_DISABLED_HOOKS": "pre:config-protection.js"}, []Problem{}},
		"mode": {map[string]string{FromMode: "warn"}, []Problem{{From: FromMode, Kind: FromEnvironment, Value: "warn", Assumed: Enforce,
			Takes: "enforce or observe", Valid: []string{Enforce, Observe}, Text: `FLOW_AGENTS_MODE has "warn", which counts for nothing, so enforce mode holds; it takes enforce or observe`}}},
		"truncated": {map[string]string{"SA_HOOK_INPUT_TRUNCATED": "treu"}, []Problem{{From: "SA_HOOK_INPUT_TRUNCATED", Kind: FromEnvironment, Value: "treu", Assumed: "0",
			Takes: "0, 1, false or true", Valid: []string{"0", "1", "false", "true"}, Text: `SA_HOOK_INPUT_TRUNCATED has "treu", which counts for nothing, so input counts as whole; it takes 0, 1, false or true`}}},
		"timeout": {map[string]string{"FLOW_AGENTS_CODEX_HOOK_TIMEOUT_MS": "soon"}, []Problem{{From: "FLOW_AGENTS_CODEX_HOOK_TIMEOUT_MS", Kind: FromEnvironment, Value: "soon", Assumed: FromDefault,
			Takes: "a number of milliseconds", Text: `FLOW_AGENTS_CODEX_HOOK_TIMEOUT_MS has "soon", which counts for nothing, so the default holds; it takes a number of milliseconds`}}},
		"name": {map[string]string{"FLOW_AGENT_MODE": "observe"}, []Problem{{From: "FLOW_AGENT_MODE", Kind: FromEnvironment, Value: "observe", Assumed: "not set", Meant: FromMode,
			Text: "FLOW_AGENT_MODE is a variable that nothing reads; did you mean FLOW_AGENTS_MODE?"}}},
		"root": {map[string]string{"FLOW_AGENTS_ROOT": "/no/where"}, []Problem{{From: "FLOW_AGENTS_ROOT", Kind: FromEnvironment, Value: "/no/where", Assumed: "no project",
			Takes: "the absolute path of a project", Text: `FLOW_AGENTS_ROOT has "/no/where", which is no folder, so no project's settings hold; it takes the absolute path of a project`}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for k, v := range c.set {
				t.Setenv(k, v)
			}
			require.Equal(t, c.want, w.Rules(w.root).Problems)
		})
	}
}

func TestPoliciesThatAreOff(t *testing.T) {
	w := newWorld(t)
	mine := filepath.Join(w.Machine, "settings.json")
	require.NoError(t, os.MkdirAll(w.Machine, 0o755))
	for name, c := range map[string]struct {
		user, project, profile, disabled string
		want                             []PolicyOff
	}{
		"none":     {"{}", "{}", "", "", []PolicyOff{}},
		"variable": {"{}", "{}", "", "config-protection", []PolicyOff{{Policy: "config-protection", From: "SA_DISABLED_HOOKS", Kind: FromEnvironment}}},
		"planned":  {"{}", "{}", "", "quality-gate", []PolicyOff{{Policy: "quality-gate", From: "SA_DISABLED_HOOKS", Kind: FromEnvironment, Planned: true}}},
		"file":     {`{"disabled_hooks":["config-protection"]}`, "{}", "", "", []PolicyOff{{Policy: "config-protection", From: mine, Kind: FromSettings}}},
		"profile":  {"{}", "{}", "minimal", "", []PolicyOff{{Policy: "workflow-steering", From: "SA_HOOK_PROFILE", Kind: FromEnvironment, Profile: "minimal"}}},
		"in file":  {`{"profile":"minimal"}`, "{}", "", "", []PolicyOff{{Policy: "workflow-steering", From: mine, Kind: FromSettings, Profile: "minimal"}}},
		"project":  {"{}", `{"disabled_hooks":["config-protection"]}`, "", "", []PolicyOff{}},
		"misspelt": {"{}", "{}", "", "config-protecton", []PolicyOff{}},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(mine, []byte(c.user), 0o600))
			project := w.write(".flow-agents/settings.json", []byte(c.project))
			t.Setenv("SA_HOOK_PROFILE", c.profile)
			t.Setenv("SA_DISABLED_HOOKS", c.disabled)
			r := w.Rules(w.root)
			require.Equal(t, c.want, r.Off)
			if name == "project" {
				require.Equal(t, project, r.Problems[0].From)
				require.Equal(t, FromSettings, r.Problems[0].Kind)
			}
		})
	}
}

// A reader is told a command that runs this program, and no other.
func TestCommand(t *testing.T) {
	w := newWorld(t)
	self := filepath.Join(filepath.Dir(w.Hook), exe("flow-agents"))
	require.NoError(t, os.WriteFile(self, []byte("#!/bin/sh\n"), 0o755))
	w.Self = self
	require.Equal(t, self, w.Command())
	w.init(w.request("codex"))
	installed := w.Command()
	require.Contains(t, installed, ".flow-agents/bin/flow-agents")
	require.Equal(t, installed+" status --dest x", w.CheckCommand("x"))

	dir := t.TempDir()
	w.env["PATH"] = dir
	require.Equal(t, installed, w.Command())
	other := filepath.Join(dir, exe("flow-agents"))
	require.NoError(t, os.WriteFile(other, []byte("#!/bin/sh\nother\n"), 0o755))
	require.Equal(t, installed, w.Command())
	require.NoError(t, os.WriteFile(other, []byte("#!/bin/sh\n"), 0o755))
	require.Equal(t, "flow-agents", w.Command())
	w.env["PATH"] = filepath.Join(w.Machine, "bin")
	require.Equal(t, "flow-agents", w.Command())
}
