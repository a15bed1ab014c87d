package writer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cueload "cuelang.org/go/cue/load"
	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/runtime/workflow"
	"github.com/flow-agents/flow-agents/runtime/workflow/writer"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, root, actor string) *writer.Writer {
	t.Helper()
	w, err := writer.Open(root, actor, func() time.Time { return noon })
	require.NoError(t, err)
	return w
}

func started(t *testing.T) (*writer.Writer, string) {
	t.Helper()
	root := t.TempDir()
	w := open(t, root, "claude-code:s1")
	require.NoError(t, w.Start("add-login", "Let people log in.", []writer.Criterion{
		{Description: "The tests pass.", Refs: []writer.Reference{writer.Command("npm test")}}, {ID: "docs", Description: "The page says how."},
	}))
	return w, root
}

func file(t *testing.T, root, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, workflow.Dir, name))
	require.NoError(t, err)
	return string(data)
}

// What the writer writes is what the schema says, and what the hooks read.
func TestFilesFitTheSchema(t *testing.T) {
	w, root := started(t)
	require.NoError(t, w.Advance("", "in_progress", "execution"))
	require.NoError(t, w.Next("", writer.Next{Summary: "Write the <form> & test it.", Command: "npm test", TargetPhase: "verification"}))
	require.NoError(t, w.Criterion("", writer.Criterion{ID: "AC1", Status: "pass", Refs: []writer.Reference{{Kind: "note", Summary: "seen"}}}))
	require.NoError(t, w.Evidence("", writer.Check{Command: "npm test", Status: "pass", Summary: "12 tests"}))
	require.NoError(t, w.Evidence("", writer.Check{ID: "looks", Status: "skip"}))
	require.NoError(t, w.Critique("", writer.Review{Reviewer: "alice", Verdict: "fail", Summary: "Not yet.", Findings: []writer.Finding{{Severity: "high", Description: "No rate limit."}}}))

	inst := cueload.Instances([]string{"./schema"}, &cueload.Config{Dir: "../../..", Env: []string{"CUE_REGISTRY=none"}})[0]
	require.NoError(t, inst.Err)
	schema := cuecontext.New().BuildInstance(inst)
	for name, def := range map[string]string{
		"add-login/state.json": "#TaskState", "add-login/acceptance.json": "#Acceptance", "add-login/evidence.json": "#Evidence",
		"add-login/critique.json": "#Critique", "current.json": "#Pointer", "current/" + workflow.PointerName("claude-code:s1"): "#Pointer",
	} {
		v := schema.LookupPath(cue.ParsePath(def)).Unify(cuecontext.New().CompileString(file(t, root, name)))
		require.NoError(t, v.Validate(cue.Concrete(true)), name)
	}
	for def, words := range map[string][]string{"#Status": writer.Statuses, "#Phase": writer.Phases} {
		_, options := schema.LookupPath(cue.ParsePath(def)).Expr()
		var want []string
		for _, o := range options {
			s, err := o.String()
			require.NoError(t, err)
			want = append(want, s)
		}
		require.Equal(t, want, words, def)
	}

	s, ok := workflow.Open(root, noon)
	require.True(t, ok)
	f, ok, err := s.Find("claude-code:s1", false)
	require.NoError(t, err)
	require.True(t, ok && f.Mine)
	require.Equal(t, "in_progress", f.Task.Status)
	require.Equal(t, workflow.Next{Status: "continue", Summary: "Write the <form> & test it.", Command: "npm test", TargetPhase: "verification"}, f.Task.Next)
	c, ok := s.Critique("add-login")
	require.True(t, ok && c.Needed)
	require.Equal(t, []workflow.Count{{Name: "high", N: 1}}, c.Counts)
	require.Contains(t, file(t, root, "add-login/state.json"), "<form> & test")
}

func TestDone(t *testing.T) {
	w, root := started(t)
	err := w.Done("")
	require.ErrorIs(t, err, writer.ErrNotDone)
	require.EqualError(t, err, "add-login is not done yet:\n  criterion AC1 is pending: The tests pass.\n  criterion docs is pending: The page says how.")

	require.NoError(t, w.Criterion("", writer.Criterion{ID: "AC1", Status: "pass"}))
	require.NoError(t, w.Criterion("", writer.Criterion{ID: "docs", Status: "accepted_gap"}))
	require.NoError(t, w.Critique("", writer.Review{Reviewer: "a", Verdict: "fail", Summary: "no", Findings: []writer.Finding{{Severity: "low", Description: "typo"}}}))
	require.ErrorContains(t, w.Done(""), `the review is "fail", not pass`)
	require.NoError(t, w.Critique("", writer.Review{Reviewer: "a", Verdict: "pass", Summary: "yes"}))
	s, _ := workflow.Open(root, noon)
	c, _ := s.Critique("add-login")
	require.Empty(t, c.Counts, "the newest review says what is open")
	require.NoError(t, w.Done(""))

	f, ok, err := s.Find("claude-code:s1", false)
	require.NoError(t, err)
	require.True(t, ok)
	require.False(t, f.Task.Open())
	require.Equal(t, "delivered", f.Task.Status)
}

// What another tool has put into the files stays, in its place.
func TestForeignMembersStay(t *testing.T) {
	w, root := started(t)
	path := filepath.Join(root, workflow.Dir, "add-login", "state.json")
	before := file(t, root, "add-login/state.json")
	before = strings.Replace(before, `"status": "new"`, `"flow_run": {"id": 12345678901234567890, "x": [1e2]}, "status": "new"`, 1)
	before = strings.Replace(before, `"next_action": {`, `"next_action": {"skills": ["plan"],`, 1)
	require.NoError(t, os.WriteFile(path, []byte(before), 0o644))
	acc := filepath.Join(root, workflow.Dir, "add-login", "acceptance.json")
	data := strings.Replace(file(t, root, "add-login/acceptance.json"), `"id": "docs"`, `"id": "docs", "owner": "bob", "x": 1`, 1)
	data = strings.Replace(data, `"kind": "command"`, `"file": "a.go", "kind": "command"`, 1)
	require.NoError(t, os.WriteFile(acc, []byte(data), 0o644))

	require.NoError(t, w.Advance("", "planned", ""))
	require.NoError(t, w.Next("", writer.Next{Summary: "Go on."}))
	require.NoError(t, w.Criterion("", writer.Criterion{ID: "docs", Status: "fail"}))
	require.NoError(t, w.Criterion("", writer.Criterion{ID: "AC1", Status: "pass", Refs: []writer.Reference{{Kind: "note", Summary: "seen"}}}))
	require.Contains(t, file(t, root, "add-login/acceptance.json"), `"file": "a.go"`)
	got := file(t, root, "add-login/state.json")
	require.Contains(t, got, "12345678901234567890")
	require.Contains(t, got, "1e2")
	require.Contains(t, got, `"skills": [`)
	require.Less(t, strings.Index(got, "flow_run"), strings.Index(got, `"status": "planned"`))
	require.Contains(t, file(t, root, "add-login/acceptance.json"), `"owner": "bob"`)
}

func TestRefuses(t *testing.T) {
	w, root := started(t)
	for want, err := range map[string]error{
		"can't be a task's name": w.Start("../x", "r", nil),
		`"current" can't be`:     w.Start("current", "r", nil),
		"is there already; flow-agents workflow resume add-login": w.Start("add-login", "r", nil),
		"the request is empty":                                              w.Start("b", " \n", nil),
		"two criteria are called X":                                         w.Start("b", "r", []writer.Criterion{{ID: "X", Description: "a"}, {ID: "X", Description: "b"}}),
		"nothing to change":                                                 w.Advance("", "", ""),
		`the status is "finished"; it must be one of new`:                   w.Advance("", "finished", ""),
		"flow-agents workflow done checks":                                  w.Advance("", "delivered", ""),
		"done is not a phase to advance to":                                 w.Advance("", "", "done"),
		`no criterion "AC9", only AC1, docs; a new one needs a description`: w.Criterion("", writer.Criterion{ID: "AC9", Status: "pass"}),
		"the summary is empty":                                              w.Next("", writer.Next{}),
		"the limit is 4000":                                                 w.Next("", writer.Next{Summary: strings.Repeat("x", 4001)}),
		"no open task called nope":                                          w.Advance("nope", "planned", ""),
		"open finding of severity critical doesn't pass":                    w.Critique("", writer.Review{Reviewer: "a", Verdict: "pass", Summary: "s", Findings: []writer.Finding{{Severity: "critical", Description: "d"}}}),
		"the reason is empty":                                               w.Cancel("", ""),
		`the verdict is "maybe"; it must be one of pass, fail`:              w.Critique("", writer.Review{Verdict: "maybe"}),
		"the check's id or command is empty":                                w.Evidence("", writer.Check{Status: "pass"}),
		"no open task of yours: claude-code:s1 is at work on add-l":         open(t, root, "codex:s2").Advance("", "planned", ""),
	} {
		require.ErrorContains(t, err, want)
	}
	for _, actor := range []string{"a  b", "a\nb", strings.Repeat("a", 81), "\x1b[31m"} {
		_, err := writer.Open(root, actor, time.Now)
		require.ErrorContains(t, err, "an actor's name is one line", actor)
	}
	for _, slug := range []string{"Current", "current.json", "x.JSON", "a.", "..", "liveness", "-x", strings.Repeat("x", 129)} {
		require.ErrorContains(t, w.Start(slug, "r", nil), "can't be a task's name", slug)
	}

	// A file that can't be read is left alone.
	path := filepath.Join(root, workflow.Dir, "add-login", "state.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"status": "new"`), 0o644))
	require.ErrorContains(t, w.Advance("add-login", "planned", ""), "nothing was written")
	require.Equal(t, `{"status": "new"`, file(t, root, "add-login/state.json"))
}

// Somebody else's task is left alone until it is taken over.
func TestOthersTask(t *testing.T) {
	_, root := started(t)
	two := open(t, root, "codex:s2")
	for _, err := range []error{two.Advance("add-login", "planned", ""), two.Cancel("add-login", "no"), two.Evidence("add-login", writer.Check{ID: "x", Status: "pass"})} {
		require.ErrorContains(t, err, "claude-code:s1 is at work on add-login; flow-agents workflow resume add-login takes it over")
	}
	require.NoError(t, two.Resume("add-login"))
	require.NoError(t, two.Advance("add-login", "planned", ""))
	// Who had it has it no more.
	require.ErrorContains(t, open(t, root, "claude-code:s1").Advance("add-login", "planned", ""), "codex:s2 is at work on add-login")
}

// What has ended is not changed any more, and the first to work on a free task
// has it.
func TestEndedAndFree(t *testing.T) {
	w, root := started(t)
	require.NoError(t, w.Cancel("", "no"))
	for _, err := range []error{w.Advance("add-login", "planned", ""), w.Next("add-login", writer.Next{Summary: "x"}), w.Cancel("add-login", "again"), w.Resume("add-login")} {
		require.ErrorContains(t, err, "add-login has ended; flow-agents workflow start NAME begins another")
	}
	require.ErrorContains(t, w.Advance("add-login", "archived", ""), "cancel ends a task")

	require.NoError(t, open(t, root, "").Start("free", "r", nil))
	require.NoError(t, open(t, root, "b").Advance("", "planned", ""))
	require.ErrorContains(t, open(t, root, "c").Advance("", "planned", ""), "b is at work on free")
	require.ErrorContains(t, open(t, root, "").Resume("free"), "--actor")
}

// Lists of another shape are somebody else's: an error, and nothing is lost.
func TestOddShapes(t *testing.T) {
	for name, data := range map[string]string{
		"acceptance.json": `{"criteria":[null]}`, "evidence.json": `{"checks":{"a":1}}`, "critique.json": `{"critiques":null}`,
	} {
		w, root := started(t)
		path := filepath.Join(root, workflow.Dir, "add-login", name)
		require.NoError(t, os.WriteFile(path, []byte(data), 0o644))
		var err error
		switch name {
		case "acceptance.json":
			err = w.Done("")
		case "evidence.json":
			err = w.Evidence("", writer.Check{ID: "x", Status: "pass"})
		default:
			err = w.Critique("", writer.Review{Reviewer: "a", Verdict: "pass", Summary: "s"})
		}
		require.ErrorContains(t, err, "must be a list of objects")
		require.Equal(t, data, file(t, root, "add-login/"+name))
	}
}

// A task can't be done while its evidence fails, and a file never grows larger
// than what is read back.
func TestEvidenceCounts(t *testing.T) {
	w, root := started(t)
	for _, id := range []string{"AC1", "docs"} {
		require.NoError(t, w.Criterion("", writer.Criterion{ID: id, Status: "pass"}))
	}
	require.NoError(t, w.Evidence("", writer.Check{Command: "npm test", Status: "fail"}))
	require.ErrorContains(t, w.Done(""), "the evidence says fail")
	var err error
	for i := 0; err == nil && i < 400; i++ {
		err = w.Evidence("", writer.Check{ID: strconv.Itoa(i), Command: strings.Repeat("x", 3990), Status: "pass"})
	}
	require.ErrorContains(t, err, "nothing was written")
	require.Less(t, len(file(t, root, "add-login/evidence.json")), 1<<20)
	require.NoError(t, w.Evidence("", writer.Check{Command: "npm test", Status: "pass"}))
	require.NoError(t, w.Done(""))
}

func TestResume(t *testing.T) {
	_, root := started(t)
	two := open(t, root, "codex:s2")
	require.NoError(t, two.Resume("add-login"))
	slug, err := two.Active()
	require.NoError(t, err)
	require.Equal(t, "add-login", slug)
}

// Nothing is written through a link that somebody has put in the way.
func TestLinks(t *testing.T) {
	for _, link := range []string{".kontourai", workflow.Dir, workflow.Dir + "/current", workflow.Dir + "/.lock", workflow.Dir + "/x"} {
		root, elsewhere := t.TempDir(), t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(link)), 0o755))
		target := elsewhere
		if strings.HasSuffix(link, ".lock") {
			target = filepath.Join(elsewhere, "new")
		}
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
		require.Error(t, open(t, root, "a").Start("x", "r", nil), link)
		list, err := os.ReadDir(elsewhere)
		require.NoError(t, err)
		require.Empty(t, list, link)
	}
}

// Writers at the same moment lose nothing.
func TestTogether(t *testing.T) {
	w, root := started(t)
	var wg sync.WaitGroup
	errs := make([]error, 24)
	for i := range errs {
		wg.Go(func() {
			for {
				errs[i] = w.Evidence("add-login", writer.Check{ID: "c" + strconv.Itoa(i), Status: "pass"})
				if errs[i] == nil || !strings.Contains(errs[i].Error(), "another process") {
					return
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	var e struct{ Checks []struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(file(t, root, "add-login/evidence.json")), &e))
	require.Len(t, e.Checks, len(errs))
}

// A writer that is killed leaves whole files, and no lock that stays.
func TestKilled(t *testing.T) {
	if os.Getenv("WRITER_ROOT") != "" {
		w := open(t, os.Getenv("WRITER_ROOT"), "claude-code:s1")
		for i := 0; ; i++ {
			require.NoError(t, w.Next("add-login", writer.Next{Summary: fmt.Sprint("step ", i, strings.Repeat(" x", 900))}))
		}
	}
	w, root := started(t)
	for i := range 20 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
		cmd.Env = append(os.Environ(), "WRITER_ROOT="+root)
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(5+3*i) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		require.True(t, json.Valid([]byte(file(t, root, "add-login/state.json"))))
		require.NoError(t, w.Advance("add-login", "planned", ""))
	}
	left, err := filepath.Glob(filepath.Join(root, workflow.Dir, "add-login", ".tmp-*"))
	require.NoError(t, err)
	require.Empty(t, left, "what killed writers left is swept")
}
