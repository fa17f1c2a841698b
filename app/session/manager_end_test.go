package session

import (
	"context"
	"errors"
	"testing"

	"lamplighter/app/apptest"
)

// The manager ends while servers start, run and are being ended.
func TestManagerEnds(t *testing.T) {
	for name, deaf := range map[string]bool{"starts notice": false, "starts do not": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			m := newManager(w, 10, nil)
			end := serve(t, m)
			dir := t.TempDir()
			running, ending, stubborn := request(t, m, dir), request(t, m, dir), request(t, m, dir)
			hold := make(chan struct{})
			first, third := w.by(ending.ID), w.by(stubborn.ID)
			first.change(func() { first.hold = hold })
			third.change(func() { third.stubborn = true })
			released := make(chan error, 1)
			go func() {
				status, err := m.Release(t.Context(), ending.ID, "a test")
				if status != Terminated {
					err = errors.Join(err, errors.New(string(status)))
				}
				released <- err
			}()
			w.hold, w.deaf = make(chan struct{}), deaf
			answers := make(chan error, 2)
			for range 2 {
				go func() {
					_, err := m.Request(t.Context(), Request{ProjectPath: dir})
					answers <- err
				}()
			}
			apptest.Eventually(t, "all is under way", func() bool { return len(m.List()) == 5 && w.underway() == 2 && m.state(ending.ID) == StateEnding })
			go func() {
				apptest.Eventually(t, "it has begun to end", func() bool {
					m.mu.Lock()
					defer m.mu.Unlock()
					return m.closed
				})
				if _, err := m.Request(context.Background(), Request{ProjectPath: dir}); !errors.Is(err, ErrEnding) {
					t.Error(err)
				}
				close(hold)
				if deaf {
					close(w.hold)
				}
			}()
			end()
			if err := <-released; err != nil {
				t.Error(err)
			}
			for range 2 {
				if err := <-answers; !errors.Is(err, ErrEnding) {
					t.Error(err)
				}
			}
			release(t, m, running.ID, "", ErrUnknown)
			release(t, m, stubborn.ID, "", ErrEnding)
			if list := m.List(); len(list) != 1 || list[0].ID != stubborn.ID || w.count() != 1 {
				t.Errorf("%+v are left, %d run", list, w.count())
			}
			third.dies()
			release(t, m, stubborn.ID, AlreadyGone, nil)
		})
	}
}
