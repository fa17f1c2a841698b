package share

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestOthersInWords(t *testing.T) {
	for _, test := range []struct {
		others others
		want   string
	}{
		{others{}, ""},
		{others{names: []string{"bob"}}, "another user is logged in, bob, and could use what is shared (share_with_other_users allows it)"},
		{others{names: []string{"al", "bob"}}, "other users are logged in, al, bob, and could"},
		{others{names: []string{"al", "bob", "cy", "di"}}, "4 other users are logged in, al, bob, cy and others, and could"},
		{others{names: []string{"\x1b[2J" + strings.Repeat("x", 99)}}, "another user"},
		{others{err: errors.New("no")}, "it is not known whether other users are logged in"},
		{others{names: []string{"bob"}, err: errors.New("no")}, "another user is logged in, bob"},
	} {
		got := othersInWords(test.others)
		if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") || strings.Contains(got, "\x1b") || len(got) > 200 {
			t.Errorf("%+v: %q", test.others, got)
		}
	}
}

// TestOthersAreAskedOnce when many clients come together, and again later.
func TestOthersAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		a := asker(func(o *PlannerOptions) {
			o.OthersLoggedIn = func() ([]string, error) { asked.Add(1); time.Sleep(time.Second); return []string{"bob"}, nil }
		})
		for _, want := range []int32{1, 2} {
			var all sync.WaitGroup
			for range 200 {
				all.Go(func() {
					if why, err := a.othersSee(t.Context()); !strings.Contains(why, "bob") || err != nil {
						t.Error(why, err)
					}
				})
			}
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := a.othersSee(gone); !errors.Is(err, context.Canceled) {
				t.Error("one who has gone", err)
			}
			all.Wait()
			if n := asked.Load(); n != want {
				t.Errorf("asked %d times, want %d", n, want)
			}
			time.Sleep(othersFor)
		}
	})
}

// TestLoggedIn asks this machine: whoever is here, we are not another user.
func TestLoggedIn(t *testing.T) {
	names, err := LoggedIn()
	if err != nil {
		t.Error(err)
	}
	for _, name := range names {
		if name == "" || name == "root" {
			t.Errorf("%q", names)
		}
	}
}

// Whoever logs in later than a client counts as well, unless it is allowed.
func TestForbids(t *testing.T) {
	var here []string
	allowed := false
	a := asker(func(o *PlannerOptions) {
		o.OthersLoggedIn = func() ([]string, error) { return here, nil }
		o.Allowed = func() bool { return allowed }
	})
	if why := a.Forbids(t.Context()); why != "" {
		t.Error(why)
	}
	here, a.others = []string{"bob"}, others{} // a while later
	if why := a.Forbids(t.Context()); !strings.Contains(why, "bob") {
		t.Error(why)
	}
	if allowed = true; a.Forbids(t.Context()) != "" {
		t.Error("it is allowed")
	}
}
