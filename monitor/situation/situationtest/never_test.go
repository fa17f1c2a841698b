package situationtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/rules"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/situation"
)

// commands are what the processes of a drawn table run: servers, launchers, and
// what only looks like one.
var commands = []struct {
	exe  string
	args []string
}{
	{"/usr/bin/python3", []string{"python3", "/usr/bin/serena", "start-mcp-server"}},
	{"/usr/bin/python3", []string{"python3", "/usr/bin/serena", "start-mcp-server", "--transport", "streamable-http"}},
	{"/usr/bin/node", []string{"node", "/x/node_modules/.bin/mcp-server-memory"}},
	{"/usr/bin/dash", []string{"sh", "-c", "mcp-server-memory"}},
	{"/usr/bin/uv", []string{"uv", "tool", "run", "serena", "start-mcp-server"}},
	{"/usr/bin/bash", []string{"bash"}},
	{"/usr/bin/vim", []string{"vim", "serena", "start-mcp-server"}},
	{"/usr/bin/firefox", []string{"firefox"}},
	{"/usr/bin/gopls", []string{"gopls"}},
	{"/usr/bin/python3", []string{"python3", "-m", "pytest", "start-mcp-server"}},
}

// drawn makes any table of processes, with any knowledge about any of them, in
// favour of ending them.
func drawn(t *rapid.T) *situation.Situation {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	half := 30 * time.Minute // what is known is an hour old
	policies, err := json.Marshal(policy.Rules{
		IdleAfter: half, OrphanGrace: half, ZombieAfter: 10 * time.Minute, MemoryOver: 2_000_000_000, Duplicates: true,
		IdleAttached: rapid.Bool().Draw(t, "attached"), IdleREPL: rapid.Bool().Draw(t, "repl"),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &situation.Situation{
		Name: "drawn", Origin: situation.Constructed, Platform: rapid.SampledFrom([]string{"linux", "linux", "windows", "darwin"}).Draw(t, "platform"),
		Now: now, UID: 1000, Policies: policies,
	}
	draw := func(n int, what string) bool { return rapid.IntRange(0, n).Draw(t, what) == 0 }
	n := rapid.IntRange(2, 12).Draw(t, "processes")
	for i := range n {
		pid := i + 1
		c := rapid.SampledFrom(commands).Draw(t, "command")
		p := situation.Process{PID: pid, Parent: rapid.IntRange(0, i).Draw(t, "parent"), Start: uint64(pid), UID: 1000, Name: c.args[0], Exe: c.exe, Args: c.args}
		if draw(6, "another user's") {
			p.UID = 0
		}
		if draw(6, "stopped") {
			p.State = situation.Stopped
		}
		switch {
		case draw(16, "nobody knows what manages it"):
		case draw(8, "the main process of a service"):
			p.Service = new("x.service")
		default:
			p.Service = new("")
		}
		if draw(2, "the standard input of its parent") {
			p.SameInput = []int{p.Parent}
		}
		v := &situation.Server{
			Pinned: draw(6, "pinned"), Closed: new(rapid.Bool().Draw(t, "closed")),
			Proof: monitor.Proof{AloneSince: now.Add(-time.Hour), IdleSince: now.Add(-time.Hour)},
		}
		if rapid.Bool().Draw(t, "a client") {
			client := &monitor.Client{Identity: monitor.Identity{PID: rapid.IntRange(1, 2*n).Draw(t, "client")}, Name: "Codex"}
			if rapid.Bool().Draw(t, "a client that lives") {
				client.Start = uint64(client.PID)
			}
			v.Proof = monitor.Proof{
				Client: client, AloneSince: now.Add(-time.Hour), IdleSince: now.Add(-time.Hour),
				Pipe: &monitor.Pipe{},
			}
		}
		if rapid.Bool().Draw(t, "a dashboard") {
			v.Dashboard, v.Proof.Calls = &situation.Dashboard{Port: 20000 + pid, KeepsState: new(false)}, new(int64(5))
			if draw(4, "calls not counted") {
				v.Proof.Calls = nil
			}
			if draw(4, "a call cut off") {
				v.Proof.CutOffUntil = now.Add(time.Minute)
			}
			if rapid.Bool().Draw(t, "its own") {
				p.Ports = append(p.Ports, situation.Port{Port: 20000 + pid})
			}
			if draw(3, "busy") {
				v.Dashboard.Queue = []string{"Task-1:FindSymbolTool"}
			}
			if draw(3, "failing") {
				v.Proof.FailingSince = now.Add(-time.Minute)
			}
			if draw(3, "never seen idle") {
				v.Proof.IdleSince = time.Time{}
			}
		}
		if draw(4, "clients over TCP") {
			p.Ports = append(p.Ports, situation.Port{Port: 30000 + pid, Users: []int{rapid.IntRange(0, n).Draw(t, "user")}})
		}
		if rapid.Bool().Draw(t, "known") {
			p.Server = v
		}
		s.Processes = append(s.Processes, p)
	}
	s.Self = rapid.IntRange(0, n).Draw(t, "self")
	s.Order = rapid.SampledFrom([]string{"", "", "idle", "orphans", "all"}).Draw(t, "order")
	return s
}

// TestNever: whatever the table, what is ended holds nothing that must not be.
func TestNever(t *testing.T) {
	ends := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := drawn(rt)
		at := func(pid int) *situation.Process {
			i := slices.IndexFunc(s.Processes, func(p situation.Process) bool { return p.PID == pid })
			if i < 0 {
				return &situation.Process{}
			}
			return &s.Processes[i]
		}
		above := map[int]bool{}
		for pid := s.Self; pid != 0 && !above[pid]; pid = at(pid).Parent {
			above[pid] = true
		}
		for _, v := range decide(t, s) {
			if v.Do != string(policy.End) {
				continue
			}
			ends++
			if why := never(s, v, at(v.PID)); why != "" {
				rt.Errorf("%+v: %s", v, why)
			}
			for _, pid := range v.Tree {
				p := at(pid)
				switch {
				case above[pid]:
					rt.Errorf("%+v: process %d is ourselves, or above us", v, pid)
				case p.UID != s.UID:
					rt.Errorf("%+v: process %d is another user's", v, pid)
				case p.Exe == "/usr/bin/vim", p.Exe == "/usr/bin/firefox" && at(v.PID).Exe != "/usr/bin/node":
					rt.Errorf("%+v: process %d is what people work in", v, pid)
				case p.Service == nil:
					rt.Errorf("%+v: nobody knows whether process %d belongs to a service", v, pid)
				case *p.Service != "":
					rt.Errorf("%+v: process %d is the main one of a service", v, pid)
				case pid == v.PID && p.Server != nil && p.Server.Pinned:
					rt.Errorf("%+v: it is pinned", v)
				}
			}
		}
	})
	if ends == 0 {
		t.Error("nothing was ever ended, so that this shows nothing")
	}
}

// never says what stands against ending a server, "" for nothing.
func never(s *situation.Situation, v verdict, p *situation.Process) string {
	rule := policy.Rule(v.Rule)
	cmd, isSerena := serena.ParseCommand(p.Exe, p.Args)
	if _, known := rules.New(nil).Match(p.Exe, p.Args); !isSerena && !known {
		return "no rule knows it"
	}
	if p.Server == nil {
		if rule == "" {
			return "" // the user meant all
		}
		return "nothing was known of it"
	}
	known := p.Server
	switch d := known.Dashboard; {
	case d != nil && len(d.Queue) > 0 && known.Proof.FailingSince.IsZero() && p.State != situation.Stopped && isSerena && slices.ContainsFunc(p.Ports, func(o situation.Port) bool { return o.Port == d.Port }):
		return "it is at work"
	case rule == policy.Idle && (d == nil || known.Proof.IdleSince.IsZero() || !known.Proof.FailingSince.IsZero() || p.State == situation.Stopped):
		return "it is not known to be idle"
	case rule == policy.Idle && s.Order == "" && known.Proof.Calls == nil:
		return "its calls are not counted, so that one would not show"
	case rule == policy.Idle && s.Now.Before(known.Proof.CutOffUntil):
		return "a call was cut off, and may go on"
	case rule == policy.Orphans && (known.Proof.Client == nil || known.Proof.Pipe == nil || !*known.Closed):
		return "it is no proven orphan"
	case rule == policy.Orphans && slices.ContainsFunc(s.Processes, func(o situation.Process) bool {
		return o.PID == known.Proof.Client.PID && o.Start == known.Proof.Client.Start
	}):
		return "its client lives"
	}
	for _, port := range p.Ports {
		if d := known.Dashboard; d != nil && isSerena && port.Port == d.Port {
			continue
		}
		// One over stdio listens for its dashboard alone; suspended, it cannot be asked.
		if isSerena && cmd.Transport == "stdio" && p.State == situation.Stopped && len(p.Ports) == 1 {
			continue
		}
		for _, user := range port.Users {
			if user == 0 || user != s.Self && !slices.Contains(v.Tree, user) {
				return fmt.Sprintf("process %d is connected to it", user)
			}
		}
	}
	return ""
}
