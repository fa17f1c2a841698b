package workspace

import (
	"testing"
	"time"
)

func TestWhoHoldsThePlaces(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	soon := at.Add(3 * time.Hour)
	holders := func(n int) []Workspace {
		var list []Workspace
		for range n {
			list = append(list, Workspace{Name: "alpha-fix-1a2b3c4d"})
		}
		return list
	}
	for _, test := range []struct {
		e    TooMany
		want string
	}{
		{TooMany{Holders: holders(1), FreeAt: &soon}, "they are held by alpha-fix-1a2b3c4d; one is due to be free in 3 h"},
		{TooMany{Holders: holders(2)}, "they are held by alpha-fix-1a2b3c4d, alpha-fix-1a2b3c4d; none of them has an end that is known"},
		{TooMany{Holders: holders(7)[:6], FreeAt: &at}, "they are held by alpha-fix-1a2b3c4d, alpha-fix-1a2b3c4d, alpha-fix-1a2b3c4d, alpha-fix-1a2b3c4d, alpha-fix-1a2b3c4d, and 1 more; one is due to be free now"},
		{TooMany{FreeAt: &soon}, "one is due to be free in 3 h"},
	} {
		if got := test.e.Held(at); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
