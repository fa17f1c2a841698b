package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// take removes a file in a tree.
func (l *lab) take(dir, name string) {
	l.t.Helper()
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		l.t.Fatal(err)
	}
}

func TestNoWork(t *testing.T) {
	own := []string{".gitignore", "cache", "memories", "project.local.yml", "project.yml"}
	for name, test := range map[string]struct {
		path            string
		names, memories []string
		want            bool
	}{
		"what Serena writes":  {".serena/", own, nil, true},
		"a memory":            {".serena/", own, []string{"a.md"}, false},
		"a file of the job":   {".serena/", append([]string{"notes.md"}, own...), nil, false},
		"unreadable":          {".serena/", []string{""}, nil, false},
		"unreadable memories": {".serena/", own, []string{""}, false},
		"a file of that name": {".serena", nil, nil, false},
		"one below":           {"part/.serena/", own, nil, false},
		"one of the commit's": {".serena/project.yml", own, nil, false},
		"another":             {"serena/", own, nil, false},
	} {
		if got := noWork(test.path, test.names, test.memories); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestRemoveWithSerena(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp, From: l.repository("repo", map[string]string{"a": "a"})})
	write(t, w.Path, map[string]string{".serena/project.yml": "x", ".serena/.gitignore": "/cache\n", ".serena/cache/go/x": "x", ".serena/memories/a.md": "x"})
	if _, err := m.Remove(t.Context(), w.ID, Removal{}); !errors.Is(err, ErrLoss) {
		t.Errorf("a memory is no work: %v", err)
	}
	l.take(w.Path, ".serena/memories/a.md")
	if out, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil {
		t.Errorf("%+v, %v", out, err)
	}
	l.gone(m, w)
}

func TestRemoveEmpty(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	from := l.source("from", map[string]string{"lib/shared/x": "x"})
	for _, q := range []Request{{Kind: Persistent}, {Kind: Hybrid}, {Kind: Hybrid, From: from, Share: []string{"lib/shared"}}} {
		w := l.create(m, q)
		write(t, w.Path, map[string]string{"empty/": ""})
		write(t, w.Path, map[string]string{"empty/file": "x"})
		if _, err := m.Remove(t.Context(), w.ID, Removal{}); !errors.Is(err, ErrLoss) {
			t.Errorf("a file is nothing: %v", err)
		}
		l.take(w.Path, "empty/file")
		if out, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil {
			t.Errorf("%+v, %v", out, err)
		}
		l.gone(m, w)
	}
}
