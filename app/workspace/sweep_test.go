package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// sweeps is when a sweep says that something is next, as what is left until then;
// 0 is never.
func (l *lab) sweeps(m *Manager, t tries) time.Duration {
	l.t.Helper()
	wait, err := m.sweep(l.t.Context(), t)
	if err != nil {
		l.t.Error(err)
	}
	return wait
}

// is is the state of a workspace on disk.
func (l *lab) is(m *Manager, w Workspace) State {
	l.t.Helper()
	return l.record(m, w.ID).State
}

func TestSweepAtRetention(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	first := l.create(m, Request{Kind: Temp, Cleanup: AtRetention, Retention: time.Hour})
	l.passes(10 * time.Minute)
	second := l.create(m, Request{Kind: Temp, Retention: 2 * time.Hour})
	byHand := l.create(m, Request{Kind: Temp, Cleanup: ByHand})
	if wait := l.sweeps(m, tries{}); wait != 50*time.Minute {
		t.Errorf("next in %v", wait)
	}
	if next, err := m.Sweep(t.Context()); err != nil || !next.Equal(l.clock().Wall.Add(50*time.Minute)) {
		t.Errorf("%v, %v", next, err)
	}
	l.passes(50*time.Minute - time.Second)
	if l.sweeps(m, tries{}); l.is(m, first) != Ready {
		t.Error("it went too early")
	}
	l.passes(time.Second)
	if wait := l.sweeps(m, tries{}); wait != 70*time.Minute || l.is(m, first) != Removed || l.is(m, second) != Ready {
		t.Errorf("next in %v", wait)
	}
	l.passes(70 * time.Minute)
	l.sweeps(m, tries{})
	l.gone(m, first)
	l.gone(m, second)
	l.stays(m, byHand, nil)
	if _, err := os.Stat(m.store.path(locksDir, first.ID+".lock")); err != nil {
		t.Error(err)
	}
	// After a week nothing is left of them.
	l.passes(7 * day)
	l.sweeps(m, tries{})
	for _, w := range []Workspace{first, second} {
		for _, path := range []string{m.store.recordPath(w.ID), m.store.path(locksDir, w.ID+".lock")} {
			if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	l.stays(m, byHand, nil)
}

func TestSweepAgainstClocks(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp})
	for _, set := range []func(*Stamp){
		func(s *Stamp) { s.Wall = s.Wall.Add(365 * day) },                                      // the same boot
		func(s *Stamp) { s.Wall = s.Wall.Add(-900 * day) },                                     // the same boot
		func(s *Stamp) { s.Boot, s.SinceBoot = "next", 9*time.Minute },                         // and long ago
		func(s *Stamp) { s.Wall = s.Wall.Add(900 * day) },                                      // too soon after the start
		func(s *Stamp) { s.Wall, s.SinceBoot = s.Wall.Add(-900*day), s.SinceBoot+time.Minute }, // before it was made
	} {
		l.set(set)
		l.sweeps(m, tries{})
		l.stays(m, w, nil)
	}
	l.set(func(s *Stamp) { s.Wall = s.Wall.Add(900 * day) })
	l.sweeps(m, tries{})
	l.gone(m, w)
}

func TestSweepTriesAgain(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp})
	l.works(w.Path, shell)
	if _, err := m.Complete(t.Context(), w.ID, ""); err != nil {
		t.Fatal(err)
	}
	tried := tries{}
	if wait := l.sweeps(m, tried); wait != inUsePause {
		t.Errorf("again in %v", wait)
	}
	l.works(w.Path)
	l.passes(inUsePause - time.Second)
	if wait := l.sweeps(m, tried); wait != time.Second || l.is(m, w) != Ready {
		t.Errorf("again in %v", wait)
	}
	l.passes(time.Second)
	l.sweeps(m, tried)
	l.gone(m, w)
	if got := l.whats(m, w.ID); !slices.Equal(got, []string{"created", "completed", "left", "removed"}) {
		t.Errorf("%q", got)
	}
	if l.sweeps(m, tried); len(tried) != 0 {
		t.Errorf("%v", tried)
	}
}

// Who uses it again takes the reason away with the clean-up.
func TestSweepForgetsProblems(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a"})
	w := l.create(m, Request{Kind: Temp, From: repo})
	write(t, w.Path, map[string]string{"new": "x"})
	l.passes(time.Minute)
	if out, err := m.Complete(t.Context(), w.ID, ""); err != nil || out.Workspace.Problem == "" {
		t.Fatalf("%+v, %v", out, err)
	}
	tried := tries{}
	if wait := l.sweeps(m, tried); wait != standsPause {
		t.Errorf("again in %v", wait)
	}
	l.passes(time.Minute)
	if err := m.Touch(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	l.sweeps(m, tried)
	if r := l.record(m, w.ID); r.Problem != "" {
		t.Errorf("%q", r.Problem)
	}
	git(t, w.Path, "add", "new")
	git(t, w.Path, "commit", "--message=work")
	git(t, repo, "merge", "--quiet", w.Source.Branch)
	l.passes(25 * time.Hour)
	l.sweeps(m, tried)
	l.gone(m, w)
}

func TestSweepBudget(t *testing.T) {
	l := newLab(t)
	from := l.source("from", map[string]string{"a": strings.Repeat("x", 100_000)})
	maker := l.manager(nil)
	var all []Workspace
	for range 4 {
		all = append(all, l.create(maker, Request{Kind: Temp, From: from, Retention: 100 * day}))
		l.passes(time.Hour)
	}
	one := l.record(maker, all[0].ID).SizeBytes
	m := l.manager(func(o *Options) { o.Budget = 2*one + one/2 })
	l.works(all[0].Path, shell) // the oldest stays, so the next two go
	tried := tries{}
	if wait := l.sweeps(m, tried); wait <= 0 {
		t.Errorf("again in %v", wait)
	}
	var left []string
	for _, w := range all {
		if l.is(m, w) == Ready {
			left = append(left, w.ID)
		}
	}
	if want := []string{all[0].ID, all[3].ID}; !slices.Equal(left, want) {
		t.Errorf("%q are left, want %q", left, want)
	}
	if p := l.record(m, all[0].ID).Problem; leftKind(p) != leftInUse {
		t.Errorf("%q", p)
	}
	// Nothing goes that is used just now.
	fresh := l.create(m, Request{Kind: Temp, From: from})
	m.Configure(Limits{Budget: one / 2})
	l.works(all[3].Path, shell)
	if wait := l.sweeps(m, tries{}); wait != inUsePause && wait != budgetRest || l.is(m, fresh) != Ready {
		t.Errorf("again in %v", wait)
	}
}

func TestSweepArchives(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Persistent, Cleanup: ToArchive, From: l.source("from", map[string]string{"a": "a"})})
	l.passes(25 * time.Hour)
	l.works(w.Path, shell)
	tried := tries{}
	if wait := l.sweeps(m, tried); wait != inUsePause || leftKind(l.record(m, w.ID).Problem) != leftInUse {
		t.Errorf("again in %v: %q", wait, l.record(m, w.ID).Problem)
	}
	l.works(w.Path)
	l.passes(inUsePause)
	l.sweeps(m, tried)
	if l.sound(m); l.is(m, w) != Archived {
		t.Errorf("it is %s", l.is(m, w))
	}
	if out, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil || out.Freed <= 0 {
		t.Errorf("%+v, %v", out, err)
	}
	l.gone(m, w)
}

// One that was removed long ago is forgotten by whoever comes next.
func TestForgetsRemoved(t *testing.T) {
	for name, comes := range map[string]func(l *lab, m *Manager){
		"sweep": func(l *lab, m *Manager) { l.sweeps(m, tries{}) },
		"list": func(l *lab, m *Manager) {
			if list, err := m.List(t.Context()); err != nil || len(list) != 1 {
				t.Errorf("%+v, %v", list, err)
			}
		},
	} {
		l := newLab(t)
		m := l.manager(nil)
		stays, w := l.create(m, Request{Kind: Persistent}), l.create(m, Request{Kind: Temp})
		if _, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil {
			t.Fatal(err)
		}
		l.passes(removedRest - time.Minute)
		comes(l, m)
		l.gone(m, w)
		l.passes(2 * time.Minute)
		comes(l, m)
		if _, err := m.store.read(w.ID); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: it is remembered: %v", name, err)
		}
		if l.is(m, stays) != Ready {
			t.Errorf("%s: the other one is %s", name, l.is(m, stays))
		}
		l.sound(m)
	}
}

func TestSweepEndsPersistent(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Persistent, Cleanup: AtRetention})
	write(t, w.Path, map[string]string{"a": "a"})
	l.passes(25 * time.Hour)
	l.sweeps(m, tries{})
	l.stays(m, w, map[string]string{"a": "a"})
	if _, err := m.Keep(t.Context(), w.ID, "all", nil); err != nil {
		t.Fatal(err)
	}
	l.passes(25 * time.Hour)
	l.sweeps(m, tries{})
	if l.sound(m); l.is(m, w) != Ended {
		t.Errorf("it is %s: %q", l.is(m, w), l.record(m, w.ID).Problem)
	}
}

func TestSweepMeasures(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Persistent, From: l.repository("repo", map[string]string{"a": "a"})})
	l.sweeps(m, tries{})
	first := l.record(m, w.ID)
	if first.SizeBytes <= 0 || first.Files == 0 || first.MeasuredAt == nil {
		t.Errorf("%d bytes, %d files, %v", first.SizeBytes, first.Files, first.MeasuredAt)
	}
	write(t, w.Path, map[string]string{"b": strings.Repeat("x", 100_000)})
	l.passes(time.Minute)
	if err := m.Touch(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	if wait := l.sweeps(m, tries{}); wait != 59*time.Minute || l.record(m, w.ID).SizeBytes != first.SizeBytes {
		t.Errorf("again in %v", wait)
	}
	l.passes(59 * time.Minute)
	if l.sweeps(m, tries{}); l.record(m, w.ID).SizeBytes < first.SizeBytes+100_000 {
		t.Errorf("%d bytes", l.record(m, w.ID).SizeBytes)
	}
}

// A sweep of what has been swept changes nothing.
func TestSweepIsQuiet(t *testing.T) {
	l := newLab(t)
	m := l.manager(func(o *Options) { o.Budget = 1 })
	stuck := l.create(m, Request{Kind: Temp, From: l.repository("repo", map[string]string{"a": "a"})})
	write(t, stuck.Path, map[string]string{"new": "x"})
	l.create(m, Request{Kind: Persistent})
	l.passes(2 * time.Hour)
	tried := tries{}
	l.sweeps(m, tried)
	before := l.state(m)
	for range 3 {
		l.sweeps(m, tried)
	}
	for name, text := range l.state(m) {
		if before[name] != text {
			t.Errorf("%s was %s, is %s", name, before[name], text)
		}
	}
}

func TestSweepLeavesBusyOnes(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp})
	l.passes(25 * time.Hour)
	release, err := m.store.hold(t.Context(), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	note := m.store.makingPath(w.ID)
	write(t, filepath.Dir(note), map[string]string{filepath.Base(note): "{}"})
	if wait := l.sweeps(m, tries{}); wait != busyPause {
		t.Errorf("again in %v", wait)
	}
	if _, err := os.Stat(note); err != nil {
		t.Errorf("the note of one who is at work: %v", err)
	}
	if _, err := os.Stat(w.Path); err != nil {
		t.Error(err)
	}
	release()
	l.sweeps(m, tries{})
	if _, err := os.Stat(note); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the note of one who has ended: %v", err)
	}
	l.gone(m, w)
}

func TestSooner(t *testing.T) {
	for _, test := range [][3]time.Duration{{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {3, 5, 3}, {5, 3, 3}} {
		if got := sooner(test[0], test[1]); got != test[2] {
			t.Errorf("%v", test)
		}
	}
}
