package share

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lamplighter/app/launch"
)

// TestTheFinderIsAskedOnce for windows that open together, and again when the
// program has changed.
func TestTheFinderIsAskedOnce(t *testing.T) {
	m := newMachine(t)
	repo := m.repo("alpha")
	asked := 0
	a := asker(func(o *PlannerOptions) { o.Finder = taker{version: "2.1.0", asked: &asked} })
	for range 3 {
		planned(t, a, m.wish(repo, fromCwd))
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	m.write("bin/serena"+exe, "another one")
	planned(t, a, m.wish(repo, fromCwd))
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
	for i := range 3 * mostResolved {
		planned(t, a, m.wish(repo, "uvx --python 3."+strings.Repeat("1", i+1)+" serena start-mcp-server --project-from-cwd --context ide"))
	}
	if len(a.resolved) > mostResolved {
		t.Errorf("%d are remembered", len(a.resolved))
	}
}

// slow is a Resolver that takes its time.
type slow struct {
	taker
	begun, goOn chan struct{}
}

func (r slow) Resolve(ctx context.Context, w launch.Wanted) (launch.Resolution, error) {
	r.begun <- struct{}{}
	<-r.goOn
	return r.taker.Resolve(ctx, w)
}

// TestWhoGivesUpMayAskAgain: a client waits a few seconds only. What was begun for
// it is there for its next try.
func TestWhoGivesUpMayAskAgain(t *testing.T) {
	m := newMachine(t)
	w := m.wish(m.repo("alpha"), fromCwd)
	finder := slow{taker{version: "2.1.0"}, make(chan struct{}), make(chan struct{})}
	a := asker(func(o *PlannerOptions) { o.Finder = finder })
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-finder.begun
		leave()
	}()
	if p, err := a.Plan(ctx, w); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", p, err)
	}
	close(finder.goOn)
	if p := planned(t, a, w); p.Version != "2.1.0" || p.Key == "" { // nobody takes note of a second beginning
		t.Errorf("%+v", p)
	}
}

// TestClose ends what was begun for a client that has given up.
func TestClose(t *testing.T) {
	m := newMachine(t)
	w := m.wish(m.repo("alpha"), fromCwd)
	begun, ended := make(chan struct{}), make(chan struct{})
	a := asker(func(o *PlannerOptions) {
		o.Finder = resolver(func(ctx context.Context) {
			close(begun)
			<-ctx.Done()
			close(ended)
		})
	})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-begun
		leave()
	}()
	if p, err := a.Plan(ctx, w); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", p, err)
	}
	a.Close()
	select {
	case <-ended:
	default:
		t.Error("it goes on")
	}
	if p, err := a.Plan(t.Context(), w); !errors.Is(err, context.Canceled) {
		t.Errorf("after that: %+v, %v", p, err)
	}
}

// resolver is a Resolver that finds nothing.
type resolver func(context.Context)

func (r resolver) Resolve(ctx context.Context, _ launch.Wanted) (launch.Resolution, error) {
	r(ctx)
	return launch.Resolution{}, ctx.Err()
}
