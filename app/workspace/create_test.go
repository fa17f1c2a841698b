package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/workspace/tree"
)

func TestCreateEmpty(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp, Job: "Fix  it\u200b", Project: "My Shop"})
	if w.State != Ready || w.Kind != Temp || w.Cleanup != AtCompletion || w.Retention != UsualRetention || w.Source.Kind != FromNothing ||
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

// Nobody has to be able to read all that a place is in.
func TestLineage(t *testing.T) {
	l := newLab(t)
	dir := l.source("a/b/c", nil)
	identity := func(path string) (string, error) {
		switch path {
		case l.path("a/b"):
			return "", &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
		case l.path("broken"):
			return "", errors.New("broken")
		}
		return path, nil
	}
	ids, err := lineage(dir, identity)
	if err != nil || !ids[dir] || ids[l.path("a/b")] || !ids[l.path("a")] || !ids[l.dir] {
		t.Errorf("%v, %v", ids, err)
	}
	if _, err := lineage(l.path("broken/x"), identity); err == nil {
		t.Error("what cannot be looked at is passed over")
	}
}

// What is refused leaves nothing, not even a record.
func TestCreateRefuses(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	l.create(m, Request{Job: "there"}) // makes the store
	other := l.create(m, Request{In: l.source("others", nil), Job: "other"})
	write(t, other.Path, map[string]string{"deep/er/": ""})
	from := l.source("from", map[string]string{"a": "a", "sub/b": "b", "out": "-> ../others", "back": "-> sub", "file": "f", "sub/up": "-> ..", "node_modules/x": "x"})
	repo := l.repository("repo", map[string]string{"a": "a", "vendor/x": "x"})
	unborn := l.source("unborn", nil)
	git(t, unborn, "init", "--quiet")
	write(t, l.dir, map[string]string{"loop": "-> loop", "dangling": "-> nothing", "tofrom": "-> from", "file": "x"})
	for name, c := range map[string]struct {
		q    Request
		says string
	}{
		"no kind":                      {Request{Job: "j"}, "kind"},
		"unknown kind":                 {Request{Kind: "eternal", Job: "j"}, "kind"},
		"no job":                       {Request{Kind: Temp, Job: "-"}, "job"},
		"job of controls":              {Request{Kind: Temp, Job: "a\x1b[31m"}, "control"},
		"job of two lines":             {Request{Kind: Temp, Job: "a\nb"}, "control"},
		"job of spaces":                {Request{Kind: Temp, Job: " \u200b "}, "can be seen"},
		"job that is no text":          {Request{Kind: Temp, Job: "a\xff"}, "UTF-8"},
		"long job":                     {Request{Kind: Temp, Job: strings.Repeat("ü", 201)}, "201 characters"},
		"long project":                 {Request{Kind: Temp, Job: "j", Project: strings.Repeat("p", 201)}, "project"},
		"clean-up":                     {Request{Kind: Temp, Job: "j", Cleanup: "never"}, "clean-up"},
		"retention":                    {Request{Kind: Temp, Job: "j", Retention: -1}, "retention"},
		"short retention":              {Request{Kind: Temp, Job: "j", Retention: time.Millisecond}, "retention"},
		"long retention":               {Request{Kind: Temp, Job: "j", Retention: 1<<63 - 1}, "retention"},
		"ref of nothing":               {Request{Kind: Temp, Job: "j", Ref: "main"}, "ref"},
		"ref of a directory":           {Request{Kind: Temp, Job: "j", From: from, Ref: "main"}, "no git repository"},
		"ref of a copy":                {Request{Kind: Temp, Job: "j", From: repo, Ref: "main", Copy: true}, "copy"},
		"long ref":                     {Request{Kind: Temp, Job: "j", From: repo, Ref: strings.Repeat("r", 2000)}, "2000 bytes"},
		"many shares":                  {Request{Kind: Temp, Job: "j", From: repo, Share: make([]string, 101)}, "101 directories"},
		"ref that is none":             {Request{Kind: Temp, Job: "j", From: repo, Ref: "nowhere"}, "nowhere"},
		"ref that is an option":        {Request{Kind: Temp, Job: "j", From: repo, Ref: "--output=/tmp/x"}, "--output"},
		"no commit":                    {Request{Kind: Temp, Job: "j", From: unborn}, "no commit"},
		"from that is relative":        {Request{Kind: Temp, Job: "j", From: "from"}, "absolute"},
		"from that is not there":       {Request{Kind: Temp, Job: "j", From: l.path("nothing")}, "nothing"},
		"from that is a file":          {Request{Kind: Temp, Job: "j", From: l.path("file")}, "not a directory"},
		"from that is a loop":          {Request{Kind: Temp, Job: "j", From: l.path("loop")}, "loop"},
		"from that leads nowhere":      {Request{Kind: Temp, Job: "j", From: l.path("dangling")}, "nothing"},
		"in that is relative":          {Request{Kind: Temp, Job: "j", In: "."}, "absolute"},
		"in that is not there":         {Request{Kind: Temp, Job: "j", In: l.path("nothing")}, "nothing"},
		"in that is a file":            {Request{Kind: Temp, Job: "j", In: l.path("file")}, "not a directory"},
		"in that leads nowhere":        {Request{Kind: Temp, Job: "j", In: l.path("dangling")}, "nothing"},
		"in its source":                {Request{Kind: Temp, Job: "j", From: from, In: from}, "part of itself"},
		"in its source, by a link":     {Request{Kind: Temp, Job: "j", From: from, In: l.path("tofrom") + "/sub"}, "part of itself"},
		"its source is around":         {Request{Kind: Temp, Job: "j", From: l.dir}, "part of itself"},
		"in what git keeps":            {Request{Kind: Temp, Job: "j", From: repo, In: filepath.Join(repo, ".git")}, "what git keeps"},
		"in another":                   {Request{Kind: Temp, Job: "j", In: other.Path}, other.Name},
		"deep in another":              {Request{Kind: Temp, Job: "j", From: repo, In: filepath.Join(other.Path, "deep", "er")}, other.Name},
		"in another, by a link":        {Request{Kind: Temp, Job: "j", In: filepath.Join(from, "out", other.Name, "deep")}, other.Name},
		"in the store":                 {Request{Kind: Temp, Job: "j", In: l.o.Dir}, "belongs to workspaces"},
		"among the records":            {Request{Kind: Temp, Job: "j", In: m.store.path(recordsDir)}, "belongs to workspaces"},
		"share of nothing":             {Request{Kind: Temp, Job: "j", Share: []string{"x"}}, "absolute path"},
		"share that is not there":      {Request{Kind: Temp, Job: "j", From: from, Share: []string{"x"}}, "x"},
		"share that is a file":         {Request{Kind: Temp, Job: "j", From: from, Share: []string{"file"}}, "not a directory"},
		"share above":                  {Request{Kind: Temp, Job: "j", From: from, Share: []string{"../others"}}, "leads out"},
		"share above, in the middle":   {Request{Kind: Temp, Job: "j", From: from, Share: []string{"sub/../../others"}}, "leads out"},
		"share of all":                 {Request{Kind: Temp, Job: "j", From: from, Share: []string{"sub/.."}}, "all of it"},
		"share of all, by a link":      {Request{Kind: Temp, Job: "j", From: from, Share: []string{"sub/up"}}, "leads out"},
		"empty share":                  {Request{Kind: Temp, Job: "j", From: from, Share: []string{""}}, "leads out"},
		"share by a link":              {Request{Kind: Temp, Job: "j", From: from, Share: []string{"out"}}, "leads out"},
		"share beyond a link":          {Request{Kind: Temp, Job: "j", From: from, Share: []string{"out/" + other.Name}}, "leads out"},
		"share of what git has":        {Request{Kind: Temp, Job: "j", From: repo, Share: []string{"vendor"}}, "something else lies"},
		"share of git itself":          {Request{Kind: Temp, Job: "j", From: repo, Share: []string{".git"}}, "nothing may lie"},
		"share of git, in capitals":    {Request{Kind: Temp, Job: "j", From: from, Share: []string{l.source("x/.GIT", nil)}}, "nothing may lie"},
		"share of the root":            {Request{Kind: Temp, Job: "j", Share: []string{filepath.VolumeName(l.dir) + string(filepath.Separator)}}, "cannot be shared"},
		"share twice":                  {Request{Kind: Temp, Job: "j", From: from, Share: []string{"sub", "sub/"}}, "in the place of the other"},
		"share in a share":             {Request{Kind: Temp, Job: "j", From: repo, Share: []string{l.path("x"), l.source("y/X", nil)}}, "in the place of the other"},
		"share around the place":       {Request{Kind: Temp, Job: "j", Share: []string{l.dir}}, "would be in it"},
		"share with an escape":         {Request{Kind: Temp, Job: "j", From: from, Share: []string{"a\x1b"}}, "control"},
		"share in the place of a file": {Request{Kind: Temp, Job: "j", From: from, Share: []string{l.source("z/file", nil)}}, "something else lies"},
	} {
		if c.q.Job == "-" {
			c.q.Job = ""
		}
		_, err := m.Create(t.Context(), c.q, nil)
		if !errors.Is(err, ErrBadRequest) || !strings.Contains(err.Error(), c.says) || strings.ContainsAny(err.Error(), "\x1b") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := names(t, l.path("others")); len(got) != 1 {
		t.Errorf("left: %q", got)
	}
	if got := git(t, repo, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
		t.Errorf("left: %s", got)
	}
	if got := git(t, repo, "worktree", "list"); strings.Count(got, "\n") != 0 {
		t.Errorf("left: %s", got)
	}
	if got := names(t, m.store.path(recordsDir)); len(got) != 2 {
		t.Errorf("left: %q", got)
	}
}

func TestShares(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	files := map[string]string{
		"a": "a", "node_modules/x/y": "y", "packages/p/node_modules/z": "z", "packages/p/q": "q", "real/cache/c": "c", "aside": "-> real", "linked": "-> real/cache",
	}
	cache := l.source("cache", map[string]string{"big": "big"})
	from := l.source("from", files)
	w := l.create(m, Request{From: from, Share: []string{"node_modules", "packages/../packages/p/node_modules/", "aside/cache", "linked", cache}})
	want := map[string]string{
		"a": "a", "packages/p/q": "q", "aside": "-> real",
		"node_modules":            "-> " + filepath.Join(from, "node_modules"),
		"packages/p/node_modules": "-> " + filepath.Join(from, "packages", "p", "node_modules"),
		"real/cache":              "-> " + filepath.Join(from, "real", "cache"),
		"linked":                  "-> " + filepath.Join(from, "real", "cache"),
		"cache":                   "-> " + cache,
	}
	if got := content(t, w.Path); !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if want := (Share{From: filepath.Join(from, "real", "cache"), To: "real/cache"}); len(w.Shares) != 5 || w.Shares[2] != want {
		t.Errorf("%+v", w.Shares)
	}

	files = map[string]string{".gitignore": "node_modules\n", "a": "a", "web/b": "b"}
	repo := l.repository("repo", files)
	write(t, repo, map[string]string{"node_modules/x": "x", "web/node_modules/y": "y"})
	w = l.create(m, Request{From: filepath.Join(repo, "web"), Share: []string{"node_modules"}})
	files["web/node_modules"] = "-> " + filepath.Join(repo, "web", "node_modules")
	if got := content(t, w.Path); !maps.Equal(got, files) {
		t.Errorf("%q, want %q", got, files)
	}
	if status := git(t, w.Path, "status", "--porcelain"); status != "" {
		t.Errorf("changed from the beginning: %s", status)
	}
}

// Where the file system does not tell letters of two cases apart, what is shared
// is left out however it is spelled.
func TestSkip(t *testing.T) {
	l := newLab(t)
	from := l.source("from", map[string]string{"Cache/x": "x", "other/Cache/y": "y", ".w.part/z": "z"})
	insensitive := sameFile(filepath.Join(from, "cache"), filepath.Join(from, "Cache"))
	b := &blueprint{from: from, shares: []share{{Share: Share{To: "cache"}, local: true}, {Share: Share{To: "other"}}}}
	skip := b.skip(filepath.Join(from, ".w.part"))
	for name, want := range map[string]bool{"cache": true, "Cache": insensitive, "other": false, "other/Cache": false, ".w.part": true, "other/.w.part": false} {
		if skip(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestLinkSharesStaysInside(t *testing.T) {
	l := newLab(t)
	dir := l.source("tree", map[string]string{"out": "-> ../outside"})
	outside := l.source("outside", nil)
	err := linkShares(dir, []share{{Share: Share{From: outside, To: "out/x"}}})
	if err == nil || len(names(t, outside)) != 0 {
		t.Errorf("%v: a share was made outside", err)
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

// What fails half-way leaves nothing, and says what failed.
func TestCreateFails(t *testing.T) {
	l := newLab(t)
	from := l.repository("repo", map[string]string{"a": "a"})
	dir := l.source("dir", map[string]string{"a": "a"})
	for _, q := range []Request{{}, {From: dir}, {From: from}} {
		q.Kind, q.Job = Persistent, "job"
		for _, point := range points(t, l, q) {
			if point == "create: done" {
				continue
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("enough")
			m := l.manager(nil)
			m.crash = func(at string) {
				if at == point {
					cancel(why)
				}
			}
			if w, err := m.Create(ctx, q, nil); err == nil || !errors.Is(err, why) && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %+v, %v", point, w, err)
			}
			l.clean(m, 0)
			if got := git(t, from, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
				t.Errorf("%s: left %s", point, got)
			}
		}
	}
}

// points are where a creation may be ended, in order.
func points(t *testing.T, l *lab, q Request) []string {
	t.Helper()
	other := newLab(t) // so that nothing is in the way
	other.o.Servers = l.o.Servers
	m := other.manager(nil)
	var list []string
	m.crash = func(at string) { list = append(list, at) }
	if w := other.create(m, q); w.Source.Kind == FromGit {
		git(t, q.From, "worktree", "remove", w.Path)
		git(t, q.From, "branch", "--delete", "--force", w.Source.Branch)
	}
	return list
}

func TestCreateWhereNothingCanBeWritten(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		readOnlyPlace(t)
		return
	}
	l := newLab(t)
	m := l.manager(nil)
	in := l.source("in", nil)
	if err := os.Chmod(in, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j", In: in}, nil); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	l.clean(m, 0)
}

// readOnlyPlace is that where permissions hold for nobody or are others: a name
// that is taken makes the same step fail.
func readOnlyPlace(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	in := l.source("in", nil)
	m.crash = func(at string) {
		if at == "create: written down" {
			if err := os.Remove(in); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j", In: in}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	l.clean(m, 0)
}

// fakeServers start servers that are no processes.
type fakeServers struct {
	mu      sync.Mutex
	running map[string]int // by directory
	broken  error
	stuck   error // what ending says
}

func (s *fakeServers) Start(_ context.Context, dir string) (Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running = map[string]int{}
	}
	s.running[dir]++
	if s.broken != nil {
		return Server{}, s.broken // and something of it runs
	}
	return Server{SessionID: len(s.running), MCPURL: "http://127.0.0.1/mcp"}, nil
}

func (s *fakeServers) End(_ context.Context, dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stuck != nil {
		return s.stuck
	}
	delete(s.running, dir)
	return nil
}

func (s *fakeServers) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running)
}

func TestCreateServes(t *testing.T) {
	l := newLab(t)
	if _, err := l.manager(nil).Create(t.Context(), Request{Kind: Temp, Job: "j", Serve: true}, nil); !errors.Is(err, ErrNoServer) {
		t.Error(err)
	}
	servers := &fakeServers{}
	l.o.Servers = servers
	m := l.manager(nil)
	w := l.create(m, Request{Serve: true})
	if w.Server == nil || w.Server.MCPURL == "" || servers.running[w.Path] != 1 {
		t.Errorf("%+v", w.Server)
	}
	if plain := l.create(m, Request{}); plain.Server != nil || servers.count() != 1 {
		t.Errorf("%+v", plain.Server)
	}
	servers.broken = errors.New("no Serena")
	if _, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j", Serve: true}, nil); !errors.Is(err, ErrNoServer) || !errors.Is(err, servers.broken) {
		t.Error(err)
	}
	if servers.count() != 1 {
		t.Error("what was started for nothing still runs")
	}
	l.clean(m, 2)

	// What does not end keeps its tree, until it does.
	servers.stuck = errors.New("it still runs")
	if _, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j", Serve: true}, nil); !errors.Is(err, servers.stuck) {
		t.Error(err)
	}
	if list, err := m.List(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if err := m.Recover(t.Context()); !errors.Is(err, servers.stuck) {
		t.Error(err)
	}
	servers.stuck = nil
	if err := m.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	l.clean(m, 2)
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
