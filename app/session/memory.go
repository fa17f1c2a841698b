package session

import "slices"

// mostDead is how many sessions that have died by themselves are remembered.
const mostDead = 1000

// memory holds the ids of the sessions that have died by themselves, the
// oldest first. The zero value is empty.
type memory []int

// add remembers an id, and forgets the oldest when there are too many.
func (m *memory) add(id int) {
	m.take(id)
	*m = append(*m, id)
	if len(*m) > mostDead {
		*m = slices.Delete(*m, 0, len(*m)-mostDead)
	}
}

// take forgets an id, and tells whether it was remembered.
func (m *memory) take(id int) bool {
	i := slices.Index(*m, id)
	if i < 0 {
		return false
	}
	*m = slices.Delete(*m, i, i+1)
	return true
}
