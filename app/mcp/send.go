package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"strings"

	"lamplighter/app/share/wire"
)

// longBody is the length from which on the server is asked first whether it wants
// the body. It may well not: Serena takes 4 MiB, and then would hang up in the
// middle, which cannot be told from its death.
const longBody = 1 << 20

// Send posts a line, which must not change until it returns, and gives each
// message of the answer to each, one at a time and in order; the line is each's
// to keep. While each runs the answer is not read on. A notification has no
// messages; a nil each wants none.
//
// Send returns when the answer has ended, also when it held no response. There
// is no time limit but ctx, whose end hangs up and cancels nothing. The error Is
// ErrNotSent, ErrUnknown or ErrLost, or it is a *Refused.
func (s *Server) Send(ctx context.Context, line []byte, each func(line []byte)) error {
	return s.send(ctx, line, each, nil)
}

// Begin is Send in the background. taken is closed when the server has begun to
// answer, so that it has taken the line over, or when the call has failed: lines whose
// order matters must wait for that of the one before. done is closed when each is not
// called any more, after ended, if not nil, got the error.
func (s *Server) Begin(ctx context.Context, line []byte, each func(line []byte), ended func(error)) (taken, done <-chan struct{}) {
	began, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		answered := false
		err := s.send(ctx, line, each, func(*http.Response) {
			answered = true
			close(began)
		})
		if !answered {
			close(began)
		}
		if ended != nil {
			ended(err)
		}
	}()
	return began, over
}

// post is one POST on its way.
type post struct {
	body *bytes.Reader // of the last attempt
	conn *conn         // likewise; nil when it is not ours
}

// arrived reports whether the server may have got all of the request, after
// RoundTrip failed: net/http has stopped writing by then.
func (p *post) arrived() bool {
	return p.body.Len() == 0 && (p.conn == nil || !p.conn.broken.Load())
}

// send is Send. taken, if not nil, is called with the header of the answer.
func (s *Server) send(ctx context.Context, line []byte, each func([]byte), taken func(*http.Response)) error {
	if s.life.Err() != nil {
		return fmt.Errorf("%w: %w", ErrNotSent, errClosed)
	}
	ctx, cancel := context.WithCancelCause(ctx) // which ends with the session, too
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(errClosed) })()
	p := &post{}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		p.conn, _ = got.Conn.(*conn)
	}})
	r := s.request(ctx, http.MethodPost)
	r.ContentLength = int64(len(line))
	r.GetBody = func() (io.ReadCloser, error) { // for another attempt, when nothing at all was written
		// With this type it goes out together with the header.
		p.body = bytes.NewReader(line)
		return io.NopCloser(p.body), nil
	}
	r.Body, _ = r.GetBody() // never fails
	if len(line) >= longBody {
		r.Header = maps.Clone(r.Header)
		r.Header.Set("Expect", "100-continue")
	}
	answer, err := s.transport.RoundTrip(r)
	if err != nil {
		return failed(ctx, p.arrived(), err)
	}
	defer answer.Body.Close()
	if taken != nil {
		taken(answer)
	}
	if answer.StatusCode/100 != 2 {
		return s.refusal(answer, len(line))
	}
	if each == nil {
		each = func([]byte) {}
	}
	if err := messages(answer, each); err != nil {
		return failed(ctx, true, err)
	}
	return nil
}

// failed says what became of a request. The end of its context says why better
// than what that did to the connection.
func failed(ctx context.Context, arrived bool, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if arrived {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return fmt.Errorf("%w: %w", ErrNotSent, err)
}

// refusal is the error that an answer is.
func (s *Server) refusal(answer *http.Response, length int) error {
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10)) // half of it is good enough
	if answer.StatusCode == http.StatusNotFound && s.id != "" {
		return ErrUnknown
	}
	refused := &Refused{Status: answer.StatusCode, Text: strings.TrimSpace(string(text))}
	var told struct {
		Message string `json:"message"`
	}
	switch m := wire.Split(text); {
	case answer.StatusCode == http.StatusRequestEntityTooLarge:
		refused.Text = fmt.Sprintf("the message has %d bytes, and the server does not take as much (Serena takes %d)", length, 4<<20)
	case m.Error != nil && json.Unmarshal(m.Error, &told) == nil:
		refused.Text = told.Message
	case answer.StatusCode/100 == 3:
		refused.Text = "a redirection, which is not followed"
	}
	switch answer.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		refused.Location = answer.Header.Get("Location")
	}
	return refused
}

// messages gives the messages of an answer to each.
func messages(answer *http.Response, each func([]byte)) error {
	if answer.StatusCode != http.StatusOK {
		_, err := io.Copy(io.Discard, io.LimitReader(answer.Body, 4<<10))
		return err
	}
	switch contentType(answer) {
	case streamType:
		return readMessages(answer.Body, each)
	case "application/json":
		text, err := readAll(answer)
		if err != nil {
			return err
		}
		if line := oneLine(text); len(line) > 0 {
			each(line)
		}
		return nil
	case "":
		var b [1]byte
		if _, err := io.ReadFull(answer.Body, b[:]); errors.Is(err, io.EOF) {
			return nil
		}
	}
	return fmt.Errorf("its type is %q, which is neither JSON nor an event stream", answer.Header.Get("Content-Type"))
}

const streamType = "text/event-stream"

// contentType is the type of an answer, without what stands behind it.
func contentType(answer *http.Response) string {
	kind, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

var errTooLong = fmt.Errorf("it is longer than %d MiB", wire.MaxLine>>20)

// readAll reads a body of JSON. What a server says of its length is not believed:
// memory is taken as bytes arrive.
func readAll(answer *http.Response) ([]byte, error) {
	if answer.ContentLength > wire.MaxLine {
		return nil, errTooLong
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, wire.MaxLine+1))
	if err == nil && len(text) > wire.MaxLine {
		return nil, errTooLong
	}
	return text, err
}

// oneLine makes JSON that may stand on several lines one line, in place: what
// ends a line in JSON is white space between its parts, as strings cannot hold
// it.
func oneLine(text []byte) []byte {
	text = bytes.Trim(bytes.TrimPrefix(text, []byte(byteOrderMark)), " \t\r\n")
	for i, c := range text {
		if c == '\r' || c == '\n' {
			text[i] = ' '
		}
	}
	return text
}
