package source

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/install"
)

func TestOpen(t *testing.T) {
	exe := ""
	if runtime.GOOS == "windows" {
		exe = ".exe"
	}
	platform := runtime.GOOS + "_" + runtime.GOARCH
	tests := map[string]struct {
		files               []string
		bundles, hook, self string // below the folder
		err                 string
		notes               []string
	}{
		"release": {files: []string{"bundles/acme/bundle.json", "bin/" + platform + "/flow-agents" + exe, "bin/" + platform + "/flow-agents-hook" + exe},
			bundles: "bundles/acme", hook: "bin/" + platform + "/flow-agents-hook" + exe, self: "bin/" + platform + "/flow-agents" + exe},
		"archive of programs": {files: []string{"flow-agents" + exe, "flow-agents-hook" + exe}, hook: "flow-agents-hook" + exe, self: "flow-agents" + exe,
			notes: []string{"holds programs only: the programs come from there, the hooks from this program's own bundles."}},
		"archive of a bundle": {files: []string{"bundle.json"}, bundles: ".", notes: []string{"holds no flow-agents-hook for"}},
		"unpacked side by side": {files: []string{"flow-agents-bundle_acme/bundle.json", "flow-agents_" + platform + "/flow-agents-hook" + exe},
			bundles: "flow-agents-bundle_acme", hook: "flow-agents_" + platform + "/flow-agents-hook" + exe},
		"for others":      {files: []string{"bundles/acme/bundle.json", "bin/plan9_mips/flow-agents-hook"}, bundles: "bundles/acme", notes: []string{"only programs for plan9/mips"}},
		"for others only": {files: []string{"bin/plan9_mips/flow-agents-hook"}, err: "only programs for plan9/mips"},
		"neither":         {files: []string{"readme", "bundles/readme"}, err: "holds neither bundles (bundles/<host>/bundle.json) nor programs for this platform (bin/" + platform + "/flow-agents-hook)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range tt.files {
				path := filepath.Join(dir, filepath.FromSlash(f))
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte("{}"), 0o755))
			}
			s, err := Open(dir)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			for want, got := range map[string]string{tt.hook: s.Hook, tt.self: s.Self} {
				if want != "" {
					want = filepath.Join(dir, filepath.FromSlash(want))
				}
				require.Equal(t, want, got)
			}
			require.Equal(t, tt.bundles != "", s.Bundles != nil)
			in := &install.Installer{Hook: "mine"}
			s.Use(in)
			require.Equal(t, dir, in.Release)
			require.Equal(t, tt.hook == "", in.Hook == "mine")
			require.Len(t, in.Notes, len(tt.notes))
			for i, note := range tt.notes {
				require.Contains(t, in.Notes[i], note)
			}
			require.True(t, len(in.Notes) == 0 || strings.HasPrefix(in.Notes[0], dir))
		})
	}
	_, err := Open(filepath.Join(t.TempDir(), "nowhere"))
	var usage *install.UsageError
	require.True(t, errors.As(err, &usage))
}
