// Package diagnostic keeps the local log: what went wrong in the hook itself,
// which must neither stop work nor be lost.
package diagnostic

import (
	"bytes"
	"os"
	"path/filepath"
	"time"

	"github.com/flow-agents/flow-agents/runtime/disk"
	"github.com/flow-agents/flow-agents/runtime/text"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// maxSize bounds the log; the one before it is kept beside it.
const maxSize = 128 << 10

// Name is the log's path below a .flow-agents folder.
const Name = "state/hook.log"

// A Log collects what one process has to say.
type Log struct {
	// Prefix begins each line: the host and the event.
	Prefix string
	lines  []string
}

// Add notes a message.
func (l *Log) Add(message string) { l.lines = append(l.lines, text.Line(message, 500)) }

// Empty reports whether there is nothing to write.
func (l *Log) Empty() bool { return len(l.lines) == 0 }

// Flush writes the messages to the project's log, or to the machine's if the
// project has none. A message that is among the last ones already is not
// repeated. If the log can't be written, nobody hears of it.
func (l *Log) Flush(v workspace.View) {
	if l.Empty() {
		return
	}
	base, mkdir := v.Home, disk.MakePrivate
	if v.Managed {
		base, mkdir = filepath.Join(v.Root, workspace.Dir), disk.MakeIgnored
	}
	if base == "" {
		return
	}
	path := filepath.Join(base, Name)
	if info, err := os.Lstat(path); err == nil && info.Size() > maxSize {
		// Of several processes that come here at once, one moves the old log.
		_ = os.Rename(path, path+".1")
	}
	_ = disk.Append(path, mkdir, func(tail []byte) []byte {
		var out []byte
		now := time.Now().UTC()
		for _, m := range l.lines {
			line := " " + l.Prefix + ": " + m + "\n"
			if bytes.Contains(tail, []byte(line)) {
				continue
			}
			out = now.AppendFormat(out, time.RFC3339)
			out = append(out, line...)
		}
		return out
	})
	l.lines = nil
}
