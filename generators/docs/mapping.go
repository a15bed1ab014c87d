package docs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/generators/declaration"
	"github.com/flow-agents/flow-agents/generators/model"
)

// mapping is what the page about one host shows.
type mapping struct {
	Header   string
	Host     model.Host
	Surfaces []surfaceView
	Tools    []toolView
	Files    []fileView
	Engine   []variableView
	Policies []policyVariables
	Planned  []string
	// Protection is what config protection guards.
	Protection model.Protection
}

type surfaceView struct {
	ID                  string
	Surface             model.Surface
	Level, SurfaceLevel string
	Events              []eventView
	Policies            []policyView
	// Short lists, for each event and policy, what is missing or lost.
	Short []shortfall
}

type eventView struct {
	ID, State string
	Mapping   model.Mapping
	Hears     []string
	Timeout   string
	// Registered: hooks are installed for it in this release.
	Registered bool
}

// Hooked is the table's word for whether a hook is installed for the event.
func (e eventView) Hooked() string {
	switch {
	case e.Mapping.Kind == model.Gap:
		return ""
	case e.Registered:
		return "yes"
	}
	return "not yet"
}

type policyView struct {
	Policy   model.Policy
	State    model.PolicyState
	Blocking string
	Points   []string
}

type shortfall struct{ Where, Kind, Text, Remedy string }

type toolView struct {
	Name   string
	Tool   model.Tool
	Target []string
}

type fileView struct {
	ID   string
	File model.File
}

type variableView struct {
	Name     string
	Variable model.Variable
}

type policyVariables struct {
	Policy    model.Policy
	Variables []variableView
}

func newMapping(c *model.Catalog, h model.Host) (*mapping, error) {
	out := &mapping{Header: Header, Host: h, Engine: variables(c.EngineEnv), Planned: h.Declaration.Planned, Protection: c.Protection}
	for _, s := range declaration.Surfaces(h) {
		d, ok := h.Declaration.Surfaces[s]
		if !ok {
			return nil, fmt.Errorf("surface %s has no computed state", s)
		}
		v := surfaceView{ID: s, Surface: h.Surfaces[s], Level: declaration.LevelName(d.Rank), SurfaceLevel: declaration.LevelName(d.SurfaceRank)}
		for _, e := range c.Events {
			m := h.Surfaces[s].Events[e.ID]
			v.Events = append(v.Events, eventView{ID: e.ID, State: eventState(m), Mapping: m, Hears: hears(m.Answer), Timeout: duration(m.TimeoutMs), Registered: c.Registered(e.ID)})
			if m.Kind == model.Gap {
				v.Short = append(v.Short, shortfall{e.ID, gapWords(m.Gap), m.Degradation, m.Approximation})
			} else if m.Degradation != "" {
				v.Short = append(v.Short, shortfall{e.ID, "emulated", m.Degradation, ""})
			}
			if m.Loss != "" {
				v.Short = append(v.Short, shortfall{e.ID, "loss", m.Loss, ""})
			}
		}
		for _, p := range c.Policies {
			st := d.Policies[p.ID]
			pv := policyView{Policy: p, State: st, Blocking: declaration.Blocking(p, st)}
			for _, t := range st.Triggers {
				pv.Points = append(pv.Points, triggerWords(t))
				if t.State == "mute" {
					v.Short = append(v.Short, shortfall{p.ID, "mute", declaration.Mute(p, t), ""})
				}
			}
			v.Policies = append(v.Policies, pv)
		}
		out.Surfaces = append(out.Surfaces, v)
	}
	for _, n := range slices.Sorted(maps.Keys(h.Tools)) {
		t := h.Tools[n]
		v := toolView{Name: n, Tool: t}
		for _, f := range []struct {
			what  string
			paths []string
		}{{"path", t.Path}, {"patch text", t.Patch}, {"command", t.Command}} {
			for _, p := range f.paths {
				v.Target = append(v.Target, f.what+" in "+code(p))
			}
		}
		out.Tools = append(out.Tools, v)
	}
	for _, id := range slices.Sorted(maps.Keys(h.Files)) {
		out.Files = append(out.Files, fileView{id, h.Files[id]})
	}
	for _, p := range c.Policies {
		if len(p.Env) > 0 {
			out.Policies = append(out.Policies, policyVariables{p, variables(p.Env)})
		}
	}
	return out, nil
}

// hears lists what the host honours at an event, each with its channel.
func hears(a *model.Answer) []string {
	var out []string
	for _, d := range a.Decisions() {
		text := d.Name + " by " + code(d.Channel)
		if d.Cap > 0 {
			text += fmt.Sprintf(" (%d bytes)", d.Cap)
		}
		out = append(out, text)
	}
	return out
}

func triggerWords(t model.TriggerState) string {
	text := code(t.Event) + " " + t.State
	if t.Channel != "" {
		text += " by " + code(t.Channel)
	}
	if t.Optional {
		text += " (optional)"
	}
	return text
}

// duration writes milliseconds as seconds where nothing is lost by it.
func duration(ms int) string {
	switch {
	case ms == 0:
		return ""
	case ms%1000 == 0:
		return fmt.Sprintf("%d s", ms/1000)
	}
	return fmt.Sprintf("%d ms", ms)
}

func variables(env map[string]model.Variable) []variableView {
	var out []variableView
	for _, n := range slices.Sorted(maps.Keys(env)) {
		out = append(out, variableView{n, env[n]})
	}
	return out
}

// Kind is a variable's type, or the words that it takes.
func (v variableView) Kind() string {
	if len(v.Variable.Values) > 0 {
		return strings.Join(v.Variable.Values, ", ")
	}
	return v.Variable.Type
}
