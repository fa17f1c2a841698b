package workspace

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCompleteTemp(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp, From: l.source("from", map[string]string{"a": "a"})})
	l.passes(time.Minute)
	l.works(w.Path, shell)
	for range 2 { // once more changes nothing
		out, err := m.Complete(t.Context(), w.ID, "a test")
		if err != nil || out.Done || !strings.Contains(out.Why, "4711") || out.Workspace.DoneAt == nil {
			t.Errorf("%+v, %v", out, err)
		}
	}
	now, err := m.Find(t.Context(), w.ID)
	if err != nil || !strings.HasPrefix(now.Problem, leftInUse) || now.EndsAt != nil || !strings.Contains(now.Ends, "as soon as nothing stands against it") {
		t.Errorf("%+v, %v", now, err)
	}
	if got := l.whats(m, w.ID); !slices.Equal(got, []string{"created", "completed", "left"}) {
		t.Errorf("%q", got)
	}
	l.works(w.Path)
	out, err := m.Complete(t.Context(), w.ID, "a test")
	if err != nil || !out.Done || out.What != "removed" {
		t.Errorf("%+v, %v", out, err)
	}
	l.gone(m, w)
}

func TestCompleteOthers(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	for _, q := range []Request{
		{Kind: Persistent}, {Kind: Temp, Cleanup: ByHand}, {Kind: Temp, Cleanup: AtRetention},
		{Kind: Hybrid, Cleanup: ToArchive}, {Kind: Temp, Cleanup: ToArchive},
	} {
		w := l.create(m, q)
		out, err := m.Complete(t.Context(), w.ID, "a test")
		if err != nil || out.Done || out.Why != "" || out.Workspace.DoneAt == nil || !strings.HasPrefix(out.What, "completed; it ") {
			t.Errorf("%+v: %+v, %v", q, out, err)
		}
		l.stays(m, w, nil)
	}
}

func TestCompleteWithLoss(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a"})
	w := l.create(m, Request{Kind: Temp, From: repo})
	write(t, w.Path, map[string]string{"new": "x"})
	out, err := m.Complete(t.Context(), w.ID, "a test")
	if err != nil || out.Done || !strings.Contains(out.Why, "1 file is not committed (new)") || out.Loss == nil {
		t.Errorf("%+v, %v", out, err)
	}
	l.stays(m, w, map[string]string{"a": "a", "new": "x"})
	if r := l.record(m, w.ID); leftKind(r.Problem) != leftLoss {
		t.Errorf("%q", r.Problem)
	}
}

// A hybrid one whose tree has nothing that its last version has not ends with its
// job; else it stays.
func TestCompleteHybrid(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a"})
	for _, from := range []string{repo, l.source("from", map[string]string{"a": "a"})} {
		w := l.create(m, Request{Kind: Hybrid, From: from})
		write(t, w.Path, map[string]string{"final": "x"})
		if out, err := m.Complete(t.Context(), w.ID, "a test"); err != nil || out.Done || leftKind(out.Workspace.Problem) != leftLoss {
			t.Errorf("%+v, %v", out, err)
		}
		l.stays(m, w, map[string]string{"a": "a", "final": "x"})
		if _, err := m.Keep(t.Context(), w.ID, "the final", nil); err != nil {
			t.Fatal(err)
		}
		out, err := m.Complete(t.Context(), w.ID, "a test")
		if err != nil || !out.Done || out.Workspace.State != Ended {
			t.Errorf("%+v, %v", out, err)
		}
		l.sound(m)
		if list, err := m.Versions(t.Context(), w.ID); err != nil || len(list) != 1 || content(t, list[0].Path)["final"] != "x" {
			t.Errorf("%+v, %v", list, err)
		}
		now, err := m.Find(t.Context(), w.ID)
		if err != nil || now.State != Ended || now.Problem != "" || now.Ends == "" || now.SizeBytes < 0 {
			t.Errorf("%+v, %v", now, err)
		}
		if out, err := m.Complete(t.Context(), w.ID, "a test"); err != nil || out.Why != "" {
			t.Errorf("once more: %+v, %v", out, err)
		}
		if out, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil || !out.Done {
			t.Errorf("%+v, %v", out, err)
		}
		l.gone(m, w)
	}
	if got := git(t, repo, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
		t.Errorf("branches: %s", got)
	}
}
