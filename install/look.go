package install

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/install/jsonedit"
	"github.com/flow-agents/flow-agents/install/offswitch"
)

// pluginName is what our plugin is called in every marketplace.
const pluginName = "flow-agents"

// hooked reports whether the file of a site holds hooks of ours, and the line of
// the first. A file that can't be parsed counts if it names our program.
func (in *Installer) hooked(s site) (line int, ok bool) {
	data, err := read(s.path)
	if err != nil || data == nil {
		return 0, false
	}
	program := []byte(s.bundle.Owned.Program)
	if s.file.Merge == bundle.Own {
		return 1, bytes.Contains(data, program) || generated(data)
	}
	m, err := in.merger(s)
	if err != nil {
		return 0, false
	}
	doc, err := jsonedit.Parse(s.path, data, dialect(s.file))
	if err != nil {
		at := bytes.Index(data, program)
		return 1 + bytes.Count(data[:max(at, 0)], []byte("\n")), at >= 0
	}
	return m.Installed(doc)
}

// ownPlugin reports whether a host's settings enable a plugin of ours: a name in
// a list, or a key that isn't false, below a key that speaks of plugins.
func (in *Installer) ownPlugin(s site) (key string, line int, ok bool) {
	data, err := read(s.path)
	if err != nil || data == nil || s.file.Merge == bundle.Own {
		return "", 0, false
	}
	doc, err := jsonedit.Parse(s.path, data, jsonedit.JSONC)
	if err != nil {
		return "", 0, false
	}
	ours := func(name string) bool { return name == pluginName || strings.HasPrefix(name, pluginName+"@") }
	for _, top := range doc.Keys() {
		if !strings.Contains(strings.ToLower(top), "plugin") {
			continue
		}
		for _, name := range doc.Keys(top) {
			if ours(name) && doc.Decoded(top, name) != false {
				line, _ = doc.Pos(top, name)
				return jsonedit.Path{top, name}.String(), line, true
			}
		}
		for i := range doc.Len(top) {
			if name, _ := doc.Decoded(top, i).(string); ours(name) {
				line, _ = doc.Pos(top, i)
				return jsonedit.Path{top, i}.String(), line, true
			}
		}
	}
	return "", 0, false
}

// installed returns those of the bundles that have something in the scope.
func (p *planner) installed(all []*bundle.Bundle) ([]*bundle.Bundle, error) {
	var out []*bundle.Bundle
	for _, b := range all {
		sites, others := p.in.sites(b, p.req.Scope, p.req.Root)
		hit := slices.ContainsFunc(p.ledger.Files, func(r record) bool { return r.Host == b.Target.ID && r.Scope == p.req.Scope })
		for _, s := range slices.Concat(sites, others) {
			_, ok := p.in.hooked(s)
			hit = hit || ok
		}
		if hit {
			out = append(out, b)
		}
	}
	return out, nil
}

// switches reports the settings of a host that keep every hook dead.
func (in *Installer) switches(b *bundle.Bundle, root string) []Finding {
	var out []Finding
	for _, s := range b.Switches {
		base := root
		if s.Scope == bundle.User {
			base, _ = in.hostHome(b)
		}
		if base == "" {
			continue
		}
		path := filepath.Join(base, filepath.FromSlash(s.Path))
		shown := in.show(root, path)
		data, err := read(path)
		var got *offswitch.Setting
		if err == nil && data != nil {
			got, err = offswitch.Find(shown, s.Format, data, s.Key)
		}
		if err != nil {
			f := in.fault(b.Target.ID, shown, err)
			f.Text += "; mend it, for nobody can tell whether " + strings.Join(s.Key, ".") + " keeps the hooks from running"
			f.Unknown = true
			if !slices.ContainsFunc(out, func(o Finding) bool { return o.Unknown && o.File == shown }) {
				out = append(out, f)
			}
			continue
		}
		if got != nil && got.Value == s.DeadWhen {
			out = append(out, Finding{Host: b.Target.ID, File: shown, Line: got.Line, Key: strings.Join(s.Key, "."), Text: s.Text, Dead: true})
		}
	}
	return out
}

// A Choice is the surfaces of a host to choose from.
type Choice struct {
	Options []string
	// Installed and Found are those that have our hooks already, and those
	// whose folder exists.
	Installed, Found []string
}

func (c Choice) String() string {
	return strings.Join(append(slices.Clone(c.Options), BothSurfaces), ", ")
}

func (in *Installer) surfaces(b *bundle.Bundle, sites []site) Choice {
	var c Choice
	add := func(list *[]string, surface string) {
		if !slices.Contains(*list, surface) {
			*list = append(*list, surface)
		}
	}
	for _, surface := range b.Surfaces {
		for _, s := range sites {
			if s.file.Surface != surface {
				continue
			}
			add(&c.Options, surface)
			if _, ok := in.hooked(s); ok {
				add(&c.Installed, surface)
			}
			if exists(filepath.Dir(s.path)) {
				add(&c.Found, surface)
			}
		}
	}
	return c
}

// Surfaces tells which surfaces a request has to choose from, by host, for the
// hosts where nothing decides it: neither the request, nor what is installed,
// nor a single surface that was found.
func (in *Installer) Surfaces(req Request) (map[string]Choice, error) {
	bundles, err := in.bundles(req.Hosts)
	if err != nil {
		return nil, err
	}
	out := map[string]Choice{}
	for _, b := range bundles {
		sites, _ := in.sites(b, req.Scope, req.Root)
		c := in.surfaces(b, sites)
		if req.Surface == "" && len(c.Options) > 1 && len(c.Installed) == 0 && len(c.Found) != 1 {
			out[b.Target.ID] = c
		}
	}
	return out, nil
}

// Detect names the hosts that seem to be in use, by the strongest sign there
// is: a host that runs this program, else what it left in the project, else in
// the home. how says which; it is empty if there is none.
func (in *Installer) Detect(root string) (hosts []string, how string, err error) {
	all, err := in.bundles(nil)
	if err != nil {
		return nil, "", err
	}
	signs := []struct {
		how string
		has func(b *bundle.Bundle) bool
	}{
		{"running", func(b *bundle.Bundle) bool {
			return slices.ContainsFunc(b.Detect.Env, func(name string) bool { return in.Getenv(name) != "" })
		}},
		{"found in the project", func(b *bundle.Bundle) bool {
			return root != "" && anyExists(root, b.Detect.Project)
		}},
		{"found in your home", func(b *bundle.Bundle) bool {
			return anyExists(in.Home, b.Detect.User)
		}},
	}
	for _, sign := range signs {
		for _, b := range all {
			if sign.has(b) {
				hosts = append(hosts, b.Target.ID)
			}
		}
		if len(hosts) > 0 {
			return hosts, sign.how, nil
		}
	}
	return nil, "", nil
}

func anyExists(base string, paths []string) bool {
	return slices.ContainsFunc(paths, func(rel string) bool { return exists(filepath.Join(base, filepath.FromSlash(rel))) })
}

// generated reports whether the first line of a file says that it is one of
// ours, of whatever version.
func generated(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return bytes.Contains(line, []byte(generatedBy))
}

// generatedBy stands in the first line of every text that build-bundles writes
// in a language with comments.
const generatedBy = "Code generated by build-bundles"

// ours reports whether a whole file is ours, of whatever version: it says so, or
// holds hooks of ours and no others.
func (in *Installer) ours(s site, data []byte) bool {
	if s.isSource(in, data) || s.file.Free() {
		return s.isSource(in, data) || generated(data)
	}
	m, err := in.merger(s)
	if err != nil {
		return false
	}
	doc, err := jsonedit.Parse(s.path, data, dialect(s.file))
	return err == nil && m.OnlyOurs(doc)
}

func isReadOnly(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o200 == 0
}
