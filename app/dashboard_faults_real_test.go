//go:build real && linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
	"lamplighter/monitor/programtest"
	"lamplighter/monitor/serena/serenatest"
)

// hidden: a page that nobody sees asks nothing, and is up to date when it is
// shown again.
func (s *street) hidden(t *testing.T) {
	p := s.open(t, s.at(s.green, ""))
	p.AwaitText(t, mainPart, "Tool Usage", "Last Execution")
	p.Hide(t)
	// A second page tells when it would have asked.
	before := len(p.Traffic())
	other := s.open(t, s.at(s.green, ""))
	other.AwaitText(t, mainPart, "Tool Usage", "Last Execution")
	started := len(other.Traffic())
	s.red.Signal(t, syscall.SIGCONT)
	apptest.Eventually(t, "the other page has asked again and again", func() bool { return len(other.Traffic()) >= started+3 })
	if asked := p.Traffic()[before:]; len(asked) != 0 {
		t.Errorf("it asked while it was hidden:\n%v", asked)
	}
	if !browsertest.Eval[bool](t, p, "document.querySelector('#tabs').textContent.includes('suspended')") {
		t.Error("it took in a change while it was hidden")
	}
	p.Show(t)
	p.AwaitNoText(t, "#tabs", "suspended")
	apptest.Eventually(t, "it asks again", func() bool { return len(p.Traffic()) > before })
	s.red.Signal(t, syscall.SIGSTOP)
}

// windows: where others hold all the places for streams, a window looks every few
// seconds, and follows again as soon as a place is free.
func (s *street) windows(t *testing.T) {
	p := s.open(t, s.address)
	p.AwaitText(t, "#header", "Connected")
	p.Hide(t)
	browsertest.Eval[any](t, p, `Promise.all([0, 1, 2].map(n => new Promise(taken =>
		void navigator.locks.request('lamplighter-stream-' + n, () => new Promise(leave => { (window.leave ??= []).push(leave); taken(null) })))))`)
	p.Show(t)
	p.AwaitText(t, "#header", "Connected, looking every 5 s")
	s.red.Signal(t, syscall.SIGCONT)
	p.AwaitNoText(t, "#tabs", "suspended")
	s.red.Signal(t, syscall.SIGSTOP)
	p.AwaitText(t, mainPart, "suspended")
	browsertest.Eval[any](t, p, "void window.leave.forEach(leave => leave())")
	p.AwaitNoText(t, "#header", "looking every")
	p.AwaitText(t, "#header", "Connected")

	asked := func() int { return len(p.Traffic().Of("/events?")) }
	if n := asked(); n != 0 {
		t.Errorf("it asked %d times for events that nobody sees", n)
	}
	p.Click(t, browsertest.Thing{Role: "heading", Name: "Events", Within: mainPart})
	p.AwaitText(t, mainPart, "Needs attention", "Project activated")
	p.Audit(t, "the events of all")
	p.Picture(t, "events of all")
	if asked() == 0 {
		t.Error("it did not ask for the events that it shows")
	}
}

// restart: the page says that lamplighter is away, and goes on by itself.
func (s *street) restart(t *testing.T) {
	p := s.page
	p.Forgive("net::ERR_") // the browser itself logs what it cannot reach
	p.Go(t, s.at(s.green, ""))
	p.AwaitText(t, mainPart, "Tool Usage")
	browsertest.Eval[any](t, p, "void (window.since = 'the page was not loaded again')")
	s.run.signal(t, syscall.SIGTERM)
	s.run.status(t)
	p.AwaitText(t, "body", "does not answer")
	p.Picture(t, "lost")
	p.Audit(t, "the page without lamplighter")
	s.run = s.background(t, "run")
	p.AwaitNoText(t, "body", "does not answer")
	p.AwaitText(t, mainPart, "live")
	s.green.Call(t, "list_dir", map[string]any{"relative_path": ".", "recursive": false})
	p.AwaitText(t, mainPart, "ListDirTool")
	p.Await(t, "it is still the same page", "window.since")
}

// The names of projects that somebody might have.
var names = []string{
	`<script>document.title = 'broken'</script><img src=x onerror="document.title='broken'">`,
	"الفوانيس القديمة",
	"街の灯り 🏮",
	strings.Repeat("a very long name ", 12),
}

// TestPageShowsNamesAsText: foreign text is text, and nothing runs into
// anything.
func TestPageShowsNamesAsText(t *testing.T) {
	h := newHome(t)
	h.background(t, "run")
	servers := make([]*serenatest.Server, len(names))
	for i, name := range names {
		project := serenatest.GoProject(t, fmt.Sprint("project", i))
		settings := filepath.Join(project, ".serena", "project.yml")
		text := fmt.Sprintf("project_name: %q\nlanguages: []\n", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(settings), 0o755), os.WriteFile(settings, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		servers[i] = serenatest.Start(t, serenatest.Options{Project: project, Args: []string{"--agent-interface", "tools"}})
		servers[i].WaitReady(t)
	}
	browser := browsertest.Start(t)
	address := h.page(t)
	p := browser.Open(t, address, browsertest.Options{})
	p.Forgive("the server responded with a status of 504") // one of them may be busy
	for i, name := range names {
		label := strings.TrimSpace(name)
		p.Await(t, "the name is text", fmt.Sprintf("document.querySelector('#main').textContent.includes(%q)", label))
		p.Go(t, address+"#/"+strconv.Itoa(servers[i].DashboardPort))
		p.AwaitText(t, mainPart, "Current Configuration")
		p.Await(t, "the name is text in its own part", fmt.Sprintf("document.querySelector('#main').textContent.includes(%q)", label))
		p.Picture(t, fmt.Sprint("name", i))
		p.Audit(t, "a strange name")
		p.Go(t, address)
	}
	for _, width := range []int{1280, 390} {
		p.Look(t, browsertest.Options{Width: width, Height: 800})
		p.AwaitText(t, mainPart, "live")
		if wide := p.WiderThanWindow(t); len(wide) != 0 {
			t.Errorf("%d wide: %q", width, wide)
		}
		p.Picture(t, fmt.Sprint("names", width))
	}
	if title := browsertest.Eval[string](t, p, "document.title"); strings.Contains(title, "broken") || browsertest.Eval[int](t, p, "document.querySelectorAll('[src=x], main script').length") != 0 {
		t.Errorf("a name was taken for markup; the title is %q", title)
	}
}

// crowd is how many servers there are in the test of many.
const crowd = 40

// TestPageOfMany: 40 servers have 40 tabs, and the selected one stays in view.
func TestPageOfMany(t *testing.T) {
	h := newHome(t)
	h.write(t, "servers:\n  - name: lamp\n    program: lamp-post\n    arguments: [mcp, serve]\n", ".config", "lamplighter", "config.yaml")
	// A shell under another name, which waits for its client to end.
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	program := h.path("bin", "lamp-post")
	if err := errors.Join(programtest.WriteFile(program, shell, 0o755), os.WriteFile(h.path("mcp"), []byte("read line\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	h.background(t, "run")
	browser := browsertest.Start(t)
	address := h.page(t)
	p := browser.Open(t, address, browsertest.Options{})
	p.AwaitText(t, mainPart, "No servers yet")
	var last *serenatest.Server
	for range crowd {
		last = serenatest.Start(t, serenatest.Options{Command: []string{program, "mcp", "serve"}, Project: h.dir})
	}
	tabs := "document.querySelectorAll('#tabs [role=tab]').length"
	p.Await(t, "all have a tab", fmt.Sprintf("%s === %d", tabs, crowd+1))
	p.AwaitText(t, "#header", "40 servers")
	p.Audit(t, "the overview of many")
	p.Picture(t, "many")
	p.Go(t, address+"#/"+strconv.Itoa(last.PID))
	p.AwaitText(t, mainPart, "lamp")
	p.Await(t, "the selected tab is in view", `(() => {
		const tab = document.querySelector('#tabs [aria-selected=true]').getBoundingClientRect()
		return tab.left >= 0 && tab.right <= innerWidth && tab.width > 0
	})()`)
	p.Audit(t, "a server without a dashboard")
	p.Picture(t, "one-of-many")
	if wide := p.WiderThanWindow(t); len(wide) != 0 {
		t.Errorf("too wide: %q", wide)
	}
	// They leave one by one, while somebody looks.
	p.Go(t, address)
	if err := last.Stdin.Close(); err != nil {
		t.Fatal(err)
	}
	p.AwaitText(t, "#header", "39 servers")
}
