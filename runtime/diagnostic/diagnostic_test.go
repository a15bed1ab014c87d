package diagnostic

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/runtime/workspace"
)

func view(t *testing.T) workspace.View {
	t.Helper()
	dir := t.TempDir()
	v := workspace.View{Root: filepath.Join(dir, "root"), Home: filepath.Join(dir, "home", workspace.Dir), Managed: true}
	require.NoError(t, os.MkdirAll(filepath.Join(v.Root, workspace.Dir), 0o755))
	return v
}

func flush(v workspace.View, messages ...string) {
	l := Log{Prefix: "p"}
	for _, m := range messages {
		l.Add(m)
	}
	l.Flush(v)
}

func read(t *testing.T, base string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(base, filepath.FromSlash(Name)))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return string(b)
}

func TestFlush(t *testing.T) {
	v := view(t)
	own := filepath.Join(v.Root, workspace.Dir)
	flush(v)
	require.NoDirExists(t, filepath.Join(own, "state"))
	// A folder that somebody made is brought to order.
	require.NoError(t, os.Mkdir(filepath.Join(own, "state"), 0o755))
	flush(v, "one\ntwo", "three")
	flush(v, "three", "four")
	require.Regexp(t, `^\S+Z p: one two\n\S+Z p: three\n\S+Z p: four\n$`, read(t, own))
	require.FileExists(t, filepath.Join(own, "state", ".gitignore"))
	require.NoFileExists(t, filepath.Join(own, ".gitignore"))
	require.NoDirExists(t, v.Home)

	v.Managed = false
	flush(v, "five")
	require.Contains(t, read(t, v.Home), "p: five\n")
	v.Home = ""
	flush(v, "nobody hears")
}

// What one process says, and the log as a whole, is bounded; and the same said
// again adds nothing.
func TestBounds(t *testing.T) {
	v := view(t)
	own := filepath.Join(v.Root, workspace.Dir)
	var many []string
	for i := range 95_000 {
		many = append(many, fmt.Sprint(i, strings.Repeat("x", 600)))
	}
	flush(v, many...)
	first := read(t, own)
	require.Equal(t, maxLines+1, strings.Count(first, "\n"))
	require.Contains(t, first, "p: and 94968 more\n")
	flush(v, many...)
	require.Equal(t, first, read(t, own))

	for i := range 40 {
		for j := range many[:maxLines] {
			many[j] = fmt.Sprint(i, " ", j, strings.Repeat("x", 600))
		}
		flush(v, many[:maxLines]...)
	}
	for _, suffix := range []string{"", ".1"} {
		info, err := os.Stat(filepath.Join(own, filepath.FromSlash(Name)+suffix))
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(maxSize+(maxLines+1)*(maxLine+60)))
	}
}

// Nothing is written, or moved, through a link; the machine's log has it then.
func TestLinks(t *testing.T) {
	v := view(t)
	outside := t.TempDir()
	big := strings.Repeat("x", maxSize+1)
	require.NoError(t, os.WriteFile(filepath.Join(outside, "hook.log"), []byte(big), 0o600))
	if err := os.Symlink(outside, filepath.Join(v.Root, workspace.Dir, "state")); err != nil {
		t.Skip(err)
	}
	flush(v, "one")
	list, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, list, 1)
	info, err := os.Stat(filepath.Join(outside, "hook.log"))
	require.NoError(t, err)
	require.EqualValues(t, len(big), info.Size())
	require.Contains(t, read(t, v.Home), "p: one\n")
	require.Contains(t, read(t, v.Home), "is a symbolic link")
}
