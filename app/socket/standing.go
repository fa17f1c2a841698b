package socket

import (
	"log/slog"
	"net"
	"sync"
	"time"
)

// Options of a Standing. Place and Log are needed.
type Options struct {
	Place    Place
	LockHeld bool // see Listen
	Log      *slog.Logger
	// First is what it begins with; nil: Listen. One that Inherited gave stays open,
	// for whoever makes the next Standing: whoever passed it on holds it too, so that
	// nobody else could be reached there.
	First Listener
	// CheckEvery is how often it looks whether its socket file is still there;
	// zero means a minute. Nothing tells a listener that its file was removed,
	// and a look costs microseconds.
	CheckEvery time.Duration
}

// Standing is a listener whose socket's file is made again when somebody has
// removed it. Connections that are open go on meanwhile.
type Standing struct {
	options Options
	stop    chan struct{}
	stopped chan struct{}
	close   sync.Once

	mu      sync.Mutex
	current Listener
}

// Stand makes the socket. Until Close, one goroutine looks after it.
func Stand(o Options) (*Standing, error) {
	if o.CheckEvery == 0 {
		o.CheckEvery = time.Minute
	}
	l, err := begin(o)
	if err != nil {
		return nil, err
	}
	s := &Standing{options: o, stop: make(chan struct{}), stopped: make(chan struct{}), current: l}
	go s.watch()
	return s, nil
}

func begin(o Options) (Listener, error) {
	switch first := o.First.(type) {
	case nil:
		return Listen(o.Place, o.LockHeld, o.Log)
	case interface{ again() (Listener, error) }:
		if o.First.Gone() {
			return Listen(o.Place, o.LockHeld, o.Log)
		}
		return first.again()
	default:
		return first, nil
	}
}

// Accept waits for the next connection of our own user.
func (s *Standing) Accept() (net.Conn, error) {
	for {
		l := s.listener()
		conn, err := l.Accept()
		if err == nil || l == s.listener() {
			return conn, err
		}
	}
}

// Addr is the address of the socket.
func (s *Standing) Addr() net.Addr { return s.listener().Addr() }

// Close ends Accept. It may be called more than once.
func (s *Standing) Close() (err error) {
	s.close.Do(func() {
		close(s.stop)
		<-s.stopped
		err = s.listener().Close()
	})
	return err
}

func (s *Standing) listener() Listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

func (s *Standing) watch() {
	defer close(s.stopped)
	check := time.NewTicker(s.options.CheckEvery)
	defer check.Stop()
	told := false
	for {
		select {
		case <-s.stop:
			return
		case <-check.C:
		}
		before := s.listener()
		if !before.Gone() {
			continue
		}
		fresh, err := Listen(s.options.Place, s.options.LockHeld, s.options.Log)
		if err != nil {
			if !told {
				s.options.Log.Error("the "+s.options.Place.Name+" was removed and cannot be made again", "error", err)
				told = true
			}
			continue
		}
		s.options.Log.Warn("the "+s.options.Place.Name+" was removed by somebody; it was made again", "path", s.options.Place.Path)
		told = false
		s.mu.Lock()
		s.current = fresh
		s.mu.Unlock()
		before.Close() // which ends its Accept, so that the next one is on the new socket
	}
}
