package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/flow-agents/flow-agents/install"
	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// A result is what --json prints for the commands that write.
type result struct {
	Command string `json:"command"`
	OK      bool   `json:"ok"`
	DryRun  bool   `json:"dry_run"`
	Changed bool   `json:"changed"`
	Mode    string `json:"mode,omitempty"`
	// ModeFrom is what says so: a variable, a file or nobody.
	ModeFrom string `json:"mode_from,omitempty"`
	// Questions are what a dry run would have asked.
	Questions []string         `json:"questions"`
	Error     *failure         `json:"error,omitempty"`
	Changes   []install.Change `json:"changes"`
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
	for _, p := range in.Rules("").Problems {
		if p.Kind == install.FromEnvironment {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", p.Text)
		}
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

// rules are what holds in the project of a plan, or in a dry run would hold.
func (c *change) rules(in *install.Installer, plan *install.Plan) install.Rules {
	r := in.Rules(plan.Root)
	if c.dryRun && c.mode != "" && r.ModeFrom != install.FromMode {
		r.Mode = c.mode
	}
	return r
}

func (env environment) reportJSON(cmd *cobra.Command, in *install.Installer, c *change, plan *install.Plan, err error) error {
	if plan == nil {
		plan = &install.Plan{Hosts: []install.Installed{}, Findings: []install.Finding{}, Trust: []bundle.Trust{}, Commit: []string{}, Notes: []string{}, Left: []install.Leftover{}}
	}
	r := result{Command: cmd.Name(), OK: err == nil, DryRun: c.dryRun, Changed: plan.Changed(), Changes: plan.Visible(), Plan: plan,
		Questions: append([]string{}, c.questions...)}
	if plan.Root != "" {
		rules := c.rules(in, plan)
		r.Mode, r.ModeFrom = rules.Mode, rules.ModeFrom
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
		printLeft(w, c, plan)
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
	for _, q := range c.questions {
		fmt.Fprintf(w, "Would ask: %s\n", q)
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
	printLeft(w, c, plan)
	if command == "init" && c.dryRun && c.mode != "" {
		printMode(w, in, c, plan)
	}
	if command == "upgrade" && !c.dryRun && plan.Changed() {
		fmt.Fprintf(w, "Check:  %s\n", in.CheckCommand(c.dest))
	}
	if command != "init" || c.dryRun {
		return
	}
	if !plan.Changed() {
		fmt.Fprint(w, "\nAll of it is in place already.\n")
		printMode(w, in, c, plan)
		fmt.Fprintf(w, "Check:  %s\n", in.CheckCommand(c.dest))
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
	printMode(w, in, c, plan)
	fmt.Fprintf(w, "Check:  %s\n", in.CheckCommand(c.dest))
}

// printMode says whether the hooks refuse, and where that holds.
func printMode(w io.Writer, in *install.Installer, c *change, plan *install.Plan) {
	if plan.Root == "" {
		return
	}
	const here = "on this machine only, for this folder; a clone elsewhere enforces"
	r := c.rules(in, plan)
	line := r.Mode
	switch {
	case r.ModeFrom == install.FromMode && c.mode == install.Observe && r.Mode != c.mode:
		line += ", because " + install.FromMode + " says so; where it doesn't, observe " + here
	case r.ModeFrom == install.FromMode:
		line += ", because " + install.FromMode + " says so"
	case r.Mode == install.Observe:
		line += ", " + here
	}
	fmt.Fprintf(w, "Mode:   %s\n", line)
}

// printLeft lists what an uninstall leaves, each with the command that removes it.
func printLeft(w io.Writer, c *change, plan *install.Plan) {
	if len(plan.Left) == 0 {
		return
	}
	said := "What stays, and how to remove it:"
	if c.dryRun {
		said = "What would stay, and how to remove it then:"
	}
	fmt.Fprintln(w, said)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range plan.Left {
		fmt.Fprintf(t, "  %s\t%s\n", l.Remove, l.What)
	}
	_ = t.Flush() // the writer remembers its errors
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("      " + line)
	}
	return b.String()
}
