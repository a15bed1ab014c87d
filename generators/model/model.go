// Package model is the typed form of the CUE description: what is canonical,
// what each host does, and what follows from both. Emitters read it and
// nothing else. Field names and shapes mirror schema/; a test keeps the two in
// agreement, because a field that CUE has and Go lacks would vanish silently.
package model

import (
	"iter"
	"maps"
	"slices"
	"strconv"
)

// A Catalog is one loaded and validated description.
type Catalog struct {
	// Events and Policies are in the order of the schema.
	Events     []Event
	Policies   []Policy
	Protection Protection
	Channels   []Channel
	// EngineEnv are the variables that belong to no single policy, by name.
	EngineEnv map[string]Variable
	// Forms maps style, decision ("deny", "ask", "context", "block") and
	// channel to the bytes of an answer.
	Forms map[string]map[string]map[string]Form
	// Hosts are sorted by id.
	Hosts []Host
	// BackstopBudgetMs is what the whole re-run of the stop gate shares.
	BackstopBudgetMs int
}

// Registered tells whether hooks are registered for a canonical event: a policy
// is wired to it, or it leaves a record. For any other a process would start
// for nothing.
func (c *Catalog) Registered(id string) bool {
	for _, e := range c.Events {
		if e.ID == id && len(e.Records) > 0 {
			return true
		}
	}
	for _, p := range c.Policies {
		for _, t := range p.Triggers {
			if t.Event == id {
				return true
			}
		}
	}
	return false
}

// An Event is a canonical event.
type Event struct {
	ID        string   `json:"id"`
	Fires     string   `json:"fires"`
	Required  []string `json:"required"`
	Optional  []string `json:"optional"`
	Records   []string `json:"records"`
	Extension bool     `json:"extension"`
}

// A Policy is one behaviour of the hook binary.
type Policy struct {
	ID        string              `json:"id"`
	Title     string              `json:"title"`
	Intent    string              `json:"intent"`
	Status    string              `json:"status"` // enforced, planned
	Triggers  []Trigger           `json:"triggers"`
	Blocks    bool                `json:"blocks"`
	Mode      string              `json:"mode"`
	Truncated string              `json:"truncated"` // closed, open
	OnError   string              `json:"onError"`
	Profiles  []string            `json:"profiles"`
	Env       map[string]Variable `json:"env"`
}

// A Trigger is an event that reaches a policy.
type Trigger struct {
	Event    string   `json:"event"`
	Tools    []string `json:"tools,omitempty"` // empty: every class
	Needs    string   `json:"needs"`           // deny, context, block, observe
	Optional bool     `json:"optional"`
}

// A Variable is an environment variable of the engine.
type Variable struct {
	Type    string   `json:"type"`
	Default string   `json:"default"`
	Meaning string   `json:"meaning"`
	Values  []string `json:"values,omitempty"`
}

// Protection is the built-in rule set of config protection. What each list of
// words is for, schema/protection.cue says.
type Protection struct {
	Names           []Protected `json:"names"`
	Except          []string    `json:"except"`
	WriteWords      []string    `json:"writeWords"`
	ReadWords       []string    `json:"readWords"`
	FactWords       []string    `json:"factWords"`
	FileNouns       []string    `json:"fileNouns"`
	OtherNouns      []string    `json:"otherNouns"`
	AddWords        []string    `json:"addWords"`
	MentionNames    []string    `json:"mentionNames"`
	TrialWords      []string    `json:"trialWords"`
	ModeFields      []string    `json:"modeFields"`
	DryFields       []string    `json:"dryFields"`
	PayloadFields   []string    `json:"payloadFields"`
	ContentWords    []string    `json:"contentWords"`
	SourceWords     []string    `json:"sourceWords"`
	PathWords       []string    `json:"pathWords"`
	PatchWords      []string    `json:"patchWords"`
	MoveWords       []string    `json:"moveWords"`
	CopyWords       []string    `json:"copyWords"`
	Holes           []string    `json:"holes"`
	Reason          string      `json:"reason"`
	ReasonTruncated string      `json:"reasonTruncated"`
	ReasonUnread    string      `json:"reasonUnread"`
	ReasonMany      string      `json:"reasonMany"`
	ReasonTime      string      `json:"reasonTime"`
}

// Protected is a family of guarded base names.
type Protected struct {
	Tool  string   `json:"tool"`
	Globs []string `json:"globs"`
}

// A Channel is one telemetry stream.
type Channel struct {
	ID       string   `json:"id"`
	Doc      string   `json:"doc"`
	Redact   []string `json:"redact"`
	Override string   `json:"override"`
}

// A Form is one way to say one decision. Stdout is a JSON object in source
// order, or a JSON string for plain text; empty if nothing is printed.
type Form struct {
	Exit   int
	Stdout Template
	Stderr Template
}

// A Template is text with the placeholders {reason}, {context} and {event}.
// In a JSON template a placeholder is always a whole string value.
type Template struct {
	JSON bool
	Text string
}

// Host is one agent host or framework: its manifest, and what follows from it.
type Host struct {
	ID           string             `json:"id"`
	Title        string             `json:"title"`
	Kind         string             `json:"kind"` // harness, framework
	Homepage     string             `json:"homepage,omitempty"`
	Tested       Tested             `json:"tested"`
	NativeEvents []string           `json:"nativeEvents"`
	Surfaces     map[string]Surface `json:"surfaces"`
	Tools        map[string]Tool    `json:"tools"`
	PathSyntax   []string           `json:"pathSyntax"`
	Timeout      TimeoutUnit        `json:"timeout"`
	Detect       Detect             `json:"detect"`
	Home         Home               `json:"home"`
	Files        map[string]File    `json:"files"`
	Trust        []TrustStep        `json:"trust"`
	Switches     []Switch           `json:"switches"`
	Holes        []Hole             `json:"holes"`
	Driver       *Driver            `json:"driver,omitempty"`
	ClaimLevel   string             `json:"claimLevel,omitempty"`

	// Declaration is computed, never written by an author.
	Declaration Declaration `json:"-"`
}

// Tested is the range of releases that a manifest was checked against.
type Tested struct {
	Package string `json:"package"`
	Min     string `json:"min"`
	Max     string `json:"max"`
}

// A Surface is a variant of a host with its own hook behaviour.
type Surface struct {
	Title   string             `json:"title"`
	Env     string             `json:"env,omitempty"`
	Payload Payload            `json:"payload"`
	Events  map[string]Mapping `json:"events"` // by canonical event
}

// Payload lists, for each thing an event needs, field paths in order of
// preference: keys joined by dots, "[]" after a key for every element.
type Payload struct {
	Session  []string `json:"session"`
	Cwd      []string `json:"cwd"`
	Tool     []string `json:"tool"`
	Input    []string `json:"input"`
	Response []string `json:"response"`
	Error    []string `json:"error"`
	CallID   []string `json:"callID"`
	Prompt   []string `json:"prompt"`
	AgentID  []string `json:"agentID"`
	Model    []string `json:"model"`
	Source   []string `json:"source"`
	NotUser  []string `json:"notUser"`
	Pending  []string `json:"pending"`
}

// Mapping kinds.
const (
	Native   = "native"
	Emulated = "emulated"
	Gap      = "gap"
)

// A Mapping says what becomes of one canonical event.
type Mapping struct {
	Kind string `json:"kind"` // native, emulated, gap

	// Native and emulated.
	Native      []string `json:"native,omitempty"`
	Via         string   `json:"via,omitempty"`
	Fidelity    string   `json:"fidelity,omitempty"` // full, reduced
	Loss        string   `json:"loss,omitempty"`
	Answer      *Answer  `json:"answer,omitempty"`
	Match       []string `json:"match,omitempty"`
	TimeoutMs   int      `json:"timeoutMs,omitempty"`
	LoopCap     *int     `json:"loopCap,omitempty"`
	Degradation string   `json:"degradation,omitempty"` // emulated and gap

	// Gap.
	Gap           string `json:"gap,omitempty"`
	Approximation string `json:"approximation,omitempty"`

	Claim Claim  `json:"claim"`
	Note  string `json:"note,omitempty"`
}

// An Answer names the channel of each decision at one event.
type Answer struct {
	Style   string `json:"style"`
	Deny    *Say   `json:"deny,omitempty"`
	Ask     *Say   `json:"ask,omitempty"`
	Context *Say   `json:"context,omitempty"`
	Block   *Say   `json:"block,omitempty"`
}

// A Decision is one thing that can be said at an event.
type Decision struct {
	Name string // deny, ask, block, context
	*Say
}

// Decisions lists what a host honours at an event, in the order that readers
// are told. A gap honours nothing.
func (a *Answer) Decisions() []Decision {
	if a == nil {
		return nil
	}
	return slices.DeleteFunc([]Decision{{"deny", a.Deny}, {"ask", a.Ask}, {"block", a.Block}, {"context", a.Context}},
		func(d Decision) bool { return d.Say == nil })
}

// A Say is one channel; Cap is the longest text in bytes, 0 for no limit.
type Say struct {
	Channel string `json:"channel"`
	Cap     int    `json:"cap,omitempty"`
}

// Bases are the words of Claim.Basis: how a fact can be known, weakest first.
var Bases = []string{"unexamined", "documented", "source", "recorded", "observed"}

// A Claim says how a fact is known. What is unexamined has neither Version nor
// On.
type Claim struct {
	Basis   string `json:"basis"`
	Version string `json:"version,omitempty"`
	On      string `json:"on,omitempty"`
	File    string `json:"file,omitempty"`
	Note    string `json:"note,omitempty"`
}

// A Tool is one entry of a host's tool vocabulary.
type Tool struct {
	Class   string   `json:"class"`
	Path    []string `json:"path,omitempty"`
	Patch   []string `json:"patch,omitempty"`
	Command []string `json:"command,omitempty"`
	// ShellPatch: the command may hold a patch.
	ShellPatch bool `json:"shellPatch,omitempty"`
	Alias      bool `json:"alias"`
}

// TimeoutUnit converts milliseconds for a host's config.
type TimeoutUnit struct {
	Key  string         `json:"key"`
	Unit string         `json:"unit"` // s, ms
	Min  int            `json:"min"`
	Max  int            `json:"max"`
	Caps map[string]int `json:"caps"`
}

// Detect tells how a running host, and a project that uses it, are recognised.
type Detect struct {
	Env     []string `json:"env"`
	Project []string `json:"project"`
	User    []string `json:"user"`
	Session []string `json:"session"`
}

// Home is a host's folder in the user's home.
type Home struct {
	Env string `json:"env,omitempty"`
	Dir string `json:"dir"`
}

// A File is one file of a bundle that the installer places.
type File struct {
	Doc      string   `json:"doc"`
	Kind     string   `json:"kind"` // config, source
	Template string   `json:"template"`
	Surface  string   `json:"surface"`
	Serves   []string `json:"serves"`
	Dest     Dest     `json:"dest"`
	Also     []string `json:"also"`
	Merge    string   `json:"merge"` // own, merge-json, merge-jsonc
	Exec     bool     `json:"exec"`
	// Timeout overrides the host's way of writing timeouts in this file.
	Timeout *TimeoutUnit `json:"timeout,omitempty"`
	Accepts *Accepts     `json:"accepts,omitempty"`
	Install bool         `json:"install"`
}

// Dest is where a file goes, for each scope that it can be installed in.
type Dest struct {
	Project string `json:"project,omitempty"`
	Local   string `json:"local,omitempty"`
	User    string `json:"user,omitempty"`
}

// Accepts is what a host takes in a config file.
type Accepts struct {
	Shape     string   `json:"shape"` // nested, flat, list, free
	Top       []string `json:"top"`
	Open      bool     `json:"open"`
	Handler   []string `json:"handler"`
	Matcher   string   `json:"matcher"` // names, regex, glob, none
	Matchable []string `json:"matchable"`
}

// A TrustStep is something to do or know before the host runs the hooks.
type TrustStep struct {
	Scope    string   `json:"scope"`
	Surfaces []string `json:"surfaces,omitempty"`
	Text     string   `json:"text"`
	Command  string   `json:"command,omitempty"`
	CI       string   `json:"ci,omitempty"`
}

// A Switch is a setting of the host that keeps every hook dead.
type Switch struct {
	Scope    string   `json:"scope"`
	Path     string   `json:"path"`
	Format   string   `json:"format"`
	Key      []string `json:"key"`
	DeadWhen bool     `json:"deadWhen"`
	Text     string   `json:"text"`
}

// A Hole is a way round the hooks that the host leaves open.
type Hole struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	CaughtBy string `json:"caughtBy,omitempty"`
	Claim    Claim  `json:"claim"`
}

// A Driver is how acceptance installs and runs the real host.
type Driver struct {
	NPM  NPM               `json:"npm"`
	API  string            `json:"api"`
	Args []string          `json:"args"`
	Env  map[string]string `json:"env"`
}

// NPM names a package of the npm registry and the program in it.
type NPM struct {
	Package string `json:"package"`
	Version string `json:"version"`
	Bin     string `json:"bin"`
}

// A Declaration is what a host's mappings amount to.
type Declaration struct {
	// Level is what this release does on the host; SurfaceLevel is what the
	// host's own surface makes possible. "none" below L0.
	Level        string                        `json:"level"`
	SurfaceLevel string                        `json:"surfaceLevel"`
	Surfaces     map[string]SurfaceDeclaration `json:"surfaces"`
	// Missing says what keeps SurfaceLevel from the next one; Planned lists
	// policies that decide nothing yet.
	Missing []string `json:"missing"`
	Planned []string `json:"planned"`
}

// A SurfaceDeclaration is the state of each policy on one surface.
type SurfaceDeclaration struct {
	Policies    map[string]PolicyState `json:"policies"`
	SurfaceRank int                    `json:"surfaceRank"`
	Rank        int                    `json:"rank"`
	Missing     []string               `json:"missing"`
	Planned     []string               `json:"planned"`
}

// A PolicyState is how a policy fares: full, reduced, mute or gap.
type PolicyState struct {
	Status   string         `json:"status"`
	State    string         `json:"state"`
	Triggers []TriggerState `json:"triggers"`
}

// A TriggerState is how a policy fares at one event.
type TriggerState struct {
	Event    string `json:"event"`
	Needs    string `json:"needs"`
	Optional bool   `json:"optional"`
	State    string `json:"state"`
	Channel  string `json:"channel"`
}

// Claims yields every claim of a host with the path of the fact that it is
// about, in a fixed order.
func (h Host) Claims() iter.Seq2[Claim, string] {
	return func(yield func(Claim, string) bool) {
		for _, s := range slices.Sorted(maps.Keys(h.Surfaces)) {
			events := h.Surfaces[s].Events
			for _, e := range slices.Sorted(maps.Keys(events)) {
				if !yield(events[e].Claim, "surfaces."+s+".events."+e) {
					return
				}
			}
		}
		for i, x := range h.Holes {
			if !yield(x.Claim, "holes."+strconv.Itoa(i)) {
				return
			}
		}
	}
}
