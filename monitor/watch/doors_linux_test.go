package watch

import (
	"context"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// door is a server that listens on a unix socket and closes it, or the other way
// round, at each SIGUSR1.
const door = `door = None
def turn(*a):
    global door
    if door:
        door.close()
        door = None
    else:
        door = socket.socket(socket.AF_UNIX)
        door.bind("\0letterbox-%d" % os.getpid())
        door.listen()
signal.signal(signal.SIGUSR1, turn)
`

const answersAndWaits = "print(0, flush=True)\nwhile True: time.sleep(60)\n"

// One that listens on a unix socket may have clients that no pipe tells of: the
// end of the one that started it proves nothing until the socket is closed.
func TestAloneSinceItListensNoMore(t *testing.T) {
	t.Parallel()
	client, f := clientOf(t, answers{}, "python3", "-S", "testdata/bin/client.py", "python3", "-Su", script(t, door+"turn()\n"+answersAndWaits))
	ctx, cancel := context.WithCancel(t.Context())
	l := New(Options{Rules: letterbox{}}).begin(process.NewExitWatch()) // it finds the Serenas of other tests too
	defer l.probes.Wait()
	defer cancel()
	now := time.Now()
	tick := func() {
		l.tick(ctx, now)
		now = now.Add(burstEvery)
	}
	tick()
	server := tracking(t, l, f.pid, client.Process.Pid)
	waitFor(t, "the link is recorded", func() bool { tick(); return server.hasPipe() })
	client.Process.Kill()
	client.Wait()
	l.noteExit(server.in.Client.Identity, now)
	waitFor(t, "nobody holds its pipes", func() bool { tick(); return !server.shownEvidence().AloneSince.IsZero() })
	for range 3 {
		tick()
	}
	if e := server.shownEvidence(); e.Orphaned || !e.Suspected || !e.ClientGone {
		t.Errorf("it listens: %+v", e)
	}
	shut := now
	syscall.Kill(f.pid, syscall.SIGUSR1)
	waitFor(t, "it is orphaned", func() bool { tick(); return server.shownEvidence().Orphaned })
	if e := server.shownEvidence(); e.Suspected || e.AloneSince.Before(shut) {
		t.Errorf("it has listened until %v: %+v", shut, e)
	}
}

func TestOrphanedUntilItListens(t *testing.T) {
	t.Parallel()
	w := New(Options{Rules: letterbox{}})
	serve(t, w)
	client, f := clientOf(t, answers{}, "python3", "-S", "testdata/bin/client.py", "python3", "-Su", script(t, door+answersAndWaits))
	await(t, w, f.pid, "live", patience, inState(monitor.StateLive, ""))
	client.Process.Kill()
	client.Wait()
	in := await(t, w, f.pid, "orphaned", patience, func(in *monitor.Instance) bool { return in != nil && in.Evidence.Orphaned })
	if e := freshly(t, w, in.Identity).Evidence; !e.Orphaned {
		t.Errorf("%+v", e)
	}
	syscall.Kill(f.pid, syscall.SIGUSR1)
	waitFor(t, "it listens", func() bool { e := freshly(t, w, in.Identity).Evidence; return !e.Orphaned && e.Suspected })
}
