package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/mcptest"
)

func TestASession(t *testing.T) {
	for _, json := range []bool{false, true} {
		s := mcptest.New(t)
		s.Set(func(b *mcptest.Behaviour) { b.JSON = json })
		session, answer, err := Open(t.Context(), Options{URL: s.URL(), Transport: transport(t)}, []byte(hello))
		if err != nil {
			t.Fatal(err)
		}
		if session.id != "session-1" || session.version != "2025-06-18" {
			t.Errorf("it is %q of version %q", session.id, session.version)
		}
		if text := string(answer); !strings.Contains(text, `"i"`) || !strings.Contains(text, "1.50") || strings.ContainsAny(text, "\r\n") {
			t.Errorf("the answer to initialize is %q", text)
		}
		if err := session.Send(t.Context(), []byte(initialized), nil); err != nil {
			t.Errorf("the notification: %v", err)
		}
		const odd = `{"n":9007199254740993.10,"e":"\u00e9\/","unknown":null,"n":1E400}`
		if got := ask(t, session, `1.5`, "echo", odd); len(got) != 1 || !strings.Contains(got[0], `"id":1.5`) || !strings.Contains(got[0], odd) {
			t.Errorf("the answer is %q", got)
		}
		session.Close(t.Context())
		session.Close(t.Context())
		if got := s.Sessions(); len(got) != 0 {
			t.Errorf("after its end the server still has %q", got)
		}
		if err := session.Send(t.Context(), call("2", "echo", "{}"), nil); fate(err) != "[not sent]" {
			t.Errorf("after its end it sends: %v", err)
		}
		session.Listen()
		ends := 0
		for i, r := range s.Received() {
			if r.HTTP == http.MethodDelete {
				ends++
			}
			version := r.Header.Get("Mcp-Protocol-Version")
			if (i == 0) != (version == "") || r.Header.Get("Accept-Encoding") != "" {
				t.Errorf("the header of request %d is %v", i, r.Header)
			}
		}
		if ends != 1 {
			t.Errorf("the server was told of %d ends", ends)
		}
		if got := s.Lines("session-1"); len(got) != 2 || got[1] != string(call("1.5", "echo", odd)) {
			t.Errorf("the server got %q", got)
		}
	}
}

func TestInitializeThatFails(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":"i","error":{"code":-32602,"message":"no"}}`
	event := func(line string) []byte { return mcptest.Event(line) }
	session := http.Header{"Mcp-Session-Id": {"early"}}
	for _, test := range []struct {
		name     string
		reaction mcptest.Reaction
		fate     string
		answer   string
		deleted  bool
	}{
		{"an error", mcptest.Reaction{Header: session, Body: event(refusal)}, "[fine]", refusal, true},
		{"an error without a session", mcptest.Reaction{Body: event(refusal)}, "[fine]", refusal, false},
		{"no answer", mcptest.Reaction{Header: session}, "[lost]", "", true},
		{"half an answer", mcptest.Reaction{Body: event(refusal)[:40], Cut: true}, "[lost]", "", false},
		{"the connection", mcptest.Reaction{Cut: true}, "[lost]", "", false},
		{"no such page", mcptest.Reaction{Status: 404}, "[refused]", "", false},
		{"too many", mcptest.Reaction{Status: 503}, "[refused]", "", false},
		{"failure", mcptest.Reaction{Status: 500}, "[lost refused]", "", false},
		{"elsewhere", mcptest.Reaction{Status: 307, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}}, "[refused]", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := mcptest.New(t)
			s.Set(func(b *mcptest.Behaviour) {
				b.Instead = func(mcptest.Received) *mcptest.Reaction { return &test.reaction }
			})
			session, answer, err := Open(t.Context(), Options{URL: s.URL(), Transport: transport(t)}, []byte(hello))
			if session != nil || fate(err) != test.fate || string(answer) != test.answer {
				t.Errorf("got %v, %q, %v; want %s, %q", session, answer, err, test.fate, test.answer)
			}
			got := s.Received()
			if deleted := got[len(got)-1].HTTP == http.MethodDelete; deleted != test.deleted {
				t.Errorf("the session was ended: %v", deleted)
			}
		})
	}
}

func TestASessionThatWasBegunAndNotOpenedIsEnded(t *testing.T) {
	for name, reaction := range map[string]mcptest.Reaction{
		"no answer":   {Body: mcptest.Event(`{"jsonrpc":"2.0","method":"notifications/message"}`)},
		"half of it":  {Body: []byte(`data: {"jsonr`), Cut: true},
		"it hangs":    {Body: mcptest.Event(`{"jsonrpc":"2.0","method":"notifications/message"}`), Hang: true},
		"a web page":  {ContentType: "text/html", Body: []byte("<p>")},
		"empty":       {Status: http.StatusAccepted},
		"no response": {Body: mcptest.Event(`{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			s := mcptest.New(t)
			reaction.Header = http.Header{"Mcp-Session-Id": {"begun"}}
			s.Set(func(b *mcptest.Behaviour) {
				b.Instead = func(mcptest.Received) *mcptest.Reaction { return &reaction }
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			receive := func([]byte) {
				if reaction.Hang {
					cancel()
				}
			}
			session, _, err := Open(ctx, Options{URL: s.URL(), Transport: transport(t), Receive: receive}, []byte(hello))
			if session != nil || err == nil {
				t.Fatalf("%+v, %v", session, err)
			}
			if !slices.ContainsFunc(s.Received(), func(r mcptest.Received) bool { return r.HTTP == http.MethodDelete && r.Session == "begun" }) {
				t.Errorf("it goes on: %+v", s.Received())
			}
		})
	}
}

func TestInitializeWhoseStreamStaysOpen(t *testing.T) {
	s := mcptest.New(t)
	early := `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`
	reaction := mcptest.Reaction{
		Header: http.Header{"Mcp-Session-Id": {"open"}}, Hang: true,
		Body: append(mcptest.Event(early), mcptest.Event(`{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":""}}`)...),
	}
	s.Set(func(b *mcptest.Behaviour) {
		b.Instead = func(mcptest.Received) *mcptest.Reaction { return &reaction }
	})
	var b inbox
	session, _, err := Open(t.Context(), Options{URL: s.URL(), Transport: transport(t), Receive: b.take}, []byte(hello))
	if err != nil || session.id != "open" || session.version != "" {
		t.Fatalf("got %+v, %v", session, err)
	}
	session.Close(t.Context())
	if got := b.all(); !slices.Equal(got, []string{early}) {
		t.Errorf("before the answer came %q", got)
	}
}

func TestOnlyTheLoopback(t *testing.T) {
	for _, url := range []string{"", "https://127.0.0.1/mcp", "http://user@127.0.0.1/mcp", "http:///mcp", "%", "mcp"} {
		if _, _, err := Open(t.Context(), Options{URL: url, Transport: transport(t)}, []byte(hello)); err == nil {
			t.Errorf("%q is connected to", url)
		}
	}
	for _, host := range []string{"192.0.2.1", "localhost"} {
		_, _, err := Open(t.Context(), Options{URL: "http://" + host + "/mcp", Transport: transport(t)}, []byte(hello))
		if fate(err) != "[not sent]" || !strings.Contains(err.Error(), "not on this machine") {
			t.Errorf("%s: %v", host, err)
		}
	}
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	s := mcptest.New(t)
	dial(t, s, nil)
}

// listening reads the GET stream of a session in the background, to its end.
func listening(s *Server) (ended <-chan struct{}) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.listen()
	}()
	return over
}

func TestListen(t *testing.T) {
	s := mcptest.New(t)
	var b inbox
	session := dial(t, s, b.take)
	ended := listening(session)
	var want []string
	for i := range 20 {
		apptest.Eventually(t, "the stream", func() bool { return s.Listening(session.id) })
		line := fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":{"i":%d,"x":%q}}`, i, strings.Repeat("x", i*9999))
		if !s.Notify(session.id, line) {
			t.Fatal("nobody listens")
		}
		want = append(want, line)
		if i == 10 {
			apptest.Eventually(t, "what came before", func() bool { return len(b.all()) == len(want) })
			s.Hush(session.id)
		}
	}
	apptest.Eventually(t, "all messages", func() bool { return len(b.all()) == len(want) })
	if !slices.Equal(b.all(), want) {
		t.Error("they came in another order")
	}
	s.Forget()
	if err := session.Send(t.Context(), call("1", "echo", "{}"), nil); fate(err) != "[unknown]" {
		t.Errorf("in a forgotten session: %v", err)
	}
	gets := func() int {
		return len(slices.DeleteFunc(s.Received(), func(r mcptest.Received) bool { return r.HTTP != http.MethodGet }))
	}
	<-ended
	if n := gets(); n != 3 {
		t.Errorf("it asked %d times for the stream", n)
	}
}

// What the server asks while its stream is not there is lost, so that Listen tells when it is.
func TestListenTellsWhenTheServerHasAnswered(t *testing.T) {
	s := mcptest.New(t)
	session := dial(t, s, nil)
	asked, answer := make(chan struct{}), make(chan struct{})
	session.transport = late{session.transport, asked, answer}
	answered := session.Listen()
	<-asked
	select {
	case <-answered:
		t.Error("it has not answered")
	default:
	}
	close(answer)
	<-answered
	if !s.Listening(session.id) {
		t.Error("there is no stream")
	}
}

// late holds up a GET request until an answer may come.
type late struct {
	http.RoundTripper
	asked, answer chan struct{}
}

func (l late) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		close(l.asked)
		<-l.answer
	}
	return l.RoundTripper.RoundTrip(r)
}

func TestListenAcrossADeath(t *testing.T) {
	s := mcptest.New(t)
	session := dial(t, s, nil)
	ended := listening(session)
	apptest.Eventually(t, "the stream", func() bool { return s.Listening(session.id) })
	s.Restart()
	<-ended // the next server does not know it
	if err := session.Send(t.Context(), call("1", "echo", "{}"), nil); fate(err) != "[unknown]" {
		t.Errorf("the next server: %v", err)
	}
}

func TestNoStream(t *testing.T) {
	s := mcptest.New(t)
	s.Set(func(b *mcptest.Behaviour) { b.NoGet = true })
	session := dial(t, s, nil)
	session.listen()
	ask(t, session, "1", "echo", "{}")
}

func TestAStreamOfSomethingElse(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>")) // the client may have gone
	})}
	served := make(chan error)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		_ = server.Close()
		<-served
	}()
	session, err := newServer(Options{URL: "http://" + listener.Addr().String(), Transport: transport(t)})
	if err != nil {
		t.Fatal(err)
	}
	session.listen()
	if err := session.Send(t.Context(), []byte("{}"), nil); fate(err) != "[lost]" || !strings.Contains(err.Error(), "text/html") {
		t.Errorf("an answer of HTML: %v", err)
	}
	session.Close(t.Context())
}

func TestCloseEndsWhatIsInFlight(t *testing.T) {
	s := mcptest.New(t)
	received := make(chan struct{})
	goOn := make(chan struct{})
	session := dial(t, s, func([]byte) {
		close(received)
		<-goOn
	})
	session.Listen()
	session.Listen()
	c := begin(t.Context(), session, call("1", "wait", "{}"), nil)
	<-c.taken
	apptest.Eventually(t, "the stream", func() bool { return s.Listening(session.id) })
	s.Notify(session.id, "{}")
	<-received
	session.Close(t.Context())
	if len(s.Sessions()) != 0 {
		t.Error("the server was not told, because a receiver does not return")
	}
	<-c.done
	// nil when the server, which has been told, ended its answer first
	if err := c.err; err != nil && (fate(err) != "[lost]" || !errors.Is(err, errClosed)) {
		t.Errorf("what was in flight ends with %v", err)
	}
	close(goOn)
}
