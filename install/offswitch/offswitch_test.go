package offswitch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	off := func(line int) *Setting { return &Setting{false, line} }
	tests := map[string]struct {
		format, src string
		want        *Setting
	}{
		"toml table":     {"toml", "model = \"m\" # keep\n\n[features]\nhooks = false   # I turned this off\nfast = true\n", off(4)},
		"toml dotted":    {"toml", "profile = \"a\"\nfeatures.hooks = false\n", off(2)},
		"toml quoted":    {"toml", "\"features\".'hooks' = false\n", off(1)},
		"toml inline":    {"toml", "a = 1\nfeatures = { fast = true, hooks = false }\n", off(2)},
		"toml CRLF":      {"toml", "a = 1\r\n[features]\r\nhooks = false\r\n", off(3)},
		"toml BOM":       {"toml", "\xef\xbb\xbffeatures.hooks = false\n", off(1)},
		"toml on":        {"toml", "features.hooks = true", &Setting{true, 1}},
		"toml in a text": {"toml", "[profiles.a]\nmodel = \"\"\"multi\n[features]\nhooks = false\nline\"\"\"\n", nil},
		"toml text, then table": {"toml", "features.hooks = false\nprofile = \"a\"\n[profiles.a]\nmodel = \"\"\"multi\n[features]\nline\"\"\"",
			off(1)},
		"toml other table":   {"toml", "[profiles.features]\nhooks = false\n", nil},
		"toml inline hooks":  {"toml", "hooks.SessionStart = [{ hooks = [{ type = \"command\", command = \"echo mine\" }] }]\n\n[features]\nhooks = false\n", off(4)},
		"toml trust state":   {"toml", "[hooks.state]\n\n[hooks.state.'/p/.codex/hooks.json:pre_tool_use:0:0']\nenabled = true\n\n[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n", nil},
		"toml not a boolean": {"toml", "features = 3\n", nil},
		"json":               {"json", "{\n  \"features\": {\"hooks\": false}\n}", off(2)},
		"json comment":       {"json", "// \"hooks\": false\n{\n  \"features\": {\"hooks\": false,},\n}", off(3)},
		"json elsewhere":     {"json", `{"hooks": false}`, nil},
		"empty json":         {"json", "", nil},
		"empty toml":         {"toml", "", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Find("config", tt.format, []byte(tt.src), []string{"features", "hooks"})
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestFindBroken(t *testing.T) {
	_, err := Find("config.toml", "toml", []byte("a = 1\nb = \n"), []string{"a"})
	require.ErrorContains(t, err, "config.toml:2:")
	_, err = Find("s.json", "json", []byte("{\n  \"a\": tru\n}"), []string{"a"})
	require.ErrorContains(t, err, "s.json:2:8:")
	_, err = Find("s.ini", "ini", nil, []string{"a"})
	require.ErrorContains(t, err, `format "ini" is not known`)
}
