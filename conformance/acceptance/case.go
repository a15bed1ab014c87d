// Package acceptance runs real agent hosts against a fake model and watches
// what the installed bundle does there.
//
// Everything is data: a case (testdata/cases) says what is set up, what the
// model does and what must be seen, in words that every host shares; a host
// folder (testdata/<host>) says how those words are spelled there. How a host
// is installed and started is the driver of its manifest.
//
// Sessions run with a home, a project and an environment of their own, and
// talk to 127.0.0.1 only. The runs themselves need the build tag acceptance.
package acceptance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/conformance/fakemodel"
)

// A Case is one story that a host must survive.
type Case struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Steps []Step `json:"steps"`
}

// A Step is one thing that happens in a case. Texts in it may hold {base},
// {repo}, {home}, {dir} (where the session runs) and {now}.
type Step struct {
	// Do is one of the verbs below.
	Do string `json:"do"`
	// In is the folder below the case's own, default "repo".
	In string `json:"in,omitempty"`
	// Args are more arguments for init and uninstall; Global makes them work
	// on the user's home instead of the folder.
	Args   []string `json:"args,omitempty"`
	Global bool     `json:"global,omitempty"`

	// Of session.
	Prompt string `json:"prompt,omitempty"`
	// Resume continues the latest session instead of starting one.
	Resume bool `json:"resume,omitempty"`
	// Asking runs the host so that it asks before it changes anything; nobody
	// is there to say yes.
	Asking bool    `json:"asking,omitempty"`
	Main   []Turn  `json:"main,omitempty"`
	Sub    []Turn  `json:"sub,omitempty"`
	Checks []Check `json:"checks,omitempty"`
}

// Verbs of a step.
const (
	DoInit      = "init"      // flow-agents init
	DoUninstall = "uninstall" // flow-agents uninstall
	DoCommit    = "commit"    // commit everything
	DoClone     = "clone"     // clone the repository to In, with a new, empty home
	DoWorktree  = "worktree"  // add a worktree at In
	DoWorkflow  = "workflow"  // put an open task into the repository
	DoForeign   = "foreign"   // put a hook of the user's own into the repository
	DoSession   = "session"   // run the host
)

// A Turn is what the model does in one answer.
type Turn []Move

// A Move is a piece of text or a call. Call is a word of the host's
// vocabulary, With its arguments; ID names the call for checks.
type Move struct {
	Say  string            `json:"say,omitempty"`
	Call string            `json:"call,omitempty"`
	ID   string            `json:"id,omitempty"`
	With map[string]string `json:"with,omitempty"`
}

// A Check is one thing that must be seen after a session.
type Check struct {
	// Cell is the cell that it counts for. Default: the case's own.
	Cell string `json:"cell,omitempty"`
	// See is one of the sights of check.go.
	See string `json:"see"`
	// When limits a check to hosts on which a trap turns out so: "trap=outcome".
	When string `json:"when,omitempty"`

	Call  string   `json:"call,omitempty"`
	Text  string   `json:"text,omitempty"`
	Texts []string `json:"texts,omitempty"`
	Times *int     `json:"times,omitempty"`
	Path  string   `json:"path,omitempty"`
	Type  string   `json:"type,omitempty"`
	Event string   `json:"event,omitempty"` // canonical
	// Reason is the denial of config protection for a file of a tool.
	Reason *Reason `json:"reason,omitempty"`
}

// A Reason fills in the denial that the model must read word for word.
type Reason struct {
	File string `json:"file"`
	Tool string `json:"tool"`
}

// A Host is how one host spells the words of the cases.
type Host struct {
	// Calls maps a word to the host's tool and a template of its input.
	Calls map[string]Call `json:"calls"`
	// Resume are the arguments that continue the latest session.
	Resume []string `json:"resume"`
	// Asking are the arguments that make it ask before it changes anything.
	Asking []string `json:"asking"`
	// Report is how the host itself tells which hooks ran, if it does.
	Report *Report `json:"report,omitempty"`
	// Project are files that a project on this host has.
	Project map[string]string `json:"project"`
	// Foreign are files with a hook of the user's own, which appends a line to
	// {base}/foreign.log for every tool call.
	Foreign map[string]json.RawMessage `json:"foreign"`
	// Traps are the declared outcomes of what differs between hosts.
	Traps map[string]string `json:"traps"`
}

// A Call is a tool and its input; {word} in the input is an argument.
type Call struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// A Report is a host's own account of its hooks, in lines of JSON on its
// standard output.
type Report struct {
	// Args are the arguments that ask for it; every session has them.
	Args []string `json:"args"`
	// Fired are the top-level strings of the line about a hook that ran and
	// ended well; {native} is the host's name for the event.
	Fired map[string]string `json:"fired"`
}

// LoadHost reads testdata/<id>/host.json.
func LoadHost(fsys fs.FS, id string) (Host, error) {
	var h Host
	err := readStrict(fsys, path.Join(id, "host.json"), &h)
	return h, err
}

// LoadCases reads the cases that every host shares and those of one host, in
// the order of their file names, the shared ones first.
func LoadCases(fsys fs.FS, id string, h Host) ([]Case, error) {
	var cases []Case
	seen := map[string]bool{}
	for _, pattern := range []string{"cases/*.json", path.Join(id, "cases", "*.json")} {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		for _, name := range names {
			var c Case
			if err := readStrict(fsys, name, &c); err != nil {
				return nil, err
			}
			if err := c.check(h); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if seen[c.Name] {
				return nil, fmt.Errorf("%s: there are two cases %q", name, c.Name)
			}
			seen[c.Name] = true
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		return nil, errors.New("no cases found")
	}
	return cases, nil
}

func (c Case) check(h Host) error {
	if c.Name == "" || c.Title == "" {
		return errors.New("a case needs name and title")
	}
	for i, s := range c.Steps {
		if err := s.check(h); err != nil {
			return fmt.Errorf("step %d (%s): %w", i+1, s.Do, err)
		}
	}
	return nil
}

func (s Step) check(h Host) error {
	switch s.Do {
	case DoInit, DoUninstall, DoCommit, DoWorkflow, DoForeign:
		return nil
	case DoClone, DoWorktree:
		if s.In == "" {
			return errors.New("needs in, the new folder")
		}
		return nil
	case DoSession:
	default:
		return errors.New("no such verb")
	}
	ids := map[string]bool{}
	for _, t := range slices.Concat(s.Main, s.Sub) {
		for _, m := range t {
			if _, ok := h.Calls[m.Call]; m.Call != "" && !ok {
				return fmt.Errorf("the host has no call %q", m.Call)
			}
			ids[m.ID] = true
		}
	}
	for _, k := range s.Checks {
		if _, ok := sights[k.See]; !ok {
			return fmt.Errorf("no such sight: %q", k.See)
		}
		if k.Call != "" && !ids[k.Call] {
			return fmt.Errorf("%s: no call has the id %q", k.See, k.Call)
		}
		if k.When != "" {
			trap, _, ok := strings.Cut(k.When, "=")
			if _, known := h.Traps[trap]; !ok || !known {
				return fmt.Errorf("%s: the host declares no outcome for the trap %q", k.See, trap)
			}
		}
	}
	return nil
}

// applies says whether a check can be made on a host.
func (k Check) applies(h Host) bool {
	if k.See == "fired" && h.Report == nil {
		return false
	}
	trap, outcome, _ := strings.Cut(k.When, "=")
	return k.When == "" || h.Traps[trap] == outcome
}

// delegated tells a delegated session from the main one: the prompt of every
// delegate call starts with it.
const delegated = "DELEGATED TASK"

// script spells a session in the host's own vocabulary.
func (h Host) script(s Step, fill func(string) string) (fakemodel.Script, error) {
	out := fakemodel.Script{SubMark: delegated}
	for _, c := range []struct {
		from []Turn
		to   *[]fakemodel.Turn
	}{{s.Main, &out.Main}, {s.Sub, &out.Sub}} {
		for _, turn := range c.from {
			var t fakemodel.Turn
			for _, m := range turn {
				b, err := h.block(m, fill)
				if err != nil {
					return out, err
				}
				t.Blocks = append(t.Blocks, b)
			}
			*c.to = append(*c.to, t)
		}
	}
	return out, nil
}

func (h Host) block(m Move, fill func(string) string) (fakemodel.Block, error) {
	if m.Call == "" {
		return fakemodel.Block{Text: fill(m.Say)}, nil
	}
	call := h.Calls[m.Call]
	var input any
	if err := json.Unmarshal(call.Input, &input); err != nil {
		return fakemodel.Block{}, fmt.Errorf("call %s: %w", m.Call, err)
	}
	var pairs []string
	for k, v := range m.With {
		pairs = append(pairs, "{"+k+"}", fill(v))
	}
	data, err := json.Marshal(mapStrings(input, strings.NewReplacer(pairs...).Replace))
	if err != nil {
		return fakemodel.Block{}, err
	}
	return fakemodel.Block{Tool: call.Tool, Input: data, ID: m.ID}, nil
}

// tool is the host's name for the tool of a call.
func (s Step) tool(h Host, id string) string {
	for _, t := range slices.Concat(s.Main, s.Sub) {
		for _, m := range t {
			if m.ID == id {
				return h.Calls[m.Call].Tool
			}
		}
	}
	return ""
}

// mapStrings applies f to every string of a decoded JSON value.
func mapStrings(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		for i := range v {
			v[i] = mapStrings(v[i], f)
		}
	case map[string]any:
		for k := range v {
			v[k] = mapStrings(v[k], f)
		}
	}
	return v
}

func readStrict(fsys fs.FS, name string, v any) error {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
