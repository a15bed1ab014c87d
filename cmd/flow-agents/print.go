package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flow-agents/flow-agents/install"
	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// A result is what --json prints for the commands that write.
type result struct {
	Command string           `json:"command"`
	OK      bool             `json:"ok"`
	DryRun  bool             `json:"dry_run"`
	Changed bool             `json:"changed"`
	Mode    string           `json:"mode,omitempty"`
	Error   *failure         `json:"error,omitempty"`
	Changes []install.Change `json:"changes"`
	*install.Plan
}

// A failure is an error, with its place in a file where it has one.
type failure struct {
	Text   string `json:"text"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Key    string `json:"key,omitempty"`
}

// report prints what a command did, or why it didn't.
func (env environment) report(cmd *cobra.Command, in *install.Installer, c *change, plan *install.Plan, err error) error {
	if c.json {
		return env.reportJSON(cmd, in, c, plan, err)
	}
	if err != nil {
		if plan != nil {
			printDone(cmd.ErrOrStderr(), plan)
		}
		return err
	}
	for _, f := range plan.Findings {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", f)
	}
	printPlan(cmd.OutOrStdout(), cmd.Name(), in, c, plan)
	return nil
}

func (env environment) reportJSON(cmd *cobra.Command, in *install.Installer, c *change, plan *install.Plan, err error) error {
	if plan == nil {
		plan = &install.Plan{Hosts: []install.Installed{}, Findings: []install.Finding{}, Trust: []bundle.Trust{}, Commit: []string{}, Notes: []string{}}
	}
	r := result{Command: cmd.Name(), OK: err == nil, DryRun: c.dryRun, Changed: plan.Changed(), Changes: plan.Visible(), Plan: plan}
	if plan.Root != "" {
		r.Mode = in.Rules(plan.Root).Mode
	}
	if err != nil {
		r.Error = newFailure(err)
	}
	if e := env.printJSON(r); e != nil {
		return e
	}
	return err
}

func newFailure(err error) *failure {
	var at *jsonedit.Error
	if errors.As(err, &at) {
		return &failure{Text: at.Msg, File: at.File, Line: at.Line, Column: at.Column, Key: at.Key}
	}
	return &failure{Text: err.Error()}
}

// printDone says what had been changed when an error came.
func printDone(w io.Writer, plan *install.Plan) {
	for _, ch := range plan.Visible() {
		if ch.Done && ch.Action != install.Unchanged {
			fmt.Fprintf(w, "  done: %s %s\n", ch.Action, ch.Path)
		}
	}
}

func printPlan(w io.Writer, command string, in *install.Installer, c *change, plan *install.Plan) {
	if len(plan.Hosts) == 0 && !plan.Changed() {
		fmt.Fprintln(w, "Nothing is installed here.")
		return
	}
	names := []string{}
	for _, h := range plan.Hosts {
		names = append(names, h.Title)
	}
	where := plan.Root
	if where == "" {
		where = "your home"
	}
	head := fmt.Sprintf("%s (%s scope) in %s", strings.Join(names, ", "), plan.Scope, where)
	if len(names) == 0 {
		head = "Programs only"
	}
	fmt.Fprintln(w, head)
	if c.dryRun {
		fmt.Fprintln(w, "Dry run: nothing is changed.")
	}
	for _, ch := range plan.Visible() {
		line := fmt.Sprintf("  %-9s %s", ch.Action, ch.Path)
		if ch.Hooks > 0 {
			line += fmt.Sprintf(" (%d hooks)", ch.Hooks)
		}
		if ch.Note != "" {
			line += ": " + ch.Note
		}
		fmt.Fprintln(w, line)
		if c.dryRun {
			fmt.Fprint(w, indent(ch.Diff()))
		}
	}
	for _, note := range plan.Notes {
		fmt.Fprintf(w, "%s\n", note)
	}
	if command == "upgrade" && !c.dryRun && plan.Changed() {
		fmt.Fprintf(w, "Check:  %s\n", in.CheckCommand(c.dest))
	}
	if command != "init" || c.dryRun {
		return
	}
	if !plan.Changed() {
		fmt.Fprintf(w, "\nAll of it is in place already. Check: %s\n", in.CheckCommand(c.dest))
		return
	}
	printNext(w, in, c, plan)
}

// printNext says what is left for the reader to do.
func printNext(w io.Writer, in *install.Installer, c *change, plan *install.Plan) {
	if len(plan.Trust) > 0 {
		fmt.Fprintln(w, "\nBefore the hooks run:")
	}
	for _, t := range plan.Trust {
		fmt.Fprintf(w, "  - %s\n", t.Text)
		if t.Command != "" {
			fmt.Fprintf(w, "      %s\n", t.Command)
		}
		if t.CI != "" {
			fmt.Fprintf(w, "      unattended: %s\n", t.CI)
		}
	}
	fmt.Fprintln(w)
	if len(plan.Commit) > 0 {
		fmt.Fprintf(w, "Commit: %s\n", strings.Join(plan.Commit, " "))
	}
	if plan.Scope == bundle.Local {
		fmt.Fprintln(w, "Don't commit the files above: they name a path of this machine.")
	}
	if plan.Root != "" {
		mode := in.Rules(plan.Root).Mode
		if mode == install.Observe {
			mode += ", in this folder on this machine only; a clone elsewhere enforces"
		}
		fmt.Fprintf(w, "Mode:   %s\n", mode)
	}
	fmt.Fprintf(w, "Check:  %s\n", in.CheckCommand(c.dest))
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("      " + line)
	}
	return b.String()
}
