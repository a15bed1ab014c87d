package release

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/model"
)

// fake writes programs that say which platform they are for.
type fake struct{ fail string }

func (f fake) Compile(p Platform, dir string) error {
	if p.String() == f.fail {
		return errors.New("no such processor")
	}
	for _, name := range programs {
		if err := os.WriteFile(filepath.Join(dir, p.exe(name)), []byte(name+" for "+p.String()), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func catalog() (*model.Catalog, fileset.Set) {
	h := model.Host{ID: "acme-code", Title: "Acme Code", Tested: model.Tested{Package: "acme", Min: "1.0.0", Max: "2.0.0"}, Declaration: model.Declaration{Level: "L1", SurfaceLevel: "L3"}}
	var s fileset.Set
	s.Add("acme-code/bundle.json", []byte("{}\n"))
	s.Add("matrix.md", []byte("# Matrix\n"))
	return &model.Catalog{Hosts: []model.Host{h}}, s
}

func build(t *testing.T, out string, platforms ...Platform) *Summary {
	t.Helper()
	c, text := catalog()
	s, err := Build(c, text, Options{Out: out, Version: "1.2.3", Platforms: platforms, Compiler: fake{}, Step: func(string, ...any) {}})
	require.NoError(t, err)
	return s
}

func TestTreeAndChecksums(t *testing.T) {
	out := t.TempDir()
	build(t, out, Platforms...)
	sums := map[string]string{}
	data, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		hash, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, ok)
		sums[name] = hash
	}
	for _, want := range []string{"release.json", "flow-agents-bundle_acme-code.tar.gz", "flow-agents_linux_amd64.tar.gz", "flow-agents_windows_arm64.zip", "bin/darwin_arm64/flow-agents", "bin/windows_amd64/flow-agents-hook.exe"} {
		got, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(want)))
		require.NoError(t, err)
		require.Equal(t, sum(got), sums[want], want)
	}
	require.Len(t, sums, 1+1+6+12)
	require.FileExists(t, filepath.Join(out, "bundles", "matrix.md"))

	var s Summary
	data, err = os.ReadFile(filepath.Join(out, "release.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &s))
	require.Equal(t, "1.2.3", s.Version)
	require.Equal(t, []HostSummary{{"acme-code", "Acme Code", "acme 1.0.0 to 2.0.0", "L1", "L3", "observed", "flow-agents-bundle_acme-code.tar.gz"}}, s.Hosts)
}

func TestTwoFoldersAreByteIdentical(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	build(t, a, Platforms...)
	build(t, b, Platforms...)
	build(t, b, Platforms...)
	x, err := os.ReadFile(filepath.Join(a, "SHA256SUMS"))
	require.NoError(t, err)
	y, err := os.ReadFile(filepath.Join(b, "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, string(x), string(y))
}

// A smaller build over a larger one leaves nothing that the checksums lack.
func TestNothingStaleStays(t *testing.T) {
	out := t.TempDir()
	build(t, out, Platforms...)
	build(t, out, Platform{"linux", "amd64"})
	require.NoFileExists(t, filepath.Join(out, "flow-agents_darwin_arm64.tar.gz"))
	require.NoDirExists(t, filepath.Join(out, "bin", "darwin_arm64"))
	require.FileExists(t, filepath.Join(out, "bin", "linux_amd64", "flow-agents"))
}

func TestCompileErrorNamesThePlatform(t *testing.T) {
	c, text := catalog()
	_, err := Build(c, text, Options{Out: t.TempDir(), Platforms: Platforms, Compiler: fake{"darwin/arm64"}, Step: func(string, ...any) {}})
	require.EqualError(t, err, "compile for darwin/arm64: no such processor")
}

func TestParsePlatform(t *testing.T) {
	p, err := ParsePlatform("linux/arm64")
	require.NoError(t, err)
	require.Equal(t, Platform{"linux", "arm64"}, p)
	for _, s := range []string{"", "linux", "linux/386", "plan9/amd64", "linux/amd64/v3"} {
		_, err := ParsePlatform(s)
		require.ErrorContains(t, err, "use one of linux/amd64", s)
	}
}

func TestVersionIsAWord(t *testing.T) {
	for _, v := range []string{"1 2", "1'", "a\nb"} {
		require.Error(t, (&GoCompiler{Version: v}).Prepare())
	}
	require.NoError(t, (&GoCompiler{Version: "1.2.3-rc.1+abc"}).Prepare())
}
