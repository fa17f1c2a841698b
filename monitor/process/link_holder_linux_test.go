package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/programtest"
)

// scripted is what a program started through scripts of the user's, each of
// which waits for what it has started. The test holds the ends.
func scripted(t *testing.T, scripts int, server string) (chain []monitor.Identity) {
	t.Helper()
	dir := t.TempDir()
	line := server
	for i := range scripts {
		path := filepath.Join(dir, "run"+strconv.Itoa(i)+".sh")
		if err := programtest.WriteFile(path, []byte("#!/bin/sh\n"+line+"\n:\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		line = path
	}
	cmd := exec.Command("sh", line)
	in, out := pipes(t, cmd)
	t.Cleanup(func() { in.Close(); out.Close() })
	outer := startGroup(t, cmd)
	id := below(t, outer, "600").Identity
	for chain = []monitor.Identity{id}; id.PID != outer; {
		s, err := ReadStat(id.PID)
		if err != nil {
			t.Fatal(err)
		}
		id = identityOf(t, s.Parent)
		chain = append(chain, id)
	}
	if len(chain) != scripts+1 {
		t.Fatalf("chain %v", chain)
	}
	return chain
}

func TestHolder(t *testing.T) {
	me := identityOf(t, os.Getpid())
	for _, c := range []struct {
		name    string
		scripts int
		server  string
		found   bool
	}{
		{"one script", 1, "sleep 600", true},
		{"three", 3, "sleep 600", true},
		{"more than anybody has", 4, "sleep 600", false},
		{"ends that were moved", 2, "(exec 8<&0 9>&1 </dev/null >&2; exec sleep 600)", true},
		{"an input of its own", 1, "sleep 600 </dev/null", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			chain := scripted(t, c.scripts, c.server)
			before := openDescriptors(t)
			holder, link, found, err := (localEnds{chain[0]}).Holder(chain[1])
			if found != c.found || err != nil {
				t.Fatalf("found %v, %v", found, err)
			}
			if after := openDescriptors(t); after != before {
				t.Errorf("%d descriptors, before %d", after, before)
			}
			if !found {
				return
			}
			if holder.Identity != me || holder.Parent != os.Getppid() || !slices.Equal(holder.Args, os.Args) {
				t.Errorf("%+v", holder)
			}
			wantClosed(t, link, chain[0], false)
			if again, same, found, err := (localEnds{chain[0]}).Holder(me); again.Identity != me || same != link || !found || err != nil {
				t.Errorf("asked for itself: %+v, %v, %v, %v", again, same, found, err)
			}
		})
	}
}
