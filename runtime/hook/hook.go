// Package hook is the whole way of one event: from the host's payload on
// standard input to the answer that the host understands.
//
// An error of our own never stops work: it is noted in the local log, and the
// host goes on as if there were no hook. The exception is what the policies
// call closed: see Run, and run.guard for what happens when time runs out.
//
// A limit that can't be lifted from inside: when the Go runtime itself gives
// up (no memory, no threads) it exits with 2, which a host whose refusals are
// exit codes takes for one. Panics are caught, this can't be. The tables of
// hosts that are answered in JSON never use exit 2, but the host may; neither
// it nor the line in its config that starts the hook can tell the two apart.
package hook

import (
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/flow-agents/flow-agents/runtime/diagnostic"
	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/host"
	"github.com/flow-agents/flow-agents/runtime/jsontext"
	"github.com/flow-agents/flow-agents/runtime/policy/configprotection"
	"github.com/flow-agents/flow-agents/runtime/policy/steering"
	"github.com/flow-agents/flow-agents/runtime/settings"
	"github.com/flow-agents/flow-agents/runtime/tables"
	"github.com/flow-agents/flow-agents/runtime/telemetry"
	"github.com/flow-agents/flow-agents/runtime/workflow"
	"github.com/flow-agents/flow-agents/runtime/workspace"
)

const (
	// maxInput is the largest payload in bytes; SA_HOOK_INPUT_MAX_BYTES
	// changes it.
	maxInput = 1 << 20
	// maxIdle is how long the input may stay silent before it is whole.
	maxIdle = 5 * time.Second
	// spare is how long before its host's deadline the hook answers.
	spare = 2 * time.Second
)

// Streams are the process's own.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Exit ends the process when time is up, while In may still be blocked.
	Exit func(code int)
}

// Run answers one event: it reads the payload, lets the policies that are
// wired to the event decide, records what happened, and writes the answer. It
// returns the exit code that the host expects.
//
// A payload that is longer than the limit, nested deeper than JSON is read, or
// ends before it is whole, is decided by the policies that are closed to
// truncated input.
func Run(id, native string, std Streams) (code int) {
	// A Go program that dies of a panic exits with 2, which hosts take for a
	// refusal.
	defer func() {
		if recover() != nil {
			code = 0
		}
	}()
	h, err := host.Find(id, native)
	if err != nil {
		what := err.Error() + " " + strconv.Quote(id+" "+native)
		_, _ = io.WriteString(std.Err, "flow-agents-hook: "+what+"; nothing was checked\n")
		log := &diagnostic.Log{Prefix: "hook"}
		log.Add(what)
		log.Flush(workspace.Open(""))
		return 0
	}
	r := &run{Hook: h, log: diagnostic.Log{Prefix: id + " " + native}}
	r.start(std)
	in := jsontext.FirstValue(std.In, inputLimit(), r.heard)
	r.reading = false
	r.heard()

	a := r.answer(in)
	if !r.done.CompareAndSwap(false, true) {
		select {} // the watchdog is ending the process
	}
	if err := std.give(a); err != nil {
		r.log.Add("the answer could not be written: " + err.Error())
	}
	r.timer.Stop()
	r.log.Flush(r.view)
	return a.Exit
}

func (s Streams) give(a host.Answer) (err error) {
	if len(a.Stdout) > 0 {
		_, err = s.Out.Write(a.Stdout)
	}
	if len(a.Stderr) > 0 {
		if _, e := s.Err.Write(a.Stderr); err == nil {
			err = e
		}
	}
	return err
}

type run struct {
	host.Hook
	log      diagnostic.Log
	view     workspace.View
	settings settings.Settings

	timer    *time.Timer
	deadline time.Time
	reading  bool
	// done: the answer has been given, by whoever set it.
	done atomic.Bool
	// late is the answer if time runs out; nil: no objection.
	late atomic.Pointer[host.Answer]
}

// start sets the time at which the hook gives up.
func (r *run) start(std Streams) {
	limit := deadline(r.Host.ID, r.Event.TimeoutMs)
	r.deadline = time.Now().Add(limit)
	r.reading = true
	prefix := r.log.Prefix
	r.timer = time.AfterFunc(min(limit, maxIdle), func() { r.expire(std, prefix) })
}

// expire ends the process with the answer for that case. What holds it up may
// be a disk, so the log comes last, and not for long.
func (r *run) expire(std Streams, prefix string) {
	code := 0
	defer func() {
		if recover() != nil {
			std.Exit(code)
		}
	}()
	if !r.done.CompareAndSwap(false, true) {
		return
	}
	log := &diagnostic.Log{Prefix: prefix}
	log.Add("no answer in time: the input was not complete, or a disk is slow")
	if a := r.late.Load(); a != nil {
		code = a.Exit
		_ = std.give(*a)
	}
	enough := time.AfterFunc(spare/4, func() { std.Exit(code) })
	log.Flush(workspace.Open(""))
	enough.Stop()
	std.Exit(code)
}

// guard sets what is answered if time runs out before the event is decided: a
// call that edits files is refused, because it was not judged. The rest passes.
func (r *run) guard(e *event.Event, s *settings.Settings) {
	p := &tables.Policies[tables.ConfigProtection]
	edits := e.Kind == event.PreToolUse && (e.Call.Writes || e.Truncated)
	if !edits || s.Observe || !s.Runs(p.ID, p.Profiles) {
		r.late.Store(nil)
		return
	}
	a := r.Encode(configprotection.Unanswered())
	r.late.Store(&a)
}

// heard postpones the end: input came in, or is complete.
func (r *run) heard() {
	left := time.Until(r.deadline)
	if r.reading {
		left = min(left, maxIdle)
	}
	r.timer.Reset(left)
}

// deadline is how long the hook may take: a little less than the host waits,
// or what FLOW_AGENTS_<HOST>_HOOK_TIMEOUT_MS says, but never more.
func deadline(id string, timeoutMs int) time.Duration {
	total := time.Duration(timeoutMs) * time.Millisecond
	limit := max(total-spare, total/2)
	name := strings.ToUpper(strings.ReplaceAll(id, "-", "_"))
	short, _, _ := strings.Cut(name, "_")
	for _, n := range []string{name, short} {
		ms, err := strconv.Atoi(os.Getenv("FLOW_AGENTS_" + n + "_HOOK_TIMEOUT_MS"))
		if err == nil && ms > 0 {
			return min(limit, time.Duration(min(ms, timeoutMs))*time.Millisecond)
		}
	}
	return limit
}

func inputLimit() int {
	if n, err := strconv.Atoi(os.Getenv("SA_HOOK_INPUT_MAX_BYTES")); err == nil && n > 0 {
		return min(n, 256<<20)
	}
	return maxInput
}

// answer decides and records. A panic counts as an error of our own.
func (r *run) answer(in jsontext.Input) (a host.Answer) {
	defer func() {
		if p := recover(); p != nil {
			what := "panic"
			switch p := p.(type) {
			case error:
				what += ": " + p.Error()
			case string:
				what += ": " + p
			}
			a = r.failed(what)
		}
	}()
	truncated := in.End == jsontext.TooLong || in.End == jsontext.TooDeep || in.End == jsontext.Broken
	switch os.Getenv("SA_HOOK_INPUT_TRUNCATED") {
	case "1", "true":
		truncated = true
	}
	if in.End == jsontext.Malformed {
		r.load("")
		return r.failed("the input is not JSON")
	}
	e := r.Decode(in.Text, truncated)
	// What the settings' files say is not known yet, and the disk may be slow.
	known := settings.Load(workspace.View{})
	r.guard(e, &known)
	r.load(e.Cwd)
	r.guard(e, &r.settings)
	switch {
	case truncated:
		r.log.Add("the input is longer than the limit, nested too deeply, or ends too early")
	case in.Text == nil || in.Text[0] != '{':
		r.log.Add("the input is not a JSON object")
	}
	state, stateful := workflow.Open(r.view.Root, time.Now())
	if stateful {
		if err := state.Touch(workflow.Actor(e.Host, e.Session), e.Kind == event.SessionEnd); err != nil {
			r.log.Add(err.Error())
		}
	}
	d := r.decide(e, state, stateful)
	a = r.Encode(d)
	r.late.Store(&a)
	if err := telemetry.Append(r.view, &r.settings, e, d, r.has(event.SessionEnd)); err != nil {
		r.log.Add(err.Error())
	}
	return a
}

func (r *run) load(cwd string) {
	r.view = workspace.Open(cwd)
	r.settings = settings.Load(r.view)
	for _, p := range r.settings.Problems {
		r.log.Add(p)
	}
}

// failed notes an error of our own and lets the event pass, unless the
// settings ask for the opposite and the host can be told.
func (r *run) failed(what string) host.Answer {
	r.log.Add("internal error: " + what)
	if !r.settings.FailClosed || r.settings.Observe || r.Event.Kind != event.PreToolUse {
		return host.Answer{}
	}
	return r.Encode(event.Decision{
		Verdict: event.Deny, Policy: tables.Policies[tables.ConfigProtection].ID, Rule: "internal-error",
		Text: "BLOCKED: this call could not be checked, and the settings say to refuse it then. The reason is in .flow-agents/" + diagnostic.Name + ".",
	})
}

// decide runs the policies that are wired to the event, in their fixed order.
func (r *run) decide(e *event.Event, state workflow.Store, stateful bool) event.Decision {
	var d event.Decision
	for _, t := range r.Event.Policies {
		p := &tables.Policies[t.Policy]
		concerned := t.Classes == 0 || t.Classes>>e.Call.Class&1 == 1 || e.Truncated && p.Closed
		if !concerned || !p.Enforced || !r.settings.Runs(p.ID, p.Profiles) {
			continue
		}
		switch t.Policy {
		case tables.WorkflowSteering:
			if !r.Says(event.Context) {
				continue
			}
			said, err := steering.Decide(e, r.view, state, stateful)
			if err != nil {
				r.log.Add(err.Error())
			}
			d = d.Join(said)
		case tables.ConfigProtection:
			d = d.Join(configprotection.Decide(e, r.view, &r.settings))
		case tables.QualityGate, tables.StopGoalFit, tables.EvidenceCapture:
			// Planned: events reach them here, and they decide nothing yet.
		}
	}
	if e.Kind == event.AgentSpawn && r.Says(event.Context) {
		d = d.Join(r.unread())
	}
	if !r.Says(d.Verdict) {
		r.log.Add("the host can't be told the verdict " + d.Verdict.String() + " at this event")
	}
	d.Observed = r.settings.Observe && d.Verdict >= event.Ask
	return d
}

// unread warns, at the start of a session, of settings that hold nothing: their
// rules are missing, and nobody looks into the log.
func (r *run) unread() event.Decision {
	if len(r.settings.Unread) == 0 {
		return event.Decision{}
	}
	return event.Decision{Verdict: event.Context, Policy: tables.Policies[tables.ConfigProtection].ID, Rule: "settings-unread",
		Text: "flow-agents: " + strings.Join(r.settings.Unread, " and ") + " can't be read, so no rule in it holds. Tell the user; flow-agents status says what is wrong."}
}

// has reports whether the surface maps an event of the kind.
func (r *run) has(k event.Kind) bool {
	for i := range r.Surface.Events {
		if r.Surface.Events[i].Kind == k {
			return true
		}
	}
	return false
}
