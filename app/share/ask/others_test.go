package ask

import (
	"errors"
	"strings"
	"testing"
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

// TestOthersAreAskedOnce when many clients come together.
func TestOthersAreAskedOnce(t *testing.T) {
	asked := 0
	a := asker(func(o *Options) { o.OthersLoggedIn = func() ([]string, error) { asked++; return nil, nil } })
	for range 10 {
		if why, err := a.othersSee(t.Context()); why != "" || err != nil {
			t.Error(why, err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
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
