// Package event holds the canonical types of the hook: what happened, and what
// a policy says to it. They are the same for every host.
package event

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
