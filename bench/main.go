// Command bench measures what one hook call costs: start to exit of the hook
// binary on a 4 KB payload with telemetry on, beside a Go program that does
// nothing and, where there is a C compiler, a C program that does nothing. Each
// start is for an event of its own, because a repeated one is not recorded. It
// also times what build-bundles does.
//
// Wall times on a machine with neighbours mean little by themselves, so the
// programs take turns and what counts is the ratio of the medians to the empty
// Go program.
//
// Without a C compiler the programs are started from Go, which adds about the
// same to each and so makes the ratio look better than it is; the table says
// so.
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

//go:embed launcher/launch.c
var launcher string

// warm is how many rounds come first, to fill the caches.
const warm = 5

// What the hook may cost.
const (
	maxRatio   = 1.5     // of the empty Go program's median
	maxSize    = 2200000 // bytes, linux/amd64
	maxRSS     = 4096    // KB
	gateFactor = 1.25
)

func main() {
	rounds := flag.Int("n", 400, "starts of each program")
	gate := flag.Bool("gate", false, "exit 1 if a figure is above 1.25 times its bar")
	full := flag.Bool("release", false, "also build a release, which takes some ten seconds")
	flag.Parse()
	ok, err := run(*rounds, *full)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if *gate && !ok {
		os.Exit(1)
	}
}

// A program under measurement.
type program struct {
	name string
	argv []string

	wall, cpu []float64 // microseconds
	rss       int64     // KB, highest
	size      int64     // bytes
}

func run(rounds int, full bool) (bool, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)

	goHook := filepath.Join(dir, "flow-agents-hook")
	goEmpty := filepath.Join(dir, "empty")
	for out, pkg := range map[string]string{goHook: "./cmd/flow-agents-hook", goEmpty: "./bench/empty"} {
		if err := build(out, pkg); err != nil {
			return false, err
		}
	}
	var programs []*program
	launch := ""
	if cc, err := exec.LookPath("cc"); err == nil {
		launch = filepath.Join(dir, "launch")
		floor := filepath.Join(dir, "floor")
		if err := compile(cc, launcher, launch); err != nil {
			return false, err
		}
		if err := compile(cc, "int main(void) { return 0; }\n", floor, "-static"); err != nil {
			// No static C library here (macOS): the dynamic one will do.
			if err := compile(cc, "int main(void) { return 0; }\n", floor); err != nil {
				return false, err
			}
		}
		programs = append(programs, &program{name: "C, nothing", argv: []string{floor}})
	}
	empty := &program{name: "Go, nothing", argv: []string{goEmpty}}
	hook := &program{name: "hook", argv: []string{goHook, "claude-code", "PreToolUse"}}
	programs = append(programs, empty, hook)

	// Before the environment is changed: the go command needs its cache.
	rows, err := buildTimes(dir, full)
	if err != nil {
		return false, err
	}
	inputs, err := workspace(dir, warm+rounds)
	if err != nil {
		return false, err
	}
	if launch != "" {
		err = spawn(launch, rounds, inputs, programs)
	} else {
		err = start(rounds, inputs, programs)
	}
	if err != nil {
		return false, err
	}
	ok := report(programs, empty, hook, rounds, launch == "")
	fmt.Print(rows)
	return ok, recorded(dir, warm+rounds)
}

func build(out, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s (run from the module's root): %w\n%s", pkg, err, b)
	}
	return nil
}

func compile(cc, source, out string, flags ...string) error {
	src := out + ".c"
	if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(cc, append([]string{"-O2", "-o", out, src}, flags...)...)
	if b, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, b)
	}
	return nil
}

// workspace makes a project with telemetry on, points the environment at it,
// and returns a folder of 4 KB edit events in it, as N.json, which differ in the
// id of the call only.
func workspace(dir string, events int) (string, error) {
	inputs := filepath.Join(dir, "events")
	root := filepath.Join(dir, "project")
	for _, d := range []string{filepath.Join(root, ".git"), filepath.Join(root, ".flow-agents"), filepath.Join(root, "src"), filepath.Join(dir, "home"), inputs} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return "", err
		}
	}
	os.Setenv("HOME", filepath.Join(dir, "home"))
	for _, e := range os.Environ() {
		if k, _, _ := strings.Cut(e, "="); strings.HasPrefix(k, "FLOW_AGENTS_") || strings.HasPrefix(k, "TELEMETRY_") || strings.HasPrefix(k, "SA_") {
			os.Unsetenv(k)
		}
	}
	head := fmt.Sprintf(`{"session_id":"00000000-0000-4000-8000-000000000001","transcript_path":"/home/user/t.jsonl","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":%q,"old_string":"`, root, filepath.Join(root, "src", "main.ts"))
	tail := func(n int) string { return fmt.Sprintf(`"},"tool_use_id":"toolu_%08d"}`+"\n", n) }
	line := `\tconst value = \"text\";\n`
	half := (4096 - len(head) - len(tail(0))) / 2 / len(line)
	text := head + strings.Repeat(line, half) + `","new_string":"` + strings.Repeat(line, half)
	for n := range events {
		if err := os.WriteFile(event(inputs, n), []byte(text+tail(n)), 0o600); err != nil {
			return "", err
		}
	}
	return inputs, nil
}

func event(inputs string, n int) string { return filepath.Join(inputs, fmt.Sprintf("%d.json", n)) }

func spawn(launch string, rounds int, inputs string, programs []*program) error {
	args := []string{fmt.Sprint(rounds), fmt.Sprint(warm), inputs}
	for i, p := range programs {
		if i > 0 {
			args = append(args, "--")
		}
		args = append(args, p.argv...)
	}
	cmd := exec.Command(launch, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		var i int
		var wall, cpu float64
		var rss int64
		if _, err := fmt.Sscan(s.Text(), &i, &wall, &cpu, &rss); err != nil {
			return err
		}
		programs[i].add(wall, cpu, rss)
	}
	return nil
}

// start is spawn without a C compiler.
func start(rounds int, inputs string, programs []*program) error {
	for n := range warm + rounds {
		for _, p := range programs {
			in, err := os.Open(event(inputs, n))
			if err != nil {
				return err
			}
			cmd := exec.Command(p.argv[0], p.argv[1:]...)
			cmd.Stdin = in
			begin := time.Now()
			err = cmd.Run()
			wall := time.Since(begin)
			in.Close()
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if n < warm {
				continue
			}
			cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			p.add(float64(wall.Microseconds()), float64(cpu.Microseconds()), 0)
		}
	}
	return nil
}

func (p *program) add(wall, cpu float64, rss int64) {
	p.wall = append(p.wall, wall)
	p.cpu = append(p.cpu, cpu)
	p.rss = max(p.rss, rss)
}

// recorded checks that the hook did its whole work: one record for each start.
func recorded(dir string, starts int) error {
	b, err := os.ReadFile(filepath.Join(dir, "project", ".telemetry", "full.jsonl"))
	if err != nil {
		return err
	}
	if got := bytes.Count(b, []byte("\n")); got != starts {
		return fmt.Errorf("%d events left %d records, so the figures are not those of whole calls", starts, got)
	}
	return nil
}

func report(programs []*program, empty, hook *program, rounds int, fromGo bool) bool {
	fmt.Printf("%s/%s, %d starts of each program in turn, 4 KB edit event, telemetry on\n", runtime.GOOS, runtime.GOARCH, rounds)
	if fromGo {
		fmt.Println("no C compiler: started from Go, so the ratio is too good and memory is not known")
	}
	fmt.Printf("%-12s %9s %9s %9s %9s %10s %8s\n", "program", "min us", "p50 us", "p90 us", "cpu us", "rss KB", "size KB")
	for _, p := range programs {
		if info, err := os.Stat(p.argv[0]); err == nil {
			p.size = info.Size()
		}
		slices.Sort(p.wall)
		slices.Sort(p.cpu)
		fmt.Printf("%-12s %9.0f %9.0f %9.0f %9.0f %10d %8d\n", p.name, p.wall[0], at(p.wall, 50), at(p.wall, 90), at(p.cpu, 50), p.rss, p.size/1000)
	}
	ok := true
	bar := func(name string, got, max float64, unit string) {
		verdict := "within"
		if got > max {
			verdict = "ABOVE"
		}
		if got > max*gateFactor {
			ok = false
			verdict = "FAR ABOVE"
		}
		fmt.Printf("%-28s %8.2f %-3s bar %.2f: %s\n", name, got, unit, max, verdict)
	}
	bar("p50, times the empty Go's", at(hook.wall, 50)/at(empty.wall, 50), maxRatio, "x")
	bar("size", float64(hook.size)/1e6, maxSize/1e6, "MB")
	if !fromGo {
		bar("peak memory", float64(hook.rss)/1024, maxRSS/1024, "MB")
	}
	return ok
}

// at is a percentile of sorted values.
func at(sorted []float64, percent int) float64 { return sorted[(len(sorted)-1)*percent/100] }
