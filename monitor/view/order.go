package view

import "time"

// ID names a server on its host. It is opaque: only who carries an order out makes
// a process of it again.
type ID string

// Ref is the one server that an order is about. Host is "" for this machine.
type Ref struct {
	Host string
	ID   ID
}

// Ref names the server in an order.
func (s *Server) Ref() Ref { return Ref{ID: s.ID} }

// Verb is what an order wants.
type Verb string

// The verbs. Those of one server are about Order.Ref.
const (
	Open     Verb = "open"        // the dashboard of a server, or where the page shows it
	OpenPage Verb = "open global" // the global dashboard
	Stop     Verb = "stop"        // a server
	Restart  Verb = "restart"     // a server, under its clients
	StopAll  Verb = "stop all"    // the servers that Order.What means
	Keep     Verb = "keep"        // a server, for an hour
	Pin      Verb = "pin"         // a server, or no longer: Order.On
	Pause    Verb = "pause"       // the policies, until Order.Until; zero: until Resume
	Resume   Verb = "resume"      // the policies
	Switch   Verb = "switch"      // the rule that Order.What names
	SetIdle  Verb = "set idle"    // the rule for idle servers: Order.After, 0 for never; Order.On also with a client
	Login    Verb = "switch login"
	Quit     Verb = "quit" // Lamplighter
)

// Order is what somebody at a face wants done.
type Order struct {
	Ref
	Verb  Verb
	What  string        // a rule, or "idle" or "orphans", as monitor/policy names them
	On    bool          // what a pin, a rule or start at login becomes
	Until time.Time     // of a pause
	After time.Duration // of the idle rule
}
