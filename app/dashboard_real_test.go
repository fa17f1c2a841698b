//go:build real && linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
	"lamplighter/monitor/serena/serenatest"
)

// page is the address of the global dashboard, as the background process tells
// it.
func (h *home) page(t *testing.T) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", h.socket())
		},
	}}
	var status struct{ Address string }
	apptest.Eventually(t, "the page is served", func() bool {
		resp, err := client.Get("http://lamplighter/global-dashboard/status")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK && json.NewDecoder(resp.Body).Decode(&status) == nil && status.Address != ""
	})
	return status.Address
}

// The selectors that the tests know. Everything else is found by its role and
// name, as people find it.
const (
	mainPart   = "#main"
	tabList    = "#tabs"
	notices    = "#notices"
	openDialog = "dialog[open]"
)

// street is what the tests of the page share: one lamplighter, one browser with
// one page, and three real Serena servers.
type street struct {
	*home
	run     *process
	browser *browsertest.Browser
	address string
	page    *browsertest.Page

	green, yellow, red *serenatest.Server
	project            string // directory of the green one
}

// shown is the tab of a server.
func shown(s *serenatest.Server) browsertest.Thing {
	return browsertest.Tab(strconv.Itoa(s.DashboardPort) + " - ")
}

// at is the address of a server's part of the page.
func (s *street) at(server *serenatest.Server, section string) string {
	address := s.address + "#/" + strconv.Itoa(server.DashboardPort)
	if section != "" {
		address += "/" + section
	}
	return address
}

// open opens a page. The browser itself logs an error for each answer that is one: of
// a server that hangs or is busy, of one that has just ended, and of one that is not
// found again yet.
func (s *street) open(t *testing.T, address string) *browsertest.Page {
	t.Helper()
	p := s.browser.Open(t, address, browsertest.Options{})
	for _, status := range []string{"504 (Gateway Timeout)", "502 (Bad Gateway)", "404 (Not Found)", "503 (Service Unavailable)"} {
		p.Forgive("the server responded with a status of " + status + " " + s.address + "instance/")
	}
	return p
}

// TestPage is the page's main job, in a real browser, with real servers. Its
// parts share them, and follow each other as in a user's day; the page is never
// loaded again unless a part says so.
func TestPage(t *testing.T) {
	h := newHome(t)
	run := h.background(t, "run")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it logged:\n%s", h.log(t))
		}
	})
	s := &street{home: h, run: run, browser: browsertest.Start(t), address: h.page(t)}
	s.page = s.open(t, s.address)
	s.page.Forgive("the server responded with a status of 409") // an order that is refused
	t.Run("nobody there", s.nobodyThere)
	s.start(t)
	failed := 0
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"three lamps", s.threeLamps},
		{"addresses and Back", s.addresses},
		{"two pages", s.twoPages},
		{"a tool call", s.toolCall},
		{"the queue", s.queue},
		{"memories", s.memories},
		{"lists and reset", s.listsAndReset},
		{"pin", s.pin},
		{"hidden", s.hidden},
		{"windows", s.windows},
		{"keyboard", s.keyboard},
		{"looks", s.looks},
		{"red and green", s.redAndGreen},
		{"a busy one", s.busyOne},
		{"stop", s.stop},
		{"restart", s.restart},
	} {
		if !t.Run(part.name, part.test) {
			failed++
		}
		if failed == 3 {
			t.Fatal("the other parts are left out, because each waits in vain for as long again")
		}
	}
}

// nobodyThere: the page teaches what to do.
func (s *street) nobodyThere(t *testing.T) {
	s.page.AwaitText(t, mainPart, "No servers yet", "Start your assistant")
	s.page.AwaitThing(t, browsertest.Tab("Overview"))
	s.page.Audit(t, "the empty page")
	s.page.Picture(t, "empty")
}

// start starts the servers while the page is open: the first one tells that one
// is enough.
func (s *street) start(t *testing.T) {
	s.project = serenatest.GoProject(t, "alpha")
	memory := filepath.Join(s.project, ".serena", "memories", "lamps.md")
	if err := errors.Join(os.MkdirAll(filepath.Dir(memory), 0o755), os.WriteFile(memory, []byte("The lamps burn oil.\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	tools := []string{"--agent-interface", "tools"}
	s.green = serenatest.Start(t, serenatest.Options{Project: s.project, Context: "desktop-app", Args: tools})
	s.green.WaitReady(t)
	s.page.AwaitThing(t, shown(s.green))
	s.yellow = serenatest.Start(t, serenatest.Options{HTTP: true})
	s.yellow.WaitReady(t) // of two that start at once, one may get no port for its dashboard
	s.red = serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "über_größe"), Args: tools})
	s.red.WaitReady(t)
	s.green.Initialize(t)
}

// threeLamps: colour, shape and words of each state, in tabs and overview.
func (s *street) threeLamps(t *testing.T) {
	p := s.page
	green, yellow, red := strconv.Itoa(s.green.DashboardPort)+" - alpha", strconv.Itoa(s.yellow.DashboardPort)+" - NO PROJECT", strconv.Itoa(s.red.DashboardPort)+" - über_größe"
	for _, label := range []string{green, yellow, red} {
		p.AwaitThing(t, browsertest.Tab(label))
	}
	p.AwaitText(t, mainPart, "live", "no project", "alpha", "über_größe", "NO PROJECT")
	s.red.Signal(t, syscall.SIGSTOP)
	p.AwaitText(t, mainPart, "suspended")
	p.AwaitText(t, "#header", "3 servers, 1 needs attention")
	for label, want := range map[string]struct{ state, colour string }{
		green:  {", live", "rgb(26, 127, 75)"},
		yellow: {", no project", "rgb(154, 103, 0)"},
		red:    {", suspended", "rgb(192, 54, 44)"},
	} {
		if tab := p.AwaitThing(t, browsertest.Tab(label)); !strings.Contains(tab.Name+" "+tab.Description, want.state) {
			t.Errorf("the tab %q (%q) does not say %q", tab.Name, tab.Description, want.state)
		}
		if colour := s.colour(t, label); colour != want.colour {
			t.Errorf("the mark of %s is %s, want %s", label, colour, want.colour)
		}
	}
	marks := browsertest.Eval[[]string](t, p, "[...document.querySelectorAll('#tabs .mark')].map(svg => svg.innerHTML)")
	if len(marks) != 3 || marks[0] == marks[1] || marks[1] == marks[2] || marks[0] == marks[2] {
		t.Errorf("the marks differ by colour alone: %q", marks)
	}
	p.Audit(t, "the overview")
	p.Picture(t, "overview")
}

// colour is that of the mark in the tab with a label.
func (s *street) colour(t *testing.T, label string) string {
	t.Helper()
	text, err := json.Marshal(label)
	if err != nil {
		t.Fatal(err)
	}
	return browsertest.Eval[string](t, s.page, `getComputedStyle([...document.querySelectorAll('#tabs [role=tab]')]
		.find(tab => tab.textContent.includes(`+string(text)+`)).querySelector('.mark')).color`)
}

// addresses: tabs are addresses, which can be opened directly, and Back works.
func (s *street) addresses(t *testing.T) {
	p := s.page
	p.Click(t, shown(s.green))
	p.AwaitText(t, mainPart, "Current Configuration", "Tool Usage", "Executions Queue", "Last Execution")
	p.Click(t, shown(s.yellow))
	p.Await(t, "the address tells the tab", "location.hash.startsWith('#/"+strconv.Itoa(s.yellow.DashboardPort)+"')")
	p.Back(t)
	p.Await(t, "Back goes to the tab before", "location.hash.startsWith('#/"+strconv.Itoa(s.green.DashboardPort)+"')")
	p.AwaitText(t, mainPart, "alpha")
	apptest.Eventually(t, "its tab is selected", func() bool {
		found := p.Find(t, shown(s.green))
		return len(found) > 0 && found[0].Properties["selected"] == "true"
	})
	p.Back(t)
	p.AwaitText(t, mainPart, "live", "NO PROJECT")

	other := s.open(t, s.at(s.green, "logs"))
	other.AwaitText(t, mainPart, "Initializing Serena MCP server")
	if title := browsertest.Eval[string](t, other, "document.title"); !strings.Contains(title, "alpha") {
		t.Errorf("the title is %q", title)
	}
	other.Audit(t, "the logs")
	other.Picture(t, "logs")
	other.Go(t, s.address+"#/4711000")
	other.AwaitText(t, "body", "no server 4711000")
}

// twoPages both follow what happens.
func (s *street) twoPages(t *testing.T) {
	second := s.open(t, s.address)
	second.AwaitText(t, mainPart, "suspended")
	s.red.Signal(t, syscall.SIGCONT)
	for _, p := range []*browsertest.Page{s.page, second} {
		p.AwaitNoText(t, mainPart, "suspended")
	}
	s.red.Signal(t, syscall.SIGSTOP)
	for _, p := range []*browsertest.Page{s.page, second} {
		p.AwaitText(t, mainPart, "suspended")
	}
}
