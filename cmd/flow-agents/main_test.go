package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/model"
	"github.com/flow-agents/flow-agents/generators/release"
	"github.com/flow-agents/flow-agents/install/bundle"
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

// programText is a stand-in for a program of a release.
func programText(name, version string) []byte {
	return fmt.Appendf(nil, "#!/bin/sh\ncase $1 in --contract-version) echo '{\"contract_version\":\"1.0\"}' ;; *) echo %s %s ;; esac\n", name, version)
}

// standIns compiles stand-ins.
type standIns struct{ version string }

func (s standIns) Compile(p release.Platform, dir string) error {
	for _, name := range []string{"flow-agents", "flow-agents-hook"} {
		file := name
		if p.OS == "windows" {
			file += ".exe"
		}
		if err := os.WriteFile(filepath.Join(dir, file), programText(name, s.version), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// newerRelease lays out a release as build-bundles does, with the test's bundles
// in a newer version.
func newerRelease(t *testing.T, bundles string) string {
	t.Helper()
	c := &model.Catalog{}
	var text fileset.Set
	tree := os.DirFS(bundles)
	require.NoError(t, fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, path)
		text.Add(path, bytes.ReplaceAll(data, []byte(`"timeout": 30`), []byte(`"timeout": 45`)))
		if host, name, _ := strings.Cut(path, "/"); name == bundle.Name {
			c.Hosts = append(c.Hosts, model.Host{ID: host, Title: host})
		}
		return err
	}))
	out := t.TempDir()
	_, err := release.Build(c, text, release.Options{
		Out: out, Version: "2.0.0", Platforms: []release.Platform{{OS: runtime.GOOS, Arch: runtime.GOARCH}},
		Compiler: standIns{"2.0.0"}, Step: func(string, ...any) {},
	})
	require.NoError(t, err)
	return out
}

func TestScripts(t *testing.T) {
	bundles, err := filepath.Abs("../../install/testdata/bundles")
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := filepath.Abs("../../bundles")
	if err != nil {
		t.Fatal(err)
	}
	newer := newerRelease(t, bundles)
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
			env.Setenv("SHIPPED", shipped)
			// A stand-in for the hook binary.
			hook := filepath.Join(env.WorkDir, "hook")
			env.Setenv("HOOK", hook)
			env.Setenv("RELEASE", newer)
			env.Setenv("PLATFORM", runtime.GOOS+"_"+runtime.GOARCH)
			return os.WriteFile(hook, programText("flow-agents-hook", "1.2.3"), 0o755)
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
