//go:build real && soak && linux

package endurance

import (
	"testing"
	"time"

	"lamplighter/app/browsertest"
	"lamplighter/app/e2e"
)

// playPage leaves the global dashboard open in a browser, and goes from the
// overview to one server after the other, as somebody does who looks what is wrong.
func (s *soak) playPage(t *testing.T) {
	random := s.rand(3)
	page := browsertest.Start(t).Open(t, e2e.PageAt(s.Page), browsertest.Options{})
	// The browser itself logs an error for each answer that is one: here servers
	// hang, and end while they are asked.
	page.Forgive("the server responded with a status of")
	page.Await(t, "the overview is there", "document.getElementById('main').innerText.length > 0")
	show := func(address string) {
		browsertest.Eval[any](t, page, "void (location.hash = '"+address+"')")
		page.Await(t, "the page shows something", "document.getElementById('main').innerText.length > 0")
		s.ledger.count("views of the page")
	}
	second := func(from, more float64) time.Duration {
		return time.Duration((from + more*random.Float64()) * float64(time.Second))
	}
	for s.pause(second(0.5, 3)) {
		switch ids := s.listed(); {
		case random.IntN(8) == 0:
			page.Hide(t)
			s.pause(second(1, 4))
			page.Show(t)
			s.ledger.count("times the page was hidden")
		case len(ids) == 0 || random.IntN(3) == 0:
			show("#/")
		default:
			section := []string{"", "/logs", "/history"}[random.IntN(3)]
			show("#/" + ids[random.IntN(len(ids))] + section)
		}
		if n := page.Metrics(t)["JSHeapUsedSize"]; s.heap[0] == 0 {
			s.heap[0] = n
		} else {
			s.heap[1] = n
		}
	}
	show("#/")
}
