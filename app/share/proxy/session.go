// Package proxy is the conversation of one client with a server that it shares
// with others. Clients come to the Server through lamplighter-connect on the share socket,
// or over HTTP at /mcp. It finds out who a client is and what it wants, gives it a Session,
// and passes lines on.
//
// The client sees an MCP server that never goes away. Behind it the server may not
// run yet, be parked, die or be replaced: the session then opens an MCP session with
// the next one, repeats what the client had set up, and tells the fate of each
// request: it is answered, or there is an error that says whether it may have been
// carried out.
//
// Messages pass as they are, byte for byte. Only their top level is looked at,
// and the few parameters that the session needs. How a server is started and who may
// share one is app/share's.
//
// # Concurrency
//
// Each connection of the socket has a goroutine that reads its frames; each session
// has one that runs it and one, the pump, that sends to the server in the order of
// the client. Each request that was sent has a goroutine that waits for its end. What
// the server sends comes on goroutines of package mcp, and is written to the client
// before more of it is read: a client that does not read holds up its own
// requests and nothing else.
//
// One of these goroutines at a time has the session's turn, Session.mu, and with it all
// of its state. It lets others have the turn where it waits, writes to the client or calls
// what may take long (await, write, outside), and nowhere else: what was read of the state
// before that may not hold after it. Who wants to write waits for Session.out without
// the turn, so that the turn may be taken while out is held.
package proxy

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"lamplighter/app/share"
	"lamplighter/app/share/wire"
)

// Outlet is the way to the client. Each call returns when it is written, or handed to who
// writes it; an error means that the client has gone. It is called by one goroutine at a
// time. What it was given is not changed any more.
type Outlet interface {
	// Accept says that the line is about to be worked on.
	Accept(seq uint64) error
	// Deliver is a line for the client; seq is that of the request that it belongs
	// to, 0 for none, and answer says that it is the answer to it, which is nil when
	// nothing answers the request any more.
	Deliver(seq uint64, answer bool, line []byte) error
	// Moved says which project the client has from now on, "" when it is not certain that
	// it has any: whoever goes on with the conversation later has to know.
	Moved(project string) error
}

// Servers is the server behind the session, and what is known of it by all that
// share it. Its methods may be called from any goroutine; none of them but
// Acquire and Cached blocks, and none calls the session.
type Servers interface {
	// Acquire returns the running server, after it has started or woken it. It is
	// called between Began and Ended. Its error is a sentence for the user.
	Acquire(ctx context.Context) (share.Endpoint, error)
	// Began and what it returns bracket each request, from when it needs the server until
	// the server does not work on it any more. A server that is shut by then does not get it.
	Began() (ended func())
	// Project is that of the server, "" when it has none.
	Project() string
	// Move makes it the server of another plan for what comes from then on.
	Move(plan share.Plan) (before share.Plan)
	// Hang says in words that the server does not answer, "" while it does.
	Hang() (text string)
	// Lingering says that the server may work on something unseen for so long.
	Lingering(d time.Duration)
	// Cached is the result of an earlier request, while no server runs; under says
	// what else it depends on.
	Cached(method, under string) (result []byte, ok bool)
	Store(method, under string, result []byte)
	// Forget drops what is cached, because the server says that it has changed.
	Forget()
	// Seen is the value of the argument session of a call of serena_repl.
	Seen(session string)
}

// ClientInfo is what a client says that it is.
type ClientInfo struct{ Name, Version, Title string }

// SessionOptions are what a session is made of.
type SessionOptions struct {
	Servers Servers
	Out     Outlet
	// Initialize and Initialized are the client's own lines, when it began the
	// conversation with an earlier process; empty for a new client. They are repeated
	// to the server with its next request.
	Initialize, Initialized []byte
	Log                     *slog.Logger
	Info                    func(ClientInfo) // what the client says of itself, with each initialize
	// Plan says how the client is served once it has activated a project, which it names
	// by path or name. nil: it cannot.
	Plan func(ctx context.Context, project string) (share.Plan, error)
	// Root is the project of a client with these roots, "" for none. nil: they do not
	// say which project it has.
	Root   func(ctx context.Context, addresses []string) (project string)
	Limits Limits
}

// What else bounds a session.
const (
	maxSent    = 128         // requests that the server works on at a time
	maxWorking = 8 * maxSent // likewise, with those that the client does not wait for any more
	perLine    = 512         // bytes that a line costs besides
	retries    = 3           // of a request that was surely not carried out
)

// Times.
const (
	goodbye = 3 * time.Second  // for the server to hear that the client has gone
	grace   = 2 * time.Second  // for the rest of answers, after the end of the server's process
	unseen  = 10 * time.Minute // in which a cancelled call may still run
)

// Session is the conversation of one client.
type Session struct {
	o SessionOptions

	odd often // what the server does that it should not

	out sync.Mutex // held while something is written

	mu      sync.Mutex // the turn; all that follows is for who has it
	changed *sync.Cond // of mu; any of the following
	queue   []*item    // what waits for the server: what overtakes, and the rest in the order of the client
	pending map[string]*item
	held    int                 // bytes of all items that are not done
	sent    map[*item]bool      // requests that the server works on, also those whose fate was told
	asked   map[string]question // of the client, by the keys of ids

	link *link // nil while there is none
	// What the client had set up, which is repeated to the next server: its initialize, empty
	// before it has the answer to it, and its notifications/initialized, empty before it came.
	// Serena takes neither subscriptions nor a log level, so that there is nothing else.
	initializeLine, initializedLine []byte

	// listed tells apart the tools that the client knows.
	listed [sha256.Size]byte

	project string // that the client knows that it has, "" for none
	// askRoots says that its roots may tell it otherwise, until it has tried to change it
	// by itself.
	askRoots bool

	over context.Context // ends when the client has gone or Serve ends: nothing is sent or written any more
	end  context.CancelFunc
}

// question is what a server has asked the client, or we, which roots it has.
type question struct {
	link  *link         // of the server
	roots chan<- []byte // gets the answer to ours; has room for it
}

// newSession returns a session, which works while Serve runs.
func newSession(o SessionOptions) *Session {
	s := &Session{
		o: o, askRoots: o.Root != nil, project: o.Servers.Project(),
		pending: map[string]*item{}, sent: map[*item]bool{}, asked: map[string]question{},
	}
	s.over, s.end = context.WithCancel(context.Background())
	s.changed = sync.NewCond(&s.mu)
	if m := wire.Split(o.Initialize); m.Method == "initialize" && json.Valid(o.Initialize) {
		s.initializeLine, s.initializedLine = o.Initialize, o.Initialized
		said, _ := readMembers(m.Params)
		o.Info(said.ClientInfo)
	}
	return s
}

// Serve works until the client has gone. Then it cancels what the server works on and
// ends the MCP session, within seconds, and returns nil. When ctx ends it returns its error
// as soon as nothing is sent any more, and cancels and ends nothing at the server: the next
// process goes on with the conversation. It may be called once.
func (s *Session) Serve(ctx context.Context) error {
	// That the pump and calls end with us is not told as the fate of a request. The shim of
	// the client tells that.
	defer context.AfterFunc(ctx, s.end)()
	pumped := make(chan struct{})
	go func() {
		defer close(pumped)
		s.pump(s.over)
	}()
	<-s.over.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
	s.await(context.Background(), pumped, goodbye) // which may be opening an MCP session
	err := ctx.Err()
	if err != nil {
		s.close(ctx, s.link) // which has ended, so that the server is told nothing
	} else {
		s.sayGoodbye(ctx)
	}
	for it := range s.sent {
		it.abort()
	}
	return err
}

// Gone says that the client has gone. It may be called more than once.
func (s *Session) Gone() { s.end() }

// isOver reports whether nothing is sent or written any more.
func (s *Session) isOver() bool { return s.over.Err() != nil }

// outside lets go of the turn for what takes long.
func (s *Session) outside(takesLong func()) {
	s.mu.Unlock()
	defer s.mu.Lock()
	takesLong()
}

// await is await outside of the turn.
func (s *Session) await(ctx context.Context, done <-chan struct{}, d time.Duration) {
	s.outside(func() { await(ctx, done, d) })
}

// write writes to the client, outside of the turn; an error of it ends the session. It is
// false when the client has gone.
func (s *Session) write(what func() error) (isWritten bool) {
	s.outside(func() {
		s.out.Lock()
		defer s.out.Unlock()
		if s.isOver() {
			return
		}
		err := what()
		if err != nil {
			s.o.Log.Debug("A client has gone", "error", err)
			s.Gone()
		}
		isWritten = err == nil
	})
	return isWritten
}

// sayGoodbye cancels what the server works on and ends the MCP session. Each step
// has its own limit: a server or client that holds up one does not take away the
// next.
func (s *Session) sayGoodbye(ctx context.Context) {
	telling, cancel := context.WithTimeout(ctx, goodbye)
	defer cancel()
	lk := s.link
	var told []<-chan struct{}
	for _, it := range s.pending {
		if it.link == nil {
			continue
		}
		s.o.Servers.Lingering(unseen)
		if !it.told && it.link == lk {
			told = append(told, lk.session.Begin(telling, cancellation(it.ID, "the client has gone"), nil, func(error) {}))
		}
	}
	for _, taken := range told {
		s.await(telling, taken, goodbye)
	}
	s.close(ctx, lk)
}
