//go:build real && linux

package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
	"lamplighter/app/e2e"
	"lamplighter/monitor/programtest"
	"lamplighter/monitor/serena/serenatest"
	"lamplighter/tray/traytest"
)

// The selectors that the tests know. Everything else is found by its role and
// name, as people find it.
const (
	everything = "body"
	topPart    = "header"
	mainPart   = "main"
	tabList    = "nav [role=tablist]"
	openDialog = "dialog[open]"
)

// street is what all tests of the page share: an installed lamplighter in a home of
// its own, a browser, a panel, and one real Serena of each version: 2.1.0 is green, 1.7.0
// yellow, and 1.5.3 red.
type street struct {
	*e2e.Home
	t       *testing.T // of all: what is started for it stays until the last has ended
	address string
	run     *e2e.Process
	browser *browsertest.Browser
	panel   *traytest.Host
	item    string // of lamplighter in the panel
	label   string // of a server without a dashboard

	green, yellow, red *serenatest.Server
	project            string // directory of the green one
}

// TestPage has the tests of the page. They follow each other as in a user's days, and
// each of them can be run alone.
func TestPage(t *testing.T) {
	s := newStreet(t)
	t.Run("the first day", s.firstDay)
	s.nextDay(t)
	for _, each := range []struct {
		name string
		test func(*testing.T)
	}{
		{"three servers", s.threeServers},
		{"names are text", s.namesAreText},
		{"workspaces", s.workspaces},
		{"pages of others", s.pagesOfOthers},
		{"the menu opens the page", s.menuOpensThePage},
		{"nobody looks", s.nobodyLooks},
		{"away and back", s.awayAndBack},
		{"orders", s.orders},
	} {
		t.Run(each.name, each.test)
	}
}

// newStreet installs lamplighter where clients have settings, and starts it.
func newStreet(t *testing.T) *street {
	h := e2e.NewHome(t)
	s := &street{Home: h, t: t, browser: browsertest.Start(t)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it logged:\n%s", h.Log(t))
		}
	})
	port := apptest.FreePort(t)
	s.address = e2e.PageAt(port)
	h.Settings(t, e2e.AcmeRule+e2e.PortSetting(port)+fmt.Sprintf("session_port: %d\nweb_dashboard_global_open_on_launch: true\n", apptest.FreePort(t)))
	h.Write(t, codexSettings, ".codex", "config.toml")
	h.Write(t, claudeSettings, ".claude.json")
	git, err := exec.LookPath("git")
	if err == nil {
		err = os.Symlink(git, h.Path("bin", "git"))
	}
	err = errors.Join(err, programtest.WriteFile(h.Path("bin", "serena"), []byte("#!/bin/sh\n"), 0o700)) // only looked for
	if err != nil {
		t.Fatal(err)
	}
	if code, out, errs := h.Does(t, "install", "--no-start"); code != 0 {
		t.Fatalf("install: %d, %s%s", code, out, errs)
	}
	bus, _ := traytest.StartBus(t)
	h.Env = append(h.Env, "DBUS_SESSION_BUS_ADDRESS="+bus)
	s.panel = traytest.NewHost(t, bus)
	s.panel.Appear(t)
	s.begin(t)
	return s
}

// begin starts lamplighter, and waits until it has looked for servers.
func (s *street) begin(t *testing.T) {
	t.Helper()
	s.run = s.StartAs(s.t, s.Path(".local", "bin", "lamplighter"), "run")
	apptest.Eventually(t, "it has looked for servers", func() bool {
		if !s.run.Running() {
			t.Fatalf("it has ended: %s", s.run.Err.String())
		}
		return s.Health(t).Ready
	})
	e2e.Serves(t, s.address)
	s.item = s.panel.AwaitItem(t)
}

// nextDay is the next start. Three servers come while the page is open, and the
// global dashboard has opened by itself with the first one of all, once.
func (s *street) nextDay(t *testing.T) {
	s.run.Signal(t, syscall.SIGTERM)
	s.run.Status(t)
	s.begin(t)
	if got := s.Opened(t); len(got) != 0 {
		t.Fatalf("opened %q without a server", got)
	}
	s.label = s.Acme(t)
	if got := s.AwaitOpened(t, 1); !slices.Equal(got, []string{s.address}) {
		t.Errorf("opened %q", got)
	}
	p := s.open(t, s.address)
	p.AwaitThing(t, browsertest.Tab("acme"))
	// Who has closed the welcome on the first day sees it no more.
	closed := isThere(filepath.Join(s.State(), "welcomed"))
	if _, _, body := e2e.Fetch(t, s.address+"welcome"); strings.Contains(body, `"show":true`) == closed {
		t.Errorf("the welcome was closed: %v, and now it is %s", closed, body)
	}
	if closed {
		p.AwaitNoText(t, mainPart, "Welcome to Lamplighter")
	}

	s.project = serenatest.GoProject(t, "alpha")
	put(t, filepath.Join(s.project, ".serena", "memories", "lamps.md"), "The lamps burn oil.\n")
	// It asks for its page as Serenas do, which is no second occasion.
	home := t.TempDir()
	put(t, filepath.Join(home, ".serena", "serena_config.yml"), "language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nweb_dashboard_interface: tray_manager\nprojects: []\n")
	s.green = serenatest.Start(t, serenatest.Options{Project: s.project, Home: home, Context: "desktop-app", Args: []string{"--open-web-dashboard", "true"}})
	s.green.WaitReady(t)
	p.AwaitThing(t, shown(s.green))
	s.green.Initialize(t)
	s.yellow = serenatest.Start(t, serenatest.Options{Version: serenatest.Version17, HTTP: true})
	s.yellow.WaitReady(t) // of two that start at once, one may get no port for its dashboard
	p.AwaitThing(t, shown(s.yellow))
	project := serenatest.GoProject(t, "über_größe")
	put(t, filepath.Join(project, ".serena", "project.yml"), "project_name: über_größe\nlanguages: []\n")
	s.red = serenatest.Start(t, serenatest.Options{Version: serenatest.Version15, Project: project})
	s.red.WaitReady(t)
	p.AwaitThing(t, browsertest.Tab(s.redLabel()))
	apptest.Eventually(t, "its calls are counted", func() bool { // suspended, it would not tell any more
		var list struct {
			Instances []struct {
				PID   int
				Calls *int `json:"tool_calls"`
			}
		}
		_, _, body := e2e.Fetch(t, s.address+"instances")
		err := json.Unmarshal([]byte(body), &list)
		for _, in := range list.Instances {
			if in.PID == s.red.ServerPID {
				return err == nil && in.Calls != nil
			}
		}
		return false
	})
	s.red.Suspend(t)
	p.AwaitText(t, mainPart, "suspended")
	p.Go(t, "about:blank") // it stays open until all tests have ended
}

func (s *street) greenLabel() string  { return strconv.Itoa(s.green.ServerPID) + " - alpha" }
func (s *street) yellowLabel() string { return strconv.Itoa(s.yellow.ServerPID) + " - NO PROJECT" }
func (s *street) redLabel() string    { return strconv.Itoa(s.red.ServerPID) + " - über_größe" }

// shown is the tab of a server.
func shown(s *serenatest.Server) browsertest.Thing {
	return browsertest.Tab(strconv.Itoa(s.ServerPID) + " - ")
}

// at is the address of a server's part of the page.
func (s *street) at(server *serenatest.Server, section string) string {
	address := s.address + "#/" + strconv.Itoa(server.ServerPID)
	if section != "" {
		address += "/" + section
	}
	return address
}

// open opens a page. The browser itself logs an error for each answer that is one: of
// a server that hangs or is busy, of one that has just ended, of one that is not
// found again yet, and of an order that is refused.
func (s *street) open(t *testing.T, address string) *browsertest.Page {
	t.Helper()
	p := s.browser.Open(t, address, browsertest.Options{})
	for _, status := range []string{"504 (Gateway Timeout)", "502 (Bad Gateway)", "404 (Not Found)", "503 (Service Unavailable)", "409 (Conflict)"} {
		p.Forgive("the server responded with a status of " + status + " " + s.address + "instance/")
	}
	return p
}

// looks: the page as it is now can be read and is not too wide, in two looks that
// differ in all.
func looks(t *testing.T, p *browsertest.Page, what string) {
	t.Helper()
	for _, look := range []struct {
		name    string
		options browsertest.Options
	}{
		{"light and wide", browsertest.Options{Width: 1920, Height: 1080}},
		{"dark and narrow", browsertest.Options{Width: 390, Height: 844, Dark: true, ReducedMotion: true}},
	} {
		name := what + ", " + look.name
		p.Look(t, look.options)
		p.Audit(t, name)
		p.Picture(t, name)
		if wide := p.WiderThanWindow(t); len(wide) != 0 {
			t.Errorf("%s: %q", name, wide)
		}
		if look.options.ReducedMotion && browsertest.Eval[int](t, p, "document.getAnimations().filter(one => one.playState === 'running').length") != 0 {
			t.Errorf("%s: something moves where motion is not wanted", name)
		}
	}
	p.Look(t, browsertest.Options{})
}

// says waits until a part of an instance, which is found by its heading, has all the
// words.
func says(t *testing.T, p *browsertest.Page, heading string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		p.Await(t, heading+" says "+strconv.Quote(part), fmt.Sprintf(
			"[...document.querySelectorAll('main h2')].find(one => one.checkVisibility() && one.textContent === %q).closest('section').innerText.includes(%q)", heading, part))
	}
}

// choose answers a question.
func choose(t *testing.T, p *browsertest.Page, answer string) {
	t.Helper()
	p.Click(t, browsertest.Button(answer).In(openDialog))
}

// press presses a button by the keyboard, wherever it moves meanwhile.
func press(t *testing.T, p *browsertest.Page, button string) {
	t.Helper()
	p.Focus(t, browsertest.Button(button).In(mainPart))
	p.Press(t, kb.Enter)
}

func noDialog(t *testing.T, p *browsertest.Page) {
	t.Helper()
	p.AwaitNoThing(t, browsertest.Thing{Role: "dialog"})
}

func focused(t *testing.T, p *browsertest.Page, want string) {
	t.Helper()
	apptest.Eventually(t, "the focus is on "+want, func() bool { return strings.HasPrefix(p.Focused(t), want) })
}

// dismissAll takes all notices away. Some may go by themselves meanwhile.
func dismissAll(t *testing.T, p *browsertest.Page) {
	t.Helper()
	p.Await(t, "no notice is left", `(all => (all.forEach(one => one.click()), all.length === 0))([...document.querySelectorAll('[role=status] [aria-label="Dismiss"]')])`)
}

// stays marks a page, and returns what checks that it was not loaded again since.
func stays(t *testing.T, p *browsertest.Page) (still func()) {
	browsertest.Eval[any](t, p, "void (window.since = 'the page was not loaded again')")
	return func() {
		t.Helper()
		p.Await(t, "it is still the same page", "window.since")
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
