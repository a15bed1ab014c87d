package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/flow-agents/flow-agents/generators/docs"
	"github.com/flow-agents/flow-agents/generators/release"
	"github.com/flow-agents/flow-agents/generators/scaffold"
	"github.com/flow-agents/flow-agents/generators/tables"
)

func vetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "vet [FILE...]",
		Short: "Check manifests against the schema",
		Long: `Vet checks the manifests of the tree. With files it checks those in place of the
tree's own manifests of the same hosts. Each mistake is one line at the author's
own place, with a hint below it where there is one.`,
		RunE: func(_ *cobra.Command, files []string) error {
			src, d, err := describe(files, nil)
			if err != nil {
				return err
			}
			// What validates must also build.
			if _, err := text(d, src.fsys); err != nil {
				return err
			}
			if _, err := tables.Emit(d.Catalog); err != nil {
				return report(err)
			}
			note(d)
			fmt.Printf("%d hosts, %d events, %d policies: ok\n", len(d.Catalog.Hosts), len(d.Catalog.Events), len(d.Catalog.Policies))
			return nil
		},
	}
}

func listCommand() *cobra.Command {
	var asJSON bool
	var manifests []string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the hosts, their levels, and what holds them back",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, d, err := describe(nil, manifests)
			if err != nil {
				return err
			}
			hosts := release.Summarize(d.Catalog)
			if asJSON {
				enc := json.NewEncoder(os.Stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(hosts)
			}
			w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "HOST\tTITLE\tLEVEL\tSURFACE ALLOWS\tRESTS ON\tTESTED WITH")
			for _, h := range hosts {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", h.ID, h.Title, h.Level, h.SurfaceLevel, h.RestsOn, h.Tested)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringArrayVar(&manifests, "manifests", nil, "add the hosts described in `DIR`; repeatable")
	return cmd
}

func docsCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "docs",
		Short: "Write the mapping tables of all hosts",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			src, d, err := describe(nil, nil)
			if err != nil {
				return err
			}
			set, err := docs.Emit(d.Catalog, src.fsys)
			if err != nil {
				return err
			}
			for _, h := range d.Catalog.Hosts {
				one, err := docs.EmitHost(d.Catalog, h, src.fsys)
				if err != nil {
					return err
				}
				set = append(set, one.Under(h.ID)...)
			}
			return put(set, out)
		},
	}
	cmd.Flags().StringVar(&out, "out", filepath.Join("dist", "docs"), "folder to write to")
	return cmd
}

func newHostCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "new-host ID",
		Short: "Start a manifest for a host",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage{fmt.Errorf("new-host takes one host id")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			src, d, err := describe(nil, nil)
			if err != nil {
				return err
			}
			data, err := scaffold.Manifest(d.Catalog, args[0], time.Now().UTC().Format("2006-01"), src.fsys)
			if err != nil {
				return usage{err}
			}
			at := filepath.Join(dir, args[0]+".cue")
			if dir == "" {
				if src.root == "" {
					return usage{fmt.Errorf("not in a checkout: say where with --dir")}
				}
				at = src.show("manifests/" + args[0] + ".cue")
			}
			f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if err != nil {
				return err
			}
			if _, err := f.Write(data); err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
			vet := "build-bundles vet " + at
			again := "build-bundles --text-only"
			if dir != "" {
				again += " --manifests " + dir
			}
			fmt.Printf(`wrote %s: every event is a gap for now

Next:
  1. List the host's event names in nativeEvents and its tools in tools.
  2. Turn gaps into mappings; say how you know each fact in its claim.
  3. Name the config file under files, with what the host accepts in it.
  4. %s
  5. %s, then read bundles/%s/MAPPING.md below dist
`, at, vet, again, args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder to write to (default the checkout's manifests)")
	return cmd
}
