package installer

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter/monitor/statefile"
)

func TestDoTellsInOrder(t *testing.T) {
	l := newLab(t)
	l.write(l.home("goes"), "x")
	l.write(l.home("tree", "lamplighter", "x"), "x")
	l.fails["stop it"] = errors.New("exit status 1")
	var told []string
	err := l.installer().Do(t.Context(), Plan{Changes: []Change{
		{Op: OpRun, Command: []string{"stop", "it"}, Optional: true},
		{Op: OpWrite, Path: l.home("a"), Content: []byte("a")},
		{Op: OpRemoveTree, Path: l.home("tree", "lamplighter")},
		{Op: OpRun, Command: []string{"start", "it"}, Optional: true},
		{Op: OpRemove, Path: l.home("goes")},
		{Op: OpRemove, Path: l.home("never was")},
	}}, func(c Change, err error) {
		text := string(c.Op)
		if err != nil {
			text += ": " + err.Error()
		}
		told = append(told, text)
	})
	if err != nil {
		t.Error(err)
	}
	want := []string{"write", "remove", "run: stop it: exit status 1: said stop it", "run", "remove_tree"}
	if !slices.Equal(told, want) {
		t.Errorf("it told %q, not %q", told, want)
	}
	if !slices.Equal(l.ran, []string{"stop it", "start it"}) {
		t.Errorf("it ran %q", l.ran)
	}
}

func TestACommandThatHasToSucceed(t *testing.T) {
	for _, last := range []bool{false, true} {
		l := newLab(t)
		l.write(l.home("old"), "old")
		failed := errors.New("exit status 5")
		l.fails["load it"] = failed
		run := Change{Op: OpRun, Command: []string{"load", "it"}}
		changes := []Change{run, {Op: OpWrite, Path: l.home("old"), Content: []byte("new")}}
		if last {
			slices.Reverse(changes)
		}
		before := l.all()
		err := l.installer().Do(t.Context(), Plan{Changes: changes}, nil)
		if !errors.Is(err, failed) || !strings.Contains(err.Error(), "nothing was changed") {
			t.Error(err)
		}
		sameContent(t, "afterwards", l.all(), before)
	}
}

func TestDoIsInterrupted(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	l.unpack("2")
	before := l.all()
	ctx, cancel := context.WithCancel(t.Context())
	i := l.installer()
	i.at = func(point string) error {
		if strings.HasPrefix(point, "put ") {
			cancel()
		}
		return nil
	}
	p := l.plan(noLogin)
	if err := i.Do(ctx, p, nil); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Error(err)
	}
	sameContent(t, "afterwards", l.all(), before)
	l.installed("1")
}

func TestDoRefuses(t *testing.T) {
	l := newLab(t)
	l.write(l.home("file"), "x")
	l.mkdir(l.home("folder"))
	for name, changes := range map[string][]Change{
		"a directory in the way":        {{Op: OpWrite, Path: l.home("folder")}},
		"a directory to be removed":     {{Op: OpRemove, Path: l.home("folder")}},
		"a file where a directory is":   {{Op: OpWrite, Path: l.home("file", "x")}},
		"a file that is not there":      {{Op: OpCopy, Path: l.home("y"), From: l.home("none")}},
		"no whole path":                 {{Op: OpWrite, Path: "x"}},
		"the same twice":                {{Op: OpWrite, Path: l.home("z")}, {Op: OpRemove, Path: l.home("z")}},
		"a text that is no Windows one": {{Op: OpCopy, Path: l.home("y"), From: l.home("file"), GUI: true}},
	} {
		t.Run(name, func(t *testing.T) {
			before := content(t, l.dir)
			err := l.installer().Do(t.Context(), Plan{Changes: changes}, nil)
			if err == nil || !strings.Contains(err.Error(), "nothing was changed") {
				t.Error(err)
			}
			sameContent(t, "afterwards", content(t, l.dir), before)
		})
	}
}

func TestDoRefusesAStateDirectoryThatCannotBe(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	p := l.plan(noLogin)
	l.write(l.home(".local", "state"), "a file")
	before := l.all()
	err := l.installer().Do(t.Context(), p, nil)
	if err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Error(err)
	}
	sameContent(t, "afterwards", l.all(), before)
}

func TestLockIsHeld(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	p := l.plan(noLogin)
	l.mkdir(l.o.StateDir)
	held, err := statefile.TryLock(l.installer().lockPath())
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100_000_000, ErrBusy)
	defer cancel()
	err = l.installer().Do(ctx, p, nil)
	if !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	l.do(p)
	l.installed("1")
}

// Several at once come one after the other, and each makes its plan anew when
// another was first.
func TestManyAtOnce(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	var all sync.WaitGroup
	for n := range 6 {
		i := l.installer()
		var p Plan
		var err error
		if n%3 == 2 {
			p, err = i.PlanUninstall(t.Context(), UninstallOptions{})
		} else {
			p, err = i.PlanInstall(t.Context(), noLogin)
		}
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if err := i.Do(t.Context(), p, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	l.install(noLogin)
	l.installed("1")
	l.uninstall(UninstallOptions{})
	if files := l.files(); len(files) > 0 {
		t.Errorf("it has left %q", files)
	}
}

func TestAPlanIsMadeAgainWhenAnotherWasFirst(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	old := l.plan(noLogin)
	l.unpack("2")
	l.install(noLogin)
	l.unpack("1")
	l.do(old)
	l.installed("1")
}

func TestNothingToDoWritesNothing(t *testing.T) {
	l := newLab(t)
	if err := l.installer().Do(t.Context(), Plan{}, nil); err != nil {
		t.Error(err)
	}
	if all := content(t, l.o.Home); len(all) > 0 {
		t.Errorf("it has made %q", all)
	}
}

// What was set aside and ran still goes with the next installation.
func TestWhatRanIsRemovedTheNextTime(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	left := beside(l.bin(mainName), asideSuffix)
	l.write(left, "ran still")
	l.write(left+"-2", "ran still, too")
	l.unpack("2")
	l.install(noLogin)
	if _, err := os.Lstat(left); err == nil {
		t.Error("it is still there")
	}
	l.uninstall(UninstallOptions{})
	for _, path := range l.files() {
		t.Errorf("%s is still there", path)
	}
}

func TestAJournalThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{
		"rubbish":         "\x00\x01",
		"half":            `{"form": 1, "phase": "committ`,
		"of the future":   `{"form": 2, "phase": "committed"}`,
		"no whole path":   `{"form": 1, "phase": "committed", "gone": ["x"]}`,
		"somebody else's": `{"form": 1, "phase": "committed", "steps": [{"op": "write", "path": "/a/b", "existed": true, "aside": "/etc/passwd"}]}`,
		"up":              `{"form": 1, "phase": "staging", "steps": [{"op": "write", "path": "/a/b", "staged": "/a/.b.lamplighter-new/../../x"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.unpack("1")
			l.write(l.installer().journalPath(), text)
			here, err := l.installer().Installed()
			if err != nil || !here.Unfinished {
				t.Errorf("%+v, %v", here, err)
			}
			p := l.plan(noLogin)
			if !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, "interrupted") }) {
				t.Errorf("it says %q", p.Notes)
			}
			l.do(p)
			if !isPlain(l.bin(mainName)) || l.installer().interrupted() {
				t.Error("it is not installed")
			}
			if got := l.read(l.installer().journalPath() + ".corrupt"); got != text {
				t.Errorf("what was put aside is %q", got)
			}
			l.uninstall(UninstallOptions{})
			if files := l.files(); len(files) > 0 {
				t.Errorf("it has left %q", files)
			}
		})
	}
}

func TestAReceiptThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"rubbish":       "\x00\x01",
		"of nothing":    `{"files": [{"path": "/a"}]}`,
		"no whole path": `{"files": [{"path": "../a", "sha256": "00"}]}`,
		"up":            `{"folders": ["/a/../../b"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.unpack("1")
			l.install(noLogin)
			l.write(l.installer().receiptPath(), text)
			if _, err := l.installer().Installed(); !errors.Is(err, errReceipt) {
				t.Error(err)
			}
			p := l.plan(noLogin)
			if len(p.Changes) != 1 || !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, "cannot be used") }) {
				t.Errorf("it would %v, and says %q", p.Changes, p.Notes)
			}
			l.do(p)
			l.uninstall(UninstallOptions{})
			if files := l.files(); len(files) > 0 {
				t.Errorf("it has left %q", files)
			}
		})
	}
}

// What is left of folders after an installation without a receipt cannot be
// known; its files and state go all the same.
func TestUninstallWithoutAUsableReceipt(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	l.write(l.installer().receiptPath(), "rubbish")
	p := l.uninstall(UninstallOptions{})
	if len(p.Notes) == 0 || !strings.Contains(p.Notes[0], "cannot be used") {
		t.Errorf("it says %q", p.Notes)
	}
	if _, err := os.Lstat(l.o.StateDir); err == nil {
		t.Error("the state directory is still there")
	}
}
