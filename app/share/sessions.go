package share

import "slices"

// sessions are those of a server's REPL that clients have named, the newest last.
type sessions []session

type session struct {
	name       string
	generation uint64 // of the server that may know it
}

// mostSessions is how many of them a Serena remembers: it forgets the oldest
// (serena/session.py of 2.1.0, max_sessions).
const mostSessions = 100

func (s *sessions) add(name string, generation uint64) {
	*s = slices.DeleteFunc(*s, func(other session) bool { return other.name == name })
	*s = append(*s, session{name, generation})
	if len(*s) > mostSessions {
		*s = slices.Delete(*s, 0, len(*s)-mostSessions)
	}
}

// forget drops what servers before that one knew. What that one itself knew stays
// for once: a request that was on its way when it ended is sent to the next one.
func (s *sessions) forget(generation uint64) {
	*s = slices.DeleteFunc(*s, func(other session) bool { return other.generation < generation })
}

func (s sessions) names() []string {
	var names []string
	for _, one := range s {
		names = append(names, one.name)
	}
	return names
}
