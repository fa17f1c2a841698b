//go:build real && linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"lamplighter/app/browsertest"
	"lamplighter/monitor/serena/serenatest"
)

// says waits until a part of an instance, which is found by its heading, has
// all the words.
func (s *street) says(t *testing.T, heading string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		s.page.Await(t, heading+" says "+strconv.Quote(part), fmt.Sprintf(
			"[...document.querySelectorAll('#main .section')].find(one => one.checkVisibility() && one.querySelector('h2').textContent === %q).innerText.includes(%q)", heading, part))
	}
}

// toolCall: what an assistant does is seen without loading the page again.
func (s *street) toolCall(t *testing.T) {
	p := s.page
	browsertest.Eval[any](t, p, "void (window.since = 'the page was not loaded again')")
	p.Click(t, shown(s.green))
	p.AwaitText(t, mainPart, "Tool Usage", "Last Execution")
	s.says(t, "Tool Usage", "No call has succeeded yet")
	s.green.Call(t, "find_symbol", map[string]any{"name_path_pattern": "greet"})
	s.says(t, "Tool Usage", "find_symbol")
	s.says(t, "Last Execution", "Succeeded", "FindSymbolTool")
	p.Picture(t, "instance")
	p.Click(t, browsertest.Tab("Logs"))
	p.AwaitText(t, mainPart, "FindSymbolTool")
	s.green.Call(t, "list_dir", map[string]any{"relative_path": ".", "recursive": false})
	p.AwaitText(t, mainPart, "ListDirTool")
	p.Await(t, "it is still the same page", "window.since")
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
func (s *street) queue(t *testing.T) {
	p := s.page
	p.Go(t, s.at(s.green, ""))
	finish := s.work(t)
	s.says(t, "Executions Queue", "ExecuteShellCommandTool", "running")
	// Its answer is an error, because it is cancelled, and nobody waits for it.
	s.green.Begin(t, "list_dir", map[string]any{"relative_path": ".", "recursive": false})
	s.says(t, "Executions Queue", "ListDirTool", "waiting")
	p.Picture(t, "queue")
	p.Click(t, browsertest.Button("Cancel ListDirTool"))
	p.AwaitText(t, openDialog, "ListDirTool", "will not be started")
	p.Click(t, browsertest.Button("Cancel it").In(openDialog))
	p.AwaitText(t, notices, "has cancelled ListDirTool")
	p.AwaitNoThing(t, browsertest.Button("Cancel ListDirTool"))
	s.says(t, "Executions Queue", "ExecuteShellCommandTool")
	finish()
	s.says(t, "Executions Queue", "Nothing runs and nothing waits")
}

// listsAndReset: the lists are there, and what was counted can be reset.
func (s *street) listsAndReset(t *testing.T) {
	p := s.page
	p.Go(t, s.at(s.green, ""))
	for _, heading := range []string{
		"Current Configuration", "Tool Usage", "Executions Queue", "Last Execution", "Registered Projects", "Active Tools",
		"Available Tools", "Available Modes", "Available Contexts", "Language Servers", "Memories",
	} {
		p.AwaitThing(t, browsertest.Thing{Role: "heading", Name: heading, Within: mainPart})
	}
	s.says(t, "Current Configuration", "alpha", s.project, "desktop-app", "go", serenatest.Version)
	for heading, has := range map[string]string{
		"Registered Projects": s.project, "Active Tools": "find_symbol", "Available Modes": "editing", "Available Contexts": "codex", "Language Servers": "Remove",
	} {
		p.Click(t, browsertest.Thing{Role: "heading", Name: heading, Within: mainPart})
		p.AwaitText(t, mainPart, has)
	}
	p.Picture(t, "lists")
	p.Audit(t, "the lists")

	s.says(t, "Tool Usage", "find_symbol")
	p.Click(t, browsertest.Button("Reset").In(mainPart))
	p.AwaitText(t, openDialog, "alpha", "are lost")
	p.Click(t, browsertest.Button("Reset").In(openDialog))
	s.says(t, "Tool Usage", "No call has succeeded yet")
}

// pin: the page asks, and the command line agrees.
func (s *street) pin(t *testing.T) {
	p := s.page
	p.Go(t, s.at(s.green, ""))
	for _, does := range []struct{ now, then, want string }{{"Pin", "Unpin", "true"}, {"Unpin", "Pin", "false"}} {
		want := does.want
		p.Click(t, browsertest.Button(does.now).In(mainPart))
		p.AwaitThing(t, browsertest.Button(does.then).In(mainPart))
		p.Await(t, "the model says "+want, "fetch('/global-dashboard/instances').then(r => r.json()).then(all => all.instances.find(one => one.port === "+
			strconv.Itoa(s.green.DashboardPort)+").pinned === "+want+")")
	}
}
