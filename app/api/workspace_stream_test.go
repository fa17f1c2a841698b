package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/workspace"
)

// writing is a response that notes what is sent, and when.
type writing struct {
	header http.Header

	mu   sync.Mutex
	sent []string
	at   []time.Time
}

func (w *writing) Header() http.Header { return w.header }
func (w *writing) WriteHeader(int)     {}
func (w *writing) Flush()              {}

func (w *writing) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(p) > 0 {
		w.sent, w.at = append(w.sent, string(p)), append(w.at, time.Now())
	}
	return len(p), nil
}

// events are those of what was sent, without comments.
func (w *writing) events(t *testing.T) (list []WorkspaceList, at []time.Time) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, text := range w.sent {
		if strings.HasPrefix(text, ":") {
			continue
		}
		var one WorkspaceList
		data, ok := strings.CutPrefix(text, "data: ")
		if err := json.Unmarshal([]byte(data), &one); err != nil || !ok || !strings.HasSuffix(text, "}\n\n") || strings.Count(text, "\n") != 2 {
			t.Errorf("%q: %v", text, err)
		}
		list, at = append(list, one), append(at, w.at[i])
	}
	return list, at
}

// beats counts the comments of what was sent.
func (w *writing) beats() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(strings.Join(w.sent, ""), ":\n\n")
}

func TestWorkspaceStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := &yard{}
		w := &writing{header: http.Header{}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		h := withWorkspaces(y)
		began := time.Now()
		go func() {
			defer close(ended)
			h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/workspaces/stream", nil))
		}()
		synctest.Wait()
		if list, _ := w.events(t); len(list) != 1 || len(list[0].Workspaces) != 0 || list[0].Making == nil || w.header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("it begins with %+v, %v", w.sent, w.header)
		}
		// Progress every 10 ms for 2 s is told twice a second, and its end at last.
		for i := range 200 {
			y.change(func() { y.making = []workspace.Making{{ID: anID, Progress: workspace.Progress{Percent: i / 2}}} })
			synctest.Wait()
			time.Sleep(10 * time.Millisecond)
		}
		y.change(func() { y.list, y.making = []workspace.Workspace{aWorkspace(anID, "fix")}, nil })
		time.Sleep(time.Second)
		synctest.Wait()
		list, at := w.events(t)
		last := list[len(list)-1]
		if len(last.Workspaces) != 1 || len(last.Making) != 0 || last.Workspaces[0].ID != anID {
			t.Errorf("it ends with %+v", last)
		}
		for i := 1; i < len(at); i++ {
			if gap := at[i].Sub(at[i-1]); gap < viewPause {
				t.Errorf("event %d comes %v after the one before", i, gap)
			}
		}
		if n := len(list); n < 5 || n > 7 {
			t.Errorf("%d events of 201 changes in 2 s", n)
		}
		// What stays the same is not told again; a change after a rest at once.
		before := len(list)
		y.change(func() {})
		time.Sleep(time.Second)
		synctest.Wait()
		if list, _ := w.events(t); len(list) != before {
			t.Error("the same was told again")
		}
		y.change(func() { y.list = nil })
		synctest.Wait()
		if list, at := w.events(t); len(list) != before+1 || !at[before].Equal(time.Now()) {
			t.Errorf("after %v there are %d events", time.Since(began), len(list))
		}
		// A heartbeat shows that there is a stream.
		before = w.beats()
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if n := w.beats() - before; n != 1 {
			t.Errorf("%d heartbeats in 15 s", n)
		}
		cancel()
		<-ended
		if n := y.subscribers(); n != 0 {
			t.Errorf("%d subscriptions are left", n)
		}
	})
}

// It shares the places with the other stream, and ends with its reader and with
// the server.
func TestWorkspaceStreamHasAPlace(t *testing.T) {
	y := &yard{list: []workspace.Workspace{aWorkspace(anID, "fix")}}
	p := parts(newModel(), shower{})
	p.Workspaces = y
	s := serveWeb(t, newRoutes(p, 1).handler(), nil)
	url := "http://" + s.at(t)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/workspaces/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	buf := make([]byte, 4096)
	got := ""
	for !strings.Contains(got, anID) {
		n, err := resp.Body.Read(buf)
		if err != nil {
			t.Fatalf("%v after %s", err, got)
		}
		got += string(buf[:n])
	}
	for _, path := range []string{"/global-dashboard/stream", "/workspaces/stream"} {
		if resp, body := s.send(t, get(path)); resp.StatusCode != 503 || !strings.Contains(body, "1 streams are open, which is the most") {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
	cancel()
	apptest.Eventually(t, "its place is free", func() bool { return y.subscribers() == 0 })
	var another *http.Response
	apptest.Eventually(t, "another one has it", func() bool {
		if another, err = http.Get(url + "/workspaces/stream"); err != nil {
			t.Fatal(err)
		}
		if another.StatusCode != 200 {
			another.Body.Close()
		}
		return another.StatusCode == 200
	})
	defer another.Body.Close()
	s.stop()
	_, _ = io.Copy(io.Discard, another.Body) // it ends, however
	if n := y.subscribers(); n != 0 {
		t.Errorf("%d subscriptions are left", n)
	}
}

// Of 1,000 workspaces all are in one event.
func TestManyWorkspacesInTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := &yard{}
		for i := range 1000 {
			one := aWorkspace(fmt.Sprintf("01936f3e-7c00-7000-8000-%012d", i), strings.Repeat("長", 200))
			y.list = append(y.list, one)
		}
		w := &writing{header: http.Header{}}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		withWorkspaces(y).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/workspaces/stream", nil))
		if list, _ := w.events(t); len(list) != 1 || len(list[0].Workspaces) != 1000 {
			t.Errorf("%d events", len(list))
		}
	})
}
