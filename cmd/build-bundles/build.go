package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/model"
	"github.com/flow-agents/flow-agents/generators/release"
	"github.com/flow-agents/flow-agents/generators/tables"
)

// build is the main command.
type build struct {
	hosts, platforms, manifests []string
	out, version                string
	textOnly, check, json       bool
	start                       time.Time
}

func (b *build) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&b.hosts, "host", nil, "build only this `ID`'s bundle; repeatable (default all)")
	f.StringArrayVar(&b.platforms, "platform", nil, "compile only for `os/arch`; repeatable (default all six)")
	f.StringArrayVar(&b.manifests, "manifests", nil, "add the hosts described in `DIR`; repeatable")
	f.StringVar(&b.out, "out", "dist", "release tree to write")
	f.StringVar(&b.version, "version", "devel", "version `V` that the programs and release.json carry")
	f.BoolVar(&b.textOnly, "text-only", false, "render text, compile nothing")
	f.BoolVar(&b.check, "check", false, "write nothing; exit 1 if committed files differ from what would be generated")
	f.BoolVar(&b.json, "json", false, "print the summary as JSON")
}

func (b *build) run(*cobra.Command) error {
	b.start = time.Now()
	src, err := findSource()
	if err != nil {
		return err
	}
	var platforms []release.Platform
	for _, s := range b.platforms {
		p, err := release.ParsePlatform(s)
		if err != nil {
			return usage{err}
		}
		platforms = append(platforms, p)
	}
	if platforms == nil {
		platforms = release.Platforms
	}

	b.step("load and validate")
	d, err := src.load(nil, b.manifests)
	if err != nil {
		return report(err)
	}
	if err := b.pick(d.Catalog); err != nil {
		return usage{err}
	}
	note(d)

	b.step("render %d hosts", len(d.Catalog.Hosts))
	text, err := text(d, src.fsys)
	if err != nil {
		return err
	}
	tab, err := tables.Emit(d.Catalog)
	if err != nil {
		return err
	}
	// Only a build of everything, and nothing else, is what is committed.
	committed := src.root != "" && len(b.hosts) == 0 && len(b.manifests) == 0
	if b.check {
		if !committed {
			return usage{fmt.Errorf("--check compares all that is committed: run it in a checkout, without --host and --manifests")}
		}
		return b.drift(src, text, tab)
	}
	if committed {
		if err := text.Write(filepath.Join(src.root, "bundles"), handWritten); err != nil {
			return err
		}
		if err := tab.Write(filepath.Join(src.root, tables.Dir), handWritten); err != nil {
			return err
		}
	}
	if b.textOnly {
		if err := release.WriteText(text, b.out); err != nil {
			return err
		}
		return b.summary(release.Summary{SchemaVersion: 1, Version: b.version, ContractVersion: release.ContractVersion, Hosts: release.Summarize(d.Catalog)})
	}

	if src.root == "" {
		return fmt.Errorf("compiling needs a checkout of flow-agents: run this inside one, or use --text-only")
	}
	g := &release.GoCompiler{Root: src.root, Version: b.version}
	if len(b.manifests) > 0 {
		g.Overlay = append(tab.Under(tables.Dir), text.Under("bundles")...)
	}
	if err := g.Prepare(); err != nil {
		return err
	}
	defer g.Close()
	toolchain, err := g.Toolchain()
	if err != nil {
		return err
	}
	s, err := release.Build(d.Catalog, text, release.Options{Out: b.out, Version: b.version, Toolchain: toolchain, Platforms: platforms, Compiler: g, Step: b.step})
	if err != nil {
		return err
	}
	return b.summary(*s)
}

// handWritten are the files of generated folders that are not generated.
func handWritten(p string) bool {
	return strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_gen.go")
}

// pick drops the hosts that were not asked for.
func (b *build) pick(c *model.Catalog) error {
	if len(b.hosts) == 0 {
		return nil
	}
	var ids []string
	for _, h := range c.Hosts {
		ids = append(ids, h.ID)
	}
	for _, id := range b.hosts {
		if !slices.Contains(ids, id) {
			return fmt.Errorf("no host %q; known: %s", id, strings.Join(ids, ", "))
		}
	}
	c.Hosts = slices.DeleteFunc(c.Hosts, func(h model.Host) bool { return !slices.Contains(b.hosts, h.ID) })
	return nil
}

// folded lists drifts, those of a folder in one line where they are many.
func folded(dir string, drifts []fileset.Drift) []string {
	const many = 6
	key := func(d fileset.Drift) string { return fmt.Sprintf("%-8s%s", d.Kind, path.Join(dir, path.Dir(d.Path))) }
	count := map[string]int{}
	for _, d := range drifts {
		count[key(d)]++
	}
	var out []string
	for _, d := range drifts {
		line := fmt.Sprintf("%-8s%s", d.Kind, path.Join(dir, d.Path))
		if n := count[key(d)]; n > many {
			line = fmt.Sprintf("%s/ (%d files)", key(d), n)
		}
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// drift compares what is committed with what would be generated.
func (b *build) drift(src source, text, tab fileset.Set) error {
	n := 0
	for _, t := range []struct {
		dir string
		set fileset.Set
	}{{"bundles", text}, {tables.Dir, tab}} {
		drifts, err := t.set.Compare(filepath.Join(src.root, filepath.FromSlash(t.dir)), handWritten)
		if err != nil {
			return err
		}
		for _, line := range folded(t.dir, drifts) {
			fmt.Println(line)
		}
		n += len(drifts)
	}
	if n == 0 {
		fmt.Println("bundles and tables are as generated")
		return nil
	}
	fmt.Fprintf(os.Stderr, "%d generated files differ from their sources; to fix: go run ./cmd/build-bundles --text-only\n", n)
	return errFailed
}

// step tells a person who watches what is going on.
func (b *build) step(format string, args ...any) {
	if b.json || !term.IsTerminal(int(os.Stderr.Fd())) {
		return
	}
	fmt.Fprintf(os.Stderr, "%6.2fs  %s\n", time.Since(b.start).Seconds(), fmt.Sprintf(format, args...))
}

func (b *build) summary(s release.Summary) error {
	if b.json {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "HOST\tLEVEL\tSURFACE ALLOWS\tRESTS ON\tTESTED WITH")
	for _, h := range s.Hosts {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", h.ID, h.Level, h.SurfaceLevel, h.RestsOn, h.Tested)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("\n%d bundles", len(s.Hosts))
	if len(s.Platforms) > 0 {
		fmt.Printf(", %d platforms, %d files", len(s.Platforms), len(s.Files))
	}
	fmt.Printf(" in %s (%.1fs)\n", b.out, time.Since(b.start).Seconds())
	return nil
}
