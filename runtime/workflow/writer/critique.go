package writer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// A Review is what one reviewer found.
type Review struct {
	Reviewer, Verdict, Summary string
	Findings                   []Finding
}

// A Finding is one thing that a review objects to.
type Finding struct {
	ID          string `json:"id"`
	Severity    string `json:"severity"`
	Status      string `json:"status"`
	Description string `json:"description"`
}

// Critique adds a review to critique.json. The whole passes with the newest
// review; a review that passes can leave no finding of high severity open.
func (w *Writer) Critique(slug string, r Review) error {
	if err := oneOf("the verdict", r.Verdict, Verdicts); err != nil {
		return err
	}
	var err error
	if r.Reviewer, err = clean("the reviewer", r.Reviewer); err != nil {
		return err
	}
	if r.Summary, err = clean("the summary", r.Summary); err != nil {
		return err
	}
	r.Findings = slices.Clone(r.Findings)
	for i, f := range r.Findings {
		if err := oneOf("the severity", f.Severity, Severities); err != nil {
			return err
		}
		if f.Description, err = clean("finding "+strconv.Itoa(i+1), f.Description); err != nil {
			return err
		}
		if r.Verdict == "pass" && (f.Severity == "critical" || f.Severity == "high") {
			return errors.New("a review with an open finding of severity " + f.Severity + " doesn't pass")
		}
		f.ID, f.Status = "F"+strconv.Itoa(i+1), "open"
		r.Findings[i] = f
	}
	return w.change(func() error {
		slug, state, err := w.pick(slug, false)
		if err != nil {
			return err
		}
		path := w.path(slug, "critique.json")
		d, err := w.read(path)
		if err != nil {
			return err
		}
		all, err := d.objects("critiques")
		if err != nil {
			return fmt.Errorf("%s: %w", w.show(path), err)
		}
		for _, old := range all {
			supersede(old)
		}
		one := &document{}
		one.set("id", "R"+strconv.Itoa(len(all)+1))
		one.set("reviewer", r.Reviewer)
		one.set("reviewed_at", w.stamp())
		one.set("verdict", r.Verdict)
		one.set("summary", r.Summary)
		one.set("findings", append([]Finding{}, r.Findings...))
		if len(d.members) == 0 {
			d.set("schema_version", "1.0")
			d.set("task_slug", slug)
			d.set("required", true)
		}
		d.set("status", r.Verdict)
		d.set("critiques", append(all, one))
		if err := w.write(path, d); err != nil {
			return err
		}
		return w.save(slug, state)
	})
}

// supersede closes the findings of an earlier review: the newest one says what
// is still open.
func supersede(review *document) {
	findings, err := review.objects("findings")
	if err != nil || findings == nil {
		return // of another shape, and somebody else's
	}
	for _, f := range findings {
		var status string
		if f.get("status", &status) && status == "open" {
			f.set("status", "superseded")
		}
	}
	review.set("findings", findings)
}
