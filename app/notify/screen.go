package notify

import "slices"

// maxCards is how many notifications are remembered at most.
const maxCards = 64

// card is a notification that the service has taken.
type card struct {
	id      uint32 // the service's
	subject string
	keys    []string // that were offered
	chosen  func(key string)
}

// screen remembers which notification of the service is about what: at most one
// for each subject, the oldest first. Those that have left the screen by
// themselves are kept, since desktops have them in a list, where their buttons
// still work.
type screen struct{ cards []card }

// put notes a notification that was shown.
func (s *screen) put(c card) {
	s.cards = slices.DeleteFunc(s.cards, func(old card) bool { return old.id == c.id || old.subject == c.subject })
	if len(s.cards) == maxCards {
		s.cards = slices.Delete(s.cards, 0, 1)
	}
	s.cards = append(s.cards, c)
}

// of is the notification about a subject, 0 for none: the service counts from 1.
func (s *screen) of(subject string) uint32 {
	for _, c := range s.cards {
		if c.subject == subject {
			return c.id
		}
	}
	return 0
}

// forget forgets a notification.
func (s *screen) forget(id uint32) {
	s.cards = slices.DeleteFunc(s.cards, func(c card) bool { return c.id == id })
}

// choose takes a press of a button: the notification, and true once when it was one
// of ours.
func (s *screen) choose(id uint32, key string) (pressed card, ours bool) {
	for _, c := range s.cards {
		if c.id == id && slices.Contains(c.keys, key) {
			s.forget(id)
			return c, true
		}
	}
	return card{}, false
}

// withButtons are the notifications that somebody must hear.
func (s *screen) withButtons() []uint32 {
	var ids []uint32
	for _, c := range s.cards {
		if len(c.keys) > 0 {
			ids = append(ids, c.id)
		}
	}
	return ids
}
