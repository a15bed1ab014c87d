package telemetry

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/flow-agents/flow-agents/runtime/digest"
	"github.com/flow-agents/flow-agents/runtime/disk"
	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/settings"
	"github.com/flow-agents/flow-agents/runtime/tables"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// File is the name of the channel that stays on the machine.
const File = "full.jsonl"

// Two processes that were started for one event come close together. A call
// id identifies the event for longer than mere equality of content does.
const (
	sameCall    = time.Minute
	sameContent = 2 * time.Second
)

// How far back in the file a record of the same event is looked for, in pieces:
// all that a busy minute leaves, and the line before that however long it is,
// up to a limit.
const (
	piece    = 8 << 10
	lookBack = 64 << 10
	longest  = 4 << 20
)

// places lists where telemetry may go, the best first: the settings' folder,
// else .telemetry in a project that has .flow-agents/, else a folder of the
// machine's own for this one, so that nothing is written into a repository that
// was not set up. What the project itself says or holds can't turn telemetry
// off, so there the next place counts if one is no good; where the user chose
// the folder there is no other.
func places(v workspace.View, s *settings.Settings) []disk.Folder {
	var out []disk.Folder
	if dir := filepath.Clean(s.Telemetry.Dir); s.Telemetry.Dir != "" {
		switch from := s.Telemetry.From; {
		case from == settings.Project:
			out = append(out, disk.Folder{Base: v.Root, Path: dir, Care: disk.Apart})
		case filepath.IsAbs(dir):
			return anywhere(dir)
		case !v.Managed && from != settings.Environment:
			// The user's file is for all projects, this one was not set up.
		case filepath.IsLocal(dir):
			return []disk.Folder{{Base: v.Root, Path: dir}}
		default:
			return anywhere(filepath.Join(v.Root, dir))
		}
	}
	if v.Managed {
		out = append(out, disk.Folder{Base: v.Root, Path: ".telemetry", Care: disk.Ours})
	}
	if v.Home != "" {
		path := filepath.Join("telemetry", "projects", projectName(v.Root))
		out = append(out, disk.Folder{Base: v.Home, Path: path, Make: true, Care: disk.Ours})
	}
	return out
}

// anywhere is a folder of the user's choice; it may not be a link itself.
func anywhere(dir string) []disk.Folder {
	return []disk.Folder{{Base: filepath.Dir(dir), Path: filepath.Base(dir), Make: true}}
}

// projectName is the root's base name, made safe, and a hash of its path.
func projectName(root string) string {
	base := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, filepath.Base(root))
	if base = strings.TrimLeft(base, ".-"); base == "" {
		base = "root"
	}
	return base[:min(len(base), 40)] + "-" + digest.Hex(4, root)
}

// Append writes the records that an event yields. sessionEnds says whether the
// host tells the end of a session by an event of its own. If another process
// has recorded the same event already, nothing is written. An error can come
// from a place that was no good although the next one was.
func Append(v workspace.View, s *settings.Settings, e *event.Event, d event.Decision, sessionEnds bool) error {
	kinds := types(e, sessionEnds)
	if s.Telemetry.Off || len(kinds) == 0 {
		return nil
	}
	hidden := redact(local())
	compose := func(tail disk.Tail) []byte {
		now := time.Now()
		w := within(now, sameContent)
		if e.Call.ID != "" {
			w = within(now, sameCall)
		}
		var out []byte
		for _, kind := range kinds {
			key := eventKey(kind, e)
			if !w.holds(tail, key) {
				out = record(out, kind, eventID(key, now), now, e, d, hidden)
			}
		}
		return out
	}
	trouble := ""
	for _, place := range places(v, s) {
		err := place.Append(File, compose)
		if err != nil {
			trouble += "; " + err.Error()
		}
		if _, misplaced := err.(*disk.PlaceError); misplaced {
			continue
		}
		if err == nil && trouble != "" {
			trouble += "; records go to " + filepath.Join(place.Base, place.Path)
		}
		break
	}
	switch {
	case trouble != "":
		return errors.New("telemetry: " + trouble[2:])
	case v.Home == "" && !v.Managed && s.Telemetry.Dir == "":
		return errors.New("telemetry: there is no home folder to write to")
	}
	return nil
}

// local is the channel that stays on the machine.
func local() *tables.Channel {
	for i := range tables.Channels {
		if tables.Channels[i].ID == "full" {
			return &tables.Channels[i]
		}
	}
	return &tables.Channel{}
}

// eventKey identifies an event across processes: the first half of its id.
func eventKey(kind string, e *event.Event) string {
	return "e-" + digest.Hex(6, kind, e.Host, e.Session, e.Native, e.AgentID, e.Call.ID, e.Call.Tool, e.Cwd, e.Prompt, e.Source, string(e.Call.Input))
}

// eventID completes a key so that no two records share one.
func eventID(key string, now time.Time) string {
	return key + digest.Hex(6, strconv.FormatInt(now.UnixNano(), 36), strconv.Itoa(os.Getpid()))
}

// A window is a time from and to, as records tell it. In that form an earlier
// one is a lesser string, so that none needs to be parsed.
type window struct{ from, to string }

func within(now time.Time, d time.Duration) window {
	return window{now.Add(-d).UTC().Format(timeFormat), now.Add(d).UTC().Format(timeFormat)}
}

// What a record begins with, and how much of it is to be seen at most.
const (
	before  = `{"schema_version":"` + schemaVersion + `","timestamp":"`
	between = `","event_id":"`
	header  = len(before) + len(timeFormat) + len(between) + 20
)

// holds reports whether the last lines of a file hold a record of the event
// from within the window. It stops at a record from before that. A line that
// broke off is not a record.
func (w window) holds(f disk.Tail, key string) bool {
	buf := make([]byte, min(piece+int64(header), f.Size))
	lines, ended, over := 0, false, false
	for to := f.Size; to > 0 && !over; {
		if back := f.Size - to; back >= longest || back >= lookBack && lines > 0 {
			break
		}
		from := max(to-piece, 0)
		// A line that begins in this piece may have its header in the next.
		b := buf[:min(int64(len(buf)), f.Size-from)]
		if n, _ := f.ReadAt(b, from); n < len(b) {
			return false
		}
		start := 0
		if from > 0 {
			start = bytes.IndexByte(b, '\n') + 1
		}
		for size := int(to - from); (start > 0 || from == 0) && start <= size; {
			n := bytes.IndexByte(b[start:], '\n')
			if n >= 0 || ended {
				found, old := w.is(b[start:], key)
				if found {
					return true
				}
				lines++
				over = over || old
			}
			if n < 0 {
				break
			}
			start += n + 1
		}
		ended = ended || bytes.IndexByte(b, '\n') >= 0
		to = from
	}
	return false
}

// is reports whether a line is a record of the event from within the window,
// or one of any event from before it.
func (w window) is(line []byte, key string) (found, old bool) {
	if len(line) < len(before)+len(timeFormat) || string(line[:len(before)]) != before {
		return false, false
	}
	at, rest := line[len(before):][:len(timeFormat)], line[len(before)+len(timeFormat):]
	if string(at) <= w.from {
		return false, true
	}
	if string(at) >= w.to || len(rest) < len(between)+len(key) || string(rest[:len(between)]) != between {
		return false, false
	}
	return string(rest[len(between):][:len(key)]) == key, false
}
