// Package observed holds what acceptance saw real hosts do. The JSON files in
// this folder are committed; declarations cite them. A cell is one thing that
// was watched: "event:<canonical event>", "policy:<policy id>" or
// "case:<name>".
package observed

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed *.json
var committed embed.FS

// Committed are the observations that this build was made with: files named
// <host>.json.
func Committed() fs.FS { return committed }

// SchemaVersion is the version of the file format.
const SchemaVersion = 1

// A File is what was seen of one host.
type File struct {
	SchemaVersion int    `json:"schema_version"`
	Host          string `json:"host"`
	// Runs are sorted by package, version (ascending) and platform; there is
	// one for each such triple.
	Runs []Run `json:"runs"`
}

// A Run is what was seen of one release on one platform.
type Run struct {
	Package  string `json:"package"`
	Version  string `json:"version"`
	On       string `json:"on"`       // day, YYYY-MM-DD
	Platform string `json:"platform"` // os/arch
	// Cells by id.
	Cells map[string]Cell `json:"cells"`
}

// Results of a cell.
const (
	Pass = "pass"
	Fail = "fail"
)

// A Cell is what was seen of one thing.
type Cell struct {
	Result string `json:"result"`
	// Saw is one line, without paths, ids or times of the run.
	Saw string `json:"saw"`
	// Row is, for an event, the digest of what its manifest said about it.
	Row string `json:"row,omitempty"`
}

// Load reads every <host>.json of a folder, by host.
func Load(fsys fs.FS) (map[string]File, error) {
	names, err := fs.Glob(fsys, "*.json")
	if err != nil {
		return nil, err
	}
	files := map[string]File{}
	for _, name := range names {
		f, err := Read(fsys, name)
		if err != nil {
			return nil, err
		}
		files[f.Host] = f
	}
	return files, nil
}

// Read reads one file; its name must be that of the host inside.
func Read(fsys fs.FS, name string) (File, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return File{}, err
	}
	var f File
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return File{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := f.check(); err != nil {
		return File{}, fmt.Errorf("%s: %w", name, err)
	}
	if want := f.Host + ".json"; path.Base(name) != want {
		return File{}, fmt.Errorf("%s: holds host %q; name it %s", name, f.Host, want)
	}
	return f, nil
}

func (f File) check() error {
	if f.SchemaVersion != SchemaVersion {
		return fmt.Errorf("schema_version is %d, not %d", f.SchemaVersion, SchemaVersion)
	}
	for _, r := range f.Runs {
		if r.Package == "" || r.Version == "" || r.On == "" || r.Platform == "" {
			return errors.New("a run needs package, version, on and platform")
		}
		for id, c := range r.Cells {
			if kind, name, ok := strings.Cut(id, ":"); !ok || name == "" || !slices.Contains([]string{"event", "policy", "case"}, kind) {
				return fmt.Errorf("cell %q: an id is event:, policy: or case: and a name", id)
			}
			if c.Result != Pass && c.Result != Fail {
				return fmt.Errorf("cell %q: result is %q, not pass or fail", id, c.Result)
			}
		}
	}
	return nil
}

// Encode is the committed form of a file: sorted, indented, one final newline.
func (f File) Encode() ([]byte, error) {
	f.Runs = slices.Clone(f.Runs)
	slices.SortFunc(f.Runs, compareRuns)
	if f.Runs == nil {
		f.Runs = []Run{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(f); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// A Range is of releases, both ends included; an empty end is none.
type Range struct{ Min, Max string }

// Holds says whether a release is in the range.
func (r Range) Holds(version string) bool {
	return (r.Min == "" || compareVersions(r.Min, version) <= 0) && (r.Max == "" || compareVersions(version, r.Max) <= 0)
}

// Cell finds the newest run that saw a cell pass, in a range of releases. row
// is the digest that the cell must carry; empty for any.
func (f File) Cell(id string, in Range, row string) (Run, Cell, bool) {
	runs := slices.Clone(f.Runs)
	slices.SortFunc(runs, compareRuns)
	slices.SortStableFunc(runs, func(a, b Run) int { return compareVersions(b.Version, a.Version) })
	for _, r := range runs {
		c, ok := r.Cells[id]
		if ok && in.Holds(r.Version) && c.Result == Pass && (row == "" || row == c.Row) {
			return r, c, true
		}
	}
	return Run{}, Cell{}, false
}

// Merge puts a run into a file and returns the result. The run replaces the
// one of the same package, version and platform; where that holds the same
// cells already, its date stays. With partial, cells that the new run lacks
// are kept.
func (f File) Merge(r Run, partial bool) File {
	f.Runs = slices.Clone(f.Runs)
	i := slices.IndexFunc(f.Runs, func(o Run) bool { return compareRuns(o, r) == 0 })
	if i < 0 {
		f.Runs = append(f.Runs, r)
		slices.SortFunc(f.Runs, compareRuns)
		return f
	}
	old := f.Runs[i]
	cells := map[string]Cell{}
	if partial {
		for id, c := range old.Cells {
			cells[id] = c
		}
	}
	for id, c := range r.Cells {
		cells[id] = c
	}
	r.Cells = cells
	if len(Compare(old, r)) == 0 {
		r.On = old.On
	}
	f.Runs[i] = r
	return f
}

// A Difference is a cell that two runs don't agree on. A cell that a run lacks
// is zero there.
type Difference struct {
	ID       string
	Old, New Cell
}

// Contradicts says whether what was seen before is seen no longer. Other words
// for it are no contradiction, and neither is a new cell.
func (d Difference) Contradicts() bool {
	return d.Old.Result != "" && d.Old.Result != d.New.Result
}

// Compare lists the cells that differ, by id.
func Compare(old, new Run) []Difference {
	var out []Difference
	for id, c := range old.Cells {
		if new.Cells[id] != c {
			out = append(out, Difference{id, c, new.Cells[id]})
		}
	}
	for id, c := range new.Cells {
		if _, ok := old.Cells[id]; !ok {
			out = append(out, Difference{ID: id, New: c})
		}
	}
	slices.SortFunc(out, func(a, b Difference) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Against finds the run to compare a new one with: the same package, version
// and platform, else the newest of the package on the platform.
func (f File) Against(r Run) (Run, bool) {
	var best Run
	found := false
	for _, o := range f.Runs {
		if o.Package != r.Package || o.Platform != r.Platform {
			continue
		}
		if o.Version == r.Version {
			return o, true
		}
		if !found || compareVersions(o.Version, best.Version) > 0 {
			best, found = o, true
		}
	}
	return best, found
}

func compareRuns(a, b Run) int {
	return cmp.Or(cmp.Compare(a.Package, b.Package), compareVersions(a.Version, b.Version), cmp.Compare(a.Platform, b.Platform))
}

// compareVersions orders dotted numbers; what isn't a number compares as text.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		c := cmp.Compare(x, y)
		if errX != nil || errY != nil {
			c = cmp.Compare(as[i], bs[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}
