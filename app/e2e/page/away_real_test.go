//go:build real && linux

package page

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
)

// The menu opens the page, and on it a server that has no dashboard of its own, as
// the command line does. By itself it was opened once, whatever came since.
func (s *street) menuOpensThePage(t *testing.T) {
	before := len(s.Opened(t))
	click := func(line string) (opened string) {
		t.Helper()
		apptest.Eventually(t, line+" is in the menu", func() bool { return strings.Contains(s.panel.Labels(t, s.item), line) })
		s.panel.Event(t, s.item, s.panel.Find(t, s.item, line).ID, "clicked")
		before++
		got := s.AwaitOpened(t, before)
		return got[len(got)-1]
	}
	if got := click("Open global dashboard"); got != s.address {
		t.Errorf("it opens %s", got)
	}
	address := click(s.label)
	id, is := strings.CutPrefix(address, s.address+"#/")
	if !is {
		t.Fatalf("it opens %s", address)
	}
	p := s.open(t, address)
	p.AwaitText(t, mainPart, s.label)
	p.Await(t, "that is its address", fmt.Sprintf("location.hash.startsWith('#/%s')", id))
	looks(t, p, "a server without a dashboard")
	if code, out, errs := s.Does(t, "open", "acme"); code != 0 || out != address+"\n" {
		t.Errorf("open: %d, %q, %q", code, out, errs)
	}
	if got := s.AwaitOpened(t, before+1); !slices.Equal(got, []string{s.address, s.address, address, address}) {
		t.Errorf("opened %q", got)
	}
}

// A page that nobody sees asks nothing, and is up to date when it is shown again.
func (s *street) nobodyLooks(t *testing.T) {
	p := s.open(t, s.at(s.green, ""))
	for _, route := range []string{"decisions", "get_config_overview", "queued_task_executions", "last_execution", "get_tool_stats", "get_token_count_estimator_name"} {
		apptest.Eventually(t, route+" is answered", func() bool { return len(p.Traffic().Of(route)) > 0 })
	}
	p.Hide(t)
	// A second page tells when it would have asked.
	before := len(p.Traffic())
	other := s.open(t, s.at(s.green, ""))
	other.AwaitText(t, mainPart, "Tool Usage", "Last Execution")
	started := len(other.Traffic())
	s.red.Continue(t)
	apptest.Eventually(t, "the other page has asked again and again", func() bool { return len(other.Traffic()) >= started+3 })
	other.AwaitNoText(t, tabList, "suspended")
	if asked := p.Traffic()[before:]; len(asked) != 0 {
		t.Errorf("it asked while it was hidden:\n%v", asked)
	}
	if !strings.Contains(browsertest.Eval[string](t, p, "document.querySelector('[role=tablist]').textContent"), "suspended") {
		t.Error("it took in a change while it was hidden")
	}
	p.Show(t)
	p.AwaitNoText(t, tabList, "suspended")
	apptest.Eventually(t, "it asks again", func() bool { return len(p.Traffic()) > before })
	s.red.Suspend(t)
	p.AwaitText(t, tabList, "suspended")
}

// The stream breaks because lamplighter was killed, and comes back: the page says that
// it is away, and goes on by itself. A pin holds meanwhile and afterwards, also
// when nobody can read which there are.
func (s *street) awayAndBack(t *testing.T) {
	p := s.open(t, s.at(s.green, ""))
	p.Forgive("net::ERR_") // the browser itself logs what it cannot reach
	p.AwaitText(t, mainPart, "Tool Usage")
	still := stays(t, p)
	refused := func(why string) {
		t.Helper()
		for _, args := range [][]string{{"--dry-run"}, {}} {
			code, out, errs := s.Does(t, append([]string{"stop", strconv.Itoa(s.green.ServerPID)}, args...)...)
			if code != 1 || !strings.Contains(out+errs, why) || len(s.green.Pids()) == 0 {
				t.Fatalf("stop %q: %d, %q, %q, want %q", args, code, out, errs, why)
			}
		}
	}
	p.Click(t, browsertest.Button("Pin").In(mainPart))
	p.AwaitThing(t, browsertest.Button("Unpin").In(mainPart))
	refused("is pinned")

	s.run.Signal(t, syscall.SIGKILL)
	<-s.run.Ended
	p.AwaitText(t, everything, "does not answer")
	looks(t, p, "the page without lamplighter")
	refused("is pinned")
	file := filepath.Join(s.State(), "pins.json")
	pins := textOf(t, file)
	put(t, file, `{"boot":"`)
	refused("may be pinned: which servers are cannot be read (" + file)
	if textOf(t, file) != `{"boot":"` {
		t.Error("who only reads has touched it")
	}
	put(t, file, pins)

	s.begin(t)
	p.AwaitNoText(t, everything, "does not answer")
	p.AwaitText(t, mainPart, "live")
	s.green.Call(t, "list_dir", map[string]any{"relative_path": ".", "recursive": false})
	p.AwaitText(t, mainPart, "ListDirTool")
	still()
	refused("is pinned")
	p.Click(t, browsertest.Button("Unpin").In(mainPart))
	p.AwaitThing(t, browsertest.Button("Pin").In(mainPart))
	if _, out, _ := s.Does(t, "events"); !strings.Contains(out, "pinned") {
		t.Errorf("it is not told:\n%s", out)
	}
}
