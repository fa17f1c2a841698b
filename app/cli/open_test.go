package cli

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
)

func TestOpen(t *testing.T) {
	red := daemontest.SerenaAt(4, 24285, "broken")
	red.State, red.Cause, red.Reason = monitor.StateZombie, monitor.CauseUnreachable, "it hangs"
	bare := daemontest.SerenaAt(5, 0, "bare")
	bare.DashboardURL = ""
	left := daemontest.SerenaAt(7, 24286, "left")
	left.DashboardURL, left.State, left.Cause, left.Reason = "", monitor.StateZombie, monitor.CauseDefunct, "it has exited"
	file := daemontest.SerenaAt(6, 0, "file")
	file.DashboardURL = "file:///etc/passwd"
	list := []monitor.Instance{daemontest.SerenaAt(1, 24282, "alpha"), daemontest.SerenaAt(2, 24283, "beta"), daemontest.SerenaAt(3, 24284, "beta"), red, bare, file, left}
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
		{"beta", 1, "", `2 servers are "beta": 2 - beta, 3 - beta; choose one by its pid`},
		{"broken", 0, "http://127.0.0.1:24285/", "4 - broken may not answer: unreachable: it hangs"},
		{"bare", 1, "", "5 - bare has no dashboard (live)"},
		{"left", 1, "", "7 - left has no dashboard (defunct: it has exited)"},
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
	bare := daemontest.SerenaAt(5, 0, "bare")
	bare.DashboardURL = ""
	own := daemontest.SerenaAt(9, 24283, "alpha")
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
		d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: daemontest.List(own, bare)}})
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
	own := daemontest.SerenaAt(9, 24283, "alpha")
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
		d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: daemontest.List(own)}})
		if got := d.runs(t, "open"); got != 0 || strings.Join(d.opened, " ") != test.opened {
			t.Errorf("%s: %d, opened %q: %s", name, got, d.opened, d.err.String())
		}
	}
}

func TestOpenNothing(t *testing.T) {
	d := newDesktop(t)
	d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1}})
	if got := d.runs(t, "open"); got != 1 {
		t.Errorf("%d", got)
	}
	apptest.Contains(t, d.err.String(), "open: no server with a dashboard is running; start your assistant and try again")
}

func TestOpenWithoutBrowser(t *testing.T) {
	d := newDesktop(t, daemontest.SerenaAt(1, 24282, "alpha"))
	d.Open = func(string) error { return errors.New("no browser could be opened") }
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
	in := daemontest.SerenaAt(5, 0, "bare")
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
		d.OnScreen, d.ErrOnScreen = test.out != "", test.err != ""
		d.Open = func(string) error { return errors.New("no browser") }
		d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: daemontest.List(in)}})
		if got := d.runs(t, append([]string{"open"}, strings.Fields(test.args)...)...); got != 1 || d.out.String() != test.wantOut {
			t.Errorf("%s: %d, printed %q", name, got, d.out.String())
		}
		apptest.Contains(t, d.err.String(), test.wantErr...)
		if !strings.Contains(strings.Join(test.wantErr, ""), "token=") && strings.Contains(d.err.String(), "token=") {
			t.Errorf("%s: said %q", name, d.err.String())
		}
	}
}
