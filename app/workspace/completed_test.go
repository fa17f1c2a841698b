package workspace

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"
)

// Who keeps a version of what a job has left does not begin another job.
func TestKeepAfterCompletion(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Hybrid})
	write(t, w.Path, map[string]string{"final": "x"})
	if out, err := m.Complete(t.Context(), w.ID, ""); err != nil || out.Done {
		t.Errorf("%+v, %v", out, err)
	}
	l.passes(time.Second)
	if _, err := m.Keep(t.Context(), w.ID, "as it was told", nil); err != nil {
		t.Fatal(err)
	}
	l.sweeps(m, tries{})
	if l.is(m, w) != Ended {
		t.Errorf("it was completed and kept, and is %s", l.is(m, w))
	}
}

// A clock that was wrong in an earlier run of the system keeps nothing for ever.
func TestUsedInTheFuture(t *testing.T) {
	for _, complete := range []bool{false, true} {
		l := newLab(t)
		m := l.manager(nil)
		l.set(func(s *Stamp) { s.Wall = s.Wall.Add(900 * day) })
		w := l.create(m, Request{Kind: Temp})
		l.set(func(s *Stamp) { s.Wall, s.Boot, s.SinceBoot = s.Wall.Add(-900*day), "next", 2*time.Hour })
		if complete {
			if out, err := m.Complete(t.Context(), w.ID, ""); err != nil || !out.Done {
				t.Errorf("%+v, %v", out, err)
			}
		} else {
			l.sweeps(m, tries{})
			l.stays(m, w, nil)
			l.passes(23 * time.Hour)
			l.sweeps(m, tries{})
			l.stays(m, w, nil)
			l.passes(2 * time.Hour)
			l.sweeps(m, tries{})
		}
		l.gone(m, w)
	}
}

// Who is in the empty directory for temporary files works in it; who is where a link
// leads that lies in the place of the tree does not.
func TestWhoIsInside(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp})
	l.works(w.TempDir, shell)
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); !errors.Is(err, ErrInUse) {
		t.Error(err)
	}
	l.works(w.TempDir)
	if runtime.GOOS == "windows" {
		return // who may make a link there is a matter of rights
	}
	if err := errors.Join(os.Remove(w.Path), os.Symlink(l.dir, w.Path)); err != nil {
		t.Fatal(err)
	}
	l.works(w.Path, shell)
	if out, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil || !out.Done {
		t.Errorf("%+v, %v", out, err)
	}
}
