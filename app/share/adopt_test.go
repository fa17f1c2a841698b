package share

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor"
)

// What an earlier run has left is had by who comes back, and ended when nobody
// does. Nothing is started before it is known.
func TestAdopts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.inherited = make(chan struct{})
		b := New(w.options())
		defer served(t, b)()
		has := map[string]chan string{"a": make(chan string, 1), "b": make(chan string, 1)}
		for key, url := range has {
			go func() { url <- request(t, b.Attach(plan(key), claude)).URL }()
		}
		after(time.Second)
		if w.launched != 0 || len(has["a"])+len(has["b"]) != 0 {
			t.Error("a server was started before it is known what runs")
		}
		adopted := w.run("a")
		if url := <-has["a"]; url != adopted.MCPURL() {
			t.Errorf("another server: %s", url)
		}
		after(time.Second)
		w.run("c")
		if len(has["b"]) != 0 {
			t.Error("a server was started before it is known what runs")
		}
		close(w.inherited)
		<-has["b"]
		after(time.Second)
		if list := b.Shared(); w.launched != 1 || len(list) != 3 || len(list[2].Clients) != 0 || list[2].Project != "/work/c" || list[2].Kind != monitor.KindSerena {
			t.Errorf("%+v", list)
		}
		after(defaultIdle)
		if w.count() != 0 || len(b.Shared()) != 2 {
			t.Errorf("%d run: %+v", w.count(), b.Shared())
		}
	})
}

// Two of one key, and one of no key, are ended; the first one is had.
func TestAdoptsTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		first, second, none := w.run("a"), w.run("a"), w.run("")
		b := New(w.options())
		defer served(t, b)()
		m := b.Attach(plan("a"), claude)
		m.Began()
		after(time.Second)
		if m.serverID() != first.ID() {
			t.Error("it has another server")
		}
		after(defaultIdle)
		if w.the(t) != first {
			t.Error("the wrong ones were ended")
		}
		<-second.Done()
		<-none.Done()
	})
}

// A launcher that never finishes its look keeps servers from being started, and
// that is said.
func TestNotSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.inherited = make(chan struct{})
		b := New(w.options())
		defer served(t, b)()
		m := b.Attach(plan("a"), claude)
		if err := refused(t, m); !errors.Is(err, errNotSettled) || w.launched != 0 {
			t.Error(err)
		}
	})
}

// At the end of the program servers go on, for the next one; what starts is given
// up, and who waits is told.
func TestTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		b := New(w.options())
		end := served(t, b)
		m, other := b.Attach(plan("a"), claude), b.Attach(plan("b"), claude)
		s := request(t, m)
		w.hold = make(chan struct{})
		waits := make(chan error, 1)
		go func() {
			_, err := other.Acquire(context.Background())
			waits <- err
		}()
		synctest.Wait()
		end()
		if err := <-waits; !errors.Is(err, errEnding) {
			t.Error(err)
		}
		if err := refused(t, m); !errors.Is(err, errEnding) {
			t.Error(err)
		}
		select {
		case <-s.Gone:
			t.Error("its server has ended")
		default:
		}
		m.Detach()
		w.the(t)
		before := len(b.Shared())
		b.Adopt(w.add("c")) // whose launcher ends at the same time
		if synctest.Wait(); len(b.Shared()) != before {
			t.Errorf("one was taken over: %+v", b.Shared())
		}
	})
}

// When the user ends lamplighter all is ended, also what works.
func TestParkAll(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		for _, key := range []string{"a", "b"} {
			m := b.Attach(plan(key), claude)
			request(t, m)
			m.Began()
		}
		w.hold = make(chan struct{})
		go func() {
			_, err := b.Attach(plan("c"), claude).Acquire(context.Background())
			if !errors.Is(err, errEnding) {
				t.Error(err)
			}
		}()
		synctest.Wait()
		b.ParkAll(t.Context())
		synctest.Wait()
		if w.count() != 0 || w.starting != 0 {
			t.Errorf("%d run, %d start", w.count(), w.starting)
		}
		if list := b.Shared(); list[0].Reason != "lamplighter was ended" {
			t.Errorf("%+v", list)
		}
	})
}

// What an earlier run has left ends as well when the user ends lamplighter before
// it is found.
func TestParkAllBeforeItIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.inherited = make(chan struct{})
		w.run("a")
		b := New(w.options())
		defer served(t, b)()
		ended := make(chan struct{})
		go func() {
			b.ParkAll(context.Background())
			close(ended)
		}()
		after(time.Second)
		w.run("b")
		close(w.inherited)
		<-ended
		if w.count() != 0 {
			t.Errorf("%d servers go on", w.count())
		}
	})
}
