package monitor

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestJudge(t *testing.T) {
	const old = time.Hour
	at := time.Now()
	ago := func(span time.Duration) time.Time { return at.Add(-span) }
	broken := &Problem{Cause: CauseLanguageServer, Kind: StartFailed}
	for _, c := range []struct {
		name  string
		facts Facts
		use   Evidence
		state State
		cause Cause
		gone  bool
	}{
		{"just started", Facts{Born: ago(time.Second)}, Evidence{}, StateStarting, "", false},
		{"just started, port open", Facts{Born: ago(time.Second), Listens: true}, Evidence{}, StateStarting, "", false},
		{"just started, first probes fail", Facts{Born: ago(20 * time.Second), Listens: true, Failures: 9, FailingSince: ago(18 * time.Second)}, Evidence{}, StateStarting, "", false},
		{"never answered, budget spent", Facts{Born: ago(StartBudget), Listens: true, Failures: 9, FailingSince: ago(50 * time.Second)}, Evidence{}, StateZombie, CauseUnreachable, false},
		{"never answered, but only just asked", Facts{Born: ago(old), Listens: true, Failures: 1}, Evidence{}, StateStarting, "", false},
		{"no dashboard", Facts{Born: ago(old)}, Evidence{}, StateLive, "", false},
		{"answers, project", Facts{Born: ago(old), Listens: true, Answered: true, Project: true}, Evidence{}, StateProject, "", false},
		{"answers, no project", Facts{Born: ago(old), Listens: true, Answered: true}, Evidence{}, StateNoProject, "", false},
		{"one failed probe", Facts{Born: ago(old), Answered: true, Project: true, Failures: 1}, Evidence{}, StateProject, "", false},
		{"one failed probe long ago", Facts{Born: ago(old), Answered: true, Project: true, Failures: 1, FailingSince: ago(time.Hour)}, Evidence{}, StateProject, "", false},
		{"many failures at once", Facts{Born: ago(old), Answered: true, Project: true, Failures: 20, FailingSince: ago(14 * time.Second)}, Evidence{}, StateProject, "", false},
		{"three over 15 s", Facts{Born: ago(old), Answered: true, Project: true, Failures: 3, FailingSince: ago(15 * time.Second)}, Evidence{}, StateZombie, CauseUnreachable, false},
		{"three over 15 s with a call running", Facts{Born: ago(old), Answered: true, Project: true, Failures: 3, FailingSince: ago(119 * time.Second), Busy: true}, Evidence{}, StateProject, "", false},
		{"over two minutes with a call running", Facts{Born: ago(old), Answered: true, Failures: 9, FailingSince: ago(2 * time.Minute), Busy: true}, Evidence{}, StateZombie, CauseUnreachable, false},
		{"failing while young, answered before", Facts{Born: ago(30 * time.Second), Answered: true, Failures: 4, FailingSince: ago(15 * time.Second)}, Evidence{}, StateZombie, CauseUnreachable, false},
		{"suspended", Facts{Born: ago(old), Answered: true, Project: true, Stopped: true}, Evidence{}, StateZombie, CauseSuspended, false},
		{"suspended while starting", Facts{Born: ago(time.Second), Stopped: true}, Evidence{}, StateZombie, CauseSuspended, false},
		{"suspended outranks unreachable", Facts{Born: ago(old), Answered: true, Stopped: true, Failures: 9, FailingSince: ago(time.Hour)}, Evidence{}, StateZombie, CauseSuspended, false},
		{"orphaned outranks suspended", Facts{Born: ago(old), Answered: true, Stopped: true}, Evidence{Orphaned: true, AloneSince: ago(OrphanedAfter)}, StateZombie, CauseOrphaned, false},
		{"its client has only just gone", Facts{Born: ago(old), Answered: true, Project: true}, Evidence{Orphaned: true, AloneSince: ago(OrphanedAfter - 1)}, StateProject, "", false},
		{"its client has gone, a call runs", Facts{Born: ago(old), Answered: true, Project: true, Busy: true}, Evidence{Orphaned: true, AloneSince: ago(OrphanedWhenBusy - 1)}, StateProject, "", false},
		{"its client has gone, a call never ends", Facts{Born: ago(old), Answered: true, Busy: true}, Evidence{Orphaned: true, AloneSince: ago(OrphanedWhenBusy)}, StateZombie, CauseOrphaned, false},
		{"suspected", Facts{Born: ago(old), Answered: true, Project: true}, Evidence{Suspected: true, AloneSince: ago(OrphanedAfter)}, StateZombie, CauseSuspected, false},
		{"suspended outranks suspected", Facts{Born: ago(old), Stopped: true}, Evidence{Suspected: true, AloneSince: ago(time.Hour)}, StateZombie, CauseSuspended, false},
		{"suspected outranks unreachable", Facts{Born: ago(old), Unreachable: true}, Evidence{Suspected: true, AloneSince: ago(time.Hour)}, StateZombie, CauseSuspected, false},
		{"a kind without a dashboard", Facts{Born: ago(time.Second), NoDashboard: true}, Evidence{}, StateLive, "", false},
		{"a kind without a dashboard, orphaned", Facts{Born: ago(old), NoDashboard: true}, Evidence{Orphaned: true, AloneSince: ago(time.Hour)}, StateZombie, CauseOrphaned, false},
		{"exited", Facts{Born: ago(old), Answered: true, ExitedAt: ago(0)}, Evidence{}, "", "", true},
		{"exited, suspended before", Facts{Born: ago(old), Answered: true, Stopped: true, ExitedAt: ago(0)}, Evidence{}, "", "", true},
		{"exited, its parent has had no time", Facts{Born: ago(old), Unreaped: true, ExitedAt: ago(DefunctAfter - 1)}, Evidence{}, "", "", true},
		{"its language server is dead", Facts{Born: ago(old), Answered: true, Project: true, Problem: broken}, Evidence{}, StateZombie, CauseLanguageServer, false},
		{"unreachable outranks that", Facts{Born: ago(old), Answered: true, Unreachable: true, Problem: broken}, Evidence{}, StateZombie, CauseUnreachable, false},
		{"its language server has merely ended", Facts{Born: ago(old), Answered: true, Project: true, Problem: &Problem{Kind: Ended}}, Evidence{}, StateProject, CauseNone, false},
		{"another has its port", Facts{Born: ago(20 * time.Second), Problem: &Problem{Cause: CauseNoDashboard}}, Evidence{}, StateZombie, CauseNoDashboard, false},
		{"exited, not reaped", Facts{Born: ago(old), Unreaped: true, ExitedAt: ago(DefunctAfter)}, Evidence{}, StateZombie, CauseDefunct, false},
		{"exited, reaped late", Facts{Born: ago(old), ExitedAt: ago(time.Hour)}, Evidence{}, "", "", true},
	} {
		got := Judge(&c.facts, &c.use, at)
		if got.State != c.state || got.Cause != c.cause || got.Gone != c.gone {
			t.Errorf("%s: got %+v, want state %q cause %q gone %v", c.name, got, c.state, c.cause, c.gone)
		}
		if !got.Gone && got.Reason == "" {
			t.Errorf("%s: no reason", c.name)
		}
	}
}

func TestProblemSentence(t *testing.T) {
	for _, c := range []struct {
		p    Problem
		want string
	}{
		{Problem{Kind: StartFailed, Language: "go", Reason: "Go is not installed"}, "the language server for go could not start: Go is not installed"},
		{Problem{Kind: StartFailed, Language: "python", Others: []string{"go", "rust"}}, "the language server for python could not start; Serena then stops all languages of the project (go, rust too)"},
		{Problem{Kind: StartFailed, Reason: "Tool timeout must be at least\x1b[2J 10 seconds"}, "its language servers were not started: Tool timeout must be at least[2J 10 seconds"},
		{Problem{Kind: CrashLoop, Language: "go", Calls: 5, Span: 11 * time.Second}, "the language server for go crashes on requests (5 times in 11 s)"},
		{Problem{Kind: RestartFailed}, "its language server ended and could not be started again"},
		{Problem{Kind: CrashedInside, Language: "typescript"}, "the language server for typescript lost its tsserver; calls fail"},
		{Problem{Kind: Hangs, Language: "go", Span: 10 * time.Second, Stopped: true}, "the language server for go does not answer: a call waited 10 s while it used no CPU (stopped by a signal)"},
		{Problem{Kind: Ended, Language: "go"}, "the language server for go ended; Serena starts it again with the next call"},
		{Problem{Cause: CauseNoDashboard, Port: 24283}, "the port of its dashboard, 24283, went to another program; the server works, but its health cannot be seen"},
		{Problem{Cause: CauseQueue, Calls: 2, Reason: "Task-3:ExecuteShellCommandTool"}, "2 calls wait behind one that does not end (Task-3:ExecuteShellCommandTool)"},
		{Problem{Cause: CauseFailing, Calls: 3, Reason: "OSError"}, "the last 3 calls failed: OSError"},
	} {
		if c.p.Kind != Ended && c.p.Cause == CauseNone {
			c.p.Cause = CauseLanguageServer
		}
		if got := c.p.Sentence(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func genFacts(t *rapid.T, at time.Time) (Facts, Evidence) {
	since := func(what string) time.Time {
		return at.Add(-time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, what)))
	}
	is := func(what string) bool { return rapid.Bool().Draw(t, what) }
	f := Facts{
		Born: since("born"), Unreaped: is("unreaped"), Stopped: is("stopped"), OneLook: is("one look"), NoDashboard: is("noDashboard"),
		Listens: is("listens"), Answered: is("answered"), Failures: rapid.IntRange(0, 10).Draw(t, "failures"), FailingSince: since("failing"),
		Unreachable: is("unreachable"), Busy: is("busy"), Project: is("project"),
		FailingCPU: time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "CPU")),
	}
	if is("exited") {
		f.ExitedAt = since("exited")
	}
	return f, Evidence{Orphaned: is("orphaned"), Suspected: is("suspected"), ClientGone: is("client gone"), AloneSince: since("alone")}
}

func TestJudgeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Now()
		f, e := genFacts(t, at)
		v := Judge(&f, &e, at)
		if (v.State == StateZombie) != (v.Cause != CauseNone) {
			t.Fatalf("red and a cause go together: %+v", v)
		}
		if v.Gone == (v.State != "") {
			t.Fatalf("gone or a state, never both or neither: %+v", v)
		}
		if v.Cause == CauseUnreachable && !f.Unreachable && (f.Failures < FailuresForRed || at.Sub(f.FailingSince) < FailingForRed) {
			t.Fatalf("red on too little: %+v", f)
		}
		// One good answer heals whatever probing alone had found.
		healed := f
		healed.Answered, healed.Unreachable, healed.Failures = true, false, 0
		if got := Judge(&healed, &e, at); got.Cause == CauseUnreachable {
			t.Fatalf("still unreachable after an answer: %+v", healed)
		}
		// Once unreachable, only an answer heals, not the end of the work. (A
		// lost client comes before it, and is waited for by the work.)
		if v.Cause == CauseUnreachable {
			later := f
			later.Unreachable, later.Busy = true, !f.Busy
			if Judge(&later, &Evidence{}, at) != v {
				t.Fatalf("healed by working: %+v", later)
			}
		}
		if !f.ExitedAt.IsZero() && v.Cause != CauseNone && v.Cause != CauseDefunct {
			t.Fatalf("an exited process is gone or defunct: %+v", v)
		}
	})
}
