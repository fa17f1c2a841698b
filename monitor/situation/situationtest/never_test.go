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
	"lamplighter/monitor/process"
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
		switch p.Cgroup = "0::/user.slice/user-1000.slice/session-2.scope\n"; {
		case draw(16, "nobody knows in which group"):
			p.Cgroup = ""
		case draw(8, "in a service"):
			p.Cgroup = "0::/system.slice/x.service\n"
			s.Units = []situation.Unit{{Name: "x.service", Main: pid}}
		}
		closed := rapid.Bool().Draw(t, "closed")
		p.Descriptors = []situation.Descriptor{
			{FD: 0, Kind: process.Pipe, Inode: uint64(100 + pid), Reads: true, Deserted: closed},
			{FD: 1, Kind: process.Pipe, Inode: uint64(200 + pid), Writes: true, Deserted: closed},
		}
		v := situation.Server{PID: pid, Pinned: draw(6, "pinned"), Proof: monitor.Proof{SuspectedSince: now.Add(-time.Hour), IdleSince: now.Add(-time.Hour)}}
		if rapid.Bool().Draw(t, "a client") {
			client := &monitor.Client{Identity: monitor.Identity{PID: rapid.IntRange(1, 2*n).Draw(t, "client")}, Name: "Codex"}
			if rapid.Bool().Draw(t, "a client that lives") {
				client.Start = uint64(client.PID)
			}
			v.Proof = monitor.Proof{
				Client: client, AloneSince: now.Add(-time.Hour), IdleSince: now.Add(-time.Hour),
				Pipe: &monitor.Pipe{In: monitor.PipeEnd{Inode: uint64(100 + pid)}, Out: monitor.PipeEnd{Inode: uint64(200 + pid)}},
			}
		}
		if rapid.Bool().Draw(t, "a dashboard") {
			no, calls := false, int64(5)
			v.Dashboard = &situation.Dashboard{Port: 20000 + pid, KeepsState: &no, Calls: &calls}
			if draw(4, "calls not counted") {
				v.Dashboard.Calls = nil
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
				v.Dashboard.FailingSince = now.Add(-time.Minute)
			}
			if draw(3, "never seen idle") {
				v.Proof.IdleSince = time.Time{}
			}
		}
		if draw(4, "clients over TCP") {
			p.Ports = append(p.Ports, situation.Port{Port: 30000 + pid, Users: []int{rapid.IntRange(0, n).Draw(t, "user")}})
		}
		s.Processes = append(s.Processes, p)
		if rapid.Bool().Draw(t, "known") {
			s.Servers = append(s.Servers, v)
		}
	}
	s.Self = rapid.IntRange(0, n).Draw(t, "self")
	s.Order = rapid.SampledFrom([]string{"", "", "idle", "orphans", "all"}).Draw(t, "order")
	if _, err := s.Marshal(); err != nil {
		t.Fatal(err)
	}
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
		for _, v := range Decide(t, s) {
			if v.Do != policy.End {
				continue
			}
			ends++
			if why := never(s, v, at(v.PID)); why != "" {
				rt.Errorf("%v: %s", v, why)
			}
			for _, pid := range v.Tree {
				p := at(pid)
				switch {
				case above[pid]:
					rt.Errorf("%v: process %d is ourselves, or above us", v, pid)
				case p.UID != s.UID:
					rt.Errorf("%v: process %d is another user's", v, pid)
				case p.Exe == "/usr/bin/vim", p.Exe == "/usr/bin/firefox" && at(v.PID).Exe != "/usr/bin/node":
					rt.Errorf("%v: process %d is what people work in", v, pid)
				case p.Cgroup == "" && s.Platform == "linux":
					rt.Errorf("%v: nobody knows whether process %d belongs to a service", v, pid)
				case slices.Contains(s.Units, situation.Unit{Name: "x.service", Main: pid}) && p.Cgroup != "" && s.Platform == "linux":
					rt.Errorf("%v: process %d is the main one of a service", v, pid)
				case slices.ContainsFunc(s.Servers, func(o situation.Server) bool { return o.PID == pid && pid == v.PID && o.Pinned }):
					rt.Errorf("%v: it is pinned", v)
				}
			}
		}
	})
	if ends == 0 {
		t.Error("nothing was ever ended, so that this shows nothing")
	}
}

// never says what stands against ending a server, "" for nothing.
func never(s *situation.Situation, v Verdict, p *situation.Process) string {
	cmd, isSerena := serena.ParseCommand(p.Exe, p.Args)
	if _, known := rules.New(nil).Match(p.Exe, p.Args); !isSerena && !known {
		return "no rule knows it"
	}
	i := slices.IndexFunc(s.Servers, func(o situation.Server) bool { return o.PID == v.PID })
	if i < 0 {
		if v.Rule == "" {
			return "" // the user meant all
		}
		return "nothing was known of it"
	}
	known := s.Servers[i]
	switch d := known.Dashboard; {
	case d != nil && len(d.Queue) > 0 && d.FailingSince.IsZero() && p.State != situation.Stopped && isSerena && slices.ContainsFunc(p.Ports, func(o situation.Port) bool { return o.Port == d.Port }):
		return "it is at work"
	case v.Rule == policy.Idle && (d == nil || known.Proof.IdleSince.IsZero() || !d.FailingSince.IsZero() || p.State == situation.Stopped):
		return "it is not known to be idle"
	case v.Rule == policy.Idle && s.Order == "" && d.Calls == nil:
		return "its calls are not counted, so that one would not show"
	case v.Rule == policy.Idle && s.Now.Before(known.Proof.CutOffUntil):
		return "a call was cut off, and may go on"
	case v.Rule == policy.Orphans && (known.Proof.Client == nil || known.Proof.Pipe == nil || !p.Descriptors[0].Deserted || !p.Descriptors[1].Deserted):
		return "it is no proven orphan"
	case v.Rule == policy.Orphans && slices.ContainsFunc(s.Processes, func(o situation.Process) bool {
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
