package serena

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// askToEnd is Shutdown, tried again where the machine was too slow even to
// send the request.
func askToEnd(ctx context.Context, port int) error {
	for {
		err := NewClient().Shutdown(ctx, port)
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

func TestShutdownRequest(t *testing.T) {
	heard := make(chan *http.Request, 1)
	var status atomic.Int32
	status.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case heard <- r.Clone(context.Background()):
		default:
		}
		w.WriteHeader(int(status.Load()))
	}))
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).Port
	if err := askToEnd(t.Context(), port); err != nil {
		t.Fatal(err)
	}
	got := <-heard // its answer may have come too late to be waited for
	if got.Method != http.MethodPut || got.URL.Path != "/shutdown" || !strings.HasPrefix(got.Host, "127.0.0.1:") || got.ContentLength != 0 {
		t.Errorf("%s %s, host %s, %d bytes", got.Method, got.URL, got.Host, got.ContentLength)
	}
	for _, no := range []int32{http.StatusFound, http.StatusBadRequest, http.StatusInternalServerError} {
		status.Store(no)
		// What comes later than half a second is not heard.
		deadline := time.Now().Add(time.Minute)
		for NewClient().Shutdown(t.Context(), port) == nil {
			if time.Now().After(deadline) {
				t.Fatalf("status %d counts as yes", no)
			}
		}
	}
	for what, end := range map[string]http.HandlerFunc{
		"hangs up":        func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"cleans up first": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		server := httptest.NewServer(end)
		if err := askToEnd(t.Context(), server.Listener.Addr().(*net.TCPAddr).Port); err != nil {
			t.Errorf("it %s: %v", what, err)
		}
		server.Close()
	}
	server.Close()
	if err := NewClient().Shutdown(t.Context(), port); err == nil {
		t.Error("nobody listens, and it counts as yes")
	}
}
