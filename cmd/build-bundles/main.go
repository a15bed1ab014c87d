// Build-bundles compiles the CUE description of policies and hosts into
// bundles, and the hook binary that decides every event.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// errFailed says that the command has already told what is wrong.
var errFailed = errors.New("failed")

// usage marks an error of the command line itself.
type usage struct{ error }

func main() { os.Exit(run()) }

func run() int {
	cmd := newCommand()
	err := cmd.Execute()
	var u usage
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFailed):
		return 1
	case errors.As(err, &u):
		fmt.Fprintf(os.Stderr, "build-bundles: %v\nRun build-bundles --help for the command line.\n", err)
		return 2
	}
	fmt.Fprintf(os.Stderr, "build-bundles: %v\n", err)
	return 1
}

func newCommand() *cobra.Command {
	var b build
	cmd := &cobra.Command{
		Use:   "build-bundles",
		Short: "Compile policies and host manifests into bundles and a hook binary",
		Long: `Build-bundles validates the CUE description in schema/ and manifests/, renders
one bundle for each host (host config, wrapper, install script, fixtures,
declaration, docs), compiles flow-agents and flow-agents-hook, and writes a
release tree with archives and checksums.

Inside a checkout it also refreshes what is committed: bundles/ and the tables
in runtime/tables.`,
		Example: `  build-bundles                       everything, for all platforms
  build-bundles --text-only           no compiling: refresh what is committed
  build-bundles --text-only --check   compare only; exit 1 if something differs
  build-bundles --host codex --platform linux/amd64
  build-bundles vet manifests/codex.cue`,
		Args:          noArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage{err} })
	b.flags(cmd)
	cmd.AddCommand(vetCommand(), fmtCommand(), listCommand(), docsCommand(), schemaCommand(), newHostCommand())
	return cmd
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage{fmt.Errorf("unexpected argument %q", args[0])}
	}
	return nil
}
