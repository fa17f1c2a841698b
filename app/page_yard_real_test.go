//go:build real && linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

// yard is the real part behind the routes, whose view a test can make up.
type yard struct {
	*workspace.Manager

	mu      sync.Mutex
	made    *workspace.View // nil: the real one
	readers map[chan workspace.View]bool
	broken  bool // its routes fail
}

func (y *yard) Subscribe() (<-chan workspace.View, func()) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.made == nil {
		return y.Manager.Subscribe()
	}
	c := make(chan workspace.View, 1)
	c <- *y.made
	y.readers[c] = true
	return c, func() {
		y.mu.Lock()
		defer y.mu.Unlock()
		delete(y.readers, c)
	}
}

// show has all see a view that is made up.
func (y *yard) show(v workspace.View) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.made = &v
	for c := range y.readers {
		select {
		case <-c:
		default:
		}
		c <- v
	}
}

func (y *yard) breaks(is bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.broken = is
}

// failing answers in place of the routes of workspaces while they are broken.
func (y *yard) failing(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		y.mu.Lock()
		broken := y.broken
		y.mu.Unlock()
		if broken && strings.HasPrefix(req.URL.Path, "/workspaces") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"error":"the directory of workspaces cannot be read; look at its permissions"}`))
			return
		}
		h.ServeHTTP(w, req)
	})
}

// newYard makes a store of workspaces, which is looked after until the test ends.
func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{Manager: workspace.New(workspace.Options{Dir: filepath.Join(t.TempDir(), "workspaces"), By: "the test"}), readers: map[chan workspace.View]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = y.Serve(ctx, func(monitor.Event) {})
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return y
}

func (y *yard) make(t *testing.T, q workspace.Request) workspace.Workspace {
	t.Helper()
	w, err := y.Create(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func writeTo(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// lodgers is a view of so many workspaces, with names of every sort, and of one that
// is being made if it has an id.
func lodgers(n int, making workspace.Making) workspace.View {
	now := time.Now()
	names := []string{
		"job", "長い名前のとても長い仕事の名前がここにあります", "مهمة طويلة جدا لاختبار الاتجاه", strings.Repeat("a-very-long-name-", 11), `<img src=x onerror="document.body.append('was run')">`, "größe & maß",
	}
	kinds := []workspace.Kind{workspace.Temp, workspace.Persistent, workspace.Hybrid}
	states := []workspace.State{workspace.Ready, workspace.Ready, workspace.Ended, workspace.Archived}
	v := workspace.View{Workspaces: []workspace.Workspace{}, Making: []workspace.Making{}}
	for i := range n {
		at, ends := now.Add(-time.Duration(i)*time.Hour), now.Add(time.Duration(i+1)*time.Hour)
		w := workspace.Workspace{
			ID: fmt.Sprintf("01936f3e-7c00-7000-8000-%012d", i), Name: fmt.Sprintf("alpha-%04d", i), Path: fmt.Sprintf("/home/me/.local/state/lamplighter/workspaces/trees/alpha-%04d", i),
			Kind: kinds[i%3], Job: fmt.Sprintf("%s job-%04d", names[i%len(names)], i), Project: "alpha", State: states[i%4], Source: workspace.Source{Kind: workspace.FromNothing},
			Cleanup: workspace.AtCompletion, Retention: 24 * time.Hour, CreatedAt: at, UsedAt: at, Ends: "stays until it is removed", SizeBytes: int64(i) * 1e6, Files: i, MeasuredAt: &at,
		}
		if w.Kind == workspace.Temp {
			w.Ends, w.EndsAt = "removed when its job ends, or when nobody has used it for 24 h", &ends
		}
		if i%13 == 7 {
			w.Problem = "work would be lost: 3 files that are not committed; keep it or remove it"
		}
		v.Workspaces = append(v.Workspaces, w)
	}
	if making.ID != "" {
		v.Making = append(v.Making, making)
	}
	return v
}
