package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/runtime/workflow"
	"github.com/flow-agents/flow-agents/runtime/workflow/writer"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// A desk is where the workflow commands work: the flags that they share.
type desk struct{ actor, task string }

func (env environment) workflowCommand() *cobra.Command {
	var d desk
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "Begin, advance and end the task that an agent works on",
		Long: `workflow writes the state of tasks below ` + workflow.Dir + `/ of the work tree. The
hooks read it: they put the open task before the agent at every turn.

Who is at work is told by --actor, else by FLOW_AGENTS_ACTOR, else by the session
variable of the agent host that runs the command, else it is the only actor that
is at work here. A task that nobody known starts is nobody's: the next session
of an agent takes it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&d.actor, "actor", "", "`NAME` of who is at work")
	cmd.AddCommand(
		env.startCommand(&d), env.resumeCommand(&d), env.tasksCommand(&d), env.advanceCommand(&d), env.nextCommand(&d),
		env.criterionCommand(&d), env.evidenceCommand(&d), env.critiqueCommand(&d), env.doneCommand(&d), env.cancelCommand(&d),
	)
	for _, c := range cmd.Commands() {
		if !slices.Contains([]string{"start", "resume", "status"}, c.Name()) {
			c.Flags().StringVar(&d.task, "task", "", "the task's `NAME` (default: the one that the actor works on)")
		}
	}
	return cmd
}

// open is the writer of the work tree that the current folder is in.
func (env environment) open(d *desk) (*writer.Writer, error) {
	root := workspace.Open("").Root
	actor, err := env.actor(d.actor, root)
	if err != nil {
		return nil, err
	}
	return writer.Open(root, actor, time.Now)
}

// actor tells who is at work.
func (env environment) actor(given, root string) (string, error) {
	if a := strings.TrimSpace(given); a != "" {
		return a, nil
	}
	if a := strings.TrimSpace(env.getenv("FLOW_AGENTS_ACTOR")); a != "" {
		return a, nil
	}
	bundles, err := bundle.LoadAll(env.bundles)
	if err != nil {
		return "", err
	}
	for _, b := range bundles {
		for _, name := range b.Detect.Session {
			if id := strings.TrimSpace(env.getenv(name)); id != "" {
				return b.Target.ID + ":" + id, nil
			}
		}
	}
	var live []string
	if s, ok := workflow.Open(root, time.Now()); ok {
		for _, p := range s.Live() {
			if p.Owner != "" && !slices.Contains(live, p.Owner) {
				live = append(live, p.Owner)
			}
		}
	}
	switch len(live) {
	case 0:
		return "", nil
	case 1:
		return live[0], nil
	}
	return "", usagef("several are at work here; say who you are with --actor: %s", strings.Join(live, ", "))
}

// write changes a task and says so in one line.
func (env environment) write(cmd *cobra.Command, d *desk, said string, f func(*writer.Writer) error) error {
	w, err := env.open(d)
	if err != nil {
		return err
	}
	if err := f(w); err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), said)
	return err
}

func (env environment) startCommand(d *desk) *cobra.Command {
	var request string
	var criteria, checks []string
	cmd := &cobra.Command{
		Use:   "start NAME",
		Short: "Begin a task",
		Example: `  flow-agents workflow start add-login --request "Let people log in." \
    --check "npm test" --criterion "The page says how."`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var list []writer.Criterion
			for _, c := range checks {
				list = append(list, writer.Criterion{Description: c + " succeeds", Refs: []writer.Reference{writer.Command(c)}})
			}
			for _, c := range criteria {
				list = append(list, writer.Criterion{Description: c})
			}
			return env.write(cmd, d, args[0]+" is begun", func(w *writer.Writer) error { return w.Start(args[0], request, list) })
		},
	}
	cmd.Flags().StringVar(&request, "request", "", "`TEXT` of what was asked for")
	cmd.Flags().StringArrayVar(&checks, "check", nil, "`COMMAND` that must succeed; repeatable")
	cmd.Flags().StringArrayVar(&criteria, "criterion", nil, "`TEXT` of what else the task must fulfil; repeatable")
	_ = cmd.MarkFlagRequired("request")
	return cmd
}

func (env environment) resumeCommand(d *desk) *cobra.Command {
	return &cobra.Command{
		Use:   "resume NAME",
		Short: "Take over a task that is there",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return env.write(cmd, d, args[0]+" is yours.", func(w *writer.Writer) error { return w.Resume(args[0]) })
		},
	}
}

func (env environment) advanceCommand(d *desk) *cobra.Command {
	var status, phase string
	cmd := &cobra.Command{
		Use:   "advance",
		Short: "Set the status and phase of a task",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.write(cmd, d, "advanced", func(w *writer.Writer) error { return w.Advance(d.task, status, phase) })
		},
	}
	cmd.Flags().StringVar(&status, "status", "", strings.Join(writer.Statuses, ", "))
	cmd.Flags().StringVar(&phase, "phase", "", strings.Join(writer.Phases, ", "))
	complete(cmd, "status", writer.Statuses...)
	complete(cmd, "phase", writer.Phases...)
	return cmd
}

func (env environment) nextCommand(d *desk) *cobra.Command {
	var n writer.Next
	cmd := &cobra.Command{
		Use:   "next",
		Short: "Say what comes next in a task",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.write(cmd, d, "noted", func(w *writer.Writer) error { return w.Next(d.task, n) })
		},
	}
	cmd.Flags().StringVar(&n.Summary, "summary", "", "`TEXT` of the next step")
	cmd.Flags().StringVar(&n.Status, "status", "continue", strings.Join(writer.NextStatuses[:3], ", "))
	cmd.Flags().StringVar(&n.Command, "command", "", "a `COMMAND` that is the next step")
	cmd.Flags().StringVar(&n.TargetPhase, "phase", "", "the phase that it leads to")
	_ = cmd.MarkFlagRequired("summary")
	complete(cmd, "status", writer.NextStatuses[:3]...)
	complete(cmd, "phase", writer.Phases...)
	return cmd
}

func (env environment) criterionCommand(d *desk) *cobra.Command {
	var c writer.Criterion
	var command, note string
	cmd := &cobra.Command{
		Use:   "criterion ID",
		Short: "Set how a criterion of a task stands, or add one",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.ID = args[0]
			if command != "" {
				c.Refs = append(c.Refs, writer.Command(command))
			}
			if note != "" {
				c.Refs = append(c.Refs, writer.Reference{Kind: "note", Summary: note})
			}
			return env.write(cmd, d, "noted", func(w *writer.Writer) error { return w.Criterion(d.task, c) })
		},
	}
	cmd.Flags().StringVar(&c.Status, "status", "", strings.Join(writer.CriterionStatuses, ", "))
	cmd.Flags().StringVar(&c.Description, "describe", "", "`TEXT` of the criterion; a new one needs it")
	cmd.Flags().StringVar(&command, "command", "", "a `COMMAND` that proves it")
	cmd.Flags().StringVar(&note, "note", "", "`TEXT` of what proves it")
	complete(cmd, "status", writer.CriterionStatuses...)
	return cmd
}

func (env environment) evidenceCommand(d *desk) *cobra.Command {
	var c writer.Check
	cmd := &cobra.Command{
		Use:   "evidence",
		Short: "Record what was verified in a task",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.write(cmd, d, "recorded", func(w *writer.Writer) error { return w.Evidence(d.task, c) })
		},
	}
	cmd.Flags().StringVar(&c.Command, "command", "", "the `COMMAND` that was run")
	cmd.Flags().StringVar(&c.Status, "status", "", strings.Join(writer.CheckStatuses, ", "))
	cmd.Flags().StringVar(&c.Summary, "summary", "", "`TEXT` of what was seen")
	cmd.Flags().StringVar(&c.ID, "id", "", "a `NAME` for the check (default: its command)")
	_ = cmd.MarkFlagRequired("status")
	complete(cmd, "status", writer.CheckStatuses...)
	return cmd
}

func (env environment) critiqueCommand(d *desk) *cobra.Command {
	var r writer.Review
	var findings []string
	cmd := &cobra.Command{
		Use:     "critique",
		Short:   "Record a review of a task",
		Example: `  flow-agents workflow critique --reviewer alice --verdict fail --summary "Not yet." --finding "high: no rate limit"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, f := range findings {
				severity, text, ok := strings.Cut(f, ":")
				if !ok {
					return usagef("--finding %q: write SEVERITY: TEXT, as in \"high: no rate limit\"", f)
				}
				r.Findings = append(r.Findings, writer.Finding{Severity: strings.ToLower(strings.TrimSpace(severity)), Description: text})
			}
			return env.write(cmd, d, "recorded", func(w *writer.Writer) error { return w.Critique(d.task, r) })
		},
	}
	cmd.Flags().StringVar(&r.Reviewer, "reviewer", "", "`NAME` of who reviewed")
	cmd.Flags().StringVar(&r.Verdict, "verdict", "", strings.Join(writer.Verdicts, ", "))
	cmd.Flags().StringVar(&r.Summary, "summary", "", "`TEXT` of the review in a sentence")
	cmd.Flags().StringArrayVar(&findings, "finding", nil, "`SEVERITY: TEXT` of what is open; repeatable")
	for _, name := range []string{"reviewer", "verdict", "summary"} {
		_ = cmd.MarkFlagRequired(name)
	}
	complete(cmd, "verdict", writer.Verdicts...)
	return cmd
}

func (env environment) doneCommand(d *desk) *cobra.Command {
	return &cobra.Command{
		Use:   "done",
		Short: "End a task that fulfils its criteria",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.write(cmd, d, "delivered", func(w *writer.Writer) error { return w.Done(d.task) })
		},
	}
}

func (env environment) cancelCommand(d *desk) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "cancel",
		Short: "End a task that will not be done",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.write(cmd, d, "canceled", func(w *writer.Writer) error { return w.Cancel(d.task, reason) })
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` of why")
	_ = cmd.MarkFlagRequired("reason")
	return cmd
}

// A taskLine is a task as status lists it.
type taskLine struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Phase  string `json:"phase"`
	Open   bool   `json:"open"`
	Next   string `json:"next"`
	// Owner is at work on it now; empty for nobody.
	Owner string `json:"owner"`
	Yours bool   `json:"yours"`
}

func (env environment) tasksCommand(d *desk) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "List the tasks of the work tree",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root := workspace.Open("").Root
			lines := env.tasks(d, root, all)
			if asJSON {
				return env.printJSON(map[string]any{"root": root, "tasks": lines})
			}
			printTasks(cmd.OutOrStdout(), lines, all)
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list what is finished, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (env environment) tasks(d *desk, root string, all bool) []taskLine {
	lines := []taskLine{}
	s, ok := workflow.Open(root, time.Now())
	if !ok {
		return lines
	}
	owners := map[string]string{}
	for _, p := range s.Live() {
		if owners[p.Slug] == "" {
			owners[p.Slug] = p.Owner
		}
	}
	mine := ""
	if actor, err := env.actor(d.actor, root); err == nil {
		if f, ok, _ := s.Find(actor, false); ok && f.Mine {
			mine = f.Task.Slug
		}
	}
	s.Tasks(func(t workflow.Task) bool {
		if t.Open() || all {
			lines = append(lines, taskLine{t.Slug, t.Status, t.Phase, t.Open(), t.Next.Summary, owners[t.Slug], t.Slug == mine})
		}
		return true
	})
	return lines
}

func printTasks(w io.Writer, lines []taskLine, all bool) {
	if len(lines) == 0 {
		what := "no open task; flow-agents workflow start NAME begins one"
		if all {
			what = "no task; flow-agents workflow start NAME begins one"
		}
		fmt.Fprintln(w, what)
	}
	for _, l := range lines {
		who := "nobody is at work on it"
		switch {
		case l.Yours:
			who = "yours"
		case l.Owner != "":
			who = l.Owner + " is at work on it"
		}
		fmt.Fprintf(w, "%s  %s, %s (%s)\n", l.Name, l.Status, l.Phase, who)
		if l.Next != "" {
			fmt.Fprintf(w, "    next: %s\n", l.Next)
		}
	}
}
