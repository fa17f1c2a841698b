package launch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// TestInherited is said when all that an earlier run has left is dealt with, not
// before, and the ends of processes are told before those of all they leave.
func TestInherited(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	first, stop := running(t, state, func(l *Launcher) { l.o.Limits.Linger = Limits{}.orDefault().Linger })
	<-first.Inherited() // nothing
	spec := order("--ignore", "--child")
	spec.Lifetime = Shared
	if _, err := first.Launch(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	stop()

	readable := make(chan struct{})
	told := make(chan *Server, 2)
	second, _ := running(t, state, func(l *Launcher) {
		l.o.Adopted = func(s *Server) { told <- s }
		l.o.Limits.Retry = lockEvery
		l.readRecord = func(dir, id string) (record, error) {
			select {
			case <-readable:
				return readRecord(dir, id)
			default:
				return record{}, &fs.PathError{Op: "open", Path: dir, Err: syscall.EMFILE}
			}
		}
	})
	select {
	case <-second.Inherited():
		t.Fatal("it is said although a record was not read")
	default:
	}
	close(readable)
	<-second.Inherited()
	adopted := second.adopted()
	if len(adopted) != 1 || len(told) != 1 {
		t.Fatalf("adopted: %v, of which %d are told", adopted, len(told))
	}
	s := <-told
	select {
	case <-s.Exited():
		t.Error("it has not exited")
	default:
	}
	killed(t, s.Identity())
	<-s.Exited()
	if s.Ending() == "" {
		t.Error("nothing is known of its end")
	}
	<-s.Done()
	apptest.Eventually(t, "it is forgotten", func() bool { return len(second.Servers()) == 0 })
	allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
}

// What may not be read, such as root's after one sudo, stops nothing else: the user
// is told of it, and it stays where it is.
func TestInheritedOfAnotherUser(t *testing.T) {
	state := t.TempDir()
	first, stop := running(t, state, func(l *Launcher) { l.o.Limits.Linger = Limits{}.orDefault().Linger })
	<-first.Inherited()
	spec := order()
	spec.Lifetime = Shared
	if _, err := first.Launch(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	stop()
	dir := filepath.Join(state, serversDir, someID)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	warned := make(chan []string, 16)
	second, _ := running(t, state, func(l *Launcher) {
		l.o.Warn = func(sentences ...string) { warned <- sentences }
		l.readRecord = func(dir, id string) (record, error) {
			if id == someID {
				return record{}, &fs.PathError{Op: "open", Path: dir, Err: syscall.EACCES}
			}
			return readRecord(dir, id)
		}
	})
	<-second.Inherited()
	if got := <-warned; len(got) != 1 || !strings.Contains(got[0], dir) || !strings.Contains(got[0], "remove it") {
		t.Errorf("%q", got)
	}
	if len(second.adopted()) != 1 {
		t.Errorf("adopted: %v", second.adopted())
	}
	own, err := second.Launch(t.Context(), order())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("it does not stay where it is: %v", err)
	}
	for _, s := range append(second.adopted(), own) {
		if err := s.End(t.Context(), "the test"); err != nil {
			t.Error(err)
		}
	}
}

// Whatever is denied counts as dealt with, also taking the directory away; nothing
// else does that fails.
func TestDenied(t *testing.T) {
	l, _ := running(t, t.TempDir(), func(l *Launcher) { l.o.Limits.Retry = time.Millisecond })
	denied := fmt.Errorf("forgetting it: %w", &fs.PathError{Op: "unlinkat", Path: "record.json", Err: syscall.EACCES})
	if l.untilDone(t.Context(), "not dealt with", someID, func() error { return denied }) {
		t.Error("it is allowed")
	}
	tries := 0
	if !l.untilDone(t.Context(), "not dealt with", someID, func() error {
		if tries++; tries < 3 {
			return syscall.EMFILE
		}
		return nil
	}) || tries != 3 {
		t.Errorf("%d tries", tries)
	}
}

// The warning goes when what was left has gone, and not with another one.
func TestWarningsOfTheLauncher(t *testing.T) {
	warned := make(chan []string, 16)
	state := t.TempDir()
	l, _ := running(t, state, func(l *Launcher) {
		l.o.Warn, l.o.Limits.Retry = func(sentences ...string) { warned <- sentences }, lockEvery
	})
	<-l.Inherited()
	why := func(err error) {
		l.opening.Lock()
		defer l.opening.Unlock()
		l.warn(t.Context(), err)
	}
	why(errAliveTaken)
	if got := <-warned; len(got) != 1 || !strings.HasPrefix(got[0], NoServers) {
		t.Errorf("%q", got)
	}
	gone := filepath.Join(state, "gone")
	l.warnLeft(gone, gone+" is left")
	if got := <-warned; len(got) != 2 || !strings.HasPrefix(got[0], NoServers) || got[1] != gone+" is left" {
		t.Errorf("%q", got)
	}
	l.untilGone(t.Context(), gone)
	if got := <-warned; len(got) != 1 || !strings.HasPrefix(got[0], NoServers) {
		t.Errorf("%q", got)
	}
	why(nil)
	if got := <-warned; len(got) != 0 {
		t.Errorf("%q", got)
	}
}
