package situation

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// A machine that is played from a recording tells of a conversation what was recorded.
func TestRecordedConversation(t *testing.T) {
	cmd := exec.Command("sh", "-c", "cat; :")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); out.Close(); cmd.Wait() })
	wrapper, err := process.ReadStat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	me, err := process.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var server process.Info
	for deadline := time.Now().Add(time.Minute); server.Name != "cat"; time.Sleep(time.Millisecond) {
		if tree, err := process.Tree(wrapper.Identity); err == nil && len(tree) == 2 {
			server, _ = process.Read(tree[1].PID)
		}
		if time.Now().After(deadline) {
			t.Fatal("its server does not run")
		}
	}
	for _, orphaned := range []bool{false, true} {
		instance := monitor.Instance{Identity: server.Identity, Client: &monitor.Client{Identity: me.Identity}}
		if instance.Evidence.Orphaned = orphaned; orphaned {
			instance.Client.Identity = monitor.Identity{PID: me.PID, Start: 1}
		}
		s, err := Record(t.Context(), &monitor.Snapshot{At: time.Now(), Instances: []monitor.Instance{instance}}, me.PID)
		if err != nil || len(s.Servers) != 1 || s.Servers[0].Proof.Pipe == nil {
			t.Fatalf("%+v, %v", s, err)
		}
		s.Name = "recorded"
		if err := s.check(); err != nil {
			t.Error(err)
		}
		ends := NewMachine(s).Ends(server.Identity)
		if closed, err := ends.Closed(*s.Servers[0].Proof.Pipe); closed != orphaned || err != nil {
			t.Errorf("orphaned %v: closed %v, %v", orphaned, closed, err)
		}
		if !ends.SameInput(wrapper.Identity) || ends.SameInput(me.Identity) {
			t.Errorf("orphaned %v: its wrapper has not the same input, or we have", orphaned)
		}
	}
}
