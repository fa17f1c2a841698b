package cli

import (
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

func TestOpen(t *testing.T) {
	red := serenaAt(4, 24285, "broken")
	red.State, red.Cause, red.Reason = monitor.StateZombie, monitor.CauseUnreachable, "it hangs"
	bare := serenaAt(5, 0, "bare")
	bare.DashboardURL = ""
	left := serenaAt(7, 24286, "left")
	left.DashboardURL, left.State, left.Cause, left.Reason = "", monitor.StateZombie, monitor.CauseDefunct, "it has exited"
	file := serenaAt(6, 0, "file")
	file.DashboardURL = "file:///etc/passwd"
	list := []monitor.Instance{serenaAt(1, 24282, "alpha"), serenaAt(2, 24283, "beta"), serenaAt(3, 24284, "beta"), red, bare, file, left}
	for i := range list[:4] {
		list[i].DashboardURL = "http://127.0.0.1:2428" + string(rune('2'+i)) + "/"
	}
	for _, test := range []struct {
		what        string
		want        int
		opened, err string
	}{
		{"alpha", 0, "http://127.0.0.1:24282/", ""},
		{"24283", 0, "http://127.0.0.1:24283/", ""},
		{"3", 0, "http://127.0.0.1:24284/", ""},
		{"3-30", 0, "http://127.0.0.1:24284/", ""},
		{"beta", 1, "", `2 servers are "beta": 24283 - beta (pid 2), 24284 - beta (pid 3); choose one by its pid`},
		{"broken", 0, "http://127.0.0.1:24285/", "24285 - broken may not answer: unreachable: it hangs"},
		{"bare", 1, "", "pid 5 - bare has no dashboard (live)"},
		{"left", 1, "", "24286 - left has no dashboard (defunct: it has exited)"},
	} {
		d := newDesktop(t, append([]monitor.Instance{}, list...)...)
		got := d.runs(t, "open", test.what)
		if got != test.want || strings.Join(d.opened, " ") != test.opened || !strings.Contains(d.err.String(), test.err) {
			t.Errorf("open %s: %d, opened %q, said %q", test.what, got, d.opened, d.err.String())
		}
		if want := strings.TrimSpace(d.out.String()); want != test.opened {
			t.Errorf("open %s printed %q", test.what, want)
		}
	}
}

// Without a word of which it is the global one, and what has none of its own
// is shown there.
func TestOpenGlobal(t *testing.T) {
	bare := serenaAt(5, 0, "bare")
	bare.DashboardURL = ""
	own := serenaAt(9, 24283, "alpha")
	own.DashboardURL = "http://127.0.0.1:24283/"
	const page = "http://127.0.0.1:25282/global-dashboard/"
	for _, test := range []struct {
		name, address, args string
		want                int
		opened, printed     string
	}{
		{"served", page, "", 0, page, page},
		{"served, a token is needed", page + "#token=ab-c", "", 0, page + "#token=ab-c", page},
		{"its own", page, "alpha", 0, own.DashboardURL, own.DashboardURL},
		{"none of its own", page, "bare", 0, page + "#/5-50", page + "#/5-50"},
		{"none of its own, a token is needed", page + "#token=ab-c", "bare", 0, page + "#/5-50&token=ab-c", page + "#/5-50"},
		{"not served", "", "", 0, own.DashboardURL, own.DashboardURL},
		{"not served, none of its own", "", "bare", 1, "", ""},
		{"unknown", page, "nosuch", 1, "", ""},
	} {
		d := newDesktop(t)
		d.address = test.address
		d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1, Instances: []monitor.Instance{own, bare}}})
		got := d.runs(t, append([]string{"open"}, strings.Fields(test.args)...)...)
		if got != test.want || strings.Join(d.opened, " ") != test.opened || strings.TrimSpace(d.out.String()) != test.printed {
			t.Errorf("%s: %d, opened %q, printed %q", test.name, got, d.opened, d.out.String())
		}
		if strings.Contains(d.out.String()+d.err.String(), "token") {
			t.Errorf("%s: the token is shown: %s%s", test.name, d.out.String(), d.err.String())
		}
	}
}

// The control socket answers before the port does.
func TestOpenWaitsForThePage(t *testing.T) {
	const page = "http://127.0.0.1:25282/global-dashboard/"
	own := serenaAt(9, 24283, "alpha")
	for name, test := range map[string]struct {
		looks  int // before it is served; more than it waits for: never
		opened string
	}{
		"at once": {0, page},
		"late":    {5, page},
		"never":   {1000, own.DashboardURL},
	} {
		d := newDesktop(t)
		var looks atomic.Int64
		d.pageAddress = func() string {
			if looks.Add(1) <= int64(test.looks) {
				return ""
			}
			return page
		}
		d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1, Instances: []monitor.Instance{own}}})
		if got := d.runs(t, "open"); got != 0 || strings.Join(d.opened, " ") != test.opened {
			t.Errorf("%s: %d, opened %q: %s", name, got, d.opened, d.err.String())
		}
	}
}

func TestOpenNothing(t *testing.T) {
	d := newDesktop(t)
	d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1}})
	if got := d.runs(t, "open"); got != 1 {
		t.Errorf("%d", got)
	}
	apptest.Contains(t, d.err.String(), "open: no server with a dashboard is running; start your assistant and try again")
}

func TestAddressesOfThePage(t *testing.T) {
	const page = "http://127.0.0.1:25282/global-dashboard/"
	for address, want := range map[string]string{
		"": "", page: page, page + "#": page, page + "#token=x": page, page + "#/24284/logs": page + "#/24284/logs",
		page + "#/24284/logs&token=x": page + "#/24284/logs", page + "#/token=y&token=x": page + "#/token=y",
	} {
		if got := withoutToken(address); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}

func TestOpenWithoutBrowser(t *testing.T) {
	d := newDesktop(t, serenaAt(1, 24282, "alpha"))
	d.open = func(string) error { return errors.New("no browser could be opened") }
	if got := d.runs(t, "open", "alpha"); got != 1 || !strings.HasPrefix(d.out.String(), "http://127.0.0.1:1/") {
		t.Errorf("%d, printed %q", got, d.out.String())
	}
	apptest.Contains(t, d.err.String(), "no browser could be opened; open the address above yourself")
}

// An address with a token is shown whole where only its user sees it, and where
// nothing else will do.
func TestOpenTheTokenByHand(t *testing.T) {
	const bare = "http://127.0.0.1:25282/global-dashboard/"
	const whole, part = bare + "#token=ab-c", bare + "#/5-50&token=ab-c"
	in := serenaAt(5, 0, "bare")
	in.DashboardURL = ""
	for name, test := range map[string]struct {
		args, out, err string // whether that is a terminal
		wantOut        string
		wantErr        []string
	}{
		"a terminal":           {"", "yes", "yes", bare + "\n" + whole + "\n", []string{"no browser; open the last address above yourself; it is for you alone"}},
		"a terminal, an id":    {"5-50", "yes", "", bare + "#/5-50\n" + part + "\n", []string{"it is for you alone"}},
		"output to a file":     {"", "", "yes", bare + "\n", []string{whole + "\n", "it is for you alone"}},
		"no terminal anywhere": {"", "", "", bare + "\n", []string{"no browser; the page wants a token here; run lamplighter open in a terminal"}},
	} {
		d := newDesktop(t)
		d.address = whole
		d.screen.terminal, d.errScreen.terminal = test.out != "", test.err != ""
		d.open = func(string) error { return errors.New("no browser") }
		d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1, Instances: []monitor.Instance{in}}})
		if got := d.runs(t, append([]string{"open"}, strings.Fields(test.args)...)...); got != 1 || d.out.String() != test.wantOut {
			t.Errorf("%s: %d, printed %q", name, got, d.out.String())
		}
		apptest.Contains(t, d.err.String(), test.wantErr...)
		if !strings.Contains(strings.Join(test.wantErr, ""), "token=") && strings.Contains(d.err.String(), "token=") {
			t.Errorf("%s: said %q", name, d.err.String())
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
		d.errScreen.terminal = test.terminal
		d.open = func(string) error { return errors.New("no browser") }
		d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1}})
		d.runs(t, "run")
		apptest.Contains(t, d.err.String(), append(test.want, "it already runs")...)
		if !test.terminal && strings.Contains(d.err.String(), "token=") {
			t.Errorf("%s: said %q", name, d.err.String())
		}
	}
}

// What a second start is told holds for nobody, and is not dropped in silence.
func TestSecondStartWithFlags(t *testing.T) {
	for args, told := range map[string]bool{
		"run":                                  false,
		"run --config /nope.yml":               true,
		"run --web-dashboard-global-port 4711": true,
		"run --web-dashboard-global=false":     true,
	} {
		d := newDesktop(t)
		d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1}})
		d.runs(t, strings.Fields(args)...)
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
		err := webBrowser{launch: func(string) error { launched++; return nil }}.open(address)
		if (err == nil) != ok || (launched == 1) != ok {
			t.Errorf("%q: %v, launched %d times", address, err, launched)
		}
		if err != nil && strings.Contains(err.Error(), "token") {
			t.Errorf("%q: %v", address, err)
		}
	}
	failing := webBrowser{launch: func(string) error { return fs.ErrNotExist }}
	if err := failing.open("http://127.0.0.1/"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
