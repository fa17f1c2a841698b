//go:build real && linux

package page

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
	"lamplighter/monitor/serena/serenatest"
)

// The page's main job: three states, which real servers of three versions have, and
// all that there is to see of each.
func (s *street) threeServers(t *testing.T) {
	p := s.open(t, s.address)
	s.states(t, p)
	s.sections(t, p)
	s.addresses(t, p)
	still := stays(t, p)
	s.calls(t, p)
	s.queue(t, p)
	s.lists(t, p)
	s.memories(t, p)
	s.followed(t, p)
	still()
}

// states: colour, shape and words of each, in tabs and overview.
func (s *street) states(t *testing.T, p *browsertest.Page) {
	p.AwaitText(t, mainPart, "live", "no project", "suspended", "alpha", "über_größe", "NO PROJECT", "acme")
	p.AwaitText(t, topPart, "4 servers, 1 needs attention")
	marks := map[string]bool{}
	for label, want := range map[string]struct{ state, colour string }{
		s.greenLabel():  {", live", "green"},
		s.yellowLabel(): {", no project", "yellow"},
		s.redLabel():    {", suspended", "red"},
	} {
		if tab := p.AwaitThing(t, browsertest.Tab(label)); !strings.Contains(tab.Name+" "+tab.Description, want.state) {
			t.Errorf("the tab %q (%q) does not say %q", tab.Name, tab.Description, want.state)
		}
		colour, shape := markOf(t, p, label)
		if colour != want.colour {
			t.Errorf("the mark of %s is %s, want %s", label, colour, want.colour)
		}
		marks[shape] = true
	}
	if len(marks) != 3 {
		t.Errorf("the marks differ by colour alone: %v", marks)
	}
	looks(t, p, "the overview")
}

// markOf is the colour and the shape of the mark in the tab with a label.
func markOf(t *testing.T, p *browsertest.Page, label string) (colour, shape string) {
	t.Helper()
	mark := fmt.Sprintf(`[...document.querySelectorAll('[role=tab]')].find(tab => tab.textContent.includes(%q)).querySelector('svg')`, label)
	rgb := browsertest.Eval[[]int](t, p, "getComputedStyle("+mark+").color.match(/\\d+/g).slice(0, 3).map(Number)")
	shape = browsertest.Eval[string](t, p, mark+".innerHTML")
	r, g, b := rgb[0], rgb[1], rgb[2]
	switch {
	case max(r, g, b)-min(r, g, b) < 30:
		return "grey", shape
	case g > r && g > b:
		return "green", shape
	case r > 2*g:
		return "red", shape
	case r > g && g > 2*b:
		return "yellow", shape
	}
	return fmt.Sprint(rgb), shape
}

// sections: each view of each server is there and shows what there is to see.
func (s *street) sections(t *testing.T, p *browsertest.Page) {
	for _, each := range []struct {
		server *serenatest.Server
		says   map[string][]string
	}{
		{s.green, map[string][]string{
			"Details": {"live", "Current Configuration", "Tool Usage"}, "Logs": {"Initializing Serena MCP server"}, "History": {"Memory", "CPU", "Calls"},
			"Events": {"Project activated"}, "Memories": {"lamps"},
		}},
		{s.yellow, map[string][]string{
			"Details": {"no project", "Current Configuration"}, "Logs": {"Initializing Serena MCP server"}, "History": {"Memory", "CPU", "Calls"}, "Events": {"Started"},
		}},
		{s.red, map[string][]string{
			"Details": {"suspended", "it was stopped by a signal"}, "Logs": {"suspended"}, "History": {"Memory", "CPU", "Calls"}, "Events": {"Needs attention"},
		}},
	} {
		p.Click(t, shown(each.server))
		for _, section := range []string{"Details", "Logs", "History", "Events", "Memories"} {
			says, offered := each.says[section]
			if !offered {
				continue
			}
			p.Click(t, browsertest.Tab(section).In(mainPart))
			p.AwaitText(t, mainPart, says...)
			if each.server == s.green {
				looks(t, p, section)
			}
		}
	}
	p.Click(t, browsertest.Tab("Details").In(mainPart))
	looks(t, p, "a suspended server")
}

// addresses: tabs are addresses, which can be opened directly, and Back works.
func (s *street) addresses(t *testing.T, p *browsertest.Page) {
	p.Click(t, shown(s.green))
	p.AwaitText(t, mainPart, "Current Configuration", "alpha")
	p.Click(t, shown(s.yellow))
	p.Await(t, "the address tells the tab", "location.hash.startsWith('#/"+strconv.Itoa(s.yellow.ServerPID)+"')")
	p.Back(t)
	p.Await(t, "Back goes to the tab before", "location.hash.startsWith('#/"+strconv.Itoa(s.green.ServerPID)+"')")
	p.AwaitText(t, mainPart, "alpha")
	apptest.Eventually(t, "its tab is selected", func() bool {
		found := p.Find(t, shown(s.green))
		return len(found) > 0 && found[0].Properties["selected"] == "true"
	})
	p.Go(t, s.at(s.green, "logs"))
	p.AwaitText(t, mainPart, "Initializing Serena MCP server")
	if title := browsertest.Eval[string](t, p, "document.title"); !strings.Contains(title, "alpha") {
		t.Errorf("the title is %q", title)
	}
	p.Go(t, s.address+"#/4711000")
	p.AwaitText(t, everything, "no server 4711000")
}

// calls: what an assistant does is seen without loading the page again.
func (s *street) calls(t *testing.T, p *browsertest.Page) {
	p.Click(t, shown(s.green))
	says(t, p, "Tool Usage", "No call has succeeded yet")
	s.green.Call(t, "list_dir", map[string]any{"relative_path": ".", "recursive": false})
	says(t, p, "Tool Usage", "list_dir")
	says(t, p, "Last Execution", "Succeeded", "ListDirTool")
	p.Click(t, browsertest.Tab("Logs").In(mainPart))
	p.AwaitText(t, mainPart, "ListDirTool")
	s.green.Call(t, "read_file", map[string]any{"relative_path": "main.go"})
	p.AwaitText(t, mainPart, "ReadFileTool")
}

// work keeps the green one at work on a call until finish is called, or the
// test ends.
func (s *street) work(t *testing.T) (finish func()) {
	t.Helper()
	let := filepath.Join(t.TempDir(), "go on")
	answer := s.green.Begin(t, "execute_shell_command", map[string]any{"command": "until [ -e '" + let + "' ]; do sleep 0.05; done"})
	finish = sync.OnceFunc(func() {
		if err := os.WriteFile(let, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		answer(t)
	})
	t.Cleanup(finish)
	return finish
}

// queue: what runs and what waits is shown, and what waits can be cancelled.
func (s *street) queue(t *testing.T, p *browsertest.Page) {
	p.Go(t, s.at(s.green, ""))
	finish := s.work(t)
	says(t, p, "Executions Queue", "ExecuteShellCommandTool", "running")
	// Its answer is an error, because it is cancelled, and nobody waits for it.
	s.green.Begin(t, "list_dir", map[string]any{"relative_path": ".", "recursive": false})
	says(t, p, "Executions Queue", "ListDirTool", "waiting")
	p.Click(t, browsertest.Button("Cancel ListDirTool"))
	p.AwaitText(t, openDialog, "ListDirTool", "will not be started")
	choose(t, p, "Cancel it")
	p.AwaitText(t, everything, "has cancelled ListDirTool")
	p.AwaitNoThing(t, browsertest.Button("Cancel ListDirTool"))
	says(t, p, "Executions Queue", "ExecuteShellCommandTool")
	finish()
	says(t, p, "Executions Queue", "Nothing runs and nothing waits")
}

// lists: all lists are there, and what was counted can be reset.
func (s *street) lists(t *testing.T, p *browsertest.Page) {
	for _, heading := range []string{
		"Current Configuration", "Tool Usage", "Executions Queue", "Last Execution", "Registered Projects", "Active Tools",
		"Available Tools", "Available Modes", "Available Contexts", "Memories",
	} {
		p.AwaitThing(t, browsertest.Thing{Role: "heading", Name: heading, Within: mainPart})
	}
	says(t, p, "Current Configuration", "alpha", s.project, "desktop-app", "go", serenatest.Version)
	p.AwaitText(t, mainPart, "find_symbol") // of the active tools, which one looks at first
	for heading, has := range map[string]string{
		"Available Modes": "editing", "Available Contexts": "codex",
	} {
		p.Click(t, browsertest.Thing{Role: "heading", Name: heading, Within: mainPart})
		p.AwaitText(t, mainPart, has)
	}
	looks(t, p, "the lists")
	says(t, p, "Tool Usage", "list_dir")
	p.Click(t, browsertest.Button("Reset").In(mainPart))
	p.AwaitText(t, openDialog, "alpha", "are lost")
	choose(t, p, "Reset")
	says(t, p, "Tool Usage", "No call has succeeded yet")
}

// memories are read, edited, renamed and deleted in the page, and on the disk.
func (s *street) memories(t *testing.T, p *browsertest.Page) {
	file := func(name string) string { return filepath.Join(s.project, ".serena", "memories", name+".md") }
	p.Click(t, browsertest.Tab("Memories").In(mainPart))
	p.Click(t, browsertest.Button("lamps").In(mainPart))
	p.AwaitText(t, mainPart, "The lamps burn oil.")

	p.Click(t, browsertest.Button("Edit"))
	p.Fill(t, browsertest.Field("Content"), "The lamps burn <b>gas</b>.")
	p.Click(t, browsertest.Button("Save"))
	apptest.Eventually(t, "the memory is written", func() bool { return strings.TrimSpace(textOf(t, file("lamps"))) == "The lamps burn <b>gas</b>." })
	p.AwaitText(t, everything, "Saved lamps")
	p.AwaitText(t, mainPart, "The lamps burn <b>gas</b>.")

	p.Click(t, browsertest.Button("Rename"))
	p.Fill(t, browsertest.Field("New name").In(openDialog), "lanterns")
	choose(t, p, "Rename")
	apptest.Eventually(t, "the memory has its new name", func() bool { return isThere(file("lanterns")) })
	p.AwaitThing(t, browsertest.Button("lanterns").In(mainPart))

	p.Click(t, browsertest.Button("Delete"))
	p.AwaitText(t, openDialog, "lanterns")
	choose(t, p, "Delete")
	apptest.Eventually(t, "the memory is gone", func() bool {
		_, err := os.Stat(file("lanterns"))
		return errors.Is(err, fs.ErrNotExist)
	})
	p.AwaitNoThing(t, browsertest.Button("lanterns").In(mainPart))
}

// followed: a server turns green and red again on two open pages.
func (s *street) followed(t *testing.T, p *browsertest.Page) {
	second := s.open(t, s.address)
	second.AwaitText(t, mainPart, "suspended")
	p.Click(t, browsertest.Tab(s.redLabel()))
	p.AwaitText(t, mainPart, "suspended")
	s.red.Continue(t)
	for _, each := range []*browsertest.Page{p, second} {
		each.AwaitNoText(t, mainPart, "suspended")
	}
	p.AwaitText(t, mainPart, "live", "Current Configuration", serenatest.Version15)
	p.Click(t, browsertest.Tab("Logs").In(mainPart))
	p.AwaitText(t, mainPart, "Initializing Serena MCP server")
	if colour, _ := markOf(t, p, s.redLabel()); colour != "green" {
		t.Errorf("its mark is %s", colour)
	}
	s.red.Suspend(t)
	for _, each := range []*browsertest.Page{p, second} {
		each.AwaitText(t, mainPart, "suspended")
	}
}
