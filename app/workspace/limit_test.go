package workspace

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// limited is a Manager with room for so many trees.
func (l *lab) limited(n int) *Manager { return l.manager(func(o *Options) { o.Limit = n }) }

func TestLimit(t *testing.T) {
	l := newLab(t)
	m := l.limited(2)
	first := l.create(m, Request{Kind: Temp, Job: "first"})
	l.passes(time.Hour)
	second := l.create(m, Request{Job: "second"})
	begun := 0
	_, err := m.Create(t.Context(), Request{Kind: Temp, Job: "third", Begun: func(Making) { begun++ }}, nil)
	var full *TooMany
	if !errors.As(err, &full) || full.Limit != 2 || len(full.Holders) != 2 || full.Holders[0].ID != first.ID || full.Holders[1].Job != "second" {
		t.Fatalf("%v", err)
	}
	if begun != 0 {
		t.Error("what is refused has begun")
	}
	if full.FreeAt == nil || !full.FreeAt.Equal(first.CreatedAt.Add(usualRetention)) || second.EndsAt != nil {
		t.Errorf("%v", full.FreeAt)
	}
	l.clean(m, 2)
	if got := names(t, m.store.path(locksDir)); len(got) != 3 { // of two and of the store
		t.Errorf("locks: %q", got)
	}
	if w := l.create(l.limited(0), Request{Job: "there is no limit"}); w.State != Ready {
		t.Error(w)
	}

	// What has no tree holds no place.
	for _, state := range []State{Ended, Archived, Removed} {
		l.records(m, 1, func(_ int, r *record) { r.State = state })
	}
	l.create(l.limited(4), Request{Job: "fourth"})
	_, err = l.limited(4).Create(t.Context(), Request{Kind: Temp, Job: "fifth"}, nil)
	if !errors.As(err, &full) || len(full.Holders) != 4 {
		t.Errorf("%v", err)
	}
}

// What a process has left half made holds a place only as long as the process
// lives.
func TestLimitIsNotHeldByTheDead(t *testing.T) {
	l := newLab(t)
	m := l.limited(1)
	m.crash = func(at string) {
		if at == "create: filled" {
			panic(crash{at})
		}
	}
	func() {
		defer func() { _ = recover() }()
		_, err := m.Create(t.Context(), Request{Kind: Temp, Job: "dies"}, nil)
		t.Errorf("it lives: %v", err)
	}()
	m.crash = nil
	_, err := m.Create(t.Context(), Request{Kind: Temp, Job: "inside", Begun: func(Making) {
		// Another one that is being made holds its place.
		m.crash = func(at string) {
			if at != "create: filled" {
				return
			}
			var full *TooMany
			if _, err := l.limited(1).Create(t.Context(), Request{Kind: Temp, Job: "other"}, nil); !errors.As(err, &full) {
				t.Errorf("beside one that is being made: %v", err)
			}
		}
	}}, nil)
	if err != nil {
		t.Error(err)
	}
	l.clean(m, 1)
}

func TestLimitHoldsForAll(t *testing.T) {
	l := newLab(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	made, refused := 0, 0
	for range 12 {
		m := l.limited(5)
		all.Go(func() {
			_, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j"}, nil)
			var full *TooMany
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made++
			case errors.As(err, &full):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made != 5 || refused != 7 {
		t.Errorf("%d made, %d refused", made, refused)
	}
	l.clean(l.manager(nil), 5)
}

func TestWaitForAPlace(t *testing.T) {
	l := newLab(t)
	m := l.limited(1)
	first := l.create(m, Request{Kind: Temp, Job: "first"})
	type made struct {
		w   Workspace
		err error
	}
	done := make(chan made, 1)
	waits := make(chan struct{}, 1)
	go func() {
		w, err := m.Create(t.Context(), Request{Kind: Temp, Job: "second", Wait: true, Begun: func(b Making) {
			if b.Progress.Phase != Waiting {
				t.Errorf("it does not wait: %+v", b)
			}
			waits <- struct{}{}
		}}, nil)
		done <- made{w, err}
	}()
	<-waits
	other := l.limited(1)
	making, err := other.Making()
	if err != nil || len(making) != 1 || making[0].Job != "second" {
		t.Errorf("%+v, %v", making, err)
	}
	if err := other.Touch(t.Context(), first.ID); err != nil { // wakes it for nothing
		t.Error(err)
	}
	select {
	case got := <-done:
		t.Fatalf("it did not wait: %+v", got)
	default:
	}
	if err := other.change(t.Context(), first.ID, func(r *record) error {
		r.State = Removed
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil || got.w.Job != "second" {
		t.Errorf("%+v", got)
	}
}

func TestWaitForAPlaceIsGivenUp(t *testing.T) {
	l := newLab(t)
	m := l.limited(1)
	l.create(m, Request{Job: "first"})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	_, err := m.Create(ctx, Request{Kind: Temp, Job: "second", Wait: true}, func(p Progress) {
		if p.Phase == Waiting {
			cancel(why)
		}
	})
	var full *TooMany
	if !errors.Is(err, why) || !errors.As(err, &full) {
		t.Error(err)
	}
	l.clean(m, 1)
}

// What is due to go makes room for what is asked for.
func TestLimitIsNotHeldByWhatIsDue(t *testing.T) {
	l := newLab(t)
	m := l.limited(1)
	first := l.create(m, Request{Kind: Temp, Job: "first"})
	l.passes(usualRetention + time.Minute)
	second := l.create(m, Request{Kind: Temp, Job: "second"})
	if got := content(t, first.Path); got != nil {
		t.Errorf("the first is there: %q", got)
	}
	if _, err := m.Find(t.Context(), first.ID); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if list, err := m.List(t.Context()); err != nil || len(list) != 1 || list[0].ID != second.ID {
		t.Errorf("%+v, %v", list, err)
	}
}

// What stood against clean-up does not keep its place for ever: who asks looks
// anew, and so does who waits.
func TestLimitIsNotHeldByWhatStoodOnce(t *testing.T) {
	for _, wait := range []bool{false, true} {
		l := newLab(t)
		m := l.limited(1)
		m.Configure(Limits{Limit: 1, PlacePause: time.Millisecond})
		first := l.create(m, Request{Kind: Temp, Job: "first"})
		l.works(first.Path, shell)
		l.passes(usualRetention + time.Minute)
		if _, err := m.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		q := Request{Kind: Temp, Job: "second", Wait: wait, Begun: func(Making) { l.works(first.Path) }}
		if !wait {
			l.works(first.Path)
		}
		if w, err := m.Create(t.Context(), q, nil); err != nil || w.Job != "second" {
			t.Errorf("%+v, %v", w, err)
		}
	}
}

// One who waits gets the place of one that is half made when its maker has ended.
func TestWaitForThePlaceOfTheDead(t *testing.T) {
	l := newLab(t)
	m := l.limited(1)
	m.Configure(Limits{Limit: 1, PlacePause: time.Millisecond})
	half := l.records(m, 1, func(_ int, r *record) {
		r.State, r.Step = Creating, &step{Verb: stepCreate}
	})[0]
	release, err := m.store.hold(t.Context(), half.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Create(t.Context(), Request{Kind: Temp, Job: "second", Wait: true, Begun: func(b Making) {
		if b.Progress.Phase != Waiting {
			t.Errorf("%+v", b)
		}
		release() // it has died
	}}, nil)
	if err != nil {
		t.Error(err)
	}
}

func TestLimitCountsWhatIsRestored(t *testing.T) {
	l := newLab(t)
	m := l.limited(1)
	a := l.create(m, Request{Job: "a"})
	if _, err := m.Archive(t.Context(), a.ID, nil); err != nil {
		t.Fatal(err)
	}
	m.crash = func(at string) {
		if at != "restore: step" {
			return
		}
		var full *TooMany
		if _, err := l.limited(1).Create(t.Context(), Request{Kind: Temp, Job: "b"}, nil); !errors.As(err, &full) {
			t.Errorf("two have one place: %v", err)
		}
	}
	if _, err := m.Restore(t.Context(), a.ID, 0, nil); err != nil {
		t.Error(err)
	}
}
