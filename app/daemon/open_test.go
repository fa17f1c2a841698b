package daemon

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
)

func TestAddressesOfThePage(t *testing.T) {
	const page = "http://127.0.0.1:25282/global-dashboard/"
	for address, want := range map[string]string{
		"": "", page: page, page + "#": page, page + "#token=x": page, page + "#/24284/logs": page + "#/24284/logs",
		page + "#/24284/logs&token=x": page + "#/24284/logs", page + "#/token=y&token=x": page + "#/token=y",
	} {
		if got := WithoutToken(address); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}

// A second start shows it likewise.
func TestSecondStartWithTheTokenByHand(t *testing.T) {
	const bare = "http://127.0.0.1:25282/global-dashboard/"
	for name, test := range map[string]struct {
		address  string
		terminal bool
		want     []string
	}{
		"no token":           {bare, true, []string{"no browser: open " + bare + " yourself"}},
		"a token":            {bare + "#token=ab-c", true, []string{bare + "#token=ab-c\n", "no browser: open the last address above yourself; it is for you alone"}},
		"a token, unwatched": {bare + "#token=ab-c", false, []string{"no browser: the page wants a token here; run lamplighter open in a terminal"}},
	} {
		d := newDesktop(t)
		d.address = test.address
		d.ErrOnScreen = test.terminal
		d.Open = func(string) error { return errors.New("no browser") }
		d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1}})
		if err := d.Run(t.Context()); err != nil {
			t.Error(err)
		}
		apptest.Contains(t, d.err.String(), append(test.want, "it already runs")...)
		if !test.terminal && strings.Contains(d.err.String(), "token=") {
			t.Errorf("%s: said %q", name, d.err.String())
		}
	}
}

// What a second start is told holds for nobody, and is not dropped in silence.
func TestSecondStartWithFlags(t *testing.T) {
	for args, told := range map[string]bool{
		"":                                 false,
		"--config /nope.yml":               true,
		"--web-dashboard-global-port 4711": true,
		"--web-dashboard-global=false":     true,
	} {
		d := newDesktop(t)
		d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1}})
		d.takes(t, args)
		if err := d.Run(t.Context()); err != nil {
			t.Error(err)
		}
		if said := strings.Contains(d.err.String(), "the flags of this start change nothing there"); said != told {
			t.Errorf("%s: said %q", args, d.err.String())
		}
	}
}

func TestBrowserOpensNothingElse(t *testing.T) {
	for address, ok := range map[string]bool{
		"http://127.0.0.1:24282/dashboard/index.html": true, "http://localhost:1/": true, "http://[::1]:1/": true, "http://127.9.9.9/": true,
		"http://127.0.0.1:25282/global-dashboard/#/24284/logs": true, "http://127.0.0.1:25282/global-dashboard/#/7-8&token=ab_c-": true,
		"http://example.org/#http://127.0.0.1/": false, "http://127.0.0.1:1@example.org/#token=x": false,
		"": false, "--help": false, "file:///etc/passwd": false, "https://example.org/": false, "http://example.org/": false,
		"http://localhost.example.org/": false, "javascript:alert(1)": false, "http://127.0.0.1:x/": false, "http://10.0.0.1/": false,
	} {
		launched := 0
		err := Browser{launch: func(string) error { launched++; return nil }}.Open(address)
		if (err == nil) != ok || (launched == 1) != ok {
			t.Errorf("%q: %v, launched %d times", address, err, launched)
		}
		if err != nil && strings.Contains(err.Error(), "token") {
			t.Errorf("%q: %v", address, err)
		}
	}
	failing := Browser{launch: func(string) error { return fs.ErrNotExist }}
	if err := failing.Open("http://127.0.0.1/"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
