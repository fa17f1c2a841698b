package watch

import (
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// The tree of a shared server: keeper, launcher, server, and two language servers that
// it has started.
const (
	keeperPID = iota + 10
	launcherPID
	serverPID
	goplsPID
	tsserverPID
	jobPID
)

// job is what goes on in the tree of a server, in ticks of 10 ms.
type job struct {
	server, gopls, tsserver int  // CPU for each half a minute
	parent                  int  // of a process of its own, 0: none
	cpu                     int  // of that
	every                   int  // it is another process each so many looks
	ends                    int  // it is there for so many looks only; 0: always
	late                    bool // the second language server started a quarter of an hour later
}

func (j job) tree(look int) []process.Stat {
	stat := func(pid, parent, ticks int) process.Stat {
		return process.Stat{Identity: monitor.Identity{PID: pid, Start: 1}, Parent: parent, CPU: time.Duration(ticks) * 10 * time.Millisecond}
	}
	tree := []process.Stat{
		stat(keeperPID, 1, 0), stat(launcherPID, keeperPID, 3), stat(serverPID, launcherPID, 200+j.server*look),
		stat(goplsPID, serverPID, 50+j.gopls*look),
	}
	if !j.late || look >= 30 {
		tree = append(tree, stat(tsserverPID, goplsPID, 20+j.tsserver*look))
	}
	if j.parent != 0 && (j.ends == 0 || look < j.ends) {
		one := stat(jobPID, j.parent, j.cpu*look)
		if j.every > 0 {
			one.Identity.Start = uint64(2 + look/j.every)
		}
		tree = append(tree, one)
	}
	return tree
}

// Twenty jobs that go on while nobody asks for anything, and what is none: after an
// hour of looks each half a minute, whether all was quiet for the last half an hour.
func TestWork(t *testing.T) {
	for name, c := range map[string]struct {
		job   job
		quiet bool
	}{
		"nothing":                                 {job{}, true},
		"the server wakes ten times a second":     {job{server: 12}, true}, // of it its queue tells
		"language servers at rest":                {job{gopls: 1, tsserver: 1}, true},
		"a language server came 45 minutes ago":   {job{late: true}, true},
		"a build that is over since 50 minutes":   {job{parent: keeperPID, cpu: 3000, ends: 20}, true},
		"a language server indexes":               {job{gopls: 2400}, false},
		"a slow one indexes":                      {job{gopls: 3}, false},
		"two index slowly":                        {job{gopls: 2, tsserver: 1}, false},
		"a compiler in a language server":         {job{tsserver: 3000}, false},
		"the language server checks each save":    {job{parent: goplsPID, cpu: 5, every: 4}, false},
		"it runs a tool now and then":             {job{parent: goplsPID, every: 50}, false},
		"a build with make":                       {job{parent: keeperPID, cpu: 3000}, false},
		"a build that compiles file by file":      {job{parent: keeperPID, cpu: 2000, every: 1}, false},
		"a test run below the server":             {job{parent: serverPID, cpu: 1500}, false},
		"a build that ended a quarter hour ago":   {job{parent: keeperPID, cpu: 3000, ends: 90}, false},
		"a development server that waits":         {job{parent: keeperPID}, false},
		"a watcher of files without a change":     {job{parent: keeperPID}, false},
		"tail -f of a log":                        {job{parent: keeperPID}, false},
		"a loop that sleeps":                      {job{parent: keeperPID, every: 2}, false},
		"a loop that asks a server each minute":   {job{parent: serverPID, cpu: 1, every: 2}, false},
		"a database that was started":             {job{parent: keeperPID, cpu: 1}, false},
		"a download":                              {job{parent: keeperPID, cpu: 2}, false},
		"a container's client":                    {job{parent: keeperPID}, false},
		"a daemon of a build tool":                {job{parent: keeperPID, cpu: 1}, false},
		"a debugger that holds a program":         {job{parent: serverPID, cpu: 3}, false},
		"a notebook that computes":                {job{parent: serverPID, cpu: 3000}, false},
		"a second index beside resting processes": {job{gopls: 1, tsserver: 1, parent: goplsPID, cpu: 1}, false},
		"something below the launcher":            {job{parent: launcherPID}, false},
	} {
		var w work
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var now, since time.Time
		for look := range 121 {
			now = begin.Add(time.Duration(look) * 30 * time.Second)
			if w.noteTree(c.job.tree(look), monitor.Identity{PID: serverPID, Start: 1}, now) {
				since = now
			}
		}
		if quiet := now.Sub(since) >= 30*time.Minute; quiet != c.quiet {
			t.Errorf("%s: quiet %v, since %v before the last look", name, quiet, now.Sub(since))
		}
	}
}
