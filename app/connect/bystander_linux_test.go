package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/programtest"
)

// called makes sleep a program of another name.
func called(t *testing.T, name string) string {
	t.Helper()
	return programtest.Copy(t, "sleep", name)
}

// named are the processes of a launch that run this program.
func (w *world) named(t *testing.T, program string) []monitor.Identity {
	t.Helper()
	return slices.DeleteFunc(w.marked(t), func(id monitor.Identity) bool {
		info, err := process.Read(id.PID)
		return err != nil || info.Identity != id || info.Exe != program
	})
}

// sparing are the options for a Serena.
var sparing = append(slices.Clone(session), "--browsers", "spare")

// inhabited are servers below which is PROGRAM.
var inhabited = []struct{ name, script string }{
	{"a child", `PROGRAM 600 & echo ready; exec sleep 600`},
	{"in a session of its own", `setsid PROGRAM 600 & echo ready; exec sleep 600`},
	{"without our output", `PROGRAM 600 >/dev/null 2>&1 & echo ready; exec sleep 600`},
	{"below a wrapper", `sh -c 'PROGRAM 600; true' & echo ready; sleep 600; true`},
	{"beside one that ignores TERM", `PROGRAM 600 & trap "" TERM; setsid sh -c 'echo ready; sleep 600; true' & sleep 600; true`},
	{"below one that ignores TERM", `trap "" TERM; sh -c 'PROGRAM 600 & sleep 600; true' & echo ready; sleep 600; true`},
	{"in a group of those that ignore TERM", `trap "" TERM; setsid bash -c 'set -m; (PROGRAM 600 & echo ready; sleep 600; true) & wait; true' & sleep 600; true`},
	{"left behind", `setsid PROGRAM 600 & sleep 600 & echo ready`},
	{"alone", `PROGRAM 600 & echo ready`},
	{"among many", `PROGRAM 600 & i=0; while [ $i -lt 100 ]; do sleep 600 & i=$((i+1)); done; echo ready; wait`},
	{"beside what was suspended", `PROGRAM 600 & sh -c 'kill -STOP $$; true' & echo ready; sleep 600; true`},
	{"beside never the same process", `PROGRAM 600 & trap "" TERM; f() { sleep 0.01; f & }; f & echo ready`},
}

// TestWhatPeopleWorkIn goes on, and nothing else does, the keeper neither.
func TestWhatPeopleWorkIn(t *testing.T) {
	for _, server := range inhabited {
		for _, order := range orders[:2] {
			t.Run(server.name+"/"+order.name, func(t *testing.T) {
				t.Parallel()
				program := called(t, "firefox")
				w := newWorld(t)
				w.impatient = true
				owner := w.own(t)
				k := w.script(t, sparing, strings.ReplaceAll(server.script, "PROGRAM", program))
				k.prints(t, "ready\n")
				apptest.Eventually(t, "it runs", func() bool { return len(w.named(t, program)) == 1 })
				order.give(t, k, owner)
				if output, _ := k.finished(t); output != "ready\n" {
					t.Errorf("it printed %q", output)
				}
				if left := w.marked(t); len(left) != 1 || !slices.Equal(left, w.named(t, program)) {
					t.Errorf("alive are %v", left)
				}
			})
		}
	}
}

// TestWhoCounts: a browser is spared when that is said, other programs always,
// with what is below them, and the server never.
func TestWhoCounts(t *testing.T) {
	const ordinary = `PROGRAM 600 & echo ready; exec sleep 600`
	for _, c := range []struct {
		name, program, script string
		options               []string
		lives                 bool
	}{
		{"a browser", "firefox", ordinary, sparing, true},
		{"a browser that is a tool", "firefox", ordinary, session, false},
		{"a browser that is said to be a tool", "firefox", ordinary, append(slices.Clone(session), "--browsers", "end"), false},
		{"a terminal", "gnome-terminal-server", ordinary, session, true},
		{"an editor", "code", ordinary, sparing, true},
		{"a language server", "gopls", ordinary, sparing, false},
		{"the server", "codex", `echo ready; exec PROGRAM 600`, sparing, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			program := called(t, c.program)
			w := newWorld(t)
			w.own(t)
			k := w.script(t, c.options, strings.ReplaceAll(c.script, "PROGRAM", program))
			k.prints(t, "ready\n")
			apptest.Eventually(t, "it runs", func() bool { return len(w.named(t, program)) == 1 })
			k.signal(t, syscall.SIGTERM)
			k.finished(t)
			left := w.marked(t)
			if lives := len(w.named(t, program)) == 1; lives != c.lives || len(left) > 1 || len(left) == 1 && !lives {
				t.Errorf("alive are %v", left)
			}
		})
	}
}

// TestBelowATerminal: people's work in a terminal is theirs, too.
func TestBelowATerminal(t *testing.T) {
	terminal := programtest.Copy(t, "/bin/sh", "gnome-terminal-server")
	w := newWorld(t)
	w.own(t)
	k := w.script(t, session, terminal+` -c 'trap "" TERM; setsid sh -c "echo ready; sleep 600; true" & wait; wait' & sleep 600; true`)
	k.prints(t, "ready\n")
	apptest.Eventually(t, "all of it runs", func() bool { return len(k.below(t)) == 5 })
	k.signal(t, syscall.SIGTERM)
	k.finished(t)
	if left := w.marked(t); len(left) != 3 {
		t.Errorf("alive are %v", left)
	}
}

// TestFirstTheyAreLeftAlone: while nobody has it ended, a keeper stays for what
// people work in as well.
func TestFirstTheyAreLeftAlone(t *testing.T) {
	program := called(t, "firefox")
	w := newWorld(t)
	w.own(t)
	k := w.script(t, sparing, program+` 600 & echo ready`)
	k.prints(t, "ready\n")
	k.says(t, "exited")
	apptest.Eventually(t, "it runs", func() bool { return len(w.named(t, program)) == 1 })
	if left := k.below(t); len(left) != 1 || !k.isRunning() {
		t.Errorf("below the keeper: %v", left)
	}
	if err := syscall.Kill(w.named(t, program)[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	k.finished(t)
	k.gone(t)
}

// TestTheServerBelowAWrapper is ended, whatever it is called, where the launcher
// has said which process it is.
func TestTheServerBelowAWrapper(t *testing.T) {
	program := called(t, "codex")
	w := newWorld(t)
	owner := w.own(t)
	k := w.script(t, session, program+` 600 & echo ready; wait; true`)
	k.prints(t, "ready\n")
	apptest.Eventually(t, "it runs", func() bool { return len(w.named(t, program)) == 1 })
	if err := os.WriteFile(filepath.Join(w.dir, serverFile), []byte(w.named(t, program)[0].String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	owner.kill()
	k.finished(t)
	k.gone(t)
}

func TestParseServer(t *testing.T) {
	for text, want := range map[string]proc{
		"12-345\n": {12, 345}, "": {}, "12": {}, "-12-3": {}, "0-3": {}, "12-": {}, "12-x": {}, "12-345-6": {}, "99999999999999999999-1": {},
	} {
		if got := parseServer(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestWhatGoesOnMaySpeak: the output has a reader also after the keeper.
func TestWhatGoesOnMaySpeak(t *testing.T) {
	editor := programtest.Copy(t, "/bin/sh", "gedit")
	w := newWorld(t)
	w.own(t)
	begin, spoken := filepath.Join(w.dir, "begin"), filepath.Join(w.dir, "spoken")
	k := w.script(t, session, editor+` -c 'until [ -e "`+begin+`" ]; do sleep 0.01; done; echo much; echo more; : >"`+spoken+`"' & echo ready; sleep 600; true`)
	k.prints(t, "ready\n")
	apptest.Eventually(t, "the editor runs", func() bool { return len(w.named(t, editor)) == 1 })
	k.signal(t, syscall.SIGTERM)
	k.finished(t)
	if err := os.WriteFile(begin, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "it has survived what it said", func() bool { _, err := os.Stat(spoken); return err == nil })
	apptest.Eventually(t, "it ends by itself", func() bool { return len(w.named(t, editor)) == 0 })
}
