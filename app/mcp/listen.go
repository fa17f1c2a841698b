package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// streamPause is how long to wait before the GET stream is opened again.
const streamPause = time.Second

// Listen opens the GET stream in the background, after the server has accepted
// notifications/initialized, and opens it again when it ends, until Close or
// until the server says that there is none. A session that nobody listens to
// expires on Serena's side after 30 minutes. More calls open nothing. What they return is
// closed once the server has answered the first time: what it asks by itself before is lost.
func (s *Server) Listen() (answered <-chan struct{}) {
	s.listening.Do(func() { go s.listen() })
	return s.answered
}

// listen reads the GET stream until there is none, or the session is closed.
func (s *Server) listen() {
	answered := sync.OnceFunc(func() { close(s.answered) })
	for {
		body, err := s.openStream(s.life)
		answered()
		if err == nil {
			err = readMessages(body, s.receive)
			_ = body.Close() // it is at its end
		}
		var refused *Refused
		if errors.Is(err, ErrUnknown) || errors.As(err, &refused) && refused.Status == http.StatusMethodNotAllowed {
			return
		}
		select {
		case <-s.life.Done():
			return
		case <-time.After(streamPause):
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
