package launch

import (
	"io/fs"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

// TestInherited is said when all that an earlier run has left is dealt with, not
// before, and the ends of processes are told before those of all they leave.
func TestInherited(t *testing.T) {
	state := t.TempDir()
	first, stop := running(t, state, func(l *Launcher) { l.linger = lingerTime })
	<-first.Inherited() // nothing
	spec := order("--ignore", "--child")
	spec.Lifetime = Shared
	if _, err := first.Launch(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	stop()

	readable := make(chan struct{})
	second, _ := running(t, state, func(l *Launcher) {
		l.retry = lockEvery
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
	if len(adopted) != 1 {
		t.Fatalf("adopted: %v", adopted)
	}
	s := adopted[0]
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
