package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/share/wire"
	"lamplighter/app/socket"
)

func TestRemovedSocketComesBack(t *testing.T) {
	var log apptest.Buffer
	s := serveAt(t, newWorld(t), socket.Options{
		Place: socket.Share(sharePath(t)), CheckEvery: time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil)),
	}, nil)
	c := s.begin(t, "/a")
	if filepath.IsAbs(s.place.Path) && os.RemoveAll(filepath.Dir(s.place.Path)) == nil {
		apptest.Eventually(t, "it is back", func() bool {
			conn, err := socket.Dial(t.Context(), s.place)
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
	}
	s.begin(t, "/a")
	c.call(1, "echo", "{}")
}

// broken is a listener whose first attempts fail.
type broken struct {
	socket.Listener
	left int
}

func (b *broken) Accept() (net.Conn, error) {
	if b.left > 0 {
		b.left--
		return nil, errors.New("too many open files")
	}
	return b.Listener.Accept()
}

func TestAcceptThatFails(t *testing.T) {
	place := socket.Share(sharePath(t))
	l, err := socket.Listen(place, true, quiet())
	if err != nil {
		t.Fatal(err)
	}
	s := serveAt(t, newWorld(t), socket.Options{Place: place, First: &broken{l, 3}, Log: quiet()}, nil)
	s.begin(t, "/a")
}

func TestServeAgain(t *testing.T) {
	w := newWorld(t)
	broker, _ := newBroker(t, w)
	server := New(optionsOf(broker))
	place := socket.Share(sharePath(t))
	for range 2 {
		var listener net.Listener
		apptest.Eventually(t, "its place is free", func() (free bool) { // Windows may take a moment to free the name of a pipe
			var err error
			listener, err = socket.Listen(place, true, quiet())
			return err == nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(ctx, listener) }()
		apptest.Eventually(t, "it serves", func() bool {
			conn, err := socket.Dial(t.Context(), place)
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// A client goes on after the end of the process that it came through.
func TestNextProcessGoesOn(t *testing.T) {
	w := newWorld(t)
	s := serve(t, w, nil)
	c := s.begin(t, "/a")
	c.call(1, "count", "{}")
	s.die()
	c.ended()
	next := serveAt(t, w, socket.Options{Place: s.place, Log: quiet()}, nil)
	again := next.connect(t)
	g := greeting("/a")
	g.Initialize, g.Initialized = []byte(initialize), []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if f := again.hello(g); f.text != "S" {
		t.Fatalf("welcome %v", f)
	}
	again.seq = c.seq
	if f := again.call(2, "count", "{}"); !strings.Contains(f.text, "1") || w.started() != 1 {
		t.Errorf("got %v of %d servers", f, w.started())
	}
	apptest.Eventually(t, "its name is known", func() bool { return slices.Contains(clientNames(next.broker, "/a"), "tester") })
}

// A client whose project was removed goes on without one.
func TestTheProjectWasRemoved(t *testing.T) {
	c := serve(t, newWorld(t), nil).connect(t)
	g := greeting("/a")
	g.Initialize, g.Initialized = []byte(initialize), []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	g.Moved, g.Project = true, "/removed"
	if f := c.hello(g); f.text != "S" {
		t.Fatalf("welcome %v", f)
	}
	apptest.Contains(t, c.call(1, "echo", "{}").text, noProject)
}

// What anybody may send as often as he likes does not fill the log.
func TestGarbageIsLoggedRarely(t *testing.T) {
	var log apptest.Buffer
	s := serve(t, newWorld(t), func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	const clients = 20
	for range clients {
		c := s.connect(t)
		_, _ = io.WriteString(c.conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // it may be closed already
		c.ended()
		c = s.begin(t, "/a")
		c.must(wire.Accept, 1, nil)
		c.ended()
	}
	s.stop() // which waits for all that is at work
	for _, text := range []string{"refused a client", "sends what no lamplighter-connect does"} {
		if n := strings.Count(log.String(), text); n != 5 { // 1, 2, 4, 8, 16
			t.Errorf("%q was logged %d times for %d clients", text, n, clients)
		}
	}
	apptest.Contains(t, log.String(), "count=16")
}
