package scaffold_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators/load"
	"github.com/flow-agents/flow-agents/generators/scaffold"
)

// The examples in the comments are what an author copies: put where they
// belong, they are valid.
func TestExamplesInCommentsAreValid(t *testing.T) {
	tree := os.DirFS("../..")
	d, err := load.Load(tree, load.Options{})
	require.NoError(t, err)
	data, err := scaffold.Manifest(d.Catalog, "acme-code", "2026-11", tree)
	require.NoError(t, err)
	text := string(data)

	for _, e := range []string{"preToolUse", "stop", "settings"} {
		m := regexp.MustCompile(`(?m)^\t+//\t` + e + `: \{\n(?:\t+//\t.*\n)*?\t+//\t\}\n`).FindString(text)
		require.NotEmpty(t, m, e)
		example := regexp.MustCompile(`(?m)^\t+//\t`).ReplaceAllString(m, "")
		if e == "settings" {
			text = strings.Replace(text, "files: {}", "files: {"+example+"}", 1)
			continue
		}
		gap := e + `: {kind: "gap", gap: "unexamined"}`
		require.Contains(t, text, gap)
		text = strings.Replace(text, gap, example, 1)
	}
	text = strings.Replace(text, `nativeEvents: ["SessionStart"]`, `nativeEvents: ["SessionStart", "PreToolUse", "Stop"]`, 1)
	d, err = load.Load(tree, load.Options{Extra: []load.Manifest{{Name: "acme-code.cue", Data: []byte(text)}}})
	require.NoError(t, err)
	for _, h := range d.Catalog.Hosts {
		if h.ID == "acme-code" {
			require.Equal(t, 180_000, h.Surfaces["main"].Events["stop"].TimeoutMs)
			require.Len(t, h.Files, 1)
			return
		}
	}
	t.Fatal("no host acme-code")
}
