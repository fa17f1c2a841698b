package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"lamplighter/app/launch"
	"lamplighter/app/share"
)

// Asker says how clients are served: *share.Planner.
type Asker interface {
	Plan(ctx context.Context, w share.Request) (share.Plan, error)
	ForProject(ctx context.Context, dir string, usual launch.Template) (share.Plan, error)
	ForAddress(ctx context.Context, project string, usual launch.Template) (share.Plan, error)
	Root(ctx context.Context, addresses []string) (project string)
}

// Options of a Server, all but the limits needed.
type Options struct {
	Broker *share.Broker // is served elsewhere
	Ask    Asker
	// Flags takes the flags that a client of the socket was started with, and says what is
	// wrong with them, in sentences for the user.
	Flags  func(flags []string) (warnings []string)
	Usual  func() launch.Template // of the Serena that clients over HTTP get
	Log    *slog.Logger
	Limits Limits
}

// Limits are those of clients. A zero field means the default.
type Limits struct {
	Hello    time.Duration // that a connection has for its Hello
	Idle     time.Duration // after which a session over HTTP ends that nobody uses
	Sessions int           // over HTTP at a time

	Held  int           // bytes of lines of a session that wait or are worked on, before Take blocks
	Taken time.Duration // for the headers of an answer, before the next line is sent: some servers send them with it
}

func (l Limits) orDefault() Limits {
	return Limits{
		Hello: cmp.Or(l.Hello, 10*time.Second), Idle: cmp.Or(l.Idle, 30*time.Minute), Sessions: cmp.Or(l.Sessions, 1000),
		Held: cmp.Or(l.Held, 64<<20), Taken: cmp.Or(l.Taken, 30*time.Millisecond),
	}
}

// Server serves clients: those that come through lamplighter-connect (Serve), and those
// that speak MCP over streamable HTTP (ServeWeb and ServeMCP; protocol revision 2025-06-18,
// "Transports"). It is safe for concurrent use.
type Server struct {
	options   Options
	connected atomic.Int64 // through the socket

	// What anybody can bring about as often as he likes.
	notLetIn, refused, garbled often

	// Of clients over HTTP.
	working  sync.WaitGroup // what ServeWeb has begun
	mu       sync.Mutex
	serving  context.Context // of ServeWeb, nil before and after
	sessions map[string]*webSession
}

// often logs the more rarely the more there is. It is safe for concurrent use.
type often struct{ count atomic.Int64 }

// log logs with how many there were.
func (o *often) log(log *slog.Logger, level slog.Level, text string, args ...any) {
	if count := o.count.Add(1); count&(count-1) == 0 {
		log.Log(context.Background(), level, text, append(args, "count", count)...)
	}
}

// New returns a server that serves nobody yet.
func New(o Options) *Server {
	o.Limits = o.Limits.orDefault()
	return &Server{options: o, sessions: map[string]*webSession{}}
}

// Attends reports whether a client of the socket is connected, also one that has no
// session yet.
func (server *Server) Attends() bool { return server.connected.Load() > 0 }

// pause is what comes after a client that could not be let in.
const pause = 100 * time.Millisecond

// Serve serves those who connect to the listener, which it closes, until ctx ends, and
// returns its error; it can be called again after it returned. Then all connections are
// closed, and their MCP sessions go on: the shims come back to the next one who serves.
func (server *Server) Serve(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	defer working.Wait()
	defer cancel()
	working.Go(func() { // once, and not when another one may have its place already
		<-ctx.Done()
		listener.Close()
	})
	for {
		conn, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return ctx.Err()
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("%s: %w", listener.Addr(), err)
		case err != nil: // such as too many files: others may close some
			server.notLetIn.log(server.options.Log, slog.LevelWarn, "a client of the share socket could not be let in", "error", err)
			await(ctx, nil, pause)
			continue
		}
		server.connected.Add(1)
		working.Go(func() {
			defer server.connected.Add(-1)
			server.attend(ctx, conn)
		})
	}
}
