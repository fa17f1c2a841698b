package launch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"sync"

	"lamplighter/app/project"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/statefile"
)

// Errors of a Launcher that is not at work.
var (
	errNotOpen = errors.New("servers cannot be launched yet")
	errClosing = errors.New("lamplighter is ending, and starts nothing any more")
)

// resolver is what a Launcher needs of a Finder.
type resolver interface {
	Resolve(context.Context, Wanted) (Resolution, error)
	Environment(context.Context, ...string) []string
}

// exitWatch tells of the ends of processes: *process.ExitWatch.
type exitWatch interface {
	Serve(context.Context) error
	Exits() <-chan monitor.Identity
	Watch(monitor.Identity) error
	Forget(monitor.Identity)
}

// Launcher starts servers and knows those that run. It is safe for concurrent
// use.
type Launcher struct {
	o         Options
	finder    resolver
	dashboard *serena.Client
	ask       http.RoundTripper
	looks     project.Looks
	turns     *turns
	exits     exitWatch
	bootID    string
	freePort  func() (int, error)

	readRecord func(dir, id string) (record, error)
	look       func(pid int) (process.Stat, error)

	opening sync.Mutex        // while the lock is taken; goes before mu
	refusal string            // guarded by it: why nothing can be launched, as the user is told; "" when it can
	left    map[string]string // likewise: what is told of what is left as it is, by its path
	lost    monitor.Bell      // rings when a start has found the lock lost
	opened  chan struct{}     // closed when it is open

	mu       sync.Mutex
	alive    aliveLock
	refused  error                        // why nothing can be launched; nil when it can
	starting map[string]func(cause error) // by id, how to give it up
	servers  map[string]*Server           // by id, those that are ready
	busy     sync.WaitGroup               // starts, and servers that are watched
	closed   chan struct{}                // closed when Serve lets go of what goes on
	dealt    chan struct{}                // closed when what earlier runs have left has been dealt with
	dealing  sync.Once
	hurry    chan struct{} // closed when what is being ended has no more time
}

// New makes a Launcher. Open and Serve make it work.
func New(o Options) *Launcher {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Tell == nil {
		o.Tell = func(monitor.Launch) {}
	}
	if o.Adopted == nil {
		o.Adopted = func(*Server) {}
	}
	if o.Record == nil {
		o.Record = func(monitor.Event) {}
	}
	if o.Warn == nil {
		o.Warn = func(...string) {}
	}
	o.Limits = o.Limits.orDefault()
	return &Launcher{
		o: o, looks: project.Looks{Limit: o.Limits.Look}, finder: o.Finder, dashboard: serena.NewClient(), ask: newAsking(),
		turns: newTurns(cpus()), exits: process.NewExitWatch(), freePort: freePort, readRecord: readRecord, look: process.ReadStat,
		alive:    aliveLock{path: AliveLock(o.StateDir)},
		left:     map[string]string{},
		lost:     monitor.NewBell(),
		opened:   make(chan struct{}),
		refused:  errNotOpen,
		starting: map[string]func(error){}, servers: map[string]*Server{},
		closed: make(chan struct{}), hurry: make(chan struct{}), dealt: make(chan struct{}),
	}
}

func (l *Launcher) serversDir() string     { return filepath.Join(l.o.StateDir, serversDir) }
func (l *Launcher) dirOf(id string) string { return filepath.Join(l.serversDir(), id) }

// forget removes what there is on disk of a launch.
func (l *Launcher) forget(id string) error {
	return statefile.RemoveAll(l.dirOf(id))
}

// Servers are those that run, in the order in which they were started.
func (l *Launcher) Servers() []*Server {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Collect(maps.Values(l.servers))
	slices.SortFunc(list, func(a, b *Server) int {
		return cmp.Or(a.rec.StartedAt.Compare(b.rec.StartedAt), cmp.Compare(a.rec.ID, b.rec.ID))
	})
	return list
}

// Inherited is closed when Serve has dealt with all that earlier runs of this
// program have left. Until then more of it may still be adopted.
func (l *Launcher) Inherited() <-chan struct{} { return l.dealt }

// begin admits a start, unless nothing can be launched, and returns a context
// that also ends when we do.
func (l *Launcher) begin(ctx context.Context, id string) (context.Context, func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused != nil {
		return nil, nil, l.refused
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l.starting[id] = cancel
	l.busy.Add(1)
	return ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.starting, id)
		cancel(nil)
		l.busy.Done()
	}, nil
}
