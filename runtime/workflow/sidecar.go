package workflow

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/flow-agents/flow-agents/runtime/disk"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
)

// A Critique is what a review left open.
type Critique struct {
	// Needed: a review is required and has not passed.
	Needed bool
	Status string
	// Counts of open findings by severity, critical first.
	Counts []Count
	First  string
}

// A Count is how often something occurs.
type Count struct {
	Name string
	N    int
}

// severities in the order in which they are shown.
var severities = []string{"critical", "high", "medium", "low"}

// Critique reads a task's critique.json.
func (s Store) Critique(slug string) (Critique, bool) {
	v, _, ok := s.file(slug, "critique.json")
	if !ok {
		return Critique{}, false
	}
	required, _ := v.Get("required").Bool()
	c := Critique{Status: word(v.Get("status"))}
	c.Needed = required && c.Status != "pass"
	open := map[string]int{}
	v.Get("critiques").Each(func(r jsontext.Value) bool {
		r.Get("findings").Each(func(f jsontext.Value) bool {
			if word(f.Get("status")) != "open" {
				return true
			}
			sev := word(f.Get("severity"))
			if open[sev]++; c.First == "" {
				c.First = line(f.Get("description"))
			}
			return true
		})
		return true
	})
	for _, sev := range severities {
		if n := open[sev]; n > 0 {
			c.Counts = append(c.Counts, Count{sev, n})
			delete(open, sev)
		}
	}
	other := 0
	for _, n := range open {
		other += n
	}
	if other > 0 {
		c.Counts = append(c.Counts, Count{"other", other})
	}
	return c, true
}

// A Handoff is what an earlier session left for the next one.
type Handoff struct {
	FirstStep string
	Blockers  []string
}

// Handoff reads a task's handoff.json.
func (s Store) Handoff(slug string) Handoff {
	v, _, _ := s.file(slug, "handoff.json")
	var h Handoff
	v.Get("next_steps").Each(func(e jsontext.Value) bool {
		h.FirstStep = say(e)
		return h.FirstStep == ""
	})
	v.Get("blockers").Each(func(e jsontext.Value) bool {
		if b := say(e); b != "" {
			h.Blockers = append(h.Blockers, b)
		}
		return len(h.Blockers) < 3
	})
	return h
}

// say takes the text of an item that is a string or an object with one.
func say(v jsontext.Value) string {
	for _, e := range []jsontext.Value{v, v.Get("summary"), v.Get("description"), v.Get("text")} {
		if s := line(e); s != "" {
			return s
		}
	}
	return ""
}

// Trust is how the claims of a task stand.
type Trust struct {
	Total, Verified int
	// Unresolved names the first few claims that are not verified.
	Unresolved []string
}

// Trust reads a task's trust.bundle.
func (s Store) Trust(slug string) (Trust, bool) {
	v, _, ok := s.file(slug, "trust.bundle")
	if !ok {
		return Trust{}, false
	}
	var t Trust
	v.Get("claims").Each(func(c jsontext.Value) bool {
		t.Total++
		status := word(c.Get("status"))
		if status == "verified" {
			t.Verified++
			return true
		}
		id := line(c.Get("subjectId"))
		if id == "" {
			id = line(c.Get("id"))
		}
		if id != "" && len(t.Unresolved) < 3 {
			t.Unresolved = append(t.Unresolved, strings.TrimSpace(id+" "+status))
		}
		return true
	})
	return t, true
}

// Plan is the path of the task's plan below the root, or "" if it has none.
func (s Store) Plan(slug string) string {
	dir := filepath.Join(s.dir, slug)
	if !disk.IsFolder(dir) {
		return ""
	}
	for _, name := range []string{slug + "--plan.md", slug + "--deliver.md", "plan.md"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return Dir + "/" + slug + "/" + name
		}
	}
	return ""
}
