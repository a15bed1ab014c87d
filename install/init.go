package install

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// defaultSettings is the project's settings file as we create it. It also marks
// the project's root for the hook.
const defaultSettings = "{\n  \"schema_version\": 1\n}\n"

func (p *planner) planInit() error {
	bundles, err := p.in.bundles(p.req.Hosts)
	if err != nil {
		return err
	}
	if len(p.req.Hosts) == 0 {
		if bundles, err = p.installed(bundles); err != nil {
			return err
		}
		if len(bundles) == 0 {
			return usagef("nothing is installed in the %s scope of %s, so there is nothing to bring up to date; %s init installs", p.req.Scope, p.place(), p.in.Command())
		}
	}
	if err := p.checkSurface(bundles); err != nil {
		return err
	}
	for _, b := range bundles {
		if err := p.initHost(b); err != nil {
			return err
		}
	}
	if err := p.placePrograms(bundles); err != nil {
		return err
	}
	p.forgetEarlier()
	if p.req.Scope == bundle.Project {
		if err := p.initSettings(); err != nil {
			return err
		}
	}
	if p.req.Scope != bundle.User && len(p.req.Hosts) > 0 && !inGit(p.req.Root) {
		p.outsideGit()
	}
	if err := p.setMode(p.req.Mode); err != nil {
		return err
	}
	if len(p.ledger.Files) == 0 && !exists(p.ledger.path()) {
		return nil // all of it came with the repository
	}
	return p.saveLedger(rankLedger)
}

// outsideGit warns of a folder that may not be the one that was meant.
func (p *planner) outsideGit() {
	p.Findings = append(p.Findings, Finding{File: p.req.Root,
		Text: "is in no git repository, so the hooks hold only for sessions that start in this folder or below it, and nothing can be committed for others; if you meant a repository, run init in that one (to undo this: " +
			p.in.Command() + " uninstall --dest " + bundle.Quote(p.req.Root) + ")"})
	p.Commit = []string{}
}

// inGit reports whether a folder is in a git work tree: .git is a folder, or in
// a worktree or submodule a file.
func inGit(dir string) bool {
	for {
		if exists(filepath.Join(dir, ".git")) {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

func (p *planner) initHost(b *bundle.Bundle) error {
	sites, others := p.in.sites(b, p.req.Scope, p.req.Root)
	if len(sites) == 0 {
		return usagef("%s has nothing to install in the %s scope", b.Target.ID, p.req.Scope)
	}
	chosen, err := p.chooseSurfaces(b, sites)
	if err != nil {
		return err
	}
	if err := p.conflicts(b); err != nil {
		return err
	}
	p.Hosts = append(p.Hosts, Installed{Host: b.Target.ID, Title: b.Target.Title, Surfaces: chosen})
	for _, s := range sites {
		if !slices.Contains(chosen, s.file.Surface) {
			// One registration for a host: what the other surfaces had goes.
			if err := p.removeSite(s); err != nil {
				return err
			}
			continue
		}
		if err := p.initSite(s); err != nil {
			return err
		}
		if p.req.Scope == bundle.Project {
			p.Commit = append(p.Commit, p.in.show(p.req.Root, s.path))
		}
	}
	for _, s := range others {
		p.Findings = append(p.Findings, Finding{Host: b.Target.ID, File: p.in.show(p.req.Root, s.path),
			Text: fmt.Sprintf("left alone; the host reads %s first", p.in.show(p.req.Root, siteOf(sites, s).path))})
		if err := p.removeSite(s); err != nil {
			return err
		}
	}
	p.Trust = append(p.Trust, trustSteps(b, p.req.Scope, chosen)...)
	p.Findings = append(p.Findings, p.in.switches(b, p.req.Root)...)
	return nil
}

func siteOf(sites []site, s site) site {
	return sites[slices.IndexFunc(sites, func(o site) bool { return o.file.ID == s.file.ID })]
}

// forgetEarlier drops the way back of earlier upgrades, if this one replaces a
// program: a rollback undoes one upgrade, not a part of two.
func (p *planner) forgetEarlier() {
	changes := func(is func(c Change) bool) bool {
		return slices.ContainsFunc(p.steps, func(c Change) bool { return !c.hidden && c.Action != Unchanged && is(c) })
	}
	if !changes(func(c Change) bool {
		return c.rank == rankProgram && c.before != nil && !bytes.Equal(c.before, c.after)
	}) {
		return
	}
	for i := range p.ledger.Files {
		r := &p.ledger.Files[i]
		if !changes(func(c Change) bool { return c.Host == r.Host && c.ID == r.File }) {
			r.Previous = ""
		}
	}
}

// place names the project or the home of a request.
func (p *planner) place() string {
	if p.req.Root == "" {
		return "your home"
	}
	return p.req.Root
}

// checkSurface refuses a surface that none of the hosts has.
func (p *planner) checkSurface(bundles []*bundle.Bundle) error {
	want := p.req.Surface
	if want == "" || want == BothSurfaces {
		return nil
	}
	for _, b := range bundles {
		if slices.Contains(b.Surfaces, want) {
			return nil
		}
	}
	sites, _ := p.in.sites(bundles[0], p.req.Scope, p.req.Root)
	return noSurface(bundles[0], want, p.in.surfaces(bundles[0], sites))
}

func noSurface(b *bundle.Bundle, want string, c Choice) error {
	has := c.String()
	if len(c.Options) < 2 {
		has = "only " + strings.Join(c.Options, ", ")
	}
	return usagef("%s has no surface %q; it has %s", b.Target.ID, want, has)
}

// chooseSurfaces picks the surfaces of a host to install.
func (p *planner) chooseSurfaces(b *bundle.Bundle, sites []site) ([]string, error) {
	c := p.in.surfaces(b, sites)
	switch want := p.req.Surface; {
	case len(c.Options) == 1:
		return c.Options, nil
	case want == BothSurfaces:
		return c.Options, nil
	case want != "":
		// A file that several surfaces read is installed under its first.
		for _, s := range sites {
			if slices.Contains(s.file.Serves, want) {
				want = s.file.Surface
			}
		}
		if !slices.Contains(c.Options, want) {
			return nil, noSurface(b, want, c)
		}
		return []string{want}, nil
	case len(c.Installed) > 0:
		return c.Installed, nil
	case len(c.Found) == 1:
		return c.Found, nil
	}
	// Nothing decides it, so the first is taken, and said.
	chosen := append(c.Found, c.Options...)[:1]
	i := slices.IndexFunc(sites, func(s site) bool { return s.file.Surface == chosen[0] })
	p.Findings = append(p.Findings, Finding{Host: b.Target.ID, File: p.in.show(p.req.Root, sites[i].path),
		Text: fmt.Sprintf("this is the %s surface of %s; --surface takes another of %s", chosen[0], b.Target.ID, c)})
	return chosen, nil
}

func (p *planner) initSite(s site) error {
	real, err := p.in.resolve(s)
	if err != nil {
		return err
	}
	old, err := read(real)
	if err != nil {
		return err
	}
	if old != nil && isReadOnly(real) {
		return fmt.Errorf("%s is read-only; make it writable (chmod u+w) or have its owner add the hooks", p.in.show(p.req.Root, s.path))
	}
	if s.file.Merge == bundle.Own {
		return p.initOwn(s, real, old)
	}
	return p.initMerge(s, real, old)
}

// initOwn plans a file that is ours alone.
func (p *planner) initOwn(s site, real string, old []byte) error {
	want, err := s.bundle.Source(s.file, s.scope, p.in.program(s.bundle))
	if err != nil {
		return err
	}
	c := Change{Action: Create, Host: s.bundle.Target.ID, ID: s.file.ID, Path: p.in.show(p.req.Root, s.path),
		rank: rankOwn, target: real, before: old, after: want, perm: 0o644}
	rec := p.ledger.find(s)
	if bytes.Equal(old, want) {
		p.add(c)
		return nil
	}
	r, sum := p.record(s, rec), sumOf(old)
	r.After = sumOf(want)
	switch {
	case old == nil:
		r.Previous = ""
	case rec == nil && !p.in.ours(s, old) && len(bytes.TrimSpace(old)) > 0, rec != nil && sum == rec.Before:
		if !bytes.Contains(old, []byte(s.bundle.Owned.Program)) {
			return fmt.Errorf("%s is there already and is not ours; move it away", c.Path)
		}
		c.Action, c.Note = Update, "a file of your own was there; uninstall brings it back"
		r.Before = p.keep(old)
	default:
		c.Action = Update
		r.Previous = p.keep(old)
		if rec != nil && (sum == rec.After || sum == rec.Previous) {
			break // as we wrote it
		}
		if kept := p.promise(s.path, old); kept != "" {
			c.Note = "it was of another version or had been changed; its old text is kept in " + kept
		}
	}
	p.ledger.set(r)
	p.add(c)
	return nil
}

// record starts the record of a file, or goes on with the one there is.
func (p *planner) record(s site, rec *record) record {
	r := record{Host: s.bundle.Target.ID, Scope: s.scope, File: s.file.ID, Surface: s.file.Surface, Path: p.ledger.rel(s.path)}
	if rec != nil {
		r = *rec
		r.Scope = s.scope
	}
	for _, dir := range missingDirs(p.in.outside(s), s.path) {
		if rel := p.ledger.rel(dir); !slices.Contains(r.Dirs, rel) {
			r.Dirs = append(r.Dirs, rel)
		}
	}
	return r
}

// initMerge plans a file that our entries join.
func (p *planner) initMerge(s site, real string, old []byte) error {
	m, err := p.in.merger(s)
	if err != nil {
		return err
	}
	shown := p.in.show(p.req.Root, s.path)
	doc, err := jsonedit.Parse(shown, old, dialect(s.file))
	if err != nil {
		return err
	}
	_, had := m.Installed(doc)
	for _, e := range m.Malformed(doc) {
		p.Findings = append(p.Findings, Finding{Host: s.bundle.Target.ID, File: e.File, Line: e.Line, Key: e.Key, Text: e.Msg})
	}
	created, err := m.Merge(doc)
	if err != nil {
		return err
	}
	c := Change{Action: Insert, Host: s.bundle.Target.ID, ID: s.file.ID, Path: shown, Hooks: m.Count(),
		rank: rankConfig, target: real, before: old, after: doc.Bytes(), perm: 0o644}
	switch {
	case old == nil:
		c.Action = Create
	case had:
		c.Action = Update
	}
	defer func() { p.add(c) }()
	if old != nil && bytes.Equal(old, c.after) {
		return nil
	}

	rec := p.ledger.find(s)
	r := p.record(s, rec)
	sum := sumOf(old)
	switch {
	case rec != nil && old != nil && (sum == rec.After || sum == rec.Previous):
		// Nobody touched the file since we wrote it: the way back stays.
		r.Previous = p.keep(old)
		r.Created = union(rec.Created, created)
	case had:
		// Ours are in it, and so are changes of others: the way back is the
		// file without us.
		base, err := jsonedit.Parse(shown, old, dialect(s.file))
		if err != nil {
			return err
		}
		if _, err := m.Strip(base, func(place string) bool { return rec == nil || slices.Contains(rec.Created, place) }); err != nil {
			return err
		}
		r.Before, r.Previous = p.keep(base.Bytes()), p.keep(old)
		if r.Created, err = m.Merge(base); err != nil {
			return err
		}
	default:
		r.Before, r.Previous, r.Created = p.keep(old), "", created
	}
	r.After = sumOf(c.after)
	p.ledger.set(r)
	return nil
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// initSettings plans the project's own settings file, if there is none.
func (p *planner) initSettings() error {
	path := filepath.Join(p.req.Root, ".flow-agents", "settings.json")
	old, err := read(path)
	if err != nil {
		return err
	}
	p.Commit = append(p.Commit, p.in.show(p.req.Root, path))
	c := Change{Action: Create, rank: rankSettings, target: path, before: old, after: old, perm: 0o644}
	if old == nil {
		c.after = []byte(defaultSettings)
		p.ledger.set(record{Scope: bundle.Project, File: settingsFile, Path: p.ledger.rel(path), After: sumOf(c.after)})
	}
	p.add(c)
	return nil
}

// conflicts refuses a second registration of a host, for which every event
// would run twice, and reports one that a person may want.
func (p *planner) conflicts(b *bundle.Bundle) error {
	for _, scope := range []string{bundle.Project, bundle.Local, bundle.User} {
		root := p.here
		if scope != bundle.User && (root == "" || same(root, p.in.Home)) {
			continue // no project is known
		}
		sites, _ := p.in.sites(b, scope, root)
		for _, s := range sites {
			shown := p.in.show(p.req.Root, s.path)
			if key, line, ok := p.in.ownPlugin(s); ok {
				f := Finding{Host: b.Target.ID, File: shown, Line: line, Key: key,
					Text: "the plugin of flow-agents is enabled, so every event would run twice; disable it, or keep it and do without init"}
				if scope == bundle.User || p.req.Scope != bundle.User {
					return errors.New(f.String())
				}
				// One project's plugin is no reason to keep the others without.
				f.File = s.path
				p.Findings = append(p.Findings, f)
				continue
			}
			line, ok := p.in.hooked(s)
			if !ok || scope == p.req.Scope || p.sameDest(b, s) {
				continue
			}
			f := Finding{Host: b.Target.ID, File: shown, Line: line,
				Text: fmt.Sprintf("%s is installed in the %s scope too, so every event runs twice; to undo: %s uninstall %s--host %s", b.Target.ID, scope, p.in.Command(), scopeFlag(scope), b.Target.ID)}
			if p.req.Scope == bundle.User {
				f.File = s.path
				f.Text += " --dest " + bundle.Quote(root)
			}
			// A user's own hooks are no reason to keep a team from its own.
			if scope != bundle.User && p.req.Scope != bundle.User {
				return errors.New(strings.Replace(f.String(), "every event runs", "every event would run", 1))
			}
			p.Findings = append(p.Findings, f)
		}
	}
	return nil
}

// sameDest reports whether the requested scope writes the same file as s.
func (p *planner) sameDest(b *bundle.Bundle, s site) bool {
	sites, _ := p.in.sites(b, p.req.Scope, p.req.Root)
	return slices.ContainsFunc(sites, func(o site) bool { return o.path == s.path })
}

func scopeFlag(scope string) string {
	switch scope {
	case bundle.User:
		return "--global "
	case bundle.Local:
		return "--scope local "
	}
	return ""
}
