package main

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"
)

// maxLine is the greatest length of a line, with its end, in bytes.
const maxLine = 32 << 10

// speaker tells the launcher how the server does, a line each:
//
//	started PID START       the program runs; START as in monitor.Identity
//	failed TEXT             it could not be started
//	exited PID code N       it has ended, or "signal N"; others may go on
//	output QUOTED           always the last: the end of what was printed, as a Go string
//
// A launcher that is gone, or does not read, holds up nobody.
type speaker struct {
	lines chan string
	said  chan struct{}
}

// maxLines is how many lines there can be.
const maxLines = 3

func speak(to *os.File) *speaker {
	s := &speaker{lines: make(chan string, maxLines), said: make(chan struct{})}
	go func() {
		defer close(s.said)
		for line := range s.lines {
			if _, err := to.WriteString(line); err != nil {
				return
			}
		}
	}()
	return s
}

// line says one line, which is written in the background.
func (s *speaker) line(text string) { s.lines <- text + "\n" }

// close waits until everything is written, but not for longer than limit.
func (s *speaker) close(limit time.Duration) {
	close(s.lines)
	select {
	case <-s.said:
	case <-time.After(limit):
	}
}

// quote makes a Go string of the end of text that is at most limit long.
func quote(text []byte, limit int) string {
	for {
		quoted := strconv.Quote(string(text))
		if len(quoted) <= limit {
			return quoted
		}
		// A byte becomes at most four, so that this much has to go at least.
		text = text[(len(quoted)-limit+3)/4:]
	}
}

// oneLine makes a line of a text that may hold anything.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
	return text[:min(len(text), maxLine/2)]
}

// cannot is the error of something that was to be done with a file.
func cannot(what, path string, err error) error {
	// Others would name the path once more.
	var inner *os.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return errors.New("cannot " + what + " " + strconv.Quote(path) + ": " + err.Error())
}
