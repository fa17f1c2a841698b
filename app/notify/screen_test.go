package notify

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// The screen against the numbers and subjects that were last put together.
func TestScreenKnowsWhatIsAboutWhat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s screen
		about := map[uint32]string{} // what a number is about
		forget := func(id uint32) { delete(about, id) }
		number := rapid.Uint32Range(1, 12)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				id, subject := number.Draw(t, "id"), fmt.Sprint(rapid.IntRange(0, 8).Draw(t, "subject"))
				for other, of := range about {
					if of == subject {
						forget(other)
					}
				}
				about[id] = subject
				s.put(card{id: id, subject: subject, keys: []string{"keep"}})
			},
			"forget": func(t *rapid.T) {
				id := number.Draw(t, "id")
				forget(id)
				s.forget(id)
			},
			"choose": func(t *rapid.T) {
				id, key := number.Draw(t, "id"), rapid.SampledFrom([]string{"keep", "stop"}).Draw(t, "key")
				want, known := about[id]
				c, ours := s.choose(id, key)
				subject := c.subject
				if ours != (known && key == "keep") || ours && subject != want {
					t.Fatalf("%d %s: %q %v, want %q", id, key, subject, ours, want)
				}
				if ours {
					forget(id)
				}
			},
			"": func(t *rapid.T) {
				if len(s.cards) != len(about) || len(s.withButtons()) != len(about) {
					t.Fatalf("%+v, want %v", s.cards, about)
				}
				for id, subject := range about {
					if s.of(subject) != id {
						t.Fatalf("%s is %d, want %d", subject, s.of(subject), id)
					}
				}
			},
		})
	})
}

func TestScreenIsBounded(t *testing.T) {
	var s screen
	for i := range uint32(2 * maxCards) {
		s.put(card{id: i + 1, subject: fmt.Sprint(i)})
	}
	if len(s.cards) != maxCards || s.of("0") != 0 || s.of(fmt.Sprint(2*maxCards-1)) != 2*maxCards || len(s.withButtons()) != 0 {
		t.Errorf("%d, %+v", len(s.cards), s.cards)
	}
}
