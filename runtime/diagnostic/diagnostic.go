// Package diagnostic keeps the local log: what went wrong in the hook itself,
// which must neither stop work nor be lost.
package diagnostic

import (
	"bytes"
	"path/filepath"
	"strconv"
	"time"

	"github.com/flow-agents/flow-agents/runtime/disk"
	"github.com/flow-agents/flow-agents/runtime/text"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// Bounds of the log: the file, beside which the one before it is kept, what
// one process adds to it, and how far back a message is not repeated.
const (
	maxSize  = 128 << 10
	maxLines = 32
	maxLine  = 500
	lookBack = 64 << 10
)

// Name is the log's path below a .flow-agents folder.
const Name = folder + "/" + file

const (
	folder = "state"
	file   = "hook.log"
)

// A Log collects what one process has to say.
type Log struct {
	// Prefix begins each line: the host and the event.
	Prefix string
	lines  []string
	more   int
}

// Add notes a message. What goes beyond the first few is only counted.
func (l *Log) Add(message string) {
	if len(l.lines) == maxLines {
		l.more++
		return
	}
	l.lines = append(l.lines, text.Line(message, maxLine))
}

// Empty reports whether there is nothing to write.
func (l *Log) Empty() bool { return len(l.lines) == 0 }

// Flush writes the messages to the project's log, or to the machine's if the
// project has none or it can't be written. A message that is among the last
// ones already is not repeated. If neither can be written, nobody hears of it.
func (l *Log) Flush(v workspace.View) {
	if l.Empty() {
		return
	}
	if l.more > 0 {
		l.lines = append(l.lines, "and "+strconv.Itoa(l.more)+" more")
	}
	where := disk.Folder{Base: v.Home, Path: folder, Make: true, Care: disk.Ours, Max: maxSize}
	if v.Managed {
		own := where
		own.Base, own.Path, own.Make = v.Root, filepath.Join(workspace.Dir, folder), false
		err := own.Append(file, l.compose)
		if err == nil {
			return
		}
		l.lines = append(l.lines, err.Error())
	}
	if v.Home != "" {
		_ = where.Append(file, l.compose)
	}
}

// compose returns the lines that are not among the last of the file.
func (l *Log) compose(tail disk.Tail) []byte {
	var out []byte
	now := time.Now().UTC()
	seen := tail.Last(lookBack)
	for _, m := range l.lines {
		line := " " + l.Prefix + ": " + m + "\n"
		if bytes.Contains(seen, []byte(line)) {
			continue
		}
		out = now.AppendFormat(out, time.RFC3339)
		out = append(out, line...)
	}
	return out
}
