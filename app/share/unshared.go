package share

import (
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
)

// Unshared is a client whose server cannot be shared: its shim runs that by
// itself. It is there to be shown.
type Unshared struct {
	broker *Broker
	why    string  // never changes
	wish   Request // never changes
	// program is the name of what the wish asks for. It never changes.
	program string
	since   time.Time

	// Guarded by the broker's mu.
	client monitor.Client
	server monitor.Identity
}

// AttachUnshared takes in a client whose server cannot be shared, and why, until Detach.
func (b *Broker) AttachUnshared(client monitor.Client, why string, wish Request) *Unshared {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &Unshared{broker: b, client: client, why: why, wish: wish, program: programOf(wish.Command), since: time.Now()}
	b.alone = append(b.alone, m)
	b.rest()
	b.change()
	return m
}

// Ran says which process is the server; zero when it could not be started.
func (m *Unshared) Ran(server monitor.Identity) {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	m.server = server
	m.broker.change()
}

// programOf is what to call the program of a command: the script or the package of
// an interpreter, "srv.py", else the program itself, "my-server". It is safe to show.
func programOf(words []string) string {
	c := command.Parse("", words)
	if c.Program == "" && len(words) > 0 {
		c.Program = words[0]
	}
	return monitor.Shorten(monitor.Clean(c.Label()), programColumns)
}

// programColumns is how much of a name is of use.
const programColumns = 60

// Detach is the end of the client. It may be called again.
func (m *Unshared) Detach() {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	b.alone = slices.DeleteFunc(b.alone, func(other *Unshared) bool { return other == m })
	b.rest()
	b.change()
}
