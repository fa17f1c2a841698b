package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const willing = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"a","version":"1"}}}`

// matches reports whether an error says what it is to say, "" for no error.
func matches(err error, want string) bool {
	return want == "" && err == nil || want != "" && err != nil && strings.Contains(err.Error(), want)
}

func TestAccepts(t *testing.T) {
	say := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	to := func(where string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, where, http.StatusTemporaryRedirect) }
	}
	once := func(w http.ResponseWriter, r *http.Request) { // and what is no request is answered by a word
		if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte(`"id"`)) {
			say(200, "application/json", willing)(w, r)
			return
		}
		_, _ = w.Write([]byte("OK"))
	}
	noise := `data: {"jsonrpc":"2.0","method":"notifications/message"}` + "\n\n"
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"json":           {say(200, "application/json", willing), ""},
		"events":         {say(200, "text/event-stream", "event: other\n"+noise+noise+"data: "+willing+"\n\n"), ""},
		"a word":         {once, ""},
		"refusal":        {say(200, "application/json", `{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"no"}}`), "refused initialize: no"},
		"an odd refusal": {say(200, "application/json", `{"jsonrpc":"2.0","id":0,"error":7}`), "does not say why"},
		"no version":     {say(200, "application/json", `{"jsonrpc":"2.0","id":0,"result":{}}`), "no version"},
		"an odd result":  {say(200, "application/json", `{"jsonrpc":"2.0","id":0,"result":null}`), "no version"},
		"both":           {say(200, "application/json", `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"1"},"error":null}`), ""},
		"another answer": {say(200, "application/json", `{"status":"alive"}`), "is no response"},
		"page":           {say(200, "text/html", "<html>"), "text/html"},
		"missing":        {say(404, "text/html", "nothing"), "404 (Not Found)"},
		"not yet":        {say(503, "text/html", ""), "503 (Service Unavailable)"},
		"elsewhere":      {to("/mcp/"), `a redirection to "/mcp/"`},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(test.handler)
			defer server.Close()
			if err := Accepts(t.Context(), Options{URL: server.URL + "/mcp", Transport: transport(t)}); !matches(err, test.want) {
				t.Error(err)
			}
		})
	}
}

func TestAcceptsSSE(t *testing.T) {
	const endpoint = "event: endpoint\ndata: /messages?session=1\n\n"
	for name, test := range map[string]struct {
		kind, events string
		status       int
		want         string
	}{
		"an endpoint":    {"text/event-stream", ": hello\n\n" + endpoint + "data: {}\n\n", 200, ""},
		"nothing":        {"text/event-stream", "", 200, "closed the stream"},
		"half of it":     {"text/event-stream", "event: endpoint\ndata: /messages\n", 200, "closed the stream"},
		"page":           {"text/html", "<html>", 200, "text/html"},
		"missing":        {"text/html", "", 404, "404 (Not Found)"},
		"something else": {"text/event-stream", "data: /messages\n\n" + endpoint, 200, "instead of an endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", test.kind)
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.events))
			}))
			defer server.Close()
			if err := AcceptsSSE(t.Context(), Options{URL: server.URL + "/sse", Transport: transport(t)}); !matches(err, test.want) {
				t.Error(err)
			}
		})
	}
}

// FuzzAccepts: whatever a server answers, no consent is made up, and nobody else
// is asked.
func FuzzAccepts(f *testing.F) {
	f.Add([]byte(willing), "application/json", "")
	f.Add([]byte("event: message\r\ndata: "+willing+"\r\n\r\n"), "text/event-stream", "")
	f.Add([]byte("event: endpoint\ndata: /messages\n\ndata: "+willing+"\n\n"), "text/event-stream", "")
	f.Add([]byte("event: endpoint\ndata: //example.org/\n\n"), "text/event-stream", "")
	f.Add([]byte(nil), "", "http://127.0.0.1:9@example.org/")
	f.Fuzz(func(t *testing.T, body []byte, kind, location string) {
		a := answers{status: http.StatusOK, header: http.Header{"Content-Type": {kind}}, body: body, length: -1}
		if location != "" {
			a.status, a.header = http.StatusTemporaryRedirect, http.Header{"Location": {location}}
		}
		o := Options{URL: "http://127.0.0.1:9/mcp", Transport: only{t, a}}
		if Accepts(context.Background(), o) == nil && !bytes.Contains(body, []byte("result")) {
			t.Errorf("%q counts as consent", body)
		}
		if AcceptsSSE(context.Background(), o) == nil && !bytes.Contains(body, []byte("endpoint")) {
			t.Errorf("%q counts as an endpoint", body)
		}
	})
}

// only is a transport that is to be asked for one server alone.
type only struct {
	t *testing.T
	answers
}

func (o only) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "127.0.0.1:9" {
		o.t.Errorf("%s is asked", r.URL)
	}
	return o.answers.RoundTrip(r)
}
