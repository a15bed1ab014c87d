//go:build acceptance

package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators/load"
)

// TestDemo plays one session of the real Claude Code and prints what the model
// was told, for people who want to see a refusal before they install one.
func TestDemo(t *testing.T) {
	if os.Getenv("DEMO") == "" {
		t.Skip("DEMO is not set")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	desc, err := load.Load(os.DirFS(root), load.Options{})
	require.NoError(t, err)
	tools, err := BuildTools(t.Context(), root, t.TempDir())
	require.NoError(t, err)
	r := &Rig{ID: "claude-code", Tools: tools, Catalog: desc.Catalog, Data: os.DirFS("testdata"), LogDir: t.TempDir(), Deadline: time.Minute}
	for _, h := range desc.Catalog.Hosts {
		if h.ID == r.ID {
			r.Driver = h.Driver
		}
	}
	r.Host, err = LoadHost(r.Data, r.ID)
	require.NoError(t, err)
	cache, err := CacheDir()
	require.NoError(t, err)
	if r.Program, err = InstallHost(t.Context(), r.ID, r.Driver, "", cache); err != nil {
		t.Skip(err)
	}
	data, err := os.ReadFile("testdata/demo/demo.json")
	require.NoError(t, err)
	var c Case
	require.NoError(t, json.Unmarshal(data, &c))
	seen, err := r.Run(t.Context(), c)
	require.NoError(t, err)
	for _, s := range seen {
		require.NoError(t, s.Err, s.Cell)
	}
	requests, err := filepath.Glob(filepath.Join(r.LogDir, "demo", "1", "request-*.json"))
	require.NoError(t, err)
	fmt.Printf("$ flow-agents init --host claude-code --yes\n$ claude -p %q      # Claude Code %s\n\n", c.Steps[1].Prompt, r.Program.Version)
	transcript(t, requests[len(requests)-1])
	fmt.Printf("model  %s\n", c.Steps[1].Main[3][0].Say)
}

// transcript prints the conversation that the last request of a session holds.
func transcript(t *testing.T, name string) {
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	var req struct {
		Body struct {
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
	}
	require.NoError(t, json.Unmarshal(data, &req))
	for _, m := range req.Body.Messages {
		var blocks []struct {
			Type, Text, Name string
			Input            struct {
				Path string `json:"file_path"`
				Old  string `json:"old_string"`
				New  string `json:"new_string"`
			}
			Content json.RawMessage
		}
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			switch {
			case b.Type == "text" && m.Role == "assistant":
				fmt.Printf("model  %s\n", b.Text)
			case b.Type == "tool_use" && b.Input.New != "":
				fmt.Printf("model  %s %s: %s -> %s\n", b.Name, trim(b.Input.Path), b.Input.Old, b.Input.New)
			case b.Type == "tool_use":
				fmt.Printf("model  %s %s\n", b.Name, trim(b.Input.Path))
			case b.Type == "tool_result":
				var s string
				if json.Unmarshal(b.Content, &s) == nil {
					fmt.Printf("host   %s\n", wrap(trim(s)))
				}
			}
		}
	}
}

// trim drops the throw-away folder from a text.
func trim(s string) string {
	if i := strings.Index(s, "/repo/"); i >= 0 {
		if j := strings.LastIndexAny(s[:i], " \"'") + 1; j <= i {
			return s[:j] + trim(s[i+len("/repo/"):])
		}
	}
	return s
}

// wrap keeps a text to the width of a page; of long ones, such as a file that
// was read, the first line is enough.
func wrap(s string) string {
	if first, rest, ok := strings.Cut(s, "\n"); ok && strings.TrimSpace(rest) != "" {
		s = strings.TrimSpace(first) + " ..."
	}
	var b strings.Builder
	col := 0
	for w := range strings.FieldsSeq(s) {
		if col+len(w) > 100 {
			b.WriteString("\n       ")
			col = 0
		}
		b.WriteString(w + " ")
		col += len(w) + 1
	}
	return strings.TrimSpace(b.String())
}
