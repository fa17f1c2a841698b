package notify

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 11, 21, 14, 2, 0, 0, time.UTC)

func TestOldNotificationsAreDropped(t *testing.T) {
	q := newQueue()
	q.show(Notification{ID: "a"}, start)
	q.withdraw("b")
	q.show(Notification{ID: "c"}, start.Add(maxAge))
	for _, want := range []string{"b", "c"} {
		if e, ok := q.next(start.Add(maxAge + 1)); !ok || e.ID != want {
			t.Errorf("%+v, want %s", e, want)
		}
	}
}

// The queue against a list of what is the newest about each subject.
func TestQueueHoldsTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueue()
		var model []entry // the oldest subject first
		var out []entry   // taken out and not put back
		at := func(id string) int { return slices.IndexFunc(model, func(e entry) bool { return e.ID == id }) }
		put := func(e entry) {
			if i := at(e.ID); i >= 0 {
				model[i] = e
				return
			}
			if model = append(model, e); len(model) > maxWaiting {
				model = model[1:]
			}
		}
		woken := func(t *rapid.T) {
			select {
			case <-q.wake:
			default:
				t.Fatal("nobody is woken")
			}
		}
		id := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.IntRange(0, maxWaiting+4).Draw(t, "id")) })
		t.Repeat(map[string]func(*rapid.T){
			"show": func(t *rapid.T) {
				e := entry{Notification: Notification{ID: id.Draw(t, "id"), Summary: rapid.String().Draw(t, "summary")}, since: start}
				q.show(e.Notification, start)
				put(e)
				woken(t)
			},
			"fill": func(t *rapid.T) {
				for i := range maxWaiting + 2 {
					e := entry{Notification: Notification{ID: fmt.Sprint(i)}, since: start}
					q.show(e.Notification, start)
					put(e)
				}
				woken(t)
			},
			"withdraw": func(t *rapid.T) {
				e := entry{Notification: Notification{ID: id.Draw(t, "id")}, withdraw: true}
				q.withdraw(e.ID)
				put(e)
				woken(t)
			},
			"next": func(t *rapid.T) {
				e, ok := q.next(start)
				if ok != (len(model) > 0) || ok && (e.ID != model[0].ID || e.Summary != model[0].Summary || e.withdraw != model[0].withdraw) {
					t.Fatalf("%+v, want the first of %+v", e, model)
				}
				if ok {
					model, out = model[1:], append(out, e)
				}
			},
			"back": func(t *rapid.T) {
				if len(out) == 0 {
					return
				}
				e := out[len(out)-1]
				out = out[:len(out)-1]
				q.back(e)
				if at(e.ID) < 0 && len(model) < maxWaiting {
					model = slices.Insert(slices.Clone(model), 0, e)
				}
			},
			"": func(t *rapid.T) {
				if len(q.entries) != len(model) || len(model) > maxWaiting {
					t.Fatalf("%d wait, want %d", len(q.entries), len(model))
				}
			},
		})
	})
}
