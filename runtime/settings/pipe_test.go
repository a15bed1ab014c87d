//go:build unix

package settings

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// Where a settings file should be is a pipe, that nobody writes to.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	v := workspace.View{Home: filepath.Join(dir, "home"), Root: filepath.Join(dir, "root"), Managed: true}
	for _, d := range []string{v.Home, filepath.Join(v.Root, workspace.Dir)} {
		require.NoError(t, os.MkdirAll(d, 0o755))
		require.NoError(t, syscall.Mkfifo(filepath.Join(d, Name), 0o600))
	}
	done := make(chan Settings)
	go func() { done <- Load(v) }()
	select {
	case s := <-done:
		require.Equal(t, 2, strings.Count(strings.Join(s.Problems, "\n"), "not read: not a regular file"))
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for the pipe")
	}
}
