package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/process"
	"lamplighter/monitor/programtest"
)

func TestAServerEnds(t *testing.T) {
	w := newWorld(t)
	w.own(t)
	k := w.keepHelper(t, session, "exit")
	if output, exited := k.finished(t); output != "hello\n" || exited != "code 3" {
		t.Errorf("it printed %q and ended with %s", output, exited)
	}
	if log := w.log(t); log != "hello\n" {
		t.Errorf("the log holds %q", log)
	}
}

func TestASessionEndsWithItsOwner(t *testing.T) {
	for _, mode := range []string{"serve", "parent"} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t)
			owner := w.own(t)
			k := w.keepHelper(t, session, mode)
			k.prints(t, "ready")
			owner.kill()
			k.finished(t)
		})
	}
}

// TestIdentity: the launcher is told who was started.
func TestIdentity(t *testing.T) {
	w := newWorld(t)
	w.own(t)
	k := w.keepHelper(t, session, "serve")
	pid := k.server(t)
	s, err := process.ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := k.says(t, "started"), strings.Replace(s.Identity.String(), "-", " ", 1); got != want {
		t.Errorf("it says %q of %q", got, want)
	}
	k.prints(t, "ready "+strconv.Itoa(pid))
}

// A session that starts when its owner has just died goes as well.
func TestASessionWithoutAnOwner(t *testing.T) {
	k := newWorld(t).keepHelper(t, session, "serve")
	k.finished(t)
}

func TestAServerThatLeavesOthers(t *testing.T) {
	w := newWorld(t)
	owner := w.own(t)
	k := w.keepHelper(t, session, "parent")
	k.prints(t, "ready")
	if exited := k.says(t, "exited"); !strings.HasSuffix(exited, "code 0") {
		t.Errorf("it ended with %s", exited)
	}
	if _, over := k.said("output"); over {
		t.Error("the keeper has ended although something lives")
	}
	owner.kill()
	k.finished(t)
}

// TestShared: a keeper that nobody adopts ends when its time is over. Others
// that should not, have had the same time.
func TestShared(t *testing.T) {
	lone, adopted, patient, replaced := newWorld(t), newWorld(t), newWorld(t), newWorld(t)
	var keepers []*keeper
	var owners []*running
	for _, w := range []*world{lone, adopted, patient, replaced} {
		options := shared
		if w == patient {
			options = []string{"--lifetime", "shared"}
		}
		owners = append(owners, w.own(t))
		k := w.keepHelper(t, options, "serve")
		k.prints(t, "ready")
		keepers = append(keepers, k)
	}
	// The file of the lock may have been removed while it was waited for.
	if err := os.Remove(replaced.alive); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	// The lone one is last, so that its time is over last.
	// Who follows runs before, for a program may take longer to start than a keeper
	// waits for it.
	for i, w := range []*world{adopted, replaced} {
		next := helper(t, "follow", w.alive)
		owners[1+2*i].kill()
		apptest.Eventually(t, "the next one has the lock", func() bool { return strings.HasSuffix(next.out.String(), "\nready\n") })
		owners[1+2*i] = next
	}
	owners[2].kill()
	owners[0].kill()
	keepers[0].finished(t)
	for _, k := range keepers[1:] {
		if !k.isRunning() {
			t.Fatalf("a keeper has ended too: %q", k.out.String())
		}
	}
	owners[1].kill()
	owners[3].kill()
	keepers[1].finished(t)
	keepers[3].finished(t)
}

func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := programtest.WriteFile(text, []byte("not a program"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"missing":        filepath.Join(dir, "missing\nlines \"quoted\""),
		"a directory":    dir,
		"not a program":  text,
		"below a file":   filepath.Join(text, "x"),
		"a name with \\": filepath.Join(dir, `a\b`),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.own(t)
			k := w.keep(t, session, path)
			w.notStarted(t, k, "cannot start ")
		})
	}
	t.Run("no lock", func(t *testing.T) {
		w := newWorld(t)
		w.alive = filepath.Join(dir, "no lock")
		w.notStarted(t, w.keepHelper(t, session, "serve"), "cannot open the lock of the background process ")
	})
}

func (w *world) notStarted(t *testing.T, k *keeper, why string) {
	t.Helper()
	if status := k.status(t); status != 1 {
		t.Errorf("exit status %d", status)
	}
	said := k.out.String()
	if lines := strings.Split(said, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "failed "+why) || lines[1] != `output ""` {
		t.Errorf("it said %q", said)
	}
}

func TestWrongUsage(t *testing.T) {
	w := newWorld(t)
	cmd := w.keeperCommand([]string{"--lifetime", "long"}, testBinary(t))
	var said apptest.Buffer
	cmd.Stderr = &said
	k := w.run(t, cmd)
	if status := k.status(t); status != 2 || k.out.String() != "" {
		t.Errorf("exit status %d, it said %q", status, k.out.String())
	}
	apptest.Contains(t, said.String(), "--lifetime is session or shared", keepUsage)
}

// TestFlood: a server that prints without end is not held up, and the log is
// bounded.
func TestFlood(t *testing.T) {
	w := newWorld(t)
	w.own(t)
	k := w.keepHelper(t, session, "flood")
	output, exited := k.finished(t)
	if exited != "code 0" || len(output) != maxLast || !strings.HasSuffix(output, "xx\nthe end\n") {
		t.Errorf("it ended with %s after %d bytes: …%q", exited, len(output), output[max(0, len(output)-20):])
	}
	for _, name := range []string{"output.log", "output.log.1"} {
		info, err := os.Stat(filepath.Join(w.dir, name))
		if err != nil || info.Size() == 0 || info.Size() > maxLog {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if !strings.HasSuffix(w.log(t), "the end\n") {
		t.Error("the log does not hold the end")
	}
}

// TestNobodyReads: a launcher that is gone, or that does not read, holds up
// nobody.
func TestNobodyReads(t *testing.T) {
	for _, gone := range []bool{true, false} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t)
		owner := w.own(t)
		cmd := w.keeperCommand(session, testBinary(t))
		cmd.Env = append(cmd.Env, helperMode+"=flood")
		cmd.Stdout = write
		if gone {
			read.Close()
		} else {
			defer read.Close()
			fill(t, write)
		}
		k := w.run(t, cmd)
		write.Close()
		if status := k.status(t); status != 0 {
			t.Errorf("reader gone %v: exit status %d", gone, status)
		}
		if !strings.HasSuffix(w.log(t), "the end\n") {
			t.Errorf("reader gone %v: the server was held up", gone)
		}
		owner.kill()
	}
}
