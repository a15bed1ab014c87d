package writer

import (
	"fmt"
	"slices"
)

// The words of a check's status, a review's verdict and a finding's severity.
var (
	CheckStatuses = []string{"pass", "fail", "not_verified", "skip"}
	Verdicts      = []string{"pass", "fail"}
	Severities    = []string{"critical", "high", "medium", "low"}
)

// A Check is one thing that the agent says it verified.
type Check struct {
	ID, Status, Command, Summary string
}

// Evidence records a check in evidence.json, in place of an earlier one of the
// same id. The verdict follows from the checks: fail if one failed, pass if
// there are some and all passed or were skipped, else not_verified.
func (w *Writer) Evidence(slug string, c Check) error {
	if err := oneOf("the status", c.Status, CheckStatuses); err != nil {
		return err
	}
	var err error
	if c.ID == "" {
		c.ID = c.Command
	}
	if c.ID, err = clean("the check's id or command", c.ID); err != nil {
		return err
	}
	if c.Command, err = optional("the command", c.Command); err != nil {
		return err
	}
	if c.Summary, err = optional("the summary", c.Summary); err != nil {
		return err
	}
	return w.change(func() error {
		slug, state, err := w.pick(slug, false)
		if err != nil {
			return err
		}
		path := w.path(slug, "evidence.json")
		d, err := w.read(path)
		if err != nil {
			return err
		}
		checks, err := d.objects("checks")
		if err != nil {
			return fmt.Errorf("%s: %w", w.show(path), err)
		}
		check := &document{}
		i := slices.IndexFunc(checks, func(k *document) bool {
			var id string
			return k.get("id", &id) && id == c.ID
		})
		if i >= 0 {
			check = checks[i]
		} else {
			checks = append(checks, check)
		}
		w.fill(check, c)
		verdict, gaps := judge(checks)
		if len(d.members) == 0 {
			d.set("schema_version", "2.0")
			d.set("task_slug", slug)
		}
		d.set("verdict", verdict)
		d.set("checks", checks)
		d.set("not_verified_gaps", gaps)
		if err := w.write(path, d); err != nil {
			return err
		}
		return w.save(slug, state)
	})
}

func (w *Writer) fill(d *document, c Check) {
	d.set("id", c.ID)
	kind := "statement"
	if c.Command != "" {
		kind = "command"
	}
	d.set("kind", kind)
	d.set("status", c.Status)
	for key, value := range map[string]string{"command": c.Command, "summary": c.Summary} {
		if value == "" {
			d.remove(key)
		}
	}
	if c.Command != "" {
		d.set("command", c.Command)
	}
	if c.Summary != "" {
		d.set("summary", c.Summary)
	}
	d.set("recorded_at", w.stamp())
}

// judge is the verdict of checks, and the ids of those that nothing confirms.
func judge(checks []*document) (verdict string, gaps []string) {
	verdict, gaps = "not_verified", []string{}
	failed, passed := false, false
	for _, c := range checks {
		var id, status string
		c.get("id", &id)
		c.get("status", &status)
		switch status {
		case "fail":
			failed = true
		case "pass":
			passed = true
		case "skip":
		default:
			gaps = append(gaps, id)
		}
	}
	switch {
	case failed:
		verdict = "fail"
	case passed && len(gaps) == 0:
		verdict = "pass"
	}
	return verdict, gaps
}
