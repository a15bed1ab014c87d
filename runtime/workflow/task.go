package workflow

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flow-agents/flow-agents/runtime/disk"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/text"
)

// Bounds on what is read.
const (
	maxFile     = 1 << 20
	maxTasks    = 256
	maxPointers = 256
	maxItems    = 8
	maxText     = 240
)

// A Task is one task's state. Its texts are single, clean, short lines.
type Task struct {
	Slug, Status, Phase string
	Next                Next
	// Updated is when the state was last written.
	Updated time.Time
}

// Next is what the task's state says should happen.
type Next struct {
	// Status is continue, needs_user, blocked or done.
	Status, Summary, Command, TargetPhase string
	Skills, Operations                    []string
}

// Open reports whether there is still something to do.
func (t Task) Open() bool {
	switch t.Status {
	case "delivered", "accepted", "complete", "completed", "done", "canceled", "cancelled", "archived":
		return false
	}
	return t.Next.Status != "done"
}

// task reads a task's state.json.
func (s Store) task(slug string) (Task, bool) {
	v, at, ok := s.file(slug, "state.json")
	if !ok || v.Kind() != '{' {
		return Task{}, false
	}
	n := v.Get("next_action")
	return Task{
		Slug: slug, Status: word(v.Get("status")), Phase: word(v.Get("phase")), Updated: at,
		Next: Next{
			Status: word(n.Get("status")), Summary: line(n.Get("summary")), Command: line(n.Get("command")),
			TargetPhase: word(n.Get("target_phase")), Skills: list(n.Get("skills")), Operations: list(n.Get("operations")),
		},
	}, true
}

// file reads a JSON file of a task's folder, and when it was written.
func (s Store) file(slug, name string) (jsontext.Value, time.Time, bool) {
	dir := filepath.Join(s.dir, slug)
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return nil, time.Time{}, false
	}
	path := filepath.Join(dir, name)
	b, err := disk.Read(path, maxFile)
	if err != nil || !jsontext.Valid(b) {
		return nil, time.Time{}, false
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, time.Time{}, false
	}
	return jsontext.Trim(b), info.ModTime(), true
}

func line(v jsontext.Value) string { return text.Line(v.Str(), maxText) }

// word is a status or the like: letters, digits, '_' and '-' only.
func word(v jsontext.Value) string {
	s := strings.ToLower(v.Str())
	if len(s) > 40 {
		return ""
	}
	for i := range len(s) {
		if c := s[i]; !safe(c) || c == '.' {
			return ""
		}
	}
	return s
}

func list(v jsontext.Value) []string {
	var out []string
	v.Each(func(e jsontext.Value) bool {
		if s := text.Line(e.Str(), 60); s != "" {
			out = append(out, s)
		}
		return len(out) < maxItems
	})
	return out
}

// A Found is what Find has found out.
type Found struct {
	Task Task
	// Mine: the task is the actor's. Otherwise it is Owner's, who is at work
	// on it now.
	Mine  bool
	Owner string
	// Adopted: it became the actor's just now, because nobody works on it.
	Adopted bool
}

// Find returns the task that an actor should be told of; false if there is
// none. The actor's own pointer wins. Without one, the newest open task that
// no live actor owns is adopted. If there is none but a live actor works on
// one, that is found, not as the actor's own. An actor that is not known gets
// the task of current.json, else the newest.
//
// The error is that of an adoption that failed; the task is found even so.
func (s Store) Find(actor string) (Found, bool, error) {
	if actor != "" {
		if p, ok := s.pointer(filepath.Join("current", PointerName(actor))); ok {
			t, ok := s.task(p.Slug)
			return Found{Task: t, Mine: true}, ok, nil
		}
	} else if p, ok := s.pointer("current.json"); ok {
		if t, ok := s.task(p.Slug); ok {
			return Found{Task: t, Mine: true}, true, nil
		}
	}
	tasks := s.open()
	if len(tasks) == 0 {
		return Found{}, false, nil
	}
	if actor == "" {
		return Found{Task: newest(tasks), Mine: true}, true, nil
	}
	owners := s.owners()
	var free []Task
	for _, t := range tasks {
		if _, taken := owners[t.Slug]; !taken {
			free = append(free, t)
		}
	}
	if len(free) == 0 {
		t := newest(tasks)
		return Found{Task: t, Owner: owners[t.Slug]}, true, nil
	}
	t := newest(free)
	err := s.adopt(actor, t.Slug)
	return Found{Task: t, Mine: true, Adopted: true}, true, err
}

// open lists the tasks that are not finished.
func (s Store) open() []Task {
	var out []Task
	for _, e := range entries(s.dir, maxTasks) {
		if e.IsDir() && validSlug(e.Name()) {
			if t, ok := s.task(e.Name()); ok && t.Open() {
				out = append(out, t)
			}
		}
	}
	return out
}

func newest(tasks []Task) Task {
	best := tasks[0]
	for _, t := range tasks[1:] {
		if t.Updated.After(best.Updated) {
			best = t
		}
	}
	return best
}

// owners maps the tasks that live actors point at to one of those.
func (s Store) owners() map[string]string {
	out := map[string]string{}
	for _, e := range entries(filepath.Join(s.dir, "current"), maxPointers) {
		if p, ok := s.pointer(filepath.Join("current", e.Name())); ok && s.live(p.At) {
			if p.Owner == "" {
				p.Owner = "another session"
			}
			out[p.Slug] = p.Owner
		}
	}
	return out
}

// entries lists the first entries of a folder that is not a link.
func entries(dir string, most int) []fs.DirEntry {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(most)
	return list
}
