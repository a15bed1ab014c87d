package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/flow-agents/flow-agents/install/atomicfile"
	"github.com/flow-agents/flow-agents/install/bundle"
)

// Actions of a change.
const (
	Create    = "create"    // a new file
	Insert    = "insert"    // our entries join the user's
	Update    = "update"    // our entries, or our file, in a newer version
	Unchanged = "unchanged" // nothing to do
	Remove    = "remove"    // our entries go, the user's changes stay
	Restore   = "restore"   // the original bytes come back
	Delete    = "delete"    // a file that was ours alone
)

// A Change is what happens to one file.
type Change struct {
	Action string `json:"action"`
	Host   string `json:"host,omitempty"`
	// ID is the file's in its bundle.
	ID string `json:"id,omitempty"`
	// Path is for a reader: below the project, or ~ for the home.
	Path string `json:"path"`
	// Hooks is how many hooks of ours the file holds afterwards.
	Hooks int    `json:"hooks,omitempty"`
	Note  string `json:"note,omitempty"`
	// Done: it has been made, and is not only planned.
	Done bool `json:"done"`

	rank          rank
	hidden        bool // part of the bookkeeping
	dir           bool // a folder, to remove if nothing is in it
	remode        bool // a program whose mode is wrong, whatever its bytes
	target        string
	before, after []byte // nil: no file
	perm          fs.FileMode
}

// A rank orders changes.
type rank int

const (
	rankProgram rank = iota
	rankLedger       // before anything that it takes back
	rankSettings
	rankOwn
	rankConfig
	rankDirs
	rankCleanup
	rankStateDirs
)

// A Finding is something that a person should know of a file.
type Finding struct {
	Host string `json:"host,omitempty"`
	File string `json:"file"`
	// Line and Column count from 1; 0: no place.
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Key    string `json:"key,omitempty"`
	Text   string `json:"text"`
	// Dead: because of it no hook runs. Unknown: because of it nobody can tell.
	Dead    bool `json:"dead"`
	Unknown bool `json:"unknown,omitempty"`
}

func (f Finding) String() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, f.Line)
		if f.Column > 0 {
			at = fmt.Sprintf("%s:%d", at, f.Column)
		}
	}
	if f.Key != "" {
		at += ": " + f.Key
	}
	return at + ": " + f.Text
}

// A Plan is what an operation does, or did.
type Plan struct {
	Root     string         `json:"root,omitempty"`
	Scope    string         `json:"scope"`
	Hosts    []Installed    `json:"hosts"`
	Changes  []Change       `json:"changes"`
	Findings []Finding      `json:"findings"`
	Trust    []bundle.Trust `json:"trust"`
	// Commit lists files to commit, below the project.
	Commit []string `json:"commit"`
	// Notes are what a person should know of what was done.
	Notes []string `json:"notes"`
	// Left is what an uninstall leaves.
	Left []Leftover `json:"left"`
}

// Installed names a host and the surfaces of it that a plan is about.
type Installed struct {
	Host     string   `json:"host"`
	Title    string   `json:"title"`
	Surfaces []string `json:"surfaces"`
}

// Changed reports whether the plan changes any file besides bookkeeping.
func (p *Plan) Changed() bool {
	return slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Action != Unchanged })
}

// Diff returns the change of a text file in unified format, empty if there is
// none.
func (c Change) Diff() string {
	if c.rank == rankProgram || bytes.Equal(c.before, c.after) {
		return ""
	}
	return string(diff.Diff("a/"+c.Path, c.before, "b/"+c.Path, c.after))
}

// A planner gathers a plan.
type planner struct {
	Plan
	in     *Installer
	req    Request
	ledger *ledger
	steps  []Change
	// freed are folders that a record that is gone had made.
	freed []string
	// here is the project that a request for the user was made in.
	here string
}

func (in *Installer) newPlanner(req Request) (*planner, error) {
	here := req.Root
	if req.Scope == bundle.User {
		req.Root = ""
	}
	l, err := in.openLedger(req.Scope, req.Root)
	if err != nil {
		return nil, err
	}
	if l.base != "" {
		// A repository may come with a link in the place of our folder.
		for _, dir := range []string{l.dir, l.backup("")} {
			if _, err := contained(dir, l.base); err != nil {
				return nil, err
			}
		}
	}
	p := &planner{in: in, req: req, ledger: l, here: here}
	p.Root, p.Scope = req.Root, req.Scope
	p.Hosts, p.Findings, p.Trust, p.Commit = []Installed{}, []Finding{}, []bundle.Trust{}, []string{}
	p.Notes, p.Left = append([]string{}, in.Notes...), []Leftover{}
	return p, nil
}

// add puts a change in the plan. One that changes no byte is Unchanged.
func (p *planner) add(c Change) {
	if c.Path == "" {
		c.Path = p.in.show(p.req.Root, c.target)
	}
	if c.before != nil && c.after != nil && bytes.Equal(c.before, c.after) && !c.remode || c.before == nil && c.after == nil {
		c.Action = Unchanged
	}
	p.steps = append(p.steps, c)
}

// removeDir plans the end of a folder, if nothing is left in it then.
func (p *planner) removeDir(at rank, dir string) {
	if exists(dir) {
		p.steps = append(p.steps, Change{Action: Delete, hidden: true, dir: true, rank: at, target: dir})
	}
}

// keep stores bytes beside the ledger and returns their name.
func (p *planner) keep(data []byte) string {
	sum := sumOf(data)
	if data != nil && !exists(p.ledger.backup(sum)) {
		p.add(Change{Action: Create, hidden: true, rank: rankLedger, target: p.ledger.backup(sum), after: data, perm: 0o600})
	}
	return sum
}

// promise stores bytes where nothing ever removes them, and returns the file for
// a reader. Nothing is stored for a file with nothing in it.
func (p *planner) promise(path string, data []byte) string {
	if len(bytes.TrimSpace(data)) == 0 {
		return ""
	}
	at := filepath.Join(p.ledger.dir, "kept", sumOf(data)[:12]+"-"+filepath.Base(path))
	if !exists(at) {
		p.add(Change{Action: Create, hidden: true, rank: rankLedger, target: at, after: data, perm: 0o600})
	}
	p.ignoreState()
	return p.in.show(p.req.Root, at)
}

// ignoreState plans the file that keeps a project's state out of its commits.
func (p *planner) ignoreState() {
	ignore := filepath.Join(p.ledger.dir, ".gitignore")
	planned := slices.ContainsFunc(p.steps, func(c Change) bool { return c.target == ignore })
	if p.ledger.base != "" && !planned && !exists(ignore) {
		p.add(Change{Action: Create, hidden: true, rank: rankLedger, target: ignore, after: []byte("*\n"), perm: 0o644})
	}
}

// saveLedger plans the write of the ledger. On the way in it comes first, on
// the way out last, when what it takes back is gone.
func (p *planner) saveLedger(at rank) error {
	if at == rankLedger {
		p.ignoreState()
	}
	old, err := read(p.ledger.path())
	if err != nil {
		return err
	}
	p.ledger.inherit(p.freed)
	c := Change{Action: Update, hidden: true, rank: at, target: p.ledger.path(), before: old, perm: 0o600}
	if len(p.ledger.Files) > 0 {
		c.after = p.ledger.bytes()
	}
	p.add(c)
	return p.pruneBackups()
}

// pruneBackups removes the stored bytes that no record names any more.
func (p *planner) pruneBackups() error {
	found, err := os.ReadDir(filepath.Join(p.ledger.dir, "backups"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, f := range found {
		used := slices.ContainsFunc(p.ledger.Files, func(r record) bool { return f.Name() == r.Before || f.Name() == r.Previous })
		used = used || slices.ContainsFunc(p.steps, func(c Change) bool { return c.target == p.ledger.backup(f.Name()) })
		if used || !f.Type().IsRegular() || !isSum(f.Name()) {
			continue
		}
		data, err := read(p.ledger.backup(f.Name()))
		if err != nil {
			return err
		}
		p.add(Change{Action: Delete, hidden: true, rank: rankCleanup, target: p.ledger.backup(f.Name()), before: data})
	}
	return nil
}

// finish puts the changes in the order in which they are made.
func (p *planner) finish() {
	slices.SortStableFunc(p.steps, func(a, b Change) int { return int(a.rank - b.rank) })
	p.Changes = p.steps
}

// Visible lists the changes that concern a reader.
func (p *Plan) Visible() []Change {
	out := []Change{}
	for _, c := range p.Changes {
		if !c.hidden {
			out = append(out, c)
		}
	}
	return out
}

// checkWritable refuses changes in folders that nobody may write to, before any
// is made.
func (in *Installer) checkWritable(changes []Change) error {
	for _, c := range changes {
		dir := nearest(filepath.Dir(c.target))
		if c.Action == Unchanged || c.dir || atomicfile.CanWrite(dir) && !isReadOnly(dir) {
			continue
		}
		return fmt.Errorf("%s can't be written: the folder %s is read-only; make it writable (chmod u+w) or have its owner run this", c.Path, dir)
	}
	return nil
}

// apply makes the changes of a plan.
func (in *Installer) apply(p *Plan) error {
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.Action != Unchanged {
			if err := in.change(*c); err != nil {
				return err
			}
		}
		c.Done = true
	}
	return nil
}

func (in *Installer) change(c Change) error {
	if c.dir {
		// One that holds something else stays.
		if found, err := os.ReadDir(c.target); err != nil || len(found) > 0 {
			return nil
		}
		return in.Files.Remove(c.target)
	}
	now, err := read(c.target)
	if c.rank == rankProgram {
		now, err = readProgram(c.target)
	}
	if err != nil {
		return err
	}
	if bytes.Equal(now, c.after) && (now == nil) == (c.after == nil) && !c.remode {
		return nil
	}
	// Hosts write their settings whenever they like.
	if !bytes.Equal(now, c.before) {
		return fmt.Errorf("%s was changed by another program just now; run this again", c.Path)
	}
	if c.after == nil {
		return in.Files.Remove(c.target)
	}
	perm := fs.FileMode(0o755)
	if c.perm == 0o600 {
		perm = 0o700
	}
	if err := atomicfile.MkdirAll(in.Files, filepath.Dir(c.target), perm); err != nil {
		return err
	}
	if c.rank == rankProgram {
		return atomicfile.WriteProgram(in.Files, c.target, c.after)
	}
	return atomicfile.Write(in.Files, c.target, c.after, c.perm)
}
