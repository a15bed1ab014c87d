// Package observe raises claims to observed: where acceptance saw a real host
// do what its manifest says, the run is what the fact rests on.
package observe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/flow-agents/flow-agents/conformance/observed"
	"github.com/flow-agents/flow-agents/generators/model"
)

// A Stale is a row that says something else than when acceptance saw it.
type Stale struct {
	Host, Surface, Event string
	// Run is the newest that saw the event.
	Run observed.Run
}

// Apply rewrites the claim of every event that a run saw pass on a release in
// the tested range, if its row still says what it said then. Rows that don't
// keep their author's claim and are returned. A host with several surfaces
// keeps its claims: runs don't say which surface they saw.
func Apply(c *model.Catalog, seen map[string]observed.File) []Stale {
	var stale []Stale
	for _, h := range c.Hosts {
		f, ok := seen[h.ID]
		if !ok || len(h.Surfaces) != 1 {
			continue
		}
		for name, s := range h.Surfaces {
			for _, id := range slices.Sorted(maps.Keys(s.Events)) {
				m := s.Events[id]
				if m.Kind == model.Gap {
					continue
				}
				in := observed.Range{Min: h.Tested.Min, Max: h.Tested.Max}
				if run, cell, ok := f.Cell("event:"+id, in, Row(h, name, id)); ok {
					m.Claim = model.Claim{Basis: "observed", Version: run.Version, On: run.On, File: h.ID + ".json", Note: cell.Saw}
					s.Events[id] = m
				} else if run, _, ok := f.Cell("event:"+id, in, ""); ok {
					stale = append(stale, Stale{h.ID, name, id, run})
				}
			}
		}
	}
	return stale
}

// Row is a digest of what a manifest says about an event, as far as a run can
// prove it: how the event arrives, what is read from it and how it is answered.
// Words for readers and the claim itself don't count.
func Row(h model.Host, surface, event string) string {
	s := h.Surfaces[surface]
	m := s.Events[event]
	facts := []any{
		m.Kind, m.Native, m.Via, m.Fidelity, m.Answer, m.Match, m.TimeoutMs, m.LoopCap, m.Gap,
		s.Payload, h.PathSyntax, h.Tools,
	}
	data, err := json.Marshal(facts) // maps come out sorted
	if err != nil {
		panic(err) // strings, numbers and lists
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}
