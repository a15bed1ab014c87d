package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/bundles"
	"github.com/flow-agents/flow-agents/install/bundle"
)

// TestEmbeddedBundles installs every bundle that the program carries, in every
// scope that it has, and takes it out again.
func TestEmbeddedBundles(t *testing.T) {
	all, err := bundle.LoadAll(bundles.FS)
	require.NoError(t, err)
	for _, b := range all {
		for _, scope := range []string{bundle.Project, bundle.Local, bundle.User} {
			if !has(b, scope) {
				continue
			}
			t.Run(b.Target.ID+" "+scope, func(t *testing.T) {
				dir := t.TempDir()
				home, project, hook := filepath.Join(dir, "home"), filepath.Join(dir, "project"), filepath.Join(dir, "hook")
				for _, d := range []string{home, project} {
					require.NoError(t, os.Mkdir(d, 0o755))
				}
				require.NoError(t, os.WriteFile(hook, []byte("#!/bin/sh\necho flow-agents-hook stub\n"), 0o755))
				do := func(args ...string) (map[string]any, int) {
					var out, errs bytes.Buffer
					code := run(environment{
						args: append(args, "--dest", project, "--json"), stdin: bufio.NewReader(strings.NewReader("")), stdout: &out, stderr: &errs,
						getenv: func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] }, bundles: bundles.FS,
					})
					var got map[string]any
					require.NoError(t, json.Unmarshal(out.Bytes(), &got), "%s%s", &out, &errs)
					return got, code
				}
				for _, changed := range []bool{true, false} {
					got, code := do("init", "--host", b.Target.ID, "--scope", scope, "--hook", hook, "--surface", "both")
					require.Zero(t, code, "%v", got)
					require.Equal(t, changed, got["changed"])
				}
				got, code := do("status")
				require.Zero(t, code, "%v", got)
				require.Len(t, got["hosts"], 1)
				_, code = do("uninstall", "--scope", scope)
				require.Zero(t, code)
				left, err := os.ReadDir(project)
				require.NoError(t, err)
				require.Empty(t, left)
				left, err = os.ReadDir(home)
				require.NoError(t, err)
				require.Len(t, left, 1) // the machine's own folder
			})
		}
	}
}

func has(b *bundle.Bundle, scope string) bool {
	for _, f := range b.Files {
		if _, ok := f.Scopes[scope]; ok && f.Install {
			return true
		}
	}
	return false
}
