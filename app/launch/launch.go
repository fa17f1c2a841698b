package launch

import (
	"log/slog"
	"time"

	"lamplighter/monitor"
)

// Lifetime says when a server that was launched ends at the latest.
type Lifetime string

// The lifetimes.
const (
	Session Lifetime = "session" // with this program, however that ends
	Shared  Lifetime = "shared"  // when no program has come back some time after this one died
)

// The transports of MCP that a server may be asked to speak.
const (
	StreamableHTTP = "streamable-http"
	SSE            = "sse"
)

// Template is how to start one kind of server.
type Template struct {
	Name string // monitor.KindSerena for Serena
	// Command may hold {port}, {port_file} and {project} anywhere in its
	// arguments. nil is for Serena only, which is found by itself.
	Command   []string
	Arguments []string // what follows the command; may hold the same
	Transport string   // StreamableHTTP when empty
	Path      string   // of MCP; "" is /mcp, with SSE /sse
	Directory string   // where it runs, may be {project}; "" is a neutral place
	Env       map[string]string
	// Unset are the names of variables that the server does not get from our own
	// environment. Env comes after it.
	Unset []string
	// Literal says that the template is meant as it stands: a brace is a brace,
	// and no other command is run in the place of one that does not work.
	Literal bool
}

// Spec is one order to start a server.
type Spec struct {
	Template Template
	Project  string // absolute; "" is a Serena for all without one
	Lifetime Lifetime
	Key      string // what it is shared by, kept in its record
	// AskedBy returns who asked when that is known, zero when it cannot be; nil
	// = unknown. It is called when the server is ready, so that nobody waits for
	// it before.
	AskedBy func() monitor.Client
	// Limit is how long it may take to accept MCP, counted from the start of
	// its process; 0 is defaultLimit.
	Limit time.Duration
}

// defaultLimit is how long a server may take to accept MCP.
const defaultLimit = 10 * time.Second

// Options are what a Launcher needs.
type Options struct {
	StateDir   string  // for the lock and the records; "" means that nothing can be launched
	Program    string  // path of lamplighter-connect; "" is beside this program
	Finder     *Finder // needed
	SerenaHome string  // Serena's own directory; "" when it has none
	Log        *slog.Logger
	// Tell is called for each server that is ready or adopted, before Launch
	// returns it. It must not block.
	Tell func(monitor.Launch)
	// Adopted is called with each shared server of an earlier run that goes on, before
	// Inherited is closed. It must not block.
	Adopted func(*Server)
	// Record is told what is done to end a server. It must not block.
	Record func(monitor.Event)
	// Warn is called with all that the user has to know: why nothing can be
	// launched, and what of earlier runs is left as it is. It is called with
	// nothing when that is over. It must not block.
	Warn   func(sentences ...string)
	Limits Limits
}
