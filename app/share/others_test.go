package share

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestOthersInWords(t *testing.T) {
	for _, test := range []struct {
		names []string
		err   error
		want  string
	}{
		{nil, nil, ""},
		{[]string{"bob"}, nil, "1 other user is logged in, bob, who could use what is shared (share_with_other_users allows it)"},
		{[]string{"al", "bob"}, nil, "2 other users are logged in, al, bob, who could"},
		{[]string{"\x1b[2J" + strings.Repeat("x", 99)}, nil, "1 other user"},
		{nil, errors.New("no"), "it is not known whether other users are logged in"},
		{[]string{"bob"}, errors.New("no"), "1 other user is logged in, bob"},
	} {
		got := othersInWords(test.names, test.err)
		if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") || strings.Contains(got, "\x1b") || len(got) > 200 {
			t.Errorf("%q, %v: %q", test.names, test.err, got)
		}
	}
}

// TestOthersAreAskedOnce when many clients come together, and again later: whoever
// logs in later counts as well, unless it is allowed.
func TestOthersAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, allowed := 0, false
		var here []string
		a := asker(func(o *PlannerOptions) {
			o.OthersLoggedIn = func() ([]string, error) {
				asked++
				time.Sleep(lookTime / 2) // of the bubble
				return here, nil
			}
			o.Allowed = func() bool { return allowed }
		})
		for want, name := range []string{"", "bob"} {
			var all sync.WaitGroup
			for range 200 {
				all.Go(func() {
					if why := a.Forbids(t.Context()); !strings.Contains(why, name) || (why == "") != (name == "") {
						t.Error(why)
					}
				})
			}
			all.Wait()
			if asked != want+1 {
				t.Errorf("asked %d times, want %d", asked, want+1)
			}
			here = []string{"bob"}
			time.Sleep(othersFor)
		}
		if allowed = true; a.Forbids(t.Context()) != "" {
			t.Error("it is allowed")
		}
	})
}

// Who does not say who is here holds up nobody, and then it is not known.
func TestOthersThatCannotBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		defer close(goOn)
		a := asker(func(o *PlannerOptions) { o.OthersLoggedIn = func() ([]string, error) { <-goOn; return nil, nil } })
		for _, limit := range []time.Duration{lookTime, 0} { // the second one does not wait again
			began := time.Now()
			if why := a.Forbids(t.Context()); !strings.HasPrefix(why, "it is not known") || time.Since(began) != limit {
				t.Errorf("%q after %v", why, time.Since(began))
			}
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

// Whose paths mean nothing here has a server of its own, where it is.
func TestElsewhere(t *testing.T) {
	m := newMachine(t)
	repo := m.repo("alpha")
	for _, test := range []struct {
		who  string
		r    Request
		want string
	}{
		{"who sees what we see", Request{PID: os.Getpid()}, ""},
		{"where the system does not tell", Request{}, ""},
		{"who has gone", Request{PID: 1 << 30}, ""},
		{"who is not ours to see", Request{Outside: true}, "it runs outside of the container that lamplighter is in"},
	} {
		test.r.Dir, test.r.Command = m.path("gone"), strings.Fields("serena start-mcp-server --project "+repo)
		test.r.Env = m.env
		if p := planned(t, asker(nil), test.r); p.Alone != test.want {
			t.Errorf("%s: %q", test.who, p.Alone)
		}
	}
}
