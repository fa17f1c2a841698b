package share

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/launch"
	"lamplighter/monitor"
)

// Ten clients have one server; it is parked when nobody asks, and the next request
// brings another one. What is shown says so.
func TestOneServerForAll(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		if len(b.Shared()) != 0 {
			t.Error("something is shared")
		}
		var members []*Client
		for range 10 {
			members = append(members, b.Attach(plan("a"), claude))
		}
		if s := one(t, b); w.launched != 0 || !s.Parked || s.Reason != "" || s.Server.PID != 0 {
			t.Errorf("%d servers run before the first request: %+v", w.launched, s)
		}
		first := request(t, members[0])
		for _, m := range members {
			if s := request(t, m); s.URL != first.URL {
				t.Errorf("another server: %+v", s)
			}
			if id := m.serverID(); id != "101-1" {
				t.Errorf("%q runs", id)
			}
		}
		after(time.Second)
		if s := w.views(); len(s) != 1 || len(s[0].Clients) != 10 || s[0].Parked || s[0].Server.PID != 101 || s[0].Waiting != 0 {
			t.Errorf("shown: %+v", s)
		}
		after(defaultIdle)
		s := one(t, b)
		if w.count() != 0 || !s.Parked || s.Reason != "no request for 30 min" || s.Server.PID != 101 || len(s.Clients) != 10 {
			t.Errorf("after its time: %+v", s)
		}
		select {
		case <-first.Gone:
			if why := first.Why(); why != "no request for 30 min" {
				t.Error(why)
			}
		default:
			t.Error("the server has gone, and nobody is told")
		}
		if members[3].serverID() != "" {
			t.Error("it still runs")
		}
		second := request(t, members[5])
		if second.URL == first.URL || w.launched != 2 {
			t.Errorf("no other server: %+v", second)
		}
		if got := w.kinds(); got != "parked woken" || w.told[0].Label != "parked - a" || w.told[1].Label != "102 - a" || w.told[0].PID != 101 || w.told[1].PID != 102 {
			t.Errorf("%q, %+v", got, w.told)
		}
	})
}

// A server without clients stays for a while, and comes back to who comes.
func TestLingers(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		first := request(t, m)
		after(9 * time.Minute)
		m.Detach()
		m.Detach()
		m.Began()()
		after(9 * time.Minute)
		if len(b.Shared()) == 0 || w.count() != 1 {
			t.Error("it does not linger")
		}
		m = b.Attach(plan("a"), claude)
		if request(t, m).URL != first.URL {
			t.Error("another server")
		}
		m.Detach()
		after(mostUnused)
		if w.count() != 0 || len(b.Shared()) != 0 || w.kinds() != "" {
			t.Errorf("after its time: %+v, %s", b.Shared(), w.kinds())
		}
		if _, err := m.Acquire(t.Context()); !errors.Is(err, errLeft) {
			t.Error(err)
		}
	})
}

// A start that was refused, because the project was not there, is tried again with
// each request, whatever number of them there was.
func TestStartsWhenTheProjectIsBack(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		w.change(func() { w.broken = &launch.StartError{Server: monitor.KindSerena, Err: launch.ErrNoProject} })
		for range 2 * mostCrashes {
			if err := refused(t, m); !errors.Is(err, launch.ErrNoProject) {
				t.Fatal(err)
			}
		}
		w.change(func() { w.broken = nil })
		request(t, m)
	})
}

// Everybody who waits for a start has the same one, or learns why there is none;
// and it goes on when nobody waits.
func TestStarts(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		hold := make(chan struct{})
		w.hold, w.broken = hold, broken("it does not work")
		var members []*Client
		answers := make(chan error, 5)
		for range 5 {
			m := b.Attach(plan("a"), claude)
			members = append(members, m)
			go func() {
				_, err := m.Acquire(context.Background())
				answers <- err
			}()
		}
		synctest.Wait()
		if s := one(t, b); w.starting != 1 || s.Reason != "" || s.Parked || !s.Starting {
			t.Errorf("%d start: %+v", w.starting, b.Shared())
		}
		close(hold)
		for range 5 {
			if err := <-answers; err == nil || !strings.Contains(err.Error(), "it does not work") {
				t.Error(err)
			}
		}
		if s := one(t, b); !s.Parked || s.Reason != "it could not be started: it does not work" {
			t.Errorf("%+v", s)
		}

		w.change(func() { w.hold, w.broken = make(chan struct{}), nil })
		ctx, leave := context.WithCancel(context.Background())
		go func() {
			_, err := members[0].Acquire(ctx)
			answers <- err
		}()
		synctest.Wait()
		leave()
		if err := <-answers; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		for _, m := range members {
			m.Detach()
		}
		if s := one(t, b); !s.Starting {
			t.Error("nothing is shared while a server starts")
		}
		close(w.hold)
		after(9 * time.Minute)
		if w.count() != 1 {
			t.Error("nobody has waited, and it is lost")
		}
		after(time.Minute)
		if len(b.Shared()) != 0 || w.count() != 0 {
			t.Error("it stays for ever")
		}
	})
}

// Answers of a server are used while it does not run, as long as the settings are
// the same.
func TestCached(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		p, settings := plan("a"), "one"
		p.Fingerprint = func() string { return settings }
		m := b.Attach(p, claude)
		request(t, m)
		answer := []byte(`{"tools":[]}`)
		m.Store("tools/list", "u", answer)
		answer[0] = 'X'
		if _, ok := m.Cached("tools/list", "u"); ok {
			t.Error("it runs")
		}
		after(defaultIdle)
		if got, ok := m.Cached("tools/list", "u"); !ok || string(got) != `{"tools":[]}` {
			t.Errorf("%s, %v", got, ok)
		}
		if _, ok := m.Cached("tools/list", "other"); ok {
			t.Error("under something else")
		}
		settings = "two"
		if _, ok := m.Cached("tools/list", "u"); ok {
			t.Error("the settings have changed")
		}
		settings = "one"
		request(t, m)
		m.Forget()
		m.Store("tools/list", "u", []byte("{}"))
		after(defaultIdle)
		if _, ok := m.Cached("tools/list", "u"); ok {
			t.Error("what it says is not what the settings say")
		}
		// Also when all have left.
		request(t, m)
		m.Store("tools/list", "u", []byte("{}"))
		m.Detach()
		after(defaultIdle)
		if _, ok := b.Attach(p, claude).Cached("tools/list", "u"); !ok {
			t.Error("it was forgotten")
		}
	})
}

func TestAlone(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		ran, detach := b.AttachUnshared(claude, "its context codex can change the project", Request{Dir: "/work/a"})
		ran(monitor.Identity{PID: 5, Start: 6})
		after(time.Second)
		if s := w.views(); len(s) != 1 || s[0].Alone == "" || s[0].Server.PID != 5 || s[0].Clients[0] != claude || s[0].Key != "" || s[0].Parked {
			t.Errorf("%+v", s)
		}
		detach()
		detach()
		if len(b.Shared()) != 0 {
			t.Error("it stays")
		}
	})
}

func TestNames(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), monitor.Client{Identity: claude.Identity})
		m.Name(monitor.Client{Name: "codex"})
		if c := one(t, b).Clients[0]; c.PID != claude.PID || c.Name != "codex" {
			t.Errorf("%+v", c)
		}
	})
}

// Groups that nobody needs are forgotten at some time.
func TestForgetsGroups(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		for _, key := range manyNames(200) {
			b.Attach(plan(key), claude).Detach()
		}
		if len(b.groups) > mostIdle+1 {
			t.Errorf("%d groups", len(b.groups))
		}
	})
}
