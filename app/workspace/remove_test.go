package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/workspace/inuse"
	"lamplighter/monitor"
)

var shell = inuse.Process{PID: 4711, Name: "bash", How: "works in it"}

// whats are the kinds of happenings of a workspace.
func (l *lab) whats(m *Manager, id string) []string {
	l.t.Helper()
	var list []string
	for _, h := range l.record(m, id).History {
		list = append(list, h.What)
	}
	return list
}

// gone checks that nothing is left of a workspace but its record.
func (l *lab) gone(m *Manager, w Workspace) {
	l.t.Helper()
	l.sound(m)
	if r := l.record(m, w.ID); r.State != Removed || r.Step != nil {
		l.t.Errorf("%s is %s with the step %+v", w.Name, r.State, r.Step)
	}
	for _, path := range []string{w.Path, m.store.data(w.ID)} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			l.t.Errorf("%s is left: %v", path, err)
		}
	}
	for _, name := range names(l.t, filepath.Dir(w.Path)) {
		if strings.Contains(name, w.Name) {
			l.t.Errorf("%s is left", name)
		}
	}
	if _, err := m.Find(l.t.Context(), w.ID); !errors.Is(err, ErrUnknown) {
		l.t.Errorf("it is found: %v", err)
	}
}

// stays checks that a workspace is as it was.
func (l *lab) stays(m *Manager, w Workspace, files map[string]string) {
	l.t.Helper()
	l.sound(m)
	now, err := m.Find(l.t.Context(), w.ID)
	if err != nil || now.State != Ready {
		l.t.Fatalf("%+v, %v", now, err)
	}
	got := content(l.t, w.Path)
	if len(got) != len(files) {
		l.t.Errorf("%q, want %q", got, files)
	}
	for name, text := range files {
		if got[name] != text {
			l.t.Errorf("%s is %q, want %q", name, got[name], text)
		}
	}
}

// removeAgain removes what stays because the first removal was interrupted before
// anything was moved.
func (l *lab) removeAgain(m *Manager, w Workspace, crashed string) {
	l.t.Helper()
	if crashed != "remove: begun" || l.record(m, w.ID).State != Ready {
		return
	}
	if _, err := m.Remove(l.t.Context(), w.ID, Removal{Force: true}); err != nil {
		l.t.Error(err)
	}
}

func TestRemove(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	files := map[string]string{"a": "text", "b/c": "more"}
	w := l.create(m, Request{Kind: Temp, From: l.source("from", files)})
	out, err := m.Remove(t.Context(), w.ID, Removal{DryRun: true})
	if err != nil || out.Done || !out.DryRun || out.What != "would be removed" || out.Why != "" || out.Freed <= 0 || out.InUse == nil {
		t.Errorf("%+v, %v", out, err)
	}
	l.stays(m, w, files)
	out, err = m.Remove(t.Context(), w.ID, Removal{By: "a test"})
	if err != nil || !out.Done || out.What != "removed" || out.Loss == nil || out.Loss.Words != "" || out.Freed <= 0 || out.Workspace.State != Removed {
		t.Errorf("%+v, %v", out, err)
	}
	l.gone(m, w)
	if got := l.whats(m, w.ID); !slices.Equal(got, []string{"created", "removed"}) {
		t.Errorf("%q", got)
	}
	for _, name := range []string{w.ID, "none", ""} {
		if _, err := m.Remove(t.Context(), name, Removal{Force: true}); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := m.Remove(t.Context(), name, Removal{DryRun: true}); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := m.Complete(t.Context(), name, ""); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestRemoveInUse(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp})
	l.works(w.Path, shell)
	for _, force := range []bool{false, true} {
		out, err := m.Remove(t.Context(), w.ID, Removal{Force: force})
		if !errors.Is(err, ErrInUse) || out.Done || len(out.InUse) != 1 || out.InUse[0].PID != 4711 || !strings.Contains(err.Error(), "bash (4711) works in it") {
			t.Errorf("%+v, %v", out, err)
		}
		out, err = m.Remove(t.Context(), w.ID, Removal{Force: force, DryRun: true})
		if err != nil || out.What != "would not be removed" || !strings.Contains(out.Why, "4711") {
			t.Errorf("%+v, %v", out, err)
		}
	}
	l.stays(m, w, nil)
	l.works(w.Path)
	// What uses its temporary files works in it too.
	write(t, w.TempDir, map[string]string{"socket": ""})
	l.works(w.TempDir, shell)
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); !errors.Is(err, ErrInUse) {
		t.Error(err)
	}
	l.works(w.TempDir)
	broken := l.manager(func(o *Options) {
		o.InUse = func(context.Context, string) ([]inuse.Process, error) { return nil, errors.New("nobody can look") }
	})
	if out, err := broken.Remove(t.Context(), w.ID, Removal{Force: true}); err == nil || out.Done {
		t.Errorf("%+v", out)
	}
	l.stays(m, w, nil)
	if _, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil {
		t.Error(err)
	}
	l.gone(m, w)
}

// Whoever comes in after it was looked, and before the tree is set aside, keeps it
// where it is.
func TestRemoveSomebodyComesIn(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp, From: l.source("from", map[string]string{"a": "a"})})
	m.crash = func(point string) {
		if point == "remove: set aside" {
			l.works(m.trash(l.record(m, w.ID), stepRemove), shell)
		}
	}
	out, err := m.Remove(t.Context(), w.ID, Removal{Force: true})
	if !errors.Is(err, ErrInUse) || len(out.InUse) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	l.stays(m, w, map[string]string{"a": "a"})
	// Where something else lies in its place by then, both stay until that is gone.
	m.crash = func(point string) {
		if point == "remove: set aside" {
			l.works(m.trash(l.record(m, w.ID), stepRemove), shell)
			write(t, w.Path, map[string]string{"theirs": "x"})
		}
	}
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); !errors.Is(err, ErrInUse) {
		t.Error(err)
	}
	m.crash = nil
	trash := m.trash(l.record(m, w.ID), stepRemove)
	if content(t, w.Path)["theirs"] != "x" || content(t, trash)["a"] != "a" {
		t.Errorf("%q, %q", content(t, w.Path), content(t, trash))
	}
	if err := os.RemoveAll(w.Path); err != nil {
		t.Fatal(err)
	}
	if err := m.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	l.stays(m, w, map[string]string{"a": "a"})
	l.works(trash)
	if _, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil {
		t.Error(err)
	}
	l.gone(m, w)
}

// A server of a workspace is ended when nothing else stands against its removal.
func TestRemoveEndsServers(t *testing.T) {
	l := newLab(t)
	servers := &fakeServers{}
	m := l.manager(func(o *Options) { o.Servers = servers })
	w := l.create(m, Request{Kind: Temp, Serve: true, From: l.repository("repo", map[string]string{"a": "a"})})
	serena := inuse.Process{PID: fakeServer, Name: "serena", How: "works in it"}
	l.works(w.Path, serena)
	refused := func(why error, q Removal) {
		t.Helper()
		if _, err := m.Remove(t.Context(), w.ID, q); !errors.Is(err, why) {
			t.Errorf("%v, want %v", err, why)
		}
		if servers.count() != 1 || l.record(m, w.ID).Server == nil {
			t.Errorf("its server was ended although it was not removed: %v", why)
		}
	}
	write(t, w.Path, map[string]string{"new": "x"})
	refused(ErrLoss, Removal{})
	l.works(w.Path, serena, shell)
	refused(ErrInUse, Removal{Force: true})
	l.works(w.Path, serena)
	servers.used = []User{{PID: 7, Name: "a server", How: "is a session that Codex has asked for"}}
	refused(ErrInUse, Removal{Force: true})
	if out, err := m.Remove(t.Context(), w.ID, Removal{DryRun: true, Force: true}); err != nil || len(out.InUse) != 1 || !strings.Contains(out.Why, "Codex") {
		t.Errorf("%+v, %v", out, err)
	}
	servers.used = nil
	servers.stuck = errors.New("it is at work")
	refused(ErrInUse, Removal{Force: true})
	servers.stuck = nil
	if out, err := m.Remove(t.Context(), w.ID, Removal{DryRun: true, Force: true}); err != nil || out.Why != "" || len(out.InUse) != 0 || servers.count() != 1 {
		t.Errorf("a dry run: %+v, %v", out, err)
	}
	// Its processes have to go with it.
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); !errors.Is(err, ErrInUse) || servers.count() != 0 || l.record(m, w.ID).Server != nil {
		t.Error(err)
	}
	l.works(w.Path)
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil {
		t.Error(err)
	}
	l.gone(m, w)
}

func TestWithoutIdle(t *testing.T) {
	named := func(pid int) User { return User{PID: pid, Name: "p", How: "works in it"} }
	client := User{PID: 20, Name: "a server", How: "is shared"}
	family := func(pid int, inside []int) []int {
		if pid != 10 {
			return []int{pid}
		}
		if !slices.Equal(inside, []int{9, 10, 11, 12, 20}) {
			t.Errorf("%v", inside)
		}
		return []int{10, 9, 11}
	}
	users := []User{named(9), named(10), named(11), named(12), named(20)}
	for name, test := range map[string]struct {
		started Started
		want    []User
	}{
		"nothing of ours":       {Started{}, users},
		"one that is idle":      {Started{Idle: []int{10}}, []User{named(12), named(20)}},
		"idle, and not inside":  {Started{Idle: []int{30}}, users},
		"one that is used":      {Started{Used: []User{client}}, []User{client, named(9), named(10), named(11), named(12)}},
		"used, and not inside":  {Started{Idle: []int{10}, Used: []User{{PID: 31, Name: "a", How: "b"}}}, []User{{PID: 31, Name: "a", How: "b"}, named(12), named(20)}},
		"one that nobody knows": {Started{Used: []User{{Name: "a\x1b[31m", How: "b"}}}, append([]User{{Name: monitor.Clean("a\x1b[31m"), How: "b"}}, users...)},
	} {
		if got := withoutIdle(users, test.started, family); !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// What an idle server has started and what has ended before it was asked whose it is
// is not taken for somebody.
func TestBesidesIdle(t *testing.T) {
	passing, somebody := User{PID: 1 << 29, Name: "go"}, User{PID: 1<<29 + 1, Name: "bash"}
	for name, test := range map[string]struct {
		idle  []int
		looks [][]User
		want  []User
	}{
		"one that passes":       {[]int{1 << 30}, [][]User{{passing}, {}}, []User{}},
		"one that stays":        {[]int{1 << 30}, [][]User{{passing, somebody}, {somebody}, {somebody}}, []User{somebody}},
		"without idle servers":  {nil, [][]User{{passing}}, []User{passing}},
		"nobody from the start": {[]int{1 << 30}, [][]User{{}}, []User{}},
	} {
		looks := test.looks
		got, err := besidesIdle(Started{Idle: test.idle}, func() ([]User, error) {
			now := looks[0]
			looks = looks[1:]
			return now, nil
		})
		if err != nil || len(looks) != 0 || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, %v; %d looks too few", name, got, err, len(looks))
		}
	}
}

func TestRemoveFromGit(t *testing.T) {
	for _, test := range []struct {
		name  string
		work  func(t *testing.T, dir string)
		words string // of the loss
		kept  bool   // the branch
	}{
		{"nothing done", func(*testing.T, string) {}, "", false},
		{"ignored", func(t *testing.T, dir string) { write(t, dir, map[string]string{"x.log": "x"}) }, "", false},
		{"changed", func(t *testing.T, dir string) { write(t, dir, map[string]string{"a": "other"}) }, "1 file is not committed (a)", false},
		{"new", func(t *testing.T, dir string) { write(t, dir, map[string]string{"new\tname": "x"}) }, "1 file is not committed (new name)", false},
		{"staged", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"n": "x"})
			git(t, dir, "add", "n")
		}, "1 file is not committed (n)", false},
		{"many", func(t *testing.T, dir string) {
			for i := range 30 {
				write(t, dir, map[string]string{"n" + string(rune('a'+i)): "x"})
			}
		}, "30 files are not committed", false},
		{"committed", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a": "other"})
			git(t, dir, "commit", "--all", "--message=work")
		}, "1 commit is on no other branch and no remote", true},
		{"committed, also elsewhere", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a": "other"})
			git(t, dir, "commit", "--all", "--message=work")
			git(t, dir, "branch", "elsewhere")
		}, "", false},
		{"committed without a branch", func(t *testing.T, dir string) {
			git(t, dir, "checkout", "--detach")
			write(t, dir, map[string]string{"a": "other"})
			git(t, dir, "commit", "--all", "--message=work")
		}, "1 commit is on no other branch and no remote", true},
		{"committed without a branch, which went another way", func(t *testing.T, dir string) {
			git(t, dir, "commit", "--allow-empty", "--message=on the branch")
			git(t, dir, "checkout", "--detach", "HEAD~")
			git(t, dir, "commit", "--allow-empty", "--message=work")
		}, "1 commit is on no other branch and no remote", true},
		{"without a branch, nothing done", func(t *testing.T, dir string) { git(t, dir, "checkout", "--detach") }, "", false},
		{"no git any more", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
		}, "could not be found out", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(nil)
			repo := l.repository("repo", map[string]string{"a": "a", ".gitignore": "*.log\n"})
			w := l.create(m, Request{Kind: Temp, From: repo})
			test.work(t, w.Path)
			before := content(t, w.Path)
			out, err := m.Remove(t.Context(), w.ID, Removal{})
			if test.words != "" {
				if !errors.Is(err, ErrLoss) || out.Loss == nil || !strings.Contains(out.Loss.Words, test.words) || !strings.Contains(err.Error(), "with force") {
					t.Errorf("%+v, %v", out.Loss, err)
				}
				l.stays(m, w, before)
				dry, dryErr := m.Remove(t.Context(), w.ID, Removal{Force: true, DryRun: true})
				if dryErr != nil || dry.What != "would be removed" || (dry.Kept != "") != test.kept {
					t.Errorf("%+v, %v", dry, dryErr)
				}
				out, err = m.Remove(t.Context(), w.ID, Removal{Force: true})
			}
			if err != nil || !out.Done || (out.Kept != "") != test.kept {
				t.Errorf("%+v, %v", out, err)
			}
			l.gone(m, w)
			if got := git(t, repo, "worktree", "list"); strings.Contains(got, "\n") {
				t.Errorf("worktrees: %s", got)
			}
			branches := git(t, repo, "branch", "--list", "lamplighter/*")
			if (branches != "") != test.kept {
				t.Errorf("branches: %s", branches)
			}
		})
	}
}

// A share is a link of ours, and no work of the job; what it leads to stays.
func TestRemoveLeavesShares(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a", ".gitignore": "node_modules/\n"})
	write(t, repo, map[string]string{"node_modules/x": "x"})
	w := l.create(m, Request{Kind: Temp, From: repo, Share: []string{"node_modules"}})
	if out, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil {
		t.Errorf("%+v, %v", out.Loss, err)
	}
	l.gone(m, w)
	if content(t, repo)["node_modules/x"] != "x" {
		t.Error("what was shared has gone")
	}
}

// What lies where the tree was, and is not that, is left alone.
func TestRemoveReplaced(t *testing.T) {
	for name, put := range map[string]func(l *lab, w Workspace){
		"another directory": func(l *lab, w Workspace) { write(l.t, w.Path, map[string]string{"theirs": "x"}) },
		"a file":            func(l *lab, w Workspace) { write(l.t, filepath.Dir(w.Path), map[string]string{w.Name: "theirs"}) },
		"a link": func(l *lab, w Workspace) {
			write(l.t, filepath.Dir(w.Path), map[string]string{w.Name: "-> " + l.source("home", map[string]string{"theirs": "x"})})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a link" && runtime.GOOS == "windows" {
				return // who may make one there is a matter of rights
			}
			l := newLab(t)
			m := l.manager(nil)
			in := l.source("in", nil)
			w := l.create(m, Request{Kind: Temp, In: in})
			if err := os.Rename(w.Path, l.path("away")); err != nil {
				t.Fatal(err)
			}
			put(l, w)
			out, err := m.Remove(t.Context(), w.ID, Removal{})
			if !errors.Is(err, ErrLoss) || out.Loss == nil || out.Loss.Unknown == "" {
				t.Errorf("%+v, %v", out.Loss, err)
			}
			l.passes(25 * time.Hour)
			if _, err := m.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			if r := l.record(m, w.ID); r.State != Ready || leftKind(r.Problem) != leftLoss {
				t.Errorf("%s, %q", r.State, r.Problem)
			}
			out, err = m.Remove(t.Context(), w.ID, Removal{Force: true})
			if err != nil || !out.Done || !strings.Contains(out.Kept, "not made there") {
				t.Errorf("%+v, %v", out, err)
			}
			if _, err := os.Lstat(w.Path); err != nil {
				t.Errorf("it has gone: %v", err)
			}
			if name == "a link" && content(t, l.path("home"))["theirs"] != "x" {
				t.Error("what it leads to has gone")
			}
		})
	}
}

func TestRemoveTreeHasGone(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a"})
	in := l.source("in", nil)
	for _, q := range []Request{{Kind: Temp, From: repo}, {Kind: Temp, In: in}} {
		w := l.create(m, q)
		if err := os.RemoveAll(w.Path); err != nil {
			t.Fatal(err)
		}
		if out, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil || !out.Done {
			t.Errorf("%+v, %v", out, err)
		}
		l.gone(m, w)
	}
	if got := git(t, repo, "worktree", "list"); strings.Contains(got, "\n") {
		t.Errorf("worktrees: %s", got)
	}
	// Where the directory around it has gone too, it may be on a drive that is not
	// there now.
	w := l.create(m, Request{Kind: Temp, In: in})
	if err := os.Rename(in, l.path("away")); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Remove(t.Context(), w.ID, Removal{}); !errors.Is(err, ErrLoss) {
		t.Error(err)
	}
	if out, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil || !strings.Contains(out.Kept, "cannot be looked at") {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(l.path("away"), w.Name)); err != nil {
		t.Error(err)
	}
}

func TestRemoveWithoutRepository(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a"})
	w := l.create(m, Request{Kind: Temp, From: repo})
	if err := os.RemoveAll(repo); err != nil {
		t.Fatal(err)
	}
	if out, err := m.Remove(t.Context(), w.ID, Removal{}); !errors.Is(err, ErrLoss) || out.Loss.Unknown == "" {
		t.Errorf("%+v, %v", out.Loss, err)
	}
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil {
		t.Error(err)
	}
	l.gone(m, w)
}

func TestRemoveBusy(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	m.patience = time.Millisecond
	w := l.create(m, Request{Kind: Temp})
	release, err := m.store.hold(t.Context(), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Remove(t.Context(), w.ID, Removal{Force: true})
	if !errors.Is(err, ErrBusy) || out.Workspace.ID != w.ID || out.Why == "" || out.Done {
		t.Errorf("%+v, %v", out, err)
	}
	release()
	if _, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil {
		t.Error(err)
	}
}

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

func TestCrashRemove(t *testing.T) {
	files := map[string]string{"a": "a", "b/c": "c"}
	removed := func(l *lab, m *Manager, w Workspace, crashed string) {
		l.removeAgain(m, w, crashed)
		l.gone(m, w)
		if got := l.whats(m, w.ID); got[len(got)-1] != "removed" {
			l.t.Errorf("%q", got)
		}
	}
	t.Run("directory", func(t *testing.T) {
		crashAtEach(t, crashCase{
			before: func(l *lab, m *Manager) Workspace {
				return l.create(m, Request{Kind: Temp, From: l.source("from", files)})
			},
			do: func(ctx context.Context, m *Manager, w Workspace) error {
				_, err := m.Remove(ctx, w.ID, Removal{})
				return err
			},
			after: removed,
		})
	})
	t.Run("git, forced", func(t *testing.T) {
		crashAtEach(t, crashCase{
			shallow: true,
			before: func(l *lab, m *Manager) Workspace {
				w := l.create(m, Request{Kind: Temp, From: l.repository("repo", files)})
				write(t, w.Path, map[string]string{"a": "other", "new": "x"})
				git(t, w.Path, "commit", "--all", "--message=work")
				return w
			},
			do: func(ctx context.Context, m *Manager, w Workspace) error {
				_, err := m.Remove(ctx, w.ID, Removal{Force: true})
				return err
			},
			after: func(l *lab, m *Manager, w Workspace, crashed string) {
				removed(l, m, w, crashed)
				repo := w.Source.From
				if got := git(t, repo, "worktree", "list"); strings.Contains(got, "\n") {
					t.Errorf("worktrees: %s", got)
				}
				if got := git(t, repo, "log", "-1", "--format=%s", w.Source.Branch); got != "work" {
					t.Errorf("the commit is lost: %q", got)
				}
			},
		})
	})
	t.Run("complete", func(t *testing.T) {
		crashAtEach(t, crashCase{
			before: func(l *lab, m *Manager) Workspace {
				return l.create(m, Request{Kind: Temp, From: l.source("from", files)})
			},
			do: func(ctx context.Context, m *Manager, w Workspace) error {
				_, err := m.Complete(ctx, w.ID, "a test")
				return err
			},
			after: func(l *lab, m *Manager, w Workspace, crashed string) {
				if _, err := m.Sweep(t.Context()); err != nil { // it may have been noted only
					t.Error(err)
				}
				removed(l, m, w, crashed)
			},
		})
	})
	t.Run("end", func(t *testing.T) {
		crashAtEach(t, crashCase{
			shallow: true,
			before: func(l *lab, m *Manager) Workspace {
				w := l.create(m, Request{Kind: Hybrid, From: l.source("from", files)})
				if _, err := m.Keep(t.Context(), w.ID, "final", nil); err != nil {
					t.Fatal(err)
				}
				return w
			},
			do: func(ctx context.Context, m *Manager, w Workspace) error {
				_, err := m.Complete(ctx, w.ID, "a test")
				return err
			},
			after: func(l *lab, m *Manager, w Workspace, crashed string) {
				if _, err := m.Sweep(t.Context()); err != nil {
					t.Error(err)
				}
				l.sound(m)
				list, err := m.Versions(t.Context(), w.ID)
				if err != nil || len(list) != 1 || content(t, list[0].Path)["b/c"] != "c" || l.record(m, w.ID).State != Ended {
					t.Errorf("%+v, %v", list, err)
				}
			},
		})
	})
}

// A removal that a crash has interrupted before it was decided is given up where
// something stands against it by now.
func TestRecoverGivesUp(t *testing.T) {
	for _, point := range []string{"remove: begun", "remove: set aside"} {
		for _, now := range []string{"in use", "lost"} {
			if point == "remove: set aside" && now == "lost" {
				continue // nobody can write into it any more
			}
			t.Run(point+" "+now, func(t *testing.T) {
				l := newLab(t)
				repo := l.repository("repo", map[string]string{"a": "a"})
				w := l.create(l.manager(nil), Request{Kind: Temp, From: repo})
				m := l.manager(nil)
				m.crash = func(at string) {
					if at == point {
						panic(crash{at})
					}
				}
				func() {
					defer func() { _ = recover() }()
					_, _ = m.Remove(t.Context(), w.ID, Removal{})
				}()
				m = l.manager(nil)
				want := map[string]string{"a": "a"}
				if now == "lost" {
					want["new"] = "x"
					write(t, w.Path, map[string]string{"new": "x"})
				} else {
					l.works(w.Path, shell)
					l.works(m.trash(l.record(m, w.ID), stepRemove), shell)
				}
				if err := m.Recover(t.Context()); err != nil {
					t.Error(err)
				}
				l.stays(m, w, want)
				if r := l.record(m, w.ID); leftKind(r.Problem) == "" && point != "remove: begun" {
					t.Errorf("%q", r.Problem)
				}
			})
		}
	}
}

// While a disk is full nothing can be written down: what was set aside is found by
// its name.
func TestFinishAside(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp, From: l.source("from", map[string]string{"a": "a"})})
	if err := os.Rename(w.Path, m.trash(l.record(m, w.ID), stepRemove)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	l.gone(m, w)
}

func TestLossWords(t *testing.T) {
	for want, loss := range map[string]Loss{
		"":                            {},
		"1 file is not committed (a)": {Uncommitted: []string{"a"}},
		"5 files are not committed (a, b, c, …)":                                                    {Uncommitted: []string{"a", "b", "c", "d"}, More: 1},
		"2 commits are on no other branch and no remote (x, y)":                                     {Commits: []string{"x", "y"}},
		"25 commits are on no other branch and no remote (x, y, z, …)":                              {Commits: []string{"x", "y", "z", "w"}, MoreCommits: 21},
		"1 submodule has work of its own (lib)":                                                     {Submodules: []string{"lib"}},
		"it differs from its last version, or has none":                                             {Changed: true},
		"1 file is not committed (a), what would be lost could not be found out: git cannot be run": {Uncommitted: []string{"a"}, Unknown: "git cannot be run"},
	} {
		if got := lossWords(loss, ""); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := lossWords(Loss{}, "rebase"); got != "a rebase is going on" {
		t.Errorf("%q", got)
	}
}

// What a forced removal keeps is what was checked out, wherever that leads.
func TestRemoveKeepsCommits(t *testing.T) {
	for _, test := range []struct {
		name   string
		work   []string // before the commit
		others int      // branches that are kept besides the workspace's own
	}{
		{"a detached HEAD", []string{"checkout", "--quiet", "--detach"}, 0},
		{"a detached HEAD beside a branch that went on", []string{"checkout", "--quiet", "--detach", "HEAD~"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var repo string
			var tip string
			crashAtEach(t, crashCase{
				shallow: true,
				before: func(l *lab, m *Manager) Workspace {
					repo = l.repository("repo", map[string]string{"a": "a"})
					w := l.create(m, Request{Kind: Temp, From: repo})
					git(t, w.Path, "commit", "--quiet", "--allow-empty", "--message=on the branch")
					git(t, w.Path, test.work...)
					git(t, w.Path, "commit", "--quiet", "--allow-empty", "--message=work")
					tip = git(t, w.Path, "rev-parse", "HEAD")
					return w
				},
				do: func(ctx context.Context, m *Manager, w Workspace) error {
					out, err := m.Remove(ctx, w.ID, Removal{Force: true})
					if err == nil && (!strings.Contains(out.Kept, w.Source.Branch) || strings.Contains(out.Kept, " and ") != (test.others > 0)) {
						t.Errorf("kept: %q", out.Kept)
					}
					return err
				},
				after: func(l *lab, m *Manager, w Workspace, crashed string) {
					l.removeAgain(m, w, crashed)
					l.gone(m, w)
					branches := strings.Fields(git(t, repo, "for-each-ref", "--format=%(refname:short)", "refs/heads/lamplighter"))
					if len(branches) != 1+test.others || !slices.Contains(branches, w.Source.Branch) {
						t.Errorf("branches: %q", branches)
					}
					if git(t, repo, "for-each-ref", "--contains="+tip) == "" {
						t.Error("the commit is lost")
					}
					if got := git(t, repo, "worktree", "list"); strings.Contains(got, "\n") {
						t.Errorf("worktrees: %s", got)
					}
				},
			})
		})
	}
}

// The ref that holds the commits of an archived workspace goes with it, unless they
// are nowhere else.
func TestRemoveArchivedWithCommits(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		l := newLab(t)
		m := l.manager(nil)
		repo := l.repository("repo", map[string]string{"a": "a"})
		w := l.create(m, Request{Kind: Temp, From: repo})
		git(t, w.Path, "commit", "--quiet", "--allow-empty", "--message=on the branch")
		git(t, w.Path, "checkout", "--quiet", "--detach", "HEAD~")
		git(t, w.Path, "commit", "--quiet", "--allow-empty", "--message=work")
		if _, err := m.Archive(t.Context(), w.ID, nil); err != nil {
			t.Fatal(err)
		}
		ref := "refs/lamplighter/" + w.ID
		if elsewhere {
			git(t, repo, "branch", "elsewhere", ref)
		}
		dry, err := m.Remove(t.Context(), w.ID, Removal{Force: true, DryRun: true})
		if err != nil || strings.Contains(dry.Kept, ref) == elsewhere {
			t.Errorf("%+v, %v", dry, err)
		}
		out, err := m.Remove(t.Context(), w.ID, Removal{Force: true})
		if err != nil || strings.Contains(out.Kept, ref) == elsewhere || !strings.Contains(out.Kept, w.Source.Branch) {
			t.Errorf("%+v, %v", out, err)
		}
		if got := git(t, repo, "for-each-ref", "refs/lamplighter"); (got == "") != elsewhere {
			t.Errorf("%v: %q", elsewhere, got)
		}
	}
}

// A job counts as long as whoever runs it says so, whatever its processes do.
func TestRunningJobKeepsWorkspace(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	for _, q := range []Request{{Kind: Temp}, {Kind: Hybrid}} {
		w := l.create(m, q)
		write(t, w.Path, map[string]string{"a": "a"})
		if q.Kind == Hybrid {
			if _, err := m.Keep(t.Context(), w.ID, "first", nil); err != nil {
				t.Fatal(err)
			}
		}
		_, mark, err := l.manager(nil).beginJob(t.Context(), w.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, force := range []bool{false, true} {
			if q.Kind == Hybrid && !force {
				continue // its version stands against it first
			}
			if out, err := m.Remove(t.Context(), w.ID, Removal{Force: force}); !errors.Is(err, ErrInUse) || len(out.InUse) != 1 || out.InUse[0].PID != os.Getpid() {
				t.Errorf("%+v, %v", out, err)
			}
		}
		if out, err := m.Remove(t.Context(), w.ID, Removal{Force: true, DryRun: true}); err != nil || !strings.Contains(out.Why, "runs a job in it") {
			t.Errorf("%+v, %v", out, err)
		}
		if _, err := m.Archive(t.Context(), w.ID, nil); !errors.Is(err, ErrInUse) {
			t.Errorf("archived: %v", err)
		}
		if _, err := m.Restore(t.Context(), w.ID, 1, nil); q.Kind == Hybrid && !errors.Is(err, ErrInUse) {
			t.Errorf("restored: %v", err)
		}
		if out, err := m.Complete(t.Context(), w.ID, "another one"); err != nil || out.Done || !strings.Contains(out.Why, "runs a job in it") {
			t.Errorf("%+v, %v", out, err)
		}
		l.passes(25 * time.Hour)
		l.sweeps(m, tries{})
		l.stays(m, w, map[string]string{"a": "a"})
		mark.end(t.Context())
		if out, err := m.Complete(t.Context(), w.ID, "the end of its job"); err != nil || !out.Done {
			t.Errorf("%+v, %v", out, err)
		}
	}
}
