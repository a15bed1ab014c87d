package acceptance

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What README shows is what the demo printed.
func TestReadmeShowsTheDemo(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	demo, err := os.ReadFile("testdata/demo/transcript.txt")
	require.NoError(t, err)
	want := "    " + strings.ReplaceAll(strings.TrimSpace(string(demo)), "\n", "\n    ")
	require.Contains(t, string(readme), strings.ReplaceAll(want, "    \n", "\n"))
}
