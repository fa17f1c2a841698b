package front

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/share/wire"
	"lamplighter/app/socket"
)

func TestRemovedSocketComesBack(t *testing.T) {
	var log apptest.Buffer
	s := serve(t, newWorld(t), func(o *Options) {
		o.CheckEvery = time.Millisecond
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
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
	s := serveAt(t, newWorld(t), place, func(o *Options) { o.First = &broken{l, 3} })
	s.begin(t, "/a")
}

func TestServeAgain(t *testing.T) {
	w := newWorld(t)
	broker, _ := newBroker(t, w)
	server := New(Options{Place: socket.Share(sharePath(t)), LockHeld: true, Broker: broker, Ask: asker{}, Log: quiet()})
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(ctx) }()
		apptest.Eventually(t, "it serves", func() bool {
			conn, err := socket.Dial(t.Context(), server.options.Place)
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

// The MCP session of a client survives the process that it comes through.
func TestNextProcessGoesOn(t *testing.T) {
	w := newWorld(t)
	s := serve(t, w, nil)
	c := s.begin(t, "/a")
	seq := c.line(callLine(1, "count", "{}"))
	kept := ""
	for done := false; !done || kept == ""; {
		f, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		done = done || f.Type == wire.Deliver && f.Seq == seq
		if f.Type == wire.Keep {
			kept = f.text
		}
	}
	apptest.Eventually(t, "it listens", func() bool { id := w.server("/a").Sessions(); return len(id) == 1 && w.server("/a").Listening(id[0]) })
	before := w.server("/a").Sessions()
	s.die()
	c.ended()
	if after := w.server("/a").Sessions(); len(after) != 1 || after[0] != before[0] {
		t.Fatalf("sessions %q, before %q", after, before)
	}
	next := serveAt(t, w, s.place, nil)
	again := next.connect(t)
	g := greeting("/a")
	g.Kept = []byte(kept)
	if f := again.hello(g); f.text != "S" {
		t.Fatalf("welcome %v", f)
	}
	again.seq = c.seq
	if f := again.call(2, "count", "{}"); !strings.Contains(f.text, "2") {
		t.Errorf("got %v; it is another session", f)
	}
	if after := w.server("/a").Sessions(); len(after) != 1 || after[0] != before[0] {
		t.Errorf("sessions %q, before %q", after, before)
	}
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
