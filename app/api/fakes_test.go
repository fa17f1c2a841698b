package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"lamplighter/app/dashboard"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
)

// book is a Recorder that the test fills.
type book struct {
	ended   monitor.Feed[[]dashboard.Ended]
	history map[monitor.Identity]dashboard.History
}

func (b *book) History(id monitor.Identity) (dashboard.History, bool) {
	h, ok := b.history[id]
	return h, ok
}

func (b *book) Total() dashboard.History { return dashboard.History{} }

func (b *book) Ended() []dashboard.Ended { return b.ended.Latest() }

func (b *book) Subscribe() (<-chan []dashboard.Ended, func()) {
	b.add()
	return b.ended.Subscribe()
}

func (b *book) add(more ...dashboard.Ended) {
	b.ended.Publish(append(slices.Clip(b.ended.Latest()), more...))
}

// pinner notes what is pinned.
type pinner struct {
	err error

	mu     sync.Mutex
	pinned map[string]bool // by id
	by     []string
}

func (p *pinner) Pin(in monitor.Instance, pinned bool, by string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	if p.pinned == nil {
		p.pinned = map[string]bool{}
	}
	p.pinned[in.ID()] = pinned
	p.by = append(p.by, by)
	return nil
}

// policyBook is policies that note what they are told, each as one line, and
// decide what the test says.
type policyBook struct {
	err     error
	actions []policy.Action

	mu    sync.Mutex
	told  []string
	until time.Time // of the last pause
}

func (p *policyBook) tell(format string, args ...any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	p.told = append(p.told, fmt.Sprintf(format, args...))
	return nil
}

func (p *policyBook) Keep(in monitor.Instance, d time.Duration, by string) error {
	return p.tell("keep %s for %v by %s", in.ID(), d, by)
}

func (p *policyBook) Pause(until time.Time, by string) error {
	p.until = until
	return p.tell("pause by %s", by)
}

func (p *policyBook) Resume(by string) error { return p.tell("resume by %s", by) }

func (p *policyBook) Switch(r policy.Rule, on bool, by string) error {
	return p.tell("switch %s %v by %s", r, on, by)
}

// Confirm notes what is asked just before an end.
func (p *policyBook) Confirm(in monitor.Instance, w policy.Rule) func(context.Context) error {
	return func(context.Context) error { return p.tell("confirm %s of %s", in.ID(), w) }
}

func (p *policyBook) Decisions(_ *monitor.Snapshot, w policy.Rule) []policy.Action {
	if w == "" {
		return p.actions
	}
	return []policy.Action{{Label: "ordered: " + string(w)}}
}

// forwarder answers with what it was asked.
type forwarder struct {
	mu    sync.Mutex
	asked []string
}

func (f *forwarder) Forward(w http.ResponseWriter, req *http.Request, in *monitor.Instance, route dashboard.Route, permit func() bool) {
	if permit != nil && !permit() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	what := route.Method + " " + route.Name + " of " + in.ID()
	f.asked = append(f.asked, what)
	w.Header().Set("Content-Type", "application/json")
	if req.Method != http.MethodHead {
		_, _ = w.Write([]byte(`{"asked":"` + what + `"}`))
	}
}
