// Package observe raises claims to observed: where acceptance saw a real host
// do what its manifest says, the run is what the fact rests on.
package observe

import (
	"github.com/flow-agents/flow-agents/conformance/observed"
	"github.com/flow-agents/flow-agents/generators/model"
)

// Apply rewrites the claim of every event that a run saw pass on a release in
// the tested range. A host with several surfaces keeps its claims: runs don't
// say which surface they saw.
func Apply(c *model.Catalog, seen map[string]observed.File) {
	for _, h := range c.Hosts {
		f, ok := seen[h.ID]
		if !ok || len(h.Surfaces) != 1 {
			continue
		}
		for _, s := range h.Surfaces {
			for id, m := range s.Events {
				run, cell, ok := f.Cell("event:"+id, h.Tested.Min, h.Tested.Max)
				if !ok || m.Kind == model.Gap {
					continue
				}
				m.Claim = model.Claim{Basis: "observed", Version: run.Version, On: run.On, File: h.ID + ".json", Note: cell.Saw}
				s.Events[id] = m
			}
		}
	}
}
