package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// bundlesVar names the tree of bundles that the command under test carries.
const bundlesVar = "FLOW_AGENTS_TEST_BUNDLES"

// terminalVar says that a person is there.
const terminalVar = "FLOW_AGENTS_TEST_TERMINAL"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"flow-agents": func() {
			os.Exit(run(environment{
				args: os.Args[1:], stdin: bufio.NewReader(os.Stdin), stdout: os.Stdout, stderr: os.Stderr,
				terminal: os.Getenv(terminalVar) != "",
				getenv:   os.Getenv, bundles: os.DirFS(os.Getenv(bundlesVar)),
			}))
		},
	})
}

func TestScripts(t *testing.T) {
	bundles, err := filepath.Abs("../../install/testdata/bundles")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			env.Setenv(bundlesVar, bundles)
			env.Setenv("BUNDLES", bundles)
			// A stand-in for the hook binary.
			hook := filepath.Join(env.WorkDir, "hook")
			env.Setenv("HOOK", hook)
			return os.WriteFile(hook, []byte("#!/bin/sh\necho flow-agents-hook 1.2.3\n"), 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exit": exitCode,
		},
	})
}

// exitCode runs a command that has to end with a code: exit CODE COMMAND...
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit code command [args...]")
	}
	got := fmt.Sprint(ts.Exec(args[1], args[2:]...))
	if want := "exit status " + args[0]; got != want {
		ts.Fatalf("%v: %s, want %s", args[1:], got, want)
	}
}
