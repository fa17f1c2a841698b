package monitor

import (
	"hash/fnv"
	"slices"
)

// IsShared tells whether clients have the instance through us and may be several,
// also while it has none and waits for the next.
func (in *Instance) IsShared() bool { return in.Sharing != nil && in.Sharing.Alone == "" }

// placePID is a pid that no process has: Linux and macOS end below it, and those
// of Windows are multiples of four.
const placePID = 1<<30 + 1

// Place is the identity under which views keep a server that has no process: that
// of the process which was ended last, else one made from the key, which no
// process has.
func (s *Shared) Place() Identity {
	if s.Server != (Identity{}) {
		return s.Server
	}
	h := fnv.New64a()
	h.Write([]byte(s.Key))
	return Identity{PID: placePID, Start: h.Sum64()}
}

// Sharing is the part of it that an Instance carries. It shares nothing with s.
func (s *Shared) Sharing() *Sharing {
	return &Sharing{Clients: slices.Clone(s.Clients), Waiting: s.Waiting, Alone: s.Alone, SavedBytes: s.SavedBytes}
}
