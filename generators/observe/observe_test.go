package observe

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/conformance/observed"
	"github.com/flow-agents/flow-agents/generators/load"
	"github.com/flow-agents/flow-agents/generators/model"
)

func TestApply(t *testing.T) {
	d, err := load.Load(os.DirFS("../.."), load.Options{})
	require.NoError(t, err)
	run := func(version, result string) observed.Run {
		return observed.Run{Package: "p", Version: version, On: "2026-11-30", Platform: "linux/amd64", Cells: map[string]observed.Cell{
			"event:preToolUse":    {Result: result, Saw: "the edit was refused"},
			"event:modelResponse": {Result: result, Saw: "a gap stays a gap"},
		}}
	}
	i := slices.IndexFunc(d.Catalog.Hosts, func(h model.Host) bool { return h.ID == "claude-code" })
	events := d.Catalog.Hosts[i].Surfaces["main"].Events
	before := events["stop"].Claim

	// Outside of the tested range, or failed: nothing is observed.
	Apply(d.Catalog, map[string]observed.File{"claude-code": {Host: "claude-code", Runs: []observed.Run{run("99.0.0", observed.Pass), run("2.1.332", observed.Fail)}}})
	require.Equal(t, "recorded", events["preToolUse"].Claim.Basis)

	Apply(d.Catalog, map[string]observed.File{"claude-code": {Host: "claude-code", Runs: []observed.Run{run("2.1.332", observed.Pass)}}})
	require.Equal(t, "observed", events["preToolUse"].Claim.Basis)
	require.Equal(t, "2026-11-30", events["preToolUse"].Claim.On)
	require.Equal(t, "source", events["modelResponse"].Claim.Basis)
	require.Equal(t, before, events["stop"].Claim)
}
