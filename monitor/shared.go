package monitor

import (
	"hash/fnv"
	"slices"
	"time"
)

// Shared is what is known of a server that clients have through us: one that they
// share, or one that a single client has for itself because it cannot be shared.
type Shared struct {
	// Server is its process. Of one that is parked it is the process that was
	// ended last, so that views keep its place; zero when there was none yet.
	Server  Identity
	Key     string // what it is shared by; "" when it is not
	Kind    string // KindSerena or the name of a template; with Alone the name of the program that was asked for
	Project string // absolute path
	Context string
	Modes   []string

	Parked   bool      // no process runs, and its clients stay
	Starting bool      // it is being started, so that no process is known yet
	Since    time.Time // of this state
	Reason   string    // why it is parked, ends or does not start: a part of a sentence, "no request for 10 min"

	Clients []Client // one for each lease, in the order in which they came
	Waiting int      // requests that are not answered yet
	// Alone says why it serves one client only, a part of a sentence: "its context
	// codex can change the project". "" when it is shared.
	Alone string
}

// NotStarted is how the Reason of a server begins whose last start has failed.
const NotStarted = "it could not be started: "

// Sharing is the part of Shared that an Instance carries.
type Sharing struct {
	Clients []Client
	Waiting int
	Alone   string
	// SavedBytes is the memory that separate servers would need besides, 0 when
	// not known.
	SavedBytes uint64
}

// IsShared reports whether clients have the instance through us and may be several,
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
	return &Sharing{Clients: slices.Clone(s.Clients), Waiting: s.Waiting, Alone: s.Alone}
}

// The lifetimes of what we start. A session ends with the background process,
// however that ends; a shared server survives it for a while.
const (
	LifetimeSession = "session"
	LifetimeShared  = "shared"
)

// Launch is what is known of a server that we have started, or have adopted
// from the record of one that we started before.
type Launch struct {
	Server Identity // the process that owns the MCP port
	Keeper Identity // above it; zero when it is not known, or has gone
	Kind   string   // KindSerena or the name of the template it was started from

	Port          int    // MCP, 0 when not known
	DashboardPort int    // 0 when not known, or when there is none
	MCPURL        string // "" when not known

	Project  string  // absolute path, "" when it was started for none
	Lifetime string  // LifetimeSession or LifetimeShared
	AskedBy  *Client // whom it was started for; nil when not known
}
