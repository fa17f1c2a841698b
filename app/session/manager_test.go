package session

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/launch"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// request asks for a session and gets it.
func request(t *testing.T, m *Manager, dir string) Session {
	t.Helper()
	s, err := m.Request(t.Context(), Request{ProjectPath: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// release checks what comes of a release.
func release(t *testing.T, m *Manager, id int, want Status, wantErr error) {
	t.Helper()
	if got, err := m.Release(t.Context(), id, "a test"); got != want || !errors.Is(err, wantErr) {
		t.Errorf("releasing %d: %q, %v; want %q, %v", id, got, err, want, wantErr)
	}
}

// state is that of a session, "" when there is none with that id.
func (m *Manager) state(id int) State {
	for _, s := range m.List() {
		if s.ID == id {
			return s.State
		}
	}
	return ""
}

func TestLifeOfASession(t *testing.T) {
	w := newWorld()
	m := newManager(w, 10, nil)
	serve(t, m)
	dir := t.TempDir()
	client := monitor.Client{Identity: monitor.Identity{PID: 7, Start: 8}, Name: "Codex"}
	s, err := m.Request(t.Context(), Request{ProjectPath: dir + "/./", AskedBy: func() monitor.Client { return client }})
	want := Session{
		ID: 101, State: StateRunning, ProjectPath: dir, Server: "serena", Port: 40101, DashboardPort: 24282, MCPURL: "http://127.0.0.1/mcp",
		StartedAt: time.Unix(101, 0), AskedBy: &client,
	}
	if err != nil || *s.AskedBy != client {
		t.Fatalf("%+v, %v", s, err)
	}
	if s.AskedBy = want.AskedBy; s != want {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	if spec := w.started[0]; spec.Project != dir || spec.Lifetime != launch.Session || spec.AskedBy() != client {
		t.Errorf("started %+v", spec)
	}
	second := request(t, m, dir)
	if second.AskedBy != nil || second.ID == s.ID || len(m.List()) != 2 {
		t.Errorf("%+v of %+v", second, m.List())
	}
	release(t, m, s.ID, Terminated, nil)
	release(t, m, s.ID, "", ErrUnknown)
	w.by(second.ID).dies()
	if list := m.List(); len(list) != 0 {
		t.Errorf("lists what has gone: %+v", list)
	}
	release(t, m, second.ID, AlreadyGone, nil)
	release(t, m, second.ID, "", ErrUnknown)
	if !slices.Equal(w.touched, []int{s.ID}) {
		t.Errorf("ended %v", w.touched)
	}
}

// What is no session is left alone, whoever it is, and so is what got the pid
// of a session that has died.
func TestReleaseOfWhatIsNoSession(t *testing.T) {
	w := newWorld()
	m := newManager(w, 10, func(o *Options) { o.Runs = nil })
	for _, id := range []int{os.Getpid(), os.Getppid(), 1, 0, -1, 1 << 40} {
		release(t, m, id, "", ErrUnknown)
	}
	w.reuse = os.Getpid()
	s := request(t, m, t.TempDir())
	w.by(s.ID).dies()
	release(t, m, os.Getpid(), AlreadyGone, nil)
	if len(w.touched) != 0 {
		t.Errorf("ended %v", w.touched)
	}
}

// The server's own process has died, and what it has left behind is still being
// ended: that is no longer a session that was terminated.
func TestReleaseOfWhatIsDying(t *testing.T) {
	w := newWorld()
	m := newManager(w, 10, nil)
	s := request(t, m, t.TempDir())
	server := w.by(s.ID)
	server.change(func() { server.runs = false })
	if got := m.state(s.ID); got != StateEnding {
		t.Errorf("state %q", got)
	}
	release(t, m, s.ID, AlreadyGone, nil)
	release(t, m, s.ID, "", ErrUnknown)
	if w.count() != 0 {
		t.Error("something of it is left")
	}
}

// Who releases a session that is being ended is answered as who began it, also
// when that one has gone meanwhile.
func TestReleasesAtOnce(t *testing.T) {
	dir := t.TempDir()
	for name, stubborn := range map[string]bool{"it ends": false, "it does not": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				m := newManager(w, 10, nil)
				s := request(t, m, dir)
				server, hold := w.by(s.ID), make(chan struct{})
				server.change(func() { server.hold, server.stubborn = hold, stubborn })
				ctx, leave := context.WithCancel(t.Context())
				left := make(chan error, 1)
				go func() {
					_, err := m.Release(ctx, s.ID, "who goes away")
					left <- err
				}()
				synctest.Wait()
				leave()
				if err := <-left; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				want, wantErr := Terminated, error(nil)
				if stubborn {
					want, wantErr = "", errStubborn
				}
				for range 20 {
					go release(t, m, s.ID, want, wantErr)
				}
				synctest.Wait() // all of them do
				if got := m.state(s.ID); got != StateEnding {
					t.Errorf("state %q", got)
				}
				close(hold)
				synctest.Wait()
				if server.ends != 1 || m.state(s.ID) == StateEnding {
					t.Errorf("ended %d times, state %q", server.ends, m.state(s.ID))
				}
				if stubborn {
					server.change(func() { server.stubborn = false })
					release(t, m, s.ID, Terminated, nil)
				}
			})
		})
	}
}

func TestReleaseThatFails(t *testing.T) {
	w := newWorld()
	m := newManager(w, 1, nil)
	s := request(t, m, t.TempDir())
	server := w.by(s.ID)
	server.change(func() { server.stubborn = true })
	release(t, m, s.ID, "", errStubborn)
	if got := m.state(s.ID); got != StateRunning {
		t.Errorf("state %q", got)
	}
	var tooMany *TooMany
	if _, err := m.Request(t.Context(), Request{ProjectPath: t.TempDir()}); !errors.As(err, &tooMany) {
		t.Errorf("it counts no more: %v", err)
	}
	server.change(func() { server.stubborn = false })
	release(t, m, s.ID, Terminated, nil)
	release(t, m, s.ID, "", ErrUnknown)
}

func TestStartThatFails(t *testing.T) {
	w := newWorld()
	w.broken = &launch.StartError{Why: "no such program"}
	m := newManager(w, 1, nil)
	for range 3 { // it does not count as a session
		_, err := m.Request(t.Context(), Request{ProjectPath: t.TempDir()})
		var start *launch.StartError
		if !errors.As(err, &start) || start.Why != "no such program" {
			t.Errorf("%v", err)
		}
	}
	if _, err := m.Request(t.Context(), Request{ProjectPath: t.TempDir(), Server: "unknown"}); !errors.Is(err, ErrNoServer) {
		t.Error(err)
	}
	if len(m.List()) != 0 {
		t.Errorf("%+v", m.List())
	}
}

// A start that panics takes its place with it.
func TestStartThatPanics(t *testing.T) {
	w := newWorld()
	w.hold = make(chan struct{})
	m := newManager(w, 1, func(o *Options) { o.Start = panics{} })
	for range 2 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_, err := m.Request(t.Context(), Request{ProjectPath: t.TempDir()})
			t.Error(err)
		}()
	}
	if len(m.List()) != 0 {
		t.Errorf("%+v", m.List())
	}
	serve(t, m)() // and nothing waits for it
}

type panics struct{}

func (panics) Start(context.Context, launch.Spec) (Server, error) { panic("at the disco") }

// Fifty ask at once: as many as may be get one, and the others learn of the
// limit at once.
func TestFiftyAtOnce(t *testing.T) {
	const n, limit = 50, 20
	w := newWorld()
	w.hold = make(chan struct{})
	m := newManager(w, limit, nil)
	dir := t.TempDir()
	refused, got := make(chan error, n), make(chan Session, n)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			s, err := m.Request(t.Context(), Request{ProjectPath: dir})
			if err != nil {
				refused <- err
				return
			}
			got <- s
		})
	}
	for range n - limit {
		var tooMany *TooMany
		if err := <-refused; !errors.As(err, &tooMany) || *tooMany != (TooMany{Live: limit, Limit: limit}) {
			t.Errorf("%v", err)
		}
	}
	apptest.Eventually(t, "the others start", func() bool { return w.underway() == limit })
	for _, s := range m.List() {
		if s.State != StateStarting || s.ID != 0 || s.Port != 0 || s.MCPURL != "" || s.StartedAt.IsZero() {
			t.Errorf("%+v", s)
		}
	}
	close(w.hold)
	all.Wait()
	ids := map[int]bool{}
	for range limit {
		ids[(<-got).ID] = true
	}
	if len(ids) != limit || len(m.List()) != limit {
		t.Errorf("%d ids, %d listed", len(ids), len(m.List()))
	}
	for id := range ids {
		all.Go(func() { release(t, m, id, Terminated, nil) })
	}
	all.Wait()
	if w.count() != 0 || len(m.List()) != 0 {
		t.Errorf("%d are left", w.count())
	}
}

// Who asks is found out while the server starts, and is known when it is ready.
func TestWhoAsksIsFoundMeanwhile(t *testing.T) {
	w := newWorld()
	m := newManager(w, 10, nil)
	serve(t, m)
	client, hold := monitor.Client{Identity: monitor.Identity{PID: 7, Start: 8}, Name: "Codex"}, make(chan struct{})
	given := make(chan Session, 1)
	dir := t.TempDir()
	go func() {
		s, err := m.Request(t.Context(), Request{ProjectPath: dir, AskedBy: func() monitor.Client {
			<-hold
			return client
		}})
		if err != nil {
			t.Error(err)
		}
		given <- s
	}()
	apptest.Eventually(t, "its server is started", func() bool { return w.count() == 1 })
	if list := m.List(); len(list) != 1 || list[0].AskedBy != nil || list[0].State != StateStarting {
		t.Errorf("%+v", list)
	}
	close(hold)
	if s := <-given; s.AskedBy == nil || *s.AskedBy != client {
		t.Errorf("%+v", s)
	}
}

// Who asked goes away: while the server starts, and just when it is ready.
func TestClientGoesAway(t *testing.T) {
	for name, deaf := range map[string]bool{"while it starts": false, "when it is ready": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.hold, w.deaf = make(chan struct{}), deaf
			m := newManager(w, 10, nil)
			ctx, leave := context.WithCancel(t.Context())
			answers := make(chan error, 2)
			for range 2 {
				go func() {
					_, err := m.Request(ctx, Request{ProjectPath: t.TempDir()})
					answers <- err
				}()
			}
			apptest.Eventually(t, "both start", func() bool { return w.underway() == 2 })
			leave()
			if deaf {
				close(w.hold)
			}
			for range 2 {
				if err := <-answers; !errors.Is(err, ErrNotWanted) {
					t.Error(err)
				}
			}
			if w.count() != 0 || len(m.List()) != 0 {
				t.Errorf("%d are left, %+v", w.count(), m.List())
			}
		})
	}
}

func TestLimitChanges(t *testing.T) {
	limit := 3
	m := newManager(newWorld(), 0, func(o *Options) { o.Limit = func() int { return limit } })
	dir := t.TempDir()
	for range 3 {
		request(t, m, dir)
	}
	limit = 2
	_, err := m.Request(t.Context(), Request{ProjectPath: dir})
	if err == nil || err.Error() != "the limit of 2 sessions is reached; release one, or set session_limit to more" {
		t.Error(err)
	}
	limit = 4
	request(t, m, dir)
}

// The system tells truly who runs.
func TestRuns(t *testing.T) {
	stat, err := process.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	other := stat.Identity
	other.Start++
	if !runs(stat.Identity) || runs(other) || runs(monitor.Identity{PID: 1 << 22, Start: 1}) {
		t.Error("taken for another")
	}
}
