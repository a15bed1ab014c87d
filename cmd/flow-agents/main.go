// Command flow-agents installs policies for coding agents into repositories and
// homes, takes them out again, and says whether they are alive.
package main

import (
	"bufio"
	"os"

	"golang.org/x/term"

	"github.com/flow-agents/flow-agents/bundles"
)

// version is set by the linker for releases.
var version = "dev"

func main() {
	os.Exit(run(environment{
		args: os.Args[1:], stdin: bufio.NewReader(os.Stdin), stdout: os.Stdout, stderr: os.Stderr,
		terminal: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
		getenv:   os.Getenv, bundles: bundles.FS,
	}))
}
