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
	var asJSON, verbose bool
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

It exits 1 unless all is alive, if nothing is installed, and if a settings file
can't be read. Steps of trust that
only the host knows of are listed as unknown, and don't count. What the
environment and the settings say is listed too, where a policy is off by it or
the hook doesn't go by it: a word that nobody knows switches nothing off.`,
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
				printStatus(cmd.OutOrStdout(), in.Command(), report, verbose)
			}
			if err == nil && !report.OK {
				err = errFailed
			}
			return err
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "print all that there is to know of trust")
	return cmd
}

func printStatus(w io.Writer, program string, r *install.Report, verbose bool) {
	profile := ""
	if r.ProfileFrom != install.FromDefault {
		profile = fmt.Sprintf("; %s profile, from %s", r.Profile, r.ProfileFrom)
	}
	fmt.Fprintf(w, "%s (%s mode, from %s%s)\n", r.Root, r.Mode, r.ModeFrom, profile)
	for _, off := range r.Off {
		line(w, "off", off.String())
	}
	for _, p := range r.Problems {
		word := "warning"
		if p.Kind == install.FromSettings {
			word = "ignored"
		}
		line(w, word, p.Text)
	}
	if len(r.Hosts) == 0 {
		fmt.Fprintf(w, "  Nothing is installed; %s init does it.\n", program)
	}
	said := map[install.ProgramInfo]bool{}
	more := 0
	for _, h := range r.Hosts {
		more += printHost(w, h, said, verbose)
	}
	if more > 0 {
		fmt.Fprintf(w, "%d more to know of trust: %s status --verbose\n", more, program)
	}
}

func line(w io.Writer, word, text string) { fmt.Fprintf(w, "  %-10s %s\n", word, text) }

// printHost prints one host, without the programs that were said of another, and
// returns how many notes on trust it left out.
func printHost(w io.Writer, h install.HostStatus, said map[install.ProgramInfo]bool, verbose bool) (more int) {
	word := h.State
	if !h.OK {
		word = strings.ToUpper(word)
	}
	fmt.Fprintf(w, "%s (%s scope): %s\n", h.Title, h.Scope, word)
	for _, f := range h.Files {
		text := f.Path
		if f.Want > 0 {
			text += fmt.Sprintf(" (%d of %d hooks)", f.Hooks, f.Want)
		}
		line(w, f.State, text)
	}
	for _, p := range h.Programs {
		switch {
		case p.Error != "":
			line(w, "broken", p.Path+": "+p.Error)
		case said[p]:
		case p.Contract != "":
			line(w, "runs", fmt.Sprintf("%s: %s (engine contract %s)", p.Path, p.Version, p.Contract))
		default:
			line(w, "runs", p.Path+": "+p.Version)
		}
		said[p] = true
	}
	for _, f := range h.Findings {
		mark := "note"
		switch {
		case f.Dead:
			mark = install.Dead
		case f.Unknown:
			mark = install.Unknown
		}
		line(w, mark, f.String())
	}
	for _, t := range h.Trust {
		text := t.Text
		switch {
		case verbose:
		case t.Command == "" && t.CI == "":
			more++ // nothing to do
			continue
		default:
			text, _, _ = strings.Cut(text, ". ")
			text = strings.TrimSuffix(text, ".")
		}
		if t.Command != "" {
			text += " (" + t.Command + ")"
		}
		line(w, install.Unknown, text)
	}
	return more
}
