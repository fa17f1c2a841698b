package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/mcp"
	"lamplighter/app/share/wire"
)

func TestIdsThatAServerMayTakeForTheSame(t *testing.T) {
	for _, same := range [][]string{
		{"1", `"1"`, "1.0", "1e0", "10e-1", `"\u0031"`}, {"0", "-0", "-0.0"}, {"1.5", `"1.5"`}, {`"a"`, `"\u0061"`},
	} {
		for _, id := range same {
			if idKey([]byte(id)) != idKey([]byte(same[0])) {
				t.Errorf("%s is not %s", id, same[0])
			}
		}
	}
	known := map[string]string{}
	for _, id := range []string{"1", "-1", "10", "1.5", `"a"`, `"A"`, `""`, "9007199254740993", "9007199254740992", "1e999", "2e999", `"a b"`} {
		key := idKey([]byte(id))
		if other, ok := known[key]; ok {
			t.Errorf("%s is taken for %s", id, other)
		}
		known[key] = id
	}
}

func TestJudge(t *testing.T) {
	lost := fmt.Errorf("reading: %w", mcp.ErrLost)
	for _, test := range []struct {
		name  string
		err   error
		tries int
		lost  string
		again bool
		code  int
		text  []string
	}{
		{"no answer", nil, 1, "", false, wire.CodeInternal, []string{"may have been carried out"}},
		{"no answer of a server that has ended", nil, 1, "it was killed", false, wire.CodeInternal, []string{"(it was killed)", "may have been carried out"}},
		{"lost", lost, 1, "", false, wire.CodeInternal, []string{"lost", "may have been carried out"}},
		{"lost with the server", lost, 1, "it crashed", false, wire.CodeInternal, []string{"the server was lost (it crashed) while it worked on this; it may have been carried out"}},
		{"not sent", mcp.ErrNotSent, 1, "it crashed", true, 0, nil},
		{"not sent three times", mcp.ErrNotSent, 3, "", true, 0, nil},
		{"not sent, and tried enough", mcp.ErrNotSent, 4, "", false, wire.CodeUnavailable, []string{"not carried out"}},
		{"unknown", mcp.ErrUnknown, 1, "", true, 0, nil},
		{"413", &mcp.Refused{Status: 413, Text: "too much (4194304)"}, 1, "", false, wire.CodeInvalid, []string{"5.2 MB", "4194304", "not carried out"}},
		{"406", &mcp.Refused{Status: 406, Text: "odd"}, 1, "", false, wire.CodeInternal, []string{"406", "odd", "was not carried out"}},
		{"500", &mcp.Refused{Status: 500}, 1, "it crashed", false, wire.CodeInternal, []string{"500", "may have been carried out"}},
		{"another error", errors.New("odd"), 1, "", false, wire.CodeInternal, []string{"odd", "may have been carried out"}},
	} {
		again, code, text := judge(test.err, test.tries, 5<<20, test.lost)
		if again != test.again || !again && code != test.code {
			t.Errorf("%s: %v, %d", test.name, again, code)
		}
		apptest.Contains(t, text, test.text...)
	}
}

func TestWhatACachedAnswerDependsOn(t *testing.T) {
	key := cacheKey([]byte(`{"protocolVersion":"2025-06-18","capabilities":{"a":{"x":1,"y":2},"b":{}},"clientInfo":{"name":"one"}}`))
	if key == "" {
		t.Fatal("nothing is cached")
	}
	if same := cacheKey([]byte(` {"capabilities": {"a":{"x":1,"y":2},"b":{}}, "clientInfo":{"name":"two"}, "protocolVersion":"2025-06-18"}`)); same != key {
		t.Errorf("%s, not %s", same, key)
	}
	for _, other := range []string{
		`{"protocolVersion":"2024-11-05","ProtocolVersion":"2025-06-18","capabilities":{"a":{"x":1,"y":2},"b":{}}}`,
		`{"protocolVersion":"2025-11-25","capabilities":{"a":{"x":1,"y":2},"b":{}}}`,
		`{"protocolVersion":"2025-06-18","capabilities":{"a":{"x":1,"y":3},"b":{}}}`,
		`{"protocolVersion":"2025-06-18","capabilities":{"a":{"x":1,"y":2}}}`,
		`{"protocolVersion":"2025-06-18","capabilities":{"a":{"x":9007199254740993}}}`,
		`{"protocolVersion":"2025-06-18","capabilities":{"a":{"x":9007199254740992}}}`,
		`{"protocolVersion":"2025-06-18"}`,
	} {
		got := cacheKey([]byte(other))
		if got == "" || got == key {
			t.Errorf("%s is under %q", other, got)
		}
		key = got
	}
	for _, never := range []string{``, `null`, `[]`, `{}`, `{"protocolVersion":1}`} {
		if got := cacheKey([]byte(never)); got != "" {
			t.Errorf("%s is under %q", never, got)
		}
	}
	for params, want := range map[string]bool{
		"": true, "{}": true, "null": true, `{"_meta":{"progressToken":1}}`: true, `{"cursor":null}`: true,
		`{"cursor":""}`: false, `{"cursor":"2"}`: false, `[]`: false,
	} {
		if isFirstPage([]byte(params)) != want {
			t.Errorf("isFirstPage(%s) is %v", params, !want)
		}
	}
}

func TestPagesOfToolsAreNotCached(t *testing.T) {
	g := newUpstream().group()
	s := sessionOf(SessionOptions{Servers: g})
	s.initializeLine = []byte(initializeLine)
	s.learn(&item{Message: wire.Message{Method: "tools/list"}}, []byte(`{"tools":[],"nextCursor":"2"}`))
	s.learn(&item{Message: wire.Message{Method: "tools/list"}}, []byte(`[]`))
	s.learn(&item{Message: wire.Message{Method: "tools/list", Params: []byte(`{"cursor":"2"}`)}}, []byte(`{"tools":[]}`))
	if len(g.cache) != 0 {
		t.Errorf("cached is %s", g.cache)
	}
	s.learn(&item{Message: wire.Message{Method: "tools/list"}}, []byte(`{"tools":[]}`))
	if len(g.cache) != 1 {
		t.Error("nothing is cached")
	}
}

// FuzzTake gives any line to a session: it never panics, and whatever is no
// notification and no answer of the client is answered.
func FuzzTake(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{`, `[]`, `{"method":"notifications/cancelled","params":{"requestId":1}}`, `{"id":1,"result":1}`, `{"id":1a,"method":"ping"}`, "{\"id\":\"\x01\",\"method\":\"x\"}",
		`{"id":"\ud800","method":"ping"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		kind := wire.Split(line).Kind
		o := &fakeWriter{}
		g := newUpstream().group()
		s := sessionOf(SessionOptions{Servers: g, Out: o})
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(t.Context()) }()
		s.Take(1, slices.Clone(line))
		answered := kind != wire.Notification && kind != wire.Response
		apptest.Eventually(t, "it is done", func() bool { return s.isIdle() && (o.fate(1) != "" || !answered) }) // who has gone is told nothing
		s.Gone()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if told := o.fate(1) != ""; told != answered {
			t.Errorf("%q is %v, and was answered %q", line, kind, o.fate(1))
		}
		if answer := o.fate(1); answer != "" && !json.Valid([]byte(answer)) {
			t.Errorf("%q was answered %q", line, answer)
		}
		for _, wrong := range o.errors() {
			t.Error(wrong)
		}
	})
}
