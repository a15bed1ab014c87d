package install

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/install/entries"
	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// What a host is, from best to worst. Only Alive is good.
const (
	Alive   = "alive"   // every hook of ours is there and can run
	Unknown = "unknown" // a file that decides it can't be read
	Changed = "changed" // our hooks or files are not as this version has them
	Dead    = "dead"    // some hook of ours is missing or can't run
)

// A Report says what is installed and whether it is alive.
type Report struct {
	Root string `json:"root,omitempty"`
	Rules
	// OK: something is installed, and all of it is alive.
	OK    bool         `json:"ok"`
	Hosts []HostStatus `json:"hosts"`
}

// HostStatus is one host in one scope.
type HostStatus struct {
	Host  string `json:"host"`
	Title string `json:"title"`
	Scope string `json:"scope"`
	// State is Alive, Unknown, Changed or Dead; OK: it is Alive.
	State    string        `json:"state"`
	OK       bool          `json:"ok"`
	Files    []FileStatus  `json:"files"`
	Programs []ProgramInfo `json:"programs"`
	Findings []Finding     `json:"findings"`
	// Trust are steps that only the host knows to be done.
	Trust []bundle.Trust `json:"trust"`
}

// FileStatus is one file of a host.
type FileStatus struct {
	Path string `json:"path"`
	// State is present, modified, missing, or unreadable.
	State string `json:"state"`
	// Hooks is how many of ours were found, Want how many there should be.
	Hooks int `json:"hooks"`
	Want  int `json:"want"`

	surface string
}

const unreadable = "unreadable"

// Status looks at every host that is installed in the project at root, or for
// the user. scope picks one; empty: all. The user scope needs no root.
func (in *Installer) Status(root, scope string) (*Report, error) {
	all, err := in.bundles(nil)
	if err != nil {
		return nil, err
	}
	report := &Report{Root: root, Rules: in.Rules(root), OK: true, Hosts: []HostStatus{}}
	for _, b := range all {
		for _, s := range []string{bundle.Project, bundle.Local, bundle.User} {
			if scope != "" && s != scope {
				continue
			}
			l, err := in.openLedger(s, root)
			if err != nil {
				return nil, err
			}
			h, installed, err := in.hostStatus(b, s, root, l)
			if err != nil {
				return nil, err
			}
			if installed {
				report.Hosts = append(report.Hosts, h)
				report.OK = report.OK && h.OK
			}
		}
	}
	report.twice(in.Command())
	report.OK = report.OK && len(report.Hosts) > 0 && len(report.Unread) == 0
	return report, nil
}

// twice notes the hosts that are installed in more than one scope.
func (r *Report) twice(program string) {
	for i := range r.Hosts {
		h := &r.Hosts[i]
		j := slices.IndexFunc(r.Hosts, func(o HostStatus) bool { return o.Host == h.Host })
		if j == i || len(h.Files) == 0 {
			continue
		}
		h.Findings = append(h.Findings, Finding{Host: h.Host, File: h.Files[0].Path,
			Text: fmt.Sprintf("%s is installed in the %s scope too, so every event runs twice; to undo one: %s uninstall %s--host %s",
				h.Host, r.Hosts[j].Scope, program, scopeFlag(h.Scope), h.Host)})
	}
}

func (in *Installer) hostStatus(b *bundle.Bundle, scope, root string, l *ledger) (h HostStatus, installed bool, err error) {
	h = HostStatus{Host: b.Target.ID, Title: b.Target.Title, Scope: scope,
		Files: []FileStatus{}, Programs: []ProgramInfo{}, Findings: []Finding{}, Trust: []bundle.Trust{}}
	sites, others := in.sites(b, scope, root)
	commands := map[string]bool{}
	for _, s := range slices.Concat(sites, others) {
		rec := l.find(s)
		if rec != nil && rec.Scope != scope {
			continue // the same file, installed in another scope
		}
		if rec == nil && (!in.hookedOrEmptied(s) || in.recordedElsewhere(s, root)) {
			continue
		}
		installed = true
		if err := in.fileStatus(s, rec, root, &h, commands); err != nil {
			return h, false, err
		}
		if key, line, ok := in.ownPlugin(s); ok {
			h.Findings = append(h.Findings, Finding{Host: b.Target.ID, File: in.show(root, s.path), Line: line, Key: key,
				Text: "the plugin of flow-agents is enabled too, so every event runs twice; disable it"})
		}
	}
	if !installed {
		return h, false, nil
	}
	in.programs(b, commands, &h)
	for _, f := range in.switches(b, root) {
		// A broken file of ours is said once.
		if !f.Unknown || !slices.ContainsFunc(h.Findings, func(o Finding) bool { return o.Dead && o.File == f.File }) {
			h.Findings = append(h.Findings, f)
		}
	}
	var surfaces []string
	for _, f := range h.Files {
		surfaces = union(surfaces, []string{f.surface})
	}
	h.Trust = append(h.Trust, trustSteps(b, scope, surfaces)...)
	h.State = h.state()
	h.OK = h.State == Alive
	return h, true, nil
}

func (h *HostStatus) state() string {
	file := func(states ...string) bool {
		return slices.ContainsFunc(h.Files, func(f FileStatus) bool { return slices.Contains(states, f.State) })
	}
	switch {
	case slices.ContainsFunc(h.Findings, func(f Finding) bool { return f.Dead }),
		slices.ContainsFunc(h.Programs, func(p ProgramInfo) bool { return p.Error != "" }),
		file(entries.Missing, unreadable):
		return Dead
	case file(entries.Modified):
		return Changed
	case slices.ContainsFunc(h.Findings, func(f Finding) bool { return f.Unknown }):
		return Unknown
	}
	return Alive
}

// recordedElsewhere reports whether a site's file is another scope's too, which
// is then the one to report it.
func (in *Installer) recordedElsewhere(s site, root string) bool {
	if s.scope != bundle.Local {
		return false
	}
	sites, _ := in.sites(s.bundle, bundle.Project, root)
	return slices.ContainsFunc(sites, func(o site) bool { return o.path == s.path })
}

// hookedOrEmptied is hooked, or true for a file of our name with nothing in it:
// nobody keeps one of those but to switch us off.
func (in *Installer) hookedOrEmptied(s site) bool {
	if _, ok := in.hooked(s); ok {
		return true
	}
	data, err := read(s.path)
	return err == nil && data != nil && s.file.Merge == bundle.Own && len(bytes.TrimSpace(data)) == 0
}

func (in *Installer) fileStatus(s site, rec *record, root string, h *HostStatus, commands map[string]bool) error {
	f := FileStatus{Path: in.show(root, s.path), State: entries.Present, surface: s.file.Surface}
	defer func() { h.Files = append(h.Files, f) }()
	data, err := read(s.path)
	if err != nil {
		f.State = unreadable
		h.Findings = append(h.Findings, Finding{Host: h.Host, File: f.Path, Text: err.Error(), Dead: true})
		return nil
	}
	var m entries.Merger
	if !s.file.Free() {
		if m, err = in.merger(s); err != nil {
			return err
		}
		f.Want = m.Count()
	}
	if data == nil {
		f.State = entries.Missing
		h.Findings = append(h.Findings, Finding{Host: h.Host, File: f.Path, Text: "is missing; " + in.Command() + " init puts it back", Dead: true})
		return nil
	}
	changed := Finding{Host: h.Host, File: f.Path, Text: "was changed, so it may not do what it should; " + in.Command() + " init puts it right"}
	if rec != nil && sumOf(data) == rec.After {
		changed.Text = "is as another version of flow-agents wrote it; " + in.Command() + " upgrade brings it up to date"
	}
	if s.file.Free() {
		if !s.isSource(in, data) {
			f.State = entries.Modified
			h.Findings = append(h.Findings, changed)
		}
		return nil
	}
	doc, err := jsonedit.Parse(f.Path, data, dialect(s.file))
	if err != nil {
		f.State = unreadable
		finding := in.fault(h.Host, f.Path, err)
		finding.Dead = true
		h.Findings = append(h.Findings, finding)
		return nil
	}
	for _, e := range m.Malformed(doc) {
		h.Findings = append(h.Findings, Finding{Host: h.Host, File: e.File, Line: e.Line, Key: e.Key, Text: e.Msg})
	}
	in.placeStatus(m.Inspect(doc), &f, h, commands)
	if s.file.Merge == bundle.Own && f.State == entries.Present && !jsonedit.Equal(doc.Raw(), m.Source.Raw()) {
		f.State = entries.Modified
		h.Findings = append(h.Findings, changed)
	}
	return nil
}

// fault is an error about a file as a finding, with its place if it has one.
func (in *Installer) fault(host, file string, err error) Finding {
	f := Finding{Host: host, File: file, Text: err.Error()}
	if at := (*jsonedit.Error)(nil); errors.As(err, &at) {
		f.Line, f.Column, f.Key, f.Text = at.Line, at.Column, at.Key, at.Msg
	}
	return f
}

// placeStatus sums up the places of a file.
func (in *Installer) placeStatus(places []entries.Place, f *FileStatus, h *HostStatus, commands map[string]bool) {
	for _, p := range places {
		f.Hooks += p.Hooks
		for _, cmd := range p.Commands {
			commands[cmd] = true
		}
		finding := Finding{Host: h.Host, File: f.Path, Line: p.Line, Key: p.Path}
		switch {
		case p.State == entries.Present:
			continue
		case p.State == entries.Missing:
			f.State = entries.Missing
			finding.Text, finding.Dead = "our hook is missing; "+in.Command()+" init puts it back", true
		case p.Setting:
			finding.Text = "is not " + p.Want + ", which our hooks are written for; set it to that, or run " + in.Command() + " init"
		case p.State == entries.Modified:
			finding.Text = "our hook was changed or moved, so it may not run when it should; " + in.Command() + " init puts it right"
		case p.State == entries.Stale:
			finding.Text = "our hook is from another version; " + in.Command() + " upgrade removes it"
		}
		if f.State == entries.Present {
			f.State = entries.Modified
		}
		h.Findings = append(h.Findings, finding)
	}
}

// programs looks at what the hooks call. Hooks may hold commands for other
// platforms, which are not looked at.
func (in *Installer) programs(b *bundle.Bundle, commands map[string]bool, h *HostStatus) {
	paths := map[string]bool{}
	for cmd := range commands {
		path, ok := in.expand(cmd)
		switch {
		case ok:
			paths[path] = true
		case !foreignCommand(cmd):
			paths[cmd] = true // relative, or with a variable that is not ours
		}
	}
	if len(commands) == 0 {
		paths[in.program(b)] = true
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		info := in.programInfo(b, path)
		h.Programs = append(h.Programs, info)
		if info.note != "" {
			h.Findings = append(h.Findings, Finding{Host: h.Host, File: info.Path, Text: info.note})
		}
	}
	if len(paths) == 0 {
		cmds := strings.Join(slices.Sorted(maps.Keys(commands)), ", ")
		h.Programs = append(h.Programs, ProgramInfo{Path: cmds, Error: "can't tell where this is on this machine"})
	}
}

// trustSteps lists what has to be done before a host runs the hooks of a scope.
func trustSteps(b *bundle.Bundle, scope string, surfaces []string) []bundle.Trust {
	var out []bundle.Trust
	for _, t := range b.Trust {
		if len(t.Surfaces) > 0 && !slices.ContainsFunc(t.Surfaces, func(s string) bool { return slices.Contains(surfaces, s) }) {
			continue
		}
		if t.Scope == "any" || (t.Scope == "user") == (scope == bundle.User) {
			out = append(out, t)
		}
	}
	return out
}
