package acceptance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flow-agents/flow-agents/conformance/fakemodel"
	"github.com/flow-agents/flow-agents/generators/model"
)

// Tools are our own programs under test.
type Tools struct {
	CLI  string // flow-agents
	Hook string // flow-agents-hook
}

// BuildTools compiles both programs from the tree at root into dir.
func BuildTools(ctx context.Context, root, dir string) (Tools, error) {
	t := Tools{filepath.Join(dir, "flow-agents"), filepath.Join(dir, "flow-agents-hook")}
	for _, out := range []string{t.CLI, t.Hook} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", out, "./cmd/"+filepath.Base(out))
		cmd.Dir = root
		if msg, err := cmd.CombinedOutput(); err != nil {
			return Tools{}, fmt.Errorf("go build ./cmd/%s: %w\n%s", filepath.Base(out), err, msg)
		}
	}
	return t, nil
}

// A Rig is what all cases of one host share.
type Rig struct {
	ID       string
	Driver   *model.Driver
	Host     Host
	Program  Program
	Tools    Tools
	Catalog  *model.Catalog
	Data     fs.FS  // testdata
	LogDir   string // requests and output of every session
	Deadline time.Duration
}

// A world is a case's own machine: a folder with a project, a home and
// nothing else.
type world struct {
	rig      *Rig
	base     string
	home     string
	sessions int
	name     string
}

// Run plays a case in a fresh world and returns what was seen. Problems of the
// set-up, as opposed to sights, are the error.
func (r *Rig) Run(ctx context.Context, c Case) ([]Seen, error) {
	base, err := os.MkdirTemp("", "acceptance-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(base)
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return nil, err
	}
	w := &world{rig: r, base: base, home: filepath.Join(base, "home"), name: c.Name}
	if err := w.create(ctx); err != nil {
		return nil, err
	}
	var seen []Seen
	for i, s := range c.Steps {
		got, err := w.step(ctx, s)
		if err != nil {
			return seen, fmt.Errorf("step %d (%s): %w", i+1, s.Do, err)
		}
		for _, g := range got {
			if g.Cell == "" {
				g.Cell = "case:" + c.Name
			}
			seen = append(seen, g)
		}
	}
	return seen, nil
}

func (w *world) create(ctx context.Context) error {
	for _, dir := range []string{w.repo(), w.home, filepath.Join(w.base, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := w.place("repo"); err != nil {
		return err
	}
	for name, text := range w.rig.Host.Project {
		if err := write(filepath.Join(w.repo(), filepath.FromSlash(name)), []byte(text)); err != nil {
			return err
		}
	}
	if err := w.git(ctx, "-c", "init.defaultBranch=main", "init", "--quiet"); err != nil {
		return err
	}
	return w.commit(ctx)
}

// place copies a tree of testdata into the repository.
func (w *world) place(tree string) error {
	return fs.WalkDir(w.rig.Data, tree, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(w.rig.Data, p)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(p, tree+"/")
		return write(filepath.Join(w.repo(), filepath.FromSlash(rel)), []byte(w.fill("")(string(data))))
	})
}

func (w *world) repo() string { return filepath.Join(w.base, "repo") }

func (w *world) dir(s Step) string {
	if s.In == "" {
		return w.repo()
	}
	return filepath.Join(w.base, filepath.FromSlash(s.In))
}

// fill puts places into the texts of a case.
func (w *world) fill(dir string) func(string) string {
	return strings.NewReplacer(
		"{base}", w.base, "{repo}", w.repo(), "{home}", w.home, "{dir}", dir,
		"{now}", time.Now().UTC().Format(time.RFC3339), "{delegated}", delegated,
	).Replace
}

// env is the whole environment of a child. Nothing of the caller's gets in, so
// neither do its credentials.
func (w *world) env(more map[string]string) []string {
	env := []string{
		"HOME=" + w.home, "PATH=" + systemPath(), "TMPDIR=" + filepath.Join(w.base, "tmp"),
		"LANG=C.UTF-8", "TERM=dumb", "SHELL=/bin/sh",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	for k, v := range more {
		env = append(env, k+"="+v)
	}
	slices.Sort(env)
	return env
}

func (w *world) command(ctx context.Context, dir, program string, args ...string) error {
	_, err := w.output(ctx, dir, program, args...)
	return err
}

func (w *world) output(ctx context.Context, dir, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, w.env(nil), 5*time.Second
	group(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

func (w *world) git(ctx context.Context, args ...string) error {
	return w.command(ctx, w.repo(), "git", args...)
}

func (w *world) commit(ctx context.Context) error {
	if err := w.git(ctx, "add", "--all"); err != nil {
		return err
	}
	return w.git(ctx, "commit", "--quiet", "--allow-empty", "--message", "as it is")
}

func (w *world) step(ctx context.Context, s Step) ([]Seen, error) {
	dir := w.dir(s)
	switch s.Do {
	case DoInit:
		return nil, w.command(ctx, dir, w.rig.Tools.CLI, slices.Concat([]string{"init", "--host", w.rig.ID, "--yes", "--hook", w.rig.Tools.Hook}, target(s, dir), s.Args)...)
	case DoUninstall:
		return nil, w.command(ctx, dir, w.rig.Tools.CLI, slices.Concat([]string{"uninstall", "--host", w.rig.ID}, target(s, dir), s.Args)...)
	case DoCommit:
		return nil, w.commit(ctx)
	case DoClone:
		w.home = filepath.Join(w.base, "home-of-"+filepath.Base(dir))
		if err := os.MkdirAll(w.home, 0o755); err != nil {
			return nil, err
		}
		return nil, w.git(ctx, "clone", "--quiet", w.repo(), dir)
	case DoWorktree:
		return nil, w.git(ctx, "worktree", "add", "--quiet", dir)
	case DoWorkflow:
		return nil, w.place("workflow")
	case DoForeign:
		for name, data := range w.rig.Host.Foreign {
			text := w.fill(dir)(string(data))
			if err := write(filepath.Join(w.repo(), filepath.FromSlash(name)), []byte(text+"\n")); err != nil {
				return nil, err
			}
		}
		return nil, nil
	default:
		return w.session(ctx, s)
	}
}

func target(s Step, dir string) []string {
	if s.Global {
		return []string{"--global"}
	}
	return []string{"--dest", dir}
}

// session runs the host once and looks at what came of it.
func (w *world) session(ctx context.Context, s Step) ([]Seen, error) {
	w.sessions++
	dir := w.dir(s)
	fill := w.fill(dir)
	script, err := w.rig.Host.script(s, fill)
	if err != nil {
		return nil, err
	}
	log := filepath.Join(w.rig.LogDir, w.name, fmt.Sprint(w.sessions))
	if err := os.MkdirAll(log, 0o755); err != nil {
		return nil, err
	}
	srv, err := fakemodel.Start(script, fakemodel.Options{Dir: log})
	if err != nil {
		return nil, err
	}
	defer srv.Close()

	d := w.rig.Driver
	place := strings.NewReplacer("{url}", srv.URL, "{prompt}", fill(s.Prompt)).Replace
	var args []string
	for _, a := range d.Args {
		args = append(args, place(a))
	}
	if w.rig.Host.Report != nil {
		args = append(args, w.rig.Host.Report.Args...)
	}
	if s.Resume {
		args = append(args, w.rig.Host.Resume...)
	}
	if s.Asking {
		args = append(args, w.rig.Host.Asking...)
	}
	env := map[string]string{}
	for k, v := range d.Env {
		env[k] = place(v)
	}

	before := w.look(s, dir)
	ctx, cancel := context.WithTimeout(ctx, w.rig.Deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.rig.Program.Path, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, w.env(env), 5*time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	group(cmd)
	ended := cmd.Run()
	if ctx.Err() != nil {
		ended = fmt.Errorf("killed after %s", w.rig.Deadline)
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(log, "stdout.txt"), stdout.Bytes(), 0o600),
		os.WriteFile(filepath.Join(log, "stderr.txt"), stderr.Bytes(), 0o600),
		srv.Close(),
	)
	if err != nil {
		return nil, err
	}
	after := w.look(s, dir)
	if err := after.save(log); err != nil {
		return nil, err
	}
	v := view{world: w, step: s, dir: dir, model: srv, before: before, after: after, ended: ended, stdout: stdout.String(), stderr: stderr.String()}
	return v.all(), nil
}

func write(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}
