package workspace

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/workspace/inuse"
	"lamplighter/monitor"
)

// A server of a workspace is ended when nothing else stands against its removal.
func TestRemoveEndsServers(t *testing.T) {
	l := newLab(t)
	servers := &fakeServers{}
	m := l.manager(func(o *Options) { o.Servers = servers })
	w := l.create(m, Request{Kind: Temp, Serve: true, From: l.repository("repo", map[string]string{"a": "a"})})
	serena := inuse.Process{PID: fakeServer, Name: "serena", How: "works in it"}
	l.works(w.Path, serena)
	refused := func(why error, q Removal) {
		t.Helper()
		if _, err := m.Remove(t.Context(), w.ID, q); !errors.Is(err, why) {
			t.Errorf("%v, want %v", err, why)
		}
		if servers.count() != 1 || l.record(m, w.ID).Server == nil {
			t.Errorf("its server was ended although it was not removed: %v", why)
		}
	}
	write(t, w.Path, map[string]string{"new": "x"})
	refused(ErrLoss, Removal{})
	l.works(w.Path, serena, shell)
	refused(ErrInUse, Removal{Force: true})
	l.works(w.Path, serena)
	servers.used = []User{{PID: 7, Name: "a server", How: "is a session that Codex has asked for"}}
	refused(ErrInUse, Removal{Force: true})
	if out, err := m.Remove(t.Context(), w.ID, Removal{DryRun: true, Force: true}); err != nil || len(out.InUse) != 1 || !strings.Contains(out.Why, "Codex") {
		t.Errorf("%+v, %v", out, err)
	}
	servers.used = nil
	servers.stuck = errors.New("it is at work")
	refused(ErrInUse, Removal{Force: true})
	servers.stuck = nil
	if out, err := m.Remove(t.Context(), w.ID, Removal{DryRun: true, Force: true}); err != nil || out.Why != "" || len(out.InUse) != 0 || servers.count() != 1 {
		t.Errorf("a dry run: %+v, %v", out, err)
	}
	// Its processes have to go with it.
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); !errors.Is(err, ErrInUse) || servers.count() != 0 || l.record(m, w.ID).Server != nil {
		t.Error(err)
	}
	l.works(w.Path)
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil {
		t.Error(err)
	}
	l.gone(m, w)
}

func TestWithoutIdle(t *testing.T) {
	named := func(pid int) User { return User{PID: pid, Name: "p", How: "works in it"} }
	client := User{PID: 20, Name: "a server", How: "is shared"}
	family := func(pid int, inside []int) []int {
		if pid != 10 {
			return []int{pid}
		}
		if !slices.Equal(inside, []int{9, 10, 11, 12, 20}) {
			t.Errorf("%v", inside)
		}
		return []int{10, 9, 11}
	}
	users := []User{named(9), named(10), named(11), named(12), named(20)}
	for name, test := range map[string]struct {
		started Started
		want    []User
	}{
		"nothing of ours":       {Started{}, users},
		"one that is idle":      {Started{Idle: []int{10}}, []User{named(12), named(20)}},
		"idle, and not inside":  {Started{Idle: []int{30}}, users},
		"one that is used":      {Started{Used: []User{client}}, []User{client, named(9), named(10), named(11), named(12)}},
		"used, and not inside":  {Started{Idle: []int{10}, Used: []User{{PID: 31, Name: "a", How: "b"}}}, []User{{PID: 31, Name: "a", How: "b"}, named(12), named(20)}},
		"one that nobody knows": {Started{Used: []User{{Name: "a\x1b[31m", How: "b"}}}, append([]User{{Name: monitor.Clean("a\x1b[31m"), How: "b"}}, users...)},
	} {
		if got := withoutIdle(users, test.started, family); !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// What an idle server has started and what has ended before it was asked whose it is
// is not taken for somebody.
func TestBesidesIdle(t *testing.T) {
	passing, somebody := User{PID: 1 << 29, Name: "go"}, User{PID: 1<<29 + 1, Name: "bash"}
	for name, test := range map[string]struct {
		idle  []int
		looks [][]User
		want  []User
	}{
		"one that passes":       {[]int{1 << 30}, [][]User{{passing}, {}}, []User{}},
		"one that stays":        {[]int{1 << 30}, [][]User{{passing, somebody}, {somebody}, {somebody}}, []User{somebody}},
		"without idle servers":  {nil, [][]User{{passing}}, []User{passing}},
		"nobody from the start": {[]int{1 << 30}, [][]User{{}}, []User{}},
	} {
		looks := test.looks
		got, err := besidesIdle(Started{Idle: test.idle}, func() ([]User, error) {
			now := looks[0]
			looks = looks[1:]
			return now, nil
		})
		if err != nil || len(looks) != 0 || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, %v; %d looks too few", name, got, err, len(looks))
		}
	}
}

// A job counts as long as whoever runs it says so, whatever its processes do.
func TestRunningJobKeepsWorkspace(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	for _, q := range []Request{{Kind: Temp}, {Kind: Hybrid}} {
		w := l.create(m, q)
		write(t, w.Path, map[string]string{"a": "a"})
		if q.Kind == Hybrid {
			if _, err := m.Keep(t.Context(), w.ID, "first", nil); err != nil {
				t.Fatal(err)
			}
		}
		_, mark, err := l.manager(nil).beginJob(t.Context(), w.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, force := range []bool{false, true} {
			if q.Kind == Hybrid && !force {
				continue // its version stands against it first
			}
			if out, err := m.Remove(t.Context(), w.ID, Removal{Force: force}); !errors.Is(err, ErrInUse) || len(out.InUse) != 1 || out.InUse[0].PID != os.Getpid() {
				t.Errorf("%+v, %v", out, err)
			}
		}
		if out, err := m.Remove(t.Context(), w.ID, Removal{Force: true, DryRun: true}); err != nil || !strings.Contains(out.Why, "runs a job in it") {
			t.Errorf("%+v, %v", out, err)
		}
		if _, err := m.Archive(t.Context(), w.ID, nil); !errors.Is(err, ErrInUse) {
			t.Errorf("archived: %v", err)
		}
		if _, err := m.Restore(t.Context(), w.ID, 1, nil); q.Kind == Hybrid && !errors.Is(err, ErrInUse) {
			t.Errorf("restored: %v", err)
		}
		if out, err := m.Complete(t.Context(), w.ID, "another one"); err != nil || out.Done || !strings.Contains(out.Why, "runs a job in it") {
			t.Errorf("%+v, %v", out, err)
		}
		l.passes(25 * time.Hour)
		l.sweeps(m, tries{})
		l.stays(m, w, map[string]string{"a": "a"})
		mark.end(t.Context())
		if out, err := m.Complete(t.Context(), w.ID, "the end of its job"); err != nil || !out.Done {
			t.Errorf("%+v, %v", out, err)
		}
	}
}
