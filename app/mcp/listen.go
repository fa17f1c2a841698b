package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// How long to wait before the GET stream is opened again: twice as long each
// time that it brought nothing and soon ended.
const (
	shortestWait = 50 * time.Millisecond
	longestWait  = 5 * time.Second
)

// Listen opens the GET stream in the background, after the server has accepted
// notifications/initialized, and opens it again when it ends, until Close or
// until the server says that there is none. A session that nobody listens to
// expires on Serena's side after 30 minutes. More calls do nothing.
func (s *Server) Listen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil && s.life.Err() == nil {
		s.stream = make(chan struct{})
		go s.listen()
	}
}

// listen reads the GET stream until the session is closed.
func (s *Server) listen() {
	defer close(s.stream)
	ctx := s.life
	for wait := shortestWait; ; wait = min(2*wait, longestWait) {
		body, err := s.openStream(ctx)
		if err == nil {
			began := time.Now()
			err = readMessages(body, func(line []byte) {
				wait = shortestWait
				s.receive(line)
			})
			_ = body.Close() // it is at its end
			if time.Since(began) > longestWait {
				wait = shortestWait
			}
		}
		var refused *Refused
		if errors.Is(err, ErrUnknown) || errors.As(err, &refused) && refused.Status == http.StatusMethodNotAllowed {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// openStream opens the GET stream. Its errors are those of Send.
func (s *Server) openStream(ctx context.Context) (io.ReadCloser, error) {
	answer, err := s.transport.RoundTrip(s.request(ctx, http.MethodGet))
	if err != nil {
		return nil, failed(ctx, false, err)
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		return nil, s.refusal(answer, 0)
	}
	if contentType(answer) != streamType {
		defer answer.Body.Close()
		return nil, &Refused{Status: http.StatusMethodNotAllowed, Text: fmt.Sprintf("its type is %q, which is no event stream", answer.Header.Get("Content-Type"))}
	}
	return answer.Body, nil
}
