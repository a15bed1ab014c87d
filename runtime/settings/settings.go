// Package settings reads what the user, the project and the environment say
// about the hook. Environment goes before the user's file, that before the
// project's, and that before the defaults; the project's file may make things
// stricter but never looser.
package settings

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/flow-agents/flow-agents/runtime/disk"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/tables"
	"github.com/flow-agents/flow-agents/runtime/text"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// Name is a settings file's name below a .flow-agents folder.
const Name = "settings.json"

// Bounds on what is read: a file's bytes, its problems that are named, its
// rules, the entries of its lists, and the bytes of a text.
const (
	maxSize     = 1 << 20
	maxProblems = 10
	maxRules    = 500
	maxList     = 200
	maxText     = 1000
	maxStars    = 16 // in a glob, because each multiplies the work
	maxPath     = 4096
)

// Profiles, as bits of tables.Policy.Profiles.
const (
	Minimal  uint8 = 1
	Standard uint8 = 2
	Strict   uint8 = 4
)

// Settings is what holds for one event.
type Settings struct {
	// Profile is one of Minimal, Standard, Strict; ProfileFrom says who chose
	// it, empty for nobody.
	Profile     uint8
	ProfileFrom string
	// Disabled are policies that never run.
	Disabled []Disabled
	// FailClosed: an error of our own refuses a tool call, where the host can
	// be told.
	FailClosed bool
	// Observe: decide and record, but refuse nothing.
	Observe bool
	// Rules of config protection, the user's before the project's.
	Rules     []Rule
	Telemetry Telemetry

	// Problems of the files and of the environment, for the local log.
	Problems []string
	// Unread are the files among them that are there and count for nothing.
	Unread []string
	// Misread are the variables among the problems.
	Misread []Misread
}

// A Misread is a variable whose value makes no sense.
type Misread struct {
	// Name is the variable's, Value what it has, of a list the entry.
	Name, Value string
	// Effect is what the hook makes of it, for "NAME has VALUE, which ...".
	Effect string
	// Takes says in words what it takes; Words are the choices, if it has any.
	Takes string
	Words []string
}

func (m Misread) String() string {
	return m.Name + " has " + strconv.Quote(m.Value) + ", which " + m.Effect + "; it takes " + m.Takes
}

// A Disabled is the id of a policy that never runs, and what says so: a file's
// path or a variable's name.
type Disabled struct{ ID, From string }

// A Rule adds to config protection, or takes away from it.
type Rule struct {
	// Glob is compared with the base name, or, if it has a slash, with the
	// path below the root.
	Glob   string
	Mode   Mode
	Reason string
	// User: the rule is the user's, which may loosen.
	User bool
}

// A Mode says what a rule does with a file that it matches.
type Mode uint8

// The modes.
const (
	Deny Mode = iota
	Ask
	Allow
)

// Telemetry says whether and where records are written.
type Telemetry struct {
	Off bool
	// Dir replaces the default folder; absolute, or relative to the root.
	Dir string
	// From says who chose Dir.
	From Source
}

// A Source is where a setting comes from.
type Source uint8

// The sources, in order of precedence.
const (
	Default Source = iota
	Project
	User
	Environment
)

// Load reads the settings for a workspace. It never fails: what can't be read
// or makes no sense is named in Problems and left out.
func Load(v workspace.View) Settings {
	s := Settings{Profile: Standard}
	if v.Problem != "" {
		s.Problems = append(s.Problems, v.Problem)
	}
	if v.Home != "" {
		l := &loader{s: &s, file: filepath.Join(v.Home, Name), user: true, root: v.Root}
		l.load(disk.ReadLinked(l.file, maxSize))
	}
	if v.Managed {
		l := &loader{s: &s, file: filepath.Join(v.Root, workspace.Dir, Name), root: v.Root}
		l.load(disk.Read(l.file, maxSize))
	}
	s.environment()
	s.rootless(v)
	return s
}

func (s *Settings) environment() {
	if word := os.Getenv("SA_HOOK_PROFILE"); word != "" {
		if p := profile(word); p != 0 {
			s.Profile, s.ProfileFrom = p, "SA_HOOK_PROFILE"
		} else {
			s.misspelt("SA_HOOK_PROFILE", word, "minimal", "standard", "strict")
		}
	}
	for id := range strings.SplitSeq(os.Getenv("SA_DISABLED_HOOKS"), ",") {
		if !s.disable(id, "SA_DISABLED_HOOKS") {
			s.misspelt("SA_DISABLED_HOOKS", id, policies()...)
		}
	}
	switch word := os.Getenv("FLOW_AGENTS_MODE"); strings.ToLower(strings.TrimSpace(word)) {
	case "observe":
		s.Observe = true
	case "enforce":
		s.Observe = false
	case "":
	default:
		s.misspelt("FLOW_AGENTS_MODE", word, "enforce", "observe")
	}
	s.number("SA_HOOK_INPUT_MAX_BYTES", os.Getenv("SA_HOOK_INPUT_MAX_BYTES"), "a number of bytes")
	switch word := os.Getenv("SA_HOOK_INPUT_TRUNCATED"); word {
	case "", "0", "false", "1", "true":
	default:
		s.misspelt("SA_HOOK_INPUT_TRUNCATED", word, "0", "1", "false", "true")
	}
	for _, v := range os.Environ() {
		name, word, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "FLOW_AGENTS_") && strings.HasSuffix(name, "_HOOK_TIMEOUT_MS") {
			s.number(name, word, "a number of milliseconds")
		}
	}
	if dir := os.Getenv("TELEMETRY_DATA_DIR"); dir != "" {
		s.Telemetry.Dir, s.Telemetry.From = dir, Environment
	}
}

// rootless notes that the root that the environment names is no folder.
func (s *Settings) rootless(v workspace.View) {
	word := os.Getenv("FLOW_AGENTS_ROOT")
	if word == "" || v.Root == "" {
		return
	}
	if info, err := os.Stat(v.Root); err != nil || !info.IsDir() {
		s.misread(Misread{Name: "FLOW_AGENTS_ROOT", Value: word, Effect: "is no folder, so no project's settings hold", Takes: "the absolute path of a project"})
	}
}

// number notes a variable that takes a number above zero and has something else.
func (s *Settings) number(name, word, takes string) {
	if word == "" {
		return
	}
	if n, err := strconv.Atoi(word); err != nil || n <= 0 {
		s.misread(Misread{Name: name, Value: word, Effect: ignored, Takes: takes})
	}
}

// misspelt notes a variable that has none of its words.
func (s *Settings) misspelt(name, word string, words ...string) {
	last := len(words) - 1
	s.misread(Misread{Name: name, Value: word, Effect: ignored, Takes: strings.Join(words[:last], ", ") + " or " + words[last], Words: words})
}

// ignored is the effect of a variable that counts as not set.
const ignored = "counts for nothing"

func (s *Settings) misread(m Misread) {
	if len(s.Misread) > 2*maxProblems {
		return // a list of nothing but mistakes
	}
	m.Value = text.Line(m.Value, 100)
	s.Misread = append(s.Misread, m)
	s.Problems = append(s.Problems, m.String())
}

// disable takes an id as older tooling writes it, too: with the event in front
// and the script's suffix behind. It reports whether there is such a policy;
// an empty id asks for none.
func (s *Settings) disable(id, from string) bool {
	id = strings.ToLower(strings.TrimSpace(id))
	for _, p := range []string{"pre:", "post:", "stop:"} {
		id = strings.TrimPrefix(id, p)
	}
	id = strings.TrimSuffix(id, ".js")
	for i := range tables.Policies {
		if tables.Policies[i].ID == id {
			s.Disabled = append(s.Disabled, Disabled{id, from})
			return true
		}
	}
	return id == ""
}

// policies lists the ids of all.
func policies() []string {
	var ids []string
	for i := range tables.Policies {
		ids = append(ids, tables.Policies[i].ID)
	}
	return ids
}

// Runs reports whether a policy with the given id and set of profiles runs.
// Strict runs everything; standard what lists standard or strict; minimal only
// what lists minimal.
func (s *Settings) Runs(id string, profiles uint8) bool { return s.Off(id, profiles) == "" }

// Off is why a policy doesn't run: what disables it, or the profile that leaves
// it out; empty for one that runs.
func (s *Settings) Off(id string, profiles uint8) string {
	for _, d := range s.Disabled {
		if d.ID == id {
			return d.From
		}
	}
	runs := s.Profile == Strict || profiles&Minimal != 0
	if s.Profile == Standard {
		runs = profiles&(Standard|Strict) != 0
	}
	if runs {
		return ""
	}
	return "the profile of " + s.ProfileFrom
}

func profile(word string) uint8 {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "minimal":
		return Minimal
	case "standard":
		return Standard
	case "strict":
		return Strict
	}
	return 0
}

type loader struct {
	s    *Settings
	file string
	user bool
	root string
	// What this file has held so far: problems, rules, entries of other lists.
	problems, rules, listed int
}

// problem notes what is wrong; after the first few it only counts.
func (l *loader) problem(what string) {
	if l.problems++; l.problems <= maxProblems {
		l.s.Problems = append(l.s.Problems, l.file+": "+what)
	}
}

// unread notes that nothing of the file holds.
func (l *loader) unread(why string) {
	l.problem("not read: " + why)
	l.s.Unread = append(l.s.Unread, l.file)
}

// unknown notes a key that nobody knows.
func (l *loader) unknown(prefix string, key []byte) {
	l.problem("unknown key " + prefix + text.Cut(string(key), 100))
}

func (l *loader) load(b []byte, err error) {
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.unread(err.Error())
		}
		return
	}
	// Some editors put a byte order mark there.
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	v := jsontext.Trim(b)
	if !jsontext.Valid(b) {
		l.unread("it is not valid JSON (a comment and a comma before a bracket are none)")
		return
	}
	if v.Kind() != '{' {
		l.unread("it is not a JSON object")
		return
	}
	for _, f := range v.Object(nil) {
		if !l.key(f) {
			l.unknown("", f.Key)
		}
	}
	if n := l.problems - maxProblems; n > 0 {
		l.s.Problems = append(l.s.Problems, l.file+": and "+strconv.Itoa(n)+" more problems")
	}
}

// key takes one member of the file; false if there is no such key.
func (l *loader) key(f jsontext.Field) bool {
	s, v := l.s, f.Value
	switch {
	case f.Is("$schema"):
		l.isString(f)
	case f.Is("schema_version"):
		// A later version may mean other things by the same keys; what is
		// understood still holds.
		if string(v) != "1" {
			l.problem("schema_version must be 1")
		}
	case f.Is("profile"):
		p := profile(v.Str())
		switch {
		case p == 0:
			l.problem("profile must be minimal, standard or strict")
		case l.user || p > s.Profile:
			s.Profile, s.ProfileFrom = p, l.file
		case p < s.Profile:
			l.loosens("profile")
		}
	case f.Is("disabled_hooks"):
		if !l.user {
			l.loosens("disabled_hooks")
			break
		}
		l.strings(f, func(id string) {
			if !s.disable(id, l.file) {
				l.problem("disabled_hooks: there is no policy " + text.Line(id, 100) + ", only " + strings.Join(policies(), ", "))
			}
		})
	case f.Is("fail_closed"):
		on, ok := v.Bool()
		switch {
		case !ok:
			l.problem("fail_closed must be true or false")
		case l.user || on:
			s.FailClosed = on
		case s.FailClosed:
			l.loosens("fail_closed")
		}
	case f.Is("observe") && !l.user:
		l.loosens("observe")
	case f.Is("observe"):
		l.strings(f, func(root string) { s.Observe = s.Observe || same(root, l.root) })
	case f.Is("config_protection"):
		return l.object(f, func(g jsontext.Field) bool {
			if !g.Is("rules") {
				return false
			}
			if g.Value.Kind() != '[' {
				l.problem("config_protection.rules must be a list of rules")
			}
			g.Value.Each(l.rule)
			return true
		})
	case f.Is("telemetry"):
		return l.object(f, l.telemetry)
	default:
		return false
	}
	return true
}

// loosens notes that the project's file asks for something that only the user
// may say.
func (l *loader) loosens(key string) {
	l.problem(key + " would loosen the rules, which only the user's own settings or the environment may do")
}

func (l *loader) strings(f jsontext.Field, do func(string)) {
	if f.Value.Kind() != '[' {
		l.problem(string(f.Key) + " must be a list of strings")
	}
	f.Value.Each(func(e jsontext.Value) bool {
		if l.listed++; l.listed > maxList {
			l.problem(string(f.Key) + ": only the first " + strconv.Itoa(maxList) + " entries count")
			return false
		}
		switch s := e.Str(); {
		case e.Kind() != '"':
			l.problem(string(f.Key) + " must be a list of strings")
		case len(s) > maxPath:
			l.problem(string(f.Key) + ": an entry is longer than " + strconv.Itoa(maxPath) + " bytes")
		default:
			do(s)
		}
		return true
	})
}

func (l *loader) isString(f jsontext.Field) {
	if f.Value.Kind() != '"' {
		l.problem(string(f.Key) + " must be a string")
	}
}

func (l *loader) object(f jsontext.Field, key func(jsontext.Field) bool) bool {
	if f.Value.Kind() != '{' {
		l.problem(string(f.Key) + " must be an object")
	}
	for _, g := range f.Value.Object(nil) {
		if !key(g) {
			l.unknown(string(f.Key)+".", g.Key)
		}
	}
	return true
}

// rule takes one rule of config protection; false when there are too many.
func (l *loader) rule(v jsontext.Value) bool {
	if l.rules++; l.rules > maxRules {
		l.problem("config_protection.rules: only the first " + strconv.Itoa(maxRules) + " count")
		return false
	}
	if v.Kind() != '{' {
		l.problem("config_protection.rules: a rule is an object with a glob")
		return true
	}
	r := Rule{User: l.user}
	mode := ""
	for _, f := range v.Object(nil) {
		switch {
		case f.Is("glob"):
			r.Glob = f.Value.Str()
		case f.Is("mode"):
			mode = f.Value.Str()
			l.isString(f)
		case f.Is("reason"):
			l.isString(f)
			r.Reason = text.Cut(f.Value.Str(), maxText)
		default:
			l.unknown("config_protection.rules.", f.Key)
		}
	}
	switch strings.ToLower(strings.TrimSpace(mode)) {
	case "", "deny":
	case "ask":
		r.Mode = Ask
	case "allow":
		r.Mode = Allow
	default:
		// A slip must not open what the rule was to guard.
		l.problem("config_protection.rules: mode must be deny, ask or allow; the rule for " + text.Line(r.Glob, 100) + " denies")
	}
	switch {
	case strings.Trim(r.Glob, "/ ") == "":
		l.problem("config_protection.rules: a rule needs a glob")
	case len(r.Glob) > maxText:
		l.problem("config_protection.rules: a glob is longer than " + strconv.Itoa(maxText) + " bytes")
	case strings.Count(r.Glob, "*") > maxStars:
		l.problem("config_protection.rules: a glob has more than " + strconv.Itoa(maxStars) + " stars")
	case r.Mode == Allow && !l.user:
		l.loosens("config_protection.rules: mode allow")
	default:
		l.s.Rules = append(l.s.Rules, r)
	}
	return true
}

func (l *loader) telemetry(f jsontext.Field) bool {
	t := &l.s.Telemetry
	switch {
	case f.Is("enabled"):
		on, ok := f.Value.Bool()
		switch {
		case !ok:
			l.problem("telemetry.enabled must be true or false")
		case l.user:
			t.Off = !on
		case !on && !t.Off:
			l.loosens("telemetry.enabled: false")
		}
	case f.Is("data_dir"):
		dir := f.Value.Str()
		switch {
		case dir == "" || len(dir) > maxPath:
			l.problem("telemetry.data_dir must be a path")
		case l.user:
			t.Dir, t.From = dir, User
		case !filepath.IsLocal(dir):
			l.problem("telemetry.data_dir must be below the project")
		case filepath.Clean(dir) == ".":
			l.problem("telemetry.data_dir must be a folder of its own, not the project's root")
		case t.From < User:
			t.Dir, t.From = dir, Project
		}
	default:
		return false
	}
	return true
}

// same reports whether two names lead to one folder.
func same(a, b string) bool {
	if !filepath.IsAbs(a) {
		return false
	}
	if filepath.Clean(a) == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
