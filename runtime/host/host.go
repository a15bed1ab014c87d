// Package host translates between agent hosts and the engine: a payload
// becomes a canonical event, a decision becomes the exact bytes that the host
// honours. What differs between hosts is in runtime/tables; there is no code
// for any one of them here.
package host

import (
	"errors"
	"os"

	"github.com/flow-agents/flow-agents/runtime/tables"
)

// Errors of Find.
var (
	ErrUnknownHost  = errors.New("unknown host")
	ErrUnknownEvent = errors.New("unknown event")
)

// A Hook is one native event of one surface of a host.
type Hook struct {
	Host    *tables.Host
	Surface *tables.Surface
	Event   *tables.Event
}

// Find returns the hook that a host id and a native event's name stand for.
// Names are case-sensitive. Where several surfaces of the host have the event,
// the one whose marker is in the environment wins, then the one without a
// marker.
func Find(id, native string) (Hook, error) {
	h := tables.Lookup(id)
	if h == nil {
		return Hook{}, ErrUnknownHost
	}
	var plain, marked Hook
	for i := range h.Surfaces {
		s := &h.Surfaces[i]
		for j := range s.Events {
			if s.Events[j].Native != native {
				continue
			}
			hook := Hook{h, s, &s.Events[j]}
			switch _, set := os.LookupEnv(s.Env); {
			case s.Env != "" && set:
				return hook, nil
			case s.Env != "":
				marked = hook
			case plain.Event == nil:
				plain = hook
			}
		}
	}
	switch {
	case plain.Event != nil:
		return plain, nil
	case marked.Event != nil:
		return marked, nil
	}
	return Hook{}, ErrUnknownEvent
}
