package writer

import (
	"fmt"
	"slices"
	"strconv"
)

// CriterionStatuses are the words of a criterion's status.
var CriterionStatuses = []string{"pending", "pass", "fail", "not_verified", "accepted_gap"}

// A Criterion is one thing that a task must fulfil.
type Criterion struct {
	ID          string      `json:"id"`
	Description string      `json:"description"`
	Status      string      `json:"status"`
	Refs        []Reference `json:"evidence_refs"`
}

// A Reference says what proves a criterion. Of kind command, the excerpt is the
// command.
type Reference struct {
	Kind    string `json:"kind"`
	Summary string `json:"summary"`
	Excerpt string `json:"excerpt,omitempty"`
}

// Command is the reference to a command that proves something.
func Command(command string) Reference {
	return Reference{Kind: "command", Summary: "this command succeeds", Excerpt: command}
}

// references checks what is to be added to what proves a criterion.
func references(refs []Reference) ([]Reference, error) {
	out := make([]Reference, 0, len(refs))
	for _, r := range refs {
		var err error
		if r.Summary, err = clean("the note", r.Summary); err != nil {
			return nil, err
		}
		if r.Excerpt, err = optional("the command", r.Excerpt); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// numbered checks new criteria and gives ids to those without: AC1, AC2.
func numbered(list []Criterion) ([]Criterion, error) {
	out := make([]Criterion, 0, len(list))
	seen := map[string]bool{}
	for i, c := range list {
		var err error
		if c.Description, err = clean("criterion "+strconv.Itoa(i+1), c.Description); err != nil {
			return nil, err
		}
		if c.ID == "" {
			c.ID = "AC" + strconv.Itoa(i+1)
		}
		if c.ID, err = name("a criterion's id", c.ID); err != nil {
			return nil, err
		}
		if c.Refs, err = references(c.Refs); err != nil {
			return nil, err
		}
		if seen[c.ID] {
			return nil, fmt.Errorf("two criteria are called %s", c.ID)
		}
		seen[c.ID] = true
		c.Status = "pending"
		out = append(out, c)
	}
	return out, nil
}

// criteria reads a task's criteria, both as documents, which keep what others
// wrote into them, and as far as this package knows them.
func (w *Writer) criteria(slug string) ([]*document, []Criterion, error) {
	d, err := w.read(w.path(slug, "acceptance.json"))
	if err != nil {
		return nil, nil, err
	}
	docs, err := d.objects("criteria")
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", w.show(w.path(slug, "acceptance.json")), err)
	}
	known := make([]Criterion, len(docs))
	for i, c := range docs {
		c.get("id", &known[i].ID)
		c.get("description", &known[i].Description)
		c.get("status", &known[i].Status)
	}
	return docs, known, nil
}

// Criterion sets the status and description of a criterion, each if it is given,
// or adds one that is described. References are added to what proves it.
func (w *Writer) Criterion(slug string, c Criterion) error {
	if c.Status != "" {
		if err := oneOf("the status", c.Status, CriterionStatuses); err != nil {
			return err
		}
	}
	var err error
	if c.Description, err = optional("the description", c.Description); err != nil {
		return err
	}
	if c.ID, err = name("the criterion's id", c.ID); err != nil {
		return err
	}
	if c.Refs, err = references(c.Refs); err != nil {
		return err
	}
	return w.change(func() error {
		slug, state, err := w.pick(slug, false)
		if err != nil {
			return err
		}
		docs, known, err := w.criteria(slug)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(known, func(k Criterion) bool { return k.ID == c.ID })
		if i < 0 {
			if c.Description == "" {
				return fmt.Errorf("%s has no criterion %q, only %s; a new one needs a description", slug, c.ID, ids(known))
			}
			d := &document{}
			d.set("id", c.ID)
			d.set("description", c.Description)
			d.set("status", "pending")
			d.set("evidence_refs", []Reference{})
			docs, i = append(docs, d), len(docs)
		}
		if err := docs[i].change(c); err != nil {
			return fmt.Errorf("%s: criterion %s: %w", w.show(w.path(slug, "acceptance.json")), c.ID, err)
		}
		path := w.path(slug, "acceptance.json")
		a, err := w.read(path)
		if err != nil {
			return err
		}
		if len(a.members) == 0 {
			a.set("schema_version", "1.0")
			a.set("task_slug", slug)
		}
		a.set("criteria", docs)
		if err := w.write(path, a); err != nil {
			return err
		}
		return w.save(slug, state)
	})
}

// change puts what is given of a criterion into its document.
func (d *document) change(c Criterion) error {
	refs, err := d.objects("evidence_refs")
	if err != nil {
		return err
	}
	all := make([]any, 0, len(refs)+len(c.Refs))
	for _, r := range refs {
		all = append(all, r)
	}
	for _, r := range c.Refs {
		all = append(all, r)
	}
	d.set("evidence_refs", all)
	if c.Description != "" {
		d.set("description", c.Description)
	}
	if c.Status != "" {
		d.set("status", c.Status)
	}
	return nil
}

func ids(list []Criterion) string {
	if len(list) == 0 {
		return "none"
	}
	out := ""
	for i, c := range list {
		if i > 0 {
			out += ", "
		}
		out += c.ID
	}
	return out
}
