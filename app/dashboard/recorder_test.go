package dashboard

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor"
)

// source hands out snapshots as monitor/watch does.
type source struct {
	feed monitor.Feed[*monitor.Snapshot]
}

func (s *source) Snapshot() *monitor.Snapshot { return s.feed.Latest() }

func (s *source) Subscribe() (<-chan *monitor.Snapshot, func()) { return s.feed.Subscribe() }

func (s *source) set(pids ...int) { s.feed.Publish(snapshotOf(time.Now(), nil, pids...)) }

// Time stands still in these tests but where they sleep.
func TestEndedExpireByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &source{}
		r := NewRecorder(RecorderOptions{Source: src})
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- r.Serve(ctx) }()
		lists, unsubscribe := r.Subscribe()
		if first := <-lists; len(first) != 0 {
			t.Fatalf("%+v", first)
		}
		synctest.Wait()

		src.set(1, 2, 3)
		synctest.Wait()
		time.Sleep(time.Minute)
		src.set(1, 3)
		if got := pidsOf(<-lists); !slices.Equal(got, []int{2}) {
			t.Fatalf("ended: %v", got)
		}
		time.Sleep(3 * time.Minute)
		src.set(1)
		if got := pidsOf(<-lists); !slices.Equal(got, []int{2, 3}) {
			t.Fatalf("ended: %v", got)
		}
		r.Note(event(monitor.EventEnded, 3, time.Now(), "1 process"))
		if got := <-lists; got[1].Why != "lamplighter ended it: 1 process" {
			t.Fatalf("%+v", got)
		}
		if h, ok := r.History(instance(2).Identity); !ok || len(h.Times) == 0 {
			t.Errorf("%+v", h)
		}
		before := time.Now()
		if got := pidsOf(<-lists); !slices.Equal(got, []int{3}) || time.Since(before) != endedKept-3*time.Minute {
			t.Errorf("after %v: %v", time.Since(before), got)
		}
		if got := pidsOf(<-lists); len(got) != 0 || time.Since(before) != endedKept {
			t.Errorf("after %v: %v", time.Since(before), got)
		}
		if _, ok := r.History(instance(2).Identity); ok {
			t.Error("the history of one that is forgotten is kept")
		}

		// A reader that does not read gets the newest and delays nobody.
		src.set()
		synctest.Wait()
		src.set(1)
		synctest.Wait()
		if got := pidsOf(<-lists); len(got) != 0 {
			t.Errorf("ended: %v", got)
		}
		unsubscribe()
		unsubscribe()
		src.set()
		synctest.Wait()
		select {
		case got := <-lists:
			t.Errorf("told %v after the end", got)
		default:
		}
		if got := pidsOf(r.Ended()); !slices.Equal(got, []int{1}) {
			t.Errorf("ended: %v", got)
		}
		cancel()
		if err := <-served; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}

		// Started again it goes on.
		again, cancelAgain := context.WithCancel(t.Context())
		defer cancelAgain()
		go func() { served <- r.Serve(again) }()
		synctest.Wait()
		time.Sleep(endedKept)
		synctest.Wait()
		if got := r.Ended(); len(got) != 0 {
			t.Errorf("%+v", got)
		}
		cancelAgain()
		<-served
	})
}

// An instance that is known to the source and not recorded yet has a history.
func TestHistoryBeforeTheFirstRecord(t *testing.T) {
	src := &source{}
	r := NewRecorder(RecorderOptions{Source: src, Now: func() time.Time { return noon }})
	if h, ok := r.History(instance(5).Identity); ok {
		t.Errorf("%+v", h)
	}
	src.set(5)
	h, ok := r.History(instance(5).Identity)
	if !ok || !slices.Equal(h.Times, []int64{noon.Unix()}) || *h.RSSBytes[0] != 5 {
		t.Errorf("%+v", h)
	}
	if h, ok := r.History(instance(6).Identity); ok {
		t.Errorf("%+v", h)
	}
}

func TestRecorderUnderLoad(t *testing.T) {
	src := &source{}
	r := NewRecorder(RecorderOptions{Source: src})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { _ = r.Serve(ctx) })
	for n := range 4 {
		running.Go(func() {
			for i := range 200 {
				lists, unsubscribe := r.Subscribe()
				<-lists
				src.set(n, i)
				r.Note(event(monitor.EventStopped, i, time.Now(), ""))
				r.History(instance(i).Identity)
				r.Ended()
				unsubscribe()
			}
			if n == 0 {
				cancel()
			}
		})
	}
	running.Wait()
}
