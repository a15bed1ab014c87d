package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/flow-agents/flow-agents/internal/golden"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"build-bundles": main})
}

func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       golden.Updating(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SRC", root)
			for _, k := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOFLAGS", "GOPROXY"} {
				if v, ok := os.LookupEnv(k); ok {
					e.Setenv(k, v)
				}
			}
			if os.Getenv("GOCACHE") == "" {
				if d, err := os.UserCacheDir(); err == nil {
					e.Setenv("GOCACHE", filepath.Join(d, "go-build"))
				}
			}
			if os.Getenv("GOMODCACHE") == "" && os.Getenv("GOPATH") == "" {
				if h, err := os.UserHomeDir(); err == nil {
					e.Setenv("GOPATH", filepath.Join(h, "go"))
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"mutate": mutate, "copytree": copyTree, "recode": recode},
	})
}

// copyTree DIR copies the sources of the checkout to DIR: a clone, as far as a
// build can see.
func copyTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: copytree DIR")
	}
	src, dst := ts.Getenv("SRC"), ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(src, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, p)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if rel == ".git" || rel == "dist" || rel == ".cache" {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(dst, rel), 0o755)
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dst, rel), data, 0o644)
	}))
}

// mutate OLD NEW [OLD NEW]... copies testdata/host.cue to mutated.cue with each
// OLD, where it stands first, replaced by NEW. The file is a manifest of
// claude-code at one moment, so that lines stay where they are.
func mutate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args)%2 != 0 {
		ts.Fatalf("usage: mutate OLD NEW [OLD NEW]...")
	}
	data, err := os.ReadFile(filepath.Join(ts.Getenv("SRC"), "cmd", "build-bundles", "testdata", "host.cue"))
	ts.Check(err)
	text := string(data)
	for i := 0; i < len(args); i += 2 {
		if !strings.Contains(text, args[i]) {
			ts.Fatalf("host.cue has no %q", args[i])
		}
		text = strings.Replace(text, args[i], args[i+1], 1)
	}
	ts.Check(os.WriteFile(ts.MkAbs("mutated.cue"), []byte(text), 0o644))
}

// recode HOW FILE writes testdata/host.cue to FILE as an editor with other
// habits would: latin1 (with a letter that UTF-8 writes otherwise), bom or crlf.
func recode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: recode latin1|bom|crlf FILE")
	}
	data, err := os.ReadFile(filepath.Join(ts.Getenv("SRC"), "cmd", "build-bundles", "testdata", "host.cue"))
	ts.Check(err)
	text := string(data)
	switch args[0] {
	case "latin1":
		text = strings.Replace(text, `"Claude Code"`, "\"Claud\xe9 Code\"", 1)
	case "bom":
		text = "\ufeff" + text
	case "crlf":
		text = strings.ReplaceAll(text, "\n", "\r\n")
	default:
		ts.Fatalf("recode knows latin1, bom and crlf, not %s", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}
