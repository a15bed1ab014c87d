// Package event holds the canonical types of the hook: what happened, and what
// a policy says to it. They are the same for every host.
package event

import "github.com/flow-agents/flow-agents/runtime/jsontext"

// A Kind is a canonical event.
type Kind uint8

// The canonical events, in the order of schema/events.cue.
const (
	Unknown Kind = iota
	AgentSpawn
	UserPromptSubmit
	PreToolUse
	PermissionRequest
	PostToolUse
	Stop
	SubagentStart
	SubagentStop
	PreCompact
	PostCompact
	SessionEnd
	Notification
	ModelResponse
	ConfigChange
	ToolBatch
)

var kinds = [...]string{
	"unknown", "agentSpawn", "userPromptSubmit", "preToolUse", "permissionRequest", "postToolUse", "stop", "subagentStart",
	"subagentStop", "preCompact", "postCompact", "sessionEnd", "notification", "modelResponse", "configChange", "toolBatch",
}

// String is the event's name in the schema.
func (k Kind) String() string { return kinds[k] }

// A Class is what a tool does, whatever its host calls it.
type Class uint8

// The tool classes of schema/mapping.cue.
const (
	Other Class = iota
	Write
	Edit
	Shell
	Read
	Subagent
	MCP
)

var classes = [...]string{"other", "write", "edit", "shell", "read", "subagent", "mcp"}

// String is the class's name in the schema.
func (c Class) String() string { return classes[c] }

// An Event is something that happened in an agent's session.
type Event struct {
	Host    string
	Surface string
	// Native is the host's own name of the event.
	Native string
	Kind   Kind
	// Also are further canonical events that this one stands in for.
	Also []Kind

	Session string
	// Cwd is where the agent works; empty if the host doesn't say.
	Cwd string
	// AgentID is set inside a subagent.
	AgentID string
	Model   string
	// Source says why a session starts.
	Source string

	Prompt string
	// NotUser: the prompt was made by the host, not typed.
	NotUser bool

	// Call is empty unless the event is about one tool call.
	Call Call

	// Truncated: the payload was cut, so what is not there may have been.
	Truncated bool
	// Raw is the payload, or what there is of it.
	Raw jsontext.Value
}

// A Call is one use of a tool.
type Call struct {
	ID    string
	Tool  string
	Class Class
	// Writes: the call changes the files in Targets. It can be true for tools
	// of the class MCP too.
	Writes bool
	// Targets are the files that the call names.
	Targets []Target
	// Unread: the tool is one that edits files, but which can't be told.
	Unread  bool
	Command string
	// Pending: the call was only launched and goes on in the background.
	Pending bool

	Input, Response jsontext.Value
	Error           string
}

// An Op is what a call does to a file.
type Op uint8

// What a call may do to a file. Both ends of a move are targets.
const (
	Change Op = iota
	Add
	Delete
	MoveFrom
	MoveTo
)

// MaxTargets is how many files of one call are looked at. A call that names
// more is Unread.
const MaxTargets = 4096

// A Target is a file that a call names: as the call gave it, or as the host
// may read that.
type Target struct {
	Path string
	Op   Op
}
