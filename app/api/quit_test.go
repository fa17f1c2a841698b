package api

import (
	"errors"
	"net/http"
	"testing"
)

// One of before the route is told from one that refuses.
func TestQuitOfAnOlderOne(t *testing.T) {
	srv := serve(t, newModel(), shower{}, func(o *Options) {
		now := o.Handler
		o.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == quitPath {
				answer(w, quiet(), http.StatusNotFound, Failure{Error: "there is nothing at /quit"})
				return
			}
			now.ServeHTTP(w, req)
		})
	})
	if _, err := srv.dial(t).Quit(t.Context(), true); !errors.Is(err, ErrNoQuit) {
		t.Errorf("%v", err)
	}
	if _, err := serve(t, newModel(), shower{}, nil).dial(t).Quit(t.Context(), true); err == nil || errors.Is(err, ErrNoQuit) {
		t.Errorf("where nothing ends: %v", err)
	}
}
