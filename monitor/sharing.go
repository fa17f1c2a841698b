package monitor

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// The limits of ClientsInWords: programs call themselves what they like.
const (
	clientsNamed = 4  // programs that are named
	clientName   = 24 // columns of a name
)

// IsShared tells whether clients have the instance through us and may be several,
// also while it has none and waits for the next.
func (in *Instance) IsShared() bool { return in.Sharing != nil && in.Sharing.Alone == "" }

// ClientsInWords counts clients and names their programs, those of most clients
// first: "3 clients: Claude Code ×2, Codex", "1 client: Codex", "no clients". It is
// safe to show.
func ClientsInWords(list []Client) string {
	if len(list) == 0 {
		return "no clients"
	}
	type program struct {
		name  string
		count int
	}
	var programs []program
	for i := range list {
		name := cmp.Or(Shorten(Clean(list[i].Name), clientName), "unknown program")
		at := slices.IndexFunc(programs, func(p program) bool { return p.name == name })
		if at < 0 {
			programs = append(programs, program{name: name})
			at = len(programs) - 1
		}
		programs[at].count++
	}
	slices.SortStableFunc(programs, func(a, b program) int { return cmp.Compare(b.count, a.count) })
	var names []string
	left := len(list)
	for _, p := range programs[:min(len(programs), clientsNamed)] {
		left -= p.count
		if p.count > 1 {
			p.name += fmt.Sprintf(" ×%d", p.count)
		}
		names = append(names, p.name)
	}
	words := Plural(len(list), "client", "clients") + ": " + strings.Join(names, ", ")
	if left > 0 {
		words += fmt.Sprintf(" and %d more", left)
	}
	return words
}

// SharingWords tells what is known of the clients that have an instance through
// us, one part of a sentence each: "3 clients: Claude Code ×2, Codex", "2 requests
// under way", "saves 216 MB"; of one that a single client has for itself why it is
// not shared. It is empty for every other instance, and safe to show.
func (in *Instance) SharingWords() []string {
	s := in.Sharing
	switch {
	case s == nil:
		return nil
	case s.Alone != "":
		return []string{"not shared: " + Clean(s.Alone)}
	}
	words := []string{ClientsInWords(s.Clients)}
	if s.Waiting > 0 {
		words = append(words, Plural(s.Waiting, "request under way", "requests under way, one after another"))
	}
	if s.SavedBytes > 0 {
		words = append(words, "saves "+Memory(s.SavedBytes))
	}
	return words
}

// StrangerWords says of an instance that is not Recognised why it is shown, and
// that nothing ends it.
func (in *Instance) StrangerWords() string {
	if in.Sharing != nil && in.Sharing.Alone != "" {
		return "not recognised: a client runs it, so it is shown, and never ended"
	}
	return "not recognised: it registered itself, so it is shown, and never ended"
}

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
