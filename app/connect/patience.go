package main

import (
	"time"

	"lamplighter/app/share/wire"
)

// limits are how long and how much. A test has smaller ones.
type limits struct {
	line      int           // of the client, in bytes
	waiting   int           // bytes of lines that wait, from which on the client is not read
	connect   time.Duration // at first, until there is a background process
	refuse    time.Duration // from the start on, for a request to refuse
	refuseNow time.Duration // the same from when it is known that we refuse, at least: the machine may be slow
	heard     time.Duration // after connecting, for the first word of the background process
	slow      time.Duration // the same for one that is seen to run, at least
	pending   time.Duration // of a request while there is none, or it says nothing
	finish    time.Duration // after the client's end, for what is open
	unread    time.Duration // after the client's end, for a command of our own to end by itself
	firstWait time.Duration // between two attempts to connect
	lastWait  time.Duration
}

var usual = limits{
	line: wire.MaxLine, waiting: 64 << 20,
	connect: time.Second, heard: 1500 * time.Millisecond, slow: 9 * time.Second, refuse: 2 * time.Second, refuseNow: 500 * time.Millisecond, pending: 60 * time.Second, finish: 39 * time.Second, unread: 30 * time.Second,
	firstWait: 20 * time.Millisecond, lastWait: time.Second,
}

// waitForRoom waits while too much waits. The end of the client can only be
// noticed then where the system tells it without reading.
func (s *shim) waitForRoom() {
	over := false
	for {
		s.mu.Lock()
		full := s.book.size >= s.limits.waiting && !s.refusing
		s.mu.Unlock()
		if !full {
			return
		}
		if !over && s.closed() {
			over = true
			s.limitFinish()
		}
		select {
		case <-s.room:
		case <-time.After(time.Second):
		}
	}
}

// whyEnded is the error of what is open when we end after our client.
const whyEnded = "the client has ended the connection, and lamplighter did not answer in time"

// limitFinish ends us in time although something is open.
func (s *shim) limitFinish() {
	time.AfterFunc(s.finish, func() {
		time.AfterFunc(lastAnswers, func() { s.exit(0) })
		s.mu.Lock()
		s.refusing = true
		ended := s.ended
		answers := s.book.giveUp(whyEnded)
		s.book.printing++
		s.mu.Unlock()
		s.printAll(answers)
		if ended {
			s.exit(0)
		}
	})
}

// watchPending refuses requests that have waited for too long, while there is no
// connection, or one on which nothing at all comes: the background process may be
// suspended. What has been accepted may take as long as it takes.
func (s *shim) watchPending() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.watching {
		s.watching = true
		s.expireLater()
	}
}

func (s *shim) expireLater() {
	time.AfterFunc(min(time.Second, s.pending/2), func() {
		s.mu.Lock()
		if len(s.book.waiting) == 0 {
			s.watching = false
			s.mu.Unlock()
			return
		}
		then := s.now().Add(-s.pending)
		var answers [][]byte
		switch span := seconds(s.pending); {
		case s.link == nil:
			answers = s.book.expire(then, "lamplighter has gone and did not come back for "+span+", so that this was not carried out; start lamplighter, and try again", "")
		case s.book.printing == 0 && !s.lastWord.After(then):
			silent := "lamplighter runs, but has said nothing for " + span + ": it may be suspended"
			answers = s.book.expire(then, silent+"; this was not carried out", silent+"; this may still be carried out")
		}
		s.book.printing += min(1, len(answers))
		s.mu.Unlock()
		if len(answers) > 0 {
			s.printAll(answers)
		}
		s.expireLater()
	})
}
