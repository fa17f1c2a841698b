//go:build real && bench && linux

package bench

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	facts "lamplighter/monitor/process"
)

// launchMark is the variable in the environment of all that was launched.
const launchMark = "LAMPLIGHTER_LAUNCH"

// learned is the command of a server that we have started, for starting the
// same one by hand.
type learned struct {
	args, env []string
	dir       string
	port      int // that it was given; the command line holds it, unless it chose by itself
}

// learn asks for a session, looks how it was started, and gives it back. That
// was the first start, which is slower and does not count.
func learn(t *testing.T, m *e2e.Manager, body string) learned {
	t.Helper()
	s, _ := timed(t, m, body)
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", s.ID))
	if err != nil {
		t.Fatal(err)
	}
	c := learned{args: strings.Split(zeroEnded(t, s.ID, "cmdline"), "\x00"), dir: dir, port: s.Port}
	for _, kv := range strings.Split(zeroEnded(t, s.ID, "environ"), "\x00") {
		if !strings.HasPrefix(kv, launchMark+"=") {
			c.env = append(c.env, kv)
		}
	}
	released(t, m, s)
	return c
}

// zeroEnded reads a file of /proc/PID whose parts end with zero bytes.
func zeroEnded(t *testing.T, pid int, name string) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(text), "\x00")
}

// variable is one of the environment that a process was started with.
func variable(t *testing.T, pid int, name string) string {
	t.Helper()
	for _, kv := range strings.Split(zeroEnded(t, pid, "environ"), "\x00") {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	t.Fatalf("%s is not in the environment of %d", name, pid)
	return ""
}

// hand is a server that was started by hand.
type hand struct {
	e2e.Asked
	end func()
}

// listensAt is what Serena prints when its port takes requests.
var listensAt = regexp.MustCompile(`Uvicorn running on http://127\.0\.0\.1:(\d+)`)

// byHand starts the command, and tells how long it took until the server had
// answered the first request of MCP. The port of Serena is known from the
// moment that it is printed; others are asked every millisecond.
func byHand(t *testing.T, m *e2e.Manager, c learned) (hand, time.Duration) {
	t.Helper()
	args, port := append([]string(nil), c.args...), 0
	for i, arg := range args {
		if arg == strconv.Itoa(c.port) {
			port = apptest.FreePort(t)
			args[i] = strconv.Itoa(port)
		}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Dir = c.env, c.dir
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = cmd.Stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	told, read := make(chan int, 1), make(chan struct{})
	var said apptest.Buffer
	go func() {
		defer close(read)
		for lines, known := bufio.NewReader(out), false; ; {
			line, err := lines.ReadString('\n')
			said.Write([]byte(line))
			if found := listensAt.FindStringSubmatch(line); found != nil && !known {
				known = true
				port, _ := strconv.Atoi(found[1]) // of digits
				told <- port
			}
			if err != nil {
				return
			}
		}
	}()
	h := hand{Asked: e2e.Asked{ID: cmd.Process.Pid, Port: port}}
	h.end = sync.OnceFunc(func() {
		cmd.Process.Kill() // it may have ended
		cmd.Wait()         // closes our end, whoever holds the other
		<-read
	})
	t.Cleanup(func() {
		h.end()
		if t.Failed() {
			t.Logf("the server that was started by hand said:\n%s", said.String())
		}
	})
	if port == 0 {
		select {
		case h.Port = <-told:
		case <-time.After(e2e.Patience):
			t.Fatal("the server that was started by hand does not tell its port")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), e2e.Patience)
	defer cancel()
	for !initialised(ctx, address(h.Asked)) {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			t.Fatal("the server that was started by hand does not take MCP")
		}
	}
	return h, time.Since(began)
}

// shutDown asks a Serena that was started by hand to end, and tells how long it
// took until nothing of it was left.
func shutDown(t *testing.T, m *e2e.Manager, h hand) time.Duration {
	t.Helper()
	found, err := facts.Listeners([]int{h.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range found {
		port := int(l.Addr.Port())
		base := fmt.Sprintf("http://127.0.0.1:%d", port)
		if port == h.Port || !answersAt(base+"/heartbeat") {
			continue
		}
		req, err := http.NewRequest(http.MethodPut, base+"/shutdown", nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		apptest.Eventually(t, "what was started by hand is gone", func() bool { return len(byOthers(m)) == 0 })
		return time.Since(began)
	}
	t.Fatal("the server that was started by hand has no dashboard")
	return 0
}

// byOthers are the processes of this home that are neither ours nor launched.
func byOthers(m *e2e.Manager) []int {
	var found []int
	for _, pid := range e2e.Marked(m.Mark) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && e2e.Alive(pid) && pid != m.Run.Cmd.Process.Pid && !strings.Contains(string(text), launchMark+"=") {
			found = append(found, pid)
		}
	}
	return found
}
