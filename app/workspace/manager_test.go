package workspace

import (
	"context"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

// What is configured holds for all that is done from then on.
func TestConfigure(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	if got := m.limits(); got.Retention != usualRetention || got.Limit != 0 {
		t.Errorf("to begin with: %+v", got)
	}
	place := l.path("elsewhere")
	m.Configure(Limits{Trees: place, Limit: 1, Retention: time.Hour, Cleanup: AtRetention})
	w := l.create(m, Request{Kind: Temp})
	if w.Retention != time.Hour || w.Cleanup != AtRetention || content(t, place) == nil || w.Path[:len(place)] != place {
		t.Errorf("%+v", w)
	}
	if _, err := m.Create(t.Context(), Request{Kind: Temp, Job: "second"}, nil); err == nil {
		t.Error("the limit does not hold")
	}
	m.Configure(Limits{})
	if next := l.create(m, Request{Kind: Temp}); next.Retention != usualRetention || next.Cleanup != AtCompletion {
		t.Errorf("%+v", next)
	}
	if r := l.record(m, w.ID); r.Retention != time.Hour {
		t.Errorf("what was made before has %v now", r.Retention)
	}
}

// Serve does at once what is due by other limits.
func TestConfigureWhileServed(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp, From: l.source("from", map[string]string{"a": "text"})})
	l.passes(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Serve(ctx, func(monitor.Event) {}) }()
	defer func() { cancel(); <-ended }()
	views, stop := m.Subscribe()
	defer stop()
	if v := <-views; len(v.Workspaces) != 1 {
		t.Fatalf("%+v", v)
	}
	m.Configure(Limits{Budget: 1})
	apptest.Eventually(t, "it goes for the budget", func() bool { return l.record(m, w.ID).State == Removed })
}

func TestConfigureWhileOneWaits(t *testing.T) {
	l := newLab(t)
	m := l.limited(1)
	l.create(m, Request{Job: "first"})
	w, err := m.Create(t.Context(), Request{Job: "second", Kind: Temp, Wait: true, Begun: func(Making) {
		go m.Configure(Limits{Limit: 2})
	}}, nil)
	if err != nil || w.Job != "second" {
		t.Errorf("%+v, %v", w, err)
	}
}
