package monitor

import (
	"testing"
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
