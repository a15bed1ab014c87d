package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flow-agents/flow-agents/install"
	"github.com/flow-agents/flow-agents/install/atomicfile"
	"github.com/flow-agents/flow-agents/install/bundle"
	"github.com/flow-agents/flow-agents/install/source"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // a check failed, or something was refused
	exitUsage  = 2
)

// errFailed makes the exit code 1 when what is wrong has been printed already.
var errFailed = errors.New("failed")

// An environment is all that a command sees of the outside.
type environment struct {
	args           []string
	stdin          *bufio.Reader
	stdout, stderr io.Writer
	// terminal: a person can read questions and answer them.
	terminal bool
	getenv   func(string) string
	bundles  fs.FS
	// printed: the one document of --json is on standard output already.
	printed *bool
}

// run executes one command line and returns the exit code.
func run(env environment) int {
	out := &checked{w: env.stdout}
	env.stdout, env.printed = out, new(bool)
	code := env.execute()
	if out.err != nil {
		fmt.Fprintf(env.stderr, "flow-agents: the output is not complete: %v\n", out.err)
		return exitFailed
	}
	return code
}

// checked is a writer that remembers its first error, so that no caller has to.
type checked struct {
	w   io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

func (env environment) execute() int {
	cmd := env.root()
	cmd.SetArgs(env.args)
	cmd.SetIn(env.stdin)
	cmd.SetOut(env.stdout)
	cmd.SetErr(env.stderr)
	err := cmd.Execute()
	if err == nil {
		return exitOK
	}
	if errors.Is(err, errFailed) {
		return exitFailed
	}
	if env.wantsJSON() && !*env.printed {
		_ = env.printJSON(map[string]any{"ok": false, "error": newFailure(err)}) // run looks at it
	}
	fmt.Fprintf(env.stderr, "flow-agents: %v\n", err)
	var usage *install.UsageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// wantsJSON reads the command line as far as it goes, for errors in it.
func (env environment) wantsJSON() bool {
	for _, arg := range env.args {
		switch arg {
		case "--json", "--json=true":
			return true
		case "--":
			return false
		}
	}
	return false
}

func (env environment) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "flow-agents",
		Short: "Keep coding agents honest, on whatever host they run",
		Long: `flow-agents installs policies for coding agents: it joins hooks with the
config of an agent host, byte for byte beside what is there, and takes them out
again. The hooks call one small program, flow-agents-hook.

Exit codes: 0 done or alive, 1 refused, dead, changed or unknown, 2 wrong usage.`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("flow-agents {{.Version}}\n")
	root.SetFlagErrorFunc(usage)
	root.AddCommand(env.initCommand(), env.uninstallCommand(), env.upgradeCommand(), env.statusCommand(), env.workflowCommand(), env.versionCommand())
	markUsage(root)
	return root
}

// markUsage makes wrong arguments of a command and those below it errors of the
// command line.
func markUsage(c *cobra.Command) {
	args := c.Args
	c.Args = func(cmd *cobra.Command, given []string) error { return usage(cmd, args(cmd, given)) }
	for _, sub := range c.Commands() {
		markUsage(sub)
	}
}

// usage marks an error as one of the command line.
func usage(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return &install.UsageError{Msg: fmt.Sprintf("%v (see %s --help)", err, cmd.CommandPath())}
}

func usagef(format string, args ...any) error {
	return &install.UsageError{Msg: fmt.Sprintf(format, args...)}
}

func (env environment) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "flow-agents %s %s/%s\n", version, runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// A place is where a command works: the flags that say so.
type place struct {
	dest   string
	global bool
	scope  string
}

func (p *place) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.dest, "dest", "", "the project `DIR` (default: the one that the current folder is in)")
	cmd.Flags().BoolVar(&p.global, "global", false, "for the user, in every project (same as --scope user)")
	cmd.Flags().StringVar(&p.scope, "scope", "", "project (committed), local (this machine only) or user")
	complete(cmd, "scope", bundle.Project, bundle.Local, bundle.User)
}

// resolve returns the scope, empty if none is given, and the project's root.
func (p *place) resolve() (scope, root string, err error) {
	scope = p.scope
	if !slices.Contains([]string{"", bundle.Project, bundle.Local, bundle.User}, scope) {
		return "", "", usagef("--scope %s is not one of project, local, user", scope)
	}
	if p.global {
		if p.dest != "" {
			return "", "", usagef("--dest is for a project and --global for the user; give one of them")
		}
		if scope != "" && scope != bundle.User {
			return "", "", usagef("--global and --scope %s contradict each other", scope)
		}
		scope = bundle.User
	}
	if p.dest == "" {
		return scope, workspace.Open("").Root, nil
	}
	if info, err := os.Stat(p.dest); err != nil || !info.IsDir() {
		return "", "", usagef("--dest %s: there is no such folder; --dest is an existing project", p.dest)
	}
	root, err = filepath.Abs(p.dest)
	return scope, root, err
}

// installer sets up an installer: its bundles and programs come with this
// program, or from a folder that a release was unpacked to.
func (env environment) installer(from, hook string) (*install.Installer, error) {
	home, err := env.home()
	if err != nil {
		return nil, err
	}
	in := &install.Installer{
		Bundles: env.bundles, Home: home, Machine: filepath.Join(home, ".flow-agents"),
		Getenv: env.getenv, Files: atomicfile.OS, Version: version,
	}
	if dir := env.getenv("FLOW_AGENTS_HOME"); dir != "" {
		if in.Machine, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
	}
	if in.Self, err = os.Executable(); err != nil {
		return nil, err
	}
	beside := filepath.Dir(in.Self)
	if real, err := filepath.EvalSymlinks(in.Self); err == nil {
		beside = filepath.Dir(real)
	}
	if path := filepath.Join(beside, program("flow-agents-hook")); isFile(path) {
		in.Hook = path
	}
	if from != "" {
		src, err := source.Open(from)
		if err != nil {
			return nil, err
		}
		src.Use(in)
	}
	if hook != "" {
		in.Hook = hook
	}
	return in, nil
}

func (env environment) home() (string, error) {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	home := env.getenv(name)
	if !filepath.IsAbs(home) {
		return "", usagef("%s is %q; it must be the absolute path of your home", name, home)
	}
	return filepath.Clean(home), nil
}

func program(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func complete(cmd *cobra.Command, flag string, values ...string) {
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeHosts offers the ids of the bundles.
func (env environment) completeHosts(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("host", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		all, err := bundle.LoadAll(env.bundles)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var ids []string
		for _, b := range all {
			ids = append(ids, b.Target.ID+"\t"+b.Target.Title)
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	})
}

func (env environment) printJSON(v any) error {
	*env.printed = true
	enc := json.NewEncoder(env.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
