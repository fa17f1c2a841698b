package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"lamplighter/app/share/wire"
)

// answers is a transport for which a server answers each request with this.
type answers struct {
	status int
	header http.Header
	body   []byte
	length int64
}

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return &http.Response{
		StatusCode: a.status, ProtoMajor: 1, ProtoMinor: 1, Header: a.header, ContentLength: a.length,
		Body: io.NopCloser(bytes.NewReader(a.body)), Request: r,
	}, nil
}

// FuzzAnswer: whatever a server answers, what clients get of it are lines, and an
// error says whether what was asked may have been done.
func FuzzAnswer(f *testing.F) {
	const result = `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-06-18","capabilities":{}}}`
	f.Add(200, "application/json", "a-session", []byte(result), true)
	f.Add(200, "text/event-stream", "a-session", []byte("event: message\r\ndata: "+result+"\r\n\r\n"), false)
	f.Add(200, "Text/Event-Stream; charset=utf-8", "", []byte(": ping\n\ndata: {\ndata: }\n\n"), false)
	f.Add(200, "application/json", "two\nlines", []byte("\xef\xbb\xbf{\r\n \"id\": \"i\",\n\"result\": {}\n}"), false)
	f.Add(200, "application/json", "", []byte(`{"jsonrpc":"2.0","id":"i","error":{"code":-32600,"message":"no"}}`), true)
	f.Add(202, "", "", []byte(nil), true)
	f.Add(200, "", "", []byte("x"), false)
	f.Add(200, "text/html", "", []byte("<html>"), true)
	f.Add(400, "application/json", "", []byte(`{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: No valid session ID provided"}}`), true)
	f.Add(404, "", "a-session", []byte("Session not found"), true)
	f.Add(413, "", "", []byte(nil), false)
	f.Add(307, "", "", []byte(nil), false)
	f.Add(0, "", "", []byte(nil), false)
	f.Fuzz(func(t *testing.T, status int, kind, id string, body []byte, told bool) {
		a := answers{status: status, header: http.Header{"Content-Type": {kind}, "Mcp-Session-Id": {id}}, body: bytes.Clone(body), length: -1}
		if told {
			a.length = int64(len(body))
		}
		line := func(line []byte) {
			if len(line) == 0 || bytes.ContainsAny(line, "\r\n") {
				t.Errorf("%q is not a line", line)
			}
		}
		ctx := context.Background()
		known := func(err error) {
			var refused *Refused
			if err != nil && !errors.Is(err, ErrLost) && !errors.Is(err, ErrUnknown) && !errors.As(err, &refused) {
				t.Errorf("status %d: %v", status, err)
			}
		}
		s, answer, err := Open(ctx, Options{URL: "http://127.0.0.1:9/mcp", Transport: a, Receive: line}, []byte(hello))
		known(err)
		if (answer == nil) != (err != nil) || s != nil && answer == nil {
			t.Fatalf("%v, %q, %v", s, answer, err)
		}
		if answer != nil {
			line(answer)
			if status != http.StatusOK || wire.Split(answer).Kind != wire.Response {
				t.Errorf("status %d: %q is no answer", status, answer)
			}
		}
		if s == nil {
			return
		}
		known(s.Send(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), line))
		s.Close(ctx)
	})
}
