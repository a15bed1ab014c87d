// Package hosttest writes payloads as a host would, for tests that hold for
// every host that there is.
package hosttest

import (
	"encoding/json"
	"maps"

	"github.com/flow-agents/flow-agents/runtime/tables"
)

// Call is the payload of a tool call on a surface: every field stands where the
// host puts it.
func Call(s *tables.Surface, cwd, tool string, input any) []byte {
	doc := map[string]any{}
	put(doc, s.Payload.Session, "s1")
	put(doc, s.Payload.CallID, "c1")
	put(doc, s.Payload.Cwd, cwd)
	put(doc, s.Payload.Tool, tool)
	put(doc, s.Payload.Input, input)
	data, err := json.Marshal(doc)
	if err != nil {
		panic(err) // the input is the test's own
	}
	return data
}

// put places a value at the path that is preferred, if there is one.
func put(doc map[string]any, paths []tables.Path, v any) {
	if len(paths) == 0 {
		return
	}
	if m, ok := At(paths[0], v).(map[string]any); ok {
		merge(doc, m)
	}
}

func merge(into, from map[string]any) {
	for k, v := range maps.All(from) {
		old, isMap := into[k].(map[string]any)
		if m, ok := v.(map[string]any); ok && isMap {
			merge(old, m)
			continue
		}
		into[k] = v
	}
}

// At is the smallest document in which a path leads to a value.
func At(p tables.Path, v any) any {
	if len(p) == 0 {
		return v
	}
	v = At(p[1:], v)
	if p[0].Each {
		v = []any{v}
	}
	return map[string]any{p[0].Key: v}
}
