package stop

import (
	"context"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/rules"
	"lamplighter/monitor/serena"
)

// sources are where the facts come from. Each is a function of its own, so that
// a test replaces the one it is about.
type sources struct {
	wrappers    func(server process.Info) (root monitor.Identity, err error)
	ancestors   func(pid int) ([]monitor.Identity, error)
	read        func(pid int) (process.Info, error)
	sameUser    func(pid int) (bool, error)
	sameSpace   func(pid int) (bool, error)
	sameNetwork func(pid int) (bool, error)
	serviceOf   func(context.Context, []monitor.Identity) (string, error)
	connections func(port int) ([]process.Connection, error)
	listeners   func(pids []int) ([]process.Listener, error)
	queue       func(ctx context.Context, port int) ([]serena.Task, error)
	shutdown    func(ctx context.Context, port int) error
}

func realSources() sources {
	return sources{
		wrappers: func(server process.Info) (monitor.Identity, error) {
			root, _, err := process.Wrappers(server, func(p process.Info) bool { return rules.IsLauncher(p.Exe, p.Args) })
			return root, err
		},
		ancestors:   process.Ancestors,
		read:        process.Read,
		sameUser:    process.SameUser,
		sameSpace:   process.SameNamespace,
		sameNetwork: process.SameNetwork,
		serviceOf:   process.ServiceOf,
		connections: process.Connections,
		listeners:   func(pids []int) ([]process.Listener, error) { return process.NewPorts().Listeners(pids) },
		queue:       serena.NewClient().Queue,
		shutdown:    newAsker().shutdown,
	}
}
