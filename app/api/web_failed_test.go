package api

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// Until it serves again, what was said about the port before does not hold.
func TestWebSaysThatItsListenerFailed(t *testing.T) {
	listeners := make(chan net.Listener, 2)
	s := serveWeb(t, http.NotFoundHandler(), func(w *Web) {
		w.limits.Retry = time.Hour
		_, taken := holdPort(t, "127.0.0.1:0")
		w.Set(true, taken)
		listen := w.listen
		w.listen = func(ctx context.Context, port int) ([]net.Listener, error) {
			l, err := listen(ctx, port)
			if err == nil {
				listeners <- l[0]
			}
			return l, err
		}
	})
	if said := s.warnings(); len(said) != 1 || !strings.Contains(said[0], "the global dashboard is at http://") {
		t.Fatalf("at first: %q", said)
	}
	(<-listeners).Close()
	apptest.Eventually(t, "it says that it is not served", func() bool {
		said := s.warnings()
		return len(said) == 1 && strings.HasPrefix(said[0], "the global dashboard is not served: its port failed (") && strings.HasSuffix(said[0], "); it is tried again within 1 h")
	})
	if s.URL() != "" || !strings.Contains(s.log.String(), "the global dashboard is not served") {
		t.Errorf("at %q, logged %s", s.URL(), s.log.String())
	}
	s.Set(true, 0)
	apptest.Eventually(t, "it serves again and has nothing to say", func() bool { return s.URL() != "" && len(s.warnings()) == 0 })
}
