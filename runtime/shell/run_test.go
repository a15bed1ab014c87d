package shell

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// unsafe are programs that a test must not start, because they reach out of
// the folder or wait.
var unsafe = regexp.MustCompile(`\b(curl|wget|ssh|docker|sudo|doas|npm|npx|pnpm|gh|rsync|scp|chroot|watch|parallel|vim?|select|push|pull|bisect|submodule|exec|biome|prettier|eslint|ruff|ruby|php|deno|bun|gawk|chown|/tmp|sponge|shfmt|gofmt|apply_patch|pre-commit|HUSKY|--global)\b|/tmp|~|UNKNOWN|\bcd *(&&|$)|\bf; f`)

// What the command lines of testdata really do, when bash runs them in a folder
// of their own, is what is reported of them, or they are undecided.
func TestReal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs hundreds of commands")
	}
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs bash and the tools of Linux")
	}
	ran, changed := 0, 0
	for _, file := range []string{"bash", "git", "code"} {
		data, err := os.ReadFile(filepath.Join("testdata", file+".tsv"))
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			command, _, ok := strings.Cut(line, "\t")
			if !ok || unsafe.MatchString(command) {
				continue
			}
			command = strings.ReplaceAll(command, `\n`, "\n")
			ran++
			changed += compare(t, bash, command)
		}
	}
	t.Logf("%d commands ran, %d files changed", ran, changed)
	require.Greater(t, ran, 200)
	require.Greater(t, changed, 100)
}

func compare(t *testing.T, bash, command string) int {
	dir, home := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{".eslintrc.json": "a\n", "ok.json": "{}\n", "f": "a\n", "g": "a\n", "a": "{}\n", "b": "a\n", "src/f": "a\n", "src/a.js": "a\n", "d/x": "x\n", "x.log": "x\n", ".eslintrc.js": "a\n"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_EDITOR=true"}
	run := func(script string) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, bash, "--norc", "-c", script)
		cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
		cmd.Run()
	}
	if strings.Contains(command, "git") {
		run("git init -q && git add -A && git commit -qm i")
	}
	old := time.Now().Add(-time.Hour)
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			os.Chtimes(p, old, old)
		}
		return nil
	}))
	before := files(t, dir)
	run(command + "\nwait")
	after := files(t, dir)
	r := Scan(command, Options{Env: func(n string) (string, bool) { return home, n == "HOME" }})
	n := 0
	for name := range merged(before, after) {
		if before[name] == after[name] {
			continue
		}
		n++
		if !r.Undecided && !covered(r, name) {
			t.Errorf("%s\n  changes %s, which is not in: %s", command, name, show(r))
		}
	}
	return n
}

func merged(a, b map[string]string) map[string]string {
	all := map[string]string{}
	for k := range a {
		all[k] = ""
	}
	for k := range b {
		all[k] = ""
	}
	return all
}

// covered reports whether a file is among the effects.
func covered(r Report, name string) bool {
	for _, e := range r.Effects {
		path := filepath.ToSlash(filepath.Clean(e.Path))
		if e.Dir != "" {
			path = filepath.ToSlash(filepath.Join(e.Dir, e.Path))
		}
		if e.Path == "" || path == name || e.Tree && (path == "." || strings.HasPrefix(name, path+"/")) {
			return true
		}
		if e.Glob && Overlap(base(path), base(name)) {
			return true
		}
	}
	return false
}

// files returns what is in a folder: contents, modes and times.
func files(t *testing.T, dir string) map[string]string {
	m := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		require.NoError(t, err)
		text, _ := os.ReadFile(p)
		link, _ := os.Readlink(p)
		rel, _ := filepath.Rel(dir, p)
		m[filepath.ToSlash(rel)] = info.Mode().String() + info.ModTime().String() + link + string(text)
		return nil
	}))
	return m
}
