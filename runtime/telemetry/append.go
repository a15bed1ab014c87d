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

// How far back in the file a record of the same event is looked for: a first
// glance, then all that a busy minute leaves. A line longer than that is looked
// at even so, up to a limit.
const (
	glance   = 8 << 10
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
	compose := func(tail *disk.Tail) []byte {
		now := time.Now()
		var out []byte
		for _, kind := range kinds {
			key := eventKey(kind, e)
			if !recorded(tail, key, now, e.Call.ID != "") {
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

// recorded reports whether the file's last lines hold a recent record of the
// event.
func recorded(tail *disk.Tail, key string, now time.Time, call bool) bool {
	w := within(now, sameContent)
	if call {
		w = within(now, sameCall)
	}
	for n := glance; ; n *= 8 {
		b := tail.Last(n)
		found, lines, over := w.search(b, key)
		if found || over || len(b) < n || n >= longest || n >= lookBack && lines > 0 {
			return found
		}
	}
}

// A window is a time from and to, as records tell it. In that form an earlier
// one is a lesser string, so that none needs to be parsed.
type window struct{ from, to string }

func within(now time.Time, d time.Duration) window {
	return window{now.Add(-d).UTC().Format(timeFormat), now.Add(d).UTC().Format(timeFormat)}
}

// search goes through the whole lines at the end of b, the last one first. It
// is over at the first record that is older than what counts. A line whose
// beginning or end is missing says nothing.
func (w window) search(b []byte, key string) (found bool, lines int, over bool) {
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	for len(b) > 0 {
		i := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
		found, old := w.holds(b[i:], key)
		if found || old {
			return found, lines, old
		}
		if i > 0 { // else its beginning may be missing
			lines++
		}
		b = b[:i]
	}
	return false, lines, false
}

// holds reports whether a line is a recent record of the event, or one of any
// event that is older than what counts. Both fields are near the beginning.
func (w window) holds(line []byte, key string) (found, old bool) {
	line = line[:min(len(line), 200)]
	const field = `"timestamp":"`
	i := bytes.Index(line, []byte(field)) + len(field)
	if i < len(field) || len(line) < i+len(timeFormat) || line[i+len(timeFormat)-1] != 'Z' {
		return false, false
	}
	at := string(line[i : i+len(timeFormat)])
	if at <= w.from {
		return false, true
	}
	return at < w.to && bytes.Contains(line, []byte(`"event_id":"`+key)), false
}
