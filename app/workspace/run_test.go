package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestWithPath(t *testing.T) {
	got := withPath([]string{"{workspace}/run", "--add-dir={workspace}:{workspace}", "{Workspace}", "{{workspace}}", "workspace", ""}, "/w s")
	want := []string{"/w s/run", "--add-dir=/w s:/w s", "{Workspace}", "{/w s}", "workspace", ""}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestLatest(t *testing.T) {
	got := latest([]string{"A=1", "B=2", "A=3", "C", "B="})
	if want := []string{"A=3", "C", "B="}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestRunRefuses(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	ready := l.create(m, Request{Job: "ready"})
	file := filepath.Join(l.source("source", map[string]string{"file": "x"}), "file")
	for what, test := range map[string]struct {
		id   string
		job  Job
		want error
	}{
		"nothing":        {ready.ID, Job{}, ErrBadRequest},
		"an empty name":  {ready.ID, Job{Command: []string{""}}, ErrBadRequest},
		"a relative one": {ready.ID, Job{Command: []string{"x"}, Writable: []string{"here"}}, ErrBadRequest},
		"one that is no": {ready.ID, Job{Command: []string{"x"}, Writable: []string{file}}, ErrBadRequest},
		"one missing":    {ready.ID, Job{Command: []string{"x"}, Writable: []string{file + "-"}}, ErrBadRequest},
		"only a commit":  {ready.ID, Job{Command: []string{"x"}, Commit: true}, ErrBadRequest},
		"an unknown one": {"none", Job{Command: []string{"x"}}, ErrUnknown},
		"no such one":    {ready.ID, Job{Command: []string{"lamplighter-no-such-command"}}, nil},
	} {
		_, outcome, err := m.Run(t.Context(), test.id, test.job)
		if err == nil || test.want != nil && !errors.Is(err, test.want) || outcome != nil {
			t.Errorf("%s: %v, %+v", what, err, outcome)
		}
	}
	if users := m.jobs(ready.ID); len(users) != 0 {
		t.Errorf("%+v", users)
	}
	if err := os.Rename(ready.Path, ready.Path+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(ready.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Run(t.Context(), ready.ID, Job{Command: []string{"x"}}); !errors.Is(err, ErrState) {
		t.Errorf("another directory in its place: %v", err)
	}
}

func TestRunInArchived(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{})
	if _, err := m.Archive(t.Context(), w.ID, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Run(t.Context(), w.ID, Job{Command: []string{"x"}}); !errors.Is(err, ErrState) {
		t.Error(err)
	}
}

func TestJobMarks(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{})
	_, first, err := m.beginJob(t.Context(), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, second, err := l.manager(nil).beginJob(t.Context(), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	if users := m.jobs(w.ID); len(users) != 2 || users[0].PID != os.Getpid() {
		t.Errorf("%+v", users)
	}
	// What a killed one leaves is a file that nobody has locked.
	dead := m.store.path(dataDir, w.ID, jobsDir, "1-dead"+jobSuffix)
	if err := os.WriteFile(dead, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if first.end(t.Context()) {
		t.Error("the second one runs")
	}
	if !second.end(t.Context()) {
		t.Error("none runs")
	}
	if _, err := os.Lstat(dead); err == nil {
		t.Error("what is dead stays")
	}
	if users := m.jobs(w.ID); len(users) != 0 {
		t.Errorf("%+v", users)
	}
}
