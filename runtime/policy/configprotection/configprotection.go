// Package configprotection refuses edits of linter and formatter
// configuration, so that the agent mends the code and not the rules.
//
// A file is told by its name: the built-in set of base names, and the globs of
// the settings. Names are compared as Windows and macOS would open them, on
// every system, and a symbolic link counts as what it leads to as well as what
// it is called. A hard link can't be told from the file itself, so a second
// name of that kind is out of reach here. So is what a shell command writes.
package configprotection

import (
	"os"
	"path/filepath"
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
)

// Links that lead on to links are followed this far.
const maxLinks = 40

// Decide judges a tool call that is about to run. Reads, and calls that
// concern no file, are always allowed; a call that edits files, but which
// can't be told, is refused, and so is a payload that was cut.
func Decide(e *event.Event, v workspace.View, s *settings.Settings) event.Decision {
	switch {
	case e.Kind != event.PreToolUse:
		return event.Decision{}
	case e.Truncated:
		return decision(event.Deny, RuleTruncated, tables.ReasonTruncated)
	case !e.Call.Writes:
		return event.Decision{}
	}
	g := guard{v, s}
	var d event.Decision
	for _, t := range e.Call.Targets {
		d = d.Join(g.judge(t.Path))
	}
	if e.Call.Unread {
		d = d.Join(decision(event.Deny, RuleUnread, tables.ReasonUnread))
	}
	return d
}

func decision(v event.Verdict, rule, reason string) event.Decision {
	return event.Decision{Verdict: v, Policy: tables.Policies[tables.ConfigProtection].ID, Rule: rule, Text: reason}
}

type guard struct {
	view     workspace.View
	settings *settings.Settings
}

// judge decides on one file: by the name that it is given, then by the name of
// each link that it leads to.
func (g guard) judge(path string) event.Decision {
	if d := g.name(path, path, RuleName); d.Verdict != event.Allow {
		return d
	}
	at := strings.TrimRight(path, "/")
	if !filepath.IsAbs(at) {
		at = g.view.Cwd + string(filepath.Separator) + at
	}
	d := g.links(at, path)
	// Some hosts take ".." out of the path before they open it, and some leave
	// it to the system, which follows links first.
	if clean := filepath.Clean(at); clean != at {
		d = d.Join(g.links(clean, path))
	}
	return d
}

// links decides on the names that a file's symbolic links lead to.
func (g guard) links(at, path string) event.Decision {
	for range maxLinks {
		to, err := os.Readlink(at)
		if err != nil {
			break
		}
		if d := g.name(to, path+" (which leads to "+to+")", RuleLink); d.Verdict != event.Allow {
			return d
		}
		if !filepath.IsAbs(to) {
			// Not cleaned: ".." after a link means the link's own parent.
			to = filepath.Dir(at) + string(filepath.Separator) + to
		}
		at = to
	}
	return event.Decision{}
}

// name decides on one name of a file. shown is how the reason calls it.
func (g guard) name(path, shown, rule string) event.Decision {
	base := Base(path)
	if base == "" {
		return event.Decision{}
	}
	shown = text.Line(shown, 300)
	i := 0
	for ; i < len(g.settings.Rules) && g.settings.Rules[i].User; i++ {
		if r := g.settings.Rules[i]; g.matches(r.Glob, base, path) {
			return fromRule(r, shown)
		}
	}
	for _, p := range tables.Protection {
		for _, glob := range p.Globs {
			if Match(glob, base) {
				reason := strings.ReplaceAll(tables.Reason, "{tool}", p.Tool)
				return decision(event.Deny, rule, strings.ReplaceAll(reason, "{file}", shown))
			}
		}
	}
	for ; i < len(g.settings.Rules); i++ {
		if r := g.settings.Rules[i]; g.matches(r.Glob, base, path) {
			return fromRule(r, shown)
		}
	}
	return event.Decision{}
}

func fromRule(r settings.Rule, shown string) event.Decision {
	reason := text.Clean(r.Reason)
	if reason == "" {
		reason = "the settings protect this file. Leave it as it is, or ask the user to change it."
	}
	switch reason = "BLOCKED: " + shown + ": " + strings.TrimPrefix(reason, "BLOCKED: "); r.Mode {
	case settings.Deny:
		return decision(event.Deny, RuleSetting, reason)
	case settings.Ask:
		return decision(event.Ask, RuleSetting, reason)
	}
	return event.Decision{}
}

// matches compares a glob of the settings with a file: its base name, or, if
// the glob has a slash, its place below the root, both as written and with
// links resolved.
func (g guard) matches(glob, base, path string) bool {
	if !strings.Contains(glob, "/") {
		return Match(fold(glob), base)
	}
	path = strings.ReplaceAll(path, `\`, "/")
	if !filepath.IsAbs(path) {
		path = filepath.Join(g.view.Cwd, path)
	}
	if g.below(glob, g.view.Root, filepath.Clean(path)) {
		return true
	}
	root, err := filepath.EvalSymlinks(g.view.Root)
	if err != nil {
		return false
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return err == nil && g.below(glob, root, filepath.Join(dir, filepath.Base(path)))
}

func (g guard) below(glob, root, path string) bool {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	return MatchPath(fold(glob), fold(filepath.ToSlash(rel)))
}
