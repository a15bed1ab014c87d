package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/generators/model"
)

// accept holds a rendered config against what the host takes. Hosts differ in
// what they do with a mistake, from dropping one entry to ignoring the whole
// file without a word; here every mistake fails the build.
func accept(h model.Host, f model.File, text []byte) error {
	a := f.Accepts
	if a == nil {
		return fmt.Errorf("the manifest does not say what %s accepts here", h.Title)
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("a config is one JSON object: %w", err)
	}
	for _, k := range slices.Sorted(maps.Keys(doc)) {
		if !a.Open && !slices.Contains(a.Top, k) {
			return fmt.Errorf("top-level key %q: %s accepts only %s", k, h.Title, strings.Join(a.Top, ", "))
		}
	}
	x := acceptor{h, f}
	if a.Shape == "free" {
		return nil
	}
	hooks, ok := doc["hooks"]
	if !ok {
		return fmt.Errorf("no hooks: %s would run nothing", h.Title)
	}
	if a.Shape == "list" {
		return x.list(hooks)
	}
	var events map[string]json.RawMessage
	if err := json.Unmarshal(hooks, &events); err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(events)) {
		v := events[name]
		if !slices.Contains(h.NativeEvents, name) {
			return fmt.Errorf("hooks.%s: %s has no such event", name, h.Title)
		}
		var entries []map[string]json.RawMessage
		if err := json.Unmarshal(v, &entries); err != nil {
			return fmt.Errorf("hooks.%s: an array of entries: %w", name, err)
		}
		for i, e := range entries {
			at := fmt.Sprintf("hooks.%s[%d]", name, i)
			var err error
			if a.Shape == "nested" {
				err = x.group(at, name, e)
			} else {
				err = x.handler(at, name, e)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

type acceptor struct {
	h model.Host
	f model.File
}

func (x acceptor) group(at, event string, g map[string]json.RawMessage) error {
	for _, k := range slices.Sorted(maps.Keys(g)) {
		if k != "matcher" && k != "hooks" {
			return fmt.Errorf("%s.%s: a group has matcher and hooks", at, k)
		}
	}
	if m, ok := g["matcher"]; ok {
		if err := x.matcher(at, event, m); err != nil {
			return err
		}
	}
	var hs []map[string]json.RawMessage
	if err := json.Unmarshal(g["hooks"], &hs); err != nil || len(hs) == 0 {
		return fmt.Errorf("%s.hooks: an array of at least one handler", at)
	}
	for i, h := range hs {
		if err := x.handler(fmt.Sprintf("%s.hooks[%d]", at, i), event, h); err != nil {
			return err
		}
	}
	return nil
}

func (x acceptor) handler(at, event string, h map[string]json.RawMessage) error {
	for _, k := range slices.Sorted(maps.Keys(h)) {
		if !slices.Contains(x.f.Accepts.Handler, k) {
			return fmt.Errorf("%s.%s: %s accepts only %s", at, k, x.h.Title, strings.Join(x.f.Accepts.Handler, ", "))
		}
	}
	if m, ok := h["matcher"]; ok {
		if err := x.matcher(at, event, m); err != nil {
			return err
		}
	}
	if slices.Contains(x.f.Accepts.Handler, "type") {
		if s := str(h["type"]); s != "command" {
			return fmt.Errorf("%s.type: %q instead of \"command\"", at, s)
		}
	}
	if x.f.Accepts.Shape != "list" && str(h["command"]) == "" {
		return fmt.Errorf("%s.command: missing", at)
	}
	return x.timeout(at, event, h)
}

func (x acceptor) list(raw json.RawMessage) error {
	var hs []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &hs); err != nil || len(hs) == 0 {
		return fmt.Errorf("hooks: an array of at least one hook")
	}
	for i, h := range hs {
		at := fmt.Sprintf("hooks[%d]", i)
		event := str(h["trigger"])
		if !slices.Contains(x.h.NativeEvents, event) {
			return fmt.Errorf("%s.trigger: %s has no event %q", at, x.h.Title, event)
		}
		if err := x.handler(at, event, h); err != nil {
			return err
		}
		var action map[string]json.RawMessage
		if json.Unmarshal(h["action"], &action) != nil || str(action["type"]) != "command" || str(action["command"]) == "" {
			return fmt.Errorf("%s.action: {type: \"command\", command: ...}", at)
		}
	}
	return nil
}

// matcher refuses a matcher where it is not read, and a name in it that is no
// tool of the host: both would be a hook that never fires.
func (x acceptor) matcher(at, event string, raw json.RawMessage) error {
	a := x.f.Accepts
	if a.Matcher == "none" || !slices.Contains(a.Matchable, event) {
		return fmt.Errorf("%s.matcher: %s does not read a matcher at %s", at, x.h.Title, event)
	}
	known := map[string]bool{}
	for n := range x.h.Tools {
		known[n], known[regexOf(n)] = true, true
	}
	m := strings.TrimSuffix(strings.TrimPrefix(str(raw), "^("), ")$")
	if a.Matcher == "glob" {
		m = str(raw)
	}
	for n := range strings.SplitSeq(m, "|") {
		if !known[n] {
			return fmt.Errorf("%s.matcher: %s has no tool %q", at, x.h.Title, n)
		}
	}
	return nil
}

func (x acceptor) timeout(at, event string, h map[string]json.RawMessage) error {
	u := Unit(x.h, x.f)
	raw, ok := h[u.Key]
	if !ok {
		return fmt.Errorf("%s.%s: missing, so the host would use its own default", at, u.Key)
	}
	var n float64
	if err := json.Unmarshal(raw, &n); err != nil || n != math.Trunc(n) {
		return fmt.Errorf("%s.%s: %s is not a whole number", at, u.Key, raw)
	}
	limit := u.Max
	if c, ok := u.Caps[event]; ok {
		limit = min(limit, c)
	}
	if int(n) < u.Min || int(n) > limit {
		return fmt.Errorf("%s.%s: %d is outside of %d to %d %s", at, u.Key, int(n), u.Min, limit, u.Unit)
	}
	return nil
}

func str(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
