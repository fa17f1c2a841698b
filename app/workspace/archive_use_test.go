package workspace

import (
	"context"
	"errors"
	"maps"
	"testing"

	"lamplighter/app/workspace/inuse"
)

// leaving are the verbs that take a tree from its place.
func leaving(t *testing.T, w Workspace) map[string]func(m *Manager) error {
	return map[string]func(m *Manager) error{
		"archive": func(m *Manager) error { _, err := m.Archive(t.Context(), w.ID, nil); return err },
		"restore": func(m *Manager) error { _, err := m.Restore(t.Context(), w.ID, 1, nil); return err },
	}
}

// What is refused because somebody works inside leaves the server as it is, and
// when that is seen only after the server has ended it is started again.
func TestRefusedLeavesTheServer(t *testing.T) {
	editor := inuse.Process{PID: 12, Name: "vim", How: "works in it"}
	for _, late := range []bool{false, true} {
		l := newLab(t)
		servers := &fakeServers{}
		l.o.Servers = servers
		m := l.manager(nil)
		w := l.create(m, Request{Serve: true})
		l.keeps(m, w, "one")
		for name, do := range leaving(t, w) {
			m := l.manager(func(o *Options) {
				o.InUse = func(context.Context, string) ([]inuse.Process, error) {
					if late && servers.count() > 0 {
						return nil, nil
					}
					return []inuse.Process{editor}, nil
				}
			})
			if err := do(m); !errors.Is(err, ErrInUse) {
				t.Errorf("%s, late %t: %v", name, late, err)
			}
			if got := servers.count(); got != 1 {
				t.Errorf("%s, late %t: %d servers run", name, late, got)
			}
			if r := l.record(m, w.ID); r.Server == nil || r.Server.MCPURL == "" || r.State != Ready {
				t.Errorf("%s, late %t: %+v", name, late, r)
			}
		}
	}
}

// That a server has ended is written down, also when it cannot be started again.
func TestEndedServerIsWrittenDown(t *testing.T) {
	l := newLab(t)
	servers := &fakeServers{}
	l.o.Servers = servers
	m := l.manager(nil)
	w := l.create(m, Request{Serve: true})
	l.keeps(m, w, "one")
	servers.broken = errors.New("no server here")
	m.o.InUse = func(context.Context, string) ([]inuse.Process, error) {
		if servers.count() > 0 {
			return nil, nil
		}
		return nil, errors.New("nobody can look")
	}
	if _, err := m.Archive(t.Context(), w.ID, nil); !errors.Is(err, ErrInUse) {
		t.Error(err)
	}
	if r := l.record(m, w.ID); r.Server != nil || r.State != Ready {
		t.Errorf("%+v", r)
	}
}

// Who comes in while a tree is taken from its place keeps it.
func TestSomebodyComesInMeanwhile(t *testing.T) {
	for name, points := range map[string][]string{
		"archive": {"archive: taken out", "set aside: unchanged"},
		"restore": {"put: old tree aside", "set aside: unchanged"},
	} {
		for _, point := range points {
			l := newLab(t)
			m := l.manager(nil)
			w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"})})
			l.keeps(m, w, "one")
			write(t, w.Path, map[string]string{"b": "b"})
			before := content(t, w.Path)
			trash, came := beside(w.Path, trashSuffix), false
			m.crash = func(at string) {
				if at == point {
					came = true
					l.works(trash, inuse.Process{PID: 12, Name: "vim", How: "works in it"})
				}
			}
			if err := leaving(t, w)[name](m); !came || !errors.Is(err, ErrInUse) {
				t.Errorf("%s, %q: %v", name, point, err)
			}
			if got := content(t, w.Path); !maps.Equal(got, before) {
				t.Errorf("%s, %q: %q", name, point, got)
			}
			l.sound(m)
		}
	}
}
