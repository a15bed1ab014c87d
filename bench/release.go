package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// What build-bundles may take with warm caches. These are wall times of whatever
// machine this is, so they are shown and gate nothing.
const (
	maxText    = 300 * time.Millisecond
	maxHooks   = 5 * time.Second
	maxRelease = 15 * time.Second
)

// platforms are those of a release.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// buildTimes times build-bundles, and returns the rows to print.
func buildTimes(dir string, full bool) (string, error) {
	bin := filepath.Join(dir, "build-bundles")
	if err := build(bin, "./cmd/build-bundles"); err != nil {
		return "", err
	}
	var rows strings.Builder
	row := func(name string, took time.Duration, bar time.Duration, err error) {
		verdict := "within"
		if took > bar {
			verdict = "ABOVE"
		}
		if err != nil {
			verdict = err.Error()
		}
		fmt.Fprintf(&rows, "%-28s %8.2f s   bar %.2f: %s\n", name, took.Seconds(), bar.Seconds(), verdict)
	}
	var walls []time.Duration
	var failed error
	for range 20 {
		took, err := timed(bin, "--text-only", "--check")
		walls, failed = append(walls, took), err
	}
	slices.Sort(walls)
	row("text and its check, p50", walls[len(walls)/2], maxText, failed)
	if !full {
		return rows.String(), nil
	}
	// What is warm is measured the second time.
	for _, last := range []bool{false, true} {
		begin := time.Now()
		_, err := timed(bin, "--text-only", "--out", filepath.Join(dir, "text"))
		if err == nil {
			err = hooks(filepath.Join(dir, "hooks"))
		}
		if last {
			row("text and six hooks, warm", time.Since(begin), maxHooks, err)
		}
	}
	for _, last := range []bool{false, true} {
		took, err := timed(bin, "--out", filepath.Join(dir, "release"))
		if last {
			row("release, warm", took, maxRelease, err)
		}
	}
	return rows.String(), nil
}

// timed runs a program. Of an error it tells the last line.
func timed(program string, args ...string) (time.Duration, error) {
	cmd := exec.Command(program, args...)
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil {
		lines := strings.Split(string(bytes.TrimSpace(out)), "\n")
		err = fmt.Errorf("failed: %w: %s", err, lines[len(lines)-1])
	}
	return took, err
}

// hooks compiles the hook for every platform, on all processors.
func hooks(dir string) error {
	slots := make(chan struct{}, max(2, runtime.NumCPU()))
	errs := make(chan error, len(platforms))
	for _, p := range platforms {
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			goos, arch, _ := strings.Cut(p, "/")
			cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= -X main.version=devel",
				"-o", filepath.Join(dir, goos+"_"+arch, "flow-agents-hook"), "./cmd/flow-agents-hook")
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+arch)
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("go build for %s: %w\n%s", p, err, out)
			}
			errs <- err
		}()
	}
	var first error
	for range platforms {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}
