package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lamplighter/app/api"
	"lamplighter/app/setup"
)

func TestUsualShareSockets(t *testing.T) {
	for _, test := range []struct {
		goos, home string
		want       []string
	}{
		{"linux", "/home/me", []string{"/run/user/7/lamplighter/share.sock", "/home/me/.local/state/lamplighter/run/share.sock"}},
		{"linux", "", []string{"/run/user/7/lamplighter/share.sock"}},
		{"darwin", "/Users/me", []string{"/Users/me/Library/Application Support/lamplighter/run/share.sock"}},
		{"windows", `C:\Users\me`, []string{"pipe"}},
	} {
		got := usualShareSockets(test.goos, test.home, 7, "pipe")
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s, %q: %q", test.goos, test.home, got)
		}
	}
}

func TestNamedSocket(t *testing.T) {
	at := func(path string) string { // on Windows, of some drive
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	usual := []string{at("/run/user/7/s"), at("/home/me/s")}
	for name, test := range map[string]struct {
		share string
		there []string
		want  string
	}{
		"the session's":                          {usual[0], nil, ""},
		"that of the state":                      {usual[1], usual, ""},
		"written otherwise":                      {usual[0] + "/../s", nil, ""},
		"elsewhere":                              {at("/x/s"), nil, at("/x/s")},
		"elsewhere, and there":                   {at("/x/s"), append(usual, at("/x/s")), at("/x/s")},
		"not there, but at a usual place":        {at("/run/user/7/snap.code/s"), usual[:1], ""},
		"a relative one is nobody's":             {"s", nil, ""},
		"none, as there is no home for it":       {"", nil, ""},
		"elsewhere, and something else is there": {at("/x/s"), []string{at("/y/s")}, at("/x/s")},
	} {
		if got := namedSocket(test.share, usual, func(path string) bool { return slices.Contains(test.there, path) }); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := namedSocket(at("/x/s"), nil, func(string) bool { return false }); got != at("/x/s") {
		t.Errorf("without a usual place: %q", got)
	}
}

// The page names the socket that the verb and the doctor name, too.
func TestSetupIsToldTheSocket(t *testing.T) {
	d := newDesktop(t)
	d.Base.Home = t.TempDir()
	// It is named, so that it counts though only another one is there by now.
	want := filepath.Join(d.Base.Home, "away.sock")
	left := filepath.Join(d.Base.Home, ".local", "state", "lamplighter", "run", "share.sock")
	if err := errors.Join(os.MkdirAll(filepath.Dir(left), 0o700), os.WriteFile(left, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	d.Getenv = func(name string) string {
		if name == "LAMPLIGHTER_SOCKET" {
			return want
		}
		return ""
	}
	var asked []string
	d.Setup = func(o setup.Options) api.Setup {
		asked = append(asked, o.Socket)
		return setup.New(o)
	}
	clientSettings{program: d.Program}.part()
	if !slices.Equal(asked, []string{want}) {
		t.Errorf("%q", asked)
	}
}
