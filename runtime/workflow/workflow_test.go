package workflow

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/runtime/digest"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// tree writes files below a new root's state folder. A text that begins with
// "-> " makes a symbolic link.
func tree(t *testing.T, files map[string]string) (string, Store) {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, Dir), 0o755))
	for name, text := range files {
		path := filepath.Join(root, Dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.Symlink(to, path); err != nil {
				t.Skip("no symbolic links here: ", err)
			}
			continue
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		require.NoError(t, os.Chtimes(path, now, now))
	}
	s, ok := Open(root, now)
	require.True(t, ok)
	return root, s
}

func age(t *testing.T, root, name string, d time.Duration) {
	t.Helper()
	require.NoError(t, os.Chtimes(filepath.Join(root, Dir, filepath.FromSlash(name)), now.Add(-d), now.Add(-d)))
}

func state(status string) string { return `{"status":"` + status + `","phase":"execution"}` }

func pointer(actor, slug string) (string, string) {
	return "current/" + PointerName(actor), `{"active_slug":"` + slug + `","artifact_dir":"` + Dir + `/` + slug + `","owner":"` + actor + `"}`
}

func TestPointerName(t *testing.T) {
	require.Equal(t, "alice-2bd806c97f0e00af.json", PointerName("alice"))
	long := "claude-code:" + strings.Repeat("ab/", 30)
	require.Equal(t, ("claude-code" + strings.Repeat("ab", 30))[:40]+"-"+digest.Hex(8, long)+".json", PointerName(long))
	require.Equal(t, "-"+digest.Hex(8, "é/:")+".json", PointerName("é/:"))
}

func TestActor(t *testing.T) {
	t.Setenv("FLOW_AGENTS_ACTOR", "")
	require.Equal(t, "codex:s1", Actor("codex", "s1"))
	require.Empty(t, Actor("codex", ""))
	t.Setenv("FLOW_AGENTS_ACTOR", " bob ")
	require.Equal(t, "bob", Actor("codex", "s1"))
}

func TestOwnPointerWins(t *testing.T) {
	name, text := pointer("alice", "mine")
	root, s := tree(t, map[string]string{
		name: text, "mine/state.json": state("in_progress"), "newer/state.json": state("in_progress"),
		"current.json": `{"active_slug":"newer"}`,
	})
	age(t, root, "mine/state.json", time.Hour)
	age(t, root, name, 24*time.Hour)
	f, ok, err := s.Find("alice", true)
	require.NoError(t, err)
	require.True(t, ok)
	require.True(t, f.Mine)
	require.Equal(t, "mine", f.Task.Slug)
}

func TestLiveOwner(t *testing.T) {
	name, text := pointer("alice", "fix")
	root, s := tree(t, map[string]string{name: text, "fix/state.json": state("in_progress")})
	f, ok, err := s.Find("bob", true)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, Found{Task: f.Task, Owner: "alice"}, f)
	require.NoFileExists(t, filepath.Join(root, Dir, "current", PointerName("bob")))

	// Not heard of for half an hour, or gone: the task is free.
	for _, old := range []time.Duration{liveFor, now.Sub(time.Unix(0, 0))} {
		age(t, root, name, old)
		require.NoError(t, os.RemoveAll(filepath.Join(root, Dir, "current", PointerName("bob"))))
		f, ok, err = s.Find("bob", true)
		require.NoError(t, err)
		require.True(t, ok)
		require.True(t, f.Mine)
		require.True(t, f.Adopted)
		// From now on it is bob's own.
		f, ok, err = s.Find("bob", true)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, Found{Task: f.Task, Mine: true}, f)
	}
	p, ok := s.pointer(s.pointers(), PointerName("bob"))
	require.True(t, ok)
	require.Equal(t, "fix", p.Slug)
	require.Equal(t, "bob", p.Owner)
}

// A free task is preferred to one that somebody works on; among the free ones
// the newest.
func TestAdoptsTheNewestFreeTask(t *testing.T) {
	name, text := pointer("alice", "a")
	root, s := tree(t, map[string]string{
		name: text, "a/state.json": state("in_progress"), "b/state.json": state("blocked"), "c/state.json": state("planned"),
		"d/state.json": state("delivered"), "e/state.json": `{"status":"in_progress","next_action":{"status":"done"}}`,
	})
	age(t, root, "b/state.json", time.Hour)
	age(t, root, "c/state.json", 2*time.Hour)
	f, ok, err := s.Find("bob", true)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "b", f.Task.Slug)
	require.True(t, f.Adopted)
}

func TestNothingToFind(t *testing.T) {
	_, s := tree(t, map[string]string{"a/state.json": state("accepted"), "b/other.json": "{}"})
	for _, actor := range []string{"bob", ""} {
		_, ok, err := s.Find(actor, true)
		require.NoError(t, err)
		require.False(t, ok)
	}
	_, ok := Open(t.TempDir(), now)
	require.False(t, ok)
}

func TestUnknownActor(t *testing.T) {
	root, s := tree(t, map[string]string{"a/state.json": state("new"), "b/state.json": state("new"), "current.json": `{"active_slug":"a"}`})
	age(t, root, "a/state.json", time.Hour)
	f, _, _ := s.Find("", true)
	require.Equal(t, "a", f.Task.Slug)
	require.NoError(t, os.Remove(filepath.Join(root, Dir, "current.json")))
	f, _, _ = s.Find("", true)
	require.Equal(t, "b", f.Task.Slug)
	require.NoDirExists(t, filepath.Join(root, Dir, "current"))
}

func TestTouch(t *testing.T) {
	name, text := pointer("alice", "a")
	root, s := tree(t, map[string]string{name: text})
	path := filepath.Join(root, Dir, filepath.FromSlash(name))
	at := func() time.Time {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.ModTime().UTC()
	}
	age(t, root, name, touchEvery-time.Second)
	before := at()
	require.NoError(t, s.Touch("alice", false))
	require.Equal(t, before, at())
	age(t, root, name, touchEvery)
	require.NoError(t, s.Touch("alice", false))
	require.Equal(t, now, at())
	require.NoError(t, s.Touch("alice", true))
	require.Equal(t, now.Add(-liveFor), at())
	require.False(t, s.live(at()))
	require.NoError(t, s.Touch("alice", true))
	require.Equal(t, now.Add(-liveFor), at())
	// The session goes on after all.
	require.NoError(t, s.Touch("alice", false))
	require.Equal(t, now, at())

	// A clock that was wrong keeps nobody alive.
	age(t, root, name, -48*time.Hour)
	require.False(t, s.live(at()))
	require.NoError(t, s.Touch("alice", false))
	require.Equal(t, now, at())

	require.NoError(t, s.Touch("bob", false))
	require.NoError(t, s.Touch("", true))
	list, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// State from outside can't make us read elsewhere, nor fail.
func TestHostileState(t *testing.T) {
	outside := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(outside, "task"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "state.json"), []byte(state("in_progress")), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "task", "state.json"), []byte(state("in_progress")), 0o644))
	for i, text := range []string{
		`{"active_slug":"../../../etc"}`, `{"active_slug":"a/b"}`, `{"active_slug":".hidden"}`, `{"active_slug":"a\u0000b"}`, `{"active_slug":""}`,
		`{"active_slug":7}`, `{"active_slug":"current"}`, `{"active_slug":"a","artifact_dir":"/etc"}`, `{"active_slug":"a","artifact_dir":".kontourai/flow-agents/../../x"}`,
		`{"active_slug":"a","artifact_dir":".kontourai/flow-agents/b"}`, `{"active_slug":"a","artifact_dir":"` + outside + `"}`, `[]`, `"x"`, `{`, ``,
		`{"active_slug":"` + strings.Repeat("a", 200) + `"}`, strings.Repeat(" ", maxFile) + `{"active_slug":"a"}`,
	} {
		name, _ := pointer("bob", "a")
		_, s := tree(t, map[string]string{name: text})
		_, ok := s.pointer(s.pointers(), filepath.Base(name))
		require.False(t, ok, "%d %.60s", i, text)
		_, ok, err := s.Find("bob", true)
		require.NoError(t, err)
		require.False(t, ok)
	}

	name, _ := pointer("bob", "a")
	for what, files := range map[string]map[string]string{
		"linked state":   {"a/state.json": "-> " + filepath.Join(outside, "state.json")},
		"linked task":    {"a": "-> " + filepath.Join(outside, "task")},
		"linked pointer": {"a/x": "", name: "-> " + filepath.Join(outside, "state.json")},
		"folder":         {"a/state.json/x": "{}"},
		"not an object":  {"a/state.json": "[1]"},
		"broken":         {"a/state.json": `{"status":`},
		"too large":      {"a/state.json": `{"status":"new","x":"` + strings.Repeat("x", maxFile) + `"}`},
	} {
		_, s := tree(t, files)
		_, ok, err := s.Find("bob", true)
		require.NoError(t, err, what)
		require.False(t, ok, what)
	}

	root := t.TempDir()
	if os.Symlink(outside, filepath.Join(root, ".kontourai")) == nil {
		require.NoError(t, os.MkdirAll(filepath.Join(outside, "flow-agents"), 0o755))
		_, ok := Open(root, now)
		require.False(t, ok)
	}

	// A pointer folder that leads away is not written into.
	linked, s := tree(t, map[string]string{"current": "-> " + outside, "a/state.json": state("new")})
	f, ok, err := s.Find("bob", true)
	require.True(t, ok)
	require.Equal(t, "a", f.Task.Slug)
	require.Error(t, err)
	require.NoFileExists(t, filepath.Join(outside, PointerName("bob")))
	require.NotEmpty(t, linked)

	// Nor is one read from, or touched in, there.
	name, text := pointer("bob", "a")
	away := filepath.Join(outside, filepath.Base(name))
	require.NoError(t, os.WriteFile(away, []byte(text), 0o600))
	require.NoError(t, os.Chtimes(away, now.Add(-time.Hour), now.Add(-time.Hour)))
	require.NoError(t, s.Touch("bob", false))
	info, err := os.Stat(away)
	require.NoError(t, err)
	require.Equal(t, now.Add(-time.Hour), info.ModTime().UTC())
	f, _, err = s.Find("bob", true)
	require.Error(t, err)
	require.True(t, f.Adopted)
}

// Many pointers and many tasks hide neither a live owner nor the newest task.
func TestManyPointers(t *testing.T) {
	name, text := pointer("alice", "fix")
	root, s := tree(t, map[string]string{name: text, "fix/state.json": state("in_progress")})
	fill := func(from, to int, d time.Duration) {
		for i := from; i < to; i++ {
			name, text := pointer(fmt.Sprintf("ghost%d", i), "other")
			path := filepath.Join(root, Dir, filepath.FromSlash(name))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			require.NoError(t, os.Chtimes(path, now.Add(-d), now.Add(-d)))
		}
	}
	count := func() int {
		list, err := os.ReadDir(s.pointers())
		require.NoError(t, err)
		return len(list)
	}
	fill(0, 400, 40*24*time.Hour)
	require.NoError(t, os.WriteFile(filepath.Join(s.pointers(), "notes.json"), nil, 0o600))
	age(t, root, "current/notes.json", 400*24*time.Hour)
	f, ok, err := s.Find("bob", true)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, Found{Task: f.Task, Owner: "alice"}, f)
	require.Equal(t, 402, count())

	// Who takes a task over leaves a pointer and removes some of the dead.
	age(t, root, name, time.Hour)
	f, _, err = s.Find("bob", true)
	require.NoError(t, err)
	require.True(t, f.Adopted)
	require.Equal(t, 403-maxRemoved, count())
	require.FileExists(t, filepath.Join(root, Dir, filepath.FromSlash(name)))
	require.FileExists(t, filepath.Join(s.pointers(), "notes.json"))

	// So many living that not all are read: the task may be somebody's.
	age(t, root, "current/"+PointerName("bob"), time.Hour)
	fill(2000, 2000+maxParsed+1, 0)
	f, ok, err = s.Find("carol", true)
	require.ErrorContains(t, err, "too many pointers")
	require.True(t, ok)
	require.Equal(t, Found{Task: f.Task, Owner: "another session"}, f)
	require.NoFileExists(t, filepath.Join(s.pointers(), PointerName("carol")))
}

func TestMorePointersThanAreLookedAt(t *testing.T) {
	root, s := tree(t, map[string]string{"fix/state.json": state("in_progress"), "current/x": ""})
	for i := range maxNames {
		path := filepath.Join(s.pointers(), PointerName(fmt.Sprint(i)))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, now.Add(-deadAfter-time.Hour), now.Add(-deadAfter-time.Hour)))
	}
	f, ok, err := s.Find("bob", true)
	require.ErrorContains(t, err, "too many pointers")
	require.True(t, ok)
	require.False(t, f.Mine)
	// Those that it looked at are on their way out, so it heals.
	f, _, err = s.Find("bob", true)
	require.NoError(t, err)
	require.True(t, f.Adopted)
	require.NotEmpty(t, root)
}

// Files are looked at before they are read, and what is read together has a
// limit, so that neither number nor size of the tasks makes a turn slow.
func TestManyTasks(t *testing.T) {
	big := `{"status":"delivered","x":"` + strings.Repeat("x", maxFile-100) + `"}`
	files := map[string]string{"fix/state.json": state("in_progress")}
	for i := range 60 {
		files[fmt.Sprintf("t%d/state.json", i)] = big
	}
	root, s := tree(t, files)
	for i := range 60 {
		age(t, root, fmt.Sprintf("t%d/state.json", i), time.Duration(i)*time.Minute)
	}
	age(t, root, "fix/state.json", 500*time.Minute)
	begin := time.Now()
	f, ok, err := s.Find("bob", true)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "fix", f.Task.Slug, "the big ones don't use up what the small ones need")
	require.Less(t, time.Since(begin), time.Second)

	files = map[string]string{}
	for i := range maxParsed + 300 {
		files[fmt.Sprintf("t%d/state.json", i)] = state("in_progress")
	}
	root, s = tree(t, files)
	age(t, root, fmt.Sprintf("t%d/state.json", 400), -time.Second)
	f, _, err = s.Find("bob", true)
	require.NoError(t, err)
	require.Equal(t, "t400", f.Task.Slug)
}

// Without adopt nothing is written.
func TestReadOnly(t *testing.T) {
	_, s := tree(t, map[string]string{"a/state.json": state("in_progress")})
	f, ok, err := s.Find("bob", false)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, Found{Task: f.Task, Mine: true}, f)
	require.NoDirExists(t, s.pointers())
}

// The name of an actor can be of any length and content.
func TestOddActor(t *testing.T) {
	_, s := tree(t, map[string]string{"a/state.json": state("in_progress")})
	actor := "h:" + strings.Repeat("x\nACTOR: root\n", 100_000)
	_, _, err := s.Find(actor, true)
	require.NoError(t, err)
	f, ok, err := s.Find(actor, true)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, Found{Task: f.Task, Mine: true}, f)
	f, _, _ = s.Find("bob", true)
	require.NotContains(t, f.Owner, "\n")
	require.LessOrEqual(t, len(f.Owner), 80)
}

func TestOddFields(t *testing.T) {
	_, s := tree(t, map[string]string{"a/state.json": `{"status":["x"],"phase":"a b","next_action":{"status":7,"summary":{"a":1},"command":"x\u001b[31m\n  y",
		"skills":["s1",7,"","s2"],"operations":"none","target_phase":"` + strings.Repeat("p", 50) + `"}}`})
	task, ok := s.task("a")
	require.True(t, ok)
	task.Updated = time.Time{}
	require.Equal(t, Task{Slug: "a", Next: Next{Command: "x y", Skills: []string{"s1", "s2"}}}, task)
	require.True(t, task.Open())
}

func TestSidecars(t *testing.T) {
	findings := ""
	for i, sev := range []string{"low", "critical", "low", "odd"} {
		findings += fmt.Sprintf(`{"severity":%q,"status":"open","description":"finding %d"},`, sev, i)
	}
	_, s := tree(t, map[string]string{
		"a/critique.json": `{"required":true,"status":"fail","critiques":[{"findings":[` + findings + `{"severity":"high","status":"resolved"}]},7]}`,
		"a/handoff.json":  `{"next_steps":[{"summary":"run it"},"then"],"blockers":["b1",{"description":"b2"},{},"b3","b4"]}`,
		"a/trust.bundle":  `{"claims":[{"status":"verified"},{"subjectId":"a/tests","status":"disputed"},{"id":"c3"},7]}`,
		"a/a--deliver.md": "x",
		"b/critique.json": `{"required":true,"status":"pass"}`,
		"b/x.md":          "x",
	})
	c, ok := s.Critique("a")
	require.True(t, ok)
	require.Equal(t, Critique{Needed: true, Status: "fail", Counts: []Count{{"critical", 1}, {"low", 2}, {"other", 1}}, First: "finding 0"}, c)
	c, _ = s.Critique("b")
	require.False(t, c.Needed)
	_, ok = s.Critique("c")
	require.False(t, ok)
	require.Equal(t, Handoff{FirstStep: "run it", Blockers: []string{"b1", "b2", "b3"}}, s.Handoff("a"))
	trust, ok := s.Trust("a")
	require.True(t, ok)
	require.Equal(t, Trust{Total: 4, Verified: 1, Unresolved: []string{"a/tests disputed", "c3"}}, trust)
	require.Equal(t, Dir+"/a/a--deliver.md", s.Plan("a"))
	require.Empty(t, s.Plan("b"))
}

func FuzzState(f *testing.F) {
	f.Add([]byte(state("blocked")), []byte(`{"active_slug":"a"}`))
	f.Add([]byte(`{"claims":[{"status":1}],"critiques":[[]],"blockers":{}}`), []byte(`{"artifact_dir":".kontourai/flow-agents/a"}`))
	root := f.TempDir()
	dir := filepath.Join(root, Dir, "a")
	if err := os.MkdirAll(filepath.Join(root, Dir, "current"), 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b, p []byte) {
		for _, n := range []string{"state.json", "critique.json", "handoff.json", "trust.bundle"} {
			if err := os.WriteFile(filepath.Join(dir, n), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(root, Dir, "current", PointerName("x")), p, 0o644); err != nil {
			t.Fatal(err)
		}
		s, _ := Open(root, now)
		s.Touch("x", false)
		found, _, _ := s.Find("x", true)
		for _, text := range []string{found.Task.Status, found.Task.Phase, found.Task.Next.Summary, found.Task.Next.Command} {
			if len(text) > maxText || strings.ContainsAny(text, "\n\r\x1b\x00") {
				t.Fatalf("%q", text)
			}
		}
		s.Critique("a")
		s.Handoff("a")
		s.Trust("a")
	})
}
