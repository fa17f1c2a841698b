package workspace

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// machine is a workspace and what is to be in it.
type machine struct {
	l        *lab
	m        *Manager
	w        Workspace
	state    State
	tree     map[string]string
	versions []map[string]string // by number, from 1
}

// Whatever is done, and wherever it is interrupted: each version stays what it was,
// and the tree is what it was before or what it was to be.
func TestVersionsMachine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := newLabIn(t, inMemory(t))
		m := l.manager(nil)
		files := map[string]string{"a": "a", "d/b": "b"}
		x := &machine{l: l, m: m, w: l.create(m, Request{From: l.source("from", files)}), state: Ready, tree: files}
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			x.step(rt)
			x.check(rt)
		}
	})
}

// step does one thing. Half of the time it is interrupted.
func (x *machine) step(t *rapid.T) {
	do, tree, state := x.choose(t)
	if do == nil {
		return
	}
	before, versions := maps.Clone(x.tree), len(x.versions)
	crashes := rapid.Bool().Draw(t, "crashes")
	at := rapid.IntRange(0, 15).Draw(t, "at")
	m := x.l.manager(nil)
	points := 0
	if crashes {
		m.crash = func(point string) {
			if points++; points == at+1 {
				panic(crash{point})
			}
		}
	}
	crashed := interrupted(func() {
		if err := do(m); err != nil {
			t.Fatal(err)
		}
	})
	if crashed {
		if err := x.m.Recover(x.l.t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	x.l.sound(x.m)
	now, err := x.m.Find(x.l.t.Context(), x.w.ID)
	if err != nil {
		t.Fatal(err)
	}
	if now.State != state && (!crashed || now.State != x.state) {
		t.Fatalf("it is %s, not %s", now.State, state)
	}
	x.state = now.State
	if now.Versions > versions { // it had the tree that was there
		x.versions = append(x.versions, before)
	}
	if now.Versions < versions || now.Versions > versions+1 {
		t.Fatalf("%d versions after %d", now.Versions, versions)
	}
	if got := content(x.l.t, x.w.Path); now.State == Ready && crashed && maps.Equal(got, before) {
		return
	}
	x.tree = tree
	kept := func(v map[string]string) bool { return maps.Equal(v, before) }
	if !maps.Equal(tree, before) && !slices.ContainsFunc(x.versions, kept) {
		t.Fatalf("%q gave way to %q and was not kept", before, tree)
	}
}

// interrupted reports whether do ended by a crash.
func interrupted(do func()) (crashed bool) {
	defer func() {
		if what := recover(); what != nil {
			if _, crashed = what.(crash); !crashed {
				panic(what)
			}
		}
	}()
	do()
	return false
}

// choose is something to do, with the tree and the state that come of it; nil
// means that it was done already.
func (x *machine) choose(t *rapid.T) (do func(m *Manager) error, tree map[string]string, state State) {
	ctx, id := x.l.t.Context(), x.w.ID
	restore := func(version int) func(m *Manager) error {
		return func(m *Manager) error { _, err := m.Restore(ctx, id, version, nil); return err }
	}
	if x.state == Archived {
		return restore(0), x.tree, Ready
	}
	actions := []string{"edit", "edit", "keep", "archive"}
	if len(x.versions) > 0 {
		actions = append(actions, "restore", "restore")
	}
	switch rapid.SampledFrom(actions).Draw(t, "action") {
	case "edit":
		x.edit(t)
	case "keep":
		return func(m *Manager) error { _, err := m.Keep(ctx, id, "m", nil); return err }, x.tree, Ready
	case "archive":
		return func(m *Manager) error { _, err := m.Archive(ctx, id, nil); return err }, x.tree, Archived
	case "restore":
		n := rapid.IntRange(1, len(x.versions)).Draw(t, "version")
		return restore(n), x.versions[n-1], Ready
	}
	return nil, nil, ""
}

// edit changes the tree as a job does.
func (x *machine) edit(t *rapid.T) {
	x.tree = maps.Clone(x.tree)
	name := rapid.SampledFrom([]string{"a", "d/b", "c", "e/f"}).Draw(t, "name")
	path := filepath.Join(x.w.Path, filepath.FromSlash(name))
	if _, there := x.tree[name]; there && rapid.Bool().Draw(t, "remove") {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		delete(x.tree, name)
		if dir := filepath.Dir(path); dir != x.w.Path {
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	text := rapid.SampledFrom([]string{"1", "2", ""}).Draw(t, "text")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil { // in place, where a version could be hit
		t.Fatal(err)
	}
	x.tree[name] = text
}

// check compares what is on the disk with what is to be there.
func (x *machine) check(t *rapid.T) {
	if x.state != Ready {
		return
	}
	if got := content(x.l.t, x.w.Path); !maps.Equal(got, x.tree) {
		t.Fatalf("the tree is %q, not %q", got, x.tree)
	}
	list, err := x.m.versions(x.w.ID)
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for _, v := range list {
		numbers = append(numbers, v.Number)
		if got := content(x.l.t, v.Path); v.Number > len(x.versions) || !maps.Equal(got, x.versions[v.Number-1]) {
			t.Fatalf("version %d is %q of %s", v.Number, got, fmt.Sprint(x.versions))
		}
	}
	if len(numbers) != len(x.versions) || !slices.IsSorted(numbers) {
		t.Fatalf("there are the versions %v of %d", numbers, len(x.versions))
	}
}
