package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/setup/document"
	"lamplighter/app/setup/foreignfile"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// The lock is for files alone: looking for programs takes its time.
func TestLooksForProgramsWithoutTheLock(t *testing.T) {
	b := newBed(t)
	b.write(cursorFile, direct)
	b.o.Programs = func() ([]process.Info, error) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // waits for nobody
		unlock, err := foreignfile.Lock(ctx, filepath.Join(b.state, lockName))
		if err != nil {
			t.Error(err)
			return nil, err
		}
		unlock()
		return []process.Info{{Identity: monitor.Identity{PID: 7}, Exe: "/usr/share/cursor/cursor", Args: []string{"cursor"}}}, nil
	}
	if r := b.do(Wanted{}); !slices.Equal(r.Running, []string{"Cursor"}) {
		t.Errorf("%+v", r)
	}
}

// An interruption tells what was done until then.
func TestInterrupted(t *testing.T) {
	b := newBed(t)
	b.write(codexFile, "[mcp_servers.serena]\ncommand = 'serena'\nargs = ['start-mcp-server']\n")
	path := b.write(cursorFile, direct)
	b.o.Programs = func() ([]process.Info, error) {
		return []process.Info{{Identity: monitor.Identity{PID: 7}, Exe: "/usr/bin/codex"}}, nil
	}
	s := New(b.o)
	ctx, cancel := context.WithCancel(t.Context())
	s.written = func(string) { cancel() }
	r, err := s.Do(ctx, Wanted{})
	if !errors.Is(err, context.Canceled) || len(r.Changes) != 1 || r.Changes[0].Client != "Codex" || !slices.Equal(r.Running, []string{"Codex"}) || b.read(path) != direct {
		t.Errorf("%+v, %v", r, err)
	}
}

// What happens right after writing, or right before, is told: it is not as if the
// file had never been there.
func TestGoneMeanwhile(t *testing.T) {
	for _, undo := range []bool{false, true} {
		b := newBed(t)
		path := b.write(cursorFile, direct)
		if undo {
			b.done(Wanted{})
		}
		s := New(b.o)
		s.written = func(string) {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		}
		r, err := s.Do(t.Context(), Wanted{Undo: undo})
		if err != nil || len(r.Changes) != 1 || !strings.Contains(r.Changes[0].Problem, "right after setup") || len(b.beside(path)) != 1 {
			t.Errorf("undo %v: %+v, %v", undo, r, err)
		}
	}
	b := newBed(t)
	path := b.write(cursorFile, direct)
	b.o.Now = func() time.Time { // between reading and writing
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
		return time.Unix(1e9, 0)
	}
	if r := b.do(Wanted{}); len(r.Changes) != 1 || !strings.Contains(r.Changes[0].Problem, "was removed meanwhile") || len(b.beside(path)) > 0 {
		t.Errorf("%+v, %q", r, b.beside(path))
	}
	b = newBed(t)
	path = b.write(cursorFile, direct)
	shown := b.done(Wanted{DryRun: true})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if r := b.do(Wanted{Expect: map[string]string{path: shown.Sum}}); len(r.Changes) != 1 || !errors.Is(r.Changes[0].Err, ErrOutdated) {
		t.Errorf("%+v", r)
	}
}

// A client that writes its own settings over ours is told about.
func TestWrittenOver(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, b.shared())
	all, err := New(b.o).places(Wanted{File: path})
	if err != nil {
		t.Fatal(err)
	}
	key := document.Key([]string{"mcpServers", "serena"})
	words := []string{b.connect, "connect", "--or-direct", "--", "serena", "start-mcp-server", "--context", "ide"}
	if err := (run{}).still(all[0], map[string][]string{key: words}); err != nil {
		t.Error(err)
	}
	for _, over := range []string{direct, "{}", "{"} {
		b.write(path, over)
		if err := (run{}).still(all[0], map[string][]string{key: words}); err == nil || !strings.Contains(err.Error(), "another program") {
			t.Errorf("%s: %v", over, err)
		}
	}
}

// Two at once wait for each other, and the second finds nothing to do.
func TestTwoAtOnce(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, direct)
	results := make(chan Result)
	for range 2 {
		go func() {
			r, err := New(b.o).Do(t.Context(), Wanted{})
			if err != nil {
				t.Error(err)
			}
			results <- r
		}()
	}
	first, second := <-results, <-results
	if len(first.Changes)+len(second.Changes) != 1 || b.read(path) != b.shared() || len(b.beside(path)) != 1 {
		t.Errorf("%+v, %+v, %q", first, second, b.beside(path))
	}
}

// What was shown is what is done: a file that has changed since is left as it is,
// and so is one of which nothing was shown.
func TestExpect(t *testing.T) {
	for _, undo := range []bool{false, true} {
		b := newBed(t)
		before := direct
		if undo {
			before = b.shared()
		}
		path := b.write(cursorFile, before)
		w := Wanted{Undo: undo, DryRun: true}
		shown := b.done(w)
		w.DryRun, w.Expect = false, map[string]string{path: shown.Sum}
		refused := func(why string) {
			t.Helper()
			was, beside := b.read(path), len(b.beside(path))
			r := b.do(w)
			if len(r.Changes) != 1 || !errors.Is(r.Changes[0].Err, ErrOutdated) || b.read(path) != was || len(b.beside(path)) != beside {
				t.Errorf("%s, undo %v: %+v", why, undo, r)
			}
		}
		b.write(path, before+"\n")
		refused("changed")
		b.write(path, before)
		w.Expect = map[string]string{}
		refused("not shown")
		w.Expect = map[string]string{path: shown.Sum}
		if c := b.done(w); c.Sum != shown.Sum || b.read(path) == before {
			t.Errorf("undo %v: %+v", undo, c)
		}
		w.Expect = map[string]string{}
		if r := b.do(w); len(r.Changes) > 0 {
			t.Errorf("nothing is to be done, undo %v: %+v", undo, r)
		}
	}
}
