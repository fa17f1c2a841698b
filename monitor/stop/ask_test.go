package stop

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestShutdownRequest(t *testing.T) {
	var got *http.Request
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Clone(context.Background())
		w.WriteHeader(status)
	}))
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).Port
	if err := newAsker().shutdown(t.Context(), port); err != nil {
		t.Fatal(err)
	}
	if got.Method != http.MethodPut || got.URL.Path != "/shutdown" || !strings.HasPrefix(got.Host, "127.0.0.1:") || got.ContentLength != 0 {
		t.Errorf("%s %s, host %s, %d bytes", got.Method, got.URL, got.Host, got.ContentLength)
	}
	for _, status = range []int{http.StatusFound, http.StatusBadRequest, http.StatusInternalServerError} {
		if err := newAsker().shutdown(t.Context(), port); err == nil {
			t.Errorf("status %d counts as yes", status)
		}
	}
	for what, end := range map[string]http.HandlerFunc{
		"hangs up":        func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"cleans up first": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		server := httptest.NewServer(end)
		if err := newAsker().shutdown(t.Context(), server.Listener.Addr().(*net.TCPAddr).Port); err != nil {
			t.Errorf("it %s: %v", what, err)
		}
		server.Close()
	}
	server.Close()
	if err := newAsker().shutdown(t.Context(), port); err == nil {
		t.Error("nobody listens, and it counts as yes")
	}
}
