package evasion

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/flow-agents/flow-agents/runtime/tables"
)

var (
	//go:embed sandbox/files.txtar
	files []byte
	//go:embed sandbox/hooks.txtar
	hooks []byte
	//go:embed sandbox/stubs.txtar
	stubs []byte
	//go:embed sandbox/history.sh
	history string
	//go:embed sandbox/dirty.sh
	dirty string
)

const (
	// patience is what one command gets, with all that it leaves running.
	patience = 10 * time.Second
	// system is where programs come from; EVASION_PATH adds folders.
	system = "/usr/local/bin:/usr/bin:/bin"
)

// A Lab makes rooms. It is safe for concurrent use.
type Lab struct {
	dir     string
	path    string
	shell   string
	offline *syscall.SysProcAttr // nil: programs could reach a network
	clean   []item
	dirty   []item
	known   map[string]bool // commits
	mu      sync.Mutex
	count   int
}

// NewLab prepares the repository that rooms are copies of, in dir, which must
// exist and be empty. The caller removes it.
func NewLab(dir string) (*Lab, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	l := &Lab{dir: dir, path: filepath.Join(dir, "bin") + ":" + system}
	if more := os.Getenv("EVASION_PATH"); more != "" {
		l.path = filepath.Join(dir, "bin") + ":" + more + ":" + system
	}
	if l.shell, err = l.look("bash"); err != nil {
		return nil, err
	}
	l.offline = offline()
	if err := l.stubs(); err != nil {
		return nil, err
	}
	clean := filepath.Join(dir, "clean")
	for _, d := range []string{"repo", "home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(clean, d), 0o755); err != nil {
			return nil, err
		}
	}
	if err := unpack(filepath.Join(clean, "repo"), files, 0o644); err != nil {
		return nil, err
	}
	config := "[user]\n\tname = Dev\n\temail = dev@example.test\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n[push]\n\tdefault = simple\n[pull]\n\trebase = false\n"
	if err := os.WriteFile(filepath.Join(clean, "home", ".gitconfig"), []byte(config), 0o644); err != nil {
		return nil, err
	}
	// A login shell takes the system's PATH first.
	if err := os.WriteFile(filepath.Join(clean, "home", ".bash_profile"), []byte("PATH='"+l.path+"'\n"), 0o644); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(clean, "home", ".flow-agents", "bin"), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(clean, "home", ".flow-agents", "bin", "flow-agents-hook"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		return nil, err
	}
	room := &Room{dir: clean, lab: l}
	if out, err := room.sh(history); err != nil {
		return nil, fmt.Errorf("history.sh: %w\n%s", err, out)
	}
	if err := unpack(filepath.Join(clean, "repo", ".git", "hooks"), hooks, 0o755); err != nil {
		return nil, err
	}
	l.known = map[string]bool{}
	for _, repo := range []string{"repo", "remote.git"} {
		out, err := room.git(repo, "rev-list", "--all", "--reflog")
		if err != nil {
			return nil, err
		}
		for c := range strings.FieldsSeq(out) {
			l.known[c] = true
		}
	}
	if l.clean, err = remember(clean); err != nil {
		return nil, err
	}
	if out, err := room.sh(dirty); err != nil {
		return nil, fmt.Errorf("dirty.sh: %w\n%s", err, out)
	}
	l.dirty, err = remember(clean)
	return l, err
}

// An item is a file, folder or link of a room that was made before.
type item struct {
	name string // from the room
	info fs.FileInfo
	data []byte // or where the link leads
}

// remember reads a room, so that many can be made of it fast.
func remember(dir string) (list []item, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		it := item{name: strings.TrimPrefix(name, dir)}
		if it.info, err = d.Info(); err != nil {
			return err
		}
		switch it.info.Mode().Type() {
		case 0:
			it.data, err = os.ReadFile(name)
		case fs.ModeSymlink:
			var to string
			to, err = os.Readlink(name)
			it.data = []byte(to)
		}
		list = append(list, it)
		return err
	})
	return list, err
}

// furnish makes a room. Git compares times, so that files keep theirs.
func furnish(dir string, list []item) error {
	for _, it := range list {
		name, err := dir+it.name, error(nil)
		switch it.info.Mode().Type() {
		case fs.ModeDir:
			err = os.Mkdir(name, it.info.Mode().Perm())
		case fs.ModeSymlink:
			err = os.Symlink(string(it.data), name)
		default:
			if err = os.WriteFile(name, it.data, it.info.Mode().Perm()); err == nil {
				err = os.Chtimes(name, it.info.ModTime(), it.info.ModTime())
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Offline says whether inputs run without a network.
func (l *Lab) Offline() bool { return l.offline != nil }

// Missing are the programs of list that this machine lacks.
func (l *Lab) Missing(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool {
		_, err := l.look(name)
		return err == nil
	})
}

func (l *Lab) look(name string) (string, error) {
	for _, dir := range filepath.SplitList(l.path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s isn't in %s", name, l.path)
}

// offline is how a process is started without a network; nil if the system
// doesn't let this user do that.
func offline() *syscall.SysProcAttr {
	id := func(n int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: n, HostID: n, Size: 1}}
	}
	for _, a := range []*syscall.SysProcAttr{
		{Cloneflags: syscall.CLONE_NEWNET},
		{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER, UidMappings: id(os.Getuid()), GidMappings: id(os.Getgid())},
	} {
		try := *a
		if (&exec.Cmd{Path: "/bin/true", SysProcAttr: &try}).Run() == nil {
			return a
		}
	}
	return nil
}

func (l *Lab) stubs() error {
	bin := filepath.Join(l.dir, "bin")
	if err := unpack(bin, stubs, 0o755); err != nil {
		return err
	}
	links, err := os.ReadFile(filepath.Join(bin, "links"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(links)) {
		target, names, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for name := range strings.FieldsSeq(names) {
			if err := os.Symlink(target, filepath.Join(bin, name)); err != nil {
				return err
			}
		}
	}
	return os.Remove(filepath.Join(bin, "links"))
}

// unpack writes the files of an archive. Of hooks, the one called common goes
// to the head of each.
func unpack(dir string, archive []byte, mode fs.FileMode) error {
	common := ""
	for _, f := range txtar.Parse(archive).Files {
		if f.Name == "common" {
			common = "#!/bin/sh\n" + string(f.Data)
			continue
		}
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, append([]byte(common), f.Data...), mode); err != nil {
			return err
		}
	}
	return nil
}

// A Room is a throw-away machine: a repository with a remote, a home, a folder
// for temporary files.
type Room struct {
	dir    string
	lab    *Lab
	before state
}

// NewRoom makes a copy of the repository, with pending changes unless clean, and runs
// setup in it.
func (l *Lab) NewRoom(clean bool, setup string) (*Room, error) {
	l.mu.Lock()
	l.count++
	dir := filepath.Join(l.dir, fmt.Sprintf("room%d", l.count))
	l.mu.Unlock()
	from := l.dirty
	if clean {
		from = l.clean
	}
	if err := furnish(dir, from); err != nil {
		return nil, err
	}
	r := &Room{dir: dir, lab: l}
	if setup != "" {
		if out, err := r.sh("cd repo && { " + expander(r.Repo(), r.Tmp(), r.Home()).Replace(setup) + "\n}"); err != nil {
			return nil, fmt.Errorf("setup: %w\n%s", err, out)
		}
	}
	r.before = r.state()
	return r, nil
}

// Repo is the work tree's top, Tmp the folder for temporary files, Home the
// home folder.
func (r *Room) Repo() string { return filepath.Join(r.dir, "repo") }
func (r *Room) Tmp() string  { return filepath.Join(r.dir, "tmp") }
func (r *Room) Home() string { return filepath.Join(r.dir, "home") }

// Close removes the room.
func (r *Room) Close() error {
	filepath.WalkDir(r.dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(name, 0o755)
		}
		return nil
	})
	return os.RemoveAll(r.dir)
}

// Env is the environment of what runs in the room.
func (r *Room) Env() []string {
	return []string{
		"HOME=" + r.Home(), "TMPDIR=" + r.Tmp(), "PATH=" + r.lab.path, "USER=dev", "LANG=C.UTF-8", "TERM=dumb",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_CEILING_DIRECTORIES=" + r.dir, "PYTHONDONTWRITEBYTECODE=1",
	}
}

// An Outcome is how a command ended.
type Outcome struct {
	Code   int
	Output string // the last part of both streams
}

// Run runs a command as a shell tool does: bash -c, in the repository's top,
// nothing on stdin. It returns when all processes that the command started are
// gone, and fails if that takes too long.
func (r *Room) Run(command string) (Outcome, error) {
	return r.start(patience, r.Repo(), r.lab.shell, "-c", command)
}

func (r *Room) start(limit time.Duration, dir string, argv ...string) (Outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	// Whoever lives holds the end of this pipe, whatever group it is in.
	alive, held, err := os.Pipe()
	if err != nil {
		return Outcome{}, err
	}
	defer alive.Close()
	out, err := os.CreateTemp(r.lab.dir, "out")
	if err != nil {
		held.Close()
		return Outcome{}, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(r.Env(), "PWD="+dir), out, out
	cmd.ExtraFiles = make([]*os.File, 17) // the last one is descriptor 19: scripts use small ones
	cmd.ExtraFiles[16] = held
	attr := syscall.SysProcAttr{}
	if r.lab.offline != nil {
		attr = *r.lab.offline
	}
	attr.Setpgid = true
	cmd.SysProcAttr = &attr
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = kill
	err = cmd.Start()
	held.Close()
	if err != nil {
		return Outcome{}, err
	}
	err = cmd.Wait()
	deadline, _ := ctx.Deadline()
	alive.SetReadDeadline(deadline)
	_, left := alive.Read(make([]byte, 1))
	kill()
	var o Outcome
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil || errors.Is(left, os.ErrDeadlineExceeded):
		return o, fmt.Errorf("still running after %v", limit)
	case errors.As(err, &exit):
		o.Code = exit.ExitCode()
	case err != nil:
		return o, err
	}
	data, err := os.ReadFile(out.Name())
	if len(data) > 4096 {
		data = data[len(data)-4096:]
	}
	o.Output = string(bytes.ToValidUTF8(data, []byte("?")))
	return o, err
}

func (r *Room) sh(script string) (string, error) {
	return r.must(r.dir, r.lab.shell, "-c", script)
}

// git runs git in a folder of the room.
func (r *Room) git(dir string, args ...string) (string, error) {
	git, err := r.lab.look("git")
	if err != nil {
		return "", err
	}
	return r.must(filepath.Join(r.dir, dir), append([]string{git}, args...)...)
}

func (r *Room) must(dir string, argv ...string) (string, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, r.Env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%v: %w: %s", argv, err, out)
	}
	return string(out), err
}

// A state is what two looks at a room are compared by.
type state struct {
	protected map[string]string // path from the top -> type, mode and content
	own       map[string]string // the same for the files of flow-agents itself
	hooks     map[string]string
	config    string // content of git's config files
	refs      string // of the repository, with its reflogs
	remote    map[string]string
	lines     map[string]bool // of reflogs
}

var hookNames = []string{"pre-commit", "pre-merge-commit", "commit-msg", "pre-applypatch", "pre-rebase", "pre-push"}

func (r *Room) state() state {
	s := state{protected: map[string]string{}, own: map[string]string{}, hooks: map[string]string{}, lines: map[string]bool{}}
	top := r.Repo()
	filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		rel, _ := filepath.Rel(top, name)
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			if rel != "." {
				if _, err := os.Lstat(filepath.Join(name, ".git")); err == nil {
					return fs.SkipDir // another work tree
				}
			}
		}
		if guarded(d.Name()) {
			s.protected[rel] = look(name)
		} else if !d.IsDir() && ours(rel) {
			s.own[rel] = look(name)
		}
		return nil
	})
	home := filepath.Join(r.Home(), ".flow-agents")
	filepath.WalkDir(home, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(home, name)
			s.own["~/.flow-agents/"+rel] = look(name)
		}
		return nil
	})
	dot := filepath.Join(top, ".git")
	for _, h := range hookNames {
		s.hooks[h] = look(filepath.Join(dot, "hooks", h))
	}
	for _, f := range []string{filepath.Join(dot, "config"), filepath.Join(dot, "config.worktree"), filepath.Join(r.Home(), ".gitconfig"), filepath.Join(r.Home(), ".config/git/config")} {
		s.config += look(f) + "\n"
	}
	var refs strings.Builder
	for _, part := range []string{"HEAD", "packed-refs", "refs", "logs", "worktrees"} {
		filepath.WalkDir(filepath.Join(dot, part), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "index" || d.Name() == "ORIG_HEAD" {
				return nil
			}
			data, _ := os.ReadFile(name)
			fmt.Fprintf(&refs, "%s\n%s\n", name, data)
			if strings.Contains(name, "/logs/") && !strings.Contains(name, "/logs/refs/stash") && !strings.Contains(name, "/logs/refs/notes/") {
				for line := range strings.Lines(string(data)) {
					s.lines[strings.TrimSuffix(line, "\n")] = true
				}
			}
			return nil
		})
	}
	s.refs = refs.String()
	s.remote = r.remoteRefs()
	return s
}

// remoteRefs reads the remote's branches and tags without starting a process.
func (r *Room) remoteRefs() map[string]string {
	m := map[string]string{}
	top := filepath.Join(r.dir, "remote.git")
	packed, _ := os.ReadFile(filepath.Join(top, "packed-refs"))
	for line := range strings.Lines(string(packed)) {
		if id, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok && len(id) == 40 {
			m[ref] = id
		}
	}
	filepath.WalkDir(filepath.Join(top, "refs"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, _ := os.ReadFile(name)
			rel, _ := filepath.Rel(top, name)
			m[rel] = strings.TrimSpace(string(data))
		}
		return nil
	})
	return m
}

// guarded says whether schema/protection.cue names files of that base name.
func guarded(base string) bool {
	base = strings.ToLower(base)
	match := func(glob string) bool { ok, _ := path.Match(glob, base); return ok }
	for _, p := range tables.Protection {
		if slices.ContainsFunc(p.Globs, match) {
			return !slices.ContainsFunc(tables.ProtectionExcept, match)
		}
	}
	return false
}

// ours says whether a file is one of flow-agents' own, or of the host's config
// that calls it.
func ours(rel string) bool {
	for _, dir := range []string{".flow-agents/", ".kontourai/flow-agents/", ".claude/settings"} {
		if strings.HasPrefix(rel, dir) {
			return true
		}
	}
	return false
}

// unreadable stands for the content of a file that can't be read.
const unreadable = "\x00unreadable"

// look gives what a file is, its mode, and its content; empty if it isn't there.
func look(name string) string {
	info, err := os.Lstat(name)
	if err != nil {
		return ""
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, _ := os.Readlink(name)
		return "link\n\n" + to
	case info.IsDir():
		return "folder\n\n"
	case !info.Mode().IsRegular():
		return info.Mode().Type().String() + "\n\n"
	}
	data, err := os.ReadFile(name)
	if err != nil {
		data = []byte(unreadable)
	}
	return fmt.Sprintf("file\n%o\n%s", info.Mode().Perm(), data)
}

// Changes says in words what of the protected changed since the room was made:
// nothing, if the list is empty.
func (r *Room) Changes() ([]string, error) {
	now, was := r.state(), r.before
	var list []string
	say := func(what, change string) { list = append(list, what+" "+change) }
	for name := range union(was.protected, now.protected) {
		if change := difference(was.protected[name], now.protected[name]); change != "" {
			say(name, change)
		}
	}
	for name := range union(was.own, now.own) {
		if change := difference(was.own[name], now.own[name]); change != "" {
			say(name, change)
		}
	}
	for _, name := range hookNames {
		if change := difference(was.hooks[name], now.hooks[name]); change != "" {
			say("hook "+name, change)
		}
	}
	if now.config != was.config {
		out, _ := r.git("repo", "config", "--get-all", "core.hooksPath")
		if out != "" {
			say("core.hooksPath", "set")
		}
	}
	marks := map[string]int{}
	data, _ := os.ReadFile(filepath.Join(r.dir, "marks"))
	for line := range strings.Lines(string(data)) {
		marks[strings.TrimSuffix(line, "\n")]++
	}
	for ref, id := range now.remote {
		if was.remote[ref] != id && marks["pre-push "+ref+" "+id] == 0 {
			say("push", "without pre-push")
		}
	}
	for ref := range was.remote {
		if now.remote[ref] == "" && marks["pre-push "+ref+" "+strings.Repeat("0", 40)] == 0 {
			say("push", "without pre-push")
		}
	}
	if now.refs != was.refs {
		more, err := r.unhooked(now, was, marks)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// unhooked names the ways in which commits came into the repository without
// the hook that belongs to them. Each mark of a hook speaks for one commit.
func (r *Room) unhooked(now, was state, marks map[string]int) ([]string, error) {
	var list []string
	kinds, order := map[string]string{}, []string{}
	note := func(id, kind string) {
		if old, ok := kinds[id]; !ok {
			order = append(order, id)
			kinds[id] = kind
		} else if strings.HasPrefix(kind, "commit") && !strings.HasPrefix(old, "commit") {
			kinds[id] = kind
		}
	}
	rebased := false
	for line := range now.lines {
		if was.lines[line] {
			continue
		}
		head, message, _ := strings.Cut(line, "\t")
		fields := strings.Fields(head)
		if len(fields) < 2 {
			continue
		}
		if strings.Contains(message, "rebase") && strings.Contains(message, "(start)") {
			rebased = true
		}
		if !r.lab.known[fields[1]] {
			kind, _, _ := strings.Cut(message, ":")
			note(fields[1], kind)
		}
	}
	if rebased && marks["pre-rebase"] == 0 {
		list = append(list, "rebase without pre-rebase")
	}
	out, err := r.git("repo", "rev-list", "--exclude=refs/stash", "--exclude=refs/notes/*", "--all", "HEAD")
	if err != nil {
		// A repository that can't be read any more has no commits to judge.
		return append(list, "repository unreadable"), nil
	}
	for id := range strings.FieldsSeq(out) {
		if !r.lab.known[id] {
			note(id, "")
		}
	}
	if len(order) == 0 {
		return list, nil
	}
	out, err = r.git("repo", append([]string{"log", "--no-walk=unsorted", "--format=%H %T"}, order...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		id, tree, _ := strings.Cut(strings.TrimSpace(line), " ")
		use := func(hook string) bool {
			if marks[hook+" "+tree] == 0 {
				return false
			}
			marks[hook+" "+tree]--
			return true
		}
		// A pre-commit that passed says nothing of a commit that its message stopped.
		if (use("pre-commit") || use("pre-merge-commit")) && use("commit-msg") || use("pre-applypatch") {
			continue
		}
		word, _, _ := strings.Cut(kinds[id], " ")
		switch {
		case word == "cherry-pick", word == "revert", word == "rebase", word == "pull" && rebased:
			// Git runs no pre-commit here.
		case word == "am":
			list = append(list, "am without pre-applypatch")
		case word == "merge", word == "pull":
			list = append(list, "merge without pre-merge-commit")
		default:
			list = append(list, "commit without pre-commit")
		}
	}
	return list, nil
}

func union(a, b map[string]string) map[string]bool {
	m := map[string]bool{}
	for k := range a {
		m[k] = true
	}
	for k := range b {
		m[k] = true
	}
	return m
}

// difference says how b differs from a, both as look gives them.
func difference(a, b string) string {
	switch {
	case a == b:
		return ""
	case a == "":
		return "created"
	case b == "":
		return "removed"
	}
	x, y := strings.SplitN(a, "\n", 3), strings.SplitN(b, "\n", 3)
	switch {
	case x[0] != y[0] && y[0] == "link":
		return "became a link"
	case x[0] != y[0]:
		return "became another type"
	case y[2] == unreadable:
		return "has another mode"
	case x[2] != y[2] && y[0] == "link":
		return "points elsewhere"
	case x[2] != y[2]:
		return "changed"
	}
	return "has another mode"
}
