//go:build real && soak && linux

package endurance

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor"
	facts "lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// life is one real Serena, from its start to its end.
type life struct {
	*soak
	random *rand.Rand
	server *serenatest.Server
	lamp   *lamp
}

// realAtOnce is how many real Serenas run beside those that clients share. With its
// language server one takes up to 500 MB.
const realAtOnce = 2

// playSerena lets one real Serena after the other live.
func (s *soak) playSerena(player uint64) func(*testing.T) {
	return func(t *testing.T) {
		random := s.rand(player)
		plays := []func(*life, *testing.T){(*life).held, (*life).held, (*life).overHTTP, (*life).called, (*life).orphaned}
		for n := 1; s.over.Err() == nil; n++ {
			play := plays[random.IntN(len(plays))]
			if n <= len(plays) && player%2 == 0 {
				play = plays[len(plays)-n] // each comes once, also in a short soak
			}
			ok := t.Run(fmt.Sprint("life ", n), func(t *testing.T) {
				l := &life{soak: s, random: random}
				play(l, t)
				s.ledger.change(l.lamp, func() { l.lamp.leaving = true }) // the test ends it now
			})
			if !ok {
				return
			}
		}
	}
}

// begins starts it and waits until lamplighter knows it and its project. It is
// false when it came to no dashboard: Serena looks for a free port, and of two that
// look at once the second may get none.
func (l *life) begins(t *testing.T, what string, o serenatest.Options) bool {
	t.Helper()
	p := &lamp{what: "real " + what}
	l.server = serenatest.Start(t, o)
	apptest.Eventually(t, "it is listed", func() bool {
		for _, pid := range l.server.Pids() {
			if _, ok := l.lists(soakIdentity(pid)); ok {
				l.server.ServerPID, p.id = pid, soakIdentity(pid)
				return true
			}
		}
		return false
	})
	if o.Client != nil {
		p.client = soakIdentity(l.server.PID)
	}
	if o.HTTP {
		p.mayEnd = "nobody calls it"
	}
	if o.Project != "" {
		p.project, p.names = filepath.Base(o.Project), 1
	}
	l.ledger.add(p)
	l.lamp = p
	// A dashboard of Serena's own may be slow on a busy machine, and then it is told.
	l.ledger.change(p, func() { p.reds[monitor.CauseUnreachable] = anyNumber })
	for range 300 {
		in, ok := l.lists(p.id)
		if !runs(p.id) || ok && in.State != monitor.StateStarting && (p.project == "" || in.ProjectName != nil && *in.ProjectName == p.project) {
			return true
		}
		if !l.pause(200 * time.Millisecond) {
			return false
		}
	}
	l.ledger.count("real without a dashboard")
	return false
}

// between lets some time pass.
func (l *life) between() bool {
	return l.pause(time.Duration((1 + 3*l.random.Float64()) * float64(time.Second)))
}

// suspends stops it for a while, by a signal.
func (l *life) suspends() {
	l.ledger.change(l.lamp, func() { l.lamp.reds[monitor.CauseSuspended]++ })
	kill(l.lamp.id, syscall.SIGSTOP)
	l.ledger.count("suspensions")
	l.between()
	kill(l.lamp.id, syscall.SIGCONT)
}

// client is the program in front of a server that holds its pipes.
func (l *life) client(t *testing.T) []string { return []string{"python3", clientScript(t)} }

// held is a server whose client does nothing with it. It is suspended, and in the
// end its client leaves, or it crashes, or the user ends it.
func (l *life) held(t *testing.T) {
	o := serenatest.Options{Client: l.client(t)}
	if l.random.IntN(2) == 0 {
		o.Project = serenatest.GoProject(t, "alpha")
	}
	if !l.begins(t, "with a client", o) {
		return
	}
	for range 1 + l.random.IntN(3) {
		if !l.between() {
			return
		}
		l.suspends()
	}
	switch p := l.lamp; l.random.IntN(3) {
	case 0:
		l.ledger.change(p, func() { p.leaving = true })
		kill(p.id, syscall.SIGKILL)
		l.ledger.count("crashes")
		l.between()
	case 1:
		l.ledger.change(p, func() { p.leaving, p.mustEnd, p.mayEnd = true, true, "the user said so" })
		if code, out, errs := l.Does(t, "stop", strconv.Itoa(p.id.PID)); code != 0 {
			t.Errorf("stop %d: exit status %d, %s %s", p.id.PID, code, out, errs)
		}
		l.ledger.count("orders")
	}
}

// overHTTP is one that nobody calls, so that a policy ends it unless it crashes
// before.
func (l *life) overHTTP(t *testing.T) {
	if !l.begins(t, "over HTTP", serenatest.Options{HTTP: true, Project: serenatest.GoProject(t, "beta"), Context: "desktop-app"}) {
		return
	}
	if l.random.IntN(4) == 0 && l.between() {
		l.ledger.change(l.lamp, func() { l.lamp.leaving = true })
		kill(l.lamp.id, syscall.SIGKILL)
		l.ledger.count("crashes")
		return
	}
	for runs(l.lamp.id) && l.pause(200*time.Millisecond) {
	}
}

// called is one that the test itself uses over stdio: it answers calls and changes
// its project. No policy may end it, however idle it is between two calls.
func (l *life) called(t *testing.T) {
	if !l.begins(t, "that is called", serenatest.Options{Project: serenatest.GoProject(t, "alpha"), Context: "desktop-app"}) {
		return
	}
	l.server.Initialize(t)
	for _, name := range []string{"alpha", "north", "south"} {
		if !l.between() {
			return
		}
		if name != "alpha" {
			dir := serenatest.GoProject(t, name)
			l.ledger.change(l.lamp, func() { l.lamp.names++ })
			l.server.Call(t, "activate_project", map[string]any{"project": dir, "session": "soak"})
			l.ledger.count("project changes")
			apptest.Eventually(t, "its new project is listed", func() bool {
				in, ok := l.lists(l.lamp.id)
				return ok && in.ProjectName != nil && *in.ProjectName == name
			})
		}
		apptest.Contains(t, l.server.Call(t, "list_dir", map[string]any{"relative_path": ".", "recursive": false}), "main.go")
		l.ledger.count("calls")
	}
}

// orphaned is one whose client is killed while it hangs: a policy has to end it,
// with all that it has started.
func (l *life) orphaned(t *testing.T) {
	if !l.begins(t, "that is orphaned", serenatest.Options{Client: l.client(t), Project: serenatest.GoProject(t, "gamma")}) {
		return
	}
	p := l.lamp
	apptest.Eventually(t, "it is listed with its client, and its link can be seen", func() bool {
		_, _, found, err := facts.Local().Ends(p.id).Holder(p.client)
		return e2e.HasMoved(p.id) && found && err == nil && l.seenWith(p)
	})
	l.between()
	l.ledger.change(p, func() {
		p.reds[monitor.CauseSuspended]++
		p.reds[monitor.CauseOrphaned]++
		p.leaving, p.mustEnd, p.mayEnd = true, true, "it is an orphan"
	})
	kill(p.id, syscall.SIGSTOP)
	kill(p.client, syscall.SIGKILL)
	l.ledger.count("orphans")
	apptest.Eventually(t, "all of the orphan has ended", func() bool { return len(l.server.Pids()) == 0 })
}
