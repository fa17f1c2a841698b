package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// marked are the keeper and all that came of it.
func (w *world) marked(t testing.TB) []monitor.Identity {
	t.Helper()
	name, value, _ := strings.Cut(w.mark, "=")
	all, err := process.Marked(name, value)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// killMarked leaves nothing behind, also when the keeper has failed to.
func (w *world) killMarked(t testing.TB) {
	t.Helper()
	apptest.Eventually(t, "what is left of the server is killed", func() bool {
		left := w.marked(t)
		for _, id := range left {
			if h, err := process.Hold(id); err == nil {
				_ = h.Kill() // it may have ended
				h.Close()
			}
		}
		return len(left) == 0
	})
}

// gone checks that nothing is left when the keeper has ended.
func (k *keeper) gone(t testing.TB) {
	t.Helper()
	if left := k.w.marked(t); len(left) != 0 {
		t.Errorf("still there: %v", left)
	}
}

// turned reports whether the log has been renamed.
func (w *world) turned() bool {
	_, err := os.Stat(filepath.Join(w.dir, "output.log.1"))
	return err == nil
}

// script keeps a shell script.
func (w *world) script(t testing.TB, options []string, text string) *keeper {
	t.Helper()
	return w.keep(t, options, "/bin/sh", "-c", text)
}

func (k *keeper) signal(t testing.TB, sig os.Signal) {
	t.Helper()
	if err := k.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// below are the descendants of the keeper that run.
func (k *keeper) below(t testing.TB) []process.Stat {
	t.Helper()
	own, err := process.ReadStat(k.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := process.Tree(own.Identity)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(tree[1:], func(s process.Stat) bool { return s.State == process.Unreaped })
}
