package main

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"lamplighter/app/share/wire"
)

// version is that of the program. The build sets it.
var version = "dev"

// greetingOf is what we say first.
func greetingOf(o connectOptions) wire.Greeting {
	dir, err := os.Getwd()
	if err != nil { // it was removed: Linux still knows its name, and adds " (deleted)"
		dir, _ = os.Readlink("/proc/self/cwd")
		if _, err := os.Lstat(dir); err == nil {
			dir = "" // another one, of that name
		}
	}
	g := wire.Greeting{Program: version, Dir: dir, Command: o.command, Flags: o.flags}
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); wire.Relevant(name) {
			g.Env = append(g.Env, variable)
		}
	}
	return g
}

// errSilent is that the background process accepts connections, which the system
// does for it, and does nothing.
var errSilent = errors.New("it says nothing, as if it were suspended")

// patience hangs up on a link when nothing comes for the first limit, or for the
// second while the other end is seen to run: the machine may be busy. The answer
// is to be called once, and tells whether it has.
func patience(l link, limit, most time.Duration) (hungUp func() bool) {
	came, done := make(chan struct{}), make(chan bool, 1)
	go func() {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		for waited := limit; ; waited += limit {
			select {
			case <-came:
				done <- false
				return
			case <-timer.C:
			}
			if r, ok := l.(interface{ runs() bool }); !ok || waited >= most || !r.runs() {
				l.hangUp()
				done <- true
				return
			}
			timer.Reset(limit)
		}
	}()
	return func() bool {
		close(came)
		return <-done // or it would hang up on somebody else's descriptor
	}
}

// greet says Hello on a new link and waits for the Welcome, however long that
// takes if only the Hello was heard.
func (s *shim) greet(l link) (mode wire.WelcomeMode, why string, f *frames, err error) {
	greeting := s.greeting
	s.mu.Lock()
	greeting.Initialize, greeting.Initialized = s.book.initialize, s.book.initialized
	s.mu.Unlock()
	payload := wire.AppendHello(nil, greeting)
	if len(payload) > wire.MaxHello {
		s.complain("the command line and the environment are too long for lamplighter")
		s.exit(2)
	}
	hello := wire.AppendHeader(nil, wire.Header{Type: wire.Hello, Length: len(payload)})
	hungUp := patience(l, s.heard, s.slow)
	if err := l.write(append(hello, payload...)); err != nil {
		if hungUp() {
			err = errSilent
		}
		return 0, "", nil, err
	}
	f = &frames{read: func(p []byte) (int, error) {
		n, err := l.read(p)
		s.mu.Lock()
		s.lastWord = s.now()
		s.mu.Unlock()
		return n, err
	}}
	for first := true; ; first = false {
		h, payload, err := f.next()
		if first && hungUp() {
			err = errSilent
		}
		if err != nil {
			return 0, "", nil, err
		}
		if h.Type == wire.Welcome {
			if len(payload) == 0 || payload[0] != byte(wire.Shared) && payload[0] != byte(wire.Own) {
				return 0, "", nil, wire.ErrFrame
			}
			return wire.WelcomeMode(payload[0]), string(payload[1:]), f, nil
		}
		if h.Type == wire.Heard && first {
			continue
		}
		if err := s.aside(h, payload); err != nil {
			return 0, "", nil, err
		}
	}
}

// first connects at the start. It tries for some time, because the background
// process may be starting again. The error is of the last attempt, or a bye.
func (s *shim) first() (l link, mode wire.WelcomeMode, why string, f *frames, err error) {
	deadline := s.now().Add(s.connect)
	for wait := s.firstWait; ; wait = min(2*wait, s.lastWait) {
		began := s.now()
		if l, err = s.dial(); err == nil {
			if mode, why, f, err = s.greet(l); err == nil {
				return l, mode, why, f, nil
			}
			l.hangUp()
			l.close()
			if _, unwanted := err.(bye); unwanted || err == errSilent {
				return nil, 0, "", nil, err
			}
			// One that was there and died is worth the whole time again; one that only
			// ever hangs up is not.
			if s.now().Sub(began) >= s.connect {
				deadline = s.now().Add(s.connect)
			}
		}
		if s.now().Add(wait).After(deadline) {
			return nil, 0, "", nil, err
		}
		time.Sleep(wait)
	}
}

// reconnect connects again, and tries until it can. No link means that we are
// not welcome any more.
func (s *shim) reconnect() (link, *frames) {
	for wait := s.firstWait; ; wait = min(2*wait, s.lastWait) {
		if l, err := s.dial(); err == nil {
			mode, why, f, err := s.greet(l)
			if err == nil && mode == wire.Shared {
				return l, f
			}
			l.hangUp()
			l.close()
			if b, unwanted := err.(bye); unwanted {
				s.complain(b.why)
				return nil, nil
			}
			if err == nil {
				s.complain("the server cannot be shared any more: " + why)
				return nil, nil
			}
		}
		select {
		case <-s.wake:
		case <-time.After(wait):
		}
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d/time.Second)) + " s" }
