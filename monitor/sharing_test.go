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
