package launch

import (
	"strings"
	"testing"

	"lamplighter/monitor"
)

func TestCommandLinesOfKeepers(t *testing.T) {
	for line, want := range map[string]bool{
		"lamplighter-connect keep --lifetime session --dir /state/servers/" + someID + " --alive /a -- /bin/x": true,
		"lamplighter-connect keep --dir /state/servers/" + someID + "0 -- /bin/x":                              false,
		"lamplighter-connect keep --alive /" + someID + " -- /bin/x":                                           false,
		"lamplighter-connect keep -- --dir /" + someID:                                                         false,
		"lamplighter-connect keep --dir":                                                                       false,
		"ls --dir /" + someID:                                                                                  false,
		"":                                                                                                     false,
	} {
		if got := keeps(strings.Fields(line), someID); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// TestKeepersAreFound also where there is no record of them yet.
func TestKeepersAreFound(t *testing.T) {
	l, _ := running(t, t.TempDir(), nil)
	s, err := l.Launch(t.Context(), order())
	if err != nil {
		t.Fatal(err)
	}
	if id, err := keeperOf(s.ID()); err != nil || id != s.ids.keeper {
		t.Errorf("%v, %v, not %v", id, err, s.ids.keeper)
	}
	if id, err := keeperOf(someID); err != nil || id != (monitor.Identity{}) {
		t.Errorf("%v, %v", id, err)
	}
	if ids, err := l.proven(s.ID(), s.ids); err != nil || ids != s.ids {
		t.Errorf("%+v, %v, not %+v", ids, err, s.ids)
	}
	if ids, err := l.proven(someID, s.ids); err != nil || ids != (identities{}) {
		t.Errorf("%+v, %v", ids, err)
	}
}
