// Package bundle emits bundle.json: what an installer has to know of a bundle,
// so that it needs nothing of the host's manifest. Its schema is #Bundle in
// schema/bundle.cue.
package bundle

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/flow-agents/flow-agents/generators/config"
	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/model"
	"github.com/flow-agents/flow-agents/generators/tables"
)

// Program is the base name of the hook binary, by which our entries are
// recognised in a file shared with others.
const Program = "flow-agents-hook"

type document struct {
	SchemaVersion int               `json:"schema_version"`
	Target        target            `json:"target"`
	Tested        model.Tested      `json:"tested"`
	Detect        detect            `json:"detect"`
	Home          model.Home        `json:"home"`
	Surfaces      []string          `json:"surfaces"`
	Files         []file            `json:"files"`
	Owned         owned             `json:"owned"`
	Trust         []model.TrustStep `json:"trust"`
	Switches      []offSwitch       `json:"switches"`
}

type target struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Kind  string `json:"kind"`
}

type detect struct {
	Env     []string `json:"env"`
	Project []string `json:"project"`
	User    []string `json:"user"`
	Session []string `json:"session"`
}

type file struct {
	ID          string           `json:"id"`
	Doc         string           `json:"doc"`
	Surface     string           `json:"surface"`
	Serves      []string         `json:"serves"`
	Timeouts    *timeouts        `json:"timeouts,omitempty"`
	Merge       string           `json:"merge"`
	Also        []string         `json:"also"`
	Shape       string           `json:"shape"`
	Scopes      map[string]place `json:"scopes"`
	Placeholder *placeholder     `json:"placeholder,omitempty"`
	Install     bool             `json:"install"`
}

type place struct {
	Source string `json:"source"`
	Dest   string `json:"dest"`
}

type placeholder struct {
	Raw   string `json:"raw"`
	Shell string `json:"shell"`
}

type owned struct {
	Program  string `json:"program"`
	FirstArg string `json:"first_arg"`
}

type timeouts struct {
	Key     string         `json:"key"`
	Unit    string         `json:"unit"`
	ByEvent map[string]int `json:"by_event"`
}

type offSwitch struct {
	Scope    string   `json:"scope"`
	Path     string   `json:"path"`
	Format   string   `json:"format"`
	Key      []string `json:"key"`
	DeadWhen bool     `json:"dead_when"`
	Text     string   `json:"text"`
}

// Emit returns bundle.json of a host.
func Emit(c *model.Catalog, h model.Host) (fileset.Set, error) {
	d := document{
		SchemaVersion: 1,
		Target:        target{h.ID, h.Title, h.Kind},
		Tested:        h.Tested,
		Detect:        detect{list(h.Detect.Env), list(h.Detect.Project), list(h.Detect.User), list(h.Detect.Session)},
		Home:          h.Home,
		Surfaces:      tables.SurfaceOrder(h),
		Files:         []file{},
		Owned:         owned{Program, h.ID},
		Trust:         list(h.Trust),
		Switches:      []offSwitch{},
	}
	for _, id := range slices.Sorted(maps.Keys(h.Files)) {
		f := h.Files[id]
		x := file{ID: id, Doc: f.Doc, Surface: f.Surface, Serves: list(f.Serves), Merge: f.Merge, Also: list(f.Also), Shape: "free", Scopes: map[string]place{}, Install: f.Install}
		if f.Accepts != nil {
			x.Shape = f.Accepts.Shape
		}
		dest := map[string]string{"project": f.Dest.Project, "local": f.Dest.Local, "user": f.Dest.User}
		for _, s := range config.Scopes(f) {
			x.Scopes[s] = place{config.Source(f, s), dest[s]}
		}
		if f.Kind == "config" && x.Shape != "free" {
			x.Placeholder = &placeholder{config.Placeholder, config.ShellPlaceholder}
			hooks, err := config.Hooks(c, h, f, config.Scopes(f)[0])
			if err != nil {
				return nil, err
			}
			unit := config.Unit(h, f)
			x.Timeouts = &timeouts{unit.Key, unit.Unit, map[string]int{}}
			for _, k := range hooks {
				x.Timeouts.ByEvent[k.Native] = k.Timeout
			}
		}
		d.Files = append(d.Files, x)
	}
	for _, s := range h.Switches {
		d.Switches = append(d.Switches, offSwitch{s.Scope, s.Path, s.Format, s.Key, s.DeadWhen, s.Text})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, err
	}
	var out fileset.Set
	out.Add("bundle.json", b.Bytes())
	return out, nil
}

// list is never null in JSON.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
