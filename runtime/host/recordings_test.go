package host

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/internal/golden"
	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/tables"
)

// Where payloads are: those that hosts sent, and those that were put together
// from what is known of hosts that could not be run.
var folders = []string{"../../conformance/recordings", "../../conformance/derived"}

// A recording is a payload that a host sent, or is documented to send.
type recording struct {
	name, native string
	data         []byte
}

// recorded lists the payloads of a host whose event has a mapping. The name of
// the file begins with the native event.
func recorded(t testing.TB, h *tables.Host) []recording {
	var out []recording
	for _, f := range folders {
		out = append(out, payloads(t, h, filepath.Join(f, h.ID))...)
	}
	return out
}

func payloads(t testing.TB, h *tables.Host, dir string) []recording {
	var out []recording
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == dir:
			return fs.SkipAll // nothing of this host was recorded
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "calls" || d.Name() == "answers"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".json":
			return nil
		}
		native := ""
		for _, s := range h.Surfaces {
			for _, e := range s.Events {
				if strings.HasPrefix(d.Name(), e.Native+".") && len(e.Native) > len(native) {
					native = e.Native
				}
			}
		}
		if native == "" {
			return nil
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out = append(out, recording{filepath.ToSlash(rel), native, data})
		return err
	})
	require.NoError(t, err)
	return out
}

// summary is what the golden files show of an event.
type summary struct {
	Recording, Surface, Event string
	Also                      []string `json:",omitempty"`
	Session, Cwd              string
	AgentID, Model, Source    string `json:",omitempty"`
	Prompt                    string `json:",omitempty"`
	NotUser                   bool   `json:",omitempty"`
	Tool, Class, CallID       string `json:",omitempty"`
	Writes, Unread, Pending   bool   `json:",omitempty"`
	Targets                   []event.Target
	Command, Error            string `json:",omitempty"`
	Input, Response           string `json:",omitempty"`
}

func summarize(name string, e *event.Event) summary {
	s := summary{
		Recording: name, Surface: e.Surface, Event: e.Kind.String(), Session: e.Session, Cwd: e.Cwd, AgentID: e.AgentID,
		Model: e.Model, Source: e.Source, Prompt: e.Prompt, NotUser: e.NotUser, Targets: e.Call.Targets,
		Tool: e.Call.Tool, CallID: e.Call.ID, Writes: e.Call.Writes, Unread: e.Call.Unread, Pending: e.Call.Pending,
		Command: e.Call.Command, Error: e.Call.Error,
	}
	for _, k := range e.Also {
		s.Also = append(s.Also, k.String())
	}
	if e.Call.Tool != "" {
		s.Class = e.Call.Class.String()
	}
	// Only that there is one, not what it is: the recording shows that.
	kind := func(v jsontext.Value) string { return strings.Trim(string(rune(v.Kind())), "\x00") }
	s.Input, s.Response = kind(e.Call.Input), kind(e.Call.Response)
	return s
}

func TestRecordings(t *testing.T) {
	for _, id := range tables.IDs {
		t.Run(id, func(t *testing.T) {
			h := tables.Lookup(id)
			var got strings.Builder
			enc := json.NewEncoder(&got)
			enc.SetIndent("", "  ")
			enc.SetEscapeHTML(false)
			for _, r := range recorded(t, h) {
				in := jsontext.FirstValue(strings.NewReader(string(r.data)), 1<<20, nil)
				require.Equal(t, jsontext.Complete, in.End, r.name)
				hook, err := Find(id, r.native)
				require.NoError(t, err)
				require.NoError(t, enc.Encode(summarize(r.name, hook.Decode(in.Text, false))))
			}
			name := filepath.Join("testdata", id+".golden")
			if _, err := os.Stat(name); os.IsNotExist(err) && got.Len() == 0 {
				return
			}
			golden.Equal(t, name, []byte(got.String()))
		})
	}
}
