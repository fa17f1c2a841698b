package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/shirou/gopsutil/v3/process"

	"lamplighter/monitor"
)

// System is all that the model asks of a machine: this one (Local), or one that
// was recorded. What a method cannot find out is an error, never a no. It must be
// safe for concurrent use.
type System interface {
	// Self is the pid of this process.
	Self() int
	// Scan begins to follow the processes of our user. The first pass returns all
	// of them, each later one those that are new or run another program.
	Scan() (pass func() ([]Info, error))
	// Read is who a process is.
	Read(pid int) (Info, error)
	// Stat is how it is.
	Stat(pid int) (Stat, error)
	// MainThreadCPU is the time that its first thread has run.
	MainThreadCPU(pid int) (time.Duration, error)
	// Started is when it started, for showing; it need not exist any more.
	Started(id monitor.Identity) (time.Time, error)
	// SameUser reports whether it runs as our user and nobody else.
	SameUser(pid int) (bool, error)
	// Tree is the stat of a process and of all below it, each parent first.
	Tree(root monitor.Identity) ([]Stat, error)
	// Ends are the ends of pipes and sockets that a server holds.
	Ends(server monitor.Identity) Ends
	// Listeners are the TCP addresses on which processes listen, sorted by port.
	Listeners(pids []int) ([]Listener, error)
	// Connections are the established connections to a local port.
	Connections(port int) ([]Connection, error)
	// Service is the unit that manages the tree of a server, "" for none, and whether
	// the server runs in a container or a sandbox. With an error beside it, what is found
	// counts.
	Service(ctx context.Context, server monitor.Identity, tree []monitor.Identity) (unit string, contained bool, err error)
	// Hold takes hold of a process, so that a signal reaches it or nobody.
	Hold(id monitor.Identity) (HeldProcess, error)
	// Exits tells of the ends of processes.
	Exits() Exits
}

// ErrUnheld says that a process no longer holds its own end of a link, so that
// nothing can be learnt about the other end.
var ErrUnheld = errors.New("the process does not hold its end of the link any more")

// Ends are what can be told of the descriptors of one server.
type Ends interface {
	// Holder is the client that holds the other ends of its conversation.
	Holder(client monitor.Identity) (holder Info, link monitor.Pipe, found bool, err error)
	// Closed reports whether both directions of a link are closed at the other end.
	Closed(link monitor.Pipe) (bool, error)
	// Abandoned reports whether it seems to have lost a client that was never seen.
	Abandoned() (bool, error)
	// HasUnixClients reports whether somebody may have come in over a unix socket of
	// these processes of its tree.
	HasUnixClients(servers []monitor.Identity) (bool, error)
	// SameInput reports whether another process has the same standard input.
	SameInput(wrapper monitor.Identity) bool
	// Directory is its working directory.
	Directory() (string, error)
}

// HeldProcess is a process that nobody else can take the place of: *Handle.
type HeldProcess interface {
	Terminate() error
	Suspend() error
	Continue() error
	Kill() error
	Ended() bool
	Wait(context.Context) error
	Close()
}

// Exits tells of the ends of the processes that it watches: *ExitWatch.
type Exits interface {
	Watch(monitor.Identity) error
	Forget(monitor.Identity)
	Exits() <-chan monitor.Identity
	Serve(context.Context) error
}

// Local is this machine.
func Local() System { return local{} }

type local struct{}

func (local) Self() int                                      { return os.Getpid() }
func (local) Scan() func() ([]Info, error)                   { return NewTable().Pass }
func (local) Read(pid int) (Info, error)                     { return Read(pid) }
func (local) Stat(pid int) (Stat, error)                     { return ReadStat(pid) }
func (local) Started(id monitor.Identity) (time.Time, error) { return StartedAt(id), nil }
func (local) SameUser(pid int) (bool, error)                 { return SameUser(pid) }
func (local) Tree(root monitor.Identity) ([]Stat, error)     { return Tree(root) }
func (local) Ends(server monitor.Identity) Ends              { return localEnds{server} }
func (local) Listeners(pids []int) ([]Listener, error)       { return Listeners(pids) }
func (local) Connections(port int) ([]Connection, error)     { return Connections(port) }
func (local) Exits() Exits                                   { return NewExitWatch() }

func (local) Hold(id monitor.Identity) (HeldProcess, error) {
	h, err := Hold(id)
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (local) Service(ctx context.Context, server monitor.Identity, tree []monitor.Identity) (unit string, contained bool, err error) {
	contained, err = isContained(server.PID)
	unit, failed := serviceOf(ctx, tree)
	if failed != nil && !errors.Is(failed, ErrGone) {
		err = errors.Join(err, fmt.Errorf("whether a service manager runs it is not known: %w", failed))
	}
	return unit, contained, err
}

// isContained reports whether a process runs in a container or a sandbox that is not
// ours: it counts processes otherwise than we do, has a network of its own, of which
// nobody sees here who is connected, or, as a container that shares both with its host,
// a host name or control groups of its own.
func isContained(pid int) (bool, error) {
	for _, kind := range []string{"pid", "net", "uts", "cgroup"} {
		same, err := sameNamespace(pid, kind)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has ended, or this system has none
		case err != nil:
			return false, fmt.Errorf("whether it runs in a container is not known: %w", err)
		case !same:
			return true, nil
		}
	}
	return false, nil
}

// localEnds are those of a process of this machine. Linux alone tells most of it.
type localEnds struct{ server monitor.Identity }

func (e localEnds) Directory() (string, error) {
	dir, err := (&process.Process{Pid: int32(e.server.PID)}).Cwd()
	if err != nil {
		return "", fmt.Errorf("reading the working directory of process %d: %w", e.server.PID, err)
	}
	return dir, nil
}

// StatAlive is the stat of a process that runs. The error is ErrGone when it does not:
// when it is gone, when another one has its pid, or when only whoever started it has
// not taken note of its end. With any other error that is not known.
func StatAlive(s System, id monitor.Identity) (Stat, error) {
	st, err := s.Stat(id.PID)
	if err == nil && (st.Identity != id || st.State == Unreaped) {
		err = gone(id.PID)
	}
	return st, err
}

// Lives reports whether a process surely runs.
func Lives(s System, id monitor.Identity) bool {
	_, err := StatAlive(s, id)
	return err == nil
}

// MayLive reports whether a process runs, or whether that is not known.
func MayLive(s System, id monitor.Identity) bool {
	_, err := StatAlive(s, id)
	return !errors.Is(err, ErrGone)
}
