package daemon

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/config"
)

func TestReadClientFlags(t *testing.T) {
	for name, test := range map[string]struct {
		flags []string
		want  []string // the same, as arguments
		wrong []string // part of each problem
	}{
		"nothing":     {},
		"a switch":    {flags: []string{"--web-dashboard-global"}, want: []string{"--web-dashboard-global=true"}},
		"off":         {flags: []string{"--web-dashboard-global=false"}, want: []string{"--web-dashboard-global=false"}},
		"in one":      {flags: []string{"--web-dashboard-global-port=3000"}, want: []string{"--web-dashboard-global-port=3000"}},
		"in two":      {flags: []string{"--web-dashboard-global-port", "3000"}, want: []string{"--web-dashboard-global-port=3000"}},
		"no minutes":  {flags: []string{"--idle-shutdown-minutes", "none"}, want: []string{"--idle-shutdown-minutes=none"}},
		"parts of it": {flags: []string{"--idle-shutdown-minutes=0.05"}, want: []string{"--idle-shutdown-minutes=0.05"}},
		"all": {
			flags: []string{"--idle-shutdown-minutes=30", "--web-dashboard-global-open-on-launch", "--web-dashboard-global-port", "3000", "--web-dashboard-global"},
			want:  []string{"--web-dashboard-global=true", "--web-dashboard-global-open-on-launch=true", "--web-dashboard-global-port=3000", "--idle-shutdown-minutes=30"},
		},
		"a bad port beside a good switch": {
			flags: []string{"--web-dashboard-global-port=80", "--web-dashboard-global"}, want: []string{"--web-dashboard-global=true"},
			wrong: []string{`--web-dashboard-global-port=80 is not used: "80" is not a port`},
		},
		"0 minutes":    {flags: []string{"--idle-shutdown-minutes=0"}, wrong: []string{"write none to switch it off"}},
		"no value":     {flags: []string{"--web-dashboard-global-port"}, wrong: []string{"--web-dashboard-global-port is not used: it has no value"}},
		"unknown":      {flags: []string{"--colour=red"}, wrong: []string{"--colour=red is not used: there is no such flag"}},
		"no flag":      {flags: []string{"", "-", "--", "x"}, wrong: []string{"no such flag", "no such flag", "no such flag", "no such flag"}},
		"foreign text": {flags: []string{"--\x1b[2J" + strings.Repeat("x", 4000)}, wrong: []string{"no such flag"}},
	} {
		l, problems := readClientFlags(test.flags)
		if got := ArgumentsOf(l); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q", name, got)
		}
		if !slices.EqualFunc(problems, test.wrong, strings.Contains) {
			t.Errorf("%s: %q", name, problems)
		}
		for _, p := range problems {
			if strings.Contains(p, "\x1b") || len(p) > 300 {
				t.Errorf("%s: %q is shown", name, p)
			}
		}
	}
}

// The first client that says something wins, and its word counts before the
// files and after our own command line.
func TestTheFirstClientWins(t *testing.T) {
	port := func(n int) *config.Port { p := config.Port(n); return &p }
	off := false
	l := layers{ours: config.Default(), flags: config.Layer{WebDashboardGlobal: &off}}
	l.ours.WebDashboardGlobalPort = port(4000)
	var got held
	told := 0
	var news []string
	join := func(flags ...string) (warnings []string) {
		said, problems := readClientFlags(flags)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		news, warnings = l.join(said, func(h held) { got = h; told++ })
		return warnings
	}

	if w := join("--web-dashboard-global-port=3000"); len(w) > 0 || told != 1 || got.dashboard != (config.Dashboard{Port: 3000}) {
		t.Errorf("the first: %q, told %d times, %+v", w, told, got.dashboard)
	}
	if want := []string{"--web-dashboard-global-port=3000: the global dashboard would be served there, and is switched off; it counts until lamplighter ends"}; !slices.Equal(news, want) {
		t.Errorf("what the first has changed: %q", news)
	}
	if w := join("--web-dashboard-global-port=3000", "--web-dashboard-global=false"); len(w) > 0 || len(news) > 0 || told != 1 {
		t.Errorf("who says the same: %q, told %d times", w, told)
	}
	w := join("--web-dashboard-global-port=3001", "--web-dashboard-global", "--idle-shutdown-minutes=30")
	if want := []string{
		"--web-dashboard-global=true is not used: this lamplighter runs with false; the first wins",
		"--web-dashboard-global-port=3001 is not used: this lamplighter runs with 3000; the first wins",
	}; !slices.Equal(w, want) {
		t.Errorf("the others: %q", w)
	}
	if told != 2 || got.dashboard != (config.Dashboard{Port: 3000}) || got.policies.IdleAfter != 30*time.Minute {
		t.Errorf("what nobody had said: told %d times, %+v", told, got)
	}
	l.change(func(l *layers) { l.ours = config.Default() }, func(h held) { got = h })
	if got.dashboard.Port != 3000 {
		t.Errorf("new settings: %+v", got.dashboard)
	}
}

// A client is told only of what its flags have changed.
func TestWhatAFlagChanges(t *testing.T) {
	for flag, want := range map[string]string{
		"--web-dashboard-global-port=25300":           "--web-dashboard-global-port=25300: the global dashboard is served there now; it counts until lamplighter ends",
		"--web-dashboard-global=false":                "--web-dashboard-global=false: the global dashboard is not served any more; it counts until lamplighter ends",
		"--web-dashboard-global-open-on-launch":       "--web-dashboard-global-open-on-launch=true: the global dashboard opens by itself now; it counts until lamplighter ends",
		"--idle-shutdown-minutes=30":                  "--idle-shutdown-minutes=30: this is when idle servers are ended now; it counts until lamplighter ends",
		"--web-dashboard-global":                      "", // as it is anyway
		"--web-dashboard-global-open-on-launch=false": "",
		"--web-dashboard-global-port=25282":           "",
		"--idle-shutdown-minutes=none":                "",
	} {
		l := layers{ours: config.Default()}
		said, _ := readClientFlags([]string{flag})
		told := 0
		news, warnings := l.join(said, func(held) { told++ })
		if strings.Join(news, "\n") != want || len(warnings) > 0 || told != 1 {
			t.Errorf("%s: %q, %q, told %d times", flag, news, warnings, told)
		}
	}
}

func TestManyClientsAtOnce(t *testing.T) {
	l := layers{ours: config.Default()}
	var all sync.WaitGroup
	warnings := make([][]string, 50)
	for i := range warnings {
		all.Go(func() {
			port := config.Port(3000 + i)
			_, warnings[i] = l.join(config.Layer{WebDashboardGlobalPort: &port}, func(held) {})
		})
	}
	all.Wait()
	if quiet := len(slices.DeleteFunc(warnings, func(w []string) bool { return len(w) == 1 })); quiet != 1 {
		t.Errorf("%d of them won", quiet)
	}
}

func TestMinutesFlag(t *testing.T) {
	for text, want := range map[string]time.Duration{"30": 30 * time.Minute, "0.05": 3 * time.Second, "none": 0} {
		if l, problems := readClientFlags([]string{"--idle-shutdown-minutes", text}); len(problems) > 0 || time.Duration(*l.IdleShutdownMinutes) != want {
			t.Errorf("%s: %v, %q", text, l.IdleShutdownMinutes, problems)
		}
	}
	for _, text := range []string{"", "0", "-1", "soon", "null", "1e3"} {
		if l, problems := readClientFlags([]string{"--idle-shutdown-minutes", text}); len(problems) != 1 || l.IdleShutdownMinutes != nil {
			t.Errorf("%q counts as %v", text, l.IdleShutdownMinutes)
		}
	}
}
