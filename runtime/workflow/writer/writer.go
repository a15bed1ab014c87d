// Package writer changes the state of tasks on disk: the sanctioned way to do
// so, for people, agents and other programs alike. The files and their formats
// are those that package workflow reads; schema/workflow.cue describes them.
//
// Every change is made under one lock per work tree and replaces whole files, a
// task's state.json last, so that a reader sees each file as it was or as it
// is. Members of a file that this package doesn't know stay as they are.
package writer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flow-agents/flow-agents/runtime/disk"
	"github.com/flow-agents/flow-agents/runtime/text"
	"github.com/flow-agents/flow-agents/runtime/workflow"
)

// Errors that a caller may want to tell apart.
var (
	// ErrNoTask: the actor has no open task.
	ErrNoTask = errors.New("no open task")
	// ErrNotDone: the task can't be called done yet.
	ErrNotDone = errors.New("not done yet")
)

// maxActor is the longest name of an actor in bytes, as it is shown everywhere.
const maxActor = 80

// maxText is the longest text in bytes that a field takes; what is longer is an
// error rather than a text that ends in the middle.
const maxText = 4000

// A Writer changes the tasks of one work tree on behalf of one actor.
type Writer struct {
	root, dir, actor string
	now              func() time.Time
}

// Open returns the writer of a work tree for an actor. Empty is a person or
// program without a name: a task that it starts is nobody's, until the next
// session takes it.
func Open(root, actor string, now func() time.Time) (*Writer, error) {
	// What is shown of an actor must be all of it, because it is also how the
	// actor is told from others.
	if actor != text.Line(actor, maxActor) {
		return nil, fmt.Errorf("an actor's name is one line of at most %d bytes, without control characters or blanks in a row", maxActor)
	}
	return &Writer{root, filepath.Join(root, workflow.Dir), actor, now}, nil
}

// change runs f with the work tree locked.
func (w *Writer) change(f func() error) error {
	for _, dir := range []string{filepath.Dir(w.dir), w.dir} {
		if err := os.Mkdir(dir, 0o755); err != nil && !os.IsExist(err) {
			return err
		}
		if !disk.IsFolder(dir) {
			return fmt.Errorf("%s is not a folder of its own: nothing is written through a link", w.show(dir))
		}
	}
	unlock, err := disk.Lock(filepath.Join(w.dir, ".lock"))
	if err != nil {
		return fmt.Errorf("%s: %w", w.show(filepath.Join(w.dir, ".lock")), err)
	}
	defer unlock()
	return f()
}

// Active is the slug of the task that the actor works on.
func (w *Writer) Active() (string, error) {
	s, ok := workflow.Open(w.root, w.now())
	if !ok {
		return "", fmt.Errorf("%w: %s has none; flow-agents workflow start SLUG begins one", ErrNoTask, workflow.Dir)
	}
	f, ok, err := s.Find(w.actor, false)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", fmt.Errorf("%w here; flow-agents workflow start SLUG begins one", ErrNoTask)
	case !f.Mine:
		return "", fmt.Errorf("%w of yours: %s is at work on %s; flow-agents workflow resume %s takes it over", ErrNoTask, f.Owner, f.Task.Slug, f.Task.Slug)
	}
	return f.Task.Slug, nil
}

// live are the pointers of the actors that are at work now.
func (w *Writer) live() []workflow.Pointer {
	s, ok := workflow.Open(w.root, w.now())
	if !ok {
		return nil
	}
	return s.Live()
}

// owner is the other actor that is at work on a task now, if there is one.
func (w *Writer) owner(slug string) string {
	other := ""
	for _, p := range w.live() {
		if p.Slug == slug && p.Owner == w.actor {
			return ""
		}
		if p.Slug == slug && other == "" {
			other = p.Owner
		}
	}
	return other
}

// pick is the task that is named, else the active one, with its state. A task
// that another actor is at work on is an error, unless it is to be taken.
func (w *Writer) pick(slug string, take bool) (string, *document, error) {
	var err error
	if slug == "" {
		if slug, err = w.Active(); err != nil {
			return "", nil, err
		}
	}
	if !workflow.ValidSlug(slug) {
		return "", nil, badSlug(slug)
	}
	if !disk.IsFolder(filepath.Join(w.dir, slug)) {
		return "", nil, fmt.Errorf("%w called %s; flow-agents workflow status lists them", ErrNoTask, slug)
	}
	if owner := w.owner(slug); owner != "" && !take {
		return "", nil, fmt.Errorf("%s is at work on %s; flow-agents workflow resume %s takes it over", owner, slug, slug)
	}
	state, err := w.read(w.path(slug, "state.json"))
	switch {
	case err != nil:
		return "", nil, err
	case len(state.members) == 0:
		return "", nil, fmt.Errorf("%s is missing; flow-agents workflow start %s writes it", w.show(w.path(slug, "state.json")), slug)
	case !state.open():
		return "", nil, fmt.Errorf("%s has ended; flow-agents workflow start NAME begins another", slug)
	}
	// Who works on a task without one of its own has this one from now on.
	if _, err := os.Lstat(w.pointer()); w.actor != "" && errors.Is(err, fs.ErrNotExist) && !take {
		return slug, state, w.point(slug, "adopted")
	}
	return slug, state, nil
}

// open reports whether a task's state is that of one with something left to do.
func (d *document) open() bool {
	var status string
	d.get("status", &status)
	next := &document{}
	d.get("next_action", next)
	t := workflow.Task{Status: status}
	next.get("status", &t.Next.Status)
	return t.Open()
}

// pointer is the path of the actor's pointer.
func (w *Writer) pointer() string {
	return filepath.Join(w.dir, "current", workflow.PointerName(w.actor))
}

func badSlug(slug string) error {
	return fmt.Errorf("%q can't be a task's name: use letters, digits, '.', '_' and '-', begin with a letter or digit, and take no name of another entry there (current, assignment, liveness, anything.json)", slug)
}

func (w *Writer) path(slug, name string) string { return filepath.Join(w.dir, slug, name) }

func (w *Writer) stamp() string { return w.now().UTC().Format(time.RFC3339) }

// save stamps a task's state and writes it.
func (w *Writer) save(slug string, state *document) error {
	w.sweep(slug)
	if s, ok := workflow.Open(w.root, w.now()); ok {
		// Work by command is a sign of life, too.
		if err := s.Touch(w.actor, false); err != nil {
			return err
		}
	}
	state.set("updated_at", w.stamp())
	return w.write(w.path(slug, "state.json"), state)
}

// sweep removes what killed writers left in a task's folder. Under the lock
// nobody else writes there.
func (w *Writer) sweep(slug string) {
	left, _ := filepath.Glob(w.path(slug, ".tmp-*"))
	for _, path := range left {
		_ = os.Remove(path)
	}
}

// point makes a task the actor's, and the work tree's current one.
func (w *Writer) point(slug, source string) error {
	d := &document{}
	d.set("active_slug", slug)
	d.set("artifact_dir", workflow.Dir+"/"+slug)
	d.set("owner", w.actor)
	d.set("source", source)
	d.set("updated_at", w.stamp())
	if w.actor == "" {
		return w.write(filepath.Join(w.dir, "current.json"), d)
	}
	dir := filepath.Join(w.dir, "current")
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	if !disk.IsFolder(dir) {
		return fmt.Errorf("%s is not a folder of its own: nothing is written through a link", w.show(dir))
	}
	path := w.pointer()
	if err := w.write(path, d); err != nil {
		return err
	}
	// That the actor is alive is told by this time.
	if err := os.Chtimes(path, w.now(), w.now()); err != nil {
		return err
	}
	return w.write(filepath.Join(w.dir, "current.json"), d)
}

// clean checks a text that a person or an agent gave: it must be there and
// whole.
func clean(what, s string) (string, error) {
	s = strings.TrimSpace(text.Clean(s))
	switch {
	case s == "":
		return "", fmt.Errorf("%s is empty", what)
	case len(s) > maxText:
		return "", fmt.Errorf("%s has %d bytes; the limit is %d", what, len(s), maxText)
	}
	return s, nil
}

// name is clean for an id: one short line.
func name(what, s string) (string, error) {
	s, err := clean(what, s)
	if err == nil && (len(s) > 200 || strings.ContainsAny(s, "\n\r\t")) {
		err = fmt.Errorf("%s is one line of at most 200 bytes", what)
	}
	return s, err
}

// optional is clean for a text that may be missing.
func optional(what, s string) (string, error) {
	if s == "" {
		return "", nil
	}
	return clean(what, s)
}

// oneOf checks a word against those that may stand there.
func oneOf(what, word string, words []string) error {
	for _, w := range words {
		if w == word {
			return nil
		}
	}
	return fmt.Errorf("%s is %q; it must be one of %s", what, word, strings.Join(words, ", "))
}
