package proxy

import (
	"context"
	"strings"
	"sync"

	"lamplighter/app/share"
	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
)

// ourPrograms stand between a client and us.
var ourPrograms = map[string]bool{"lamplighter-connect": true, "lamplighter": true}

// maxSteps bounds how many of them there can be.
const maxSteps = 4

// clientOf is the program that a shim works for, zero when that cannot be told,
// and whether it is one that people know by its name, such as an assistant.
func clientOf(pid int) (c monitor.Client, known bool) {
	for range maxSteps {
		if pid <= 0 {
			break
		}
		info, err := process.Read(pid)
		if err != nil {
			break
		}
		exe := monitor.ProgramName(info.Exe)
		if !ourPrograms[exe] {
			name := clients.NameOf(info)
			return monitor.Client{Identity: info.Identity, Name: name}, name != info.Name && name != exe
		}
		pid = info.Parent
	}
	return monitor.Client{}, false
}

// widestName is how much of what a client calls itself is of use, in columns.
const widestName = 60

// saidName is what a client calls itself, in words that are safe to show.
func saidName(said ClientInfo) string {
	name := said.Title
	if name == "" && said.Name != "" {
		name = clients.SaidName(said.Name)
	}
	return strings.TrimSpace(monitor.Shorten(monitor.Clean(name), widestName))
}

// attach begins the conversation of a client, as a plan has it. Plan and Root of the
// options are for a client that may change its project.
func attach(ctx context.Context, broker *share.Broker, plan share.Plan, name *naming, o SessionOptions) (*Session, *share.Client) {
	member := broker.Attach(plan, name.process)
	name.tell = member.Name
	o.Servers, o.Info = member, name.says
	if !plan.Moves {
		o.Plan, o.Root = nil, nil
	}
	s := NewSession(o)
	member.OnPark(s.Park)
	member.OnHang(s.Progress)
	return s, member
}

// naming finds the best name of a client: that of its process if that is one
// which people know, else what it calls itself. Both may come in any order.
type naming struct {
	tell func(monitor.Client) // share.Client.Name; it is not called twice at a time

	mu      sync.Mutex
	process monitor.Client
	known   bool
	said    string
}

// found says which process it is.
func (n *naming) found(c monitor.Client, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.process, n.known = c, known
	n.update()
}

// says says what it calls itself.
func (n *naming) says(info ClientInfo) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = saidName(info)
	n.update()
}

// update tells the name. The caller holds mu, so that the last one told is the last
// one known.
func (n *naming) update() {
	c := n.process
	if n.said != "" && !n.known {
		c.Name = n.said
	}
	n.tell(c)
}
