// Package configprotection refuses edits of linter and formatter
// configuration, so that the agent mends the code and not the rules.
//
// A file is told by its name: the built-in set of base names, and the globs of
// the settings. Names are compared as Windows and macOS would open them, on
// every system, and a symbolic link counts as what it leads to as well as what
// it is called. Out of reach are names that look like no other: a hard link,
// which can't be told from the file itself, and the short names (ESLINT~1) of
// Windows. So is what a shell command writes.
package configprotection

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/settings"
	"github.com/flow-agents/flow-agents/runtime/tables"
	"github.com/flow-agents/flow-agents/runtime/text"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// The rules that a decision can name.
const (
	RuleName      = "protected-name"
	RuleLink      = "protected-link"
	RuleSetting   = "settings-rule"
	RuleUnread    = "unread"
	RuleTruncated = "truncated"
	RuleTime      = "timeout"
)

// Decide judges a tool call that is about to run. Reads, and calls that
// concern no file, are always allowed; a call that edits files, but which
// can't be told, is refused, and so are a payload that was cut and a call that
// names more files than can be looked at.
func Decide(e *event.Event, v workspace.View, s *settings.Settings) event.Decision {
	switch {
	case e.Kind != event.PreToolUse:
		return event.Decision{}
	case e.Truncated:
		return decision(event.Deny, RuleTruncated, tables.ReasonTruncated)
	case !e.Call.Writes:
		return event.Decision{}
	}
	g := newGuard(v, s)
	var d event.Decision
	for _, t := range e.Call.Targets {
		if d = d.Join(g.judge(t.Path)); d.Verdict >= event.Deny {
			return d
		}
	}
	switch {
	case len(e.Call.Targets) > event.MaxTargets, g.follower.lookups < 0:
		return decision(event.Deny, RuleUnread, tables.ReasonMany)
	case e.Call.Unread:
		return decision(event.Deny, RuleUnread, tables.ReasonUnread)
	}
	return d
}

// Unanswered is the decision on a call that edits files, when there was no time
// to judge it.
func Unanswered() event.Decision { return decision(event.Deny, RuleTime, tables.ReasonTime) }

func decision(v event.Verdict, rule, reason string) event.Decision {
	return event.Decision{Verdict: v, Policy: tables.Policies[tables.ConfigProtection].ID, Rule: rule, Text: reason}
}

type guard struct {
	view     workspace.View
	settings *settings.Settings
	follower follower
	// Globs of the settings' rules as they are compared.
	globs []string
	// Some glob has a slash, so it matters where a file is.
	slashes bool
	// The root in the form of tree, as it is called and without links.
	root, realRoot string
}

func newGuard(v workspace.View, s *settings.Settings) *guard {
	g := &guard{view: v, settings: s, follower: follower{maxLookups}}
	for _, r := range s.Rules {
		g.globs = append(g.globs, fold(r.Glob))
		g.slashes = g.slashes || strings.Contains(r.Glob, "/")
	}
	if g.slashes {
		_, at := g.follower.walk(nil, v.Root)
		g.root, g.realRoot = tree(v.Root), tree(at)
	}
	return g
}

// judge decides on one file: by the name that it is given, then by where that
// is and each link that it leads to.
func (g *guard) judge(path string) event.Decision {
	at := path
	if !filepath.IsAbs(at) {
		// Not cleaned: ".." after a link means the link's own parent.
		at = g.view.Cwd + string(filepath.Separator) + at
	}
	var places []place
	var below []string
	if g.slashes {
		places = g.follower.places(at)
		below = g.below(below, g.root, at)
		for _, p := range places {
			if p.link == "" {
				below = g.below(below, g.realRoot, p.path)
			}
		}
	}
	d := g.name(path, below, RuleName, func() string { return shown(path) })
	if d.Verdict >= event.Deny {
		return d
	}
	if !g.slashes {
		places = g.follower.places(at)
	}
	for _, p := range places {
		rule, what := RuleName, func() string { return shown(path) }
		if p.link != "" {
			rule, what = RuleLink, func() string { return shown(path) + " (which leads to " + shown(p.link) + ")" }
		}
		var below []string
		if g.slashes {
			below = g.below(nil, g.realRoot, p.path)
		}
		if d = d.Join(g.name(p.path, below, rule, what)); d.Verdict >= event.Deny {
			break
		}
	}
	return d
}

// below adds the path from the root to the file, if that is where it is. No
// system opens a path that is longer than what is looked at here.
func (g *guard) below(list []string, root, path string) []string {
	if len(path) > maxPath {
		return list
	}
	path = tree(path)
	if root != "" {
		var ok bool
		if path, ok = strings.CutPrefix(path, root+"/"); !ok {
			return list
		}
	}
	return append(list, path)
}

// name decides on one name of a file. below is where it may be, from the root
// on; what is how the reason calls it.
func (g *guard) name(path string, below []string, rule string, what func() string) event.Decision {
	base := Base(path)
	if base == "" {
		return event.Decision{}
	}
	i := 0
	for ; i < len(g.globs) && g.settings.Rules[i].User; i++ {
		if matches(g.globs[i], base, below) {
			return fromRule(g.settings.Rules[i], what)
		}
	}
	if tool := protected(base); tool != "" {
		reason := strings.ReplaceAll(tables.Reason, "{tool}", tool)
		return decision(event.Deny, rule, strings.ReplaceAll(reason, "{file}", what()))
	}
	for ; i < len(g.globs); i++ {
		if matches(g.globs[i], base, below) {
			return fromRule(g.settings.Rules[i], what)
		}
	}
	return event.Decision{}
}

// protected returns the tool that a file configures by its base name.
func protected(base string) string {
	for _, p := range tables.Protection {
		for _, glob := range p.Globs {
			if Match(glob, base) && !slices.ContainsFunc(tables.ProtectionExcept, func(x string) bool { return Match(x, base) }) {
				return p.Tool
			}
		}
	}
	return ""
}

func fromRule(r settings.Rule, what func() string) event.Decision {
	if r.Mode == settings.Allow {
		return event.Decision{}
	}
	reason := text.Clean(r.Reason)
	if reason == "" {
		reason = "the settings protect this file. Leave it as it is, or ask the user to change it."
	}
	reason = "BLOCKED: " + what() + ": " + strings.TrimPrefix(reason, "BLOCKED: ")
	if r.Mode == settings.Ask {
		return decision(event.Ask, RuleSetting, reason)
	}
	return decision(event.Deny, RuleSetting, reason)
}

// maxName is longer in bytes than any name that a file system keeps.
const maxName = 1 << 10

// matches compares a glob of the settings with a file: its base name, or, if
// the glob has a slash, its place below the root, both as written and with
// links resolved.
func matches(glob, base string, below []string) bool {
	if !strings.Contains(glob, "/") {
		return len(base) <= maxName && Match(glob, base)
	}
	return slices.ContainsFunc(below, func(path string) bool { return MatchPath(glob, path) })
}

// shown is a path as a reason shows it: if it is long, its end, with the whole
// base name.
func shown(path string) string {
	const usual = 300
	// A terminal sequence that starts among the folders must not take the base
	// name with it.
	if strings.IndexByte(path, 0x1b) >= 0 {
		var clean strings.Builder
		for rest := path; rest != ""; {
			n := strings.IndexAny(rest, `/\`) + 1
			if n == 0 {
				n = len(rest)
			}
			clean.WriteString(text.Clean(rest[:n]))
			rest = rest[n:]
		}
		path = clean.String()
	}
	if len(path) <= usual {
		return text.Tail(path, 2*maxName)
	}
	name, end := last(path)
	return text.Tail(path[:end], max(usual, min(len(name)+len(text.Mark), 2*maxName)))
}
