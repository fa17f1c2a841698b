package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// records makes records without trees.
func (l *lab) records(m *Manager, n int, change func(i int, r *record)) []*record {
	l.t.Helper()
	if err := m.store.prepare(); err != nil {
		l.t.Fatal(err)
	}
	var list []*record
	for i := range n {
		id := uuid.Must(uuid.NewV7()).String()
		job := fmt.Sprintf("job %d", i)
		r := &record{Workspace: Workspace{ID: id, Name: nameOf("project", job, id), Kind: Persistent, Job: job, State: Ready, Cleanup: AtRetention, Retention: usualRetention}}
		r.Path = filepath.Join(m.store.path(treesDir), r.Name)
		m.touch(r)
		r.CreatedAt = r.UsedAt
		if change != nil {
			change(i, r)
		}
		if err := m.store.write(r); err != nil {
			l.t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func TestListNothing(t *testing.T) {
	m := newLab(t).manager(nil)
	if list, err := m.List(t.Context()); err != nil || list == nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := os.Lstat(m.o.Dir); err == nil {
		t.Error("looking has made the store")
	}
	if _, err := m.Find(t.Context(), "x"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if err := m.Touch(t.Context(), "../../x"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// What is half made, or going to be removed, is in no list; what is broken hides
// nothing else and is told.
func TestListWhatIsWhole(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	states := []struct {
		state State
		step  verb
		want  State
	}{
		{Ready, "", Ready}, {Ended, "", Ended}, {Archived, "", Archived}, {Ready, stepArchive, Ready}, {Ready, stepEnd, Ended}, {Ended, stepRemove, ""}, {Archived, stepRemove, ""},
		{Creating, stepCreate, ""}, {Ready, stepRemove, ""}, {Removed, "", ""}, {Creating, "", ""}, {"novel", "", ""},
	}
	records := l.records(m, len(states), func(i int, r *record) {
		r.State = states[i].state
		if states[i].step != "" {
			r.Step = &step{Verb: states[i].step}
		}
	})
	for name, text := range map[string]string{
		uuid.NewString(): "{", uuid.NewString(): `{"id":"other"}`, uuid.NewString(): strings.Repeat(" ", recordLimit+10),
	} {
		if err := os.WriteFile(m.store.recordPath(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(m.store.path(recordsDir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := m.list(t.Context())
	if err == nil || strings.Count(err.Error(), "reading ") != 3 || strings.Count(err.Error(), "Mend that file") != 3 {
		t.Errorf("of broken records is told %v", err)
	}
	var got, want []string
	for _, w := range list {
		got = append(got, w.Job+" "+string(w.State))
		if w.Shares == nil {
			t.Errorf("%s: shares are null", w.Job)
		}
	}
	for i, s := range states {
		if s.want != "" {
			want = append(want, records[i].Job+" "+string(s.want))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i, s := range states {
		if _, err := m.Find(t.Context(), records[i].ID); s.step == "" && (err == nil) != (s.want != "") {
			t.Errorf("%v: %v", s, err)
		}
	}
}

func TestMeant(t *testing.T) {
	one := func(id, job string, state State) *record {
		return &record{Workspace: Workspace{ID: id, Name: nameOf("p", job, id), Job: job, State: state}}
	}
	a := one("01900000-0000-7000-8000-0000000000aa", "a", Ready)
	b := one("01900000-1111-7000-8000-0000000000bb", "b", Ready)
	old := one("01800000-1111-7000-8000-0000000000cc", "b", Ended)
	older := one("01700000-1111-7000-8000-0000000000dd", "c", Ended)
	oldest := one("01600000-1111-7000-8000-0000000000ee", "c", Archived)
	odd := one("01500000-1111-7000-8000-0000000000ff", "01900000-1", Ready)
	gone := one("01400000-1111-7000-8000-000000000011", "gone", Removed)
	all := []*record{a, b, old, older, oldest, odd, gone}
	for _, c := range []struct {
		name string
		want *record
		many []string
	}{
		{a.ID, a, nil}, {strings.ToUpper(b.ID), b, nil}, {b.Name, b, nil}, {"a", a, nil}, {"A", nil, nil},
		{"b", b, nil}, {"c", nil, []string{older.ID, oldest.ID}}, {"000000cc", old, nil}, {"01800000", nil, nil},
		// What begins an id tells when it was made.
		{"01900000", nil, nil}, {"01900000-1111-7", nil, nil}, {"01900000-1111-70", b, nil}, {"01900000-1", odd, nil}, {"000000aa", a, nil}, {"00000AA", nil, nil},
		{"", nil, nil}, {"gone", nil, nil}, {gone.ID, nil, nil}, {"../a", nil, nil},
	} {
		r, err := meant(all, c.name)
		var many *Ambiguous
		switch {
		case r != c.want:
			t.Errorf("%q: %v, %v", c.name, r, err)
		case c.many != nil && (!errors.As(err, &many) || !slices.Equal(many.IDs, c.many)):
			t.Errorf("%q: %v", c.name, err)
		case c.many == nil && c.want == nil && !errors.Is(err, ErrUnknown):
			t.Errorf("%q: %v", c.name, err)
		}
	}
}

// Whoever lists sees whole records while others write them.
func TestListWhileOthersWrite(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	records := l.records(m, 10, nil)
	var writers sync.WaitGroup
	for i := range 4 {
		other := l.manager(nil)
		writers.Go(func() {
			for j := range 25 {
				if err := other.Touch(t.Context(), records[(i+j)%len(records)].ID); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 30 {
		if list, err := m.List(t.Context()); err != nil || len(list) != len(records) {
			t.Errorf("%d, %v", len(list), err)
		}
	}
	writers.Wait()
}

func TestChange(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	m.Configure(Limits{Patience: 1})
	r := l.records(m, 1, nil)[0]
	broken := errors.New("broken")
	err := m.change(t.Context(), r.ID, func(r *record) error {
		r.Job = "other"
		if err := m.Touch(t.Context(), r.ID); !errors.Is(err, ErrBusy) {
			t.Errorf("while somebody is at work: %v", err)
		}
		return broken
	})
	if !errors.Is(err, broken) || l.record(m, r.ID).Job != r.Job {
		t.Errorf("what failed was written: %v", err)
	}
	l.passes(usualRetention / 2)
	if err := m.Touch(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	if got := l.record(m, r.ID); !got.UsedAt.Equal(l.clock().Wall) || got.Used != l.clock() {
		t.Errorf("used at %v, %v", got.UsedAt, got.Used)
	}
	w, err := m.Find(t.Context(), r.ID)
	if err != nil || w.EndsAt == nil || !w.EndsAt.Equal(l.clock().Wall.Add(w.Retention)) || w.Ends == "" {
		t.Errorf("%+v, %v", w, err)
	}
	odd := l.records(m, 1, func(_ int, r *record) { r.Step = &step{Verb: "of the future"} })[0]
	if err := m.Touch(t.Context(), odd.ID); err == nil || !strings.Contains(err.Error(), "update") {
		t.Errorf("a step that nobody knows: %v", err)
	}
	if l.record(m, odd.ID).Step == nil {
		t.Error("a step that nobody knows was forgotten")
	}
}

func BenchmarkList(b *testing.B) {
	l := newLab(b)
	m := l.manager(nil)
	l.records(m, 1000, func(i int, r *record) {
		for j := range 10 {
			r.note(r.CreatedAt, "kept", fmt.Sprintf("version %d: a message of the usual length", j))
		}
	})
	for b.Loop() {
		if list, err := m.List(b.Context()); err != nil || len(list) != 1000 {
			b.Fatal(len(list), err)
		}
	}
}

// Whatever happens to a workspace, its record can be read.
func TestRecordsStayReadable(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	r := l.records(m, 1, nil)[0]
	for range 3 * mostHappenings {
		r.note(r.CreatedAt, "left", strings.Repeat("<ü\u2028", 10000))
	}
	r.note(r.CreatedAt, "left", "the last")
	if err := m.store.write(r); err != nil {
		t.Fatal(err)
	}
	got := l.record(m, r.ID)
	if len(got.History) != mostHappenings || got.History[mostHappenings-1].Detail != "the last" {
		t.Errorf("%d lines", len(got.History))
	}
}

// A name that has meant a workspace that was removed means no other one.
func TestMeantAfterRemoval(t *testing.T) {
	one := func(id, job string, state State, made, used int) *record {
		at := func(hours int) time.Time { return time.Date(2026, 3, 4, hours, 0, 0, 0, time.UTC) }
		return &record{Workspace: Workspace{ID: id, Name: nameOf("p", job, id), Job: job, State: state, CreatedAt: at(made)}, Used: Stamp{Wall: at(used)}}
	}
	gone := one("01900000-1111-7000-8000-0000000000aa", "job", Removed, 3, 9)
	sibling := one("01900000-1111-7000-9000-0000000000bb", "other", Ready, 3, 4)
	for _, name := range []string{"01900000-1111-7000", "01900000-1111-70"} {
		var many *Ambiguous
		if r, err := meant([]*record{gone, sibling}, name); !errors.As(err, &many) {
			t.Errorf("%q: %v, %v", name, r, err)
		}
	}
	for _, c := range []struct {
		what  string
		other *record
		found bool
	}{
		{"has versions, and is older than the removal", one("01900000-2222-7000-9000-0000000000cc", "job", Ended, 2, 3), false},
		{"is archived, and is older than the removal", one("01900000-2222-7000-9000-0000000000cc", "job", Archived, 2, 3), false},
		{"has its tree", one("01900000-2222-7000-9000-0000000000cc", "job", Ready, 2, 3), true},
		{"was made since", one("01900000-2222-7000-9000-0000000000cc", "job", Ended, 10, 11), true},
	} {
		r, err := meant([]*record{gone, c.other}, "job")
		var many *Ambiguous
		if c.found != (r == c.other) || !c.found && !errors.As(err, &many) {
			t.Errorf("one that %s: %v, %v", c.what, r, err)
		}
	}
}

// A lock of what is not there, or not any more, leaves no file, wherever the store is.
func TestLocksDoNotPileUp(t *testing.T) {
	l := newLab(t)
	m := l.manager(func(o *Options) { o.Dir = l.path("st[or]e") })
	w := l.create(m, Request{Kind: Temp})
	stranger := uuid.NewString()
	for _, path := range []string{m.store.makingPath(stranger), m.store.path(recordsDir, "."+stranger+".json.1.tmp")} {
		if err := os.WriteFile(path, []byte(fmt.Sprintf(`{"id":%q}`, stranger)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := m.Making(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	m.dropNotes()
	if err := m.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	if got := names(t, m.store.path(recordsDir)); len(got) != 1 {
		t.Errorf("records: %q", got)
	}
	// It goes while somebody waits for its lock.
	release, err := m.store.hold(t.Context(), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- m.Touch(t.Context(), w.ID) }()
	if err := os.Remove(m.store.recordPath(w.ID)); err != nil {
		t.Fatal(err)
	}
	release()
	if err := <-ended; !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if got := names(t, m.store.path(locksDir)); runtime.GOOS != "windows" && !slices.Equal(got, []string{"store.lock"}) {
		t.Errorf("locks: %q", got)
	}
}

// What was interrupted is found by the next verb, without the background process: a
// workspace that was half made goes, and one whose removal was begun stays with all
// that was written since.
func TestVerbsRecoverFirst(t *testing.T) {
	verbs := map[string]func(l *lab, m *Manager) error{
		"list": func(l *lab, m *Manager) error {
			_, err := m.List(l.t.Context())
			return err
		},
		"create": func(l *lab, m *Manager) error {
			_, err := m.Create(l.t.Context(), Request{Kind: Temp, Job: "next"}, nil)
			return err
		},
		"scan": func(l *lab, m *Manager) error {
			_, err := m.Scan(l.t.Context(), []string{l.source("projects", nil)}, nil)
			return err
		},
		"rm PATH": func(l *lab, m *Manager) error {
			_, err := m.RemoveStale(l.t.Context(), l.source("projects", nil), Removal{})
			if errors.Is(err, ErrBadRequest) {
				return nil
			}
			return err
		},
	}
	for name, do := range verbs {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(nil)
			diesAt := func(point string, do func()) {
				defer func() { m.crash = nil; _ = recover() }()
				m.crash = func(at string) {
					if at == point {
						panic(crash{at})
					}
				}
				do()
				t.Error("it lives")
			}
			kept := l.create(m, Request{Kind: Temp})
			diesAt("remove: begun", func() { _, _ = m.Remove(t.Context(), kept.ID, Removal{Force: true}) })
			write(t, kept.Path, map[string]string{"work": "hours"})
			half := ""
			diesAt("create: filled", func() {
				_, _ = m.Create(t.Context(), Request{Kind: Temp, Job: "half", Begun: func(b Making) { half = b.ID }}, nil)
			})
			if err := do(l, l.manager(nil)); err != nil {
				t.Error(err)
			}
			if r := l.record(m, kept.ID); r.Step != nil || r.State != Ready || content(t, kept.Path)["work"] != "hours" {
				t.Errorf("%s, %+v, %q", r.State, r.Step, content(t, kept.Path))
			}
			if _, err := m.store.read(half); err == nil {
				t.Error("what is half made is there")
			}
			if got := names(t, m.store.path(makingDir)); len(got) != 0 {
				t.Errorf("making: %q", got)
			}
		})
	}
}

// Whoever is told how far something has come may take his time.
func TestProgressKeepsNobodyWaiting(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{})
	begun, ended, further := make(chan struct{}), make(chan struct{}), make(chan struct{})
	tell, end := m.telling(w, func(Progress) {
		close(begun)
		<-further
	})
	go func() {
		defer close(ended)
		tell(Progress{Phase: Copying})
	}()
	<-begun
	end()
	close(further)
	<-ended
}
