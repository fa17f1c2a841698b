package monitor

import (
	"strings"
	"testing"
	"time"
)

// A server that has had no process has a place all the same, which no process and
// no other server has.
func TestPlace(t *testing.T) {
	ended := Shared{Server: Identity{PID: 7, Start: 9}, Key: "a"}
	if got := ended.Place(); got != ended.Server {
		t.Errorf("%v", got)
	}
	a, b := Shared{Key: "a"}, Shared{Key: "b"}
	if a.Place() == b.Place() || a.Place() != (&Shared{Key: "a"}).Place() || a.Place().PID <= 1<<22 || a.Place().PID%4 == 0 {
		t.Errorf("%v, %v", a.Place(), b.Place())
	}
	if id, err := ParseIdentity(a.Place().String()); err != nil || id != a.Place() {
		t.Errorf("%v, %v", id, err)
	}
}

// That a server is parked, wakes or loses its last client is told by who does it.
func TestDiffOfParked(t *testing.T) {
	live := Instance{Identity: Identity{PID: 7, Start: 1}, State: StateProject, ProjectName: "alpha"}
	red, parked, woken := live, live, live
	red.State, red.Cause, parked.State, woken.Identity.PID = StateZombie, CauseUnreachable, StateParked, 8
	for _, c := range []struct {
		name          string
		before, after []Instance
		want          string
	}{
		{"parked", []Instance{live}, []Instance{parked}, ""},
		{"parked after it was red", []Instance{red}, []Instance{parked}, ""},
		{"parked before we began", nil, []Instance{parked}, ""},
		{"woken", []Instance{parked}, []Instance{woken}, "started project_activated"},
		{"left by its last client", []Instance{parked}, nil, ""},
		{"ended", []Instance{live}, nil, "stopped"},
	} {
		var kinds []string
		for _, e := range Diff(&Snapshot{Seq: 1, Instances: c.before}, &Snapshot{Seq: 2, At: time.Now(), Instances: c.after}) {
			kinds = append(kinds, string(e.Kind))
		}
		if got := strings.Join(kinds, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The pid that a parked one had may be another server's by now.
func TestFindParked(t *testing.T) {
	parked := Instance{Identity: Identity{PID: 7, Start: 1}, State: StateParked, ProjectName: "alpha"}
	other := Instance{Identity: Identity{PID: 7, Start: 2}, ProjectName: "beta"}
	s := &Snapshot{Instances: []Instance{parked, other}}
	for what, want := range map[string]Identity{"7": other.Identity, "7-1": parked.Identity, "parked - alpha": parked.Identity, "alpha": parked.Identity} {
		if got := s.Find(what); len(got) != 1 || got[0].Identity != want {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if got := (&Snapshot{Instances: []Instance{parked}}).Find("7"); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}
