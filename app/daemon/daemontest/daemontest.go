// Package daemontest has what the tests of the background process and of the
// verbs share: what stands in for its parts, and for the programs of a system.
package daemontest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/session"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
)

// Noon is when things happen.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Model is the watch of a background process.
type Model struct {
	mu      sync.Mutex
	Current *monitor.Snapshot
	readers []chan *monitor.Snapshot
}

// Snapshot is the current one.
func (m *Model) Snapshot() *monitor.Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Current
}

// Subscribe gives the current one, and each that is set later.
func (m *Model) Subscribe() (<-chan *monitor.Snapshot, func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := make(chan *monitor.Snapshot, 16)
	c <- m.Current
	m.readers = append(m.readers, c)
	return c, func() {}
}

// Set replaces the current one.
func (m *Model) Set(s *monitor.Snapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Current = s
	for _, c := range m.readers {
		c <- s
	}
}

// SerenaAt is a Serena, with a project of that name if there is one.
func SerenaAt(pid, port int, name string) monitor.Instance {
	in := monitor.Instance{
		Identity: monitor.Identity{PID: pid, Start: uint64(pid) * 10}, Kind: monitor.KindSerena, Recognised: true, Port: port, ProjectName: name,
		State: monitor.StateNoProject, DashboardURL: "http://127.0.0.1:1/dashboard/index.html", StartedAt: Noon.Add(time.Duration(pid) * time.Second),
	}
	if name != "" {
		in.State = monitor.StateProject
	}
	return in
}

// Sessions is a manager that gives what it is told.
type Sessions struct {
	Err    error
	Listed []session.Session

	Asked    []session.Request
	Released []int
	Status   session.Status
	Refusal  error  // of a release
	Listing  func() // is called before sessions are listed; nil: nothing is
}

// Request notes what is asked for.
func (s *Sessions) Request(_ context.Context, r session.Request) (session.Session, error) {
	s.Asked = append(s.Asked, r)
	if s.Err != nil {
		return session.Session{}, s.Err
	}
	return session.Session{ID: 4711, Port: 40000}, nil
}

// Release notes what is released.
func (s *Sessions) Release(_ context.Context, id int, _ string) (session.Status, error) {
	s.Released = append(s.Released, id)
	return s.Status, cmp.Or(s.Refusal, s.Err)
}

// List calls Listing first.
func (s *Sessions) List() []session.Session {
	if s.Listing != nil {
		s.Listing()
	}
	return s.Listed
}

// Ladder ends what it is told to, except what is named otherwise.
type Ladder struct {
	Record func(monitor.Event)

	mu     sync.Mutex
	IDs    []string
	Orders []stop.Order
}

// Stop notes the order, and carries it out by the name of the server.
func (l *Ladder) Stop(_ context.Context, in monitor.Instance, o stop.Order) (stop.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.IDs, l.Orders = append(l.IDs, in.ID()), append(l.Orders, o)
	if l.Record != nil && !o.DryRun {
		l.Record(monitor.Event{At: Noon, Kind: monitor.EventStopOrdered, ID: in.ID(), PID: in.Identity.PID, Label: in.Label()})
	}
	refused := func(kind error, why string) (stop.Result, error) {
		r := &stop.Refusal{Label: in.Label(), Kind: kind, Why: why}
		return stop.Result{Outcome: stop.Refused, Detail: r.Error()}, r
	}
	switch name := in.Name(); {
	case name == "never":
		return refused(stop.ErrOtherUser, "it has a process of another user. That user has to end it first.")
	case name == "busy" && !o.Force:
		return refused(stop.ErrBusy, "it is at work. Wait until it is done, or force it.")
	case name == "tough":
		return stop.Result{Outcome: stop.Failed, Detail: "6 - tough: not all of it has ended: 6 is still there."}, stop.ErrSurvived
	case name == "odd":
		return stop.Result{Outcome: stop.Failed, Detail: "Not ended: no descriptors are left."}, errors.New("no descriptors are left")
	case name == "gone":
		return stop.Result{Outcome: stop.Gone, Detail: "It has ended."}, process.ErrGone
	case o.DryRun:
		return stop.Result{Outcome: stop.WouldEnd, Detail: "Would end " + in.Label() + "."}, nil
	}
	return stop.Result{Outcome: stop.Ended, Detail: "Ended: " + in.Label() + ", 3 processes, about 152 MB given back.", Processes: 3, FreedBytes: 152e6}, nil
}

// Selecting selects by the rules of a settings file that says nothing. Nothing
// else is asked of it here.
type Selecting struct{ api.Policies }

// Decisions are those of no settings.
func (Selecting) Decisions(s *monitor.Snapshot, w policy.Rule) []policy.Action {
	now := *s
	now.At = time.Now()
	return policy.Select(&now, w, policy.Rules{})
}

// Confirm says what it was asked, which refuses an order that asks.
func (Selecting) Confirm(in monitor.Instance, w policy.Rule) func(context.Context) error {
	return func(context.Context) error { return fmt.Errorf("asked whether %s is of %s", in.ID(), w) }
}

// List is a list of instances as a snapshot has it.
func List(list ...monitor.Instance) (all []*monitor.Instance) {
	for _, in := range list {
		all = append(all, &in)
	}
	return all
}

// Watched are servers about whose use something is known.
func Watched() []monitor.Instance {
	yes, no := true, false
	now := time.Now()
	idle := func(pid int, name string, since time.Duration) monitor.Instance {
		in := SerenaAt(pid, 24280+pid, name)
		in.Busy = &no
		in.Evidence = monitor.Evidence{Transport: "http", IdleSince: now.Add(-since), KeepsState: &no}
		return in
	}
	fresh := idle(2, "fresh", 10*time.Minute)
	fresh.LastActivity = now.Add(-2*time.Minute - 5*time.Second)
	working := idle(3, "working", time.Hour)
	working.Busy, working.Evidence.IdleSince = &yes, time.Time{}
	pinned := idle(4, "pinned", time.Hour)
	pinned.Pinned = true
	orphan := idle(6, "orphan", 5*time.Minute)
	orphan.Evidence.Transport, orphan.Evidence.Orphaned, orphan.Evidence.ClientGone = "stdio", true, true
	orphan.Client = &monitor.Client{Identity: monitor.Identity{PID: 9}, Name: "Codex"}
	return []monitor.Instance{idle(1, "idle", 42*time.Minute), fresh, working, pinned, SerenaAt(5, 24285, "unknown"), orphan}
}

// System answers for the programs of a system, by their command line. What is
// not in Answers fails.
type System struct {
	Answers map[string]string // "!" in front of what fails

	mu  sync.Mutex
	Ran []string
}

// Run notes the command, and answers.
func (f *System) Run(_ context.Context, name string, args ...string) ([]byte, error) {
	line := strings.Join(append([]string{filepath.Base(name)}, args...), " ")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Ran = append(f.Ran, line)
	answer, known := f.Answers[line]
	if text, fails := strings.CutPrefix(answer, "!"); fails || !known {
		return []byte(text), errors.New("exit status 1")
	}
	return []byte(answer + "\n"), nil
}

// Changed are the commands that were run but for those that only ask.
func (f *System) Changed() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.Ran), func(line string) bool { return strings.Contains(line, " show ") })
}
