package workspace

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/workspace/tree"
)

func TestCreateEmpty(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp, Job: "Fix  it\u200b", Project: "My Shop"})
	if w.State != Ready || w.Kind != Temp || w.Cleanup != AtCompletion || w.Retention != usualRetention || w.Source.Kind != FromNothing ||
		w.Job != "Fix it" || w.Project != "My Shop" || w.Name != nameOf("My Shop", "Fix it", w.ID) || w.Path != filepath.Join(m.store.path(treesDir), w.Name) {
		t.Errorf("%+v", w)
	}
	if w.SizeBytes != 0 || w.MeasuredAt == nil || w.EndsAt == nil || !w.CreatedAt.Equal(l.clock().Wall) {
		t.Errorf("%+v", w)
	}
	for _, dir := range []string{w.Path, w.TempDir, l.o.Dir, filepath.Dir(w.EnvFile)} {
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
	if env, err := os.ReadFile(w.EnvFile); err != nil || !strings.Contains(string(env), w.Path) {
		t.Errorf("%s, %v", env, err)
	}
	r := l.record(m, w.ID)
	if id, err := tree.Identity(w.Path); err != nil || id != r.Root || r.Step != nil {
		t.Errorf("%s is not %s; %+v; %v", id, r.Root, r.Step, err)
	}
	if len(r.History) != 1 || r.History[0].What != "created" {
		t.Errorf("%+v", r.History)
	}
	if got := content(t, w.Path); len(got) != 0 {
		t.Errorf("%v", got)
	}
	l.clean(m, 1)
}

// clean checks that there are so many trees, and nothing but whole ones.
func (l *lab) clean(m *Manager, trees int) {
	l.t.Helper()
	list, err := m.List(l.t.Context())
	if err != nil {
		l.t.Error(err)
	}
	var paths []string
	for _, w := range list {
		if w.State == Ready {
			paths = append(paths, w.Name)
		}
	}
	slices.Sort(paths)
	if got := names(l.t, m.store.path(treesDir)); len(paths) != trees || !slices.Equal(got, paths) {
		l.t.Errorf("trees are %q, workspaces %q, wanted %d", got, paths, trees)
	}
	var records, data []string
	for _, w := range list {
		records, data = append(records, w.ID+".json"), append(data, w.ID)
	}
	if got := names(l.t, m.store.path(recordsDir)); !slices.Equal(got, records) {
		l.t.Errorf("records are %q, want %q", got, records)
	}
	if got := names(l.t, m.store.path(dataDir)); !slices.Equal(got, data) {
		l.t.Errorf("data are %q, want %q", got, data)
	}
	if got := names(l.t, m.store.path(makingDir)); len(got) != 0 {
		l.t.Errorf("still being made: %q", got)
	}
}

func TestCreateFromDirectory(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	files := map[string]string{"a.txt": "a", "b/c/d": "d", "empty/": "", "link": "-> a.txt", "out": "-> /nowhere", "loop": "-> loop", "ünïcödé": "u"}
	if runtime.GOOS != "windows" {
		files["a\nb \"c\" "] = "odd"
	}
	from := l.source("My Project", files)
	if err := os.Chmod(from, 0o755); err != nil {
		t.Fatal(err)
	}
	var phases []Phase
	w, err := m.Create(t.Context(), Request{Kind: Hybrid, From: from, Job: "j"}, func(p Progress) {
		if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
			phases = append(phases, p.Phase)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, w.Path); !maps.Equal(got, files) {
		t.Errorf("%q, want %q", got, files)
	}
	if w.Source.Kind != FromDirectory || w.Source.From != from || w.Project != "My Project" || w.Files == 0 || w.SizeBytes <= 0 || !slices.Equal(phases, []Phase{Copying}) {
		t.Errorf("%+v, %v", w, phases)
	}
	info, err := os.Stat(w.Path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(w.Path, "a.txt"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(from, "a.txt")); err != nil || string(data) != "a" {
		t.Errorf("the source is %q, %v", data, err)
	}
	l.clean(m, 1)
}

func TestCreateFromGit(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	from := l.repository("shop", map[string]string{"a.txt": "a", "sub/b.txt": "b"})
	first := git(t, from, "rev-parse", "HEAD")
	write(t, from, map[string]string{"a.txt": "second"})
	git(t, from, "commit", "--quiet", "--all", "--message=second")
	second := git(t, from, "rev-parse", "HEAD")
	write(t, from, map[string]string{"a.txt": "not committed", "untracked": "x"})

	w := l.create(m, Request{From: filepath.Join(from, "sub"), Job: "whole"})
	if got, want := content(t, w.Path), map[string]string{"a.txt": "second", "sub/b.txt": "b"}; !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s := w.Source
	if s.Kind != FromGit || s.Commit != second || s.Branch != "lamplighter/"+w.Name || s.Admin == "" || w.Project != "shop" || s.From != filepath.Join(from, "sub") {
		t.Errorf("%+v", w)
	}
	if same, err := filepath.EvalSymlinks(s.Repository); err != nil || same != filepath.Join(from, ".git") {
		t.Errorf("%s, %v", s.Repository, err)
	}
	if branch := git(t, w.Path, "rev-parse", "--abbrev-ref", "HEAD"); branch != s.Branch {
		t.Errorf("on the branch %s", branch)
	}
	if status := git(t, w.Path, "status", "--porcelain"); status != "" {
		t.Errorf("changed from the beginning: %s", status)
	}
	if info, err := os.Stat(w.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	old := l.create(m, Request{From: from, Ref: "HEAD~1", Job: "old"})
	if old.Source.Commit != first || content(t, old.Path)["a.txt"] != "a" {
		t.Errorf("%+v", old.Source)
	}
	copied := l.create(m, Request{From: from, Copy: true, Job: "copied"})
	if got := content(t, copied.Path); copied.Source.Kind != FromDirectory || got["a.txt"] != "not committed" || got["untracked"] != "x" {
		t.Errorf("%+v, %q", copied.Source, got)
	}
	inside := l.create(m, Request{From: from, In: from, Job: "inside"})
	if filepath.Dir(inside.Path) != from || content(t, inside.Path)["a.txt"] != "second" {
		t.Errorf("%+v", inside)
	}
	git(t, from, "worktree", "remove", "--force", inside.Path)
	again := l.create(m, Request{From: w.Path, Job: "of another"})
	if again.Source.Repository != s.Repository || again.Source.Commit != second {
		t.Errorf("%+v", again.Source)
	}
}

func TestCreateIn(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	in := l.source("place", map[string]string{"theirs": "x"})
	if err := os.Symlink(in, l.path("link")); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{in, l.path("link"), in + "/../place/.", l.path("link") + "/"} {
		w := l.create(m, Request{In: way})
		if filepath.Dir(w.Path) != in || w.Project != "place" {
			t.Errorf("%s: %+v", way, w)
		}
	}
	if got := names(t, in); len(got) != 5 {
		t.Errorf("%q", got)
	}
	moved := l.manager(func(o *Options) { o.Trees = l.path("elsewhere/trees") })
	if w := l.create(moved, Request{}); filepath.Dir(w.Path) != l.path("elsewhere/trees") {
		t.Errorf("%+v", w)
	}
}

// Two with one name are two, and a name that means both says so.
func TestCreateTwoWithOneName(t *testing.T) {
	l := newLab(t)
	from := l.repository("repo", map[string]string{"a": "a"})
	var made [8]Workspace
	var all sync.WaitGroup
	for i := range made {
		m := l.manager(nil)
		all.Go(func() {
			q := Request{Kind: Temp, Job: "same", From: from}
			if i%2 == 0 {
				q.From = ""
			}
			var err error
			if made[i], err = m.Create(t.Context(), q, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	m := l.manager(nil)
	_, err := m.Find(t.Context(), "same")
	var many *Ambiguous
	if !errors.As(err, &many) || len(many.IDs) != len(made) {
		t.Errorf("%v", err)
	}
	for _, w := range made {
		if found, err := m.Find(t.Context(), w.Name); err != nil || found.ID != w.ID {
			t.Errorf("%+v, %v", found, err)
		}
	}
	l.clean(m, len(made))
}

func TestCreateTellsItsIDAtOnce(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	var begun []Making
	var making []Making
	w := l.create(m, Request{Begun: func(b Making) {
		begun = append(begun, b)
		var err error
		if making, err = l.manager(nil).Making(); err != nil {
			t.Error(err)
		}
		if list, err := m.List(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	}})
	if len(begun) != 1 || begun[0].ID != w.ID || begun[0].Name != w.Name || begun[0].Job != w.Job || !slices.Equal(making, begun) {
		t.Errorf("%+v, %+v", begun, making)
	}
}

// A source that somebody works in meanwhile is copied as it is found.
func TestCreateFromWhatChanges(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := l.manager(nil)
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("stays%d/file", i)] = "whole"
		files[fmt.Sprintf("goes%d/file", i)] = "whole"
	}
	from := l.source("from", files)
	stop := make(chan struct{})
	var worker sync.WaitGroup
	worker.Go(func() {
		for i := 0; ; i = (i + 1) % 200 {
			select {
			case <-stop:
				return
			default:
			}
			dir := filepath.Join(from, fmt.Sprintf("goes%d", i))
			if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "file"), []byte("whole"), 0o600)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 5 {
		got := content(t, l.create(m, Request{From: from}).Path)
		for name, text := range files {
			if copied, ok := got[name]; strings.HasPrefix(name, "stays") && !ok || ok && copied != text && !(strings.HasPrefix(name, "goes") && copied == "") {
				t.Errorf("%s is %q, %v", name, copied, ok)
			}
		}
	}
	close(stop)
	worker.Wait()
	l.clean(m, 5)
}
