//go:build unix

package disk

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A pipe, which nobody writes to, is refused at once.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "p")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	done := make(chan [3]error)
	go func() {
		_, a := Read(pipe, 10)
		_, b := ReadLinked(pipe, 10)
		done <- [3]error{a, b, add(pipe, "x\n")}
	}()
	select {
	case errs := <-done:
		for _, err := range errs {
			require.ErrorIs(t, err, ErrNotRegular)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for the pipe")
	}
}
