//go:build real && linux

package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/serena/serenatest"
)

// A pinned Serena is not shut down through its own route either, and who shut
// down one that is not pinned is written down.
func TestShutdownHeedsPins(t *testing.T) {
	h := newHome(t)
	port := freePort(t)
	h.settings(t, portSetting(port))
	h.background(t)
	serves(t, pageAt(port))
	s := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha")})
	h.knows(t, s)
	one := fmt.Sprintf("%sinstance/%d/", pageAt(port), s.ServerPID)
	if status, answer := put(t, one+"pin", `{"pinned":true}`); status != http.StatusOK {
		t.Fatalf("pin: %d %s", status, answer)
	}
	if status, answer := put(t, one+"shutdown", ""); status != http.StatusConflict || !strings.Contains(answer, "is pinned") || !strings.Contains(answer, `"forceable":true`) {
		t.Errorf("shut down while pinned: %d %s", status, answer)
	}
	select {
	case <-s.Done():
		t.Fatal("it has ended all the same")
	default:
	}
	if status, answer := put(t, one+"pin", `{"pinned":false}`); status != http.StatusOK {
		t.Fatalf("unpin: %d %s", status, answer)
	}
	if status, answer := put(t, one+"shutdown", ""); status != http.StatusOK {
		t.Fatalf("shut down: %d %s", status, answer)
	}
	<-s.Done()
	apptest.Eventually(t, "the events say who ordered it", func() bool {
		_, out, _ := h.does(t, "events")
		return strings.Contains(out, "stop ordered") && strings.Contains(out, "by a request")
	})
}
