package jsonschema_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/runtime/settings"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// What the hook finds nothing wrong with, as a person's own file, is what the
// two schemas take.
var settingsSamples = []sample{
	{true, `{}`},
	{true, `{"$schema":"./settings.schema.json","schema_version":1,"profile":"strict","fail_closed":true}`},
	{true, `{"disabled_hooks":["quality-gate"],"observe":["/a/b"]}`},
	{true, `{"config_protection":{}}`},
	{true, `{"config_protection":{"rules":[{"glob":"tsconfig.json"},{"glob":"infra/**","mode":"ask","reason":"Ask the platform team."},{"glob":"a","mode":"allow"}]}}`},
	{true, `{"telemetry":{"enabled":false,"data_dir":"/var/x"}}`},
	{false, `{"profile":"lax"}`}, {false, `{"profil":"strict"}`}, {false, `{"profile":1}`},
	{false, `{"fail_closed":"yes"}`}, {false, `{"disabled_hooks":"quality-gate"}`}, {false, `{"observe":"/a"}`},
	{false, `{"config_protection":{"rules":[{"mode":"deny"}]}}`}, {false, `{"config_protection":{"rules":[{"glob":" / "}]}}`},
	{false, `{"config_protection":{"rules":[{"glob":"a","mode":"warn"}]}}`}, {false, `{"config_protection":{"rules":[{"glob":"a","why":"x"}]}}`},
	{false, `{"config_protection":{"rules":[{"glob":""}]}}`}, {false, `{"config_protection":[]}`}, {false, `{"config_protection":{"globs":[]}}`},
	{false, `{"telemetry":{"enabled":1}}`}, {false, `{"telemetry":{"data_dir":""}}`}, {false, `{"telemetry":{"dir":"x"}}`},
	{false, `[]`}, {false, `null`},
	{false, `{"config_protection":{"rules":{"glob":"a"}}}`}, {false, `{"config_protection":{"rules":["a"]}}`},
	{false, `{"config_protection":{"rules":[{"glob":7}]}}`}, {false, `{"config_protection":{"rules":[{"glob":"a","mode":7}]}}`},
	{false, `{"config_protection":{"rules":[{"glob":"a","reason":7}]}}`}, {false, `{"disabled_hooks":[7]}`},
	{false, `{"telemetry":{"data_dir":7}}`}, {false, `{"telemetry":true}`}, {false, `{"observe":[true]}`},
	{false, `{"schema_version":2}`}, {false, `{"$schema":1}`},
}

func byHook(t *testing.T) judge {
	for _, k := range []string{"SA_HOOK_PROFILE", "SA_DISABLED_HOOKS", "FLOW_AGENTS_MODE", "TELEMETRY_DATA_DIR"} {
		t.Setenv(k, "")
	}
	return func(doc string) error {
		home := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(home, settings.Name), []byte(doc), 0o600))
		s := settings.Load(workspace.View{Home: home, Root: t.TempDir()})
		if len(s.Problems) == 0 {
			return nil
		}
		return errProblem(s.Problems[0])
	}
}

type errProblem string

func (e errProblem) Error() string { return string(e) }

func TestSettingsAgree(t *testing.T) {
	schema, _ := evaluate(t)
	judges := map[string]judge{"CUE": byCUE(schema, "#Settings"), "JSON Schema": byJSONSchema(t, schema, "#Settings"), "hook": byHook(t)}
	for _, x := range settingsSamples {
		for who, judge := range judges {
			if err := judge(x.doc); (err == nil) != x.ok {
				t.Errorf("%s: %s: ok is %v, want %v: %v", who, x.doc, err == nil, x.ok, err)
			}
		}
	}
}
