package cli

import (
	"strings"
	"testing"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

func TestPlanned(t *testing.T) {
	for want, plan := range map[string]monitor.Plan{
		"":                                      {},
		"will end in 4 min: no call for 30 min": {ShutdownAt: noon.Add(3*time.Minute + 50*time.Second), Reason: "no call for 30 min"},
		"will end in 59 s: so":                  {ShutdownAt: noon.Add(59 * time.Second), Reason: "so"},
		"will end in 1 s: at once":              {ShutdownAt: noon.Add(time.Millisecond), Reason: "at once"},
		"will end in 2 h: so":                   {ShutdownAt: noon.Add(2 * time.Hour), Reason: "so"},
		"will end now: late":                    {ShutdownAt: noon.Add(-time.Minute), Reason: "late"},
		"will end in 1 min":                     {ShutdownAt: noon.Add(time.Minute)},
		"kept for 58 min":                       {KeptUntil: noon.Add(58 * time.Minute)},
	} {
		if got := planned(&monitor.Instance{Plan: plan}, noon); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := planned(&monitor.Instance{Plan: monitor.Plan{KeptUntil: noon}}, noon); got != "" {
		t.Errorf("no longer kept: %q", got)
	}
}

func TestStandingLines(t *testing.T) {
	later, last, earlier := noon.Add(time.Hour), noon.AddDate(0, 0, -6), noon.AddDate(-1, 0, 0)
	for want, s := range map[string]api.Status{
		"":                                       {Policy: api.Policy{Active: true}},
		"The policies are paused until 13:00.\n": {Policy: api.Policy{Paused: true, PausedUntil: &later}},
		"The policies are paused until you resume them.\n":                   {Policy: api.Policy{Paused: true}},
		"3.2 GB given back since 14 Nov 12:00.\n":                            {GivenBackBytes: 3_200_000_000, GivenBackSince: &last},
		"152 MB given back since 20 Nov 2025.\n":                             {GivenBackBytes: 152_000_000, GivenBackSince: &earlier},
		"152 MB given back.\n":                                               {GivenBackBytes: 152_000_000},
		"The policies are paused until you resume them.\n1 MB given back.\n": {Policy: api.Policy{Paused: true}, GivenBackBytes: 1_000_000},
	} {
		if got := standingLines(s, noon); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Status shows what is to happen in its own line, and the standing below.
func TestStatusTellsOfThePolicies(t *testing.T) {
	in := serenaAt(7, 24282, "alpha")
	in.Plan = monitor.Plan{ShutdownAt: time.Now().Add(4*time.Minute + 10*time.Second), Reason: "no call for 30 min\x1b"}
	in.Pinned = true
	d := newDesktop(t)
	d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1, Instances: []monitor.Instance{in}, Policy: monitor.Policy{Active: true, Paused: true}}})
	if got := d.runs(t, "status"); got != 0 || d.err.String() != "" {
		t.Fatal(got, d.err.String())
	}
	apptest.Contains(t, d.out.String(), "\n  will end in 4 min: no call for 30 min; pinned\n")
	if !strings.HasSuffix(d.out.String(), "\nThe policies are paused until you resume them.\n") {
		t.Errorf("printed %q", d.out.String())
	}
}
