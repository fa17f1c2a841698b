package installer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Commands cannot be taken back: nothing is taken back once one has run.
func TestCommandsRunOnceAllIsInItsPlace(t *testing.T) {
	changes := []Change{
		{Op: OpRun, Command: []string{"stop"}, Optional: true},
		{Op: OpWrite, Path: "", Content: []byte("ours")},
		{Op: OpRun, Command: []string{"start"}, Optional: true},
	}
	t.Run("the mark fails", func(t *testing.T) {
		l := newLab(t)
		changes[1].Path = l.home("f")
		i := l.installer()
		i.at = func(point string) error {
			if point == "journal committed" {
				return syscall.ENOSPC
			}
			return nil
		}
		err := i.Do(t.Context(), Plan{Changes: changes}, nil)
		if err == nil || !strings.Contains(err.Error(), "nothing was changed") || there(l.home("f")) || len(l.ran) > 0 {
			t.Errorf("%v after %q", err, l.ran)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		l := newLab(t)
		changes[1].Path = l.home("f")
		ctx, cancel := context.WithCancel(t.Context())
		l.o.Command = func(ctx context.Context, name string, _ ...string) ([]byte, error) {
			if _, ok := ctx.Deadline(); !ok {
				t.Error("it may take for ever")
			}
			l.ran = append(l.ran, name)
			cancel()
			return nil, ctx.Err()
		}
		var failed []string
		err := l.installer().Do(ctx, Plan{Changes: changes}, func(c Change, err error) {
			if err != nil {
				failed = append(failed, err.Error())
			}
		})
		if err != nil || !there(l.home("f")) || l.installer().interrupted() || len(failed) != 2 || !strings.Contains(failed[0], "interrupted") {
			t.Errorf("%v after %q: %q", err, l.ran, failed)
		}
	})
	if lockTime <= commandTime {
		t.Error("others give up before it is done")
	}
}

func TestAllCommandsHaveOneLimit(t *testing.T) {
	l := newLab(t)
	var ends []time.Time
	l.o.Command = func(ctx context.Context, _ string, _ ...string) ([]byte, error) {
		end, _ := ctx.Deadline()
		ends = append(ends, end)
		return nil, nil
	}
	run := Change{Op: OpRun, Command: []string{"x"}, Optional: true}
	if err := l.installer().Do(t.Context(), Plan{Changes: []Change{run, run}}, nil); err != nil {
		t.Error(err)
	}
	if len(ends) != 2 || ends[0].IsZero() || !ends[0].Equal(ends[1]) {
		t.Errorf("they end at %v", ends)
	}
}

func TestWhatFailsAtTheEndIsToldByItsCause(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	i := l.installer()
	i.at = func(point string) error {
		if point == "write the receipt" {
			return syscall.ENOSPC
		}
		return nil
	}
	err := i.Do(t.Context(), l.plan(noLogin), nil)
	if !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "removed") {
		t.Error(err)
	}
	l.install(noLogin)
	l.installed("1")
}

// moveHome has the user's home directory elsewhere.
func (l *lab) moveHome(to string) {
	rel := func(path string) string {
		rest, _ := strings.CutPrefix(path, l.o.Home)
		return to + rest
	}
	for _, path := range []*string{&l.o.ConfigHome, &l.o.DataHome, &l.o.StateDir, &l.o.ConfigDir, &l.o.LocalApps} {
		*path = rel(*path)
	}
	l.o.Home = to
}

// A home directory that was copied while an installation was interrupted is put
// right, and the one that it was copied from is left alone.
func TestACopiedHomeWithAJournal(t *testing.T) {
	for _, point := range []string{"put ", "journal committed", "discard ", "forget the journal"} {
		t.Run(point, func(t *testing.T) {
			l := newLab(t)
			l.unpack("1")
			outside := l.at("elsewhere", "f")
			l.write(outside, "before")
			l.install(noLogin)
			l.unpack("2")
			l.kill(point, func(i *Installer) (Plan, error) {
				p, err := i.PlanInstall(t.Context(), noLogin)
				p.Changes = append(p.Changes, Change{Op: OpWrite, Path: outside, Content: []byte("after")})
				return p, err
			})
			original, other := l.o.Home, content(t, l.at("elsewhere"))
			if err := os.CopyFS(l.at("copy"), os.DirFS(original)); err != nil {
				t.Fatal(err)
			}
			before := content(t, original)
			l.moveHome(l.at("copy"))
			l.install(noLogin)
			l.installed("2")
			l.uninstall(UninstallOptions{})
			if files := l.files(); len(files) > 0 {
				t.Errorf("it has left %q", files)
			}
			sameContent(t, "the original", content(t, original), before)
			sameContent(t, "what is in none of them", content(t, l.at("elsewhere")), other)
		})
	}
}

// What was set aside may be the last of its kind while nobody can tell what was
// under way.
func TestWhatWasSetAsideStaysAfterAJournalThatCannotBeRead(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	aside := beside(l.bin(mainName), asideSuffix)
	l.write(aside, "before")
	journal := l.installer().journalPath()
	for n, text := range []string{"one", "two"} {
		l.write(journal, text)
		l.unpack([]string{"2", "3"}[n])
		l.install(noLogin)
	}
	if got := l.read(aside) + l.read(journal+corruptSuffix) + l.read(journal+corruptSuffix+"-2"); got != "beforeonetwo" {
		t.Errorf("there is %q", got)
	}
	l.uninstall(UninstallOptions{})
	if files := l.files(); len(files) != 1 || filepath.Base(files[0]) != filepath.Base(aside) {
		t.Errorf("it has left %q, not %s", files, aside)
	}
}
