package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/installer"
)

// Interrupted before it begins, or in the middle, it changes nothing.
func TestInstallInterrupted(t *testing.T) {
	m := newMachine(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if status := m.main(ctx, []string{"install"}); status != statusFailed || !strings.Contains(m.err.String(), "install: interrupted; nothing was changed\n") {
		t.Errorf("status %d, said %s", status, m.err.String())
	}
	if files := m.files(t); len(files) != 0 {
		t.Errorf("files %q", files)
	}
}

// Interrupted between the end of the old one and the start of the next, it starts that.
func TestInstallInterruptedInARestart(t *testing.T) {
	m := newMachine(t)
	old := &fakeBackground{pid: 4711, version: "1.2.2"}
	old.serve(t, m.desktop)
	ctx, cancel := context.WithCancel(t.Context())
	stop := old.stop
	old.stop = func() { cancel(); stop() }
	if status := m.main(ctx, []string{"install"}); status != statusFine || len(m.launched) != 1 {
		t.Errorf("status %d, launched %q, said %s", status, m.launched, m.err.String())
	}
	apptest.Contains(t, m.out.String(), "It runs now (pid 4712).\n")
}

// Before anybody was told to end, nobody is.
func TestInstallInterruptedBeforeARestart(t *testing.T) {
	m := newMachine(t)
	old := &fakeBackground{pid: 4711, version: "1.2.2"}
	old.serve(t, m.desktop)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &installRun{program: m.program, running: &running{pid: 4711, version: "1.2.2"}}
	if _, err := r.bringUp(ctx, installer.Installation{}); !errors.Is(err, context.Canceled) || len(old.quits) != 0 || len(m.launched) != 0 {
		t.Errorf("%v, quits %v, launched %q", err, old.quits, m.launched)
	}
}

// Two at once leave one whole installation, and both say so or who was first.
func TestInstallTwiceAtOnce(t *testing.T) {
	m := newMachine(t)
	var both sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		other := *m.program
		other.Stdout, other.Stderr = io.Discard, io.Discard
		both.Go(func() { errs[i] = other.install(t.Context(), installOptions{noStart: true}) })
	}
	both.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, installer.ErrBusy) {
			t.Error(err)
		}
	}
	if errs[0] != nil && errs[1] != nil {
		t.Errorf("nobody has installed: %v", errs)
	}
	out, _ := m.says(t, statusFine, "install", "--no-start")
	apptest.Contains(t, out, "is installed already")
}

// Over ssh an older one keeps its icon, unless systemd starts the new one where the old
// one was.
func TestInstallWithoutADesktopBesideAnOlder(t *testing.T) {
	const ask = "systemctl --user show --property=MainPID --value lamplighter.service"
	for name, test := range map[string]struct {
		answer  string
		args    string
		said    string
		restart bool
	}{
		"started by hand":  {answer: "0", args: "install", said: "Lamplighter 1.2.2 still runs (pid 4711), and goes on until the next login.\n"},
		"not at login":     {answer: "0", args: "install --no-login", said: "Lamplighter 1.2.2 still runs (pid 4711), and goes on until you quit it.\n"},
		"a dry run":        {answer: "0", args: "install --dry-run", said: "Lamplighter 1.2.2 still runs (pid 4711), and goes on until the next login.\n"},
		"started by units": {answer: "4711", args: "install", said: "It runs now (pid 4712).\n", restart: true},
	} {
		m := newMachine(t)
		delete(m.env, "DISPLAY")
		m.system.Answers = map[string]string{ask: test.answer}
		old := &fakeBackground{pid: 4711, version: "1.2.2"}
		old.serve(t, m.desktop)
		out, _ := m.says(t, statusFine, strings.Fields(test.args)...)
		if !strings.Contains(out, test.said) || (len(old.quits) > 0) != test.restart || (len(m.launched) > 0) != test.restart {
			t.Errorf("%s: quits %v, launched %q, said %s", name, old.quits, m.launched, out)
		}
	}
}

func TestNextStep(t *testing.T) {
	for _, test := range []struct {
		facts startFacts
		want  step
	}{
		{startFacts{visible: true}, stepStart},
		{startFacts{}, stepNone},
		{startFacts{runs: true, visible: true}, stepNone},
		{startFacts{runs: true, stale: true, visible: true}, stepRestart},
		{startFacts{runs: true, stale: true, managed: true}, stepRestart},
		{startFacts{runs: true, stale: true}, stepNone},
		{startFacts{runs: true, managed: true}, stepNone},
		{startFacts{runs: true, stale: true, no: true}, stepNone},
		{startFacts{silent: true, visible: true}, stepNone},
		{startFacts{no: true, visible: true}, stepNone},
	} {
		if got := nextStep(test.facts); got != test.want {
			t.Errorf("%+v: %q", test.facts, got)
		}
	}
}
