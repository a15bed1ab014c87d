package acceptance

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/conformance/fakemodel"
	"github.com/flow-agents/flow-agents/conformance/observed"
	"github.com/flow-agents/flow-agents/generators/model"
)

// Every host folder must be able to play every case.
func TestCasesOfAllHosts(t *testing.T) {
	data := os.DirFS("testdata")
	files, err := filepath.Glob("testdata/*/host.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		id := filepath.Base(filepath.Dir(f))
		t.Run(id, func(t *testing.T) {
			h, err := LoadHost(data, id)
			require.NoError(t, err)
			cases, err := LoadCases(data, id, h)
			require.NoError(t, err)
			for trap, outcome := range h.Traps {
				used := false
				for _, c := range cases {
					for _, s := range c.Steps {
						for _, k := range s.Checks {
							used = used || k.When == trap+"="+outcome
						}
					}
				}
				assert.True(t, used, "no check looks at the outcome %q of %s", outcome, trap)
			}
		})
	}
}

func TestCaseMistakesAreFound(t *testing.T) {
	const host = `{"calls":{"write":{"tool":"W","input":{"p":"{path}"}}},"traps":{"t":"a"}}`
	for name, c := range map[string]struct{ steps, want string }{
		"verb":         {`{"do":"instal"}`, "no such verb"},
		"call":         {`{"do":"session","main":[[{"call":"wrote"}]]}`, `no call "wrote"`},
		"sight":        {`{"do":"session","checks":[{"see":"blocked"}]}`, `no such sight: "blocked"`},
		"id":           {`{"do":"session","checks":[{"see":"ran","call":"x"}]}`, `no call has the id "x"`},
		"trap":         {`{"do":"session","checks":[{"see":"told","when":"u=a"}]}`, `no outcome for the trap "u"`},
		"key":          {`{"do":"session","main":[],"check":[]}`, `unknown field "check"`},
		"clone, no in": {`{"do":"clone"}`, "needs in"},
	} {
		t.Run(name, func(t *testing.T) {
			data := fstest.MapFS{
				"h/host.json":  {Data: []byte(host)},
				"cases/1.json": {Data: []byte(`{"name":"n","title":"t","steps":[` + c.steps + `]}`)},
			}
			h, err := LoadHost(data, "h")
			require.NoError(t, err)
			_, err = LoadCases(data, "h", h)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// watched is a session as it would look if a host had sent these requests and
// left these files.
func watched(t *testing.T, step Step, requests ...string) view {
	t.Helper()
	base := t.TempDir()
	r := &Rig{
		Host: Host{Calls: map[string]Call{"write": {Tool: "Write", Input: []byte(`{"p":"{path}"}`)}}, Report: &Report{Fired: map[string]string{"hook": "{native}", "ok": "yes"}}},
		Catalog: &model.Catalog{
			Protection: model.Protection{Reason: "BLOCKED: {file} configures {tool}."},
			Hosts: []model.Host{
				{ID: "other", Surfaces: map[string]model.Surface{"main": {Events: map[string]model.Mapping{"stop": {Native: []string{"End"}}}}}},
				{ID: "h", Surfaces: map[string]model.Surface{"main": {Events: map[string]model.Mapping{"stop": {Native: []string{"Stop"}}}}}},
			},
		},
		ID: "h",
	}
	w := &world{rig: r, base: base, home: filepath.Join(base, "home")}
	script, err := r.Host.script(step, w.fill(w.repo()))
	require.NoError(t, err)
	srv, err := fakemodel.Start(script, fakemodel.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = srv.Close() })
	for _, messages := range requests {
		body := fmt.Sprintf(`{"tools":[{}],"messages":%s}`, w.fill(w.repo())(messages))
		resp, err := http.Post(srv.URL+"/v1/messages", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	return view{world: w, step: step, dir: w.repo(), model: srv, before: w.look(step, w.repo())}
}

func turn(say string) Turn { return Turn{{Say: say}} }

func TestSights(t *testing.T) {
	one, none := 1, 0
	step := Step{
		Do:   DoSession,
		Main: []Turn{{{Call: "write", ID: "c1", With: map[string]string{"path": "{dir}/f"}}, {Call: "write", ID: "c2"}}, turn("done")},
		Checks: []Check{
			{See: "unchanged", Path: "{dir}/kept"},
			{See: "holds", Path: "{dir}/edited"},
		},
	}
	v := watched(t, step,
		`[{"role":"user","content":"go\nSTATE: task is open"}]`,
		`[{"role":"user","content":"go\nSTATE: task is open"},{"role":"assistant","content":"STATE: my own"},{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"hook error: BLOCKED: {repo}/f configures ESLint."},
			{"type":"tool_result","tool_use_id":"c2","content":"written"}]}]`)
	dir := v.world.repo()
	require.NoError(t, write(filepath.Join(dir, "kept"), []byte("a")))
	require.NoError(t, write(filepath.Join(dir, "edited"), []byte("a")))
	v.before = v.world.look(step, dir)
	require.NoError(t, write(filepath.Join(dir, "edited"), []byte("ab")))
	require.NoError(t, write(filepath.Join(v.world.base, "foreign.log"), []byte("fired\n")))
	record := `{"schema_version":"0.3.0","timestamp":"t","event_id":"e-1","event_type":"turn.user","session_id":"r-1","agent":{"runtime":"h"}}` + "\n"
	require.NoError(t, write(filepath.Join(dir, ".telemetry", "full.jsonl"), []byte(record)))
	v.after = v.world.look(step, dir)
	v.stdout = `{"hook":"Stop","ok":"yes","more":1}` + "\n" + `{"hook":"Stop","ok":"no"}` + "\nnoise\n" + `{"hook":"End","ok":"yes"}` + "\n"

	for _, c := range []struct {
		check     Check
		saw, fail string
	}{
		{Check{See: "told", Text: "STATE: task"}, `the model reads "STATE: task is open"`, ""},
		{Check{See: "told", Text: "STATE: task", Times: &one}, `the model reads once "STATE: task is open"`, ""},
		{Check{See: "told", Text: "STATE: my", Times: &none}, `the model never reads "STATE: my"`, ""},
		{Check{See: "told", Text: "STATE: my"}, "", "no request holds"},
		{Check{See: "told", Text: "STATE: task", Times: &none}, "", "1 times, not 0"},
		{Check{See: "refused", Call: "c1", Reason: &Reason{"{dir}/f", "ESLint"}}, `Write refused, the model reads "hook error: BLOCKED: <project>/f configures ESLint."`, ""},
		{Check{See: "refused", Call: "c1", Reason: &Reason{"{dir}/f", "Ruff"}}, "", "it should hold"},
		{Check{See: "refused", Call: "c2"}, "", "error: false"},
		{Check{See: "ran", Call: "c2"}, "Write ran", ""},
		{Check{See: "ran", Call: "c1"}, "", "Write failed"},
		{Check{See: "unchanged", Path: "{dir}/kept"}, "kept is unchanged", ""},
		{Check{See: "unchanged", Path: "{dir}/edited"}, "", "changed from"},
		{Check{See: "unchanged", Path: "{dir}/never"}, "", "changed from"},
		{Check{See: "holds", Path: "{dir}/edited", Text: "b"}, "edited is edited", ""},
		{Check{See: "holds", Path: "{dir}/edited", Text: "a"}, "", "should have gained"},
		{Check{See: "records", Type: "turn.user", Times: &one}, "turn.user is recorded once", ""},
		{Check{See: "records", Type: "tool.invoke", Times: &none}, "no tool.invoke is recorded", ""},
		{Check{See: "records", Type: "tool.invoke"}, "", "0 records of type tool.invoke among 1"},
		{Check{See: "well-formed"}, "every record is valid JSON with a whole envelope and one session id", ""},
		{Check{See: "recorded", Text: `"runtime":"h"`}, `a turn.user record holds "runtime":"h"`, ""},
		{Check{See: "recorded", Text: "nothing like it"}, "", "no record holds"},
		{Check{See: "unrecorded", Texts: []string{"secret"}}, "no record holds the prompt or a tool's input", ""},
		{Check{See: "unrecorded", Texts: []string{"turn.user"}}, "", "a record holds"},
		{Check{See: "foreign", Times: &one}, "the user's own hook fired once", ""},
		{Check{See: "fired", Event: "stop", Times: &one}, "the host reports that its Stop hook ran once and ended well", ""},
		{Check{See: "fired", Event: "agentSpawn"}, "", "reports 0 hooks"},
		{Check{See: "foreign", Times: &none}, "", "fired 1 times"},
	} {
		saw, err := sights[c.check.See](v, c.check)
		if c.fail != "" {
			assert.ErrorContains(t, err, c.fail, "%+v", c.check)
			continue
		}
		assert.NoError(t, err, "%+v", c.check)
		assert.Equal(t, c.saw, v.scrub(saw))
	}

	for _, bad := range []string{"{\n", record + record, strings.Replace(record, `"r-1"`, `""`, 1), record + strings.NewReplacer("e-1", "e-2", "r-1", "r-2").Replace(record)} {
		require.NoError(t, write(filepath.Join(dir, ".telemetry", "full.jsonl"), []byte(bad)))
		v.after = v.world.look(step, dir)
		_, err := v.wellFormed(Check{})
		assert.Error(t, err, bad)
	}
}

func TestSessionThatDoesNotEndWell(t *testing.T) {
	step := Step{Do: DoSession, Main: []Turn{turn("a"), turn("b")}}
	hello := `[{"role":"user","content":"x"}]`
	assert.ErrorContains(t, watched(t, step, hello).played().Err, "1 turns of the main")
	assert.ErrorContains(t, watched(t, step, hello, hello, hello).played().Err, "went on for 1 requests")
	v := watched(t, step, hello, hello)
	assert.NoError(t, v.played().Err)
	v.ended, v.stderr = errors.New("exit status 1"), "noise\nno such option\n"
	assert.ErrorContains(t, v.played().Err, "exit status 1: no such option")
}

func TestScriptSpeaksTheHostsWords(t *testing.T) {
	h := Host{Calls: map[string]Call{"write": {Tool: "W", Input: []byte(`{"files":[{"p":"{path}","n":3}]}`)}}}
	s, err := h.script(Step{Main: []Turn{{{Call: "write", ID: "x", With: map[string]string{"path": `{dir}/a "quoted"`}}}}}, strings.NewReplacer("{dir}", "/d").Replace)
	require.NoError(t, err)
	assert.Equal(t, "W", s.Main[0].Blocks[0].Tool)
	assert.JSONEq(t, `{"files":[{"p":"/d/a \"quoted\"","n":3}]}`, string(s.Main[0].Blocks[0].Input))
}

func TestObserve(t *testing.T) {
	r := &Rig{Catalog: &model.Catalog{}, Driver: &model.Driver{NPM: model.NPM{Package: "p"}}, Program: Program{Version: "1.0.0"}}
	run := Observe(r, []Seen{
		{Cell: "event:stop", Saw: "a"}, {Cell: "event:stop", Saw: "b"}, {Cell: "event:stop", Saw: "a"},
		{Cell: "case:x", Saw: "a"}, {Cell: "case:x", Err: errors.New("not\nso")},
		{Cell: "case:y"},
	}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	assert.Equal(t, "2026-01-02", run.On)
	assert.Equal(t, map[string]observed.Cell{
		"event:stop": {Result: observed.Pass, Saw: "a; b"},
		"case:x":     {Result: observed.Fail, Saw: "not so"},
		"case:y":     {Result: observed.Pass, Saw: "the session ran to its end"},
	}, run.Cells)
	var b strings.Builder
	require.NoError(t, Print(&b, "h", run))
	assert.Contains(t, b.String(), "event:stop  pass")
	PrintDifferences(&b, observed.Run{Version: "0.9.0"}, observed.Compare(observed.Run{}, run))
	assert.Contains(t, b.String(), "case:x was absent, is fail")
}

func TestFindProgram(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
	dir := t.TempDir()
	d := &model.Driver{NPM: model.NPM{Package: "@v/host", Version: "1.2.3", Bin: "host"}}
	put := func(name, text string) {
		p := filepath.Join(dir, "node_modules", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte(text), 0o755))
	}
	_, err := findProgram(t.Context(), dir, d)
	require.ErrorContains(t, err, "@v/host is not installed")
	put("@v/host/package.json", `{"version":"1.2.3"}`)
	_, err = findProgram(t.Context(), dir, d)
	require.ErrorContains(t, err, "no program host for this platform")
	put("@v/host-a/host", "#!/bin/sh\nexit 1\n")
	_, err = findProgram(t.Context(), dir, d)
	require.ErrorContains(t, err, "does not run on this platform")
	put("@v/host-b/host", "#!/bin/sh\necho \"1.2.3 (Host) $HOST_SECRET\"\n")
	t.Setenv("HOST_SECRET", "leaked")
	p, err := findProgram(t.Context(), dir, d)
	require.NoError(t, err)
	assert.Equal(t, Program{filepath.Join(dir, "node_modules/@v/host-b/host"), "1.2.3", "1.2.3 (Host)"}, p)
}
