//go:build unix

package watch

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// library starts a program that is a Serena dashboard by what it answers, and
// nothing that any rule knows by its command line.
func library(t *testing.T, a answers) *fake {
	t.Helper()
	script, err := os.ReadFile("testdata/bin/serena")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "my_own_server.py")
	if err := os.WriteFile(path, script, 0o600); err != nil {
		t.Fatal(err)
	}
	return startScript(t, path, a)
}

func TestHintFindsWhatNoRuleKnows(t *testing.T) {
	t.Parallel()
	w := watching(t)
	f := library(t, answers{"project": "alpha"})
	other := startFake(t, answers{"project": "beta"})
	await(t, w, other.pid, "the other is there", patience, inState(monitor.StateProject, ""))

	// Neither another's port nor a port that nobody has makes it a server.
	w.Hint(f.pid, other.port)
	w.Hint(f.pid, 1)
	w.Hint(f.pid, 0)
	w.Hint(1<<30, f.port)
	w.Hint(-1, f.port)
	w.Hint(other.pid, f.port)
	w.Hint(other.pid, other.port)
	late := startFake(t, answers{})
	await(t, w, late.pid, "a later one is there", patience, inState(monitor.StateNoProject, ""))
	for _, in := range w.Snapshot().Instances {
		if in.Identity.PID == f.pid || (in.Identity.PID == other.pid && in.Port != other.port) {
			t.Errorf("a lie was believed: %+v", in)
		}
	}

	w.Hint(f.pid, f.port)
	in := await(t, w, f.pid, "found", patience, inState(monitor.StateProject, ""))
	if in.Recognised || in.Port != f.port || in.Kind != monitor.KindSerena {
		t.Errorf("%+v", in)
	}
	w.Hint(f.pid, f.port)
	same := 0
	for _, in := range w.Snapshot().Instances {
		if in.Port == f.port {
			same++
		}
	}
	if same != 1 {
		t.Errorf("%d instances for one process", same)
	}
	f.signal(t, 9)
	await(t, w, f.pid, "gone", patience, gone)
}

// A word about a process that the scan knows asks it at once.
func TestHintAsksAtOnce(t *testing.T) {
	t.Parallel()
	w := watching(t)
	f := startFake(t, answers{"project": "alpha"})
	in := await(t, w, f.pid, "green", patience, inState(monitor.StateProject, ""))
	if !in.Recognised {
		t.Errorf("its command line says what it is: %+v", in)
	}
	f.say(t, answers{"project": "beta", "last": task("Task-9:ActivateProjectTool")})
	w.Hint(f.pid, f.port)
	await(t, w, f.pid, "the other project", patience, func(in *monitor.Instance) bool { return in != nil && in.ProjectName == "beta" })
}

// What comes while the inbox is read waits for the next time.
func TestInboxIsReadOnce(t *testing.T) {
	w, taken := New(Options{}), 0
	w.enqueue(func(context.Context, *loop, time.Time) {
		taken++
		w.enqueue(func(context.Context, *loop, time.Time) { taken++ })
	})
	if w.readInbox(t.Context(), nil); taken != 1 || len(w.inbox) != 1 {
		t.Errorf("%d taken in at once, %d wait", taken, len(w.inbox))
	}
}

// named recognises processes whose command line ends with its text.
type named string

func (named) Hides(string, []string) bool { return false }

func (n named) Match(_ string, args []string) (string, bool) {
	return string(n), len(args) > 1 && filepath.Base(args[len(args)-1]) == string(n)+".py"
}

func TestServersByRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "postbox.py")
	if err := os.WriteFile(script, []byte("import sys; print(0, flush=True); sys.stdin.read()\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := New(Options{Rules: named("postbox")})
	serve(t, w)
	cmd := exec.Command("python3", "-Su", script)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); cmd.Wait() })
	in := await(t, w, cmd.Process.Pid, "live", patience, inState(monitor.StateLive, ""))
	if in.Kind != "postbox" || in.Label() != strconv.Itoa(cmd.Process.Pid)+" - postbox" || !in.Recognised || in.DashboardURL != "" || in.Client == nil {
		t.Errorf("%+v", in)
	}
	// Other rules, without a restart.
	w.SetRules(noRules{})
	await(t, w, cmd.Process.Pid, "no rule knows it", patience, gone)
	if e := w.Snapshot().Recent[0]; e.Kind != monitor.EventForgotten {
		t.Errorf("it runs on, and the last event is %+v", e)
	}
	w.SetRules(named("postbox"))
	await(t, w, cmd.Process.Pid, "known again", patience, inState(monitor.StateLive, ""))
}

// clientOf starts a server below a client that holds its pipes.
func clientOf(t *testing.T, a answers, line ...string) (client *exec.Cmd, server *fake) {
	t.Helper()
	server = startLine(t, a, line)
	return server.cmd, server
}

func TestClientsWhoLeave(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("testdata/bin/serena")
	if err != nil {
		t.Fatal(err)
	}
	line := []string{"python3", "-S", "testdata/bin/client.py", "python3", "-Su", script, "start-mcp-server", "--context", "ide"}
	watched := func(t *testing.T, id monitor.Identity) bool {
		st, err := process.ReadStat(id.PID)
		return err == nil && st.Identity == id
	}

	t.Run("seen to leave", func(t *testing.T) {
		t.Parallel()
		d := drive(t)
		client, f := clientOf(t, answers{"project": "alpha"}, line...)
		in := d.await(f.pid, "green", inState(monitor.StateProject, ""))
		if in.Client == nil || in.Client.PID != client.Process.Pid || !watched(t, in.Client.Identity) {
			t.Fatalf("client %+v", in.Client)
		}
		client.Process.Kill()
		client.Wait()
		// The fake does not read its pipe, as a server that hangs.
		d.await(f.pid, "orphaned", inState(monitor.StateZombie, monitor.CauseOrphaned))
	})
	t.Run("alive", func(t *testing.T) {
		t.Parallel()
		client, f := clientOf(t, answers{"project": "gamma"}, line...)
		w := watching(t)
		await(t, w, f.pid, "green", patience, inState(monitor.StateProject, ""))
		l := New(Options{Rules: noRules{}}).begin(nil)
		ctx, cancel := context.WithCancel(t.Context())
		l.tick(ctx, time.Now())
		cancel()
		l.probes.Wait()
		tr := tracking(t, l, f.pid, client.Process.Pid)
		l.noteExit(tr.in.Client.Identity, time.Now()) // as if: the pipes tell the truth
		if !tr.hasPipe() || tr.in.Evidence.Orphaned || tr.in.Evidence.Suspected {
			t.Errorf("its client, pid %d, lives: %+v", client.Process.Pid, tr.in.Evidence)
		}
	})
}
