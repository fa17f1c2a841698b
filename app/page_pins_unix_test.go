//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

// pin pins the server with that label, or takes that back.
func (h *home) pin(t *testing.T, page, label, wish string) (status int) {
	t.Helper()
	pid := strings.Fields(label)[1]
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, page+"instance/"+pid+"/pin", strings.NewReader(`{"pinned":`+wish+`}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

// A pin outlives lamplighter, and holds without it too.
func TestPinsAreKept(t *testing.T) {
	h := newHome(t)
	port := freePort(t)
	h.settings(t, acmeRule+portSetting(port))
	p := h.background(t)
	serves(t, pageAt(port))
	label := h.acme(t)
	shows := func(pinned bool) {
		t.Helper()
		want := fmt.Sprintf(`"pinned":%v`, pinned)
		apptest.Eventually(t, want, func() bool {
			_, _, body := fetch(t, pageAt(port)+"instances")
			return strings.Contains(body, label) && strings.Contains(body, want)
		})
	}
	shows(false)
	if got := h.pin(t, pageAt(port), label, "true"); got != http.StatusOK {
		t.Fatalf("pinning: %d", got)
	}
	shows(true)
	refused := func(when string) {
		t.Helper()
		if code, out, errs := h.does(t, "stop", "acme"); code != 1 || !strings.Contains(out+errs, "is pinned") {
			t.Errorf("stop %s: %d, %q, %q", when, code, out, errs)
		}
	}
	refused("at once")
	p.signal(t, syscall.SIGKILL)
	<-p.ended
	refused("without lamplighter")
	h.background(t)
	shows(true)
	refused("after a new start")
	_, out, _ := h.does(t, "events")
	apptest.Contains(t, out, "pinned", "by a request")
}

// Where it is not known who is pinned, every view says so, and nothing is ended
// unless forced.
func TestPinsThatCannotBeRead(t *testing.T) {
	h := newHome(t)
	port := freePort(t)
	h.settings(t, acmeRule+portSetting(port))
	file := filepath.Join(h.state(), "pins.json")
	lay := func(text string) {
		t.Helper()
		h.write(t, text, ".local", "state", "lamplighter", "pins.json")
	}
	label := h.acme(t)
	problem := "which servers are pinned cannot be read (" + file + ": "
	says := func(why string) {
		t.Helper()
		apptest.Eventually(t, "status says "+why, func() bool {
			_, out, errs := h.does(t, "status")
			return strings.Contains(out, label) && strings.Contains(errs, problem+why)
		})
	}
	saysNothing := func() {
		t.Helper()
		apptest.Eventually(t, "nothing is said any more", func() bool { _, _, errs := h.does(t, "status"); return errs == "" })
	}
	refused := func(why string) {
		t.Helper()
		for _, args := range [][]string{{"stop", "acme", "--dry-run"}, {"stop", "acme"}} {
			code, out, errs := h.does(t, args...)
			if want := "may be pinned: which servers are cannot be read (" + file + ": " + why; code != 1 || out != "" || !strings.Contains(errs, want) {
				t.Errorf("%q: %d, %q, %q; want %q", args, code, out, errs, want)
			}
			apptest.Contains(t, errs, "force it (--force).")
		}
	}

	// Without lamplighter.
	const half = `{"boot":"`
	lay(half)
	says("it is not a list of pins")
	refused("it is not a list of pins")
	if text, err := os.ReadFile(file); err != nil || string(text) != half {
		t.Errorf("who only reads has touched it: %q, %v", text, err)
	}
	_, out, _ := h.does(t, "events")
	apptest.Contains(t, out, "may be pinned")

	// With it. A pin would take all that may be in the file with it.
	p := h.background(t)
	page := pageAt(port)
	serves(t, page)
	says("it is not a list of pins")
	refused("it is not a list of pins")
	_, _, body := fetch(t, page+"status")
	apptest.Contains(t, body, "which servers are pinned cannot be read")
	if got := h.pin(t, page, label, "true"); got == http.StatusOK {
		t.Errorf("pinning: %d", got)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != half {
		t.Errorf("the file that others may be pinned in was touched: %q, %v", text, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := h.pin(t, page, label, "true"); got != http.StatusOK {
		t.Errorf("pinning: %d", got)
	}
	saysNothing()
	if code, _, errs := h.does(t, "stop", "acme"); code != 1 || !strings.Contains(errs, "is pinned") {
		t.Errorf("stop: %d, %q", code, errs)
	}
	if got := h.pin(t, page, label, "false"); got != http.StatusOK {
		t.Errorf("unpinning: %d", got)
	}
	p.signal(t, syscall.SIGTERM)
	<-p.ended

	// Removing what is in the way, which is seen with the next order.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	refused("it is a directory, not a file; remove it")
	h.background(t)
	says("it is a directory, not a file; remove it")
	refused("it is a directory, not a file; remove it")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := h.does(t, "stop", "acme"); code != 0 {
		t.Errorf("stop: %d, %q, %q", code, out, errs)
	}
	saysNothing()
}
