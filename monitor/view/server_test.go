package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

func snapshot(list ...monitor.Instance) *monitor.Snapshot {
	s := &monitor.Snapshot{}
	for _, in := range list {
		s.Instances = append(s.Instances, &in)
	}
	return s
}

// marshal writes what api.Marshal does, but for characters that a terminal would take as orders.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.ReplaceAll(bytes.TrimSpace(b.Bytes()), []byte("\u202e"), []byte(`\u202e`)), err
}

func TestSent(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.FixedZone("", 3600))
	yes, calls, cpu, nan := true, int64(0), 0.0, math.NaN()
	const nothing = `{"id":"12-34","pid":12,"port":null,"kind":"","label":"12 - NO PROJECT","project_name":null,"project_root":null,` +
		`"context":null,"modes":[],"version":null,"state":"starting","cause":null,"reason":null,"problem":null,"command":null,"directory":null,"started_at":null,` +
		`"last_heartbeat":null,"last_activity":null,"busy":null,"idle_seconds":null,"idle_since":null,` +
		`"shutdown_at":null,"shutdown_reason":null,"kept_until":null,"given_up_since":null,"tool_calls":null,` +
		`"rss_bytes":null,"cpu_percent":null,"processes":null,"client":null,"transport":null,"client_gone":false,"orphaned":false,"alone_since":null,` +
		`"dashboard_url":null,"mcp_url":null,` +
		`"managed":false,"shared_by":null,"clients":[],"waiting":null,"alone_because":null,"saved_bytes":null,"pinned":false,"certainty":"unsure","on_pipes":false,"restart":null,"entry":null`
	but := func(pairs ...string) string { // of which every second stands in the place of the one before
		return strings.NewReplacer(append(pairs, `"unsure"`, `"by_rule"`)...).Replace(nothing)
	}
	for name, test := range map[string]struct {
		in   monitor.Instance
		want string
	}{
		"nothing known": {monitor.Instance{Identity: monitor.Identity{PID: 12, Start: 34}, State: monitor.StateStarting, CPUPercent: &nan}, nothing},
		"all known": {
			monitor.Instance{
				Identity: monitor.Identity{PID: 12, Start: 34}, Kind: "serena", Port: 24284, DashboardURL: "http://127.0.0.1:24284/d",
				MCPURL: "http://127.0.0.1:9/mcp", ProjectName: "al\u202epha", ProjectRoot: "/w/<a>&\x1b", Context: "ide",
				Modes: []string{"editing"}, Version: "2.1.0", State: monitor.StateZombie, Cause: monitor.CauseSuspended, Reason: "stopped",
				Command: "serena --token …", Directory: "/w",
				StartedAt: now.Add(-time.Hour), LastHeartbeat: now.Add(-2500 * time.Millisecond), LastActivity: now.Add(-90 * time.Second),
				ToolCalls: &calls, RSSBytes: 5, CPUPercent: &cpu, Processes: 2, Managed: true, Pinned: true, Recognised: true,
				Client:   &monitor.Client{Identity: monitor.Identity{PID: 3}, Name: "Codex"},
				Evidence: monitor.Evidence{Transport: "stdio", ClientGone: true, Orphaned: true, AloneSince: now.Add(-time.Minute), IdleSince: now.Add(-90 * time.Second)},
				Plan:     monitor.Plan{ShutdownAt: now.Add(4 * time.Minute), Reason: "no call for 30 min", KeptUntil: now.Add(3 * time.Minute), GivenUpSince: now.Add(-time.Minute)},
			},
			`{"id":"12-34","pid":12,"port":24284,"kind":"serena","label":"12 - alpha","project_name":"al\u202epha","project_root":"/w/<a>&\u001b",` +
				`"context":"ide","modes":["editing"],"version":"2.1.0","state":"zombie","cause":"suspended","reason":"stopped","problem":null,"command":"serena --token …","directory":"/w","started_at":"2026-11-20T10:00:00Z",` +
				`"last_heartbeat":"2026-11-20T10:59:57.5Z","last_activity":"2026-11-20T10:58:30Z","busy":null,"idle_seconds":90,"idle_since":"2026-11-20T10:58:30Z",` +
				`"shutdown_at":"2026-11-20T11:04:00Z","shutdown_reason":"no call for 30 min","kept_until":"2026-11-20T11:03:00Z","given_up_since":"2026-11-20T10:59:00Z","tool_calls":0,` +
				`"rss_bytes":5,"cpu_percent":0,"processes":2,"client":{"pid":3,"name":"Codex"},"transport":"stdio","client_gone":true,"orphaned":true,"alone_since":"2026-11-20T10:59:00Z","dashboard_url":"http://127.0.0.1:24284/d","mcp_url":"http://127.0.0.1:9/mcp",` +
				`"managed":true,"shared_by":null,"clients":[],"waiting":null,"alone_because":null,"saved_bytes":null,"pinned":true,"certainty":"by_rule","on_pipes":false,"restart":null,"entry":null`,
		},
		"its language server could not start": {
			monitor.Instance{
				Identity: monitor.Identity{PID: 12, Start: 34}, Kind: "serena", ProjectName: "a", State: monitor.StateZombie, Cause: monitor.CauseLanguageServer, Reason: "r",
				Problem:    &monitor.Problem{Cause: monitor.CauseLanguageServer, Kind: monitor.StartFailed, Language: "go", Evidence: []string{"ERROR"}, Since: now.Add(-time.Minute)},
				Recognised: true,
			},
			but(`"kind":""`, `"kind":"serena"`, `12 - NO PROJECT`, `12 - a`, `"project_name":null`, `"project_name":"a"`,
				`"starting","cause":null,"reason":null`, `"zombie","cause":"language_server","reason":"r"`,
				`"problem":null`, `"problem":{"kind":"start_failed","language":"go","evidence":["ERROR"],"since":"2026-11-20T10:59:00Z","order":"restart"}`),
		},
		"parked, busy, a time beyond RFC 3339": {
			monitor.Instance{
				Identity: monitor.Identity{PID: 12, Start: 34}, ProjectName: "a", State: monitor.StateParked, Busy: &yes, Recognised: true,
				StartedAt: time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC),
			},
			but(`"pid":12`, `"pid":null`, `12 - NO PROJECT`, `parked - a`, `"project_name":null`, `"project_name":"a"`, `"starting"`, `"parked"`,
				`"busy":null,"idle_seconds":null`, `"busy":true,"idle_seconds":0`),
		},
		"parked, with clients": {
			monitor.Instance{
				Identity: monitor.Identity{PID: 12, Start: 34}, Kind: "serena", State: monitor.StateParked, Recognised: true, Managed: true, Reason: "r",
				Sharing: &monitor.Sharing{Clients: []monitor.Client{{Identity: monitor.Identity{PID: 3, Start: 4}, Name: "Codex"}, {Identity: monitor.Identity{PID: 5}}}, SavedBytes: 9},
			},
			but(`"pid":12`, `"pid":null`, `"kind":""`, `"kind":"serena"`, `12 - NO PROJECT`, `parked - NO PROJECT`, `"starting"`, `"parked"`, `"reason":null`, `"reason":"r"`,
				`"managed":false,"shared_by":null,"clients":[],"waiting":null`, `"managed":true,"shared_by":2,"clients":[{"pid":3,"name":"Codex"},{"pid":5,"name":""}],"waiting":0`,
				`"saved_bytes":null`, `"saved_bytes":9`),
		},
		"shared, and nobody has it": {
			monitor.Instance{Identity: monitor.Identity{PID: 12, Start: 34}, State: monitor.StateStarting, Recognised: true, Sharing: &monitor.Sharing{}},
			but(`"shared_by":null,"clients":[],"waiting":null`, `"shared_by":0,"clients":[],"waiting":0`),
		},
		"one client's alone": {
			monitor.Instance{
				Identity: monitor.Identity{PID: 12, Start: 34}, State: monitor.StateStarting, Recognised: true,
				Sharing: &monitor.Sharing{Clients: []monitor.Client{{Identity: monitor.Identity{PID: 3}, Name: "Codex"}}, Alone: "its context codex"},
			},
			but(`"clients":[],"waiting":null,"alone_because":null`, `"clients":[{"pid":3,"name":"Codex"}],"waiting":0,"alone_because":"its context codex"`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := marshal(Sent(All(snapshot(test.in)), now))
			if err != nil {
				t.Fatal(err)
			}
			if got, _, _ := strings.Cut(string(body), `,"words":`); got != `[`+test.want { // words_test.go has the words
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	if body, err := marshal(Sent(All(snapshot()), now)); err != nil || string(body) != `[]` {
		t.Errorf("no instances: %s, %v", body, err)
	}
}

// What was sent is read as it was: the verbs say of it what the background process would.
func TestWhatWasSentIsReadAgain(t *testing.T) {
	now := time.Now()
	rapid.Check(t, func(t *rapid.T) {
		s := snapshot(rapid.SliceOfN(rapid.Custom(drawInstance(now)), 0, 4).Draw(t, "instances")...)
		first, err := marshal(Sent(All(s), now))
		if err != nil {
			t.Fatal(err)
		}
		var sent []*Server
		if err := json.Unmarshal(first, &sent); err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		if second, err := marshal(sent); err != nil || string(first) != string(second) {
			t.Errorf("first  %s\nsecond %s", first, second)
		}
		said := func(s *Server) string {
			idle, known := s.IdleFor(now)
			return fmt.Sprint(idle, known, s.Name(), s.Listed(20), s.Loser(20, 40), s.ReasonWords(), s.WithoutDashboard(), s.PinnedWords(), s.CanStop(), s.NextAt(now) != nil)
		}
		for i, s := range All(s) {
			if said(s) != said(sent[i]) {
				t.Errorf("%s, and when it was sent %s", said(s), said(sent[i]))
			}
		}
	})
}

func TestIdleFor(t *testing.T) {
	now := time.Unix(1000, 0)
	yes, no := true, false
	for _, c := range []struct {
		in    monitor.Instance
		idle  time.Duration
		known bool
	}{
		{monitor.Instance{}, 0, false},
		{monitor.Instance{LastActivity: now.Add(-time.Minute)}, time.Minute, true},
		{monitor.Instance{LastActivity: now.Add(-time.Minute), Busy: &no}, time.Minute, true},
		{monitor.Instance{LastActivity: now.Add(-time.Minute), Busy: &yes}, 0, true},
		{monitor.Instance{LastActivity: now.Add(time.Minute)}, 0, true}, // the clock was set back
	} {
		if idle, known := Of(&c.in).IdleFor(now); idle != c.idle || known != c.known {
			t.Errorf("%+v: %v %v", c.in, idle, known)
		}
	}
}

func drawInstance(now time.Time) func(*rapid.T) monitor.Instance {
	return func(t *rapid.T) monitor.Instance {
		calls := rapid.Int64().Draw(t, "calls")
		cpu := rapid.Float64().Draw(t, "cpu")
		return monitor.Instance{
			Identity:     monitor.Identity{PID: rapid.IntRange(1, 1<<22).Draw(t, "pid"), Start: rapid.Uint64().Draw(t, "start")},
			Kind:         rapid.String().Draw(t, "kind"),
			Recognised:   rapid.Bool().Draw(t, "recognised"),
			Port:         rapid.IntRange(0, 65535).Draw(t, "port"),
			ProjectName:  rapid.String().Draw(t, "name"),
			ProjectRoot:  rapid.String().Draw(t, "root"),
			Modes:        rapid.SliceOf(rapid.String()).Draw(t, "modes"),
			State:        rapid.SampledFrom([]monitor.State{monitor.StateProject, monitor.StateZombie}).Draw(t, "state"),
			Cause:        monitor.Cause(rapid.String().Draw(t, "cause")),
			StartedAt:    now.Add(-time.Hour),
			LastActivity: rapid.SampledFrom([]time.Time{{}, now.Add(-time.Hour), now.Add(-time.Minute)}).Draw(t, "last activity"),
			Busy:         rapid.Ptr(rapid.Bool(), true).Draw(t, "busy"),
			ToolCalls:    &calls,
			RSSBytes:     rapid.Uint64().Draw(t, "rss"),
			CPUPercent:   &cpu,
			Client:       &monitor.Client{Identity: monitor.Identity{PID: 5}, Name: rapid.String().Draw(t, "client")},
			Sharing:      rapid.Ptr(rapid.Custom(drawSharing), true).Draw(t, "sharing"),
			Evidence: monitor.Evidence{
				Transport: rapid.SampledFrom([]string{"", "stdio", "http"}).Draw(t, "transport"), ClientGone: rapid.Bool().Draw(t, "gone"),
				Orphaned: rapid.Bool().Draw(t, "orphaned"), IdleSince: now.Add(-time.Duration(rapid.IntRange(0, 1e15).Draw(t, "idle since"))),
			},
			Plan: monitor.Plan{
				ShutdownAt: now.Add(time.Duration(rapid.IntRange(0, 1e15).Draw(t, "shutdown"))), Reason: rapid.String().Draw(t, "plan"),
				KeptUntil: now.Add(time.Duration(rapid.IntRange(0, 1e15).Draw(t, "kept"))),
			},
		}
	}
}

func drawSharing(t *rapid.T) monitor.Sharing {
	return monitor.Sharing{
		Clients: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) monitor.Client {
			return monitor.Client{Identity: monitor.Identity{PID: rapid.Int().Draw(t, "pid")}, Name: rapid.String().Draw(t, "name")}
		}), 0, 3).Draw(t, "clients"),
		Waiting: rapid.IntRange(0, 9).Draw(t, "waiting"), Alone: rapid.String().Draw(t, "alone"), SavedBytes: rapid.Uint64().Draw(t, "saved"),
	}
}

// Rows tells of one snapshot after the other what All tells, and keeps the rows that stay
// the same.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows Rows
		var list []*monitor.Instance
		var before []*Server
		for round := range 5 {
			kept := list
			list = nil
			for _, in := range kept {
				if rapid.Bool().Draw(t, "stays") {
					list = append(list, in)
				}
			}
			for pid := range rapid.IntRange(0, 3).Draw(t, "new") {
				list = append(list, &monitor.Instance{
					Identity: monitor.Identity{PID: pid + 1, Start: uint64(round + 1)}, Kind: "memory", State: monitor.StateLive, Recognised: true,
					Directory: rapid.SampledFrom([]string{"", "/w/a", "/w/a/b", "/v"}).Draw(t, "directory"), ProjectName: rapid.SampledFrom([]string{"", "a"}).Draw(t, "project"),
					ProjectRoot: rapid.SampledFrom([]string{"", "/w/a"}).Draw(t, "root"),
				})
			}
			s := &monitor.Snapshot{Instances: list}
			got, want := rows.Of(s), All(s)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v, want %+v", got, want)
			}
			for _, w := range got {
				if !slices.Contains(before, w) && slices.ContainsFunc(before, func(b *Server) bool { return reflect.DeepEqual(b, w) }) {
					t.Fatalf("%s was made anew", w.ID)
				}
			}
			before = got
		}
	})
}
