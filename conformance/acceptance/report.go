package acceptance

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/flow-agents/flow-agents/conformance/observed"
	"github.com/flow-agents/flow-agents/generators/observe"
)

// Observe turns what was seen into a run for the observation file.
func Observe(r *Rig, seen []Seen, now time.Time) observed.Run {
	run := observed.Run{
		Package:  r.Driver.NPM.Package,
		Version:  r.Program.Version,
		On:       now.UTC().Format(time.DateOnly),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Cells:    map[string]observed.Cell{},
	}
	for id, c := range cells(seen) {
		got := observed.Cell{Result: observed.Pass, Saw: strings.Join(c.saw, "; ")}
		if len(c.problems) > 0 {
			var lines []string
			for _, p := range c.problems {
				lines = append(lines, strings.Join(strings.Fields(p.Error()), " "))
			}
			got = observed.Cell{Result: observed.Fail, Saw: strings.Join(lines, "; ")}
		}
		if got.Saw == "" {
			got.Saw = "the session ran to its end"
		}
		if event, ok := strings.CutPrefix(id, "event:"); ok {
			got.Row = r.row(event)
		}
		run.Cells[id] = got
	}
	return run
}

// Print writes the table of a run.
func Print(w io.Writer, title string, run observed.Run) error {
	if _, err := fmt.Fprintf(w, "\n%s: %s %s on %s\n\n", title, run.Package, run.Version, run.Platform); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CELL\tRESULT\tSAW")
	for _, id := range slices.Sorted(maps.Keys(run.Cells)) {
		c := run.Cells[id]
		fmt.Fprintf(t, "%s\t%s\t%s\n", id, c.Result, short(c.Saw, 150))
	}
	return t.Flush()
}

// PrintDifferences writes how a run differs from the committed one.
func PrintDifferences(w io.Writer, old observed.Run, ds []observed.Difference) {
	fmt.Fprintf(w, "\nagainst the committed observation of %s on %s:\n", old.Version, old.On)
	if len(ds) == 0 {
		fmt.Fprintln(w, "  no difference")
	}
	for _, d := range ds {
		word := "reads differently"
		if d.Old.Result != d.New.Result {
			word = fmt.Sprintf("was %s, is %s", orNone(d.Old.Result), orNone(d.New.Result))
		}
		fmt.Fprintf(w, "  %s %s\n    was: %s\n    is:  %s\n", d.ID, word, orNone(d.Old.Saw), orNone(d.New.Saw))
	}
}

func orNone(s string) string {
	if s == "" {
		return "absent"
	}
	return s
}

func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// row is the digest of what the manifest says about an event; empty where the
// host has several surfaces, because a run doesn't say which one it saw.
func (r *Rig) row(event string) string {
	for _, h := range r.Catalog.Hosts {
		if h.ID != r.ID || len(h.Surfaces) != 1 {
			continue
		}
		for surface := range h.Surfaces {
			return observe.Row(h, surface, event)
		}
	}
	return ""
}
