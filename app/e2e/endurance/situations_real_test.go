//go:build real && full && linux

package endurance

import (
	"bytes"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	facts "lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
	"lamplighter/monitor/situation"
	"lamplighter/monitor/situation/situationtest"
)

// recordVariable names a directory that is to get what TestRecordSituations
// records: monitor/testdata/situations, when entries are made anew.
const recordVariable = "LAMPLIGHTER_TEST_RECORD"

// scene is a tree of real processes with the decision that is right for it.
type scene struct {
	name, story string
	settings    string // of the background process
	scan        bool   // recorded without a background process
	// later is how much time passes after the recording in which nothing changes.
	later  time.Duration
	play   func(t *testing.T, s *stage)
	expect []part
}

// part is what is to be decided about a process of a scene.
type part struct {
	who     string
	do      policy.Do
	rule    policy.Rule
	because string
}

// stage is where a scene is played.
type stage struct {
	*e2e.Home
	roles map[string]int // pids by what they are called in the scene
	after func()         // when it has been recorded
}

// seen is what a scene waits for in status --json.
type seen struct {
	PID        int
	State      string
	Cause      *string
	Orphaned   bool
	ClientGone bool `json:"client_gone"`
	Busy       *bool
	IdleSince  *time.Time `json:"idle_since"`
	Transport  *string
	Client     *struct{ PID int }
}

func (s *stage) listed(t *testing.T) []seen {
	t.Helper()
	code, out, errs := s.Does(t, "status", "--json")
	var answer struct{ Instances []seen }
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != 0 {
		t.Fatalf("%v, exit status %d, %s", err, code, errs)
	}
	return answer.Instances
}

// await waits until a server is as it is wanted, and gives it its role.
func (s *stage) await(t *testing.T, role, what string, ok func(seen) bool) {
	t.Helper()
	apptest.Eventually(t, role+": "+what, func() bool {
		all := s.listed(t)
		i := slices.IndexFunc(all, ok)
		if i >= 0 {
			s.roles[role] = all[i].PID
		}
		return i >= 0
	})
}

// idle waits until a server is known to be idle.
func (s *stage) idle(t *testing.T, role string, server *serenatest.Server) {
	t.Helper()
	s.await(t, role, "idle", func(in seen) bool { return in.PID == server.ServerPID && in.IdleSince != nil })
}

// orphan suspends a server, so that it cannot end by itself, and kills its client.
func (s *stage) orphan(t *testing.T, role string, client int) {
	t.Helper()
	s.await(t, role, "seen with its client", func(in seen) bool { return in.Client != nil && in.Client.PID == client })
	server := s.roles[role]
	apptest.Eventually(t, "its link can be seen", func() bool {
		_, _, found, err := facts.Local().Ends(e2e.IdentityOf(t, server)).Holder(e2e.IdentityOf(t, client))
		return found && err == nil
	})
	send(t, server, syscall.SIGSTOP)
	send(t, client, syscall.SIGKILL)
	s.await(t, role, "orphaned", func(in seen) bool { return in.PID == server && in.Orphaned && in.ClientGone })
}

func send(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatalf("sending %v to process %d: %v", signal, pid, err)
	}
}

// below finds a process below another one by its name.
func (s *stage) below(t *testing.T, role string, root int, name string) int {
	t.Helper()
	apptest.Eventually(t, name+" runs", func() bool {
		list, err := facts.Tree(e2e.IdentityOf(t, root))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if info, err := facts.Read(p.PID); err == nil && info.Name == name {
				s.roles[role] = p.PID
			}
		}
		return s.roles[role] != 0
	})
	return s.roles[role]
}

// holdsOpen opens a connection to where a server takes its clients.
func holdsOpen(t *testing.T, server *serenatest.Server) {
	t.Helper()
	u, err := url.Parse(server.MCPURL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
}

// TestRecordSituations plays each scene with real processes, has "doctor --record"
// write it down, and plays it again from what was written. With
// LAMPLIGHTER_TEST_RECORD=DIR the files become entries of the collection:
//
//	LAMPLIGHTER_TEST_RECORD=$PWD/monitor/testdata/situations LAMPLIGHTER_TEST_TOOLS=$PWD/.cache \
//	    go test -exec "$PWD/build/isolated.sh" -tags "real full" -count=1 -run RecordSituations ./app/e2e/endurance
func TestRecordSituations(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// Whoever runs the tests may leave descriptors of his own in us.
	if err := unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	for _, c := range scenes(t) {
		t.Run(c.name, func(t *testing.T) {
			s := &stage{roles: map[string]int{}, after: func() {}}
			if c.scan {
				s.Home = e2e.NewHome(t)
				s.Write(t, c.settings, ".config", "lamplighter", "config.yaml")
			} else {
				s.Home = e2e.Policed(t, c.settings)
			}
			c.play(t, s)
			path := filepath.Join(t.TempDir(), "recorded-"+c.name+".json")
			if code, _, said := s.Does(t, "doctor", "--record", path); code != 0 {
				t.Fatalf("doctor --record: exit status %d, %s", code, said)
			}
			s.after()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, private := range []string{s.Dir, os.Getenv("HOME")} {
				if strings.Contains(string(text), private) {
					t.Errorf("it holds the home directory %s", private)
				}
			}
			// Where these sources lie is nothing that an entry has to tell.
			recorded := &situation.Situation{}
			if err := json.Unmarshal(bytes.ReplaceAll(text, []byte(filepath.Join(here, "../../..")), []byte("~/lamplighter")), recorded); err != nil {
				t.Fatal(err)
			}
			recorded.Story = c.story
			recorded.Source = "recorded with lamplighter doctor --record on the scene " + c.name + " of app/e2e/endurance/scenes_real_test.go"
			recorded.Now = recorded.Now.Add(c.later)
			recorded.Expect = nil
			for _, p := range c.expect {
				recorded.Expect = append(recorded.Expect, situation.Expectation{PID: s.roles[p.who], Do: string(p.do), Rule: string(p.rule), Because: p.because})
			}
			for who, pid := range s.roles { // who has no part is left alone
				there := slices.ContainsFunc(recorded.Processes, func(p situation.Process) bool { return p.PID == pid })
				if there && !slices.ContainsFunc(c.expect, func(p part) bool { return p.who == who }) && e2e.Alive(pid) {
					recorded.Expect = append(recorded.Expect, situation.Expectation{PID: pid, Do: situation.Leave})
				}
			}
			for _, difference := range situationtest.Differences(t, recorded) {
				t.Error(difference)
			}
			if text, err = monitor.JSON(recorded, "  "); err != nil {
				t.Fatal(err)
			}
			if t.Failed() {
				t.Log(string(text))
			}
			if dir := os.Getenv(recordVariable); dir != "" && !t.Failed() {
				if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
