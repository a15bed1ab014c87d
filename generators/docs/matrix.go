package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/generators/declaration"
	"github.com/flow-agents/flow-agents/generators/model"
)

// matrix is what the overview pages show: rows of events and of policies, and
// a column for each surface of each host.
type matrix struct {
	Hosts    []hostHead
	Columns  []column
	Policies []row
	Events   []row
	Notes    []note
	// Footnotes are the notes of equal text in one; footnoteOf is the number of
	// each note's.
	Footnotes  []footnote
	footnoteOf []int
	States     []legend
	Bases      []legend
	Levels     []legend
}

type hostHead struct {
	ID, Title, Kind, Homepage string
	Level, SurfaceLevel       string
	Ladder                    []step
	Surfaces                  int
	Missing, Planned          []string
	Package, Min, Max         string
}

// A step is one rung of the ladder of levels: done in this release, possible
// on the host, or out.
type step struct{ Name, State string }

type column struct {
	Index                           int
	Host, HostTitle, Surface, Title string
	// Only: the host has no other surface.
	Only                bool
	Level, SurfaceLevel string
}

// Name is how a column is called in prose.
func (c column) Name() string {
	if c.Only {
		return c.HostTitle
	}
	return c.HostTitle + " " + c.Surface
}

type row struct {
	ID, Title, Text string
	// Tag marks what is out of the ordinary: an extension, a planned policy.
	Tag   string
	Cells []cell
	// Planned: the policy decides nothing in this release.
	Planned bool
}

// A cell says how one event or policy fares on one surface.
type cell struct {
	Column column
	// State: full, reduced, emulated, mute, gap.
	State string
	// Main is the native event, or the channel by which a policy is heard.
	Main []string
	// Says are the decisions that the host honours, or what a policy can do.
	Says []string
	// How it is known, and what was seen.
	Basis, Version, Date, File, Saw string
	Notes                           []int
}

// Mark is the initial of the basis.
func (c cell) Mark() string { return initial(c.Basis) }

func initial(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1])
}

// A note is the text behind a cell.
type note struct {
	N, ColumnIndex     int
	Column, Row        string
	Kind, Text, Remedy string
}

type legend struct{ ID, Text string }

// Mark is the initial of the word.
func (l legend) Mark() string { return initial(l.ID) }

// A noteGroup is the notes of one column, by the column's index.
type noteGroup struct {
	Column int
	Name   string
	Notes  []note
}

// NoteGroups returns the notes of each column that has any.
func (m *matrix) NoteGroups() []noteGroup {
	var out []noteGroup
	for i, c := range m.Columns {
		g := noteGroup{Column: i, Name: c.Name()}
		for _, n := range m.Notes {
			if n.ColumnIndex == i {
				g.Notes = append(g.Notes, n)
			}
		}
		if len(g.Notes) > 0 {
			out = append(out, g)
		}
	}
	return out
}

var states = []legend{
	{"full", "native, nothing lost"},
	{"reduced", "works, with a loss"},
	{"emulated", "another event stands in"},
	{"mute", "fires, but is not heard"},
	{"gap", "the host has nothing for it"},
}

var levels = []legend{
	{"L0", "session starts are recorded"},
	{"L1", "steering reaches the model; a stop gate warns where the host has a stop hook"},
	{"L2", "edits can be refused with a reason that the model reads; all policies are wired"},
	{"L3", "the stop gate blocks; nothing is reduced"},
}

// bases says what each of model.Bases means.
var bases = map[string]string{
	"unexamined": "nobody has looked yet",
	"documented": "the host's documentation says so",
	"source":     "read in the host's own code",
	"recorded":   "a recording of the real host is committed",
	"observed":   "seen in a run of the real host in this repository",
}

// basesOf is the legend of the bases that the hosts' events rest on.
func basesOf(c *model.Catalog) []legend {
	used := map[string]bool{}
	for _, h := range c.Hosts {
		for claim := range h.Claims() {
			used[claim.Basis] = true
		}
	}
	var out []legend
	for _, id := range model.Bases {
		if used[id] {
			out = append(out, legend{id, bases[id]})
		}
	}
	return out
}

func newMatrix(c *model.Catalog) (*matrix, error) {
	m := &matrix{States: states, Bases: basesOf(c), Levels: levels}
	for _, h := range c.Hosts {
		m.Hosts = append(m.Hosts, head(h))
		for _, s := range declaration.Surfaces(h) {
			d, ok := h.Declaration.Surfaces[s]
			if !ok {
				return nil, fmt.Errorf("%s: surface %s has no computed state", h.ID, s)
			}
			m.Columns = append(m.Columns, column{
				Index: len(m.Columns), Host: h.ID, HostTitle: h.Title, Surface: s, Title: h.Surfaces[s].Title, Only: len(h.Surfaces) == 1,
				Level: declaration.LevelName(d.Rank), SurfaceLevel: declaration.LevelName(d.SurfaceRank),
			})
		}
	}
	for _, p := range c.Policies {
		r := row{ID: p.ID, Title: p.Title, Text: p.Intent}
		if p.Status == "planned" {
			r.Tag, r.Planned = "planned", true
		}
		m.Policies = append(m.Policies, r)
	}
	for _, e := range c.Events {
		r := row{ID: e.ID, Title: e.ID, Text: e.Fires}
		switch {
		case !c.Registered(e.ID):
			r.Tag = "not registered"
		case e.Extension:
			r.Tag = "extension"
		}
		m.Events = append(m.Events, r)
	}
	// Notes are numbered host by host, so that a reader of the list finds one
	// host's in one place.
	i := 0
	for _, h := range c.Hosts {
		for _, s := range declaration.Surfaces(h) {
			col := m.Columns[i]
			lost := map[string][]int{}
			for k, e := range c.Events {
				x := m.eventCell(h, s, col, e)
				m.Events[k].Cells = append(m.Events[k].Cells, x)
				if x.State != "full" {
					lost[e.ID] = x.Notes
				}
			}
			for k, p := range c.Policies {
				m.Policies[k].Cells = append(m.Policies[k].Cells, m.policyCell(h, s, col, p, lost))
			}
			i++
		}
	}
	m.merge()
	return m, nil
}

func head(h model.Host) hostHead {
	out := hostHead{
		ID: h.ID, Title: h.Title, Kind: h.Kind, Homepage: h.Homepage,
		Level: h.Declaration.Level, SurfaceLevel: h.Declaration.SurfaceLevel,
		Surfaces: len(h.Surfaces), Missing: h.Declaration.Missing, Planned: h.Declaration.Planned,
		Package: h.Tested.Package, Min: h.Tested.Min, Max: h.Tested.Max,
	}
	names := []string{"L0", "L1", "L2", "L3"}
	now, can := slices.Index(names, out.Level), slices.Index(names, out.SurfaceLevel)
	for i, n := range names {
		state := "out"
		switch {
		case i <= now:
			state = "done"
		case i <= can:
			state = "possible"
		}
		out.Ladder = append(out.Ladder, step{n, state})
	}
	return out
}

func (m *matrix) note(col column, row, kind, text, remedy string) int {
	n := len(m.Notes) + 1
	m.Notes = append(m.Notes, note{N: n, ColumnIndex: col.Index, Column: col.Name(), Row: row, Kind: kind, Text: text, Remedy: remedy})
	return n
}

// A footnote is a note for one or more cells that it says the same of.
type footnote struct {
	N                  int
	Where              []string
	Kind, Text, Remedy string
}

// merge makes footnotes of the notes: one for all that say the same.
func (m *matrix) merge() {
	type words struct{ kind, text, remedy string }
	at := map[words]int{}
	for _, n := range m.Notes {
		w := words{n.Kind, n.Text, n.Remedy}
		if at[w] == 0 {
			m.Footnotes = append(m.Footnotes, footnote{N: len(m.Footnotes) + 1, Kind: n.Kind, Text: n.Text, Remedy: n.Remedy})
			at[w] = len(m.Footnotes)
		}
		f := &m.Footnotes[at[w]-1]
		f.Where = append(f.Where, markdown(n.Column)+", "+code(n.Row))
		m.footnoteOf = append(m.footnoteOf, f.N)
	}
}

// Footnote is the number of the footnote that a note has become.
func (m *matrix) Footnote(note int) int { return m.footnoteOf[note-1] }

func (m *matrix) eventCell(h model.Host, surface string, col column, e model.Event) cell {
	x := h.Surfaces[surface].Events[e.ID]
	out := cell{
		Column: col, State: eventState(x), Main: x.Native, Says: says(x.Answer),
		Basis: x.Claim.Basis, Version: x.Claim.Version, Date: x.Claim.On, File: x.Claim.File, Saw: x.Claim.Note,
	}
	if x.Degradation != "" {
		kind := "emulated"
		if x.Kind == model.Gap {
			kind = gapWords(x.Gap)
		}
		out.Notes = append(out.Notes, m.note(col, e.ID, kind, x.Degradation, x.Approximation))
	}
	if x.Loss != "" {
		out.Notes = append(out.Notes, m.note(col, e.ID, "loss", x.Loss, ""))
	}
	if x.Note != "" {
		out.Notes = append(out.Notes, m.note(col, e.ID, "note", x.Note, ""))
	}
	return out
}

func eventState(x model.Mapping) string {
	if x.Kind == model.Native {
		return x.Fidelity
	}
	return x.Kind // emulated, gap
}

func gapWords(gap string) string {
	switch gap {
	case "no-event":
		return "no such event"
	case "no-channel":
		return "no channel to the model"
	case "not-delivered":
		return "not delivered"
	}
	return gap
}

func says(a *model.Answer) []string {
	var out []string
	for _, d := range a.Decisions() {
		out = append(out, d.Name)
	}
	return out
}

// policyCell takes the notes of the events that fall short from lost.
func (m *matrix) policyCell(h model.Host, surface string, col column, p model.Policy, lost map[string][]int) cell {
	st := h.Declaration.Surfaces[surface].Policies[p.ID]
	out := cell{Column: col, State: st.State}
	weakest := len(model.Bases)
	for _, t := range st.Triggers {
		x := h.Surfaces[surface].Events[t.Event]
		if t.Channel != "" && !slices.Contains(out.Main, t.Channel) {
			out.Main = append(out.Main, t.Channel)
		}
		if t.Optional {
			continue
		}
		if b := slices.Index(model.Bases, x.Claim.Basis); b >= 0 && b < weakest {
			weakest = b
			out.Basis, out.Version, out.Date, out.File, out.Saw = x.Claim.Basis, x.Claim.Version, x.Claim.On, x.Claim.File, x.Claim.Note
		}
		if t.State == "mute" {
			out.Notes = append(out.Notes, m.note(col, p.ID, "mute", declaration.Mute(p, t), ""))
		} else if t.State != "full" {
			out.Notes = append(out.Notes, lost[t.Event]...)
		}
	}
	switch declaration.Blocking(p, st) {
	case "enforced":
		out.Says = []string{"refuses"}
	case "planned":
		out.Says = []string{"could refuse"}
	case "unavailable":
		out.Says = []string{"can't refuse"}
	default:
		if st.State == "full" || st.State == "reduced" {
			verb := map[string]string{"inform": "informs", "record": "records", "warn": "warns"}[p.Mode]
			if st.Status == "planned" {
				verb = "could " + strings.TrimSuffix(verb, "s")
			}
			out.Says = []string{verb}
		}
	}
	// That the event was seen says nothing of a policy that does nothing yet.
	if st.Status == "planned" {
		out.Basis, out.Version, out.Date, out.File, out.Saw = "", "", "", "", ""
	}
	return out
}
