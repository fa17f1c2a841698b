package session

import "testing"

func TestMemoryIsBounded(t *testing.T) {
	var m memory
	for id := range mostDead + 5 {
		m.add(id)
	}
	m.add(7) // dies again: the newest now
	if len(m) != mostDead || m.take(4) || !m.take(5) || m.take(5) || m[len(m)-1] != 7 {
		t.Errorf("%d: %v…", len(m), m[:3])
	}
}
