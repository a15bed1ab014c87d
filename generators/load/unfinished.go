package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Unfinished lists what keeps a manifest from being of use, although it is
// valid: events that nobody has examined, and nothing by which init could find
// the host.
func (d *Description) Unfinished() Findings {
	var out Findings
	for _, h := range d.Catalog.Hosts {
		at := "hosts." + h.ID
		for _, s := range slices.Sorted(maps.Keys(h.Surfaces)) {
			var events []string
			for _, e := range d.Catalog.Events {
				if h.Surfaces[s].Events[e.ID].Gap == "unexamined" {
					events = append(events, e.ID)
				}
			}
			if len(events) > 0 {
				out = append(out, d.At(at+".surfaces."+s+".events", fmt.Sprintf("%d of %d events are unexamined: %s", len(events), len(d.Catalog.Events), strings.Join(events, ", ")), ""))
			}
		}
		if len(h.Detect.Env)+len(h.Detect.Project)+len(h.Detect.User) == 0 {
			out = append(out, d.At(at+".detect", "init finds this host by --host alone", `name what it leaves in a project, such as project: [".`+h.ID+`"]`))
		}
	}
	return out
}
