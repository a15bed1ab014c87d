// Package workflow reads the state of open tasks on disk: which one an actor
// works on, how far it is, and what comes next. The files live in the work
// tree under .kontourai/flow-agents/ and come from other programs, so nothing
// in them is trusted: links are refused, sizes bounded, names checked, and a
// field of the wrong type counts as absent.
package workflow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flow-agents/flow-agents/runtime/digest"
	"github.com/flow-agents/flow-agents/runtime/disk"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/text"
)

// Dir is where workflow state lives, below the root.
const Dir = ".kontourai/flow-agents"

// An actor is live if it had an event within this time and its session did not
// end. The record of that is the modification time of its pointer, which is
// renewed at most once every touchEvery and set back by liveFor at the end. A
// pointer that has not been touched for deadAfter may go.
const (
	liveFor    = 30 * time.Minute
	touchEvery = time.Minute
	deadAfter  = 30 * 24 * time.Hour
)

// Actor returns who an event is from: FLOW_AGENTS_ACTOR, else host and
// session; empty if neither is known.
func Actor(host, session string) string {
	if a := strings.TrimSpace(os.Getenv("FLOW_AGENTS_ACTOR")); a != "" {
		return a
	}
	if session == "" {
		return ""
	}
	return host + ":" + session
}

// PointerName is the name of an actor's pointer file: its first 40 safe
// characters, and a hash of the whole.
func PointerName(actor string) string {
	name := make([]byte, 0, 40)
	for i := 0; i < len(actor) && len(name) < 40; i++ {
		if safe(actor[i]) {
			name = append(name, actor[i])
		}
	}
	return string(name) + "-" + digest.Hex(8, actor) + ".json"
}

func safe(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}

// A Store is the workflow state of one work tree.
type Store struct {
	dir string
	now time.Time
}

// Open returns the state below root, and false if there is none.
func Open(root string, now time.Time) (Store, bool) {
	s := Store{filepath.Join(root, Dir), now}
	// The folder above must be a real one too.
	return s, disk.IsFolder(s.dir) && disk.IsFolder(filepath.Dir(s.dir))
}

// pointers is the folder of the actors' pointers.
func (s Store) pointers() string { return filepath.Join(s.dir, "current") }

// Touch records that the actor is alive, or that its session is over. It does
// nothing for an actor without a pointer.
func (s Store) Touch(actor string, over bool) error {
	if actor == "" {
		return nil
	}
	if !disk.IsFolder(s.pointers()) {
		return nil
	}
	path := filepath.Join(s.pointers(), PointerName(actor))
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	switch at := info.ModTime(); {
	case over:
		ended := s.now.Add(-liveFor)
		if at.Before(ended) {
			return nil
		}
		return os.Chtimes(path, ended, ended)
	case s.now.Sub(at).Abs() >= touchEvery:
		return os.Chtimes(path, s.now, s.now)
	}
	return nil
}

// live reports whether somebody who was heard of then is at work now. A time in
// the future is a wrong clock's.
func (s Store) live(at time.Time) bool { return s.now.Sub(at).Abs() < liveFor }

// A Pointer says which task an actor works on.
type Pointer struct {
	Slug, Owner string
	// At is when the owner was last heard of.
	At time.Time
}

// pointer reads a pointer file; false if it isn't there or isn't sound.
func (s Store) pointer(dir, name string) (Pointer, bool) {
	if !disk.IsFolder(dir) {
		return Pointer{}, false
	}
	path := filepath.Join(dir, name)
	b, err := disk.Read(path, maxPointer)
	if err != nil || !jsontext.Valid(b) {
		return Pointer{}, false
	}
	v := jsontext.Trim(b)
	p := Pointer{Slug: v.Get("active_slug").Str(), Owner: text.Line(v.Get("owner").Str(), 80)}
	if dir, ok := v.Get("artifact_dir").Text(); ok && dir != "" {
		slug, ok := slugOf(dir, s.dir)
		if !ok || p.Slug != "" && p.Slug != slug {
			return Pointer{}, false
		}
		p.Slug = slug
	}
	if !ValidSlug(p.Slug) {
		return Pointer{}, false
	}
	if info, err := os.Lstat(path); err == nil {
		p.At = info.ModTime()
	}
	return p, true
}

// slugOf takes the task from an artifact folder, which must be the task's own
// below the state's folder, absolute or relative to the root.
func slugOf(artifactDir, stateDir string) (string, bool) {
	d := filepath.ToSlash(filepath.Clean(artifactDir))
	rest, ok := strings.CutPrefix(d, Dir+"/")
	if !ok {
		rest, ok = strings.CutPrefix(d, filepath.ToSlash(stateDir)+"/")
	}
	return rest, ok && ValidSlug(rest)
}

// ValidSlug reports whether a task may be called that.
func ValidSlug(s string) bool {
	if s == "" || len(s) > 128 || s[0] == '.' || s[0] == '-' || s[len(s)-1] == '.' || taken(s) {
		return false
	}
	for i := range len(s) {
		if !safe(s[i]) {
			return false
		}
	}
	return true
}

// taken are the names of the folder's other entries, whatever the case of their
// letters, because some file systems don't tell it apart.
func taken(s string) bool {
	s = strings.ToLower(s)
	return s == "current" || s == "assignment" || s == "liveness" || strings.HasSuffix(s, ".json")
}

// adopt makes the task the actor's own.
func (s Store) adopt(actor, slug string) error {
	dir := s.pointers()
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !disk.IsFolder(dir) {
		return errors.New("workflow: the folder of pointers is not a folder")
	}
	var b []byte
	field := func(sep, key, value string) {
		b = append(b, sep...)
		b = jsontext.AppendString(b, key)
		b = append(b, ':')
		b = jsontext.AppendString(b, value)
	}
	field("{", "active_slug", slug)
	field(",", "artifact_dir", Dir+"/"+slug)
	field(",", "owner", text.Line(actor, maxText))
	field(",", "source", "adopted")
	field(",", "updated_at", s.now.UTC().Format(time.RFC3339))
	path := filepath.Join(dir, PointerName(actor))
	if err := disk.Write(path, append(b, "}\n"...)); err != nil {
		return err
	}
	// The file system's clock may be another one.
	return os.Chtimes(path, s.now, s.now)
}
