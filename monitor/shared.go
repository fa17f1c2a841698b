package monitor

import "time"

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
	Reason   string    // why it is parked, or does not start: a part of a sentence, "no request for 10 min"

	Clients []Client // one for each lease, in the order in which they came
	Waiting int      // requests that are not answered yet
	// Alone says why it serves one client only, a part of a sentence: "its context
	// codex can change the project". "" when it is shared.
	Alone string
	// SavedBytes is the memory that separate servers would need besides, 0 when
	// not known.
	SavedBytes uint64
}

// NotStarted is how the Reason of a server begins whose last start has failed.
const NotStarted = "it could not be started: "

// Sharing is the part of Shared that an Instance carries.
type Sharing struct {
	Clients    []Client
	Waiting    int
	Alone      string
	SavedBytes uint64
}
