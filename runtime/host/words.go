package host

import (
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/tables"
)

// maxName is how much of a tool's name is read.
const maxName = 256

// unlisted tells what a tool does that no manifest lists, by the words of its
// name, and where those leave it open by its input. How is said, as data, in
// schema/protection.cue. Of an MCP tool's name the server's part says nothing.
func unlisted(name string, input jsontext.Value) (event.Class, verbs) {
	own := ownPart(name)
	v := verbsOf(own[strings.LastIndex(own, "__")+1:])
	if v.silent() {
		v = verbsOf(own)
	}
	// Without a separator the words before the verb may be a server's.
	before := v.words[:max(0, v.at)]
	if own == name {
		before = nil
	}
	switch {
	case v.read:
		return event.Read, v
	case v.mentions(before):
		return event.Other, v
	case v.write:
		if v.has(tables.TrialWords) && onTrial(input) {
			return event.Read, v
		}
		v.changes = true
		return event.Write, v
	}
	mode := modeOf(input)
	if mode.write || !mode.read && hasAny(input, tables.PayloadFields) {
		v.changes = true
		return event.Write, v
	}
	return event.Other, v
}

// ownPart is a tool's name without that of its server: mcp__server__tool,
// @server/tool. A tool of a gateway may have another server's name in its own.
func ownPart(name string) string {
	rest := strings.TrimPrefix(strings.TrimPrefix(name, "mcp__"), "@")
	if _, own, ok := strings.Cut(rest, "/"); ok {
		return own
	}
	if _, own, ok := strings.Cut(rest, "__"); ok {
		return own
	}
	return name
}

// verbs is what the words of a tool's name say.
type verbs struct {
	words []string
	// at is where the verb stands that decides; -1 if there is none.
	at          int
	read, write bool
	// changes: the tool is taken for one that changes files.
	changes bool
}

func verbsOf(name string) verbs {
	v := verbs{words: words(name[:min(len(name), maxName)])}
	v.find()
	return v
}

// silent reports whether the name doesn't tell.
func (v verbs) silent() bool { return !v.read && !v.write }

// has reports whether the verb that decides is in a list.
func (v verbs) has(list []string) bool {
	return v.at >= 0 && slices.Contains(list, v.words[v.at])
}

// find looks for the verb that decides: the first one, or of two that are
// joined the second.
func (v *verbs) find() {
	v.at = -1
	for i, w := range v.words {
		r, wr := kind(w)
		switch {
		case v.at < 0 && (r || wr):
			v.at, v.read, v.write = i, r, wr
		case v.read && wr && (joins(v.words) || w == "replace"):
			v.at, v.read, v.write = i, false, true
		}
	}
	if v.at < 0 && slices.ContainsFunc(v.words, func(w string) bool { return slices.Contains(tables.FactWords, w) }) {
		v.read = true
	}
}

func joins(words []string) bool { return slices.Contains(words, "and") || slices.Contains(words, "or") }

// kind tells whether a word is a verb that reads or writes. A verb and its
// object may be one word: writefile.
func kind(word string) (read, write bool) {
	for {
		read, write = slices.Contains(tables.ReadWords, word), slices.Contains(tables.WriteWords, word)
		stem := word
		for _, noun := range tables.FileNouns {
			stem = strings.TrimSuffix(stem, noun)
		}
		if read || write || stem == word {
			return read, write
		}
		word = stem
	}
}

// mentions reports whether the tool writes something that is no file, or is
// known to change none. before are the words in front of the verb that are the
// tool's own.
func (v verbs) mentions(before []string) bool {
	name := " " + strings.Join(v.words, " ") + " "
	for _, m := range tables.MentionNames {
		if strings.Contains(name, " "+m+" ") {
			return true
		}
	}
	var object, goal noun
	for _, w := range before {
		object.take(w)
	}
	now := &object
after:
	for _, w := range v.words[v.at+1:] {
		switch w {
		case "to", "into":
			now = &goal
		case "from", "in", "of", "for", "on", "with", "by", "at", "as":
			break after
		default:
			now.take(w)
		}
	}
	if v.has(tables.AddWords) && goal != unknown {
		return goal == other
	}
	return object != file && goal != file && (object == other || goal == other)
}

// A noun is what kind of thing the last noun of a phrase is.
type noun uint8

const (
	unknown noun = iota
	file
	other
)

func (n *noun) take(word string) {
	switch {
	case slices.Contains(tables.FileNouns, word):
		*n = file
	case slices.Contains(tables.OtherNouns, word):
		*n = other
	}
}

// onTrial reports whether the input of a tool that could write tells it only
// to look.
func onTrial(input jsontext.Value) bool {
	for _, f := range tables.DryFields {
		if on, _ := input.Get(f).Bool(); on {
			return true
		}
	}
	return modeOf(input).read && !hasAny(input, tables.PayloadFields)
}

// modeOf is what a field says that names one of a tool's operations.
func modeOf(input jsontext.Value) verbs {
	for _, f := range tables.ModeFields {
		s, ok := input.Get(f).Text()
		if !ok || len(s) > 100 || strings.ContainsAny(s, " \t\r\n") {
			continue
		}
		if v := verbsOf(s); !v.silent() {
			return v
		}
	}
	return verbs{at: -1}
}

func hasAny(input jsontext.Value, fields []string) bool {
	return slices.ContainsFunc(fields, func(f string) bool { return !input.Get(f).Absent() })
}

// words splits an identifier, however it is spelled, into lower-case words.
func words(s string) []string {
	var out []string
	start := 0
	end := func(i int) {
		if i > start {
			out = append(out, strings.ToLower(s[start:i]))
		}
	}
	for i := 0; i < len(s); i++ {
		switch {
		case !upper(s[i]) && !lower(s[i]):
			end(i)
			start = i + 1
		case upper(s[i]) && i > start && (lower(s[i-1]) || i+1 < len(s) && lower(s[i+1])):
			end(i)
			start = i
		}
	}
	end(len(s))
	return out
}

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
func lower(c byte) bool { return 'a' <= c && c <= 'z' }
