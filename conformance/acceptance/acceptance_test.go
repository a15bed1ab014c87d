//go:build acceptance

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/conformance/observed"
	"github.com/flow-agents/flow-agents/generators/load"
)

// TestAcceptance runs the real hosts. The environment chooses:
//
//	HOST          one host (default: every host that has a folder in testdata)
//	CASE          one case
//	HOST_VERSION  a release other than the manifest's, or latest
//	RECORD        not empty: update conformance/observed
func TestAcceptance(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	desc, err := load.Load(os.DirFS(root), load.Options{})
	require.NoError(t, err)
	tools, err := BuildTools(t.Context(), root, t.TempDir())
	require.NoError(t, err)

	only := os.Getenv("HOST")
	known := false
	for _, h := range desc.Catalog.Hosts {
		if only != "" && h.ID != only {
			continue
		}
		known = true
		t.Run(h.ID, func(t *testing.T) {
			r := &Rig{
				ID: h.ID, Driver: h.Driver, Tools: tools, Catalog: desc.Catalog,
				Data: os.DirFS("testdata"), LogDir: filepath.Join(root, "dist", "acceptance", h.ID), Deadline: 2 * time.Minute,
			}
			runHost(t, r, root)
		})
	}
	require.True(t, known, "no manifest describes the host %q", only)
}

func runHost(t *testing.T, r *Rig, root string) {
	skip := func(format string, args ...any) {
		reason := fmt.Sprintf(format, args...)
		fmt.Printf("\n%s: skipped: %s\n", r.ID, reason)
		t.Skip(reason)
	}
	if r.Driver == nil {
		skip("its manifest has no driver")
	}
	if _, err := os.Stat(filepath.Join("testdata", r.ID, "host.json")); err != nil {
		skip("acceptance doesn't speak its vocabulary yet: testdata/%s/host.json is missing", r.ID)
	}
	var err error
	r.Host, err = LoadHost(r.Data, r.ID)
	require.NoError(t, err)
	cases, err := LoadCases(r.Data, r.ID, r.Host)
	require.NoError(t, err)
	if only := os.Getenv("CASE"); only != "" {
		cases = slices.DeleteFunc(cases, func(c Case) bool { return c.Name != only })
		require.NotEmpty(t, cases, "no case is called %q", only)
	}
	cache, err := CacheDir()
	require.NoError(t, err)
	version := os.Getenv("HOST_VERSION")
	if r.Program, err = InstallHost(t.Context(), r.ID, r.Driver, version, cache); err != nil {
		skip("%v", err)
	}
	t.Logf("%s %s (%s)", r.Driver.NPM.Package, r.Program.Version, r.Program.Banner)
	require.NoError(t, os.RemoveAll(r.LogDir))

	var seen []Seen
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			got, err := r.Run(t.Context(), c)
			if err != nil {
				got = append(got, Seen{Cell: "case:" + c.Name, Err: err})
			}
			for _, g := range got {
				if g.Err != nil {
					t.Errorf("%s: %v", g.Cell, g.Err)
				}
			}
			seen = append(seen, got...)
		})
	}
	run := Observe(r, seen, time.Now())
	require.NoError(t, Print(os.Stdout, r.ID, run))
	compare(t, r, root, run)
}

// compare writes dist/observed/<host>.json and holds it against the committed
// file. A result that changed fails; other words for the same result don't.
func compare(t *testing.T, r *Rig, root string, run observed.Run) {
	name := r.ID + ".json"
	dir := filepath.Join(root, "conformance", "observed")
	file, err := observed.Read(os.DirFS(dir), name)
	if os.IsNotExist(err) {
		file, err = observed.File{SchemaVersion: observed.SchemaVersion, Host: r.ID}, nil
	}
	require.NoError(t, err)

	partial := os.Getenv("CASE") != ""
	old, known := file.Against(run)
	ds := observed.Compare(old, run)
	if partial {
		ds = slices.DeleteFunc(ds, func(d observed.Difference) bool { return d.New == observed.Cell{} })
	}
	merged, err := file.Merge(run, partial).Encode()
	require.NoError(t, err)
	dist := filepath.Join(root, "dist", "observed")
	require.NoError(t, os.MkdirAll(dist, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dist, name), merged, 0o644))

	if os.Getenv("RECORD") != "" {
		if t.Failed() {
			t.Errorf("not recorded, because cells failed: conformance/observed/%s", name)
			return
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), merged, 0o644))
		fmt.Printf("\nrecorded in conformance/observed/%s\n", name)
		return
	}
	if !known {
		fmt.Printf("\nno committed observation of %s on %s; make acceptance-record HOST=%s writes it\n", run.Package, run.Platform, r.ID)
		return
	}
	PrintDifferences(os.Stdout, old, ds)
	var changed []string
	for _, d := range ds {
		if d.Contradicts() && old.Version == run.Version {
			changed = append(changed, d.ID)
		}
	}
	if len(changed) > 0 {
		t.Errorf("%s contradict conformance/observed/%s; if that is right, run: make acceptance-record HOST=%s", strings.Join(changed, ", "), name, r.ID)
	}
}
