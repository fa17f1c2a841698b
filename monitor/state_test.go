package monitor

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestJudge(t *testing.T) {
	const old = time.Hour
	broken := &Problem{Cause: CauseLanguageServer, Kind: StartFailed}
	for _, c := range []struct {
		name  string
		facts Facts
		state State
		cause Cause
		gone  bool
	}{
		{"just started", Facts{Age: time.Second}, StateStarting, "", false},
		{"just started, port open", Facts{Age: time.Second, Listens: true}, StateStarting, "", false},
		{"just started, first probes fail", Facts{Age: 20 * time.Second, Listens: true, Failures: 9, FailingFor: 18 * time.Second}, StateStarting, "", false},
		{"never answered, budget spent", Facts{Age: StartBudget, Listens: true, Failures: 9, FailingFor: 50 * time.Second}, StateZombie, CauseUnreachable, false},
		{"never answered, but only just asked", Facts{Age: old, Listens: true, Failures: 1}, StateStarting, "", false},
		{"no dashboard", Facts{Age: old}, StateLive, "", false},
		{"answers, project", Facts{Age: old, Listens: true, Answered: true, Project: true}, StateProject, "", false},
		{"answers, no project", Facts{Age: old, Listens: true, Answered: true}, StateNoProject, "", false},
		{"one failed probe", Facts{Age: old, Answered: true, Project: true, Failures: 1}, StateProject, "", false},
		{"one failed probe long ago", Facts{Age: old, Answered: true, Project: true, Failures: 1, FailingFor: time.Hour}, StateProject, "", false},
		{"many failures at once", Facts{Age: old, Answered: true, Project: true, Failures: 20, FailingFor: 14 * time.Second}, StateProject, "", false},
		{"three over 15 s", Facts{Age: old, Answered: true, Project: true, Failures: 3, FailingFor: 15 * time.Second}, StateZombie, CauseUnreachable, false},
		{"three over 15 s with a call running", Facts{Age: old, Answered: true, Project: true, Failures: 3, FailingFor: 119 * time.Second, Working: true}, StateProject, "", false},
		{"over two minutes with a call running", Facts{Age: old, Answered: true, Failures: 9, FailingFor: 2 * time.Minute, Working: true}, StateZombie, CauseUnreachable, false},
		{"failing while young, answered before", Facts{Age: 30 * time.Second, Answered: true, Failures: 4, FailingFor: 15 * time.Second}, StateZombie, CauseUnreachable, false},
		{"suspended", Facts{Age: old, Answered: true, Project: true, Stopped: true}, StateZombie, CauseSuspended, false},
		{"suspended while starting", Facts{Age: time.Second, Stopped: true}, StateZombie, CauseSuspended, false},
		{"suspended outranks unreachable", Facts{Age: old, Answered: true, Stopped: true, Failures: 9, FailingFor: time.Hour}, StateZombie, CauseSuspended, false},
		{"orphaned outranks suspended", Facts{Age: old, Answered: true, Stopped: true, Orphaned: true, AloneFor: OrphanedAfter}, StateZombie, CauseOrphaned, false},
		{"its client has only just gone", Facts{Age: old, Answered: true, Project: true, Orphaned: true, AloneFor: OrphanedAfter - 1}, StateProject, "", false},
		{"its client has gone, a call runs", Facts{Age: old, Answered: true, Project: true, Orphaned: true, AloneFor: OrphanedWhenBusy - 1, Working: true}, StateProject, "", false},
		{"its client has gone, a call never ends", Facts{Age: old, Answered: true, Orphaned: true, AloneFor: OrphanedWhenBusy, Working: true}, StateZombie, CauseOrphaned, false},
		{"suspected", Facts{Age: old, Answered: true, Project: true, Suspected: true, AloneFor: OrphanedAfter}, StateZombie, CauseSuspected, false},
		{"suspended outranks suspected", Facts{Age: old, Stopped: true, Suspected: true, AloneFor: time.Hour}, StateZombie, CauseSuspended, false},
		{"suspected outranks unreachable", Facts{Age: old, Unreachable: true, Suspected: true, AloneFor: time.Hour}, StateZombie, CauseSuspected, false},
		{"a kind without a dashboard", Facts{Age: time.Second, NoDashboard: true}, StateLive, "", false},
		{"a kind without a dashboard, orphaned", Facts{Age: old, NoDashboard: true, Orphaned: true, AloneFor: time.Hour}, StateZombie, CauseOrphaned, false},
		{"exited", Facts{Age: old, Answered: true, Exited: true}, "", "", true},
		{"exited, suspended before", Facts{Age: old, Answered: true, Exited: true, Stopped: true}, "", "", true},
		{"exited, its parent has had no time", Facts{Age: old, Exited: true, Unreaped: true, ExitedFor: DefunctAfter - 1}, "", "", true},
		{"its language server is dead", Facts{Age: old, Answered: true, Project: true, Problem: broken}, StateZombie, CauseLanguageServer, false},
		{"unreachable outranks that", Facts{Age: old, Answered: true, Unreachable: true, Problem: broken}, StateZombie, CauseUnreachable, false},
		{"its language server has merely ended", Facts{Age: old, Answered: true, Project: true, Problem: &Problem{Kind: Ended}}, StateProject, CauseNone, false},
		{"another has its port", Facts{Age: 20 * time.Second, Problem: &Problem{Cause: CauseNoDashboard}}, StateZombie, CauseNoDashboard, false},
		{"exited, not reaped", Facts{Age: old, Exited: true, Unreaped: true, ExitedFor: DefunctAfter}, StateZombie, CauseDefunct, false},
		{"exited, reaped late", Facts{Age: old, Exited: true, ExitedFor: time.Hour}, "", "", true},
	} {
		got := Judge(c.facts)
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

func genFacts(t *rapid.T) Facts {
	span := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "ns"))
	})
	return Facts{
		Age:    span.Draw(t, "age"),
		Exited: rapid.Bool().Draw(t, "exited"), ExitedFor: span.Draw(t, "exitedFor"), Unreaped: rapid.Bool().Draw(t, "unreaped"),
		Stopped: rapid.Bool().Draw(t, "stopped"), Orphaned: rapid.Bool().Draw(t, "orphaned"), Suspected: rapid.Bool().Draw(t, "suspected"), AloneFor: span.Draw(t, "aloneFor"),
		NoDashboard: rapid.Bool().Draw(t, "noDashboard"),
		Listens:     rapid.Bool().Draw(t, "listens"), Answered: rapid.Bool().Draw(t, "answered"),
		Failures: rapid.IntRange(0, 10).Draw(t, "failures"), FailingFor: span.Draw(t, "failingFor"),
		Unreachable: rapid.Bool().Draw(t, "unreachable"), Working: rapid.Bool().Draw(t, "working"), Project: rapid.Bool().Draw(t, "project"),
	}
}

func TestJudgeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := genFacts(t)
		v := Judge(f)
		if (v.State == StateZombie) != (v.Cause != CauseNone) {
			t.Fatalf("red and a cause go together: %+v", v)
		}
		if v.Gone == (v.State != "") {
			t.Fatalf("gone or a state, never both or neither: %+v", v)
		}
		if v.Cause == CauseUnreachable && !f.Unreachable && (f.Failures < FailuresForRed || f.FailingFor < FailingForRed) {
			t.Fatalf("red on too little: %+v", f)
		}
		// One good answer heals whatever probing alone had found.
		healed := f
		healed.Answered, healed.Unreachable, healed.Failures, healed.FailingFor = true, false, 0, 0
		if got := Judge(healed); got.Cause == CauseUnreachable {
			t.Fatalf("still unreachable after an answer: %+v", healed)
		}
		// Once unreachable, only an answer heals, not the end of the work. (A
		// lost client comes before it, and is waited for by the work.)
		if v.Cause == CauseUnreachable {
			later := f
			later.Unreachable, later.Working = true, !f.Working
			later.Orphaned, later.Suspected = false, false
			if Judge(later) != v {
				t.Fatalf("healed by working: %+v", later)
			}
		}
		if f.Exited && v.Cause != CauseNone && v.Cause != CauseDefunct {
			t.Fatalf("an exited process is gone or defunct: %+v", v)
		}
	})
}
