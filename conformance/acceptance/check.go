package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/conformance/fakemodel"
)

// Seen is the outcome of one check.
type Seen struct {
	Cell string
	Saw  string // one line, without paths and ids of the run
	Err  error  // why it is not what it should be
}

// A view is all that is known after one session.
type view struct {
	world  *world
	step   Step
	dir    string
	model  *fakemodel.Server
	before snapshot
	after  snapshot
	ended  error
	stdout string
	stderr string
}

// sights are what a check can look for. Each returns what it saw, in words
// that are the same in every run.
var sights = map[string]func(view, Check) (string, error){
	"told":        view.told,
	"refused":     view.refused,
	"ran":         view.ran,
	"unchanged":   view.unchanged,
	"holds":       view.holds,
	"records":     view.records,
	"well-formed": view.wellFormed,
	"recorded":    view.recorded,
	"unrecorded":  view.unrecorded,
	"foreign":     view.foreign,
	"fired":       view.fired,
	"clean":       view.clean,
}

// all looks at the session itself and then at every check.
func (v view) all() []Seen {
	seen := []Seen{v.played()}
	for _, k := range v.step.Checks {
		if !k.applies(v.world.rig.Host) {
			continue
		}
		if trap, outcome, ok := strings.Cut(k.When, "="); ok {
			seen = append(seen, Seen{Cell: k.Cell, Saw: trap + ", as declared: " + outcome})
		}
		saw, err := sights[k.See](v, k)
		seen = append(seen, Seen{Cell: k.Cell, Saw: v.scrub(saw), Err: err})
	}
	return seen
}

// played: the session ended by itself, after all that the script had for it.
func (v view) played() Seen {
	if v.ended != nil {
		return Seen{Err: fmt.Errorf("the session failed: %w: %s", v.ended, lastLine(v.stderr))}
	}
	if m, s := v.model.Left(); m+s > 0 {
		return Seen{Err: fmt.Errorf("the session ended early: %d turns of the main and %d of the delegated conversation were never asked for", m, s)}
	}
	if n := v.model.Overrun(); n > 0 {
		return Seen{Err: fmt.Errorf("the session went on for %d requests after the end of the script", n)}
	}
	return Seen{}
}

// told: the model reads Text. With Times, the last request of the main
// conversation holds it exactly so often; it has everything said before.
func (v view) told(k Check) (string, error) {
	text := v.world.fill(v.dir)(k.Text)
	if k.Times == nil {
		for _, r := range v.model.Requests() {
			if line, ok := v.line(r.Text(), text); ok {
				return fmt.Sprintf("the model reads %q", line), nil
			}
		}
		return "", fmt.Errorf("no request holds %q", text)
	}
	reqs := v.model.Conversation(fakemodel.Main)
	if len(reqs) == 0 {
		return "", errors.New("the host sent no request")
	}
	all := reqs[len(reqs)-1].Text()
	if n := strings.Count(all, text); n != *k.Times {
		return "", fmt.Errorf("the last request holds %q %d times, not %d", text, n, *k.Times)
	}
	if *k.Times == 0 {
		return fmt.Sprintf("the model never reads %q", text), nil
	}
	line, _ := v.line(all, text)
	return fmt.Sprintf("the model reads %s %q", times(*k.Times), line), nil
}

// refused: a call was refused, and the next request says why, word for word.
func (v view) refused(k Check) (string, error) {
	tool := v.step.tool(v.world.rig.Host, k.Call)
	got, ok := v.model.ToolResult(k.Call)
	if !ok {
		return "", fmt.Errorf("no request holds a result of %s", tool)
	}
	want := v.world.fill(v.dir)(k.Text)
	if k.Reason != nil {
		want = strings.NewReplacer("{file}", v.world.fill(v.dir)(k.Reason.File), "{tool}", k.Reason.Tool).Replace(v.world.rig.Catalog.Protection.Reason)
	}
	if !got.Error || !strings.Contains(got.Text, want) {
		return "", fmt.Errorf("the result of %s (error: %t) is %q; it should hold %q", tool, got.Error, got.Text, want)
	}
	line, _ := v.line(got.Text, want)
	return fmt.Sprintf("%s refused, the model reads %q", tool, line), nil
}

// ran: a call was carried out.
func (v view) ran(k Check) (string, error) {
	tool := v.step.tool(v.world.rig.Host, k.Call)
	got, ok := v.model.ToolResult(k.Call)
	if !ok {
		return "", fmt.Errorf("no request holds a result of %s", tool)
	}
	if got.Error {
		return "", fmt.Errorf("%s failed: %q", tool, got.Text)
	}
	return tool + " ran", nil
}

// unchanged: a file is what it was before the session.
func (v view) unchanged(k Check) (string, error) {
	name := v.world.fill(v.dir)(k.Path)
	was, is := v.before.files[name], v.after.files[name]
	if was == nil || !bytes.Equal(was, is) {
		return "", fmt.Errorf("%s changed from %q to %q", k.Path, was, is)
	}
	return filepath.Base(name) + " is unchanged", nil
}

// holds: a file now has Text in it, which it hadn't before.
func (v view) holds(k Check) (string, error) {
	name := v.world.fill(v.dir)(k.Path)
	if bytes.Contains(v.before.files[name], []byte(k.Text)) || !bytes.Contains(v.after.files[name], []byte(k.Text)) {
		return "", fmt.Errorf("%s was %q and is %q; it should have gained %q", k.Path, v.before.files[name], v.after.files[name], k.Text)
	}
	return filepath.Base(name) + " is edited", nil
}

// records: the session left telemetry records of a type: exactly Times, or at
// least one.
func (v view) records(k Check) (string, error) {
	n := 0
	for _, r := range v.new() {
		if r.Type == k.Type {
			n++
		}
	}
	if k.Times == nil && n > 0 {
		return k.Type + " is recorded", nil
	}
	if k.Times != nil && n == *k.Times {
		if n == 0 {
			return "no " + k.Type + " is recorded", nil
		}
		return fmt.Sprintf("%s is recorded %s", k.Type, times(n)), nil
	}
	return "", fmt.Errorf("%d records of type %s among %d", n, k.Type, len(v.new()))
}

// wellFormed: there are records, and each is whole.
func (v view) wellFormed(Check) (string, error) {
	session := ""
	ids := map[string]bool{}
	for _, r := range v.new() {
		switch {
		case r.bad != nil:
			return "", fmt.Errorf("telemetry line %q: %w", r.line, r.bad)
		case r.SchemaVersion == "" || r.Timestamp == "" || r.EventID == "" || r.Type == "" || r.SessionID == "" || r.Agent.Runtime == "":
			return "", fmt.Errorf("a record lacks part of its envelope: %s", r.line)
		case ids[r.EventID]:
			return "", fmt.Errorf("two records have the id %s", r.EventID)
		case session != "" && session != r.SessionID:
			return "", fmt.Errorf("one session has the ids %s and %s", session, r.SessionID)
		}
		session, ids[r.EventID] = r.SessionID, true
	}
	if session == "" {
		return "", errors.New("no telemetry at all")
	}
	return "every record is valid JSON with a whole envelope and one session id", nil
}

// recorded: a record holds Text.
func (v view) recorded(k Check) (string, error) {
	for _, r := range v.new() {
		if bytes.Contains(r.line, []byte(k.Text)) {
			return fmt.Sprintf("a %s record holds %s", r.Type, k.Text), nil
		}
	}
	return "", fmt.Errorf("no record holds %s", k.Text)
}

// unrecorded: telemetry holds none of Texts.
func (v view) unrecorded(k Check) (string, error) {
	for _, r := range v.new() {
		for _, text := range k.Texts {
			if bytes.Contains(r.line, []byte(v.world.fill(v.dir)(text))) {
				return "", fmt.Errorf("a record holds %q: %s", text, r.line)
			}
		}
	}
	return "no record holds the prompt or a tool's input", nil
}

// foreign: the user's own hook fired Times.
func (v view) foreign(k Check) (string, error) {
	n := v.after.foreign - v.before.foreign
	if k.Times == nil || n != *k.Times {
		return "", fmt.Errorf("the user's own hook fired %d times", n)
	}
	return fmt.Sprintf("the user's own hook fired %s", times(n)), nil
}

// fired: by the host's own account, a hook for a canonical event ran and ended
// well: Times, or at least once.
func (v view) fired(k Check) (string, error) {
	n := 0
	natives := v.world.rig.natives(k.Event)
	for line := range strings.Lines(v.stdout) {
		var said map[string]any
		if json.Unmarshal([]byte(line), &said) != nil {
			continue
		}
		if slices.ContainsFunc(natives, func(native string) bool { return v.world.rig.Host.Report.matches(said, native) }) {
			n++
		}
	}
	if n == 0 || k.Times != nil && n != *k.Times {
		return "", fmt.Errorf("the host reports %d hooks for %s that ended well", n, strings.Join(natives, ", "))
	}
	return fmt.Sprintf("the host reports that its %s hook ran %s and ended well", strings.Join(natives, ", "), times(n)), nil
}

func (r *Report) matches(said map[string]any, native string) bool {
	for key, want := range r.Fired {
		if said[key] != strings.ReplaceAll(want, "{native}", native) {
			return false
		}
	}
	return true
}

// natives are the host's names for a canonical event, on all its surfaces.
func (r *Rig) natives(event string) []string {
	var out []string
	for _, h := range r.Catalog.Hosts {
		for _, s := range h.Surfaces {
			if h.ID == r.ID {
				out = append(out, s.Events[event].Native...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// clean: git finds nothing new or changed where the session ran.
func (v view) clean(Check) (string, error) {
	out, err := v.world.output(context.Background(), v.dir, "git", "status", "--porcelain")
	if err != nil {
		return "", err
	}
	if out != "" {
		return "", fmt.Errorf("git status is not clean: %q", out)
	}
	return "nothing is written into the repository", nil
}

// A record is the part of a telemetry record that checks look at.
type record struct {
	SchemaVersion string `json:"schema_version"`
	Timestamp     string `json:"timestamp"`
	EventID       string `json:"event_id"`
	Type          string `json:"event_type"`
	SessionID     string `json:"session_id"`
	Agent         struct {
		Runtime string `json:"runtime"`
	} `json:"agent"`

	line []byte
	bad  error
}

// A snapshot is what a session may change.
type snapshot struct {
	records map[string][]record // by file
	files   map[string][]byte   // those that checks of the step name
	foreign int
}

// look takes a snapshot of the world.
func (w *world) look(s Step, dir string) snapshot {
	snap := snapshot{records: map[string][]record{}, files: map[string][]byte{}}
	for _, k := range s.Checks {
		if name := w.fill(dir)(k.Path); name != "" {
			snap.files[name], _ = os.ReadFile(name) // absent is nil
		}
	}
	data, _ := os.ReadFile(filepath.Join(w.base, "foreign.log")) // absent before it fired
	snap.foreign = bytes.Count(data, []byte("\n"))

	// Wherever telemetry went, be it to the wrong place.
	_ = filepath.WalkDir(w.base, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // gone meanwhile
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "tmp"):
			return fs.SkipDir
		case e.IsDir() || !isTelemetry(p):
			return nil
		}
		data, _ := os.ReadFile(p)
		for line := range bytes.Lines(data) {
			r := record{line: bytes.TrimSpace(line)}
			r.bad = json.Unmarshal(line, &r)
			snap.records[p] = append(snap.records[p], r)
		}
		return nil
	})
	return snap
}

// isTelemetry: the channel that holds everything, in a project or in the home.
func isTelemetry(p string) bool {
	p = filepath.ToSlash(p)
	return strings.HasPrefix(filepath.Base(p), "full") && strings.HasSuffix(p, ".jsonl") &&
		(strings.Contains(p, "/.telemetry/") || strings.Contains(p, "/telemetry/"))
}

// new are the records that the session added.
func (v view) new() []record {
	var out []record
	for p, rs := range v.after.records {
		out = append(out, rs[min(len(rs), len(v.before.records[p])):]...)
	}
	return out
}

// save keeps the telemetry beside the session's requests, for people.
func (s snapshot) save(dir string) error {
	var b bytes.Buffer
	for _, rs := range s.records {
		for _, r := range rs {
			b.Write(append(r.line, '\n'))
		}
	}
	return os.WriteFile(filepath.Join(dir, "telemetry.jsonl"), b.Bytes(), 0o600)
}

var (
	uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	hash = regexp.MustCompile(`\b[0-9a-f]{16,}\b`)
	when = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?`)
)

// scrub takes out what differs from run to run.
func (v view) scrub(s string) string {
	pairs := []string{}
	for _, p := range []struct{ path, name string }{{v.dir, "<project>"}, {v.world.repo(), "<repo>"}, {v.world.home, "<home>"}, {v.world.base, "<base>"}} {
		pairs = append(pairs, p.path, p.name)
	}
	s = strings.NewReplacer(pairs...).Replace(s)
	s = uuid.ReplaceAllString(s, "<id>")
	s = hash.ReplaceAllString(s, "<hash>")
	return when.ReplaceAllString(s, "<time>")
}

// line finds the line of a text that a part of it starts in, scrubbed, and cut
// to a length that people read. Scrubbing comes first: where the cut falls must
// not depend on the length of a path.
func (v view) line(text, part string) (string, bool) {
	i := strings.Index(text, part)
	if i < 0 {
		return "", false
	}
	start := strings.LastIndex(text[:i], "\n") + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return short(strings.TrimSpace(v.scrub(line)), 400), true
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// cells sums up what was seen: a cell passes if all that counts for it does.
func cells(seen []Seen) map[string]*cell {
	out := map[string]*cell{}
	for _, s := range seen {
		c := out[s.Cell]
		if c == nil {
			c = &cell{}
			out[s.Cell] = c
		}
		if s.Err != nil {
			c.problems = append(c.problems, s.Err)
		}
		if s.Saw != "" && !slices.Contains(c.saw, s.Saw) {
			c.saw = append(c.saw, s.Saw)
		}
	}
	return out
}

type cell struct {
	saw      []string
	problems []error
}
