package api

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"lamplighter/app/payload"
	"lamplighter/app/socket"
)

// Options of a Server. All fields are needed except CheckEvery
// and Limits.
type Options struct {
	Path       string // of the control socket
	LockHeld   bool   // see socket.Listen
	Handler    http.Handler
	Log        *slog.Logger
	CheckEvery time.Duration // see socket.Options
	Limits     Limits        // of which it has Body
}

// Server serves the routes on the control socket.
type Server struct {
	options  Options
	listener net.Listener // made by Open, taken over by Serve
}

// NewServer returns a server that does not listen yet.
func NewServer(o Options) *Server { return &Server{options: o} }

// Open makes the socket, so that its failure can be told before anything
// runs. Serve does it otherwise. Not for concurrent use.
func (s *Server) Open() error {
	l, err := socket.Stand(socket.Options{
		Place: socket.Control(s.options.Path), LockHeld: s.options.LockHeld, Log: s.options.Log, CheckEvery: s.options.CheckEvery,
	})
	if err != nil {
		return err
	}
	s.listener = l
	return nil
}

// shutdownTime is what requests get to finish. Streams end at once.
const shutdownTime = 300 * time.Millisecond

// Serve serves until ctx ends; it can be called again after it returned. The
// socket's file is made again when somebody has removed it; connections that
// are open go on meanwhile.
func (s *Server) Serve(ctx context.Context) error {
	if s.listener == nil {
		if err := s.Open(); err != nil {
			return err
		}
	}
	listener := s.listener
	s.listener = nil
	// Requests end with this call, also when it fails.
	ctx, cancel := context.WithCancel(ctx)
	server := &http.Server{
		Handler:           expecting(s.options.Handler, s.options.Limits.Body),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withPeer,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ConnState:         newDoorkeeper(systemLimits().connections, "the control socket", s.options.Log).note,
		ErrorLog:          slog.NewLogLogger(s.options.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	defer func() {
		cancel()
		shutDown(server)
		<-ended
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-ended:
		ended <- nil // for the end of this
		return fmt.Errorf("control socket %s: %w", s.options.Path, err)
	}
}

// expecting gives the body of each request its time.
func expecting(h http.Handler, within time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		payload.Expect(w, req, within)
		h.ServeHTTP(w, req)
	})
}

// shutDown ends the server: listeners and idle connections at once, requests after
// shutdownTime.
func shutDown(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		server.Close()
	}
}
