package install

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/flow-agents/flow-agents/internal/spelling"
	"github.com/flow-agents/flow-agents/runtime/settings"
	"github.com/flow-agents/flow-agents/runtime/tables"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// Rules are what the hook goes by in a project, as it reads them itself.
type Rules struct {
	// Mode is Enforce or Observe, ModeFrom what says so.
	Mode     string `json:"mode"`
	ModeFrom string `json:"mode_from"`
	// Profile is minimal, standard or strict, ProfileFrom the variable or file
	// that says so.
	Profile     string `json:"profile"`
	ProfileFrom string `json:"profile_from"`
	// Off are the policies that don't run, and why.
	Off []PolicyOff `json:"policies_off"`
	// Problems are what the hook reads and doesn't go by.
	Problems []Problem `json:"problems"`
	// Unread are settings files of which nothing holds.
	Unread []string `json:"unread"`
}

// FromDefault is where a setting comes from that nobody made.
const FromDefault = "default"

// FromMode is the variable that sets the mode, before the settings.
const FromMode = "FLOW_AGENTS_MODE"

// Kinds of what says something to the hook.
const (
	FromEnvironment = "environment"
	FromSettings    = "settings"
)

// A PolicyOff is a policy that doesn't run.
type PolicyOff struct {
	Policy string `json:"policy"`
	// From is the variable's name or the file's path; Kind is FromEnvironment or
	// FromSettings.
	From string `json:"from"`
	Kind string `json:"kind"`
	// Profile is the one that leaves the policy out; empty: it is named itself.
	Profile string `json:"profile,omitempty"`
	// Planned: in this release the policy decides nothing anyway.
	Planned bool `json:"planned"`
}

func (o PolicyOff) String() string {
	s := o.Policy + ", by " + o.From
	if o.Profile != "" {
		s = o.Policy + ", by the " + o.Profile + " profile of " + o.From
	}
	if o.Planned {
		s += "; in this release it decides nothing anyway"
	}
	return s
}

// A Problem is something that the hook reads and doesn't go by.
type Problem struct {
	// From is the variable's name or the file's path; Kind is FromEnvironment or
	// FromSettings.
	From string `json:"from"`
	Kind string `json:"kind"`
	// Of a variable: what it has, what holds instead, what it could have in words
	// and as a list of choices, and what was probably meant.
	Value   string   `json:"value,omitempty"`
	Assumed string   `json:"assumed,omitempty"`
	Takes   string   `json:"takes,omitempty"`
	Valid   []string `json:"valid,omitempty"`
	Meant   string   `json:"did_you_mean,omitempty"`
	Text    string   `json:"text"`
}

// Rules reads the settings of a project as the hook does.
func (in *Installer) Rules(root string) Rules {
	v := workspace.Open(root)
	v.Home = in.Machine
	s := settings.Load(v)
	r := Rules{Mode: Enforce, ModeFrom: FromDefault, Profile: profileName(s.Profile), ProfileFrom: FromDefault, Off: []PolicyOff{}, Problems: []Problem{}, Unread: append([]string{}, s.Unread...)}
	if s.Observe {
		r.Mode, r.ModeFrom = Observe, in.show("", in.settings())
	}
	if env := os.Getenv(FromMode); strings.EqualFold(strings.TrimSpace(env), r.Mode) {
		r.ModeFrom = FromMode
	}
	if s.ProfileFrom != "" {
		r.ProfileFrom = s.ProfileFrom
	}
	for _, p := range tables.Policies {
		from := s.Off(p.ID, p.Profiles)
		if from == "" {
			continue
		}
		off := PolicyOff{Policy: p.ID, From: from, Kind: kind(from), Planned: !p.Enforced}
		if !slices.ContainsFunc(s.Disabled, func(d settings.Disabled) bool { return d.ID == p.ID }) {
			off.From, off.Kind, off.Profile = r.ProfileFrom, kind(r.ProfileFrom), r.Profile
		}
		if p.Enforced || off.Profile == "" {
			r.Off = append(r.Off, off)
		}
	}
	said := map[string]bool{}
	for _, m := range s.Misread {
		said[m.String()] = true
		r.Problems = append(r.Problems, r.misread(m))
	}
	r.Problems = append(r.Problems, in.environment()...)
	for _, text := range s.Problems {
		if !said[text] {
			r.Problems = append(r.Problems, in.misset(root, text))
		}
	}
	return r
}

func kind(from string) string {
	if filepath.IsAbs(from) {
		return FromSettings
	}
	return FromEnvironment
}

func profileName(p uint8) string {
	switch p {
	case settings.Minimal:
		return "minimal"
	case settings.Strict:
		return "strict"
	}
	return "standard"
}

// misread tells of a variable what holds instead, and what was probably meant.
func (r *Rules) misread(m settings.Misread) Problem {
	p := Problem{From: m.Name, Kind: FromEnvironment, Value: m.Value, Valid: m.Words, Takes: m.Takes}
	holds := ""
	switch m.Name {
	case FromMode:
		p.Assumed, holds = r.Mode, r.Mode+" mode holds"
	case "SA_HOOK_PROFILE":
		p.Assumed, holds = r.Profile, "the "+r.Profile+" profile holds"
	case "SA_DISABLED_HOOKS":
		p.Assumed, holds = "none", "it disables nothing"
	case "SA_HOOK_INPUT_TRUNCATED":
		p.Assumed, holds = "0", "input counts as whole"
	case "FLOW_AGENTS_ROOT":
		p.Assumed = "no project"
	default:
		p.Assumed, holds = FromDefault, "the default holds"
	}
	p.Text = m.Name + " has " + strconv.Quote(m.Value) + ", which " + m.Effect
	if holds != "" {
		p.Text += ", so " + holds
	}
	if p.Meant = near(m.Words, strings.TrimSpace(m.Value)); p.Meant != "" {
		p.Text += "; did you mean " + p.Meant + "? It takes " + m.Takes
	} else {
		p.Text += "; it takes " + m.Takes
	}
	return p
}

// variables that the programs read, those aside that have a host's name in them.
var variables = []string{
	FromMode, "FLOW_AGENTS_ROOT", "FLOW_AGENTS_HOME", "FLOW_AGENTS_ACTOR", "SA_HOOK_PROFILE", "SA_DISABLED_HOOKS",
	"SA_HOOK_INPUT_MAX_BYTES", "SA_HOOK_INPUT_TRUNCATED", "TELEMETRY_DATA_DIR",
}

// environment finds what the hook itself can't see: a variable whose name is
// nearly one of ours, and a home that depends on the folder.
func (in *Installer) environment() []Problem {
	var out []Problem
	for _, v := range slices.Sorted(slices.Values(os.Environ())) {
		name, value, _ := strings.Cut(v, "=")
		if meant := near(variables, name); meant != "" && value != "" && !slices.Contains(variables, name) {
			out = append(out, Problem{From: name, Kind: FromEnvironment, Value: value, Assumed: "not set", Meant: meant,
				Text: name + " is a variable that nothing reads; did you mean " + meant + "?"})
		}
	}
	if dir := os.Getenv("FLOW_AGENTS_HOME"); dir != "" && !filepath.IsAbs(dir) {
		out = append(out, Problem{From: "FLOW_AGENTS_HOME", Kind: FromEnvironment, Value: dir, Assumed: in.Machine,
			Text: "FLOW_AGENTS_HOME has " + strconv.Quote(dir) + ", which each program takes from the folder that it is started in, here " + in.Machine + "; it takes an absolute path"})
	}
	return out
}

// misset is what the hook says of a settings file.
func (in *Installer) misset(root, text string) Problem {
	p := Problem{Kind: FromSettings, Text: text}
	for _, file := range []string{in.settings(), filepath.Join(root, workspace.Dir, settings.Name)} {
		if strings.HasPrefix(text, file+": ") {
			p.From = file
		}
	}
	return p
}

// near is the word that was probably meant, empty if none was: the one within two
// edits, in a short word one for every three letters, else one that begins so.
func near(words []string, got string) string {
	got = strings.ToLower(got)
	best, d := "", min(3, 1+len(got)/3)
	for _, w := range words {
		if n := spelling.Distance(strings.ToLower(w), got); n < d {
			best, d = w, n
		}
	}
	if best == "" && len(got) > 2 {
		if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, got) }); i >= 0 {
			return words[i]
		}
	}
	return best
}
