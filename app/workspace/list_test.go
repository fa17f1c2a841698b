package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

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
		r := &record{Workspace: Workspace{ID: id, Name: nameOf("project", job, id), Kind: Persistent, Job: job, State: Ready, Cleanup: AtRetention, Retention: UsualRetention}}
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
	list, err := m.List(t.Context())
	if err == nil || strings.Count(err.Error(), "reading ") != 3 {
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
		{"b", b, nil}, {"c", nil, []string{older.ID, oldest.ID}}, {"01800000", old, nil}, {"0180000", nil, nil},
		{"01900000", nil, []string{a.ID, b.ID}}, {"01900000-1", nil, []string{b.ID, odd.ID}}, {"01900000-11", b, nil}, {"000000aa", a, nil}, {"00000AA", nil, nil},
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
	m.patience = 1
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
	l.passes(UsualRetention / 2)
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
