package api

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// serveSessions serves on a port that no other can stand in for.
func serveSessions(t *testing.T, like *Web, change func(*Web)) *site {
	t.Helper()
	return serveWebWith(t, func(o *WebOptions) {
		o.Handler = SessionHandler(withSessions(&sessions{}))
		o.Serves, o.Root, o.Like = "the session manager", "/", like
		o.Instead = func() string { return "sessions can be had elsewhere" }
	}, change)
}

// A port that is taken has no substitute: who has it is said, and when it is
// free it is taken.
func TestOwnPortTaken(t *testing.T) {
	held, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	wanted := held.Addr().(*net.TCPAddr).Port
	s := serveSessions(t, nil, func(w *Web) {
		w.limits.Retry = 10 * time.Millisecond
		w.Set(false, 0)
	})
	s.Set(true, wanted)
	start := fmt.Sprintf("port %d was taken by api.test", wanted)
	apptest.Eventually(t, "it says so", func() bool {
		said := s.warnings()
		return len(said) == 1 && strings.HasPrefix(said[0], start) && strings.HasSuffix(said[0], "); sessions can be had elsewhere")
	})
	if s.URL() != "" {
		t.Errorf("serves at %s", s.URL())
	}
	// It says so of another one at once, too.
	second, third := holdPort(t, "127.0.0.1:0")
	s.Set(true, third)
	apptest.Eventually(t, "it says so again", func() bool {
		said := s.warnings()
		return len(said) == 1 && strings.HasPrefix(said[0], fmt.Sprintf("port %d was taken by api.test", third)) && strings.Contains(said[0], fmt.Sprintf("(pid %d)", second))
	})
	s.Set(true, wanted)
	apptest.Eventually(t, "it says so once more", func() bool {
		said := s.warnings()
		return len(said) == 1 && strings.HasPrefix(said[0], start)
	})
	held.Close()
	apptest.Eventually(t, "it serves", func() bool { return s.URL() == fmt.Sprintf("http://127.0.0.1:%d/", wanted) && len(s.warnings()) == 0 })
	if resp, body := s.send(t, get("/sessions")); resp.StatusCode != 200 || body != `{"sessions":[]}`+"\n" {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if resp, _ := s.send(t, get("/global-dashboard/")); resp.StatusCode != 404 {
		t.Errorf("the page: %d", resp.StatusCode)
	}
	if resp, _ := s.send(t, get("/sessions", "Origin: http://evil.example")); resp.StatusCode != 403 {
		t.Errorf("a page from elsewhere: %d", resp.StatusCode)
	}
	s.Set(false, 0)
	apptest.Eventually(t, "it is off", func() bool { return s.URL() == "" && len(s.warnings()) == 0 })
}

// Where the same can be had is said when that is known, and as soon as it is.
func TestOwnPortTakenWhileTheOtherStarts(t *testing.T) {
	_, taken := holdPort(t, "127.0.0.1:0")
	page := NewWeb(WebOptions{Handler: http.NotFoundHandler(), Log: quiet(), Warn: func(...string) {}})
	page.Set(true, 0)
	s := &site{Web: page}
	early := NewWeb(WebOptions{
		Log: quiet(), Like: page, Serves: "the session manager", Root: "/",
		Warn: func(sentences ...string) { t.Errorf("says %q", sentences) }, Instead: func() string { return "nobody knows where" },
	})
	if _, err := early.open(t.Context(), taken); err == nil {
		t.Fatal("it has the port")
	}
	own := serveSessions(t, page, func(w *Web) {
		w.options.Instead = func() string { return "at " + page.URL() }
		w.limits.Retry = time.Hour
		w.Set(false, 0)
	})
	own.Set(true, taken)
	s.run(t)
	apptest.Eventually(t, "it says where", func() bool {
		said := own.warnings()
		return page.URL() != "" && len(said) == 1 && strings.HasSuffix(said[0], "; at "+page.URL())
	})
	page.Set(true, taken)
	apptest.Eventually(t, "it says where it is now", func() bool {
		said := own.warnings()
		return page.URL() != "" && !strings.HasSuffix(page.URL(), fmt.Sprintf(":%d/", taken)) && len(said) == 1 && strings.HasSuffix(said[0], "; at "+page.URL())
	})
	page.Set(false, 0)
	apptest.Eventually(t, "it is nowhere", func() bool {
		said := own.warnings()
		return len(said) == 1 && strings.HasSuffix(said[0], "; at ")
	})
}

// One token opens both ports.
func TestOneTokenForBoth(t *testing.T) {
	page := NewWeb(WebOptions{Log: quiet()})
	s := serveSessions(t, page, func(w *Web) {
		w.ours = func(netip.AddrPort, netip.AddrPort) (bool, error) { return false, errors.New("not told") }
	})
	if resp, _ := s.send(t, get("/sessions")); resp.StatusCode != 403 {
		t.Errorf("without it: %d", resp.StatusCode)
	}
	if resp, body := s.send(t, get("/sessions", "Authorization: Bearer "+page.token)); resp.StatusCode != 200 {
		t.Errorf("with it: %d %s", resp.StatusCode, body)
	}
}
