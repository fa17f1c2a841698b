package daemon

import (
	"errors"
	"slices"
	"testing"

	"lamplighter/app/config"
)

func TestSettingsFaults(t *testing.T) {
	const holds = "the defaults are used until you correct"
	a, b := config.Problem{Line: 3, Text: "wrong"}, config.Problem{Line: 5, Text: "wrong\x1b"}
	for _, c := range []struct {
		err  error
		want []string
	}{
		{errors.New("unreadable"), []string{"settings: unreadable; " + holds + " it"}},
		{&config.FileError{Path: "/c", Problems: []config.Problem{a}}, []string{"settings: /c:3: wrong; " + holds + " it"}},
		{&config.FileError{Path: "/c", Problems: []config.Problem{a, b}}, []string{"settings: /c:3: wrong", "settings: /c:5: wrong; " + holds + " them"}},
		{&config.FileError{Path: "/c", Problems: []config.Problem{a, a, a, a}},
			[]string{"settings: /c:3: wrong", "settings: /c:3: wrong", "settings: /c:3: wrong", "settings: and 1 more; " + holds + " them"}},
	} {
		if got := SettingsFaults("settings", c.err, holds); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
