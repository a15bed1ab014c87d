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

	"github.com/spf13/cobra"

	"github.com/flow-agents/flow-agents/install"
	"github.com/flow-agents/flow-agents/install/atomicfile"
	"github.com/flow-agents/flow-agents/install/bundle"
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
}

// run executes one command line and returns the exit code.
func run(env environment) int {
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
	fmt.Fprintf(env.stderr, "flow-agents: %v\n", err)
	var usage *install.UsageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

func (env environment) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "flow-agents",
		Short: "Keep coding agents honest, on whatever host they run",
		Long: `flow-agents installs policies for coding agents: it joins hooks with the
config of an agent host, byte for byte beside what is there, and takes them out
again. The hooks call one small program, flow-agents-hook.

Exit codes: 0 done or alive, 1 refused or dead, 2 wrong usage.`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("flow-agents {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.AddCommand(env.initCommand(), env.uninstallCommand(), env.upgradeCommand(), env.statusCommand(), env.versionCommand())
	for _, c := range root.Commands() {
		args := c.Args
		c.Args = func(cmd *cobra.Command, given []string) error { return usage(args(cmd, given)) }
	}
	rootArgs := root.Args
	root.Args = func(cmd *cobra.Command, given []string) error { return usage(rootArgs(cmd, given)) }
	return root
}

// usage marks an error as one of the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &install.UsageError{Msg: err.Error() + " (see flow-agents --help)"}
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

// resolve returns the scope and the project's root.
func (p *place) resolve(in *install.Installer) (scope, root string, err error) {
	scope = p.scope
	if p.global {
		if p.dest != "" {
			return "", "", usagef("--dest is for a project and --global for the user; give one of them")
		}
		if scope != "" && scope != bundle.User {
			return "", "", usagef("--global and --scope %s contradict each other", scope)
		}
		scope = bundle.User
	}
	if scope == "" {
		scope = bundle.Project
	}
	root, err = p.root(in)
	return scope, root, err
}

func (p *place) root(in *install.Installer) (string, error) {
	dir, err := filepath.Abs(p.dest)
	if err != nil {
		return "", err
	}
	if p.dest != "" {
		return dir, nil
	}
	return in.Root(dir), nil
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
		Getenv: env.getenv, Files: atomicfile.OS,
	}
	if dir := env.getenv("FLOW_AGENTS_HOME"); dir != "" {
		if !filepath.IsAbs(dir) {
			return nil, usagef("FLOW_AGENTS_HOME is %q; it must be an absolute path", dir)
		}
		in.Machine = filepath.Clean(dir)
	}
	if in.Self, err = os.Executable(); err != nil {
		return nil, err
	}
	beside := filepath.Dir(in.Self)
	if real, err := filepath.EvalSymlinks(in.Self); err == nil {
		beside = filepath.Dir(real)
	}
	if from != "" {
		tree, err := fromDir(from)
		if err != nil {
			return nil, err
		}
		in.Bundles = tree
		if program := filepath.Join(from, program("flow-agents")); isFile(program) {
			in.Self = program
		}
		if isFile(filepath.Join(from, program("flow-agents-hook"))) {
			beside = from
		}
	}
	in.Hook = hook
	if hook == "" {
		if path := filepath.Join(beside, program("flow-agents-hook")); isFile(path) {
			in.Hook = path
		}
	}
	return in, nil
}

// fromDir returns the bundles of a folder: a release tree, or bundles alone.
func fromDir(dir string) (fs.FS, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, usagef("--from %s: not a folder", dir)
	}
	if tree := filepath.Join(dir, "bundles"); exists(tree) {
		dir = tree
	}
	return os.DirFS(dir), nil
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

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
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

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
