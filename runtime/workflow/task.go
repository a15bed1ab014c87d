package workflow

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flow-agents/flow-agents/runtime/disk"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/text"
)

// Bounds on what is read. Of a folder's entries at most maxNames are looked at,
// and of those at most maxParsed are read, the newest first, as long as they
// have maxBytes together.
const (
	maxFile    = 1 << 20
	maxPointer = 64 << 10
	maxNames   = 4096
	maxParsed  = 256
	maxBytes   = 4 << 20
	maxItems   = 8
	maxText    = 240
)

// Pointers of the dead are removed, a few at a time, when there are more than
// manyPointers: each session that takes a task over leaves one.
const (
	manyPointers = 256
	maxRemoved   = 16
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
	if !disk.IsFolder(dir) {
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
// no live actor owns is the actor's, and with adopt that is written down. If
// there is none but a live actor works on one, that is found, not as the
// actor's own. An actor that is not known gets the task of current.json, else
// the newest.
//
// The error is that of an adoption that failed; the task is found even so.
func (s Store) Find(actor string, adopt bool) (Found, bool, error) {
	if actor != "" {
		if p, ok := s.pointer(s.pointers(), PointerName(actor)); ok {
			t, ok := s.task(p.Slug)
			return Found{Task: t, Mine: true}, ok, nil
		}
	} else if p, ok := s.pointer(s.dir, "current.json"); ok {
		if t, ok := s.task(p.Slug); ok {
			return Found{Task: t, Mine: true}, true, nil
		}
	}
	var at actors
	var free, taken *Task
	s.open(func(t Task) bool {
		if actor != "" && at.owners == nil {
			at = s.actors()
		}
		switch {
		case at.owners[t.Slug] == "" && !at.partial:
			free = &t
		case taken == nil:
			taken = &t
		}
		return free == nil
	})
	switch {
	case free != nil && actor != "" && adopt:
		at.bury()
		return Found{Task: *free, Mine: true, Adopted: true}, true, s.adopt(actor, free.Slug)
	case free != nil:
		return Found{Task: *free, Mine: true}, true, nil
	case taken == nil:
		return Found{}, false, nil
	}
	f := Found{Task: *taken, Owner: at.owners[taken.Slug]}
	if f.Owner == "" {
		// Somebody may be at work on it whose pointer was not read.
		f.Owner = somebody
		if adopt {
			at.bury()
		}
		return f, true, errors.New("workflow: there are too many pointers in " + Dir + "/current to tell who is at work")
	}
	return f, true, nil
}

// open calls f for each task that is not finished until f returns false, the
// one whose state was written last first.
func (s Store) open(f func(Task) bool) {
	s.Tasks(func(t Task) bool { return !t.Open() || f(t) })
}

// Tasks calls f for each task, finished or not, until it returns false, the one
// whose state was written last first.
func (s Store) Tasks(f func(Task) bool) {
	var files []stamped
	list, _ := disk.List(s.dir, maxNames)
	for _, e := range list {
		if !e.IsDir() || !ValidSlug(e.Name()) {
			continue
		}
		info, err := os.Lstat(filepath.Join(s.dir, e.Name(), "state.json"))
		if err == nil && info.Mode().IsRegular() && info.Size() <= maxFile {
			files = append(files, stamped{e.Name(), info.ModTime().UnixNano(), info.Size()})
		}
	}
	newestFirst(files, func(name string) bool {
		t, ok := s.task(name)
		return !ok || f(t)
	})
}

// A stamped file is one that was looked at, but not read.
type stamped struct {
	name string
	// at is when it was changed, in nanoseconds.
	at, size int64
}

func (f stamped) before(g stamped) bool { return f.at > g.at || f.at == g.at && f.name < g.name }

// newestFirst calls read for the files, in the order of their age and within
// the bounds for them together, until it returns false. It reports whether
// there is no file left. Mostly the first few decide, so they are looked for
// one by one: a sort would cost 20 KB of every hook.
func newestFirst(files []stamped, read func(name string) bool) bool {
	left := int64(maxBytes)
	for range maxParsed {
		next := -1
		for i, f := range files {
			if f.size <= left && (next < 0 || f.before(files[next])) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		f := files[next]
		files[next] = files[len(files)-1]
		files = files[:len(files)-1]
		left -= f.size
		if !read(f.name) {
			return false
		}
	}
	return len(files) == 0
}

// Actors is who works on what, as far as their pointers tell.
type actors struct {
	// owners maps each task that a live actor points at to one of those.
	owners map[string]string
	// partial: there are pointers that were not read.
	partial bool
	// dead are the paths of pointers that may go.
	dead []string
}

// somebody is an owner who gives no name.
const somebody = "another session"

// actors looks at the pointers. Only those of the living are read.
func (s Store) actors() actors {
	a := actors{owners: map[string]string{}}
	dir := s.pointers()
	list, more := disk.List(dir, maxNames)
	var alive []stamped
	for _, e := range list {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		info, err := e.Info()
		switch {
		case err != nil || info.Size() > maxPointer:
		case s.live(info.ModTime()):
			alive = append(alive, stamped{e.Name(), info.ModTime().UnixNano(), info.Size()})
		case s.now.Sub(info.ModTime()) > deadAfter && len(list) > manyPointers && len(a.dead) < maxRemoved && ours(e.Name()):
			a.dead = append(a.dead, filepath.Join(dir, e.Name()))
		}
	}
	all := newestFirst(alive, func(name string) bool {
		if p, ok := s.pointer(dir, name); ok && a.owners[p.Slug] == "" {
			if p.Owner == "" {
				p.Owner = somebody
			}
			a.owners[p.Slug] = p.Owner
		}
		return true
	})
	a.partial = more || !all
	return a
}

// Live lists the pointers of the actors that are at work now, the one that was
// heard of last first.
func (s Store) Live() []Pointer {
	dir := s.pointers()
	list, _ := disk.List(dir, maxNames)
	var alive []stamped
	for _, e := range list {
		if info, err := e.Info(); err == nil && e.Type().IsRegular() && ours(e.Name()) && info.Size() <= maxPointer && s.live(info.ModTime()) {
			alive = append(alive, stamped{e.Name(), info.ModTime().UnixNano(), info.Size()})
		}
	}
	var out []Pointer
	newestFirst(alive, func(name string) bool {
		if p, ok := s.pointer(dir, name); ok {
			out = append(out, p)
		}
		return true
	})
	return out
}

// ours reports whether a name is one that PointerName gives.
func ours(name string) bool {
	name = strings.TrimSuffix(name, ".json")
	i := len(name) - 17
	return i >= 0 && name[i] == '-' && strings.Trim(name[i+1:], "0123456789abcdef") == ""
}

// bury removes pointers of the dead.
func (a actors) bury() {
	for _, path := range a.dead {
		_ = os.Remove(path)
	}
}
