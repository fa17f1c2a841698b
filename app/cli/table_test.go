package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

func sample() *monitor.Snapshot {
	calls, cpu, yes := int64(7), 12.4, true
	alpha := serenaAt(101, 24282, "alpha")
	alpha.RSSBytes, alpha.CPUPercent, alpha.ToolCalls, alpha.Context = 108_400_000, &cpu, &calls, "ide"
	alpha.LastActivity = noon.Add(-5 * time.Minute)
	alpha.Client = &monitor.Client{Identity: monitor.Identity{PID: 9}, Name: "Claude Code"}
	wide := serenaAt(2002, 24283, "水の流れ")
	wide.RSSBytes, wide.Busy = 2_340_000_000, &yes
	red := serenaAt(33, 24284, "beta")
	red.State, red.Cause, red.Reason = monitor.StateZombie, monitor.CauseSuspended, "it was stopped by a signal"
	red.Busy, red.LastActivity = &yes, noon.Add(-time.Minute) // as it said before
	list := []monitor.Instance{alpha, serenaAt(4, 0, ""), red, wide}
	monitor.Sort(list)
	return &monitor.Snapshot{At: noon, Instances: list}
}

func TestTable(t *testing.T) {
	const want = `STATE            SERVER              CLIENT       CONTEXT  MEMORY   CPU   IDLE  CALLS   PID
needs attention  24284 - beta        -            -             -     -      -      -    33
  suspended: it was stopped by a signal
live             24282 - alpha       Claude Code  ide      108 MB  12 %  5 min      7   101
no project       pid 4 - NO PROJECT  -            -             -     -      -      -     4
live             24283 - 水の流れ    -            -        2.3 GB     -   busy      -  2002
`
	if got := table(sample(), noon, screen{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := table(&monitor.Snapshot{}, noon, screen{}); got != nothingRuns {
		t.Errorf("got %q", got)
	}
}

// What is not plainly live says why, as the menu does.
func TestTableTellsWhy(t *testing.T) {
	generic := serenaAt(11, 0, "")
	generic.Kind, generic.DashboardURL, generic.Reason = "filesystem", "", "it runs; this kind of server has no dashboard"
	listening := generic
	listening.Identity.PID, listening.Port, listening.Kind = 12, 3001, "playwright"
	left := serenaAt(13, 0, "")
	left.Kind, left.State, left.Cause, left.Reason = "memory", monitor.StateZombie, monitor.CauseSuspected, "nobody holds the other end of its pipes"
	starting := serenaAt(14, 0, "")
	starting.State, starting.DashboardURL, starting.Reason = monitor.StateStarting, "", "its dashboard has not answered yet"
	bare := serenaAt(15, 0, "")
	bare.DashboardURL, bare.Reason = "", "it runs without a dashboard"
	stranger := serenaAt(16, 24290, "stranger")
	stranger.Recognised = false
	both := left
	both.Identity.PID, both.Recognised = 17, false
	kept := serenaAt(18, 24291, "kept")
	kept.Pinned = true
	hung := left
	hung.Identity.PID, hung.Pinned = 19, true
	list := []monitor.Instance{generic, listening, left, starting, bare, stranger, both, kept, hung}
	monitor.Sort(list)
	const want = `STATE            SERVER               CLIENT  CONTEXT  MEMORY  CPU  IDLE  CALLS  PID
needs attention  pid 13 - memory      -       -             -    -     -      -   13
  suspected: nobody holds the other end of its pipes
needs attention  pid 17 - memory      -       -             -    -     -      -   17
  suspected: nobody holds the other end of its pipes; not recognised: it registered itself, so it is shown, and never ended
needs attention  pid 19 - memory      -       -             -    -     -      -   19
  suspected: nobody holds the other end of its pipes; pinned
no dashboard     pid 11 - filesystem  -       -             -    -     -      -   11
live             24291 - kept         -       -             -    -     -      -   18
  pinned
starting         pid 14 - NO PROJECT  -       -             -    -     -      -   14
  its dashboard has not answered yet
no project       pid 15 - NO PROJECT  -       -             -    -     -      -   15
  it runs without a dashboard
no dashboard     3001 - playwright    -       -             -    -     -      -   12
live             24290 - stranger     -       -             -    -     -      -   16
  not recognised: it registered itself, so it is shown, and never ended
`
	if got := table(&monitor.Snapshot{Instances: list}, noon, screen{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A shared server says who shares it, also while it is parked, and one that cannot
// be shared says why.
func TestTableTellsWhoShares(t *testing.T) {
	clients := []monitor.Client{{Name: "Claude Code"}, {Name: "Codex"}, {Name: "Claude Code"}}
	shared := serenaAt(21, 24301, "alpha")
	shared.Managed, shared.RSSBytes, shared.Sharing = true, 108_000_000, &monitor.Sharing{Clients: clients, Waiting: 2, SavedBytes: 216_000_000}
	parked := serenaAt(22, 0, "beta")
	parked.State, parked.Managed, parked.Reason = monitor.StateParked, true, "no request for 10 min; wakes at the next request"
	parked.Sharing = &monitor.Sharing{Clients: clients[1:2], SavedBytes: 108_000_000}
	alone := serenaAt(23, 24303, "gamma")
	alone.Client, alone.Sharing = &clients[1], &monitor.Sharing{Clients: clients[1:2], Alone: "its context codex can change the project"}
	lingers := serenaAt(24, 24304, "omega")
	lingers.Managed, lingers.Sharing = true, &monitor.Sharing{}
	s := &monitor.Snapshot{Instances: []monitor.Instance{shared, parked, alone, lingers}}
	const want = `STATE   SERVER         CLIENT      CONTEXT  MEMORY  CPU  IDLE  CALLS  PID
live    24301 - alpha  3 clients   -        108 MB    -     -      -   21
  3 clients: Claude Code ×2, Codex; 2 requests under way, one after another; saves 216 MB
parked  parked - beta  Codex       -             -    -     -      -    -
  no request for 10 min; wakes at the next request; 1 client: Codex; saves 108 MB
live    24303 - gamma  Codex       -             -    -     -      -   23
  not shared: its context codex can change the project
live    24304 - omega  no clients  -             -    -     -      -   24
Sharing saves 324 MB.
`
	if got := table(s, noon, screen{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Where the column has no room it is said below.
	if got := table(&monitor.Snapshot{Instances: []monitor.Instance{lingers}}, noon, screen{terminal: true, width: 40}); !strings.HasSuffix(got, "\n  no clients\n") {
		t.Errorf("narrow:\n%s", got)
	}
	if got := condition(&parked); got != "it is parked: no request for 10 min; wakes at the next request" {
		t.Errorf("%q", got)
	}
}

// A long name gives way: the other columns of every row stay on the screen.
func TestLongNamesLeaveTheOtherColumns(t *testing.T) {
	for _, name := range []string{strings.Repeat("long-name-", 10), strings.Repeat("長い名前", 30), strings.Repeat("x", 4096)} {
		for _, width := range []int{0, 100, 120} {
			s := sample()
			s.Instances[1].ProjectName = name
			for line := range strings.Lines(table(s, noon, screen{terminal: width > 0, width: width})) {
				line = strings.TrimRight(line, "\n")
				if strings.HasPrefix(line, "live  ") && !strings.HasSuffix(line, "101") && !strings.HasSuffix(line, "2002") || monitor.Columns(line) > 130 {
					t.Errorf("width %d: %q", width, line)
				}
			}
		}
	}
}

func TestTableColours(t *testing.T) {
	plain, coloured := table(sample(), noon, screen{}), table(sample(), noon, screen{terminal: true, colour: true})
	apptest.Contains(t, coloured, "\x1b[31mneeds attention\x1b[0m", "\x1b[32mlive\x1b[0m", "\x1b[33mno project\x1b[0m")
	if text.StripEscape(coloured) != plain {
		t.Errorf("colour moves columns:\n%s\n%s", coloured, plain)
	}
}

// Whatever an instance says about itself, each has one line within the
// screen's width, and nothing in it can disturb the terminal.
func TestTableIsHarmless(t *testing.T) {
	hostile := rapid.StringOf(rapid.SampledFrom([]rune("ab \x00\x1b\a\n\r\t\u009b\u200b\u202e\u2066\ufeff\U000e0041水é🙂👨\u0301%s|")))
	rapid.Check(t, func(t *rapid.T) {
		var list []monitor.Instance
		for i := range rapid.IntRange(1, 4).Draw(t, "instances") {
			in := serenaAt(i+1, 24282+i, hostile.Draw(t, "name"))
			in.Kind = rapid.SampledFrom([]string{monitor.KindSerena, "\x1b[2J", ""}).Draw(t, "kind")
			in.Recognised = rapid.Bool().Draw(t, "recognised")
			in.Context, in.Reason = hostile.Draw(t, "context"), hostile.Draw(t, "reason")
			in.State = rapid.SampledFrom([]monitor.State{monitor.StateProject, monitor.StateZombie, monitor.StateParked, "new"}).Draw(t, "state")
			in.Client = &monitor.Client{Name: hostile.Draw(t, "client")}
			if rapid.Bool().Draw(t, "shared") {
				in.Sharing = &monitor.Sharing{Clients: []monitor.Client{*in.Client, *in.Client}, Alone: hostile.Draw(t, "alone")}
			}
			list = append(list, in)
		}
		monitor.Sort(list)
		width := rapid.SampledFrom([]int{0, 1, narrowest - 1, narrowest, 40, 80, 200}).Draw(t, "width")
		colour := rapid.Bool().Draw(t, "colour")
		got := table(&monitor.Snapshot{Instances: list}, noon, screen{terminal: width > 0, width: width, colour: colour})
		want := 1 + len(list)
		for _, in := range list {
			if why(&in, noon, true) != "" {
				want++
			}
		}
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		if len(lines) != want {
			t.Fatalf("%d lines, want %d:\n%q", len(lines), want, got)
		}
		for _, line := range lines {
			if n := text.StringWidthWithoutEscSequences(line); width >= narrowest && n > width {
				t.Errorf("%d columns of %d: %q", n, width, line)
			}
			for _, r := range text.StripEscape(line) {
				if monitor.Unprintable(r) {
					t.Errorf("%U in %q", r, line)
				}
			}
			if !colour && strings.ContainsRune(line, '\x1b') {
				t.Errorf("an escape sequence in %q", line)
			}
		}
	})
}

func TestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min", 119 * time.Minute: "119 min", 2 * time.Hour: "2 h", 47 * time.Hour: "47 h", 50 * time.Hour: "2 d",
	} {
		if got := idle(&monitor.Instance{LastActivity: noon.Add(-d)}, noon); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestRedraw(t *testing.T) {
	s := screen{terminal: true, height: 4}
	if got, want := s.redraw("a\nb\n", true), "\x1b[2J\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := s.redraw("1\n2\n3\n4\n5\n", false); strings.Count(got, "\n") != 3 || !strings.Contains(got, "more than fits") {
		t.Errorf("got %q", got)
	}
}

// On a narrow terminal the columns that are missed least give way, and the pid
// by which a server can be named stays.
func TestNarrowTable(t *testing.T) {
	in := serenaAt(12045, 24284, "harbour-lights")
	calls, cpu := int64(12), 3.0
	in.Context, in.ToolCalls, in.CPUPercent, in.RSSBytes = "desktop-app", &calls, &cpu, 171e6
	in.Client = &monitor.Client{Name: "Claude Code"}
	s := &monitor.Snapshot{Instances: []monitor.Instance{in}}
	for width, want := range map[int]string{
		120: "STATE  SERVER                  CLIENT       CONTEXT      MEMORY  CPU  IDLE  CALLS    PID",
		80:  "STATE  SERVER                  CLIENT       MEMORY  CPU  IDLE  CALLS    PID",
		60:  "STATE  SERVER                  MEMORY  IDLE    PID",
	} {
		got, _, _ := strings.Cut(table(s, noon, screen{terminal: true, width: width}), "\n")
		if got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}
