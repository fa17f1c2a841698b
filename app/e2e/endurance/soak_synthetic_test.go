//go:build real && soak && linux

package endurance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	facts "lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// The limits of the synthetic ones: so many at once, with a client each, take less
// than 2 GB, and there are hundreds within five minutes.
const (
	mostSynthetic = 60
	actsAfter     = 150 * time.Millisecond // on average
)

// The projects of the synthetic ones. No policy ends one in the last.
const sanctuary = "sanctuary"

// synthetics plays the synthetic servers.
type synthetics struct {
	*soak
	random *rand.Rand
	script string
	caller string
	python string

	suspended map[*lamp]bool
	hanging   map[*lamp]bool
	waits     sync.WaitGroup
}

// act is one thing that may happen to a synthetic server.
type act struct {
	weight int
	does   func(*synthetics, *testing.T)
}

func acts() []act {
	return []act{
		{60, (*synthetics).come},
		{6, (*synthetics).comeAndGo},
		{10, (*synthetics).leave},
		{8, (*synthetics).crash},
		{10, (*synthetics).suspend},
		{12, (*synthetics).goOn},
		{4, (*synthetics).hang},
		{12, (*synthetics).moveOn},
		{10, (*synthetics).orphan},
		{3, (*synthetics).order},
	}
}

// playSynthetics lets synthetic servers come and go until the time is over, and then
// ends the rest.
func (s *soak) playSynthetics(t *testing.T) {
	c := s.newSynthetics(t)
	defer c.waits.Wait()
	defer c.endAll()
	all, sum := acts(), 0
	for _, a := range all {
		sum += a.weight
	}
	for s.pause(time.Duration(c.random.ExpFloat64() * float64(actsAfter))) {
		n := c.random.IntN(sum)
		for _, a := range all {
			if n -= a.weight; n < 0 {
				a.does(c, t)
				break
			}
		}
	}
}

func (s *soak) newSynthetics(t *testing.T) *synthetics {
	t.Helper()
	c := &synthetics{
		soak: s, random: s.rand(1), script: filepath.Join(s.tools, "serena"), caller: clientScript(t),
		python:    filepath.Join(serenatest.Tools(t), "venv", "bin", "python"),
		suspended: map[*lamp]bool{}, hanging: map[*lamp]bool{},
	}
	if err := os.WriteFile(c.script, []byte(synthetic), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

func clientScript(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../../monitor/watch/testdata/bin/client.py")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// start starts one. It is in the ledger when start returns; nil: it did not start.
func (c *synthetics) start(t *testing.T, attached bool, project string, habits ...string) *lamp {
	line := []string{c.python, "-S", c.script, "start-mcp-server", "--context", "ide"}
	if attached {
		line = append([]string{c.python, "-S", c.caller}, line...)
	} else {
		line = append(line, "--transport", "streamable-http", "--port", "0")
	}
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), "SOAK_HABITS="+strings.Join(habits, " "), "SOAK_PROJECT="+project)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Errorf("starting a synthetic server: %v", err)
		return nil
	}
	words, err := bufio.NewReader(out).ReadString('\n')
	fields := strings.Fields(words)
	if err != nil || len(fields) == 0 {
		t.Errorf("a synthetic server said %q, %v", words, err)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil
	}
	pid := cmd.Process.Pid
	p := &lamp{what: "synthetic over HTTP", mayEnd: "nobody calls it"}
	if attached {
		pid, _ = strconv.Atoi(fields[0])
		p.what, p.mayEnd, p.client = "synthetic with a client", "", soakIdentity(cmd.Process.Pid)
		if slices.Contains(habits, "eof") {
			p.what = "synthetic that ends with its client"
		}
	}
	if project == sanctuary {
		p.what, p.mayEnd = p.what+", which no policy ends", ""
	}
	p.port, _ = strconv.Atoi(fields[len(fields)-1])
	if p.project = project; project != "" {
		p.names = 1
	}
	p.id = soakIdentity(pid)
	c.ledger.add(p)
	c.waits.Go(func() { _, _ = io.Copy(io.Discard, out); _ = cmd.Wait() })
	return p
}

func (c *synthetics) come(t *testing.T) {
	if len(c.ledger.living(c.mine)) >= mostSynthetic {
		c.leave(t)
		return
	}
	var habits []string
	if c.random.IntN(4) == 0 {
		habits = append(habits, "deaf")
	}
	if c.random.IntN(8) == 0 {
		habits = append(habits, "stubborn")
	}
	project := []string{"", "alpha", "beta", "gamma", sanctuary}[c.random.IntN(5)]
	attached := c.random.IntN(10) < 7
	if attached && c.random.IntN(3) == 0 {
		habits = append(habits, "eof")
	}
	c.start(t, attached, project, habits...)
}

// mine tells that a lamp is one of these.
func (c *synthetics) mine(p *lamp) bool { return strings.HasPrefix(p.what, "synthetic") && !p.mustEnd }

// endsWithClient tells that it is as a healthy server, when it is not suspended.
func (p *lamp) endsWithClient() bool { return strings.Contains(p.what, "ends with its client") }

// comeAndGo starts one that may be gone before anybody has looked.
func (c *synthetics) comeAndGo(t *testing.T) {
	if p := c.start(t, c.random.IntN(2) == 0, "alpha"); p != nil {
		c.end(p)
	}
}

// pick is one of those that are as wanted and no orphans, nil: there is none.
func (c *synthetics) pick(ok func(*lamp) bool) *lamp {
	found := c.ledger.living(func(p *lamp) bool { return c.mine(p) && !p.orphaned && ok(p) })
	if len(found) == 0 {
		return nil
	}
	return found[c.random.IntN(len(found))]
}

// kill sends a signal to a process that was started here, if it runs.
func kill(id monitor.Identity, s syscall.Signal) {
	if id.PID > 0 && soakIdentity(id.PID) == id {
		_ = syscall.Kill(id.PID, s) // it may just have ended
	}
}

// end ends one with its client, as a client that leaves does: the server first.
func (c *synthetics) end(p *lamp) {
	c.ledger.change(p, func() { p.leaving = true })
	kill(p.id, syscall.SIGKILL)
	if c.random.IntN(2) == 0 {
		c.awaitGone(p)
	}
	kill(p.client, syscall.SIGKILL)
	c.forget(p)
}

// awaitGone gives lamplighter the time to see that nobody has reaped it yet.
func (c *synthetics) awaitGone(p *lamp) {
	for range 100 {
		if s, err := facts.ReadStat(p.id.PID); err != nil || s.Identity != p.id || !c.pause(10*time.Millisecond) {
			return
		}
	}
}

func (c *synthetics) forget(p *lamp) {
	delete(c.suspended, p)
	delete(c.hanging, p)
}

func (c *synthetics) leave(*testing.T) {
	p := c.pick(func(p *lamp) bool { return !c.suspended[p] })
	switch {
	case p == nil:
	case p.endsWithClient():
		// It ends by itself, unless it is suspended or a policy comes first.
		c.ledger.change(p, func() { p.leaving, p.mayEnd = true, "its client has left"; p.reds[monitor.CauseOrphaned]++ })
		kill(p.client, syscall.SIGKILL)
		c.forget(p)
	default:
		c.end(p)
	}
	c.ledger.count("leaves")
}

func (c *synthetics) crash(*testing.T) {
	if p := c.pick(func(*lamp) bool { return true }); p != nil {
		c.end(p)
		c.ledger.count("crashes")
	}
}

func (c *synthetics) suspend(*testing.T) {
	if p := c.pick(func(p *lamp) bool { return !c.suspended[p] }); p != nil {
		c.ledger.change(p, func() { p.reds[monitor.CauseSuspended]++ })
		kill(p.id, syscall.SIGSTOP)
		c.suspended[p] = true
		c.ledger.count("suspensions")
	}
}

// goOn continues one that is suspended, or one that hangs.
func (c *synthetics) goOn(*testing.T) {
	if p := c.pick(func(p *lamp) bool { return c.suspended[p] }); p != nil {
		kill(p.id, syscall.SIGCONT)
		delete(c.suspended, p)
	}
	if p := c.pick(func(p *lamp) bool { return c.hanging[p] && !c.suspended[p] }); p != nil && c.random.IntN(3) == 0 {
		if c.tell(p, map[string]any{"hang": false}) {
			delete(c.hanging, p)
		}
	}
}

// hang lets a dashboard answer nothing any more.
func (c *synthetics) hang(*testing.T) {
	if p := c.pick(func(p *lamp) bool { return !c.suspended[p] && !c.hanging[p] }); p != nil {
		c.ledger.change(p, func() { p.reds[monitor.CauseUnreachable] += 2 }) // again after it was suspended meanwhile
		c.hanging[p] = true
		c.tell(p, map[string]any{"hang": true})
		c.ledger.count("hangs")
	}
}

// moveOn changes the project of one.
func (c *synthetics) moveOn(*testing.T) {
	p := c.pick(func(p *lamp) bool { return !c.suspended[p] && p.project != sanctuary })
	if p == nil {
		return
	}
	c.ledger.change(p, func() { p.names++ })
	p.project = fmt.Sprintf("%s-%d", []string{"north", "south", "ärger"}[c.random.IntN(3)], c.random.IntN(1000))
	c.tell(p, map[string]any{"project": p.project})
	c.ledger.count("project changes")
}

// tell changes what a synthetic server answers. One that has just ended hears
// nothing.
func (c *synthetics) tell(p *lamp, what map[string]any) bool {
	text, err := json.Marshal(what)
	if err != nil {
		panic(err) // strings and truths always have JSON
	}
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(fmt.Sprintf("http://127.0.0.1:%d/soak", p.port), "application/json", strings.NewReader(string(text)))
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return true
}

// orphan kills a client whose server stays: lamplighter has seen the two together,
// so that it can prove that nobody holds the pipes any more. It ends those, save
// the ones that may be of the project that is spared.
func (c *synthetics) orphan(*testing.T) {
	p := c.pick(func(p *lamp) bool {
		in, ok := c.lists(p.id)
		known := ok && (in.ProjectName == nil && p.project == "" || in.ProjectName != nil && *in.ProjectName == p.project)
		return p.client.PID != 0 && known && c.seenWith(p) && (c.suspended[p] || !p.endsWithClient())
	})
	if p == nil {
		return
	}
	if _, _, found, err := facts.Local().Ends(p.id).Holder(p.client); err != nil || !found {
		return
	}
	if c.random.IntN(3) == 0 {
		c.ledger.change(p, func() { p.reds[monitor.CauseSuspended]++ })
		kill(p.id, syscall.SIGSTOP)
	}
	spared := p.project == "" || p.project == sanctuary
	c.ledger.change(p, func() {
		p.reds[monitor.CauseOrphaned]++
		p.orphaned = true
		if !spared {
			p.mustEnd, p.mayEnd = true, "it is an orphan"
		}
	})
	kill(p.client, syscall.SIGKILL)
	if spared {
		c.ledger.count("orphans that are spared")
		return
	}
	c.ledger.count("orphans")
}

// order has the user end one that answers: without force one that does not say
// whether a call runs is not ended.
func (c *synthetics) order(t *testing.T) {
	p := c.pick(func(p *lamp) bool { return p.client.PID != 0 && c.seenWith(p) && !c.suspended[p] && !c.hanging[p] })
	if p == nil {
		return
	}
	c.ledger.change(p, func() { p.leaving, p.mustEnd, p.mayEnd = true, true, "the user said so" })
	code, out, errs := c.Does(t, "stop", strconv.Itoa(p.id.PID))
	if code != 0 {
		t.Errorf("stop %d (%s): exit status %d, %s %s", p.id.PID, p.what, code, out, errs)
	}
	kill(p.client, syscall.SIGKILL)
	c.forget(p)
	c.ledger.count("orders")
}

// endAll ends what is left. The suspended ones among them are as good as any.
func (c *synthetics) endAll() {
	for _, p := range c.ledger.living(c.mine) {
		c.end(p)
	}
}
