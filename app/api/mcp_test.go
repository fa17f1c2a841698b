package api

import (
	"fmt"
	"io"
	"net/http"
	"os"
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

// A message may be far longer than any other body, and who sends it is known.
func TestMCPTakesALongMessage(t *testing.T) {
	mcp := &speaker{}
	p := parts(newModel(), shower{})
	p.MCP = mcp
	message := strings.Repeat("x", 8<<20)
	const want = "POST /a of 8388608 bytes, <nil>"
	s := serveWeb(t, Handler(p), nil)
	resp, body := s.send(t, fmt.Sprintf("POST /mcp?project=/a HTTP/1.1\r\nHost: $HOST\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(message), message))
	if resp.StatusCode != http.StatusOK || body != want {
		t.Errorf("%s: %s", resp.Status, body)
	}
	srv := serve(t, newModel(), shower{}, func(o *Options) { o.Handler = Handler(p) })
	if status, body := srv.post(t, "/mcp?project=/a", "application/json", strings.NewReader(message)); status != http.StatusOK || body != want {
		t.Errorf("%d %s", status, body)
	}
	for _, who := range mcp.who {
		if who.PID != os.Getpid() {
			t.Errorf("who asks: %+v", who)
		}
	}
}
