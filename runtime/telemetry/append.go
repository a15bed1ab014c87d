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

// Dir is where telemetry goes: the settings' folder, else .telemetry in a
// project that has .flow-agents/, else a folder of the machine's own for this
// one, so that nothing is written into a repository that was not set up. It is
// empty if there is no such place.
func Dir(v workspace.View, s *settings.Settings) string {
	switch dir := s.Telemetry.Dir; {
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	case dir != "":
		return filepath.Join(v.Root, dir)
	case v.Managed:
		return filepath.Join(v.Root, ".telemetry")
	case v.Home == "":
		return ""
	}
	return filepath.Join(v.Home, "telemetry", "projects", projectName(v.Root))
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
// has recorded the same event already, nothing is written.
func Append(v workspace.View, s *settings.Settings, e *event.Event, d event.Decision, sessionEnds bool) error {
	kinds := types(e, sessionEnds)
	if s.Telemetry.Off || len(kinds) == 0 {
		return nil
	}
	dir := Dir(v, s)
	if dir == "" {
		return errors.New("telemetry: there is no home folder to write to")
	}
	hidden := redact(local())
	err := disk.Append(filepath.Join(dir, File), disk.MakeIgnored, func(tail []byte) []byte {
		now := time.Now()
		var out []byte
		for _, kind := range kinds {
			key := eventKey(kind, e)
			if !recorded(tail, key, now, e.Call.ID != "") {
				out = record(out, kind, eventID(key, now), now, e, d, hidden)
			}
		}
		return out
	})
	if err != nil {
		return errors.New("telemetry: " + err.Error())
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

// recorded reports whether the last lines of the file hold a recent record of
// the event.
func recorded(tail []byte, key string, now time.Time, call bool) bool {
	within := sameContent
	if call {
		within = sameCall
	}
	mark := []byte(`"event_id":"` + key)
	for {
		i := bytes.LastIndex(tail, mark)
		if i < 0 {
			return false
		}
		line := tail[bytes.LastIndexByte(tail[:i], '\n')+1 : i]
		const field = `"timestamp":"`
		if j := bytes.Index(line, []byte(field)); j >= 0 {
			stamp := line[j+len(field):]
			if n := len(timeFormat); len(stamp) > n {
				at, err := time.Parse(timeFormat, string(stamp[:n]))
				if err == nil && now.Sub(at).Abs() < within {
					return true
				}
			}
		}
		tail = tail[:i]
	}
}
