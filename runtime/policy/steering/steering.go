// Package steering keeps the agent on its task: at every turn of the user, at
// every start of a session, and after a call to a delegate, it tells
// the model where the work stands and what comes next. It never refuses
// anything.
package steering

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/tables"
	"github.com/flow-agents/flow-agents/runtime/text"
	"github.com/flow-agents/flow-agents/runtime/workflow"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// The rules that a decision can name.
const (
	RulePrompt   = "prompt"
	RuleResume   = "resume"
	RuleDelegate = "delegate"
	RuleOther    = "other-actor"
	RuleMap      = "context-map"
)

// contextMap is a guide to the repository, if it has one.
const contextMap = "docs/context-map.md"

// Decide returns the text for an event, if there is any. The error is a
// trouble with the state on disk, for the log; the decision holds even so.
func Decide(e *event.Event, v workspace.View, s workflow.Store, stateful bool) (event.Decision, error) {
	if e.AgentID != "" || e.Truncated || e.NotUser {
		return event.Decision{}, nil
	}
	var t teller
	var found workflow.Found
	var ok bool
	var err error
	if stateful {
		// A repository that was not set up is read but not written to.
		found, ok, err = s.Find(workflow.Actor(e.Host, e.Session), v.Managed)
	}
	rule := ""
	switch {
	case ok && !found.Mine:
		if e.Kind != event.PostToolUse {
			rule = RuleOther
			t.other(found)
		}
	case e.Kind == event.UserPromptSubmit:
		if ok && found.Task.Open() {
			rule = RulePrompt
			t.prompt(s, found)
		}
	case e.Kind == event.AgentSpawn:
		if ok && found.Task.Open() {
			rule = RuleResume
			t.resume(s, found, workflow.Actor(e.Host, e.Session), v.Home)
		}
	case e.Kind == event.PostToolUse:
		if ok && found.Task.Open() && !e.Call.Pending {
			rule = RuleDelegate
			t.delegate(found.Task)
		}
	}
	if e.Kind == event.AgentSpawn {
		if info, err := os.Lstat(filepath.Join(v.Root, contextMap)); err == nil && info.Mode().IsRegular() {
			if rule == "" {
				rule = RuleMap
			}
			t.say("CONTEXT MAP: read " + contextMap + " before you search the repository.")
		}
	}
	if rule == "" {
		return event.Decision{}, err
	}
	return event.Decision{
		Verdict: event.Context, Policy: tables.Policies[tables.WorkflowSteering].ID, Rule: rule, Text: strings.Join(t.lines, "\n"),
	}, err
}

// maxLine is the longest line in bytes, and maxActor the longest name in it.
const (
	maxLine  = 1000
	maxActor = 120
)

type teller struct{ lines []string }

// say adds one line. Whatever is in it stays on it: no value from outside can
// add a line that looks like one of ours.
func (t *teller) say(s string) { t.lines = append(t.lines, text.Line(s, maxLine)) }

func (t *teller) field(name, value string) {
	if value != "" {
		t.say(name + ": " + value)
	}
}

// attention: the task can't simply go on.
func attention(t workflow.Task) bool {
	switch t.Status {
	case "blocked", "failed", "needs_decision", "not_verified":
		return true
	}
	return t.Next.Status == "needs_user" || t.Next.Status == "blocked"
}

func (t *teller) prompt(s workflow.Store, f workflow.Found) {
	if attention(f.Task) {
		t.say("WORKFLOW STATE ATTENTION: the open task can't simply go on; deal with this first.")
	} else {
		t.say("WORKFLOW STATE: a task is open. Carry on with its next step unless the user asks for something else.")
	}
	t.adopted(f)
	t.state(f.Task)
	t.next(f.Task)
	t.caution(f.Task)
	t.critique(s, f.Task.Slug)
}

// resume grounds a session. home is the machine's folder, where the program is
// that writes the state.
func (t *teller) resume(s workflow.Store, f workflow.Found, actor, home string) {
	slug := f.Task.Slug
	t.say("RESUME: " + slug + " is the open task of this work tree; its state on disk outlives the conversation.")
	t.adopted(f)
	t.state(f.Task)
	t.next(f.Task)
	t.caution(f.Task)
	t.field("Plan", s.Plan(slug))
	h := s.Handoff(slug)
	t.field("First step", h.FirstStep)
	for _, b := range h.Blockers {
		t.field("Blocker", b)
	}
	t.critique(s, slug)
	if trust, ok := s.Trust(slug); ok && trust.Total > 0 {
		line := "Claims: " + strconv.Itoa(trust.Verified) + " of " + strconv.Itoa(trust.Total) + " verified"
		if len(trust.Unresolved) > 0 {
			line += "; open: " + strings.Join(trust.Unresolved, ", ")
		}
		t.say(line)
	}
	t.field("ACTOR", text.Line(actor, maxActor))
	program := "flow-agents"
	if home != "" {
		program = filepath.Join(home, "bin", program)
	}
	if strings.ContainsRune(program, ' ') {
		program = `"` + program + `"`
	}
	t.say("Read the state before you act on it, and record what changes (advance-state): " + program + " workflow --help")
}

func (t *teller) delegate(k workflow.Task) {
	t.say("WORKFLOW STATE: work was delegated. Check the result against the task before you build on it, and record the phase that you are in.")
	t.state(k)
	t.next(k)
}

func (t *teller) other(f workflow.Found) {
	t.say("Another actor (" + f.Owner + ") is at work on " + f.Task.Slug + " here. It is not your task: leave its state alone.")
}

func (t *teller) adopted(f workflow.Found) {
	if f.Adopted {
		t.say("Nobody was at work on it any more, so it is yours now.")
	}
}

func (t *teller) state(k workflow.Task) {
	line := "STATE: " + k.Slug + " is status:" + orUnknown(k.Status)
	if k.Phase != "" {
		line += " phase:" + k.Phase
	}
	t.say(line + ".")
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func (t *teller) next(k workflow.Task) {
	t.field("Next", k.Next.Summary)
	t.field("Skills", strings.Join(k.Next.Skills, ", "))
	t.field("Operations", strings.Join(k.Next.Operations, ", "))
	t.field("Command", k.Next.Command)
	t.field("Target phase", k.Next.TargetPhase)
}

func (t *teller) caution(k workflow.Task) {
	switch {
	case k.Status == "failed":
		t.say("The last verification failed: find the cause before you change anything else, and don't call the work done.")
	case k.Status == "needs_decision" || k.Next.Status == "needs_user":
		t.say("A decision of the user is outstanding: ask for it instead of choosing yourself.")
	case k.Status == "not_verified":
		t.say("Nothing has confirmed the result yet: verify it before you call the work done.")
	}
}

func (t *teller) critique(s workflow.Store, slug string) {
	c, ok := s.Critique(slug)
	if !ok || !c.Needed {
		return
	}
	line := "Critique: required and " + orUnknown(c.Status)
	for i, n := range c.Counts {
		sep := ", "
		if i == 0 {
			sep = "; open findings: "
		}
		line += sep + strconv.Itoa(n.N) + " " + n.Name
	}
	if c.First != "" {
		line += "; first: " + c.First
	}
	t.say(line + ".")
}
