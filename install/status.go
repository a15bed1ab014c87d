package install

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/install/entries"
	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// A Report says what is installed and whether it is alive.
type Report struct {
	Root string `json:"root"`
	Mode string `json:"mode"`
	// OK: something is installed, and nothing of it is dead.
	OK    bool         `json:"ok"`
	Hosts []HostStatus `json:"hosts"`
}

// HostStatus is one host in one scope.
type HostStatus struct {
	Host  string `json:"host"`
	Title string `json:"title"`
	Scope string `json:"scope"`
	// OK: every hook of ours is there and can run.
	OK       bool          `json:"ok"`
	Files    []FileStatus  `json:"files"`
	Programs []ProgramInfo `json:"programs"`
	Findings []Finding     `json:"findings"`
}

// FileStatus is one file of a host.
type FileStatus struct {
	Path string `json:"path"`
	// State is present, modified, missing, or unreadable.
	State string `json:"state"`
	// Hooks is how many of ours were found, Want how many there should be.
	Hooks int `json:"hooks"`
	Want  int `json:"want"`
}

// ProgramInfo is a program that hooks call.
type ProgramInfo struct {
	Path    string `json:"path"`
	Version string `json:"version,omitempty"`
	Error   string `json:"error,omitempty"`
}

const unreadable = "unreadable"

// Status looks at every host that is installed in the project at root, or for
// the user.
func (in *Installer) Status(root string) (*Report, error) {
	all, err := in.bundles(nil)
	if err != nil {
		return nil, err
	}
	report := &Report{Root: root, Mode: in.Mode(root), OK: true, Hosts: []HostStatus{}}
	for _, b := range all {
		for _, scope := range []string{bundle.Project, bundle.Local, bundle.User} {
			l, err := in.openLedger(scope, root)
			if err != nil {
				return nil, err
			}
			h, installed, err := in.hostStatus(b, scope, root, l)
			if err != nil {
				return nil, err
			}
			if installed {
				report.Hosts = append(report.Hosts, h)
				report.OK = report.OK && h.OK
			}
		}
	}
	report.OK = report.OK && len(report.Hosts) > 0
	return report, nil
}

func (in *Installer) hostStatus(b *bundle.Bundle, scope, root string, l *ledger) (h HostStatus, installed bool, err error) {
	h = HostStatus{Host: b.Target.ID, Title: b.Target.Title, Scope: scope, Files: []FileStatus{}, Programs: []ProgramInfo{}, Findings: []Finding{}}
	sites, others := in.sites(b, scope, root)
	commands := map[string]bool{}
	for _, s := range slices.Concat(sites, others) {
		rec := l.find(s)
		_, hooked := in.hooked(s)
		if rec != nil && rec.Scope != scope {
			continue // the same file, installed in another scope
		}
		if rec == nil && (!hooked || in.recordedElsewhere(s, root)) {
			continue
		}
		installed = true
		if err := in.fileStatus(s, root, &h, commands); err != nil {
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
	h.Programs = in.programs(b, commands)
	h.Findings = append(h.Findings, in.switches(b, root)...)

	h.OK = !slices.ContainsFunc(h.Findings, func(f Finding) bool { return f.Dead }) &&
		!slices.ContainsFunc(h.Programs, func(p ProgramInfo) bool { return p.Error != "" }) &&
		!slices.ContainsFunc(h.Files, func(f FileStatus) bool { return f.State == entries.Missing || f.State == unreadable })
	return h, true, nil
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

func (in *Installer) fileStatus(s site, root string, h *HostStatus, commands map[string]bool) error {
	f := FileStatus{Path: in.show(root, s.path), State: entries.Present}
	defer func() { h.Files = append(h.Files, f) }()
	data, err := read(s.path)
	if err != nil {
		f.State = unreadable
		h.Findings = append(h.Findings, Finding{Host: h.Host, File: f.Path, Text: err.Error(), Dead: true})
		return nil
	}
	if s.file.Merge == bundle.Own && data == nil {
		f.State = entries.Missing
		h.Findings = append(h.Findings, Finding{Host: h.Host, File: f.Path, Text: "is missing; flow-agents init puts it back", Dead: true})
		return nil
	}
	if s.file.Free() {
		if !s.isSource(in, data) {
			f.State = entries.Modified
			h.Findings = append(h.Findings, Finding{Host: h.Host, File: f.Path, Text: "is not as this version has it; flow-agents init puts it right"})
		}
		return nil
	}
	m, err := in.merger(s)
	if err != nil {
		return err
	}
	f.Want = m.Count()
	doc, err := jsonedit.Parse(f.Path, data, dialect(s.file))
	if err != nil {
		f.State = unreadable
		finding := Finding{Host: h.Host, File: f.Path, Text: err.Error(), Dead: true}
		if at := (*jsonedit.Error)(nil); errors.As(err, &at) {
			finding.Line, finding.Key, finding.Text = at.Line, at.Key, at.Msg
		}
		h.Findings = append(h.Findings, finding)
		return nil
	}
	for _, e := range m.Malformed(doc) {
		h.Findings = append(h.Findings, Finding{Host: h.Host, File: e.File, Line: e.Line, Key: e.Key, Text: e.Msg})
	}
	in.placeStatus(m.Inspect(doc), &f, h, commands)
	return nil
}

// placeStatus sums up the places of a file.
func (in *Installer) placeStatus(places []entries.Place, f *FileStatus, h *HostStatus, commands map[string]bool) {
	for _, p := range places {
		f.Hooks += p.Hooks
		for _, cmd := range p.Commands {
			commands[cmd] = true
		}
		finding := Finding{Host: h.Host, File: f.Path, Line: p.Line, Key: p.Path}
		switch p.State {
		case entries.Present:
			continue
		case entries.Missing:
			f.State = entries.Missing
			finding.Text, finding.Dead = "our hook is missing; flow-agents init puts it back", true
		case entries.Modified:
			finding.Text = "our hook was changed or moved, so it may not run when it should; flow-agents init puts it right"
		case entries.Stale:
			finding.Text = "our hook is from another version; flow-agents upgrade removes it"
		}
		if f.State == entries.Present {
			f.State = entries.Modified
		}
		h.Findings = append(h.Findings, finding)
	}
}

// programs looks at what the hooks call. Hooks may hold commands for other
// platforms, which are not looked at.
func (in *Installer) programs(b *bundle.Bundle, commands map[string]bool) []ProgramInfo {
	paths := map[string]bool{}
	for cmd := range commands {
		if path, ok := in.expand(cmd); ok {
			paths[path] = true
		}
	}
	if len(commands) == 0 {
		paths[in.program(b)] = true
	}
	var out []ProgramInfo
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		out = append(out, in.programInfo(path))
	}
	if len(out) == 0 {
		cmds := strings.Join(slices.Sorted(maps.Keys(commands)), ", ")
		out = append(out, ProgramInfo{Path: cmds, Error: "can't tell where this is on this machine"})
	}
	return out
}

func (in *Installer) programInfo(path string) ProgramInfo {
	info := ProgramInfo{Path: in.show("", path)}
	if !exists(path) {
		info.Error = "is not there; flow-agents init puts it in place"
		return info
	}
	version, err := Version(path)
	if err != nil {
		info.Error = fmt.Sprintf("can't be run (%v); flow-agents init --hook PATH puts another one in place", err)
	}
	info.Version = version
	return info
}
