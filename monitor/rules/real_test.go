//go:build real

package rules

import (
	"slices"
	"testing"

	"lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// In the tree of a real server exactly one process is the server, and all
// above it are launchers.
func TestRealServers(t *testing.T) {
	set := New(nil)
	for want, command := range map[string][]string{
		"filesystem": serenatest.Filesystem(t, t.TempDir()),
		"memory":     serenatest.Memory(t),
		"time":       serenatest.Time(t),
	} {
		t.Run(want, func(t *testing.T) {
			s := serenatest.Start(t, serenatest.Options{Command: command})
			s.Initialize(t)
			pids := s.Pids()
			if !slices.Contains(pids, s.ServerPID) {
				t.Fatalf("server %d is not among %v", s.ServerPID, pids)
			}
			for _, pid := range pids {
				p, err := process.Read(pid)
				if err != nil {
					t.Fatal(err)
				}
				name, ok := set.Match(p.Exe, p.Args)
				launcher := IsLauncher(p.Exe, p.Args)
				t.Logf("%s %q: %q, launcher %v", p.Exe, p.Args, name, launcher)
				if pid == s.ServerPID && (name != want || launcher) || pid != s.ServerPID && (ok || !launcher) {
					t.Errorf("pid %d is judged wrongly", pid)
				}
			}
		})
	}
}
