package launch

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
)

const consent = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"a","version":"1"}}}`

func TestWhatCountsAsConsent(t *testing.T) {
	for text, want := range map[string]string{
		consent: "",
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no\u001b[1m way"}}`: "refused initialize with -32600: no[1m way",
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                                         "no version",
		`{"jsonrpc":"2.0","id":1}`:                                                     "no version",
		`{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"1"}}`:                    "no answer",
		`{"jsonrpc":"2.0","id":"1","result":{"protocolVersion":"1"}}`:                  "no answer",
		`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`:               "no answer",
		`{"id":1,"result":{"protocolVersion":"1"}}`:                                    "no answer",
		`{"status":"alive"}`:                                                           "no answer",
		`<html>`:                                                                       "no message of MCP",
		``:                                                                             "no message of MCP",
		`null`:                                                                         "no answer",
	} {
		err := parseInitialized([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAnswersAsEvents(t *testing.T) {
	event := "data: " + consent + "\n\n"
	for body, want := range map[string]string{
		event:                                   "",
		"\n\n" + event:                          "",
		strings.ReplaceAll(event, "\n", "\r\n"): "",
		strings.ReplaceAll(event, "\n", "\r"):   "",
		": a comment\nid: 1\nretry: 5\n\nevent: message\n" + event:                                "",
		"event: other\n" + event + event:                                                          "",
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n" + event:            "",
		"data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{\"protocolVersion\":\"1\"}}\n\n": "",
		"data: " + consent + "\n":                                                                 "closed the stream",
		"event: other\n" + event:                                                                  "closed the stream",
		"":                                                                                        "closed the stream",
		"data: what\n\n" + event:                                                                  "no message of MCP",
		strings.Repeat("x", 2*maxAnswer) + "\n\n" + event:                                         "closed the stream",
	} {
		for _, r := range []io.Reader{strings.NewReader(body), iotest.HalfReader(strings.NewReader(body))} {
			err := readInitialized("text/event-stream; charset=utf-8", r)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%.200q: %v", body, err)
			}
		}
	}
	if err := readInitialized("application/json", strings.NewReader(consent)); err != nil {
		t.Error(err)
	}
}

func TestEndpoints(t *testing.T) {
	base := address(1234, "/sse")
	for data, want := range map[string]string{
		"/messages/?session_id=1":           "http://127.0.0.1:1234/messages/?session_id=1",
		"messages":                          "http://127.0.0.1:1234/messages",
		"http://127.0.0.1:1234/m":           "http://127.0.0.1:1234/m",
		"http://127.0.0.1:1235/m":           "another server",
		"https://127.0.0.1:1234/m":          "another server",
		"//example.org/m":                   "another server",
		"http://user@127.0.0.1:1234/m":      "another server",
		"http://127.0.0.1:1234\x00/m":       "cannot be read",
		"http://127.0.0.1:1234@example.org": "another server",
	} {
		got, err := endpoint(base, sseEvent{name: "endpoint", data: []byte(data)})
		if err == nil && got.String() != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", data, got, err)
		}
	}
	if _, err := endpoint(base, sseEvent{name: "message", data: []byte("/m")}); err == nil {
		t.Error("a message is taken for an endpoint")
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(consent), true)
	f.Add([]byte("event: message\r\ndata: "+consent+"\r\n\r\n"), false)
	f.Add([]byte("event: endpoint\ndata: /messages\n\n"), false)
	f.Fuzz(func(t *testing.T, body []byte, asJSON bool) {
		kind := "text/event-stream"
		if asJSON {
			kind = "application/json"
		}
		err := readInitialized(kind, bytes.NewReader(body))
		if err == nil && !bytes.Contains(body, []byte("result")) {
			t.Errorf("%q counts as consent", body)
		}
		events := newSSEReader(bytes.NewReader(body))
		base := &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
		for {
			e, err := events.next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				return
			}
			if to, err := endpoint(base, e); err == nil && to.Host != base.Host {
				t.Errorf("%q leads to %s", e.data, to)
			}
		}
	})
}
