package style

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestTheTreeIsFormatted(t *testing.T) {
	set, err := Unformatted(os.DirFS("../.."))
	require.NoError(t, err)
	for _, f := range set {
		t.Errorf("%s is not formatted; to fix: go run ./cmd/build-bundles fmt", f.Path)
	}
}

func TestUnformatted(t *testing.T) {
	tree := fstest.MapFS{"cue.mod/module.cue": {Data: []byte("module: \"a.test@v0\"\n")}, "schema/a.cue": {Data: []byte("package a\na:   1\n")}, "manifests/b.cue": {Data: []byte("package b\n")}, "templates/c.jsonnet": {Data: []byte("{\"a\" : 1}\n")}, "templates/d.txt": {Data: []byte("  x")}}
	set, err := Unformatted(tree)
	require.NoError(t, err)
	require.Len(t, set, 2)
	require.Equal(t, "package a\n\na: 1\n", string(set[0].Data))
	require.Equal(t, "{ a: 1 }\n", string(set[1].Data))

	tree["schema/a.cue"].Data = []byte("package a\na: {\n")
	_, err = Unformatted(tree)
	require.ErrorContains(t, err, "schema/a.cue")
}
