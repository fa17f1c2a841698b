//go:build real && linux

package page

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
	"lamplighter/app/e2e"
	"lamplighter/monitor/serena/serenatest"
)

// What the page orders is asked first and done then: one that is at work is refused,
// one is stopped without a mouse, one that hangs is killed. Policies pause.
func (s *street) orders(t *testing.T) {
	p := s.open(t, s.address)
	s.refusedWhileBusy(t, p)
	s.stoppedByTheKeyboard(t, p)
	s.killed(t, p)
	p.Click(t, browsertest.Tab("Overview"))
	p.Click(t, browsertest.Thing{Role: "DisclosureTriangle", Name: "Policies"})
	p.Click(t, browsertest.Button("Pause for 1 h"))
	p.AwaitText(t, topPart, "policies paused")
	focused(t, p, "button Resume")
	p.Click(t, browsertest.Button("Resume"))
	p.AwaitNoText(t, topPart, "policies paused")
	s.idleRule(t, p)
	s.restarted(t, p)
}

// restarted: one press in the row of a shared server starts it again under its client.
func (s *street) restarted(t *testing.T, p *browsertest.Page) {
	m := &e2e.Manager{Home: s.Home}
	m.Initialised(t)
	project := e2e.ProjectDir(t, "quay")
	put(t, filepath.Join(project, ".serena", "project.yml"), "project_name: quay\nlanguages: []\n")
	client := m.Wrap(t, project, append([]string{filepath.Join(serenatest.Tools(t), "venv", "bin", "serena")}, e2e.SerenaCommand[1:]...)...)
	client.Handshake(t)
	client.Calls(t, 1, "list_memories", map[string]any{}) // so that it works on nothing any more
	label, _, _ := strings.Cut(p.AwaitThing(t, browsertest.Tab(" - quay")).Name, ",")
	p.Click(t, browsertest.Button("Restart "+strings.TrimSpace(label)).In(mainPart))
	p.AwaitText(t, everything, "Restarted: ")
	noDialog(t, p)
	client.Calls(t, 2, "list_memories", map[string]any{})
}

// idleRule: when idle servers end is written into the settings, and counts at once.
func (s *street) idleRule(t *testing.T, p *browsertest.Page) {
	p.AwaitText(t, mainPart, "End idle servers")
	browsertest.Eval[any](t, p, `void ((field) => { field.value = '30'; field.dispatchEvent(new Event('change', { bubbles: true })); })(document.querySelector('[aria-label="When idle servers end"]'))`)
	p.AwaitText(t, mainPart, "End idle servers after 30 min")
	if text := textOf(t, s.Path(".config", "lamplighter", "config.yaml")); !strings.Contains(text, "idle_shutdown_minutes: 30\n") || !strings.Contains(text, "session_port:") {
		t.Errorf("the settings are %s", text)
	}
}

// refusedWhileBusy: it says why, and nothing happens before somebody insists.
func (s *street) refusedWhileBusy(t *testing.T, p *browsertest.Page) {
	p.Click(t, shown(s.green))
	finish := s.work(t)
	says(t, p, "Executions Queue", "ExecuteShellCommandTool")
	p.Click(t, browsertest.Button("Stop").In(mainPart))
	p.AwaitText(t, openDialog, "alpha", "at work on execute_shell_command")
	choose(t, p, "Kill")
	p.AwaitText(t, openDialog, "Kill "+s.greenLabel()+"?", "will be lost")
	looks(t, p, "the question before killing")
	p.Press(t, kb.Escape)
	noDialog(t, p)
	finish()
	if len(s.green.Pids()) == 0 {
		t.Error("it was ended without an order")
	}
}

// covered tells that something lies over what has the focus in a table.
const covered = `(at => {
	const box = at.getBoundingClientRect()
	const over = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
	return at.closest('tbody') !== null && !at.contains(over) && !over?.contains(at)
})(document.activeElement)`

// stoppedByTheKeyboard: Enter alone means no, and afterwards nothing is left but a
// tab that can be read and dismissed.
func (s *street) stoppedByTheKeyboard(t *testing.T, p *browsertest.Page) {
	p.Go(t, s.address)
	p.AwaitThing(t, shown(s.yellow))
	onto := func(what string, keys ...string) {
		t.Helper()
		for range 60 {
			p.Press(t, keys...)
			if strings.Contains(p.Focused(t), what) {
				return
			}
		}
		t.Fatalf("%q is not reached with %q; the focus is on %q", what, keys, p.Focused(t))
	}
	p.Look(t, browsertest.Options{Width: 1280, Height: 300})
	for range 50 {
		p.Press(t, kb.Tab)
		if browsertest.Eval[bool](t, p, covered) {
			t.Errorf("the focus is on %q, below a row that stays", p.Focused(t))
		}
	}
	p.Look(t, browsertest.Options{})
	onto("tab ", kb.Tab)
	onto(s.yellowLabel(), kb.ArrowRight)
	p.Press(t, kb.Enter)
	p.AwaitText(t, mainPart, "Current Configuration", "NO PROJECT")
	p.Press(t, "?")
	p.AwaitText(t, openDialog, "Keyboard shortcuts")
	p.Press(t, kb.Escape)
	noDialog(t, p)

	onto("button Stop", kb.Tab)
	p.Press(t, kb.Enter)
	p.AwaitText(t, openDialog, s.yellowLabel())
	p.Press(t, kb.Enter) // which means no
	noDialog(t, p)
	if len(s.yellow.Pids()) == 0 {
		t.Fatal("Enter alone ended it")
	}
	focused(t, p, "button Stop")
	p.Press(t, kb.Enter)
	p.AwaitThing(t, browsertest.Button("Stop").In(openDialog))
	onto("button Stop", kb.Tab)
	p.Press(t, kb.Enter)
	s.isEnded(t, p, s.yellow, s.yellowLabel())
	p.Click(t, browsertest.Button("Dismiss").In(mainPart))
	p.AwaitNoThing(t, browsertest.Tab(s.yellowLabel()))
}

// killed: a suspended one answers nobody, and is ended all the same.
func (s *street) killed(t *testing.T, p *browsertest.Page) {
	p.Click(t, browsertest.Tab(s.redLabel()))
	p.AwaitText(t, mainPart, "suspended")
	p.Click(t, browsertest.Button("Kill").In(mainPart))
	p.AwaitText(t, openDialog, "Kill "+s.redLabel()+"?")
	choose(t, p, "Kill")
	s.isEnded(t, p, s.red, s.redLabel())
	looks(t, p, "a server that has ended")
}

// isEnded: nothing of it runs, and its tab says so.
func (s *street) isEnded(t *testing.T, p *browsertest.Page, server *serenatest.Server, label string) {
	t.Helper()
	p.AwaitText(t, everything, "Ended: "+label)
	p.AwaitNoText(t, everything, "about 0 B") // of a real server it is some 100 MB
	apptest.Eventually(t, strconv.Itoa(server.PID)+" is gone", func() bool { return len(server.Pids()) == 0 })
	p.AwaitText(t, mainPart, label, "ended")
	if tab := p.AwaitThing(t, browsertest.Tab(label)); !strings.Contains(tab.Name+tab.Description, "ended") {
		t.Errorf("its tab %q does not say so", tab.Name)
	}
	if colour, _ := markOf(t, p, label); colour != "grey" {
		t.Errorf("its mark is %s, want grey", colour)
	}
}
