package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"lamplighter/app/share/wire"
)

// longBody is the length from which on the server is asked first whether it wants
// the body. It may well not: Serena takes 4 MiB, and then would hang up in the
// middle, which cannot be told from its death.
const longBody = 1 << 20

// Send posts a line, which must not change until it returns, and gives each
// message of the answer to each, one at a time and in order; the line is each's
// to keep. While each runs the answer is not read on. A notification has no
// messages. With a nil each they go to Receive.
//
// Send returns when the answer has ended, also when it held no response. There
// is no time limit but ctx, whose end hangs up and cancels nothing. The error Is
// ErrNotSent, ErrUnknown or ErrLost, or it is a *Refused.
func (s *Server) Send(ctx context.Context, line []byte, each func(line []byte)) error {
	return s.send(ctx, line, each, func(*http.Response) {})
}

// answerGrace is how long the stream with the answer to a request of Ask may stay open
// after the answer: some servers leave it open.
const answerGrace = time.Second

// Ask sends a request and returns the line of its response. What the server sends besides
// goes to Receive. The error is as with Send; it Is ErrLost when there was no response.
func (s *Server) Ask(ctx context.Context, request []byte) (response []byte, err error) {
	return s.ask(ctx, request, func(*http.Response) {})
}

// ask is Ask. taken is called with the header of the answer.
func (s *Server) ask(ctx context.Context, request []byte, taken func(*http.Response)) (response []byte, err error) {
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	err = s.send(ctx, request, func(line []byte) {
		switch {
		case wire.Split(line).Kind != wire.Response:
			s.receive(line)
		case response == nil:
			response = line
			time.AfterFunc(answerGrace, hangUp)
		}
	}, taken)
	if response != nil { // what came after it is no matter
		return response, nil
	}
	return nil, cmp.Or(err, fmt.Errorf("%w: what it sent is no response", ErrLost))
}

// Begin is Send in the background. taken is closed when the server has begun to
// answer, so that it has taken the line over, or after ended when the call has failed:
// lines whose order matters must wait for that of the one before. ended gets the error
// when each is not called any more.
func (s *Server) Begin(ctx context.Context, line []byte, each func(line []byte), ended func(error)) (taken <-chan struct{}) {
	began := make(chan struct{})
	begin := sync.OnceFunc(func() { close(began) })
	go func() {
		err := s.send(ctx, line, each, func(*http.Response) { begin() })
		ended(err)
		begin()
	}()
	return began
}

// send is Send. taken is called with the header of the answer.
func (s *Server) send(ctx context.Context, line []byte, each func([]byte), taken func(*http.Response)) error {
	if s.life.Err() != nil {
		return fmt.Errorf("%w: %w", ErrNotSent, errClosed)
	}
	ctx, cancel := context.WithCancelCause(ctx) // which ends with the session, too
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(errClosed) })()
	var body *bytes.Reader // of the last attempt
	var used *conn         // likewise; nil when it is not ours
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		used, _ = got.Conn.(*conn)
	}})
	r := s.request(ctx, http.MethodPost)
	r.ContentLength = int64(len(line))
	r.GetBody = func() (io.ReadCloser, error) { // for another attempt, when nothing at all was written
		// With this type it goes out together with the header.
		body = bytes.NewReader(line)
		return io.NopCloser(body), nil
	}
	r.Body, _ = r.GetBody() // never fails
	if len(line) >= longBody {
		r.Header.Set("Expect", "100-continue")
	}
	answer, err := s.transport.RoundTrip(r)
	if err != nil { // net/http has stopped writing by now
		arrived := body.Len() == 0 && (used == nil || !used.broken.Load())
		return failed(ctx, arrived, err)
	}
	defer answer.Body.Close()
	taken(answer)
	if answer.StatusCode/100 != 2 {
		return s.refusal(answer, len(line))
	}
	if each == nil {
		each = s.receive
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
	refused := &Refused{answer.StatusCode, cmp.Or(ErrorMessage(text), strings.TrimSpace(string(text)))}
	switch {
	case answer.StatusCode == http.StatusRequestEntityTooLarge:
		refused.Text = fmt.Sprintf("the message has %d bytes, and the server does not take as much (Serena takes %d)", length, 4<<20)
	case answer.StatusCode/100 == 3:
		refused.Text = fmt.Sprintf("a redirection to %.200q, which is not followed", answer.Header.Get("Location"))
	}
	return refused
}

// ErrorMessage is the message of an answer with an error of JSON-RPC, "" when it is none
// or has none.
func ErrorMessage(answer []byte) string {
	var told struct{ Message string }
	_ = json.Unmarshal(wire.Split(answer).Error, &told) // of another type it has none
	return told.Message
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
		// What a server says of its length is not believed: memory is taken as bytes arrive.
		text, err := io.ReadAll(io.LimitReader(answer.Body, wire.MaxLine+1))
		switch line := oneLine(text); {
		case err != nil:
			return err
		case len(text) > wire.MaxLine:
			return errTooLong
		case len(line) > 0:
			each(line)
		}
		return nil
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

// oneLine makes JSON that may stand on several lines one line, in place: what
// ends a line in JSON is white space between its parts, as strings cannot hold
// it.
func oneLine(text []byte) []byte {
	text = bytes.Trim(text, " \t\r\n")
	for i, c := range text {
		if c == '\r' || c == '\n' {
			text[i] = ' '
		}
	}
	return text
}
