package descriptor_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators/descriptor"
	"github.com/flow-agents/flow-agents/generators/model"
	"github.com/flow-agents/flow-agents/internal/golden"
)

func channels(redact ...string) *model.Catalog {
	return &model.Catalog{Channels: []model.Channel{{ID: "full"}, {ID: "analytics", Redact: redact}}}
}

func TestGolden(t *testing.T) {
	out, err := descriptor.Emit(channels("tool.input", "context.cwd"))
	require.NoError(t, err)
	require.Len(t, out, 1)
	golden.Equal(t, filepath.Join("testdata", "golden", out[0].Path), out[0].Data)
}

// TestShape: every facet stands on an attribute that some source has, and
// nothing names a place on a machine.
func TestShape(t *testing.T) {
	out, err := descriptor.Emit(channels())
	require.NoError(t, err)
	var doc struct {
		RecordSources []struct {
			ID, Root   string
			Files      []string
			Attributes map[string]string
		}
		Facets []struct{ ID, Attribute string }
	}
	require.NoError(t, json.Unmarshal(out[0].Data, &doc))
	known := map[string]bool{}
	for _, s := range doc.RecordSources {
		require.Regexp(t, `^product:flow-agents:\.[a-z/-]+$`, s.Root)
		require.NotEmpty(t, s.Files)
		for a, field := range s.Attributes {
			known[a] = true
			require.Regexp(t, `^[a-z_]+(\.[a-z_]+)*$`, field)
			require.NotContains(t, field, "cwd")
		}
	}
	var ids []string
	for _, f := range doc.Facets {
		ids = append(ids, f.ID)
		require.True(t, known[f.Attribute], f.ID)
	}
	require.Equal(t, []string{"skills", "tools", "flows", "repositories", "projects", "runtimes", "agents", "models", "statuses", "outcomes"}, ids)
}

func TestRedacted(t *testing.T) {
	_, err := descriptor.Emit(channels("hook"))
	require.ErrorContains(t, err, "which the channel analytics never carries")
	_, err = descriptor.Emit(&model.Catalog{})
	require.EqualError(t, err, "descriptor: there is no telemetry channel analytics")
}
