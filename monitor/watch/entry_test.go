package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// tree is a client with all that it has started, as it was recorded.
type tree struct {
	Source  string `json:"source"`
	ID      string `json:"id"`     // of the client
	Client  int    `json:"client"` // its pid
	Entries map[string]struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	} `json:"entries"`
	Processes []recorded `json:"processes"`
	// Want are the names by pid; "unsure" for what is only shown. What is not in it is
	// no server.
	Want map[int]string `json:"want"`
}

type recorded struct {
	PID    int      `json:"pid"`
	Parent int      `json:"ppid"`
	Name   string   `json:"name"`
	Exe    string   `json:"exe"`
	Args   []string `json:"args"`
	Input  string   `json:"input"`  // what descriptor 0 is
	Output string   `json:"output"` // and 1
}

// recordedSystem is the machine of a tree. Everything else is as nobody's.
type recordedSystem struct {
	process.System
	tree *tree
}

func (s recordedSystem) info(pid int) (process.Info, bool) {
	for _, p := range s.tree.Processes {
		if p.PID == pid {
			return process.Info{Identity: monitor.Identity{PID: pid, Start: uint64(pid)}, Parent: p.Parent, Name: p.Name, Exe: p.Exe, Args: p.Args}, true
		}
	}
	return process.Info{}, false
}

func (s recordedSystem) Self() int { return 1 << 30 }

func (s recordedSystem) Scan() func() ([]process.Info, error) {
	done := false
	return func() (list []process.Info, err error) {
		if done {
			return nil, nil
		}
		done = true
		for _, p := range s.tree.Processes {
			info, _ := s.info(p.PID)
			list = append(list, info)
		}
		return list, nil
	}
}

func (s recordedSystem) Read(pid int) (process.Info, error) {
	if info, ok := s.info(pid); ok {
		return info, nil
	}
	return process.Info{}, process.ErrGone
}

func (s recordedSystem) Stat(pid int) (process.Stat, error) {
	info, err := s.Read(pid)
	return process.Stat{Identity: info.Identity, Parent: info.Parent}, err
}

func (s recordedSystem) Tree(root monitor.Identity) ([]process.Stat, error) {
	st, err := s.Stat(root.PID)
	if err != nil {
		return nil, err
	}
	list := []process.Stat{st}
	for i := 0; i < len(list); i++ {
		for _, p := range s.tree.Processes {
			if p.Parent == list[i].PID {
				child, _ := s.Stat(p.PID)
				list = append(list, child)
			}
		}
	}
	return list, nil
}

func (s recordedSystem) Started(monitor.Identity) (time.Time, error) { return time.Unix(0, 0), nil }

func (s recordedSystem) MainThreadCPU(int) (time.Duration, error) { return 0, process.ErrGone }

func (s recordedSystem) SameUser(int) (bool, error) { return true, nil }

func (s recordedSystem) Listeners([]int) ([]process.Listener, error) { return nil, nil }

func (s recordedSystem) Ends(id monitor.Identity) process.Ends { return recordedEnds{s, id.PID} }

type recordedEnds struct {
	s   recordedSystem
	pid int
}

func (e recordedEnds) at(pid int) recorded {
	i := slices.IndexFunc(e.s.tree.Processes, func(p recorded) bool { return p.PID == pid })
	return e.s.tree.Processes[i]
}

// Holder is the client for what has the ends of one of its own children.
func (e recordedEnds) Holder(client monitor.Identity) (process.Info, monitor.Pipe, bool, error) {
	p := e.at(e.pid)
	for _, child := range e.s.tree.Processes {
		if child.Parent == client.PID && child.Input == p.Input && child.Output == p.Output && !strings.HasPrefix(p.Input, "/") {
			info, err := e.s.Read(client.PID)
			return info, monitor.Pipe{}, true, err
		}
	}
	return process.Info{}, monitor.Pipe{}, false, nil
}

func (e recordedEnds) Closed(monitor.Pipe) (bool, error) { return false, nil }

func (e recordedEnds) Abandoned() (bool, error) { return false, nil }

func (e recordedEnds) HasUnixClients([]monitor.Identity) (bool, error) { return false, nil }

func (e recordedEnds) SameInput(wrapper monitor.Identity) bool {
	return e.at(e.pid).Input == e.at(wrapper.PID).Input
}

func (e recordedEnds) Directory() (string, error) { return "/home/u/proj", nil }

// recordedSettings are those of a tree.
type recordedSettings struct{ tree *tree }

func (s recordedSettings) Entries(string, time.Time) (list []clients.Entry, current bool) {
	for name, e := range s.tree.Entries {
		list = append(list, clients.Entry{Client: s.tree.ID, Name: name, Command: e.Command, Args: e.Args, Scope: clients.User})
	}
	return list, true
}

func (s recordedSettings) Look() {}

func (s recordedSettings) Serve(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return ctx.Err()
}

// Every server that a client holds has the name that the client's settings give it,
// nothing else is one, and of what is on a client's pipes little is unsure.
func TestRecordedTrees(t *testing.T) {
	files, err := filepath.Glob("testdata/trees/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no trees", err)
	}
	servers, unsure := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var tr tree
		if err := json.Unmarshal(text, &tr); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		s, err := Once(t.Context(), Options{System: recordedSystem{process.Local(), &tr}, Settings: recordedSettings{&tr}})
		if err != nil {
			t.Fatal(err)
		}
		got := map[int]string{}
		for i := range s.Instances {
			in := &s.Instances[i]
			switch got[in.Identity.PID] = in.Name(); {
			case in.Certainty() == monitor.Unsure:
				unsure++
				got[in.Identity.PID] = "unsure"
			default:
				servers++
			}
		}
		var lines []string
		for _, p := range tr.Processes {
			if got[p.PID] != tr.Want[p.PID] {
				lines = append(lines, fmt.Sprintf("%d %q is %q, want %q", p.PID, p.Args, got[p.PID], tr.Want[p.PID]))
			}
		}
		if len(lines) > 0 {
			t.Errorf("%s:\n%s", file, strings.Join(lines, "\n"))
		}
	}
	if unsure*50 > servers {
		t.Errorf("%d are unsure of %d", unsure, servers)
	}
}

// What an entry has told to be a server is known by it after each restart.
func TestEntryGoesOnToProve(t *testing.T) {
	l := newLoop(Options{Rules: noRules{}}, nil)
	p := process.Info{Identity: l.self, Exe: "/b/memory", Args: []string{"/b/memory"}}
	tr := newTracked(p, "memory", serena.Command{}, time.Now())
	for _, before := range []*monitor.Entry{{Proves: true, Program: p.Exe}, nil} { // nil: a rule knows it
		tr.in.Entry = before
		l.takeEntry(tr, p, clients.Entry{Name: "notes"}, time.Now())
		if e := tr.in.Entry; e.Name != "notes" || e.Proves != (before != nil) || tr.in.ProvenByEntry(p.Exe) != (before != nil) {
			t.Errorf("from %+v: %+v", before, e)
		}
	}
}

// aTree is a client that has started one process, which is 101.
func aTree(exe string, args ...string) *tree {
	tr := &tree{ID: "claude-code", Processes: []recorded{
		{PID: 100, Parent: 1, Name: "claude", Exe: "/u/.local/share/claude/versions/2.1.329", Args: []string{"claude"}, Input: "/dev/null", Output: "/dev/null"},
		{PID: 101, Parent: 100, Exe: exe, Args: args, Input: "pipe:[1]", Output: "pipe:[2]"},
	}}
	tr.Entries = map[string]struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{"notes": {Command: "/w/start-notes.sh"}, "memory": {Command: "/b/memory"}}
	return tr
}

// What a script has become that an entry names is still the server; not what never serves,
// and not what another program has become.
func TestEntryOfAScript(t *testing.T) {
	for name, c := range map[string]struct {
		first, then []string
		goesOn      bool
	}{
		"a script":                 {[]string{"/bin/bash", "/w/start-notes.sh"}, []string{"/b/node", "server.js"}, true},
		"a script, and another":    {[]string{"/bin/bash", "/w/start-notes.sh"}, []string{"/bin/dash", "/w/more.sh"}, true},
		"a script, and an editor":  {[]string{"/bin/bash", "/w/start-notes.sh"}, []string{"/usr/bin/vim"}, false},
		"a script, and a launcher": {[]string{"/bin/bash", "/w/start-notes.sh"}, []string{"/b/uvx", "server"}, false},
		"a script, and a client":   {[]string{"/bin/bash", "/w/start-notes.sh"}, []string{"/u/.local/share/claude/versions/2.1.400"}, false},
		"a script, and a secret":   {[]string{"/bin/bash", "/w/start-notes.sh"}, []string{"", "server"}, false},
		"a program":                {[]string{"/b/memory"}, []string{"/b/node", "server.js"}, false},
	} {
		tr := aTree(c.first[0], c.first...)
		l := newLoop(Options{System: recordedSystem{process.Local(), tr}, Settings: recordedSettings{tr}}, nil)
		now := time.Now()
		l.tick(t.Context(), now)
		id := monitor.Identity{PID: 101, Start: 101}
		if l.tracked[id] == nil || l.tracked[id].in.Certainty() != monitor.ByEntry {
			t.Fatalf("%s: its entry does not name it", name)
		}
		tr.Processes[1].Exe, tr.Processes[1].Args = c.then[0], c.then
		info, _ := l.o.System.Read(101)
		l.discover([]process.Info{info}, now)
		in := l.tracked[id]
		if goesOn := in != nil && in.in.ProvenByEntry(c.then[0]) && in.in.Name() == "notes" && in.in.Sum == sumOf(c.then); goesOn != c.goesOn {
			t.Errorf("%s: goes on: %v", name, goesOn)
		}
	}
}

// youngSystem is one on which all processes have begun at one moment.
type youngSystem struct {
	recordedSystem
	began time.Time
}

func (s youngSystem) Started(monitor.Identity) (time.Time, error) { return s.began, nil }

// askedSettings are those of a tree, which were read, and note when they are to be newer.
type askedSettings struct {
	recordedSettings
	asked *time.Time
}

func (s askedSettings) Entries(dir string, since time.Time) ([]clients.Entry, bool) {
	if since.After(*s.asked) {
		*s.asked = since
	}
	list, _ := s.recordedSettings.Entries(dir, since)
	return list, since.IsZero()
}

// What a client starts for a moment has nothing read, and what is in the settings that were
// read has its name at once.
func TestSettingsAreNotAskedForWhatEndsSoon(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		line        string
		named, asks bool // at once
	}{
		{"/bin/bash /w/tool.sh", false, false},
		{"/b/other", false, false},
		{"/b/memory", true, true},
	} {
		args := strings.Fields(c.line)
		tr, asked := aTree(args[0], args...), time.Time{}
		system := youngSystem{recordedSystem{process.Local(), tr}, now.Add(-300 * time.Millisecond)}
		l := newLoop(Options{System: system, Settings: askedSettings{recordedSettings{tr}, &asked}}, nil)
		l.tick(t.Context(), now)
		if named, asks := len(l.tracked) > 0, asked.Equal(now); named != c.named || asks != c.asks {
			t.Errorf("%s: named %v, asks %v", c.line, named, asks)
		}
		l.tick(t.Context(), now.Add(time.Second))
		if !asked.Equal(now) {
			t.Errorf("%s: does not ask when it is a second old", c.line)
		}
	}
}
