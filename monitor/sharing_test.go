package monitor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func clientsNamedAs(names ...string) []Client {
	list := make([]Client, len(names))
	for i, name := range names {
		list[i] = Client{Identity: Identity{PID: i + 1}, Name: name}
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
		if got := ClientsInWords(clientsNamedAs(c.names...)); got != c.want {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}

// Whatever clients call themselves, it is one short line that hides nobody.
func TestClientsInWordsAreHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got := ClientsInWords(clientsNamedAs(rapid.SliceOf(rapid.String()).Draw(t, "names")...))
		if Columns(got) > 160 || strings.ContainsFunc(got, Unprintable) || !strings.Contains(got, "client") {
			t.Errorf("%q", got)
		}
	})
}

func TestSharingWords(t *testing.T) {
	two := clientsNamedAs("Codex", "Codex")
	for _, c := range []struct {
		sharing *Sharing
		client  string // in a listing
		want    []string
	}{
		{nil, "managed", nil},
		{&Sharing{}, "no clients", []string{"no clients"}},
		{&Sharing{Clients: two[:1]}, "Codex", []string{"1 client: Codex"}},
		{&Sharing{Clients: two, Waiting: 1}, "2 clients", []string{"2 clients: Codex ×2", "1 request under way"}},
		{&Sharing{Clients: two, Waiting: 3, SavedBytes: 108_000_000}, "2 clients", []string{"2 clients: Codex ×2", "3 requests under way, one after another", "saves 108 MB"}},
		{&Sharing{Clients: two[:1], Alone: "its context\n codex"}, "managed", []string{"not shared: its context codex"}},
	} {
		in := Instance{Managed: true, Sharing: c.sharing}
		if got := in.SharingWords(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.sharing, got, c.want)
		}
		if got := in.ClientWords(20); got != c.client {
			t.Errorf("%+v: client %q, want %q", c.sharing, got, c.client)
		}
		if shared := c.sharing != nil && c.sharing.Alone == ""; in.IsShared() != shared {
			t.Errorf("%+v: shared %v", c.sharing, !shared)
		}
	}
}

// A server that has had no process has a place all the same, which no process and
// no other server has.
func TestPlace(t *testing.T) {
	ended := Shared{Server: Identity{PID: 7, Start: 9}, Key: "a"}
	if got := ended.Place(); got != ended.Server {
		t.Errorf("%v", got)
	}
	a, b := Shared{Key: "a"}, Shared{Key: "b"}
	if a.Place() == b.Place() || a.Place() != (&Shared{Key: "a"}).Place() || a.Place().PID <= 1<<22 || a.Place().PID%4 == 0 {
		t.Errorf("%v, %v", a.Place(), b.Place())
	}
	if id, err := ParseIdentity(a.Place().String()); err != nil || id != a.Place() {
		t.Errorf("%v, %v", id, err)
	}
}

// That a server is parked, wakes or loses its last client is told by who does it.
func TestDiffOfParked(t *testing.T) {
	live := Instance{Identity: Identity{PID: 7, Start: 1}, State: StateProject, ProjectName: "alpha"}
	red, parked, woken := live, live, live
	red.State, red.Cause, parked.State, woken.Identity.PID = StateZombie, CauseUnreachable, StateParked, 8
	for _, c := range []struct {
		name          string
		before, after []Instance
		want          string
	}{
		{"parked", []Instance{live}, []Instance{parked}, ""},
		{"parked after it was red", []Instance{red}, []Instance{parked}, ""},
		{"parked before we began", nil, []Instance{parked}, ""},
		{"woken", []Instance{parked}, []Instance{woken}, "started project_activated"},
		{"left by its last client", []Instance{parked}, nil, ""},
		{"ended", []Instance{live}, nil, "stopped"},
	} {
		var kinds []string
		for _, e := range Diff(&Snapshot{Seq: 1, Instances: c.before}, &Snapshot{Seq: 2, At: time.Now(), Instances: c.after}) {
			kinds = append(kinds, string(e.Kind))
		}
		if got := strings.Join(kinds, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The pid that a parked one had may be another server's by now.
func TestFindParked(t *testing.T) {
	parked := Instance{Identity: Identity{PID: 7, Start: 1}, State: StateParked, ProjectName: "alpha"}
	other := Instance{Identity: Identity{PID: 7, Start: 2}, ProjectName: "beta"}
	s := &Snapshot{Instances: []Instance{parked, other}}
	for what, want := range map[string]Identity{"7": other.Identity, "7-1": parked.Identity, "parked - alpha": parked.Identity, "alpha": parked.Identity} {
		if got := s.Find(what); len(got) != 1 || got[0].Identity != want {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if got := (&Snapshot{Instances: []Instance{parked}}).Find("7"); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}
