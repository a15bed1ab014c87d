package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flow-agents/flow-agents/install"
)

func (env environment) statusCommand() *cobra.Command {
	var p place
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether the installed hooks are alive",
		Long: `status looks at every host that is installed in the project or for the user: are
our hooks there and unchanged, is the program that they call ours and can it be
run, does a setting of the host keep them from running. It runs no program but
those in ~/.flow-agents/bin.

  alive     every hook is in place and can run
  CHANGED   hooks or files of ours are not as this version has them
  UNKNOWN   a file that decides it can't be read
  DEAD      some hook is missing or can't run

It exits 1 unless all is alive, and if nothing is installed. Steps of trust that
only the host knows of are listed as unknown, and don't count.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := env.installer("", "")
			if err != nil {
				return err
			}
			scope, root, err := p.resolve()
			if err != nil {
				return err
			}
			report, err := in.Status(root, scope)
			if err != nil {
				return err
			}
			if asJSON {
				err = env.printJSON(report)
			} else {
				printStatus(cmd.OutOrStdout(), report)
			}
			if err == nil && !report.OK {
				err = errFailed
			}
			return err
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func printStatus(w io.Writer, r *install.Report) {
	fmt.Fprintf(w, "%s (%s mode, from %s)\n", r.Root, r.Mode, r.ModeFrom)
	for _, off := range r.Off {
		fmt.Fprintf(w, "  %-10s %s, by %s\n", "off", off.Policy, off.From)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(w, "  %-10s %s\n", "ignored", p)
	}
	if len(r.Hosts) == 0 {
		fmt.Fprintln(w, "  Nothing is installed; flow-agents init does it.")
	}
	for _, h := range r.Hosts {
		printHost(w, h)
	}
}

func printHost(w io.Writer, h install.HostStatus) {
	word := h.State
	if !h.OK {
		word = strings.ToUpper(word)
	}
	fmt.Fprintf(w, "%s (%s scope): %s\n", h.Title, h.Scope, word)
	for _, f := range h.Files {
		fmt.Fprintf(w, "  %-10s %s", f.State, f.Path)
		if f.Want > 0 {
			fmt.Fprintf(w, " (%d of %d hooks)", f.Hooks, f.Want)
		}
		fmt.Fprintln(w)
	}
	for _, p := range h.Programs {
		if p.Error != "" {
			fmt.Fprintf(w, "  %-10s %s: %s\n", "broken", p.Path, p.Error)
			continue
		}
		fmt.Fprintf(w, "  %-10s %s: %s", "runs", p.Path, p.Version)
		if p.Contract != "" {
			fmt.Fprintf(w, " (engine contract %s)", p.Contract)
		}
		fmt.Fprintln(w)
	}
	for _, f := range h.Findings {
		mark := "note"
		switch {
		case f.Dead:
			mark = install.Dead
		case f.Unknown:
			mark = install.Unknown
		}
		fmt.Fprintf(w, "  %-10s %s\n", mark, f)
	}
	for _, t := range h.Trust {
		fmt.Fprintf(w, "  %-10s %s", install.Unknown, t.Text)
		if t.Command != "" {
			fmt.Fprintf(w, " (%s)", t.Command)
		}
		fmt.Fprintln(w)
	}
}
