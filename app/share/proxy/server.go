package proxy

import (
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
	"lamplighter/app/socket"
)

// Asker says how clients are served: *share.Planner.
type Asker interface {
	Plan(ctx context.Context, w share.Request) (share.Plan, error)
	ForProject(ctx context.Context, dir string, usual launch.Template) (share.Plan, error)
	ForAddress(ctx context.Context, project string, usual launch.Template) (share.Plan, error)
	Root(ctx context.Context, addresses []string) (project string)
}

// Options of a Server. Place, Broker, Ask and Log are needed.
type Options struct {
	Place    socket.Place
	LockHeld bool            // see socket.Listen
	First    socket.Listener // what socket.Inherited gave, see socket.Options; nil: one is made
	Broker   *share.Broker   // is served elsewhere
	Ask      Asker
	// Flags takes the flags that a client was started with, and says what is wrong
	// with them, in sentences for the user. nil: nobody cares.
	Flags func(flags []string) (warnings []string)
	Log   *slog.Logger

	CheckEvery time.Duration // see socket.Options
	HelloTime  time.Duration // that a connection has for its Hello; zero: 10 s
	Most       int           // connections at a time; zero: 1,000
	Limits     Limits        // of each session
}

// Server serves the clients that come through lamplighter-connect.
type Server struct {
	options  Options
	listener net.Listener  // made by Open, taken over by Serve
	places   chan struct{} // held by those that are attended to

	// What anybody can bring about as often as he likes.
	notLetIn, tooMany, refused, garbled often
}

// often logs the more rarely the more there is. It is safe for concurrent use.
type often struct{ count atomic.Int64 }

// log logs with how many there were.
func (o *often) log(log *slog.Logger, level slog.Level, text string, args ...any) {
	if count := o.count.Add(1); count&(count-1) == 0 {
		log.Log(context.Background(), level, text, append(args, "count", count)...)
	}
}

// New returns a server that does not listen yet.
func New(o Options) *Server {
	if o.HelloTime == 0 {
		o.HelloTime = 10 * time.Second
	}
	if o.Most == 0 {
		o.Most = 1000
	}
	if o.Flags == nil {
		o.Flags = func([]string) []string { return nil }
	}
	return &Server{options: o, places: make(chan struct{}, o.Most)}
}

// Attends reports whether a client is connected, also one that has no session yet.
func (s *Server) Attends() bool { return len(s.places) > 0 }

// Open makes the socket, so that its failure can be told before anything runs.
// Serve does it otherwise. Not for concurrent use.
func (s *Server) Open() error {
	l, err := socket.Stand(socket.Options{
		Place: s.options.Place, LockHeld: s.options.LockHeld, First: s.options.First, Log: s.options.Log, CheckEvery: s.options.CheckEvery,
	})
	if err != nil {
		return err
	}
	s.listener = l
	return nil
}

// Serve serves until ctx ends, and returns its error; it can be called again
// after it returned. Then all connections are closed, and their MCP sessions go
// on: the shims come back to the next one who serves.
func (s *Server) Serve(ctx context.Context) error {
	if s.listener == nil {
		if err := s.Open(); err != nil {
			return err
		}
	}
	listener := s.listener
	s.listener = nil
	ctx, cancel := context.WithCancel(ctx)
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	defer listener.Close()
	wait := time.Duration(0)
	for {
		conn, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return ctx.Err()
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("%s: %w", s.options.Place, err)
		case err != nil: // such as too many files: others may close some
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			s.notLetIn.log(s.options.Log, slog.LevelWarn, "a client of the "+s.options.Place.Name+" could not be let in", "error", err)
			await(ctx, nil, wait)
			continue
		}
		wait = 0
		select {
		case s.places <- struct{}{}:
			clients.Go(func() {
				defer func() { <-s.places }()
				s.attend(ctx, conn)
			})
		default:
			s.tooMany.log(s.options.Log, slog.LevelWarn, "refused a client: too many are connected", "most", s.options.Most)
			clients.Go(func() { s.turnAway(ctx, conn) })
		}
	}
}

// turnAway says that there are too many already.
func (s *Server) turnAway(ctx context.Context, conn net.Conn) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	// Its Hello is taken: a connection that is closed with something unread may
	// take back what was written.
	if _, err := newFrames(conn).hello(); err != nil {
		return
	}
	o := &outlet{conn: conn}
	_ = o.bye(exitUnavailable, fmt.Sprintf("lamplighter serves %d clients already, which is the most; end some of them", s.options.Most))
}
