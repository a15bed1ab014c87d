package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/install/atomicfile"
	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/install/jsonedit"
)

func (p *planner) planUninstall() error {
	bundles, err := p.in.bundles(p.req.Hosts)
	if err != nil {
		return err
	}
	if bundles, err = p.installed(bundles); err != nil {
		return err
	}
	for _, b := range bundles {
		p.Hosts = append(p.Hosts, Installed{Host: b.Target.ID, Title: b.Target.Title, Surfaces: b.Surfaces})
		sites, others := p.in.sites(b, p.req.Scope, p.req.Root)
		for _, s := range slices.Concat(sites, others) {
			if err := p.removeSite(s); err != nil {
				return err
			}
		}
	}
	if p.req.Scope != bundle.User && !p.hostsLeft() {
		if err := p.removeSettings(); err != nil {
			return err
		}
		if err := p.setMode(Enforce); err != nil {
			// The hooks go all the same.
			p.Findings = append(p.Findings, p.in.fault("", p.in.show("", p.in.settings()), err))
		}
	}
	if err := p.saveLedger(rankCleanup); err != nil {
		return err
	}
	if err := p.removeState(); err != nil {
		return err
	}
	if !p.hostsLeft() {
		p.leave()
	}
	return nil
}

// hostsLeft reports whether the ledger still has a host, or another scope of
// the project does.
func (p *planner) hostsLeft() bool {
	if slices.ContainsFunc(p.ledger.Files, func(r record) bool { return r.Host != "" }) {
		return true
	}
	all, err := p.in.bundles(nil)
	if err != nil {
		return true
	}
	for _, b := range all {
		for _, scope := range []string{bundle.Project, bundle.Local} {
			sites, others := p.in.sites(b, scope, p.req.Root)
			for _, s := range slices.Concat(sites, others) {
				planned := slices.ContainsFunc(p.steps, func(c Change) bool { return c.Path == p.in.show(p.req.Root, s.path) })
				if _, ok := p.in.hooked(s); ok && !planned {
					return true
				}
			}
		}
	}
	return false
}

// removeSite plans that one file of a bundle is as it was before us.
func (p *planner) removeSite(s site) error {
	rec := p.ledger.find(s)
	if _, ok := p.in.hooked(s); !ok && rec == nil {
		return nil
	}
	real, err := p.in.resolve(s)
	if err != nil {
		return err
	}
	old, err := read(real)
	if err != nil {
		return err
	}
	c := Change{Host: s.bundle.Target.ID, ID: s.file.ID, Path: p.in.show(p.req.Root, s.path),
		rank: rankOwn, target: real, before: old, perm: 0o644}
	if s.file.Merge == bundle.Own && rec == nil && !p.in.ours(s, old) {
		p.Findings = append(p.Findings, Finding{Host: s.bundle.Target.ID, File: c.Path, Text: "is left alone: flow-agents did not write it"})
		return nil
	}
	if s.file.Merge == bundle.Own {
		c.rank = rankConfig // the other way round than on the way in
	}
	if err := p.undo(s, rec, &c); err != nil {
		return err
	}
	p.add(c)
	if rec != nil {
		p.ledger.drop(*rec)
		for _, dir := range slices.Backward(rec.Dirs) {
			p.removeDir(rankDirs, p.ledger.abs(dir))
			p.freed = append(p.freed, dir)
		}
	}
	return nil
}

// undo fills in what a file becomes.
func (p *planner) undo(s site, rec *record, c *Change) error {
	old := c.before
	sum := sumOf(old)
	switch {
	case old == nil:
		return nil
	case rec != nil && sum == rec.Before:
		c.after = old
		return nil
	case rec != nil && (sum == rec.After || sum == rec.Previous):
		if rec.Before == "" {
			c.Action = Delete
			return nil
		}
		original, err := p.ledger.original(rec.Before)
		if err == nil {
			c.Action, c.after = Restore, original
			return nil
		}
		text := "so only our entries are taken out"
		if s.file.Merge == bundle.Own {
			text = "so only our file goes"
		}
		p.Findings = append(p.Findings, Finding{Host: s.bundle.Target.ID, File: c.Path,
			Text: "the original bytes are lost (" + err.Error() + "), " + text})
	case s.file.Merge == bundle.Own:
		if s.isSource(p.in, old) {
			break
		}
		if kept := p.promise(s.path, old); kept != "" {
			c.Note = "it had been changed; its text is kept in " + kept
		}
	}
	if s.file.Merge == bundle.Own {
		c.Action = Delete
		if rec != nil && rec.Before != "" {
			if original, err := p.ledger.original(rec.Before); err == nil {
				c.Action, c.after = Restore, original
			}
		}
		return nil
	}
	return p.strip(s, rec, c)
}

// isSource reports whether data is the file as its bundle has it. Git may have
// changed its line ends.
func (s site) isSource(in *Installer, data []byte) bool {
	src, err := s.bundle.Source(s.file, s.scope, in.program(s.bundle))
	return err == nil && bytes.Equal(src, bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
}

// strip takes our entries out of a file that others changed too.
func (p *planner) strip(s site, rec *record, c *Change) error {
	m, err := p.in.merger(s)
	if err != nil {
		return err
	}
	doc, err := jsonedit.Parse(c.Path, c.before, dialect(s.file))
	if err != nil {
		return err
	}
	n, err := m.Strip(doc, func(place string) bool { return rec == nil || slices.Contains(rec.Created, place) })
	if err != nil {
		return err
	}
	c.Action, c.after = Remove, doc.Bytes()
	c.Note = fmt.Sprintf("%d hooks taken out; the rest of the file had been changed since and stays", n)
	if rec == nil {
		c.Note = fmt.Sprintf("%d hooks taken out; the rest of the file stays", n)
	}
	if rec != nil && rec.Before == "" && doc.Kind() == '{' && len(doc.Keys()) == 0 {
		c.Action, c.after, c.Note = Delete, nil, ""
	}
	return nil
}

// removeSettings plans the end of the project's settings, if they are still the
// ones that we wrote.
func (p *planner) removeSettings() error {
	path := filepath.Join(p.req.Root, ".flow-agents", "settings.json")
	old, err := read(path)
	if err != nil {
		return err
	}
	p.ledger.Files = slices.DeleteFunc(p.ledger.Files, func(r record) bool { return r.File == settingsFile })
	if string(old) == defaultSettings {
		p.add(Change{Action: Delete, rank: rankSettings, target: path, before: old})
	}
	return nil
}

// removeState plans the end of the state folder, when nothing is recorded in it
// any more. Folders that hold other things stay, with the ignore file.
func (p *planner) removeState() error {
	if len(p.ledger.Files) > 0 || p.ledger.base == "" {
		return nil
	}
	kept := slices.ContainsFunc(p.steps, func(c Change) bool { return c.rank == rankLedger })
	if !kept && p.onlyOurs() {
		ignore := filepath.Join(p.ledger.dir, ".gitignore")
		old, err := read(ignore)
		if err != nil {
			return err
		}
		if old != nil {
			p.add(Change{Action: Delete, hidden: true, rank: rankCleanup, target: ignore, before: old})
		}
	}
	for _, dir := range []string{filepath.Join(p.ledger.dir, "backups"), p.ledger.dir, filepath.Dir(p.ledger.dir)} {
		p.removeDir(rankStateDirs, dir)
	}
	return nil
}

// onlyOurs reports whether the state folder holds nothing but what the
// installer wrote.
func (p *planner) onlyOurs() bool {
	found, err := os.ReadDir(p.ledger.dir)
	return err == nil && !slices.ContainsFunc(found, func(f fs.DirEntry) bool {
		return !slices.Contains([]string{"install.json", "backups", ".gitignore", filepath.Base(atomicfile.TempName("install.json"))}, f.Name())
	})
}

// planRollback undoes the last update of each file.
func (p *planner) planRollback() error {
	programs, err := p.rollbackPrograms()
	if err != nil {
		return err
	}
	for i := range p.ledger.Files {
		r := &p.ledger.Files[i]
		if r.Previous == "" || r.Scope != p.req.Scope || len(p.req.Hosts) > 0 && !slices.Contains(p.req.Hosts, r.Host) {
			continue
		}
		path := p.ledger.abs(r.Path)
		fence := p.ledger.base
		if fence == "" {
			fence = filepath.VolumeName(path) + string(filepath.Separator) // the user's own ledger
		}
		real, err := contained(path, fence)
		if err != nil {
			return err
		}
		now, err := read(real)
		if err != nil {
			return err
		}
		shown := p.in.show(p.req.Root, path)
		if sumOf(now) != r.After && programs > 0 {
			p.Findings = append(p.Findings, Finding{Host: r.Host, File: shown, Text: "was changed since the update, so it stays as it is; only the programs go back"})
			continue
		}
		if sumOf(now) != r.After {
			return fmt.Errorf("%s was changed since the update, so it can't be rolled back; %s uninstall takes only our entries out", shown, p.in.Command())
		}
		prev, err := p.ledger.original(r.Previous)
		if err != nil {
			return err
		}
		p.Hosts = append(p.Hosts, Installed{Host: r.Host, Title: r.Host, Surfaces: []string{r.Surface}})
		p.add(Change{Action: Restore, Host: r.Host, ID: r.File, Path: shown, rank: rankConfig, target: real, before: now, after: prev, perm: 0o644})
		r.After, r.Previous = r.Previous, ""
	}
	if len(p.Hosts) == 0 && programs == 0 {
		return fmt.Errorf("nothing to roll back: no file was updated since it was installed")
	}
	if programs > 0 {
		p.Notes = append(p.Notes, "The programs are shared by all projects of yours, so the others go back to the earlier version too.")
	}
	if len(p.Hosts) == 0 {
		return nil
	}
	return p.saveLedger(rankCleanup)
}

// rollbackPrograms plans that the programs are those before the last upgrade,
// and returns how many change.
func (p *planner) rollbackPrograms() (int, error) {
	var kept []string
	for _, bin := range union([]string{filepath.Join(p.in.Machine, "bin")}, []string{filepath.Join(p.in.Home, ".flow-agents", "bin")}) {
		found, err := os.ReadDir(bin)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		for _, f := range found {
			if strings.HasSuffix(f.Name(), previous) {
				kept = append(kept, filepath.Join(bin, f.Name()))
			}
		}
	}
	for _, prev := range kept {
		dst := strings.TrimSuffix(prev, previous)
		old, err := readProgram(prev)
		if err != nil {
			return 0, err
		}
		now, err := readProgram(dst)
		if err != nil {
			return 0, err
		}
		p.add(Change{Action: Restore, rank: rankProgram, target: dst, before: now, after: old, perm: 0o755})
		p.add(Change{Action: Delete, hidden: true, rank: rankCleanup, target: prev, before: old})
	}
	return len(kept), nil
}
