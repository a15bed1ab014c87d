package evasion

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/flow-agents/flow-agents/internal/golden"
)

// absent is what shells say of a program that isn't there.
var absent = regexp.MustCompile(`([\w.+-]+): (?:command )?not found|can't execute '([\w.+-]+)'|'?([\w.+-]+)'?: No such file or directory\n?$`)

// TestLabels runs every input and compares what it did with what its label says.
func TestLabels(t *testing.T) {
	inputs, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	// Rooms are many small files: in memory, where there is such a place.
	base := ""
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		base = "/dev/shm"
	}
	dir, err := os.MkdirTemp(base, "evasion")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	lab, err := NewLab(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !lab.Offline() {
		t.Log("this user can't take the network away from inputs; none of them names a remote host")
	}
	var mu sync.Mutex
	missing, ran := map[string]int{}, map[Label]int{}
	verdicts := map[string]string{}
	t.Cleanup(func() {
		t.Logf("ran %d must-deny, %d must-allow, %d detect-after", ran[MustDeny], ran[MustAllow], ran[DetectAfter])
		for _, name := range slices.Sorted(maps.Keys(missing)) {
			t.Logf("skipped %d inputs: no %s here", missing[name], name)
		}
		if golden.Updating() {
			write(t, verdicts)
		}
	})
	for i, in := range inputs {
		if testing.Short() && i%9 != 0 {
			continue
		}
		t.Run(in.ID(), func(t *testing.T) {
			t.Parallel()
			if list := lab.Missing(in.Needs); len(list) > 0 {
				mu.Lock()
				missing[list[0]]++
				mu.Unlock()
				t.Skip("no ", list)
			}
			label, shows, o := execute(t, lab, in)
			mu.Lock()
			defer mu.Unlock()
			ran[label]++
			if golden.Updating() {
				verdicts[in.ID()] = strings.TrimSuffix(string(label)+": "+shows, ": ")
				return
			}
			if label != in.Label || shows != in.Shows {
				report := t.Errorf
				if in.Open != "" {
					report = t.Logf // systems differ here, and either answer is right
				}
				report("is labelled %s: %s\nrunning it shows %s: %s\n%s\nexit code %d\n%s", in.Label, in.Shows, label, shows, in.Command, o.Code, o.Output)
			}
		})
	}
}

func execute(t *testing.T, lab *Lab, in Input) (Label, string, Outcome) {
	room, err := lab.NewRoom(in.Clean, in.Setup)
	if err != nil {
		t.Fatal(err)
	}
	defer room.Close()
	o, err := room.Run(in.Expand(room.Repo(), room.Tmp(), room.Home()))
	if err != nil {
		t.Fatal(err)
	}
	if m := absent.FindStringSubmatch(o.Output); m != nil && in.Open == "" && m[3] == "" {
		if name := m[1] + m[2]; !strings.Contains(in.Command, "nosuch") {
			t.Errorf("calls %s, which isn't here and which it doesn't need\n%s\n%s", name, in.Command, o.Output)
		}
	}
	changes, err := room.Changes()
	if err != nil {
		t.Fatal(err)
	}
	label, shows := MustAllow, strings.Join(changes, ", ")
	switch {
	case len(changes) > 0 && in.Hidden != "":
		label = DetectAfter
	case len(changes) > 0:
		label = MustDeny
	case in.Hidden != "" && in.Open == "":
		t.Errorf("is said to hide something (%s), and running it changes nothing\n%s\nexit code %d\n%s", in.Hidden, in.Command, o.Code, o.Output)
	}
	if o.Code != 0 {
		shows = strings.TrimPrefix(shows+"; fails", "; ")
	}
	if testing.Verbose() && o.Code != 0 {
		t.Log(fmt.Sprintf("exit code %d: ", o.Code) + o.Output)
	}
	return label, shows, o
}
