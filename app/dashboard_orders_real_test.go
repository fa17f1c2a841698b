//go:build real && linux

package main

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
	"lamplighter/monitor/serena/serenatest"
)

// redAndGreen: a server that was suspended turns red and green again while its
// own part of the page is shown.
func (s *street) redAndGreen(t *testing.T) {
	p := s.page
	label := strconv.Itoa(s.red.DashboardPort) + " - über_größe"
	p.Go(t, s.at(s.red, ""))
	browsertest.Eval[any](t, p, "void (window.since = 'the page was not loaded again')")
	p.AwaitText(t, mainPart, "suspended", "it was stopped by a signal")
	p.Picture(t, "red")
	p.Audit(t, "a suspended server")
	s.red.Signal(t, syscall.SIGCONT)
	p.AwaitNoText(t, mainPart, "suspended")
	p.AwaitText(t, mainPart, "live", "Current Configuration")
	if colour := s.colour(t, label); colour != "rgb(26, 127, 75)" {
		t.Errorf("its mark is %s", colour)
	}
	p.Await(t, "it is still the same page", "window.since")
}

// busyOne is refused, says why, and can be insisted on.
func (s *street) busyOne(t *testing.T) {
	p := s.page
	p.Go(t, s.at(s.green, ""))
	finish := s.work(t)
	s.says(t, "Executions Queue", "ExecuteShellCommandTool")
	p.Click(t, browsertest.Button("Stop").In(mainPart))
	p.AwaitText(t, openDialog, "alpha", "at work on execute_shell_command")
	p.Picture(t, "refused")
	p.Click(t, browsertest.Button("Kill").In(openDialog))
	p.AwaitText(t, openDialog, "Kill "+strconv.Itoa(s.green.DashboardPort)+" - alpha?", "will be lost")
	p.Press(t, kb.Escape)
	p.AwaitNoThing(t, browsertest.Thing{Role: "dialog"})
	finish()
	if len(s.green.Pids()) == 0 {
		t.Error("it was ended without an order")
	}
}

// stop ends one from the page: it is asked first, and afterwards nothing of it
// is left but a tab that can be read and dismissed.
func (s *street) stop(t *testing.T) {
	p := s.page
	label := strconv.Itoa(s.yellow.DashboardPort) + " - NO PROJECT"
	p.Go(t, s.at(s.yellow, ""))
	p.Click(t, browsertest.Button("Stop").In(mainPart))
	p.AwaitText(t, openDialog, label)
	p.Audit(t, "the question")
	p.Picture(t, "question")
	p.Click(t, browsertest.Button("Cancel").In(openDialog))
	p.AwaitNoThing(t, browsertest.Thing{Role: "dialog"})
	p.Click(t, browsertest.Button("Stop").In(mainPart))
	p.Click(t, browsertest.Button("Stop").In(openDialog))
	p.AwaitText(t, notices, "Ended: "+label)
	if left := s.yellow.Pids(); len(left) != 0 {
		t.Errorf("still running: %v", left)
	}
	p.AwaitText(t, mainPart, label, "ended")
	if tab := p.AwaitThing(t, browsertest.Tab(label)); !strings.Contains(tab.Name+tab.Description, "ended") {
		t.Errorf("its tab %q does not say so", tab.Name)
	}
	if colour := s.colour(t, label); colour != "rgb(107, 114, 128)" {
		t.Errorf("its mark is %s, want grey", colour)
	}
	p.Picture(t, "ended")
	p.Audit(t, "a server that has ended")
	p.Click(t, browsertest.Button("Dismiss").In(mainPart))
	p.AwaitNoThing(t, browsertest.Tab(label))
}

// keyboard does everything without a mouse, to the end of a server.
func (s *street) keyboard(t *testing.T) {
	victim := serenatest.Start(t, serenatest.Options{})
	victim.WaitReady(t)
	p := s.page
	p.Go(t, s.address)
	p.AwaitThing(t, shown(victim))
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
	onto("tab ", kb.Tab)
	onto(strconv.Itoa(victim.DashboardPort)+" - ", kb.ArrowRight)
	p.Press(t, kb.Enter)
	p.AwaitText(t, mainPart, "Current Configuration", "NO PROJECT")
	p.Press(t, "?")
	p.AwaitText(t, openDialog, "Keyboard shortcuts")
	p.Audit(t, "the shortcuts")
	p.Picture(t, "shortcuts")
	p.Press(t, kb.Escape)
	p.AwaitNoThing(t, browsertest.Thing{Role: "dialog"})

	onto("button Stop", kb.Tab)
	p.Press(t, kb.Enter)
	p.AwaitText(t, openDialog, strconv.Itoa(victim.DashboardPort)+" - NO PROJECT")
	p.Press(t, kb.Enter) // which means no
	p.AwaitNoThing(t, browsertest.Thing{Role: "dialog"})
	if len(victim.Pids()) == 0 {
		t.Fatal("Enter alone ended it")
	}
	apptest.Eventually(t, "the focus goes back", func() bool { return strings.Contains(p.Focused(t), "button Stop") })
	p.Press(t, kb.Enter)
	p.AwaitThing(t, browsertest.Button("Stop").In(openDialog))
	onto("button Stop", kb.Tab)
	p.Press(t, kb.Enter)
	apptest.Eventually(t, "it is gone", func() bool { return len(victim.Pids()) == 0 })
	p.AwaitText(t, notices, "Ended: ")

	filters := func() {
		t.Helper()
		p.Press(t, "/")
		apptest.Eventually(t, "the focus is on a field to search with", func() bool {
			got := p.Focused(t)
			return strings.HasPrefix(got, "searchbox ") || strings.HasPrefix(got, "textbox ")
		})
		p.Press(t, "alpha")
	}
	filters()
	p.Go(t, s.address)
	p.AwaitText(t, mainPart, "über_größe")
	filters()
	p.AwaitNoText(t, mainPart, "über_größe")
	p.AwaitText(t, mainPart, "alpha")
	p.Press(t, kb.Escape)
	p.AwaitText(t, mainPart, "über_größe")
}
