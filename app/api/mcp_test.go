package api

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/share/wire"
	"lamplighter/monitor"
)

// speaker is an MCP that notes what it is asked, and answers with it.
type speaker struct {
	mu    sync.Mutex
	asked []string
	who   []monitor.Client
}

func (s *speaker) ServeMCP(w http.ResponseWriter, req *http.Request, who func() monitor.Client) {
	body, err := io.ReadAll(req.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, req.Method)
	s.who = append(s.who, who())
	fmt.Fprintf(w, "%s %s of %d bytes, %v", req.Method, req.URL.Query().Get("project"), len(body), err)
}

func (s *speaker) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func TestMCPOverTCP(t *testing.T) {
	mcp := &speaker{}
	p := parts(newModel(), shower{})
	p.MCP = mcp
	s := serveWeb(t, Handler(p), nil)
	const json = "application/json"
	for name, test := range map[string]struct {
		method, body, kind, header, value string
		status                            int
		want                              string
	}{
		"a message":        {"POST", "{}", json, "", "", 200, "POST /a of 2 bytes, <nil>"},
		"a long message":   {"POST", strings.Repeat("x", 8<<20), json, "", "", 200, "of 8388608 bytes, <nil>"},
		"a stream":         {"GET", "", "", "", "", 200, "GET /a of 0 bytes"},
		"an end":           {"DELETE", "", "", "", "", 200, "DELETE /a"},
		"another type":     {"POST", "{}", "text/plain", "", "", 400, "application/json"},
		"no type":          {"POST", "{}", "", "", "", 400, "application/json"},
		"nothing":          {"POST", "", "", "", "", 400, "application/json"},
		"a page":           {"POST", "{}", json, "Origin", "https://evil.example", 403, "a page from elsewhere"},
		"a page of ours":   {"POST", "{}", json, "Sec-Fetch-Site", "same-origin", 200, "POST"},
		"a page that goes": {"GET", "", "", "Sec-Fetch-Site", "cross-site", 403, "a page from elsewhere"},
		"another method":   {"PUT", "{}", json, "", "", 405, "use POST, GET, DELETE, HEAD"},
	} {
		t.Run(name, func(t *testing.T) {
			before := mcp.count()
			req, err := http.NewRequestWithContext(t.Context(), test.method, "http://"+s.at(t)+"/mcp?project=/a", strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if test.kind != "" {
				req.Header.Set("Content-Type", test.kind)
			}
			if test.header != "" {
				req.Header.Set(test.header, test.value)
			}
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != test.status || !strings.Contains(string(text), test.want) {
				t.Errorf("%s, %v: %s", resp.Status, err, text)
			}
			secured(t, name, resp.Header)
			if reached := mcp.count() > before; reached != (test.status == 200) {
				t.Errorf("it was asked: %v", reached)
			}
		})
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// The limit is that of a message, and only there.
func TestMCPLimit(t *testing.T) {
	for target, want := range map[string]string{
		"/mcp":                     "longer than the limit of 256 MiB",
		"/mcp?project=/a":          "longer than the limit of 256 MiB",
		"/mcp/":                    "longer than 1048576 bytes",
		"/global-dashboard/policy": "longer than 1048576 bytes",
	} {
		req := ask(t, http.MethodPost, target, "{}", "Content-Type", "application/json")
		req.ContentLength = wire.MaxLine + 1
		if r := guard(req, 25282); r == nil || r.status != http.StatusRequestEntityTooLarge || !strings.Contains(r.text, want) {
			t.Errorf("%s: %+v", target, r)
		}
		req.ContentLength = wire.MaxLine
		if let := guard(req, 25282) == nil; let != strings.HasPrefix(want, "longer than the limit") {
			t.Errorf("%s is let in: %v", target, let)
		}
	}
}

func TestMCPOnTheSocket(t *testing.T) {
	mcp := &speaker{}
	p := parts(newModel(), shower{})
	p.MCP = mcp
	s := serve(t, newModel(), shower{}, func(o *Options) { o.Handler = Handler(p) })
	if status, _, body := s.request(t, http.MethodGet, "/mcp?project=/a"); status != 200 || !strings.Contains(body, "GET /a") {
		t.Errorf("%d %s", status, body)
	}
	if len(mcp.who) != 1 || mcp.who[0].PID == 0 {
		t.Errorf("who asks: %+v", mcp.who)
	}
}

func TestNoMCP(t *testing.T) {
	s := serve(t, newModel(), shower{}, nil)
	if status, _, body := s.request(t, http.MethodGet, "/mcp"); status != 503 || !strings.Contains(body, "no servers are shared here") {
		t.Errorf("%d %s", status, body)
	}
}
