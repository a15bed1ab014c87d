package observe

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/conformance/observed"
	"github.com/flow-agents/flow-agents/generators/load"
	"github.com/flow-agents/flow-agents/generators/model"
)

// claude is a catalog with Claude Code alone, and its events.
func claude(t *testing.T) (*model.Catalog, map[string]model.Mapping) {
	d, err := load.Load(os.DirFS("../.."), load.Options{})
	require.NoError(t, err)
	for _, h := range d.Catalog.Hosts {
		if h.ID == "claude-code" {
			d.Catalog.Hosts = []model.Host{h}
			return d.Catalog, h.Surfaces["main"].Events
		}
	}
	t.Fatal("no claude-code")
	return nil, nil
}

func seen(c *model.Catalog, runs ...observed.Run) map[string]observed.File {
	h := c.Hosts[0]
	for _, r := range runs {
		for id, cell := range r.Cells {
			if cell.Row == "" {
				cell.Row = Row(h, "main", id[len("event:"):])
				r.Cells[id] = cell
			}
		}
	}
	return map[string]observed.File{h.ID: {Host: h.ID, Runs: runs}}
}

func run(version, result string) observed.Run {
	return observed.Run{Package: "p", Version: version, On: "2026-11-30", Platform: "linux/amd64", Cells: map[string]observed.Cell{
		"event:preToolUse":    {Result: result, Saw: "the edit was refused"},
		"event:modelResponse": {Result: result, Saw: "a gap stays a gap"},
	}}
}

func TestApply(t *testing.T) {
	c, events := claude(t)
	before := events["stop"].Claim

	// Outside of the tested range, or failed: nothing is observed.
	require.Empty(t, Apply(c, seen(c, run("99.0.0", observed.Pass), run("2.1.332", observed.Fail))))
	require.Equal(t, "recorded", events["preToolUse"].Claim.Basis)

	require.Empty(t, Apply(c, seen(c, run("2.1.332", observed.Pass))))
	require.Equal(t, "observed", events["preToolUse"].Claim.Basis)
	require.Equal(t, "2026-11-30", events["preToolUse"].Claim.On)
	require.Equal(t, "source", events["modelResponse"].Claim.Basis)
	require.Equal(t, before, events["stop"].Claim)
}

// What a run saw is worth nothing for a row that has said something else since.
func TestApplyToChangedRow(t *testing.T) {
	for name, change := range map[string]func(*model.Host, *model.Mapping){
		"another native event":  func(_ *model.Host, m *model.Mapping) { m.Native = []string{"PostToolUse"} },
		"another channel":       func(_ *model.Host, m *model.Mapping) { m.Answer = &model.Answer{Style: "exit"} },
		"another loop cap":      func(_ *model.Host, m *model.Mapping) { n := 3; m.LoopCap = &n },
		"a path of a tool":      func(h *model.Host, _ *model.Mapping) { h.Tools = map[string]model.Tool{"Write": {Class: "edit"}} },
		"another path notation": func(h *model.Host, _ *model.Mapping) { h.PathSyntax = []string{"other"} },
	} {
		t.Run(name, func(t *testing.T) {
			c, events := claude(t)
			files := seen(c, run("2.1.332", observed.Pass))
			m := events["preToolUse"]
			change(&c.Hosts[0], &m)
			events["preToolUse"] = m

			stale := Apply(c, files)
			require.Len(t, stale, 1)
			require.Equal(t, "preToolUse", stale[0].Event)
			require.Equal(t, "2.1.332", stale[0].Run.Version)
			require.Equal(t, "recorded", events["preToolUse"].Claim.Basis)
		})
	}
}

// Words for readers may be mended without a new run.
func TestRowIgnoresWords(t *testing.T) {
	c, events := claude(t)
	before := Row(c.Hosts[0], "main", "preToolUse")
	m := events["preToolUse"]
	m.Note, m.Claim.Version, m.Loss, m.Degradation = "other", "9.9.9", "other", "other"
	events["preToolUse"] = m
	require.Equal(t, before, Row(c.Hosts[0], "main", "preToolUse"))
}
