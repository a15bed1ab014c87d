// Package descriptor emits console.telemetry.json, which tells a console how
// to show this product's records: where they are, which of their fields mean
// what, and by which of them a reader can sort. It names logical roots only,
// never a folder of a machine.
package descriptor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/model"
)

// What a console sees of telemetry: the records of the file that the hook
// writes, without what this channel keeps from leaving the machine.
const (
	relayed = "analytics"
	written = "full.jsonl"
)

// A document is the whole descriptor, in the order that it is written.
type document struct {
	SchemaVersion string   `json:"schema_version"`
	Product       product  `json:"product"`
	RecordSources []source `json:"recordSources"`
	Facets        []facet  `json:"facets"`
	Flows         []string `json:"flows"`
}

type product struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// A source is a kind of record: the files that hold it, below a logical root,
// and for each attribute the path of its field.
type source struct {
	ID         string            `json:"id"`
	Label      string            `json:"label"`
	Root       string            `json:"root"`
	Files      []string          `json:"files"`
	Attributes map[string]string `json:"attributes"`
}

// A facet is an attribute that readers sort by.
type facet struct {
	ID        string `json:"id"`
	Label     string `json:"label"`
	Attribute string `json:"attribute"`
	Limit     int    `json:"limit"`
}

const (
	telemetryRoot = "product:flow-agents:.telemetry"
	workflowRoot  = "product:flow-agents:.kontourai/flow-agents"
)

// sidecar is the part that the records of a workflow have in common.
func sidecar(id, label, file string, more map[string]string) source {
	attributes := map[string]string{
		"taskSlug": "task_slug", "repo": "repo", "project": "project", "flow": "flow_id", "skill": "skill_id",
		"status": "status", "title": "summary", "observedAt": "updated_at",
	}
	for k, v := range more {
		attributes[k] = v
	}
	return source{"flow-agents-" + id, label, workflowRoot, []string{file}, attributes}
}

var facets = []facet{
	{"skills", "Skills", "skill", 16},
	{"tools", "Tools", "tool", 16},
	{"flows", "Flows", "flow", 16},
	{"repositories", "Repositories", "repo", 16},
	{"projects", "Projects", "project", 16},
	{"runtimes", "Runtimes", "runtime", 16},
	{"agents", "Agents", "agent", 16},
	{"models", "Models", "model", 16},
	{"statuses", "Statuses", "status", 16},
	{"outcomes", "Outcomes", "outcome", 16},
}

// Emit returns console.telemetry.json, relative to a host's bundle; it is the
// same for every host. An error means that an attribute names a field that the
// relayed channel never carries.
func Emit(c *model.Catalog) (fileset.Set, error) {
	at := slices.IndexFunc(c.Channels, func(ch model.Channel) bool { return ch.ID == relayed })
	if at < 0 {
		return nil, fmt.Errorf("descriptor: there is no telemetry channel %s", relayed)
	}
	doc := document{
		SchemaVersion: "1.0",
		Product:       product{"flow-agents", "Flow Agents"},
		RecordSources: []source{
			{"flow-agents-telemetry", "Hook telemetry", telemetryRoot, []string{written}, map[string]string{
				"runtime": "agent.runtime", "agent": "hook.agent_id", "model": "hook.model",
				"tool": "tool.name", "event": "event_type", "decision": "decision.verdict", "policy": "decision.policy", "session": "session_id", "title": "event_type", "observedAt": "timestamp",
			}},
			sidecar("workflow-state", "Workflow state", "state.json", map[string]string{"phase": "phase", "outcome": "workflow_outcome.process_status", "title": "next_action.summary"}),
			sidecar("acceptance", "Acceptance criteria", "acceptance.json", map[string]string{"outcome": "goal_fit.status", "title": "goal_fit.summary"}),
			sidecar("critique", "Critique", "critique.json", nil),
			sidecar("handoff", "Handoffs", "handoff.json", map[string]string{"runtime": "runtime", "agent": "agent_id", "model": "model", "outcome": "status"}),
			sidecar("learning", "Learning", "learning.json", nil),
		},
		Facets: facets,
		Flows:  []string{},
	}
	for _, s := range doc.RecordSources {
		for name, field := range s.Attributes {
			if s.Root == telemetryRoot && redacted(c.Channels[at].Redact, field) {
				return nil, fmt.Errorf("descriptor: attribute %s shows %s, which the channel %s never carries", name, field, relayed)
			}
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return nil, fmt.Errorf("descriptor: %w", err)
	}
	var out fileset.Set
	out.Add("console.telemetry.json", b.Bytes())
	return out, nil
}

func redacted(paths []string, field string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		return field == p || strings.HasPrefix(field, p+".") || strings.HasPrefix(p, field+".")
	})
}
