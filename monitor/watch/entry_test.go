package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/situation"
	"lamplighter/monitor/situation/machinetest"
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

// treeMachine is the machine of a tree, all of whose processes have run for long.
type treeMachine struct {
	*machinetest.Machine
	tree *tree
}

// then is what is to become of the processes when the machine changes.
func (tr *tree) machine(then ...situation.Process) treeMachine {
	s := &situation.Situation{Platform: "linux", UID: 1000, Then: then}
	for _, p := range tr.Processes {
		one := p.process()
		for _, other := range tr.Processes {
			if other.Input == p.Input {
				one.SameInput = append(one.SameInput, other.PID)
			}
		}
		s.Processes = append(s.Processes, one)
	}
	return treeMachine{machinetest.New(s), tr}
}

func (p recorded) process() situation.Process {
	return situation.Process{
		PID: p.PID, Parent: p.Parent, Start: uint64(p.PID), UID: 1000, Name: p.Name, Exe: p.Exe, Args: p.Args,
		Server: &situation.Server{StartedAt: time.Unix(0, 0)},
	}
}

func (m treeMachine) Ends(id monitor.Identity) process.Ends {
	return treeEnds{m.Machine.Ends(id), m, id.PID}
}

type treeEnds struct {
	process.Ends
	m   treeMachine
	pid int
}

// Holder is the client for what has the ends of one of its own children.
func (e treeEnds) Holder(client monitor.Identity) (process.Info, monitor.Pipe, bool, error) {
	all := e.m.tree.Processes
	p := all[slices.IndexFunc(all, func(p recorded) bool { return p.PID == e.pid })]
	if !slices.ContainsFunc(all, func(child recorded) bool {
		return child.Parent == client.PID && child.Input == p.Input && child.Output == p.Output && !strings.HasPrefix(p.Input, "/")
	}) {
		return process.Info{}, monitor.Pipe{}, false, nil
	}
	info, err := e.m.Read(client.PID)
	return info, monitor.Pipe{}, true, err
}

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
		s, err := Once(t.Context(), Options{System: tr.machine(), Settings: recordedSettings{&tr}})
		if err != nil {
			t.Fatal(err)
		}
		got := map[int]string{}
		for _, in := range s.Instances {
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
	l := New(Options{Rules: noRules{}}).begin(nil)
	p := process.Info{Identity: l.self, Exe: "/b/memory", Args: []string{"/b/memory"}}
	tr := l.newTracked(p, "memory", serena.Command{}, time.Now())
	for _, before := range []*monitor.Entry{{Proves: true, Program: p.Exe}, nil} { // nil: a rule knows it
		tr.in.Entry = before
		l.applyEntry(tr, p, clients.Entry{Name: "notes"}, time.Now())
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
		then := tr.Processes[1]
		then.Exe, then.Args = c.then[0], c.then
		m := tr.machine(then.process())
		l := New(Options{System: m, Settings: recordedSettings{tr}}).begin(nil)
		now := time.Now()
		l.tick(t.Context(), now)
		id := monitor.Identity{PID: 101, Start: 101}
		if l.tracked[id] == nil || l.tracked[id].in.Certainty() != monitor.ByEntry {
			t.Fatalf("%s: its entry does not name it", name)
		}
		m.Change()
		info, _ := m.Read(101)
		l.discover([]process.Info{info}, now)
		in := l.tracked[id]
		if goesOn := in != nil && in.in.ProvenByEntry(c.then[0]) && in.in.Name() == "notes" && in.in.Sum == hashArguments(c.then); goesOn != c.goesOn {
			t.Errorf("%s: goes on: %v", name, goesOn)
		}
	}
}

// youngMachine is one on which all processes have begun at one moment.
type youngMachine struct {
	treeMachine
	began time.Time
}

func (s youngMachine) Started(monitor.Identity) (time.Time, error) { return s.began, nil }

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
		system := youngMachine{tr.machine(), now.Add(-300 * time.Millisecond)}
		l := New(Options{System: system, Settings: askedSettings{recordedSettings{tr}, &asked}}).begin(nil)
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

// What is unsure has its name half a minute after it was written into the settings.
func TestCorrectedSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home := t.TempDir()
		write := func(text string) {
			if err := os.WriteFile(filepath.Join(home, ".claude.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(`{"mcpServers": {"memory": {"command": "/b/memory-mcp"`)
		settings := clients.NewSettings(runtime.GOOS, home, func(string) string { return "" })
		l := New(Options{System: aTree("/b/memory-mcp", "/b/memory-mcp").machine(), Settings: settings}).begin(nil)
		look := func() *tracked {
			l.tick(t.Context(), time.Now())
			time.Sleep(time.Second)
			settings.Look()
			l.nameChildren(true, time.Now())
			return l.tracked[monitor.Identity{PID: 101, Start: 101}]
		}
		if in := look(); in == nil || !in.in.OnPipes {
			t.Fatalf("it is not unsure: %+v", in)
		}
		write(`{"mcpServers": {"memory": {"command": "/b/memory-mcp"}}}`)
		time.Sleep(burstEvery)
		if in := look(); in.in.OnPipes || in.in.Name() != "memory" {
			t.Errorf("it is %s, on pipes %v", in.in.Name(), in.in.OnPipes)
		}
	})
}
