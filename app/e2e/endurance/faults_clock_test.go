//go:build real && full && linux

package endurance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
)

// clockVariable names the file that says by how many seconds the wall clock of a
// program is off that was built by withSettableClock.
const clockVariable = "LAMPLIGHTER_TEST_CLOCK"

// settableClock is added to the package time. Timers ask for the time where nothing
// may be allocated or awaited, so that it does neither.
const settableClock = `package time

import (
	"syscall"
	"unsafe"
)

var setIn = func() *byte {
	path, _ := syscall.Getenv("` + clockVariable + `")
	return unsafe.StringData(path + "\x00")
}()

func setBy() (seconds int64) {
	fd, _, failed := syscall.RawSyscall(syscall.SYS_OPEN, uintptr(unsafe.Pointer(setIn)), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if failed != 0 {
		return 0
	}
	var text [24]byte
	n, _, failed := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&text)), uintptr(len(text)))
	syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
	if failed != 0 {
		return 0
	}
	sign := int64(1)
	for _, c := range text[:n] {
		switch {
		case c == '-':
			sign = -1
		case '0' <= c && c <= '9':
			seconds = 10*seconds + int64(c-'0')
		}
	}
	return sign * seconds
}
`

// withSettableClock builds the program with a package time whose wall clock can be
// set while it runs. The clocks of the machine stay as they are, and so does the
// monotonic one of the program, as when somebody sets the clock.
func withSettableClock(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		t.Fatal(err)
	}
	const reads = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if !strings.Contains(string(text), reads) {
		t.Fatalf("this Go reads its clock otherwise than Go 1.26; look at Now in %s", source)
	}
	overlay := map[string]map[string]string{"Replace": {}}
	for name, text := range map[string]string{
		"time.go": strings.Replace(string(text), reads, reads+"\tsec += setBy()\n", 1), "set_by.go": settableClock,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay["Replace"][filepath.Join(source, name)] = path
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "lamplighter")
	for to, pkg := range map[string]string{program: "lamplighter/app", program + "-connect": "lamplighter/app/connect"} {
		build := exec.Command("go", "build", "-buildvcs=false", "-overlay", filepath.Join(dir, "overlay.json"),
			"-ldflags", "-X main.version=1.2.3-test -X main.stamp=lamplighter-version=1.2.3-test;", "-o", to, pkg)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	usual := e2e.Program
	e2e.Program = program
	t.Cleanup(func() { e2e.Program = usual })
}

// settable is a home whose clock can be set.
type settable struct {
	*faulty
	off   time.Duration
	slept int // how often lamplighter has noticed
}

func (s *settable) set(t *testing.T, off time.Duration) {
	t.Helper()
	s.off = off
	fresh := s.Path("clock.new")
	if err := os.WriteFile(fresh, []byte(strconv.Itoa(int(off/time.Second))), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(fresh, s.Path("clock")); err != nil {
		t.Fatal(err)
	}
}

const sleptWords = "the machine slept or its clock was set"

// notices waits until lamplighter has seen that the clock was set, and looked at all
// servers after that.
func (s *settable) notices(t *testing.T) {
	t.Helper()
	s.slept++
	apptest.Eventually(t, "it notices that the clock was set", func() bool { return strings.Count(s.Log(t), sleptWords) >= s.slept })
}

// negative is a span of time that cannot be.
var negative = regexp.MustCompile(`-\d+ (s|min|h|days)\b|"(idle|retention)_seconds":-`)

// plans are when each server that lamplighter has not started is to be ended by a rule.
func (s *settable) plans(t *testing.T) map[int]time.Time {
	t.Helper()
	_, _, body := e2e.Fetch(t, e2e.PageAt(s.Page)+"instances")
	var list struct {
		Instances []struct {
			PID        *int
			ShutdownAt *time.Time `json:"shutdown_at"`
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatalf("%v: %s", err, e2e.ExcerptOf(body))
	}
	if found := negative.FindString(body); found != "" {
		t.Errorf("the page shows %q", found)
	}
	plans := map[int]time.Time{}
	for _, in := range list.Instances {
		if in.PID != nil && in.ShutdownAt != nil {
			plans[*in.PID] = *in.ShutdownAt
		}
	}
	return plans
}

// TestFaultClockSteps: the wall clock goes ahead and back by hours and days, while the
// program runs, while it is suspended and while it does not run. Nothing ends early.
func TestFaultClockSteps(t *testing.T) {
	withSettableClock(t)
	s := &settable{faulty: faultyHome(t)}
	s.set(t, 0)
	s.Env = append(s.Env, clockVariable+"="+s.Path("clock"))
	s.faulty.Set(t, e2e.PatientStart+"idle_shutdown_minutes: 30\norphan_grace_minutes: 10\nzombie_prune_minutes: 10\n")
	s.Begin(t)

	attached := s.finds(t)
	unused := exec.Command(s.standIn, "start-mcp-server", "--transport", "streamable-http", "--port", "0", "--context", "ide")
	unused.Env = []string{e2e.Besides + s.Mark, "HOME=" + s.Dir}
	if err := unused.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = unused.Process.Kill() // it may have ended
		_ = unused.Wait()
	})
	project := s.Path("alpha")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	client := s.Wrap(t, project, sharedCommand...)
	client.Handshake(t)
	server := where(t, client, 1)
	j := e2e.Jobs{Manager: s.Manager}
	space := j.Creates(t, "--kind", "temp", "--job", "long", "--retention", "24h")
	comes := s.finds(t)
	for i, step := range []struct {
		what      string
		to        time.Duration
		suspended bool // the program is, meanwhile
		restarted bool // it does not run, meanwhile
	}{
		{what: "ahead", to: 9 * time.Hour},
		{what: "back", to: -12 * time.Hour},
		{what: "suspended", to: 8 * time.Hour, suspended: true},
		{what: "far ahead", to: 720 * time.Hour},
		{what: "far back while it did not run", to: -720 * time.Hour, restarted: true},
		{what: "right again while it did not run", to: 0, restarted: true},
		{what: "ahead by less than a rule", to: 29 * time.Minute},
	} {
		switch {
		case step.suspended:
			s.Run.Signal(t, syscall.SIGSTOP)
			s.set(t, step.to)
			s.Run.Signal(t, syscall.SIGCONT)
		case step.restarted:
			killed(t, s.Run)
			s.set(t, step.to)
			s.Begin(t)
		default:
			s.set(t, step.to)
		}
		comes.leaves(t)
		comes = s.finds(t)
		s.lists(t, attached.pid(), unused.Process.Pid, comes.pid())
		if !step.restarted {
			s.notices(t)
		}
		if at, planned := s.plans(t)[unused.Process.Pid]; planned && at.Before(time.Now().Add(s.off)) {
			t.Errorf("%s: the idle one was to be ended at %v already", step.what, at)
		}
		if got := where(t, client, 10+i); got != server {
			t.Errorf("%s: the shared server is %d, was %d", step.what, got, server)
		}
		s.checkClock(t, step.what, space)
	}
	for _, pid := range []int{attached.pid(), unused.Process.Pid, server} {
		if !e2e.Alive(pid) {
			t.Errorf("%d has ended", pid)
		}
	}
}

// checkClock checks what is shown after a step, and that nothing was done because of it.
func (s *settable) checkClock(t *testing.T, what string, kept e2e.Space) {
	t.Helper()
	for _, verb := range [][]string{{"status"}, {"events"}, {"events", "--json", "--since", "1h"}, {"workspace", "list"}} {
		code, out, said := s.Does(t, verb...)
		if found := negative.FindString(out); code != 0 || said != "" || found != "" {
			t.Errorf("%s: %v: %d, %q, %q in\n%s", what, verb, code, said, found, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(s.State(), "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e struct{ Kind, Detail string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("%s: %q: %v", what, line, err)
		}
		switch e.Kind {
		case "ended", "parked", "workspace_removed", "stop_ordered":
			t.Errorf("%s: %s", what, line)
		}
		if found := negative.FindString(e.Detail); found != "" {
			t.Errorf("%s: %s", what, line)
		}
	}
	list := e2e.Jobs{Manager: s.Manager}.List(t)
	if len(list) != 1 || list[0].ID != kept.ID || e2e.IsGone(kept.Path) {
		t.Errorf("%s: workspaces: %s", what, fmt.Sprint(list))
	}
}
