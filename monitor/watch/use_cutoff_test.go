package watch

import (
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// A call that was cut off goes on where nothing tells of it.
func TestCutOffCalls(t *testing.T) {
	at := time.Now()
	tr := known()
	tr.noteAnswer(idle(cutCall), at)
	later := at.Add(time.Minute)
	tr.noteAnswer(idle(&serena.Task{Name: "Task-3:ListDirTool", Finished: true}), later)
	over := at.Add(cutOffWork)
	for _, c := range []struct{ now, want time.Time }{
		{later, time.Time{}}, {over.Add(-1), time.Time{}}, {over, over}, {over.Add(time.Hour), over},
	} {
		tr.noteTree(treeOf(), c.now)
		if got := tr.shownEvidence().IdleSince; got != c.want {
			t.Errorf("after %v: idle since %v, want %v", c.now.Sub(at), got, c.want)
		}
	}
	// The same one, seen again, is no other.
	tr = known()
	tr.noteAnswer(idle(cutCall), at)
	tr.noteAnswer(idle(cutCall), over)
	tr.noteTree(treeOf(), over)
	if got := tr.shownEvidence().IdleSince; got != over {
		t.Errorf("idle since %v", got)
	}
}

// What a call has started outlives ten minutes, and keeps its server busy.
func TestWhatACutOffCallLeaves(t *testing.T) {
	at := time.Now()
	over, long := at.Add(cutOffWork), at.Add(10*cutOffWork)
	for _, c := range []struct {
		name   string
		before []process.Stat // nil: no tree was known
		after  []process.Stat
		idle   bool
	}{
		{"nothing", treeOf(), treeOf(), true},
		{"what was there before", treeOf(5), treeOf(5), true},
		{"less than before", treeOf(5, 6), treeOf(6), true},
		{"a command", treeOf(5), treeOf(5, 9), false},
		{"a pid that is another's by now", treeOf(5), []process.Stat{treeOf()[0], {Identity: monitor.Identity{PID: 5, Start: 99}}}, false},
		{"no tree is known", treeOf(5), nil, false},
		{"none was known before", nil, treeOf(5), false},
		{"none was known before, and it is alone", nil, treeOf(), true},
	} {
		tr := known()
		if c.before != nil {
			tr.noteTree(c.before, at.Add(-time.Minute))
		}
		tr.noteAnswer(result{question: question{port: 24282, signOfLife: true, tree: tr.tree}}, at.Add(-time.Second))
		tr.noteTree(treeOf(5, 9), at) // the call is at work already
		cut := idle(cutCall)
		cut.tree = tr.tree
		tr.noteAnswer(cut, at)
		for _, now := range []time.Time{over.Add(-1), over, long} {
			tr.noteTree(c.after, now)
			if got := tr.shownEvidence().IdleSince; !got.IsZero() != (c.idle && !now.Before(over)) {
				t.Errorf("%s, after %v: idle since %v", c.name, now.Sub(at), got)
			}
		}
		tr.noteTree(treeOf(), long.Add(time.Hour))
		if got := tr.shownEvidence().IdleSince; got.IsZero() || !c.idle && got != long.Add(time.Hour) {
			t.Errorf("%s, which has ended: idle since %v", c.name, got)
		}
	}
}

// Of calls that stand one behind the other, the server tells of the last alone.
func TestCutOffBehindAnother(t *testing.T) {
	at := time.Now()
	at2 := &serena.Task{Name: "Task-2:ExecuteShellCommandTool", IsRunning: true}
	waits := &serena.Task{Name: "Task-3:FindSymbolTool"}
	ended := func(task *serena.Task) *serena.Task { return &serena.Task{Name: task.Name, Finished: true} }
	first := &serena.Task{Name: "Task-1:ListDirTool", Finished: true}
	look := func(last *serena.Task, queue ...*serena.Task) result {
		r := idle(last)
		for _, task := range queue {
			r.queue = append(r.queue, *task)
		}
		return r
	}
	running := func(task *serena.Task) *serena.Task { return &serena.Task{Name: task.Name, IsRunning: true} }
	then := &serena.Task{Name: "Task-4:FindSymbolTool"}
	counted := func(n int64, r result) result {
		r.calls = number(n)
		return r
	}
	unknown := look(nil)
	unknown.tasked = false
	for _, c := range []struct {
		name  string
		looks []result
		cut   bool
	}{
		{"the other one hides it", []result{look(first, at2, waits), look(ended(waits)), look(ended(waits))}, true},
		{"the other one is at work", []result{look(first, at2, waits), look(first, running(waits)), look(ended(waits)), look(ended(waits))}, true},
		{"its end was not told", []result{look(first, at2), unknown, unknown, look(ended(waits)), look(ended(waits))}, true},
		{"it was seen to end badly", []result{look(first, at2, waits), look(&serena.Task{Name: at2.Name}, running(waits)), look(ended(waits))}, true},
		{"it ended well", []result{look(first, at2, waits), look(ended(at2), running(waits)), look(ended(waits))}, false},
		{"it ended well between two questions", []result{look(first, at2, waits), look(first, running(waits)), look(ended(at2), running(waits)), look(ended(waits))}, false},
		{"both are counted", []result{counted(4, look(first, at2, waits)), counted(6, look(ended(waits))), look(ended(waits))}, false},
		{"one of both is counted", []result{counted(4, look(first, at2, waits)), counted(5, look(ended(waits))), look(ended(waits))}, true},
		{"a third one may have been counted", []result{
			counted(4, look(first, at2, waits)), counted(6, look(ended(waits))), counted(6, look(ended(then))), look(ended(then)),
		}, true},
		{"it never began", []result{look(first, waits), look(first)}, false},
		{"Serena's own", []result{look(first, &serena.Task{Name: ofOwn.Name, IsRunning: true}), look(first), look(first)}, false},
	} {
		tr := known()
		tr.lastTask, tr.in.Evidence.IdleSince = first.Name, at
		now := at
		for _, r := range c.looks {
			now = now.Add(usual.busy)
			tr.noteAnswer(r, now)
			if tr.calls.isAnyMissing() && (!tr.shownEvidence().IdleSince.IsZero() || tr.nextProbe.IsZero()) {
				t.Errorf("%s: idle, or not asked again, before its end is known", c.name)
			}
		}
		if got := tr.shownEvidence().IdleSince; got.IsZero() != c.cut {
			t.Errorf("%s: idle since %v", c.name, got)
		}
		tr.noteTree(treeOf(), now.Add(cutOffWork))
		if tr.shownEvidence().IdleSince.IsZero() {
			t.Errorf("%s: never idle again", c.name)
		}
	}
}

// What comes into the tree when a call that was cut off is over may be of it all the
// same, until another one shows that the server has gone on.
func TestWhatACutOffCallStartsLate(t *testing.T) {
	at := time.Now()
	over := at.Add(cutOffWork)
	tr := known()
	tr.noteTree(treeOf(5), at.Add(-time.Minute))
	tr.noteAnswer(result{question: question{port: 24282, signOfLife: true, tree: tr.tree}}, at.Add(-time.Second))
	cut := idle(cutCall)
	cut.tree = tr.tree
	tr.noteAnswer(cut, at)
	for _, c := range []struct {
		what string
		tree []process.Stat
		want time.Time
	}{
		{"nothing is left", treeOf(5), over}, {"a command", treeOf(5, 9), time.Time{}}, {"it has ended", treeOf(5), over}, {"no tree is known", nil, time.Time{}},
	} {
		tr.noteTree(c.tree, over)
		if got := tr.shownEvidence().IdleSince; got != c.want {
			t.Errorf("%s: idle since %v, want %v", c.what, got, c.want)
		}
	}
	later := over.Add(time.Hour)
	tr.noteAnswer(idle(&serena.Task{Name: "Task-3:ListDirTool", Finished: true}), later)
	tr.noteTree(treeOf(5, 9), later)
	if got := tr.shownEvidence().IdleSince; got != later {
		t.Errorf("used since: idle since %v", got)
	}
}
