package main

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"lamplighter/app/share/wire"
)

// Exit statuses of a command that could not be started, as those of a shell.
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// ownMode is the argument of the keeper between the shim and its own command.
const ownMode = "own"

// ownLastWait is how rarely we look for a background process while the command
// does without one.
const ownLastWait = 5 * time.Second

// own runs the command below us, and returns its status when nothing is left of
// it, except what people work in. Our own standard files are the command's: no
// byte between it and the client passes through us. The connection to the
// background process only says that all this is there.
func (s *shim) own(l link, f *frames, command []string, stop *stopper) int {
	reasons, order := endOrders(func() reason { return askedAbove })
	stop.set(order)
	t, identity, status, err := startOwn(command)
	if err != nil {
		_ = ran(l, "")
		complain(err.Error())
		s.refuse(time.Now(), err.Error())
		return status
	}
	s.greeting.Own = identity
	go watchClient(order, func() { time.AfterFunc(s.unread, order) })
	go func() {
		unwanted := ran(l, identity) == nil && s.attend(f)
		l.hangUp()
		l.close()
		if !unwanted {
			s.attendAgain()
		}
	}()
	return t.follow(reasons, order)
}

// endOrders are the reasons to end a tree, and what gives one.
func endOrders(why func() reason) (chan reason, func()) {
	reasons := make(chan reason, 1)
	return reasons, func() {
		select {
		case reasons <- why():
		default: // it is ordered already
		}
	}
}

// follow waits until nothing is left of a tree except what people work in, and
// returns the exit status of its first process. It orders the end of what that
// leaves behind.
func (t *tree) follow(reasons <-chan reason, order func()) int {
	status := 0
	gone, told, spared := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		t.wait(func(how string) {
			status = statusNumber(how)
			order()
			close(told)
		})
	}()
	go func() {
		defer close(spared)
		t.end(reasons)
	}()
	select {
	case <-gone:
	case <-spared:
	}
	<-told
	return status
}

// identity is the first process of a tree, as monitor.Identity writes it.
func (t *tree) identity() string {
	return strconv.Itoa(t.first.pid) + "-" + strconv.FormatUint(t.first.start, 10)
}

// startCommand starts the command itself. With an error comes our exit status.
func startCommand(command []string) (*tree, int, error) {
	path, err := lookPath(command[0])
	if err != nil {
		return nil, exitNotFound, err
	}
	t, err := start(child{path: path, command: command, spare: isSerena(command), server: sync.OnceValue(serverBelow)})
	return t, exitCannotRun, err
}

// ran says which process runs the command.
func ran(l link, identity string) error {
	frame := wire.AppendHeader(nil, wire.Header{Type: wire.Ran, Length: len(identity)})
	return l.write(append(frame, identity...))
}

// attend takes what the background process says, until it has gone. It is true
// when it does not want to see us again.
func (s *shim) attend(f *frames) bool {
	for {
		h, payload, err := f.next()
		if err == nil {
			err = s.aside(h, payload)
		}
		if b, unwanted := err.(bye); unwanted {
			complain(b.why)
			return true
		}
		if err != nil {
			return false
		}
	}
}

// attendAgain tells each new background process of the command.
func (s *shim) attendAgain() {
	for wait := s.firstWait; ; wait = min(2*wait, ownLastWait) {
		if l, err := s.dial(); err == nil {
			_, _, f, err := s.greet(l)
			_, unwanted := err.(bye)
			if err == nil {
				wait = s.firstWait
				unwanted = s.attend(f)
			}
			l.hangUp()
			l.close()
			if unwanted {
				return
			}
		}
		time.Sleep(wait)
	}
}

// statusNumber makes an exit status of how a process has ended; see statusOf.
func statusNumber(how string) int {
	kind, text, _ := strings.Cut(how, " ")
	n, err := strconv.ParseUint(text, 10, 32)
	switch {
	case err != nil:
		return exitCannotRun
	case kind == "signal":
		return 128 + int(n)
	}
	return int(n)
}

// isSerena reports whether a command is a Serena: a browser that it has opened is
// one that people work in, and that of another server is its tool.
func isSerena(command []string) bool {
	for _, word := range command {
		word = strings.ToLower(word)
		if i := strings.LastIndexAny(word, `/\`); i >= 0 {
			word = word[i+1:]
		}
		if strings.HasPrefix(word, "serena") {
			return true
		}
	}
	return false
}

// stopper is what happens when we are told to end.
type stopper struct {
	mu sync.Mutex
	do func()
}

func (s *stopper) set(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.do = do
}

func (s *stopper) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.do()
}
