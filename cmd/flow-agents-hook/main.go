// Command flow-agents-hook decides one event of an agent host: the payload
// comes on standard input, the answer goes out in the host's own form.
package main

import (
	"os"
	"strings"

	"github.com/flow-agents/flow-agents/runtime/hook"
	"github.com/flow-agents/flow-agents/runtime/tables"
)

// version is set by the linker for releases.
var version = "devel"

const usage = `flow-agents-hook decides one event of an agent host.

usage:
  flow-agents-hook <host> <native-event>   payload on standard input
  flow-agents-hook --version
  flow-agents-hook --contract-version
  flow-agents-hook help

Agent hosts start it from the config that "flow-agents init" writes.
`

func main() { os.Exit(run(os.Args[1:])) }

// run returns the exit code. It is never 2 for a wrong call: to most hosts
// that would be a refusal.
func run(args []string) int {
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	switch first {
	case "help", "-h", "--help":
		os.Stdout.WriteString(usage + "\nhosts: " + strings.Join(tables.IDs[:], " ") + "\n")
		return 0
	case "version", "--version":
		os.Stdout.WriteString("flow-agents-hook " + version + "\n")
		return 0
	case "--contract-version":
		os.Stdout.WriteString(`{"contract_version":"` + tables.ContractVersion + `","runner":"flow-agents-hook"}` + "\n")
		return 0
	}
	switch {
	case len(args) != 2 || strings.HasPrefix(first, "-"):
		os.Stderr.WriteString(usage)
		return 1
	case first == "run" || first == "engine" || first == "serve":
		os.Stderr.WriteString("flow-agents-hook: this release has no \"" + first + "\"; see flow-agents-hook help\n")
		return 1
	}
	return hook.Run(first, args[1], hook.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Exit: os.Exit})
}
