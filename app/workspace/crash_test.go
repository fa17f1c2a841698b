package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/workspace/tree"
)

// crashCase is an operation that is ended at each of its points, and that has to
// leave something that Recover makes whole.
type crashCase struct {
	// before makes what the operation works on; nil is nothing. The Manager does
	// not crash.
	before func(l *lab, m *Manager) Workspace
	// do is the operation.
	do func(ctx context.Context, m *Manager, w Workspace) error
	// after checks what Recover has made of it; crashed is the point at which it
	// was ended, "" when it was not.
	after func(l *lab, m *Manager, w Workspace, crashed string)
	// shallow leaves out crashes of what recovers from a crash.
	shallow bool
}

// crash is what a crash in a test panics with.
type crash struct{ point string }

// inMemory is a temporary directory, in memory where there is such a place: tests
// that do a thing hundreds of times would wait most of the time until the disk has
// written what they throw away. Ends by a panic lose nothing that was not written.
func inMemory(t testing.TB) string {
	t.Helper()
	const memory = "/dev/shm" // of Linux
	if !isDir(memory) {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "lamplighter-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := tree.Remove(context.Background(), dir, "", nil); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// crashAtEach runs the case once to its end, then once to each point, and then
// once to each point and each point of the recovery from that.
func crashAtEach(t *testing.T, c crashCase) {
	t.Helper()
	whole := crashes(t, c, nil)
	if len(whole) == 0 {
		t.Fatal("there is no point at which it could be ended")
	}
	for i, point := range whole {
		t.Run(fmt.Sprintf("%d %s", i, point), func(t *testing.T) {
			recovery := crashes(t, c, []int{i})
			if c.shallow {
				return
			}
			for j, point := range recovery {
				t.Run(fmt.Sprintf("then %d %s", j, point), func(t *testing.T) { crashes(t, c, []int{i, j}) })
			}
		})
	}
}

// crashes runs a case: do is ended at the point at[0], the recovery from that at the
// point at[1], and so on; the last one goes to its end, and its points are returned.
func crashes(t *testing.T, c crashCase, at []int) (points []string) {
	t.Helper()
	l := newLabIn(t, inMemory(t))
	var w Workspace
	if c.before != nil {
		w = c.before(l, l.manager(nil))
	}
	crashed := ""
	run := func(last bool, stop int, do func(m *Manager) error) {
		m := l.manager(nil)
		points = nil
		m.crash = func(point string) {
			points = append(points, point)
			if !last && len(points) == stop+1 {
				panic(crash{point})
			}
		}
		defer func() {
			switch what := recover().(type) {
			case nil:
				if !last {
					t.Errorf("it did not come to its point %d, only %q", stop, points)
				}
			case crash:
				if crashed == "" {
					crashed = what.point
				}
			default:
				panic(what)
			}
		}()
		if err := do(m); err != nil {
			t.Errorf("after %q: %v", points, err)
		}
	}
	for i := 0; i <= len(at); i++ {
		do := func(m *Manager) error { return m.Recover(t.Context()) }
		if i == 0 {
			do = func(m *Manager) error { return c.do(t.Context(), m, w) }
		}
		if last := i == len(at); last {
			run(true, 0, do)
		} else {
			run(false, at[i], do)
			l.listsOnlyWhole()
		}
	}
	m := l.manager(nil)
	l.sound(m)
	before := l.state(m)
	if err := m.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	if after := l.state(m); !maps.Equal(before, after) {
		t.Errorf("a second recovery has made %q of %q", after, before)
	}
	if c.after != nil {
		c.after(l, m, w, crashed)
	}
	return points
}

// state is all that is in the store and in the places of trees, but for locks.
func (l *lab) state(m *Manager) map[string]string {
	l.t.Helper()
	files := content(l.t, m.o.Dir)
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, locksDir+"/") })
	return files
}

// listsOnlyWhole checks that what is listed as ready has its tree, also before
// anybody has recovered anything.
func (l *lab) listsOnlyWhole() {
	l.t.Helper()
	m := l.manager(nil)
	list, err := m.List(l.t.Context())
	if err != nil {
		l.t.Error(err)
	}
	for _, w := range list {
		if w.State != Ready {
			continue
		}
		if id, err := tree.Identity(w.Path); err != nil || id != l.record(m, w.ID).Root {
			l.t.Errorf("%s is listed and is not there: %s, %v", w.Path, id, err)
		}
	}
}

// sound checks that nothing is half made: each record is of something that is
// whole or gone, and nothing lies there that no record tells of.
func (l *lab) sound(m *Manager) {
	l.t.Helper()
	records, err := m.store.all()
	if err != nil {
		l.t.Error(err)
	}
	trees, archives, data := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range records {
		if r.Step != nil || !slices.Contains([]State{Ready, Ended, Archived, Removed}, r.State) {
			l.t.Errorf("%s is %s with the step %+v", r.Name, r.State, r.Step)
		}
		id, err := tree.Identity(r.Path)
		if r.State == Ready {
			trees[r.Path] = true
			if err != nil || id != r.Root {
				l.t.Errorf("%s has %s as its tree, not %s: %v", r.Name, id, r.Root, err)
			}
		} else if _, err := os.Lstat(r.Path); !errors.Is(err, fs.ErrNotExist) {
			l.t.Errorf("%s is %s and has a tree: %v", r.Name, r.State, err)
		}
		if r.State == Archived {
			if r.Archive == nil {
				l.t.Errorf("%s has no archive", r.Name)
				continue
			}
			archives[r.Archive.Path] = true
		}
		if r.State != Removed {
			data[r.ID] = true
			l.soundVersions(m, r)
		}
	}
	for _, place := range append([]string{m.store.path(treesDir)}, l.places...) {
		for _, name := range names(l.t, place) {
			if path := filepath.Join(place, name); !trees[path] {
				l.t.Errorf("%s is nobody's", path)
			}
		}
	}
	for _, name := range names(l.t, m.store.path(archivesDir)) {
		if path := m.store.path(archivesDir, name); !archives[path] {
			l.t.Errorf("%s is nobody's", path)
		}
		delete(archives, m.store.path(archivesDir, name))
	}
	for path := range archives {
		l.t.Errorf("%s is not there", path)
	}
	for _, name := range names(l.t, m.store.path(dataDir)) {
		if !data[name] {
			l.t.Errorf("data of %s are nobody's", name)
		}
	}
	if left := names(l.t, m.store.path(makingDir)); len(left) != 0 {
		l.t.Errorf("still being made: %q", left)
	}
	for _, name := range names(l.t, m.store.path(recordsDir)) {
		if strings.HasPrefix(name, ".") {
			l.t.Errorf("a record was left half written: %s", name)
		}
	}
}

// soundVersions checks that the versions of a workspace are whole, and that
// nothing is beside them.
func (l *lab) soundVersions(m *Manager, r *record) {
	l.t.Helper()
	dir := m.store.path(dataDir, r.ID, "versions")
	if len(names(l.t, dir)) == 0 {
		return
	}
	list, err := m.versions(r.ID)
	if err != nil {
		l.t.Error(err)
	}
	want := map[string]bool{}
	for i, v := range list {
		want[strconv.Itoa(v.Number)] = true
		if v.Number != i+1 {
			l.t.Errorf("version %d comes after %d", v.Number, i)
		}
		if r.State == Archived {
			if v.Path != "" {
				l.t.Errorf("version %d of %s is in its archive, and its tree is on the disk", v.Number, r.Name)
			}
			continue
		}
		if count, err := tree.Measure(l.t.Context(), v.Path, nil); err != nil || int(count.Files) != v.Files {
			l.t.Errorf("version %d of %s has %d files, not %d: %v", v.Number, r.Name, count.Files, v.Files, err)
		}
	}
	for _, name := range names(l.t, dir) {
		if !want[name] {
			l.t.Errorf("%s in the versions of %s is none", name, r.Name)
		}
	}
}

func TestCrashCreate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		request func(l *lab) Request
		shallow bool
	}{
		{"empty", func(*lab) Request { return Request{} }, false},
		{"directory", func(l *lab) Request {
			in := l.source("in", nil)
			l.places = []string{in}
			l.o.Servers = &fakeServers{}
			from := l.source("from", map[string]string{"a": "a", "b/c": "c", "shared/x": "x"})
			return Request{From: from, In: in, Share: []string{"shared"}, Serve: true}
		}, false},
		{"git", func(l *lab) Request { return Request{From: l.repository("repo", map[string]string{"a": "a"})} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var request Request
			var in *lab
			crashAtEach(t, crashCase{
				shallow: c.shallow,
				before: func(l *lab, _ *Manager) Workspace {
					in, request = l, c.request(l)
					request.Kind, request.Job = Hybrid, "job"
					return Workspace{}
				},
				do: func(ctx context.Context, m *Manager, _ Workspace) error {
					m.o.Servers = in.o.Servers
					_, err := m.Create(ctx, request, nil)
					return err
				},
				after: func(l *lab, m *Manager, _ Workspace, crashed string) {
					list, err := m.List(t.Context())
					if want := crashed == "" || crashed == "create: done"; err != nil || (len(list) == 1) != want {
						t.Errorf("%d, %v", len(list), err)
					}
					if servers, ok := l.o.Servers.(*fakeServers); ok && servers.count() != len(list) {
						t.Errorf("%d servers run for %d workspaces", servers.count(), len(list))
					}
					if request.From == "" || len(list) == 1 {
						return
					}
					if _, err := os.Lstat(filepath.Join(request.From, ".git")); err != nil {
						return
					}
					if got := git(t, request.From, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
						t.Errorf("left: %s", got)
					}
					if got := git(t, request.From, "worktree", "list"); strings.Contains(got, "\n") {
						t.Errorf("left: %s", got)
					}
				},
			})
		})
	}
}

// What lies where a workspace was to be made, and was not made for it, stays.
func TestUndoLeavesWhatIsNotOurs(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	from := l.source("from", map[string]string{"a": "a"})
	for _, point := range []string{"create: written down", "create: directory made", "create: directory written down", "create: in place"} {
		var path string
		m.crash = func(at string) {
			if at != point {
				return
			}
			records, err := m.store.all()
			if err != nil || len(records) != 1 {
				t.Fatal(records, err)
			}
			for _, place := range []string{records[0].Path, records[0].Step.Staging} {
				if err := os.RemoveAll(place); err != nil {
					t.Error(err)
				}
				write(t, place, map[string]string{"theirs": "x"})
			}
			path = records[0].Path
			panic(crash{at})
		}
		func() {
			defer func() { _ = recover() }()
			_, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j", From: from}, nil)
			t.Errorf("%s: it did not come there: %v", point, err)
		}()
		m.crash = nil
		if err := m.Recover(t.Context()); err != nil {
			t.Errorf("%s: %v", point, err)
		}
		if got := content(t, path); got["theirs"] != "x" {
			t.Errorf("%s: %q", point, got)
		}
		if got := names(t, m.store.path(recordsDir)); len(got) != 0 {
			t.Errorf("%s: left %q", point, got)
		}
	}
}
