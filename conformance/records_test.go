package conformance_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// What real hosts sent, through the hook: every record fits the published
// schema, and holds none of the texts that the channel leaves out.
func TestRecordsOfRecordedPayloads(t *testing.T) {
	bin := buildHook(t)
	schema, err := jsonschema.NewCompiler().Compile("../bundles/schemas/record.schema.json")
	require.NoError(t, err)
	types := map[string]int{}
	for _, host := range []string{"claude-code", "codex"} {
		files, err := filepath.Glob("recordings/" + host + "/*.json")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, f := range files {
			payload, err := os.ReadFile(f)
			require.NoError(t, err)
			var e struct {
				Name    string `json:"hook_event_name"`
				Prompt  string
				Session string `json:"session_id"`
			}
			if json.Unmarshal(payload, &e) != nil || e.Name == "" {
				continue // a pair of answer and effect, not a payload
			}
			w, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			payload = bytes.ReplaceAll(payload, []byte("/workspace/project"), []byte(w))
			require.NoError(t, os.MkdirAll(filepath.Join(w, ".flow-agents"), 0o755))
			_, _, code := run(t, bin, w, []string{host, e.Name}, nil, payload)
			require.Zero(t, code, f)
			data, err := os.ReadFile(filepath.Join(w, ".telemetry", "full.jsonl"))
			if os.IsNotExist(err) {
				continue // an event that leaves no record
			}
			require.NoError(t, err)
			for line := range strings.Lines(string(data)) {
				doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
				require.NoError(t, err, "%s: %s", f, line)
				require.NoError(t, schema.Validate(doc), "%s: %s", f, line)
				types[doc.(map[string]any)["event_type"].(string)]++
				if len(e.Prompt) > 12 {
					require.NotContains(t, line, e.Prompt, f)
				}
				require.NotContains(t, line, `"tool_input"`, f)
			}
		}
	}
	for _, want := range []string{"session.start", "turn.user", "tool.invoke", "tool.permission_request", "tool.result", "agent.delegate", "agent.delegate.result", "session.end"} {
		require.NotZero(t, types[want], "no recording gives %s; seen: %v", want, types)
	}
}
