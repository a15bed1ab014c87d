package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flow-agents/flow-agents/install"
	"github.com/flow-agents/flow-agents/install/bundle"
)

// change holds the flags of the commands that write.
type change struct {
	place
	hosts   []string
	dryRun  bool
	json    bool
	yes     bool
	mode    string
	hook    string
	surface string
	from    string
	// questions are what a dry run would have asked.
	questions []string
}

func (env environment) flags(cmd *cobra.Command, c *change) {
	c.place.flags(cmd)
	cmd.Flags().StringSliceVar(&c.hosts, "host", nil, "the host `ID`, or several: a,b; may be given more than once")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&c.json, "json", false, "print the result as JSON")
	env.completeHosts(cmd)
	cmd.Flags().BoolVar(&c.yes, "yes", false, "ask nothing: take what was found")
}

func (env environment) initCommand() *cobra.Command {
	var c change
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Install the hooks for an agent host",
		Long: `init joins our hooks with the config of an agent host. All else in the file
stays as it is, byte for byte, and uninstall brings the original bytes back.
Without --host it looks for the host that runs it, then for config folders in
the project, then in your home. Running it again changes nothing.`,
		Example: `  flow-agents init --host claude-code
  flow-agents init --host codex --global
  flow-agents init --host kiro --surface both --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return env.init(cmd, &c) },
	}
	env.flags(cmd, &c)
	cmd.Flags().StringVar(&c.mode, "mode", "", "enforce, or observe: decide and record, never block")
	cmd.Flags().StringVar(&c.hook, "hook", "", "`PATH` of the flow-agents-hook to install (default: the one beside this program)")
	cmd.Flags().StringVar(&c.surface, "surface", "", "the surface `ID` of a host that has several, or both")
	cmd.Flags().StringVar(&c.from, "from", "", "take bundles and programs from `DIR`: a release, or an unpacked archive of one")
	complete(cmd, "mode", install.Enforce, install.Observe)
	return cmd
}

func (env environment) init(cmd *cobra.Command, c *change) error {
	in, err := env.installer(c.from, c.hook)
	if err != nil {
		return err
	}
	req, err := c.request()
	if err != nil {
		return err
	}
	if len(req.Hosts) == 0 {
		if req.Hosts, err = env.detect(cmd, in, req, c); err != nil {
			return err
		}
	}
	if !c.yes && env.terminal {
		if req.Surface, err = env.askSurface(cmd, in, req, c); err != nil {
			return err
		}
	}
	plan, err := in.Init(req, c.dryRun)
	return env.report(cmd, in, c, plan, err)
}

func (c *change) request() (install.Request, error) {
	scope, root, err := c.resolve()
	if scope == "" {
		scope = bundle.Project
	}
	return install.Request{Root: root, Scope: scope, Hosts: c.hosts, Surface: c.surface, Mode: c.mode}, err
}

// detect names the hosts to install for when none was given. A dry run asks
// nothing, and notes what it would have asked.
func (env environment) detect(cmd *cobra.Command, in *install.Installer, req install.Request, c *change) ([]string, error) {
	root := req.Root
	if req.Scope == bundle.User {
		root = ""
	}
	hosts, how, err := in.Detect(root)
	names := strings.Join(hosts, ", ")
	question := fmt.Sprintf("Install for %s (%s) into %s? [Y/n] ", names, how, where(req))
	switch {
	case err != nil:
		return nil, err
	case len(hosts) == 0:
		all, err := bundle.LoadAll(env.bundles)
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, b := range all {
			ids = append(ids, b.Target.ID)
		}
		return nil, usagef("no agent host was found; name one with --host: %s", strings.Join(ids, ", "))
	case c.yes:
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", names, how)
		return hosts, nil
	case c.dryRun:
		c.questions = append(c.questions, strings.TrimSpace(question)+" (--yes, or --host "+strings.Join(hosts, ",")+", answers it)")
		return hosts, nil
	case !env.terminal:
		return nil, usagef("%s: %s; say --yes to install for that, or name a host with --host", names, how)
	}
	ok, err := env.answer(cmd, question)
	if err != nil {
		return nil, err
	}
	if ok != "" && !strings.HasPrefix(strings.ToLower(ok), "y") {
		return nil, errors.New("nothing was changed; name a host with --host")
	}
	return hosts, nil
}

func where(req install.Request) string {
	if req.Scope == bundle.User {
		return "your home"
	}
	return req.Root
}

func (env environment) askSurface(cmd *cobra.Command, in *install.Installer, req install.Request, c *change) (string, error) {
	open, err := in.Surfaces(req)
	if err != nil || len(open) == 0 {
		return req.Surface, err
	}
	if len(open) > 1 {
		return "", usagef("%s have several surfaces each; install them one at a time", strings.Join(slices.Sorted(maps.Keys(open)), ", "))
	}
	for host, choice := range open {
		question := fmt.Sprintf("Which surface of %s: %s? [%s] ", host, choice, choice.Options[0])
		if c.dryRun {
			c.questions = append(c.questions, question+"(--surface answers it)")
			return req.Surface, nil
		}
		got, err := env.answer(cmd, question)
		if err != nil {
			return "", err
		}
		if got == "" {
			got = choice.Options[0]
		}
		return got, nil
	}
	return "", nil
}

// answer asks one question on the terminal.
func (env environment) answer(cmd *cobra.Command, question string) (string, error) {
	fmt.Fprint(cmd.ErrOrStderr(), question)
	line, err := env.stdin.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("no answer: %w", err)
	}
	return strings.TrimSpace(line), nil
}

func (env environment) uninstallCommand() *cobra.Command {
	var c change
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take the hooks out again",
		Long: `uninstall brings back the original bytes of every file that is still as init
left it. From a file that was changed since, it takes only our hooks out. Without
--host it does so for every host of the scope. What sessions recorded, your own
settings and the programs in ~/.flow-agents/bin stay; it lists them, with the
command that removes each.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := env.installer("", "")
			if err != nil {
				return err
			}
			req, err := c.request()
			if err != nil {
				return err
			}
			plan, err := in.Uninstall(req, c.dryRun)
			return env.report(cmd, in, &c, plan, err)
		},
	}
	env.flags(cmd, &c)
	return cmd
}

func (env environment) upgradeCommand() *cobra.Command {
	var c change
	var rollback bool
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Bring installed hooks and programs up to this version",
		Long: `upgrade does what init does, for every host that is installed in the scope: only
our own hooks change. The state before it is kept; --rollback brings it back.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rollback && (c.from != "" || c.hook != "") {
				return usagef("--rollback takes what was kept; it goes with neither --from nor --hook")
			}
			in, err := env.installer(c.from, c.hook)
			if err != nil {
				return err
			}
			req, err := c.request()
			if err != nil {
				return err
			}
			do := in.Init
			if rollback {
				do = in.Rollback
			}
			plan, err := do(req, c.dryRun)
			return env.report(cmd, in, &c, plan, err)
		},
	}
	env.flags(cmd, &c)
	cmd.Flags().StringVar(&c.from, "from", "", "take bundles and programs from `DIR`: a release, or an unpacked archive of one")
	cmd.Flags().StringVar(&c.hook, "hook", "", "`PATH` of the flow-agents-hook to install (default: the one beside this program)")
	cmd.Flags().BoolVar(&rollback, "rollback", false, "undo the last upgrade")
	return cmd
}
