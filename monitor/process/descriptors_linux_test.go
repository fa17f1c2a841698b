package process

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor"
)

// TestDescriptors: what a server and its client share shows in both, and that
// the client is gone shows in the server.
func TestDescriptors(t *testing.T) {
	for name, plan := range map[string]linkPlan{
		"pipes":           {In: "pipe", Out: "pipe"},
		"pipes, moved":    {In: "pipe", Out: "pipe", Moved: true},
		"sockets":         {In: "socket", Out: "socket"},
		"one socket":      {In: "socket", One: true},
		"pipe and socket": {In: "pipe", Out: "socket"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startPair(t, plan)
			link := mustFind(t, p.server, p.client)
			find := func(id monitor.Identity, inode uint64) (Descriptor, bool) {
				t.Helper()
				all, err := Descriptors(id)
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(all, func(d Descriptor) bool { return d.Inode == inode })
				if i < 0 {
					return Descriptor{}, false
				}
				return all[i], true
			}
			for _, e := range []LinkEnd{link.In, link.Out} {
				d, ok := find(p.server, e.Inode)
				if !ok || d.Kind != e.Kind || d.Peer != e.Peer || d.Deserted {
					t.Errorf("%+v: the server has %+v, %v", e, d, ok)
				}
				theirs := e.Peer
				if e.Kind == Pipe {
					theirs = e.Inode
				}
				if d, ok := find(p.client, theirs); !ok || d.Deserted {
					t.Errorf("%+v: the client has %+v, %v", e, d, ok)
				}
			}
			if all, _ := Descriptors(p.server); plan.Moved && (all[0].FD != 0 || all[0].File != "null") {
				t.Errorf("standard input is %+v", all[0])
			}
			p.killClient(t)
			for _, e := range []LinkEnd{link.In, link.Out} {
				if d, ok := find(p.server, e.Inode); !ok || !d.Deserted || d.Peer != 0 {
					t.Errorf("without the client, %+v: %+v, %v", e, d, ok)
				}
			}
		})
	}
}

func TestDescriptorsOfTheDead(t *testing.T) {
	me := identityOf(t, os.Getpid())
	if _, err := Descriptors(monitor.Identity{PID: me.PID, Start: me.Start + 1}); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	if _, err := Cgroup(unused(t)); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

func TestReadControl(t *testing.T) {
	own, err := Cgroup(os.Getpid())
	if err != nil || !strings.Contains(own, ":") {
		t.Errorf("%q, %v", own, err)
	}
	user := "0::/user.slice/user-1000.slice/user@1000.service"
	for text, want := range map[string]Control{
		user + "/app.slice/mcp.service\n":        {Unit: "mcp.service"},
		user + "/init.scope\n":                   {},
		"0::/docker/" + containerID + "\n":       {Container: containerID},
		"0::/system.slice/x.service\n5:cpu:/y\n": {Unit: "x.service"},
		"":                                       {},
	} {
		if got := ReadControl(text); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
