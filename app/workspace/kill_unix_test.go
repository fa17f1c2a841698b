//go:build unix

package workspace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// createUntilKilled is a process that makes workspaces without end, and says
// where it is.
func createUntilKilled() int {
	o := Options{Dir: os.Args[1], By: "a test"}
	m := New(o)
	m.crash = func(point string) { fmt.Println(point) }
	for {
		w, err := m.Create(context.Background(), Request{Kind: Hybrid, Job: "job", From: os.Args[2]}, func(p Progress) { fmt.Println(p.Phase) })
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("made", w.ID)
	}
}

// Whenever the process is killed that makes a workspace, the next one takes away
// what it has left, and what was made stays.
func TestKilledWhileCreating(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(apptest.Seed(t), 0))
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("dir%d/file%d", i%20, i)] = strings.Repeat("x", i*20)
	}
	l := newLab(t)
	m := l.manager(nil)
	for _, from := range []string{l.source("dir", files), l.repository("repo", files)} {
		made := map[string]bool{}
		for range 5 {
			for _, id := range killedAfter(t, l, from, random.IntN(30), time.Duration(random.Int64N(int64(10*time.Millisecond)))) {
				made[id] = true
			}
			// A git that was being started has the locks of its parent until it is git.
			apptest.Eventually(t, "nobody is at work", func() bool { return l.free(m) })
			if err := m.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.sound(m)
			list, err := m.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			here := map[string]bool{}
			for _, w := range list {
				here[w.ID] = true
				if got := content(t, w.Path); len(got) != len(files) {
					t.Errorf("%s has %d files of %d", w.Name, len(got), len(files))
				}
			}
			for id := range made {
				if !here[id] {
					t.Errorf("%s was made, and is not there", id)
				}
			}
			if _, err := os.Lstat(filepath.Join(from, ".git")); err != nil {
				continue
			}
			trees := len(strings.Split(git(t, from, "worktree", "list"), "\n")) - 1
			branches := len(strings.Fields(git(t, from, "for-each-ref", "--format=%(refname)", "refs/heads/lamplighter")))
			gits := 0
			for _, w := range list {
				if w.Source.Kind == FromGit {
					gits++
				}
			}
			if trees != gits || branches != gits {
				t.Errorf("%d worktrees and %d branches for %d workspaces", trees, branches, gits)
			}
		}
	}
}

// free reports whether nobody is at work on any workspace.
func (l *lab) free(m *Manager) bool {
	l.t.Helper()
	records, err := m.store.all()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, r := range records {
		release, err := m.store.try(r.ID)
		if errors.Is(err, ErrBusy) {
			return false
		}
		if err != nil {
			l.t.Fatal(err)
		}
		release()
	}
	return true
}

// killedAfter runs a process that makes workspaces, kills it so long after it has
// said so many lines, and tells which it has made.
func killedAfter(t *testing.T, l *lab, from string, lines int, then time.Duration) (made []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], l.o.Dir, from)
	cmd.Env = append(os.Environ(), helperVariable+"=create")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	text := bufio.NewScanner(out)
	for range lines {
		if !text.Scan() {
			t.Error("it ended by itself")
			break
		}
		if id, ok := strings.CutPrefix(text.Text(), "made "); ok {
			made = append(made, id)
		}
	}
	moment := time.NewTimer(then)
	<-moment.C
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	for text.Scan() {
		if id, ok := strings.CutPrefix(text.Text(), "made "); ok {
			made = append(made, id)
		}
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // it was killed
	return made
}
