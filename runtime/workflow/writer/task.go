package writer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/flow-agents/flow-agents/runtime/disk"
	"github.com/flow-agents/flow-agents/runtime/workflow"
)

// The words of schema/workflow.cue; a test holds them together.
var (
	Statuses     = []string{"new", "planning", "planned", "in_progress", "blocked", "verifying", "verified", "needs_decision", "not_verified", "failed", "delivered", "canceled", "accepted", "archived"}
	Phases       = []string{"idea", "backlog", "pickup", "planning", "execution", "verification", "goal_fit", "evidence", "release", "learning", "done"}
	NextStatuses = []string{"continue", "needs_user", "blocked", "done"}
)

// A Next is what should happen next in a task.
type Next struct {
	Status, Summary, Command, TargetPhase string
}

// Start makes a task and the actor's pointer to it. criteria are what it must
// fulfil, each with a command that proves it or without. A task that is there
// already is an error, unless it is unfinished business of a start that was cut
// short.
func (w *Writer) Start(slug, request string, criteria []Criterion) error {
	if !workflow.ValidSlug(slug) {
		return badSlug(slug)
	}
	request, err := clean("the request", request)
	if err != nil {
		return err
	}
	if criteria, err = numbered(criteria); err != nil {
		return err
	}
	return w.change(func() error {
		state := w.path(slug, "state.json")
		if _, err := os.Lstat(state); err == nil {
			return fmt.Errorf("%s is there already; flow-agents workflow resume %s goes on with it", w.show(state), slug)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		dir := w.path(slug, "")
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if !disk.IsFolder(dir) {
			return fmt.Errorf("%s is not a folder of its own: nothing is written through a link", w.show(dir))
		}
		a := &document{}
		a.set("schema_version", "1.0")
		a.set("task_slug", slug)
		a.set("source_request", request)
		a.set("criteria", criteria)
		if err := w.write(w.path(slug, "acceptance.json"), a); err != nil {
			return err
		}
		d := &document{}
		d.set("schema_version", "1.0")
		d.set("task_slug", slug)
		d.set("repo", filepath.Base(w.root))
		d.set("status", "new")
		d.set("phase", "pickup")
		d.set("created_at", w.stamp())
		d.set("next_action", next(Next{Status: "continue", Summary: "Plan the task, then advance it to phase execution."}))
		if err := w.save(slug, d); err != nil {
			return err
		}
		return w.point(slug, "start")
	})
}

// Resume makes an open task the actor's; whoever had it before has it no more.
func (w *Writer) Resume(slug string) error {
	if w.actor == "" {
		return errors.New("it isn't known who takes the task: give --actor NAME")
	}
	return w.change(func() error {
		if _, _, err := w.pick(slug, true); err != nil {
			return err
		}
		for _, p := range w.live() {
			if p.Slug == slug && p.Owner != w.actor {
				if err := os.Remove(filepath.Join(w.dir, "current", workflow.PointerName(p.Owner))); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
		}
		return w.point(slug, "resume")
	})
}

// Advance sets a task's status and phase; an empty one stays as it is.
func (w *Writer) Advance(slug, status, phase string) error {
	if status == "" && phase == "" {
		return errors.New("nothing to change: give a status, a phase or both")
	}
	if status != "" {
		if err := oneOf("the status", status, Statuses); err != nil {
			return err
		}
		switch status {
		case "delivered", "accepted":
			return fmt.Errorf("%s is not a status to advance to: flow-agents workflow done checks the task and sets it", status)
		case "canceled", "archived":
			return fmt.Errorf("%s is not a status to advance to: flow-agents workflow cancel ends a task, with a reason", status)
		}
	}
	if phase != "" {
		if err := oneOf("the phase", phase, Phases); err != nil {
			return err
		}
		if phase == "done" {
			return errors.New("done is not a phase to advance to: flow-agents workflow done checks the task and sets it")
		}
	}
	return w.change(func() error {
		slug, d, err := w.pick(slug, false)
		if err != nil {
			return err
		}
		if status != "" {
			d.set("status", status)
		}
		if phase != "" {
			d.set("phase", phase)
		}
		return w.save(slug, d)
	})
}

// Next sets what should happen next. What the state holds beside it under
// next_action stays.
func (w *Writer) Next(slug string, n Next) error {
	if n.Status == "" {
		n.Status = "continue"
	}
	if err := oneOf("the status", n.Status, NextStatuses); err != nil {
		return err
	}
	if n.Status == "done" {
		return errors.New("done is not a next step: flow-agents workflow done checks the task and sets it")
	}
	if n.TargetPhase != "" {
		if err := oneOf("the target phase", n.TargetPhase, Phases); err != nil {
			return err
		}
	}
	var err error
	if n.Summary, err = clean("the summary", n.Summary); err != nil {
		return err
	}
	if n.Command, err = optional("the command", n.Command); err != nil {
		return err
	}
	return w.change(func() error {
		slug, d, err := w.pick(slug, false)
		if err != nil {
			return err
		}
		old := &document{}
		d.get("next_action", old)
		for _, m := range next(n).members {
			old.set(m.key, m.raw)
		}
		if n.Command == "" {
			old.remove("command")
		}
		if n.TargetPhase == "" {
			old.remove("target_phase")
		}
		d.set("next_action", old)
		return w.save(slug, d)
	})
}

func next(n Next) *document {
	d := &document{}
	d.set("status", n.Status)
	d.set("summary", n.Summary)
	if n.Command != "" {
		d.set("command", n.Command)
	}
	if n.TargetPhase != "" {
		d.set("target_phase", n.TargetPhase)
	}
	return d
}

// Done sets a task delivered, if each criterion that it has passes or is an
// accepted gap, no evidence fails and no review asks for more. Otherwise the
// error is ErrNotDone and says what is open.
func (w *Writer) Done(slug string) error {
	return w.change(func() error {
		slug, d, err := w.pick(slug, false)
		if err != nil {
			return err
		}
		open, err := w.open(slug)
		if err != nil {
			return err
		}
		if len(open) > 0 {
			return fmt.Errorf("%s is %w:\n  %s", slug, ErrNotDone, strings.Join(open, "\n  "))
		}
		return w.finish(slug, d, "delivered", "The task is delivered.")
	})
}

// open lists what keeps a task from being done.
func (w *Writer) open(slug string) ([]string, error) {
	var out []string
	_, criteria, err := w.criteria(slug)
	if err != nil {
		return nil, err
	}
	for _, c := range criteria {
		if c.Status != "pass" && c.Status != "accepted_gap" {
			out = append(out, "criterion "+c.ID+" is "+c.Status+": "+c.Description)
		}
	}
	d, err := w.read(w.path(slug, "critique.json"))
	if err != nil {
		return nil, err
	}
	e, err := w.read(w.path(slug, "evidence.json"))
	if err != nil {
		return nil, err
	}
	var verdict string
	if e.get("verdict", &verdict); verdict == "fail" {
		out = append(out, "the evidence says fail")
	}
	var required bool
	var status string
	d.get("required", &required)
	if d.get("status", &status); required && status != "pass" {
		out = append(out, "the review is "+strconv.Quote(status)+", not pass")
	}
	return out, nil
}

// Cancel ends a task that will not be done.
func (w *Writer) Cancel(slug, reason string) error {
	reason, err := clean("the reason", reason)
	if err != nil {
		return err
	}
	return w.change(func() error {
		slug, d, err := w.pick(slug, false)
		if err != nil {
			return err
		}
		return w.finish(slug, d, "canceled", "Canceled: "+reason)
	})
}

func (w *Writer) finish(slug string, d *document, status, summary string) error {
	d.set("status", status)
	d.set("phase", "done")
	d.set("next_action", next(Next{Status: "done", Summary: summary}))
	return w.save(slug, d)
}
