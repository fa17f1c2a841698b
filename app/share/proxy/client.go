package proxy

import (
	"strings"

	"lamplighter/app/share"
	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
)

// clientOf is the program that a shim works for, zero when that cannot be told,
// and whether it is one that people know by its name, such as an assistant.
func clientOf(pid int) (c monitor.Client, known bool) {
	for range 4 { // as many of our programs can stand between, at most
		info, err := process.Read(pid)
		if pid <= 0 || err != nil {
			break
		}
		exe := monitor.ProgramName(info.Exe)
		if exe != "lamplighter" && exe != "lamplighter-connect" {
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
// options are for a client that may change its project. Its name is that of its process
// if that is known, else what it calls itself.
func attach(broker *share.Broker, plan share.Plan, process monitor.Client, known bool, o SessionOptions) (*Session, *share.Client) {
	member := broker.Attach(plan, process)
	o.Servers = member
	o.Info = func(said ClientInfo) {
		if !known {
			member.Name(monitor.Client{Name: saidName(said)})
		}
	}
	if !plan.Moves {
		o.Plan, o.Root = nil, nil
	}
	return newSession(o), member
}
