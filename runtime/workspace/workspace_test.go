package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpen(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := func(s string) string { return filepath.Join(base, filepath.FromSlash(s)) }
	for _, d := range []string{
		"home/.flow-agents", "home/plain/deep", "home/repo/.git", "home/repo/a/b", "home/set/.flow-agents", "home/set/.git",
		"home/set/sub/.git", "home/set/sub/x", "home/worktree/src", "home/linked/src", "home/fileonly/src",
		"home/other/.flow-agents/bin", "home/other/project",
	} {
		require.NoError(t, os.MkdirAll(p(d), 0o755))
	}
	// In a linked work tree .git is a file.
	require.NoError(t, os.WriteFile(p("home/worktree/.git"), []byte("gitdir: elsewhere\n"), 0o644))
	require.NoError(t, os.WriteFile(p("home/fileonly/.flow-agents"), nil, 0o644))
	_ = os.Symlink(p("home/set/.flow-agents"), p("home/linked/.flow-agents"))
	t.Setenv("HOME", p("home"))
	t.Setenv("USERPROFILE", p("home"))
	t.Setenv("FLOW_AGENTS_HOME", "")
	t.Setenv("FLOW_AGENTS_ROOT", "")

	for _, c := range []struct {
		cwd, root string
		managed   bool
	}{
		{"home/repo/a/b", "home/repo", false},
		{"home/repo", "home/repo", false},
		{"home/worktree/src", "home/worktree", false},
		{"home/set", "home/set", true},
		{"home/set/sub/x", "home/set", true},
		{"home/set/not/there", "home/set", true},
		// The machine's own folder makes no project of the user's home.
		{"home/plain/deep", "home/plain/deep", false},
		{"home", "home", false},
		{"home/other/project", "home/other/project", false},
		// Only a real folder counts.
		{"home/fileonly/src", "home/fileonly/src", false},
		{"home/linked/src", "home/linked/src", false},
	} {
		v := Open(p(c.cwd))
		require.Equal(t, p(c.root), v.Root, c.cwd)
		require.Equal(t, c.managed, v.Managed, c.cwd)
		require.Equal(t, p(c.cwd), v.Cwd)
		require.Equal(t, p("home/.flow-agents"), v.Home)
	}

	t.Chdir(p("home/repo/a"))
	require.Equal(t, p("home/repo"), Open("").Root)
	require.Equal(t, p("home/repo/a/b"), Open("b").Cwd)

	// A path that is too long counts as none.
	v := Open(strings.Repeat("/a", 500_000))
	require.Equal(t, p("home/repo/a"), v.Cwd)
	require.Equal(t, p("home/repo"), v.Root)
	require.NotEmpty(t, v.Problem)
	require.Empty(t, Open("/"+strings.Repeat("a/", maxCwd/2-1)+"b").Problem)
	require.NotEmpty(t, Open("/"+strings.Repeat("a/", maxCwd/2)).Problem)

	// The home under another name is still the home.
	if os.Symlink(p("home"), p("alias")) == nil {
		require.False(t, Open(p("alias/plain/deep")).Managed)
	}

	t.Setenv("FLOW_AGENTS_ROOT", p("home/set"))
	require.Equal(t, View{Cwd: p("home/repo/a"), Root: p("home/set"), Managed: true, Home: p("home/.flow-agents")}, Open(""))

	t.Setenv("FLOW_AGENTS_HOME", p("elsewhere"))
	require.Equal(t, p("elsewhere"), Open("").Home)
	t.Setenv("FLOW_AGENTS_HOME", "")
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
	require.Empty(t, Open("").Home)
}
