package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// askedShell starts what stands for a terminal that serves many: it has no mark and
// no known name, and the interactive shell below it has the environment of who asked
// for a window, with the mark; in the shell runs a job. A daemon of the launch is
// started, too, whose parent is init by now. All of it is ended with the test.
func askedShell(t *testing.T, id string) {
	t.Helper()
	terminal := exec.Command("sh", "-c", `exec 3<&0; `+launchMark+`=`+id+` bash --norc -i <&3 & wait`)
	terminal.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	keys, err := terminal.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := terminal.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, err := process.Marked(launchMark, id)
		if err != nil {
			t.Error(err)
		}
		for _, each := range left {
			forceEnd(each)
		}
		keys.Close()
		_ = terminal.Process.Kill()
		_ = terminal.Wait()
	})
	if _, err := keys.Write([]byte("sleep 600 &\n")); err != nil {
		t.Fatal(err)
	}
	markedDaemon(t, id)
	apptest.Eventually(t, "the shell, its job and the daemon run", func() bool {
		return strings.Contains(strings.Join(markedNames(t, id), " "), "bash sleep tail")
	})
}

// markedNames are the programs that carry a mark, without those of the launch
// itself, sorted.
func markedNames(t *testing.T, id string) []string {
	t.Helper()
	var names []string
	for _, name := range (&quarter{id: id}).running(t) {
		if name != keeperName && !strings.HasSuffix(name, ".test") {
			names = append(names, name)
		}
	}
	return names
}

// TestShellsOfOthers go on although they carry the mark of a server that ends; a
// daemon that carries it does not. TestWhatPeopleWorkIn has all ways to end.
func TestShellsOfOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(t *testing.T, l *Launcher, s *Server, stop func())
	}{
		{"released", func(t *testing.T, _ *Launcher, s *Server, _ func()) {
			if err := s.End(t.Context(), "the test"); err != nil {
				t.Error(err)
			}
		}},
		{"the keeper is killed", func(t *testing.T, _ *Launcher, s *Server, _ func()) { killed(t, s.ids.keeper) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			state := t.TempDir()
			l, stop := running(t, state, nil)
			s, err := l.Launch(t.Context(), order("--child", "--ignore"))
			if err != nil {
				t.Fatal(err)
			}
			askedShell(t, s.ID())
			c.end(t, l, s, stop)
			<-s.Done()
			onlyTheShell(t, state, s.ID(), s.ids.keeper, s.Identity())
		})
	}
}

// onlyTheShell checks what is left.
func onlyTheShell(t *testing.T, state, id string, ids ...monitor.Identity) {
	t.Helper()
	if got := (&quarter{id: id}).running(t); !slices.Equal(got, []string{"bash", "sleep"}) {
		t.Errorf("alive are %v", got)
	}
	if slices.ContainsFunc(ids, lives) {
		t.Error("the keeper or the server lives")
	}
	nothingLeft(t, state)
}

// TestShellsOfOthersAfterACrash go on, too, when the next background process deals
// with what is left.
func TestShellsOfOthersAfterACrash(t *testing.T) {
	for _, c := range []struct {
		name           string
		keeper, record bool // are there no more
	}{{"by the next", true, false}, {"without a record", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			state := t.TempDir()
			b := startBackground(t, state)
			s := b.launch(t, "session --child --ignore")
			askedShell(t, s.id)
			if c.keeper {
				killed(t, s.keeper)
			}
			if c.record {
				if err := os.WriteFile(filepath.Join(state, serversDir, s.id, recordFile), []byte("{"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			b.kill()
			_, stop := running(t, state, nil)
			apptest.Eventually(t, "what was left is dealt with", func() bool {
				left, err := os.ReadDir(filepath.Join(state, serversDir))
				return err == nil && len(left) == 0
			})
			stop()
			dead(t, s.keeper, s.server)
			onlyTheShell(t, state, s.id, s.keeper, s.server)
		})
	}
}
