package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

func TestWho(t *testing.T) {
	who := &monitor.Client{Name: "cu\nrl"}
	for _, c := range []struct {
		in   monitor.Instance
		want string
	}{
		{monitor.Instance{}, ""},
		{monitor.Instance{Client: &monitor.Client{}}, ""},
		{monitor.Instance{Client: who}, "cu rl"},
		{monitor.Instance{Client: who, Managed: true}, "managed, for cu rl"},
		{monitor.Instance{Client: &monitor.Client{Name: "\x1b"}, Managed: true}, "managed"},
		{monitor.Instance{Managed: true}, "managed"},
		{monitor.Instance{Client: &monitor.Client{Name: "an assistant"}, Managed: true}, "managed, for an…nt"},
	} {
		if got := Of(&c.in).Who(6); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestPinnedWords(t *testing.T) {
	codex := &monitor.Client{Name: "Codex"}
	stdio := monitor.Evidence{Transport: "stdio"}
	for _, c := range []struct {
		in         monitor.Instance
		want, next string
	}{
		{monitor.Instance{Client: codex, Evidence: stdio}, "pinned; it still ends with its client", "ends with its client"},
		{monitor.Instance{Client: codex, Evidence: monitor.Evidence{Transport: "http"}}, "pinned", "stays: pinned"},
		{monitor.Instance{Client: codex, Evidence: monitor.Evidence{Transport: "stdio", ClientGone: true}}, "pinned", "stays: pinned"},
		{monitor.Instance{Client: codex, Managed: true, Sharing: &monitor.Sharing{}}, "pinned", "parked when idle"},
		{monitor.Instance{Evidence: stdio}, "pinned", "stays: pinned"},
	} {
		c.in.Pinned, c.in.State, c.in.Recognised, c.in.Kind = true, monitor.StateProject, true, monitor.KindSerena
		if w := Of(&c.in).Words; !slices.Contains(w.Why, c.want) || w.Next == nil || w.Next.Text != c.next {
			t.Errorf("%+v: %q, %+v", c.in, w.Why, w.Next)
		}
	}
}

// Where there was no call none is told, and it is idle since its start.
func TestUncalled(t *testing.T) {
	started := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	in := monitor.Instance{Identity: monitor.Identity{PID: 1, Start: 1}, State: monitor.StateProject, Recognised: true, StartedAt: started, LastActivity: started}
	now := started.Add(time.Minute)
	sent := Of(&in).Sent(now)
	if sent.LastActivity != nil || Value(sent.IdleSeconds) != 60 || len(sent.Words.Short) != 1 || !sent.Words.Short[0].Since.Equal(started) {
		t.Errorf("%+v", sent)
	}
}

func clientsNamedAs(names ...string) []monitor.Client {
	list := make([]monitor.Client, len(names))
	for i, name := range names {
		list[i] = monitor.Client{Identity: monitor.Identity{PID: i + 1}, Name: name}
	}
	return list
}

func TestClientsInWords(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "no clients"},
		{[]string{"Codex"}, "1 client: Codex"},
		{[]string{""}, "1 client: unknown program"},
		{[]string{"Claude Code", "Codex", "Claude Code"}, "3 clients: Claude Code ×2, Codex"},
		{[]string{"Codex", "Claude Code", "Claude Code"}, "3 clients: Claude Code ×2, Codex"},
		{[]string{"a", "b"}, "2 clients: a, b"},
		{[]string{"a", "b", "c", "d", "e", "e", "f"}, "7 clients: e ×2, a, b, c and 2 more"},
		{[]string{"a\x1b[2J\nb"}, "1 client: a[2J b"},
		{[]string{strings.Repeat("x", 4096)}, "1 client: " + strings.Repeat("x", 12) + "…" + strings.Repeat("x", 11)},
	} {
		if got := ClientsInWords(clientsOf(&monitor.Sharing{Clients: clientsNamedAs(c.names...)})); got != c.want {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}

// Whatever clients call themselves, it is one short line that hides nobody.
func TestClientsInWordsAreHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got := ClientsInWords(clientsOf(&monitor.Sharing{Clients: clientsNamedAs(rapid.SliceOf(rapid.String()).Draw(t, "names")...)}))
		if monitor.Columns(got) > 160 || strings.ContainsFunc(got, monitor.Unprintable) || !strings.Contains(got, "client") {
			t.Errorf("%q", got)
		}
	})
}

func TestSharingWords(t *testing.T) {
	two := clientsNamedAs("Codex", "Codex")
	for _, c := range []struct {
		sharing *monitor.Sharing
		client  string // in a listing
		want    []string
	}{
		{nil, "managed", nil},
		{&monitor.Sharing{}, "no clients", []string{"no clients"}},
		{&monitor.Sharing{Clients: two[:1]}, "Codex", []string{"1 client: Codex"}},
		{&monitor.Sharing{Clients: two, Waiting: 1}, "2 clients", []string{"2 clients: Codex ×2", "1 request under way"}},
		{&monitor.Sharing{Clients: two, Waiting: 3, SavedBytes: 108_000_000}, "2 clients", []string{"2 clients: Codex ×2", "3 requests under way, one after another", "saves 108 MB"}},
		{&monitor.Sharing{Clients: two[:1], Alone: "its context\n codex"}, "managed", []string{"not shared: its context codex"}},
	} {
		in := monitor.Instance{Managed: true, Sharing: c.sharing}
		if got := SharingWords(c.sharing); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.sharing, got, c.want)
		}
		if got := Of(&in).Who(20); got != c.client {
			t.Errorf("%+v: client %q, want %q", c.sharing, got, c.client)
		}
		if shared := c.sharing != nil && c.sharing.Alone == ""; in.IsShared() != shared {
			t.Errorf("%+v: shared %v", c.sharing, !shared)
		}
	}
}

// What faces say beside a server, and before it is stopped.
func TestWordsOfAServer(t *testing.T) {
	yes, codex := true, &monitor.Client{Name: "Codex"}
	for name, c := range map[string]struct {
		in             monitor.Instance
		state, outside string
		loses          []string
	}{
		"red, its client has gone": {
			monitor.Instance{State: monitor.StateZombie, Cause: monitor.CauseSuspected, Client: codex, Kind: "acme"},
			"suspected orphan", "This is what can be seen from outside.", []string{},
		},
		"at work for a client": {
			monitor.Instance{State: monitor.StateProject, Busy: &yes, Client: codex, Kind: monitor.KindSerena, Port: 1, DashboardURL: "u"},
			"live", "", []string{"A call is running in it; its result will be lost.", "Its client, Codex, loses it. Most clients do not connect again until they are restarted."},
		},
		"shared": {
			monitor.Instance{State: monitor.StateNoProject, Sharing: &monitor.Sharing{Clients: clientsNamedAs("a", "b")}, Kind: monitor.KindSerena},
			"no project", "Its dashboard is switched off or cannot be found. This is what can be seen from outside.",
			[]string{"2 clients stay attached, and the next request starts it again."},
		},
		"managed": {
			monitor.Instance{State: monitor.StateStarting, Managed: true, Client: codex},
			"starting", "It is starting. Its dashboard has not answered yet.", []string{"It was started for Codex: whoever uses it loses it, and has to ask for another."},
		},
	} {
		if w := Of(&c.in).Words; w.State != c.state || w.Outside != c.outside || !slices.Equal(w.Loses, c.loses) {
			t.Errorf("%s: %q, %q, %q", name, w.State, w.Outside, w.Loses)
		}
	}
}

func TestWordsOfHealth(t *testing.T) {
	red := monitor.Instance{State: monitor.StateZombie, Kind: monitor.KindSerena, ProjectName: "alpha", Recognised: true}
	for cause, want := range map[monitor.Cause]string{
		monitor.CauseLanguageServer: "language server", monitor.CauseNoDashboard: "no dashboard", monitor.CauseQueue: "calls wait",
		monitor.CauseFailing: "calls fail", monitor.CauseUnreachable: "unreachable",
	} {
		red.Cause, red.Reason = cause, "a reason"
		w := Of(&red).Words
		reason := "a reason"
		if cause == monitor.CauseUnreachable {
			reason = "unreachable: a reason"
		}
		if w.State != want || w.Short[0].Text != want || !slices.Contains(w.Why, reason) {
			t.Errorf("%s: %+v", cause, w)
		}
	}
	noted := monitor.Instance{
		State: monitor.StateProject, Kind: monitor.KindSerena, ProjectName: "alpha", Recognised: true, Reason: "it answers; its language server ended",
		Problem: &monitor.Problem{Kind: monitor.Ended},
	}
	if w := Of(&noted).Words; w.State != "live" || len(w.Short) != 0 || !slices.Contains(w.Why, noted.Reason) {
		t.Errorf("to be mentioned: %+v", w)
	}
	for detail, want := range map[string]string{
		"was language_server": "well again · was: language server", "was unreachable": "heartbeat restored · was unreachable",
	} {
		if s := Text(&monitor.Event{Kind: monitor.EventHeartbeatRestored, Detail: detail}); s.What+s.Detail != want {
			t.Errorf("%q, want %q", s.What+s.Detail, want)
		}
	}
	if s := Text(&monitor.Event{Kind: monitor.EventZombieDetected, Detail: "language_server: gone"}); s.Detail != " · language server" {
		t.Errorf("%q", s.Detail)
	}
}

// What is only on the pipes of clients is together, by client, and no server.
func TestDivide(t *testing.T) {
	child := func(pid, client int, name, what string) monitor.Instance {
		return monitor.Instance{
			Identity: monitor.Identity{PID: pid, Start: 1}, Kind: what, OnPipes: true, Client: &monitor.Client{Identity: monitor.Identity{PID: client}, Name: name},
		}
	}
	s := &monitor.Snapshot{Instances: []*monitor.Instance{
		{Identity: monitor.Identity{PID: 9, Start: 1}, Recognised: true},
		new(child(1, 7, "Codex\n", "cat")), new(child(2, 8, "Claude Code", "a.py")), new(child(3, 7, "Codex\n", "b\u202e.py")),
	}}
	servers, children := Divide(All(s))
	if len(servers) != 1 || *servers[0].PID != 9 || len(children) != 2 {
		t.Fatalf("%+v, %+v", servers, children)
	}
	for i, want := range []string{"Codex has 2 more children on pipes: cat (1), b.py (3)", "Claude Code has 1 more child on pipes: a.py (2)"} {
		if got := children[i].Words + ": " + children[i].Names; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if totals := s.Totals(); totals.Instances != 1 || totals.Unsure != 3 {
		t.Errorf("%+v", totals)
	}
}

// What a restart does to the clients of a server.
func TestRestartWords(t *testing.T) {
	yes, codex := true, &monitor.Client{Name: "Codex"}
	sharing := &monitor.Sharing{Clients: clientsNamedAs("a", "b")}
	live := func(in monitor.Instance) monitor.Instance {
		in.State, in.Recognised = monitor.StateProject, true
		return in
	}
	for name, c := range map[string]struct {
		in        monitor.Instance
		how, want string
	}{
		"shared":      {live(monitor.Instance{Sharing: sharing, Managed: true}), "kept", "It starts again at once, and 2 clients stay attached."},
		"without":     {live(monitor.Instance{Sharing: &monitor.Sharing{}, Managed: true}), "kept", "It starts again at once."},
		"with a REPL": {live(monitor.Instance{Sharing: &monitor.Sharing{}, Evidence: monitor.Evidence{KeepsState: &yes}}), "kept", "It starts again at once. The variables of its REPL are lost."},
		"held":        {live(monitor.Instance{Client: codex}), "lost", "It ends, and Codex loses it. Most clients start a server again only when they are restarted."},
		"its own":     {live(monitor.Instance{Client: &monitor.Client{Name: "Zed"}, Sharing: &monitor.Sharing{Alone: "it is no Serena", Clients: clientsNamedAs("Zed")}}), "lost", "It ends, and Zed loses it. Most clients start a server again only when they are restarted."},
		"a session":   {live(monitor.Instance{Client: codex, Managed: true}), "", ""},
		"of nobody":   {live(monitor.Instance{}), "", ""},
		"left":        {live(monitor.Instance{Client: codex, Evidence: monitor.Evidence{ClientGone: true}}), "", ""},
		"not certain": {monitor.Instance{State: monitor.StateLive, Client: codex}, "", ""},
		"ended":       {monitor.Instance{State: monitor.StateZombie, Cause: monitor.CauseDefunct, Recognised: true, Client: codex}, "", ""},
		"parked":      {monitor.Instance{State: monitor.StateParked, Sharing: sharing, Recognised: true}, "", ""},
	} {
		if s := Of(&c.in); Value(s.Restart) != c.how || s.Words.Restart != c.want {
			t.Errorf("%s: %q, %q", name, Value(s.Restart), s.Words.Restart)
		}
	}
}
