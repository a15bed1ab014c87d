package main

import (
	"fmt"
	"io"

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
our hooks there and unchanged, can the program they call be run, does a setting
of the host keep them from running. It exits 1 if any is dead, or if nothing is
installed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := env.installer("", "")
			if err != nil {
				return err
			}
			root, err := p.root(in)
			if err != nil {
				return err
			}
			report, err := in.Status(root)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), report)
			} else {
				printStatus(cmd.OutOrStdout(), report)
			}
			if err == nil && !report.OK {
				err = errFailed
			}
			return err
		},
	}
	cmd.Flags().StringVar(&p.dest, "dest", "", "the project `DIR` (default: the one that the current folder is in)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func printStatus(w io.Writer, r *install.Report) {
	fmt.Fprintf(w, "%s (%s mode)\n", r.Root, r.Mode)
	if len(r.Hosts) == 0 {
		fmt.Fprintln(w, "  Nothing is installed; flow-agents init does it.")
	}
	for _, h := range r.Hosts {
		word := "alive"
		if !h.OK {
			word = "DEAD"
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
				fmt.Fprintf(w, "  broken     %s: %s\n", p.Path, p.Error)
				continue
			}
			fmt.Fprintf(w, "  runs       %s: %s\n", p.Path, p.Version)
		}
		for _, f := range h.Findings {
			mark := "note"
			if f.Dead {
				mark = "dead"
			}
			fmt.Fprintf(w, "  %-10s %s\n", mark, f)
		}
	}
}
