package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/tables"
)

// ContractVersion is the version of the engine contract that the hook speaks.
const ContractVersion = tables.ContractVersion

// A GoCompiler runs the go command on a checkout. Everything that could make
// two builds differ is pinned.
type GoCompiler struct {
	// Root is the checkout.
	Root    string
	Version string
	// Overlay replaces or adds files of the checkout for this build only: how
	// hosts from elsewhere get into the programs without a change to the tree.
	Overlay fileset.Set
	// work holds the overlay's files; Close removes it.
	work string
}

// Compile builds flow-agents and flow-agents-hook.
func (g *GoCompiler) Compile(p Platform, dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= -X main.version=" + g.Version}
	if g.work != "" {
		args = append(args, "-overlay", filepath.Join(g.work, "overlay.json"))
	}
	args = append(args, "-o", abs+string(os.PathSeparator), "./cmd/flow-agents", "./cmd/flow-agents-hook")
	cmd := exec.Command("go", args...)
	cmd.Dir = g.Root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFLAGS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

// Toolchain is the version of the go command.
func (g *GoCompiler) Toolchain() (string, error) {
	cmd := exec.Command("go", "env", "GOVERSION")
	cmd.Dir = g.Root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("the go command is needed to compile: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Prepare writes the overlay, if there is one. Close undoes it.
func (g *GoCompiler) Prepare() error {
	if strings.ContainsAny(g.Version, " \t\n'\"") {
		return fmt.Errorf("version %q: use letters, digits, dots, plus and minus", g.Version)
	}
	if len(g.Overlay) == 0 {
		return nil
	}
	work, err := os.MkdirTemp("", "flow-agents-overlay-")
	if err != nil {
		return err
	}
	g.work = work
	root, err := filepath.Abs(g.Root)
	if err != nil {
		return err
	}
	replace := map[string]string{}
	for i, f := range g.Overlay {
		at := filepath.Join(work, fmt.Sprintf("%d_%s", i, filepath.Base(f.Path)))
		if err := os.WriteFile(at, f.Data, 0o644); err != nil {
			return err
		}
		replace[filepath.Join(root, filepath.FromSlash(f.Path))] = at
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(work, "overlay.json"), data, 0o644)
}

// Close removes what Prepare wrote.
func (g *GoCompiler) Close() error {
	if g.work == "" {
		return nil
	}
	return os.RemoveAll(g.work)
}
