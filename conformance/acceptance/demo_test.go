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
	"github.com/flow-agents/flow-agents/internal/golden"
)

// eslint is the linter of the demo: the last release that reads .eslintrc.json
// by itself.
const eslint = "eslint@8.57.1"

// TestDemo plays one session of the real Claude Code, with a real linter that
// is red before and green after it, and prints what the model was told, for
// people who want to see a refusal before they install one.
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
	linter := filepath.Join(cache, strings.ReplaceAll(eslint, "@", "-"))
	program := filepath.Join(linter, "node_modules", ".bin", "eslint")
	if _, err := os.Stat(program); err != nil {
		if err := npmInstall(t.Context(), linter, eslint); err != nil {
			t.Skip(err)
		}
	}
	script, err := json.Marshal(program + " --format unix src")
	require.NoError(t, err)
	r.Host.Project["package.json"] = fmt.Sprintf("{\"private\": true, \"scripts\": {\"lint\": %s}}\n", script)
	r.Host.Project[".eslintrc.json"] = `{"root": true, "parserOptions": {"ecmaVersion": 2022, "sourceType": "module"}, "rules": {"eqeqeq": "error"}}` + "\n"
	r.Host.Project["src/admin.js"] = `export const isAdmin = (user) => user.role == "admin";` + "\n"

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
	var b strings.Builder
	fmt.Fprintf(&b, "$ flow-agents init --host claude-code --yes\n$ claude -p %q      # Claude Code %s\n\n", c.Steps[1].Prompt, r.Program.Version)
	lines := transcript(t, requests[len(requests)-1])
	require.Contains(t, lines[1], "Expected '===' and instead saw '=='", "the linter is red before")
	require.Contains(t, lines[len(lines)-1], "lint passes", "and green after")
	b.WriteString(strings.Join(lines, "\n"))
	fmt.Fprintf(&b, "\nmodel  %s\n", c.Steps[1].Main[5][0].Say)
	fmt.Print(b.String())
	golden.Equal(t, "testdata/demo/transcript.txt", []byte(b.String()))
}

// transcript is the conversation that the last request of a session holds.
func transcript(t *testing.T, name string) []string {
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
	var out []string
	for _, m := range req.Body.Messages {
		var blocks []struct {
			Type, Text, Name string
			Input            struct {
				Command string
				Path    string `json:"file_path"`
				Old     string `json:"old_string"`
				New     string `json:"new_string"`
			}
			Content json.RawMessage
		}
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			in := b.Input
			switch {
			case b.Type == "text" && m.Role == "assistant":
				out = append(out, "model  "+b.Text)
			case b.Type == "tool_use" && in.Command != "":
				out = append(out, "model  "+b.Name+": "+in.Command)
			case b.Type == "tool_use" && in.New != "":
				out = append(out, fmt.Sprintf("model  %s %s: %s -> %s", b.Name, trim(in.Path), in.Old, in.New))
			case b.Type == "tool_result":
				var s string
				if json.Unmarshal(b.Content, &s) == nil && !strings.HasPrefix(strings.TrimSpace(s), "1\t") {
					out = append(out, "host   "+wrap(trim(s)))
				}
			}
		}
	}
	return out
}

// trim drops the throw-away folder from a text.
func trim(s string) string {
	if i := strings.Index(s, "/repo/"); i >= 0 {
		if j := strings.LastIndexAny(s[:i], " \"'\n") + 1; j <= i {
			return s[:j] + trim(s[i+len("/repo/"):])
		}
	}
	return s
}

// wrap keeps a text to the width of a page.
func wrap(s string) string {
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
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}
