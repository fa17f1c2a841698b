package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/programtest"
)

// quarter is what a server has started: programs that people work in, and
// others.
type quarter struct {
	script string // starts all of it
	dir    string // of the programs
	id     string // the mark
}

// newQuarter makes copies of sleep and of the shell under other names. The
// script starts two browsers, two ordinary programs and a terminal with a program
// below it, which has lost the mark, and one below that, which has it again.
func newQuarter(t *testing.T) *quarter {
	t.Helper()
	q := &quarter{dir: t.TempDir()}
	for name, from := range map[string]string{"firefox": "sleep", "ordinary": "sleep", "gnome-terminal-server": "sh"} {
		path, err := exec.LookPath(from)
		if err != nil {
			t.Fatal(err)
		}
		program, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := programtest.WriteFile(filepath.Join(q.dir, name), program, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	q.script = filepath.Join(q.dir, "start")
	text := fmt.Sprintf(`#!/bin/sh
cd %q
./firefox 600 &
setsid ./firefox 600 &
./ordinary 600 &
setsid ./ordinary 600 &
setsid ./gnome-terminal-server -c 'env -u %[2]s sh -c "%[2]s=$%[2]s sleep 600; true"; true' &
wait
`, q.dir, launchMark)
	if err := programtest.WriteFile(q.script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return q
}

// running are the names of what carries the mark, sorted.
func (q *quarter) running(t *testing.T) []string {
	t.Helper()
	marked, err := process.Marked(launchMark, q.id)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, id := range marked {
		if info, err := process.Read(id.PID); err == nil && info.Identity == id {
			names = append(names, filepath.Base(info.Exe))
		}
	}
	slices.Sort(names)
	return names
}

// settle waits until everything runs, and has it ended with the test.
func (q *quarter) settle(t *testing.T, id string) {
	t.Helper()
	q.id = id
	apptest.Eventually(t, "everything runs", func() bool {
		text := strings.Join(q.running(t), " ")
		return strings.Contains(text, "firefox firefox gnome-terminal-server") && strings.Contains(text, "ordinary ordinary") && strings.Contains(text, "sleep")
	})
	t.Cleanup(func() {
		left, err := process.Marked(launchMark, id)
		if err != nil {
			t.Error(err)
		}
		for _, each := range left {
			if h, err := process.Hold(each); err == nil {
				_ = h.Kill()
				h.Close()
			}
		}
	})
}

// TestWhatPeopleWorkIn goes on, however a server ends, and nothing else does.
func TestWhatPeopleWorkIn(t *testing.T) {
	theirs := []string{"firefox", "firefox", "gnome-terminal-server", "sleep"}
	for _, c := range []struct {
		name, kind string
		want       []string
		end        func(t *testing.T, l *Launcher, s *Server, stop func())
	}{
		{"released", monitor.KindSerena, theirs, func(t *testing.T, _ *Launcher, s *Server, _ func()) {
			if err := s.End(t.Context(), "the test"); err != nil {
				t.Error(err)
			}
		}},
		{"browsers that are tools", "helper", theirs[2:], func(t *testing.T, _ *Launcher, s *Server, _ func()) {
			if err := s.End(t.Context(), "the test"); err != nil {
				t.Error(err)
			}
		}},
		{"the end of lamplighter", monitor.KindSerena, theirs, func(_ *testing.T, _ *Launcher, _ *Server, stop func()) { stop() }},
		{"the server is killed", monitor.KindSerena, theirs, func(t *testing.T, _ *Launcher, s *Server, _ func()) { killed(t, s.Identity()) }},
		{"the keeper is killed", monitor.KindSerena, theirs, func(t *testing.T, _ *Launcher, s *Server, _ func()) { killed(t, s.ids.keeper) }},
		{"the keeper hangs", monitor.KindSerena, theirs, func(t *testing.T, l *Launcher, s *Server, _ func()) {
			h, err := process.Hold(s.ids.keeper)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			close(l.hurry) // which spares us the wait
			if err := errors.Join(h.Suspend(), s.End(t.Context(), "the test")); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			state, q := t.TempDir(), newQuarter(t)
			l, stop := running(t, state, nil)
			spec := order("--run", q.script, "--ignore")
			spec.Template.Name = c.kind
			s, err := l.Launch(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			q.settle(t, s.ID())
			c.end(t, l, s, stop)
			<-s.Done()
			q.check(t, state, c.want, s.ids.keeper, s.Identity())
		})
	}
}

// check checks that of the launch only this is left.
func (q *quarter) check(t *testing.T, state string, want []string, ids ...monitor.Identity) {
	t.Helper()
	if got := q.running(t); !slices.Equal(got, want) {
		t.Errorf("alive are %v, not %v", got, want)
	}
	if slices.ContainsFunc(ids, lives) {
		t.Error("the keeper or the server lives")
	}
	nothingLeft(t, state)
}

// TestWhatPeopleWorkInAfterACrash goes on: when the keeper does the work, when
// the next background process does, and when that cannot even read the record.
func TestWhatPeopleWorkInAfterACrash(t *testing.T) {
	theirs := []string{"firefox", "firefox", "gnome-terminal-server", "sleep"}
	for _, c := range []struct {
		name, kind     string
		keeper, record bool // are there no more
		want           []string
	}{
		{"by the keeper", monitor.KindSerena, false, false, theirs},
		{"by the next", monitor.KindSerena, true, false, theirs},
		{"without a record", monitor.KindSerena, true, true, theirs},
		{"browsers that are tools", "helper", false, false, theirs[2:]},
		{"browsers that are tools, by the next", "helper", true, false, theirs[2:]},
		{"browsers that may be tools", "helper", true, true, theirs},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			state, q := t.TempDir(), newQuarter(t)
			b := startBackground(t, state)
			s := b.launch(t, "session:"+c.kind+" --run "+q.script+" --ignore")
			q.settle(t, s.id)
			if c.keeper {
				killed(t, s.keeper)
			}
			if c.record {
				if err := os.WriteFile(filepath.Join(state, serversDir, s.id, recordFile), []byte("{"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			b.kill()
			if !c.keeper {
				apptest.Eventually(t, "the keeper ends", func() bool { return !lives(s.keeper) })
			}
			_, stop := running(t, state, nil)
			apptest.Eventually(t, "what was left is dealt with", func() bool {
				left, err := os.ReadDir(filepath.Join(state, serversDir))
				return err == nil && len(left) == 0
			})
			stop()
			dead(t, s.keeper, s.server)
			q.check(t, state, c.want, s.keeper, s.server)
		})
	}
}
