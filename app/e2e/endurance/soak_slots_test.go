//go:build real && soak && linux

package endurance

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"lamplighter/app/e2e"
	"lamplighter/monitor"
)

// playSessions asks for sessions, each of which takes a slot, and releases them.
func (s *soak) playSessions(t *testing.T) {
	random := s.rand(4)
	project := e2e.ProjectDir(t, "acme")
	for s.pause(time.Duration(4 * random.Float64() * float64(time.Second))) {
		given := s.Request(t, project)
		// The id of a session is the pid of its server.
		s.ledger.add(&lamp{id: soakIdentity(given.ID), what: "of a session", mayEnd: "it is released"})
		s.pause(time.Duration(3 * random.Float64() * float64(time.Second)))
		s.Release(t, given)
	}
	if left := s.Sessions(t); len(left) > 0 {
		t.Errorf("these have their slots still: %+v", left)
	}
}

// playWorkspaces makes workspaces for jobs and removes them.
func (s *soak) playWorkspaces(t *testing.T) {
	random := s.rand(5)
	for n := 1; s.pause(time.Duration(6 * random.Float64() * float64(time.Second))); n++ {
		code, out, errs := s.Does(t, "workspace", "create", "--json", "--kind", "temp", "--job", fmt.Sprint("soak-", n))
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(out), &made); code != 0 || err != nil {
			t.Fatalf("workspace create: exit status %d, %v, %s %s", code, err, out, errs)
		}
		s.ledger.count("workspaces")
		s.pause(time.Duration(3 * random.Float64() * float64(time.Second)))
		if code, out, errs := s.Does(t, "workspace", "rm", made.ID); code != 0 {
			t.Errorf("workspace rm: exit status %d, %s %s", code, out, errs)
		}
	}
}

// workspaces holds what is told of workspaces against what was made.
func (l *ledger) workspaces(all []monitor.Event) {
	made, gone := 0, 0
	for _, e := range all {
		switch e.Kind {
		case monitor.EventWorkspace + "created":
			made++
		case monitor.EventWorkspace + "removed":
			gone++
		}
	}
	l.mu.Lock()
	want := l.counts["workspaces"]
	l.mu.Unlock()
	if made != want || gone != want {
		l.fault("%d workspaces came and went, but the events tell of %d and %d", want, made, gone)
	}
}
