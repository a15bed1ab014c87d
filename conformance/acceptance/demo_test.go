//go:build acceptance

package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/conformance/fakemodel"
	"github.com/flow-agents/flow-agents/generators/load"
	"github.com/flow-agents/flow-agents/internal/golden"
)

// eslint is the linter of the demo: the last release that reads .eslintrc.json
// by itself.
const eslint = "eslint@8.57.1"

// hostVersion is the one thing in the demo's output that is not ours: a newer
// host that behaves the same is no difference.
var hostVersion = regexp.MustCompile(`Claude Code \d[\w.-]*`)

// TestDemo plays one session of the real Claude Code, with a real linter that
// is red before and green after it, and prints what the model was told, for
// people who want to see a refusal before they install one. UPDATE writes what
// README must show.
func TestDemo(t *testing.T) {
	if os.Getenv("DEMO") == "" {
		t.Skip("DEMO is not set")
	}
	r := demoRig(t)
	var c Case
	require.NoError(t, readStrict(r.Data, "demo/demo.json", &c))
	seen, err := r.Run(t.Context(), c)
	require.NoError(t, err)

	play := c.Steps[len(c.Steps)-1]
	messages := lastRequest(t, filepath.Join(r.LogDir, c.Name, "1"))
	lines := transcript(messages)
	// The last words get no answer, so no request holds them.
	for _, m := range play.Main[len(play.Main)-1] {
		lines = append(lines, "model  "+m.Say)
	}
	got := fmt.Sprintf("$ flow-agents init --host %s --yes\n$ claude -p %q      # Claude Code %s\n\n%s\n",
		r.ID, play.Prompt, r.Program.Version, strings.Join(lines, "\n"))
	fmt.Print(got)

	// The refusal in between is one of the case's own checks.
	for _, s := range seen {
		require.NoError(t, s.Err, s.Cell)
	}
	red, green := result(t, messages, "lint-before"), result(t, messages, "lint-after")
	require.True(t, red.Error, "lint is red before: %s", red)
	require.Contains(t, red.String(), "Error/eqeqeq", "it is the rule that is red, not the linter")
	require.False(t, green.Error, "lint is green after: %s", green)
	require.Equal(t, "lint passes", strings.TrimSpace(green.String()), "the linter has nothing to say any more")
	sameDemo(t, got)
}

// demoRig is Claude Code in a project whose lint script runs ESLint. It skips
// where either can't be installed.
func demoRig(t *testing.T) *Rig {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	desc, err := load.Load(os.DirFS(root), load.Options{})
	require.NoError(t, err)
	r := &Rig{ID: "claude-code", Catalog: desc.Catalog, Data: os.DirFS("testdata"), LogDir: t.TempDir(), Deadline: time.Minute}
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
	linter, err := installLinter(t.Context(), cache)
	if err != nil {
		t.Skip(err)
	}
	r.Tools, err = BuildTools(t.Context(), root, t.TempDir())
	require.NoError(t, err)

	script, err := json.Marshal("'" + linter + "' --format unix src")
	require.NoError(t, err)
	r.Host.Project["package.json"] = fmt.Sprintf("{\"private\": true, \"scripts\": {\"lint\": %s}}\n", script)
	r.Host.Project[".eslintrc.json"] = `{"root": true, "parserOptions": {"ecmaVersion": 2022, "sourceType": "module"}, "rules": {"eqeqeq": "error"}}` + "\n"
	r.Host.Project["src/admin.js"] = `export const isAdmin = (user) => user.role == "admin";` + "\n"
	return r
}

// installLinter puts ESLint beside the hosts and returns its program.
func installLinter(ctx context.Context, cache string) (string, error) {
	dir := filepath.Join(cache, strings.ReplaceAll(eslint, "@", "-"))
	program := filepath.Join(dir, "node_modules", ".bin", "eslint")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	return program, npmInstall(ctx, dir, eslint)
}

// sameDemo holds the output against the file that README shows.
func sameDemo(t *testing.T, got string) {
	const name = "testdata/demo/transcript.txt"
	if want, err := os.ReadFile(name); err == nil && !golden.Updating() {
		got = hostVersion.ReplaceAllLiteralString(got, hostVersion.FindString(string(want)))
	}
	golden.Equal(t, name, []byte(got))
}

// A message is a part of the conversation, as the host sends it to the model.
type message struct {
	Role    string
	Content blocks
}

// blocks are what a message consists of; plain text is one block.
type blocks []block

type block struct {
	Type, Text, Name, ID string
	Input                struct {
		Command string
		Path    string `json:"file_path"`
		Old     string `json:"old_string"`
		New     string `json:"new_string"`
	}
	Call    string `json:"tool_use_id"`
	Error   bool   `json:"is_error"`
	Content blocks // of a tool's result
}

func (b *blocks) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*b = blocks{{Type: "text", Text: s}}
		return nil
	}
	return json.Unmarshal(data, (*[]block)(b))
}

// String is the text of a tool's result.
func (b block) String() string {
	var texts []string
	for _, c := range b.Content {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n")
}

// lastRequest is the conversation as the model saw it at the end.
func lastRequest(t *testing.T, dir string) []message {
	names, err := filepath.Glob(filepath.Join(dir, "request-*.json"))
	require.NoError(t, err)
	for _, name := range slices.Backward(names) {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		var req struct {
			Conversation string
			Body         json.RawMessage // of any form, unless it is the conversation
		}
		require.NoError(t, json.Unmarshal(data, &req))
		if req.Conversation == fakemodel.Main {
			var body struct{ Messages []message }
			require.NoError(t, json.Unmarshal(req.Body, &body))
			return body.Messages
		}
	}
	require.Fail(t, "the host sent no request", dir)
	return nil
}

// result is what the model was told about a call.
func result(t *testing.T, messages []message, call string) block {
	for _, m := range messages {
		for _, b := range m.Content {
			if b.Type == "tool_result" && b.Call == call {
				return b
			}
		}
	}
	require.Fail(t, "the model was told nothing about the call "+call)
	return block{}
}

// transcript is what the model said and did, and what it was told of that. What
// it read is left out.
func transcript(messages []message) []string {
	var out []string
	reads := map[string]bool{}
	for _, m := range messages {
		for _, b := range m.Content {
			in := b.Input
			switch {
			case b.Type == "text" && m.Role == "assistant":
				out = append(out, "model  "+b.Text)
			case b.Type == "tool_use" && in.Command != "":
				out = append(out, "model  "+b.Name+": "+in.Command)
			case b.Type == "tool_use" && in.New != "":
				out = append(out, fmt.Sprintf("model  %s %s: %s -> %s", b.Name, trim(in.Path), in.Old, in.New))
			case b.Type == "tool_use":
				reads[b.ID] = true
			case b.Type == "tool_result" && !reads[b.Call]:
				out = append(out, "host   "+wrap(trim(b.String())))
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
