package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

func TestFreshClient(t *testing.T) {
	t.Parallel()
	w := New(Options{Rules: letterbox{}})
	serve(t, w)
	hanging := []string{"python3", "-Su", script(t, "print(0, flush=True)\nthreading.Event().wait()\n")}

	cmd, f := clientOf(t, answers{}, append([]string{"python3", "-S", "testdata/bin/client.py"}, hanging...)...)
	in := await(t, w, f.pid, "live", patience, inState(monitor.StateLive, ""))
	if in.Evidence.Transport != "stdio" || in.Evidence.ClientGone || in.Evidence.Orphaned || !in.Evidence.IdleSince.IsZero() {
		t.Errorf("%+v", in.Evidence)
	}
	if e := freshly(t, w, in.Identity).Evidence; e.Orphaned || e.ClientGone || !e.IdleSince.IsZero() {
		t.Errorf("with its client, without a dashboard: %+v", e)
	}
	cmd.Process.Kill()
	cmd.Wait()
	// Known at once, and red only when it has had its time to end.
	in = await(t, w, f.pid, "orphaned", patience, func(in *monitor.Instance) bool { return in != nil && in.Evidence.Orphaned })
	if !in.Evidence.ClientGone || in.Evidence.Suspected || in.Evidence.AloneSince.IsZero() || in.State == monitor.StateZombie {
		t.Errorf("%s, %+v", in.State, in.Evidence)
	}
	if e := freshly(t, w, in.Identity).Evidence; e != in.Evidence {
		t.Errorf("%+v", e)
	}
	syscall.Kill(f.pid, syscall.SIGSTOP)
	await(t, w, f.pid, "suspended", patience, func(in *monitor.Instance) bool { return in != nil && in.State == monitor.StateZombie })
	if e := freshly(t, w, in.Identity).Evidence; !e.Orphaned || !e.ClientGone {
		t.Errorf("suspended: %+v", e)
	}
	syscall.Kill(f.pid, syscall.SIGKILL)
	await(t, w, f.pid, "gone", patience, gone)
	if _, err := w.Fresh(t.Context(), in.Identity); !errors.Is(err, process.ErrGone) {
		t.Errorf("gone: %v", err)
	}

	// A program that the client has started holds its ends.
	client := filepath.Join(t.TempDir(), "client.py")
	text := `import subprocess, sys, threading
pipe, none = subprocess.PIPE, subprocess.DEVNULL
server = subprocess.Popen(sys.argv[1:], stdin=pipe, stdout=pipe)
subprocess.Popen(["sleep", "600"], stdin=none, stdout=none, pass_fds=(server.stdin.fileno(), server.stdout.fileno()))
print(server.pid, server.stdout.readline().decode().strip(), flush=True)
threading.Event().wait()
`
	if err := os.WriteFile(client, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, f = clientOf(t, answers{}, append([]string{"python3", "-S", client}, hanging...)...)
	await(t, w, f.pid, "live", patience, inState(monitor.StateLive, ""))
	cmd.Process.Kill()
	cmd.Wait()
	in = await(t, w, f.pid, "its client has gone", patience, func(in *monitor.Instance) bool { return in != nil && in.Evidence.ClientGone })
	if in.Evidence.Orphaned || in.Evidence.Suspected {
		t.Errorf("%+v", in.Evidence)
	}
	if e := freshly(t, w, in.Identity).Evidence; e.Orphaned || e.Suspected {
		t.Errorf("another holds its pipes: %+v", e)
	}
}

// One that is seen when its client has gone already is only suspected.
func TestSuspectedIsNotAlone(t *testing.T) {
	t.Parallel()
	cmd, f := clientOf(t, answers{}, "python3", "-S", "testdata/bin/client.py", "python3", "-Su", script(t, "print(0, flush=True)\nthreading.Event().wait()\n"))
	cmd.Process.Kill()
	cmd.Wait()
	w := New(Options{Rules: letterbox{}})
	serve(t, w)
	in := await(t, w, f.pid, "suspected", patience, func(in *monitor.Instance) bool { return in != nil && in.Evidence.Suspected })
	if in.Evidence.Orphaned || in.Evidence.ClientGone {
		t.Errorf("%+v", in.Evidence)
	}
	if e := freshly(t, w, in.Identity).Evidence; e.Orphaned || e.ClientGone || !e.Suspected {
		t.Errorf("suspected: %+v", e)
	}
	once, err := Once(t.Context(), Options{Rules: letterbox{}})
	if err != nil {
		t.Fatal(err)
	}
	if found := once.Instance(in.Identity); found == nil || !found.Evidence.Suspected || found.Cause != monitor.CauseSuspected || once.At.Before(found.Evidence.AloneSince) {
		t.Errorf("a single look: %+v", found)
	}
}

// Nobody is looked at again while nothing happens: what is known of a client is
// not found out anew, and costs no look at descriptors.
func TestEvidenceIsNotGatheredAnew(t *testing.T) {
	_, f := clientOf(t, answers{}, "python3", "-S", "testdata/bin/client.py", "python3", "-Su", script(t, "print(0, flush=True)\nthreading.Event().wait()\n"))
	l := New(Options{Rules: letterbox{}}).begin(process.NewExitWatch())
	ctx, cancel := context.WithCancel(t.Context())
	defer l.probes.Wait()
	defer cancel()
	now := time.Now()
	l.tick(ctx, now)
	server := tracking(t, l, f.pid, 0)
	waitFor(t, "the link is recorded", func() bool {
		now = now.Add(burstEvery)
		l.tick(ctx, now)
		return server.hasPipe()
	})
	// A link that a look would replace, by a client that a look would not find.
	link, client := monitor.Pipe{In: monitor.PipeEnd{Inode: 1}}, monitor.Client{Identity: monitor.Identity{PID: 1 << 30, Start: 1}}
	server.in.Evidence.Pipe, server.in.Client = link, &client
	for range 100 {
		now = now.Add(l.o.limits.tick)
		l.tick(ctx, now)
	}
	if e := server.in.Evidence; e.Pipe != link || e.Orphaned || e.Suspected || server.pipeTries > maxPipeTries || server.in.Client != &client {
		t.Errorf("looked at again: %+v", e)
	}
}
