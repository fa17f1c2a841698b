package api

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"lamplighter/app/payload"
)

// Options of a Server. All fields are needed except CheckEvery.
type Options struct {
	Path     string // of the control socket
	LockHeld bool   // see Listen
	Handler  http.Handler
	Log      *slog.Logger
	// CheckEvery is how often the server looks whether its socket file is still
	// there; zero means a minute. Nothing tells a listener that its file was
	// removed, and a look costs microseconds.
	CheckEvery time.Duration
}

// Server serves the routes on the control socket.
type Server struct {
	options  Options
	listener Listener // made by Open, taken over by Serve
}

// NewServer returns a server that does not listen yet.
func NewServer(o Options) *Server {
	if o.CheckEvery == 0 {
		o.CheckEvery = time.Minute
	}
	return &Server{options: o}
}

// Open makes the socket, so that its failure can be told before anything
// runs. Serve does it otherwise. Not for concurrent use.
func (s *Server) Open() error {
	l, err := Listen(s.options.Path, s.options.LockHeld, s.options.Log)
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
	// Requests end with this call, also when it fails.
	ctx, cancel := context.WithCancel(ctx)
	server := &http.Server{
		Handler:           expecting(s.options.Handler),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withPeer,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ConnState:         newDoorkeeper(systemLimits().connections, s.options.Log).note,
		ErrorLog:          slog.NewLogLogger(s.options.Log.Handler(), slog.LevelDebug),
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer shutDown(server)
	defer cancel()

	type ending struct {
		listener Listener
		err      error
	}
	ended := make(chan ending)
	start := func(l Listener) {
		running.Go(func() {
			err := server.Serve(l)
			select {
			case ended <- ending{l, err}:
			case <-ctx.Done():
			}
		})
	}
	current := s.listener
	s.listener = nil
	start(current)

	check := time.NewTicker(s.options.CheckEvery)
	defer check.Stop()
	told := false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-ended:
			if e.listener == current {
				return fmt.Errorf("control socket %s: %w", s.options.Path, e.err)
			}
		case <-check.C:
			if !current.Gone() {
				continue
			}
			fresh, err := Listen(s.options.Path, s.options.LockHeld, s.options.Log)
			if err != nil {
				if !told {
					s.options.Log.Error("the control socket was removed and cannot be made again", "error", err)
					told = true
				}
				continue
			}
			s.options.Log.Warn("the control socket was removed by somebody; it was made again", "path", s.options.Path)
			before := current
			current, told = fresh, false
			start(current)
			before.Close()
		}
	}
}

// expecting gives the body of each request its time.
func expecting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		payload.Expect(w, req)
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
