package main

import (
	"os"
	"runtime/debug"
	"time"

	"lamplighter/app/share/wire"
)

// releaseAbove is how long a line is, in bytes, after which its memory goes back
// to the system. Lines that long are rare.
const releaseAbove = 1 << 20

func release() { debug.FreeOSMemory() }

// connect serves one client to its end, and returns the exit status.
func connect(o connectOptions) int {
	began := time.Now()
	stop, unread := onStop(func() { os.Exit(0) }), &stopper{do: func() { os.Exit(0) }}
	s := newShim(usual)
	s.read, s.print, s.closed, s.complain, s.exit = readInput, printOutput, inputClosed, complain, os.Exit
	s.greeting = greetingOf(o)
	paths := findSockets(o.socket)
	s.dial = func() (link, error) { return dialFirst(paths) }
	go watchOutput(unread.stop)
	l, mode, why, f, err := s.first()
	switch b, unwanted := err.(bye); {
	case unwanted:
		complain(b.why)
		s.refuse(began, b.why)
		return b.status
	case err != nil && o.orDirect:
		complain(unreachable(paths, err) + ", so that the command runs without it until the client starts it again")
		return direct(o.command)
	case err != nil:
		why := unreachable(paths, err) + "; start it with: lamplighter run"
		if err == errSilent {
			why = unreachable(paths, err) + "; have it go on, or end it and start it again"
		}
		complain(why + ", or give lamplighter-connect --or-direct to do without it")
		s.refuse(began, why)
		return exitUnavailable
	case mode == wire.Own:
		complain("this server is not shared with other clients: " + why)
		unread.set(func() {}) // which the command notices itself
		return s.own(l, f, o.command, stop)
	}
	return s.serve(l, f)
}

func unreachable(paths []string, err error) string {
	if len(paths) == 0 {
		return "lamplighter cannot be reached: neither LAMPLIGHTER_SOCKET nor a home directory says where"
	}
	return cannot("reach lamplighter at", paths[0], err).Error()
}

// complain tells the user, in one line.
func complain(text string) {
	if text != "" {
		writeErrors("lamplighter-connect: " + oneLine(text) + "\n")
	}
}

// refuse answers the client's first request with an error, if it comes in time.
// A client that asks first which protocols there are is told to begin as usual.
func (s *shim) refuse(began time.Time, why string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		l := lines{read: s.read, limit: s.limits.line, take: s.book.used.take}
		for {
			t, frame, err := l.next()
			if err != nil {
				return
			}
			m := wire.Split(frame[wire.HeaderLength:])
			if t != wire.Line || m.Kind != wire.Request {
				continue
			}
			code, text := wire.CodeUnavailable, why
			if m.Method == "server/discover" {
				code, text = wire.CodeMethodNotFound, "server/discover is not known here"
			}
			err = s.print(append(wire.ErrorLine(m.ID, code, text), '\n'))
			if err != nil || code == wire.CodeUnavailable {
				return
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(max(time.Until(began.Add(s.limits.refuse)), s.limits.refuseNow)):
	}
}
