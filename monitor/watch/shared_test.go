package watch

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

var (
	serverOne = monitor.Identity{PID: 11, Start: 1}
	serverTwo = monitor.Identity{PID: 12, Start: 2}
	claude    = monitor.Client{Identity: monitor.Identity{PID: 91, Start: 1}, Name: "Claude Code"}
	asked     = monitor.Client{Identity: monitor.Identity{PID: 90, Start: 1}, Name: "curl"} // who asked for it first
	codex     = monitor.Client{Identity: monitor.Identity{PID: 92, Start: 1}, Name: "Codex"}
)

// group is a shared server with two clients.
func group(change func(*monitor.Shared)) monitor.Shared {
	s := monitor.Shared{
		Server: serverOne, Key: "a", Kind: monitor.KindSerena, Project: "/w/alpha", Context: "ide", Modes: []string{"editing"},
		Clients: []monitor.Client{claude, codex}, Waiting: 2,
	}
	if change != nil {
		change(&s)
	}
	return s
}

func running(id monitor.Identity) monitor.Instance {
	return monitor.Instance{
		Identity: id, Kind: monitor.KindSerena, Port: 24284, ProjectName: "Alpha", ProjectRoot: "/w/alpha", Context: "ide", Version: "2.1.0",
		State: monitor.StateProject, Managed: true, Recognised: true, Client: &asked,
	}
}

// shows is what the loop makes of a snapshot when it was told of these.
func (l *loop) shows(list []*monitor.Instance, shared ...monitor.Shared) []*monitor.Instance {
	l.shared = shared
	return l.addSharing(list)
}

func TestSharedRuns(t *testing.T) {
	l := &loop{reports: new(reports)}
	s := group(nil)
	got := l.shows([]*monitor.Instance{new(running(serverTwo)), new(running(serverOne))}, s)
	if len(got) != 2 || got[0].Sharing != nil || got[0].Client != &asked {
		t.Fatalf("%+v", got)
	}
	in := got[1]
	want := &monitor.Sharing{Clients: []monitor.Client{claude, codex}, Waiting: 2}
	if !reflect.DeepEqual(in.Sharing, want) || *in.Client != claude || in.State != monitor.StateProject {
		t.Errorf("%+v, %+v", in, in.Sharing)
	}
	s.Clients[0].Name = "changed"
	if in.Sharing.Clients[0] != claude {
		t.Error("a snapshot changes with what was told")
	}
	got = l.shows([]*monitor.Instance{new(running(serverOne))}, group(func(s *monitor.Shared) { s.Clients = nil }))
	if len(got) != 1 || !got[0].IsShared() || got[0].Client != nil {
		t.Errorf("without clients: %+v", got)
	}
	if got := l.shows([]*monitor.Instance{new(running(serverOne))}); got[0].Sharing != nil || len(l.lastShown) > 0 {
		t.Errorf("nobody shares it any more: %+v", got)
	}
}

// What others save goes by the memory that the view shows beside it, and when there is no
// process by what it had before it was about to go.
func TestSavedBytes(t *testing.T) {
	l := &loop{reports: new(reports)}
	for _, step := range []struct {
		name   string
		memory uint64 // 0: no process
		change func(*monitor.Shared)
		want   uint64
	}{
		{"it runs", 100, nil, 100},
		{"its process is not known for a moment", 0, nil, 100},
		{"one client", 110, func(s *monitor.Shared) { s.Clients = s.Clients[:1] }, 0},
		{"none", 110, func(s *monitor.Shared) { s.Clients = nil }, 0},
		{"it grows", 120, nil, 120},
		{"it ends", 5, func(s *monitor.Shared) { s.Reason = "no request for 10 min" }, 120},
		{"it has ended", 5, func(s *monitor.Shared) { s.Parked, s.Reason = true, "no request for 10 min" }, 240},
		{"it is parked", 0, func(s *monitor.Shared) { s.Parked, s.Reason = true, "no request for 10 min" }, 240},
		{"it stays so", 0, func(s *monitor.Shared) { s.Parked, s.Reason = true, "no request for 10 min" }, 240},
		{"it starts", 0, func(s *monitor.Shared) { s.Starting = true }, 240},
		{"what it replaces still ends", 5, func(s *monitor.Shared) { s.Starting = true }, 240},
		{"it runs again", 80, nil, 80},
	} {
		var list []*monitor.Instance
		if step.memory > 0 {
			in := running(serverOne)
			in.RSSBytes = step.memory
			list = append(list, new(in))
		}
		got := l.shows(list, group(step.change))
		if len(got) != 1 || got[0].Sharing.SavedBytes != step.want || got[0].RSSBytes != step.memory {
			t.Errorf("%s: %+v, %+v", step.name, got, got[0].Sharing)
		}
	}
}

func TestSharedWithoutAProcess(t *testing.T) {
	none := monitor.Identity{}
	parked := func(s *monitor.Shared) { s.Parked, s.Reason, s.Waiting = true, "no request for 10 min", 0 }
	for _, c := range []struct {
		name   string
		seen   bool // it was seen to run
		shared monitor.Shared
		id     monitor.Identity // zero: it is not shown
		reason string
	}{
		{"parked", true, group(parked), serverOne, "no request for 10 min; wakes at the next request"},
		{"parked before we began", false, group(parked), serverOne, "no request for 10 min; wakes at the next request"},
		{"parked, and nobody says why", true, group(func(s *monitor.Shared) { parked(s); s.Reason = "" }), serverOne, endedReason},
		{"parked, and it wakes", true, group(func(s *monitor.Shared) { parked(s); s.Waiting = 1 }), serverOne, startReason},
		{"it was not needed yet", false, group(func(s *monitor.Shared) { parked(s); s.Reason, s.Server, s.Kind = "", none, "" }), (&monitor.Shared{Key: "a"}).Place(), "no request has needed it yet; starts at the first one"},
		{"it is not needed until now", false, group(func(s *monitor.Shared) { parked(s); s.Server, s.Waiting = none, 1 }), (&monitor.Shared{Key: "a"}).Place(), startReason},
		{"it has never run", false, group(func(s *monitor.Shared) { parked(s); s.Server = none }), (&monitor.Shared{Key: "a"}).Place(), "no request for 10 min; wakes at the next request"},
		{"it starts, and nobody waits any more", false, group(func(s *monitor.Shared) { s.Server, s.Starting, s.Waiting, s.Reason = none, true, 0, "it is starting" }), (&monitor.Shared{Key: "a"}).Place(), startReason},
		{"it starts again, and nobody waits any more", true, group(func(s *monitor.Shared) { s.Starting, s.Waiting, s.Reason = true, 0, "it is starting" }), serverOne, startReason},
		{"its first start has failed", false, group(func(s *monitor.Shared) {
			parked(s)
			s.Reason, s.Server = "it could not be started: the disk is full", none
		}), (&monitor.Shared{Key: "a"}).Place(), "it could not be started: the disk is full; the next request tries it again"},
		{"its last client has left", true, group(func(s *monitor.Shared) { parked(s); s.Clients = nil }), none, ""},
		{"it has just ended", true, group(func(s *monitor.Shared) { s.Waiting = 0 }), serverOne, "its process has ended; the next request starts it again"},
		{"it has just ended, and nobody waits", true, group(func(s *monitor.Shared) { s.Clients = nil }), none, ""},
		{"it wakes", true, group(nil), serverOne, startReason},
		{"it wakes, and has no process yet", true, group(func(s *monitor.Shared) { s.Server = none }), serverOne, startReason},
		{"the new process is not known yet", true, group(func(s *monitor.Shared) { s.Server = serverTwo }), none, ""},
		{"it starts for the first time", false, group(func(s *monitor.Shared) { s.Server = none }), none, ""},
		{"the first process is not known yet", false, group(nil), none, ""},
	} {
		l := &loop{reports: new(reports)}
		if c.seen {
			l.shows([]*monitor.Instance{new(running(serverOne))}, group(nil))
		}
		for range 2 { // it stays so
			got := l.shows(nil, c.shared)
			if c.id == none {
				if len(got) != 0 {
					t.Errorf("%s: %+v", c.name, got)
				}
				continue
			}
			if len(got) != 1 {
				t.Fatalf("%s: %+v", c.name, got)
			}
			in, name, version := got[0], "alpha", ""
			if c.seen {
				name, version = "Alpha", "2.1.0" // as it said itself
			}
			if in.Identity != c.id || in.Reason != c.reason || in.State != monitor.StateParked || in.ProjectName != name || in.Version != version ||
				in.ProjectRoot != "/w/alpha" || in.Context != "ide" || !in.Managed || !in.Recognised || in.Port != 0 || in.RSSBytes != 0 ||
				*in.Client != claude || len(in.Sharing.Clients) != 2 || in.Label() != "parked - "+name {
				t.Errorf("%s: %+v", c.name, in)
			}
		}
	}
}

// What waits to be reaped is the parked one, not another instance; what still
// runs is not parked yet.
func TestParkedAndItsProcess(t *testing.T) {
	l := &loop{reports: new(reports)}
	s := group(func(s *monitor.Shared) { s.Parked, s.Reason = true, "no request for 10 min" })
	defunct := running(serverOne)
	defunct.State, defunct.Cause = monitor.StateZombie, monitor.CauseDefunct
	if got := l.shows([]*monitor.Instance{new(defunct)}, s); len(got) != 1 || got[0].State != monitor.StateParked {
		t.Errorf("%+v", got)
	}
	if got := l.shows([]*monitor.Instance{new(running(serverOne))}, s); len(got) != 1 || got[0].State != monitor.StateProject || got[0].Sharing == nil {
		t.Errorf("%+v", got)
	}
}

// What was found below our keeper while a group waits for its server is that
// server, and not one beside the parked one.
func TestSharedStarts(t *testing.T) {
	starting := func(change func(*tracked)) *tracked {
		tr := &tracked{awaited: true, in: running(serverTwo)}
		tr.in.State, tr.in.Client = monitor.StateStarting, nil
		change(tr)
		return tr
	}
	for name, c := range map[string]struct {
		t    *tracked
		want bool
	}{
		"its own":           {starting(func(*tracked) {}), true},
		"another project's": {starting(func(tr *tracked) { tr.in.ProjectRoot = "/w/beta" }), false},
		"another context's": {starting(func(tr *tracked) { tr.in.Context = "claude-code" }), false},
		"somebody else's":   {starting(func(tr *tracked) { tr.awaited = false }), false},
	} {
		l := &loop{reports: new(reports), tracked: map[monitor.Identity]*tracked{serverTwo: c.t}}
		l.shows([]*monitor.Instance{new(running(serverOne))}, group(nil))
		got := l.shows([]*monitor.Instance{new(c.t.in)}, group(func(s *monitor.Shared) { s.Starting, s.Reason = true, "it is starting" }))
		if c.want != (len(got) == 1 && got[0].State == monitor.StateStarting && got[0].IsShared() && *got[0].Client == claude) || !c.want && (len(got) != 2 || got[0].Sharing != nil) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A server of one client alone is found by the process that its shim has started,
// and its client stays who the watch found.
func TestOwnServer(t *testing.T) {
	s := group(func(s *monitor.Shared) { s.Key, s.Alone, s.Clients = "", "its context codex", s.Clients[1:] })
	below := &tracked{lineage: lineage{above: []monitor.Identity{{PID: 5, Start: 5}, serverOne}}}
	wrapped := &tracked{lineage: lineage{root: serverOne}}
	launched := &tracked{lineage: lineage{members: []monitor.Identity{serverOne}}}
	other := &tracked{lineage: lineage{above: []monitor.Identity{{PID: 5, Start: 5}}}}
	ours := &tracked{lineage: lineage{root: serverOne}}
	ours.in.Managed = true
	for name, c := range map[string]struct {
		t    *tracked
		want bool
	}{
		"below what the shim has started": {below, true}, "wrapped": {wrapped, true}, "started by a launcher": {launched, true},
		"another": {other, false}, "one that we have started": {ours, false},
	} {
		c.t.in.Identity = serverTwo
		l := &loop{reports: new(reports), tracked: map[monitor.Identity]*tracked{serverTwo: c.t}}
		in := running(serverTwo)
		got := l.shows([]*monitor.Instance{new(in)}, s)
		if len(got) != 1 || (got[0].Sharing != nil) != c.want || got[0].Client != &asked || got[0].IsShared() {
			t.Errorf("%s: %+v", name, got)
		}
	}
	l := &loop{reports: new(reports), tracked: map[monitor.Identity]*tracked{serverTwo: wrapped}}
	if got := l.shows(nil, s); len(got) != 0 {
		t.Errorf("it has ended: %+v", got)
	}
	s.Server = monitor.Identity{}
	if got := l.shows([]*monitor.Instance{new(running(serverTwo))}, s); got[0].Sharing != nil {
		t.Errorf("nobody knows its process: %+v", got)
	}
}

// Whatever is told and whatever runs, no two instances have one identity, none
// without a process has no client, and none that runs is lost.
func TestShareProperties(t *testing.T) {
	ids := []monitor.Identity{{}, serverOne, serverTwo, {PID: 13, Start: 3}}
	rapid.Check(t, func(t *rapid.T) {
		l := &loop{reports: new(reports), tracked: map[monitor.Identity]*tracked{}}
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			var list []*monitor.Instance
			for _, id := range ids[1:] {
				if rapid.Bool().Draw(t, "runs") {
					in := running(id)
					if rapid.Bool().Draw(t, "defunct") {
						in.State, in.Cause = monitor.StateZombie, monitor.CauseDefunct
					}
					l.tracked[id] = &tracked{in: in, lineage: lineage{above: []monitor.Identity{rapid.SampledFrom(ids).Draw(t, "above")}}}
					list = append(list, new(in))
				}
			}
			alive := map[monitor.Identity]bool{}
			for _, in := range list {
				alive[in.Identity] = in.Cause != monitor.CauseDefunct
			}
			var shared []monitor.Shared
			for _, key := range []string{"a", "b"} {
				s := group(func(s *monitor.Shared) { s.Key = key })
				// A process is that of one key only.
				s.Server = rapid.SampledFrom(map[string][]monitor.Identity{"a": ids[:2], "b": {ids[0], ids[2]}}[key]).Draw(t, "server")
				s.Parked = rapid.Bool().Draw(t, "parked")
				s.Starting = !s.Parked && rapid.Bool().Draw(t, "starting")
				s.Clients = s.Clients[rapid.IntRange(0, 2).Draw(t, "left"):]
				shared = append(shared, s)
			}
			shared = append(shared, group(func(s *monitor.Shared) { s.Alone, s.Server = "x", rapid.SampledFrom(ids).Draw(t, "own") }))
			seen := map[monitor.Identity]bool{}
			for _, in := range l.shows(list, shared...) {
				if seen[in.Identity] {
					t.Fatalf("%v twice", in.Identity)
				}
				seen[in.Identity] = true
				if in.State == monitor.StateParked && (alive[in.Identity] || len(in.Sharing.Clients) == 0 || in.Reason == "") {
					t.Fatalf("%+v", in)
				}
			}
			for id, runs := range alive {
				if runs && !seen[id] {
					t.Fatalf("%v is lost", id)
				}
			}
		}
	})
}
