//go:build real && linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
	"lamplighter/monitor/programtest"
)

// porch stands in for start at login and the welcome behind the routes.
type porch struct {
	mu        sync.Mutex
	state     api.LoginState
	refusal   error         // of the switch
	hold      chan struct{} // nil: the switch does not wait
	show      bool
	unwritten bool // that it was closed cannot be noted
	orders    []bool
}

func (p *porch) Login() api.LoginState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

func (p *porch) SetLogin(_ context.Context, on bool, _ string) (api.LoginState, error) {
	p.mu.Lock()
	p.orders = append(p.orders, on)
	hold := p.hold
	p.mu.Unlock()
	if hold != nil {
		<-hold
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refusal != nil {
		return p.state, p.refusal
	}
	p.state.On, p.state.How = on, ""
	if on {
		p.state.How = "systemd user unit"
	}
	return p.state, nil
}

func (p *porch) Welcome() (show bool, installed string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.show, "hand"
}

func (p *porch) Dismiss() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unwritten {
		return errors.New("cannot write welcomed: no space left on device; make room")
	}
	p.show = false
	return nil
}

func (p *porch) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
}

// ordered are the orders to the switch so far.
func (p *porch) ordered() []bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]bool(nil), p.orders...)
}

const (
	welcomePart = ".welcome"
	oddVersion  = "0.1.0~dev+1137501a5c9f.with.a.name.that.is.longer.than.any.line.of.a.telephone.and.has.no.place.to.break"
)

var startAtLogin = browsertest.Thing{Role: "checkbox", Name: "Start at login"}

// roomy tells whether the switch of the welcome, where there is one, has a line of
// its own or shares it with what leaves it room.
const roomy = `(() => {
	const [login, clients] = ['.welcome .at-login', '.welcome-clients'].map((one) => document.querySelector(one)?.getBoundingClientRect())
	return !login || login.width >= 250 && (login.right <= clients.left || login.bottom <= clients.top)
})()`

// loginIs waits until a switch shows how start at login stands.
func loginIs(t *testing.T, p *browsertest.Page, within string, on bool) {
	t.Helper()
	want := "false"
	if on {
		want = "true"
	}
	p.Await(t, "start at login is shown as "+want, "document.querySelector('"+within+" .at-login input')?.checked === "+want+" && document.querySelector('"+within+" .at-login input').ariaDisabled !== 'true'")
}

// TestWelcomeOnThePage: the welcome says what is so, switches start at login and
// says where it cannot, leads to the clients, and goes for good.
func TestWelcomeOnThePage(t *testing.T) {
	c, o := newCloset(t), newOffice(t)
	door := &porch{show: true, state: api.LoginState{Can: true}}
	handler := func(version string) *httptest.Server {
		server := httptest.NewServer(api.Handler(api.Parts{
			Source: o, Policies: o, Setup: c.part, Login: door, Welcome: door, Version: version, Log: slog.New(slog.DiscardHandler),
		}))
		t.Cleanup(func() { // after the page, which would complain
			server.CloseClientConnections() // a stream does not end by itself
			server.Close()
		})
		return server
	}
	server, odd := handler("1.2.3-test"), handler(oddVersion)
	browser := browsertest.Start(t)
	open := func(t *testing.T, server *httptest.Server) *browsertest.Page {
		t.Helper()
		p := browser.Open(t, server.URL+"/global-dashboard/", browsertest.Options{})
		p.Forgive("the server responded with a status of 404") // nobody has recorded a history
		return p
	}
	p := open(t, server)
	focused := func(t *testing.T, want string) {
		t.Helper()
		apptest.Eventually(t, "the focus is on "+want, func() bool { return strings.HasPrefix(p.Focused(t), want) })
	}
	looksOf := func(t *testing.T, p *browsertest.Page, what string) {
		t.Helper()
		for look, options := range map[string]browsertest.Options{
			what: {}, what + " dark": {Dark: true}, what + " narrow": {Width: 390, Height: 844}, what + " narrow dark": {Width: 390, Height: 844, Dark: true},
			what + " wide": {Width: 1920, Height: 1080}, what + " low": {Width: 1280, Height: 500}, what + " half": {Width: 900, Height: 800},
		} {
			p.Look(t, options)
			p.Audit(t, look)
			p.Picture(t, look)
			if wide := p.WiderThanWindow(t); len(wide) != 0 {
				t.Errorf("%s: %q", look, wide)
			}
			if !browsertest.Eval[bool](t, p, roomy) {
				t.Errorf("%s: the switch in the welcome has no room", look)
			}
		}
		p.Look(t, browsertest.Options{})
	}
	looks := func(t *testing.T, what string) { t.Helper(); looksOf(t, p, what) }

	t.Run("shown above the servers", func(t *testing.T) {
		p.AwaitText(t, welcomePart, "Welcome to Lamplighter", "1.2.3-test", "4 run now", "It ends orphaned servers after 10 min and idle servers after 30 min", "proven to be gone",
			"sends nothing off this machine", "Off: you start it yourself after each login.", "clients start a Serena that does not run through Lamplighter yet.")
		p.AwaitText(t, mainPart, "24282 - alpha")
		loginIs(t, p, welcomePart, false)
		if got := p.Focused(t); strings.Contains(got, "welcome") || strings.Contains(got, "login") {
			t.Errorf("the focus was taken to %q", got)
		}
		p.Await(t, "the servers are in sight", "document.querySelector('.servers tbody tr').getBoundingClientRect().bottom < innerHeight")
		looks(t, "welcome")
	})
	t.Run("switched by the keyboard", func(t *testing.T) {
		hold := make(chan struct{})
		door.change(func() { door.hold = hold })
		p.Focus(t, startAtLogin.In(welcomePart))
		p.Press(t, " ")
		p.AwaitText(t, welcomePart, "Switching…")
		p.Press(t, " ") // which does nothing meanwhile
		focused(t, "checkbox Start at login")
		looks(t, "switching")
		door.change(func() { door.hold = nil })
		close(hold)
		loginIs(t, p, welcomePart, true)
		p.AwaitText(t, welcomePart, "By a systemd user unit.")
		p.Await(t, "a screen reader is told", "document.getElementById('announcer').textContent.includes('Start at login is on')")
		focused(t, "checkbox Start at login")
		if got := door.ordered(); len(got) != 1 || !got[0] {
			t.Errorf("it was ordered %v", got)
		}
		looks(t, "on")
	})
	t.Run("the same below the policies", func(t *testing.T) {
		p.Click(t, browsertest.Thing{Role: "DisclosureTriangle", Name: "Policies"})
		loginIs(t, p, ".policy-login", true)
		looks(t, "policies")
		p.Click(t, startAtLogin.In(".policy-login"))
		loginIs(t, p, ".policy-login", false)
		loginIs(t, p, welcomePart, false)
	})
	t.Run("refused", func(t *testing.T) {
		p.Forgive("the server responded with a status of 500")
		p.Forgive("the server responded with a status of 409")
		door.change(func() {
			door.refusal = errors.New("cannot write lamplighter.service: no space left on device; make room")
		})
		p.Click(t, startAtLogin.In(welcomePart))
		p.AwaitText(t, welcomePart+" .at-login-trouble", "Cannot write lamplighter.service: no space left on device; make room.")
		loginIs(t, p, welcomePart, false)
		focused(t, "checkbox Start at login")
		looks(t, "refused")
		door.change(func() {
			door.refusal = errors.Join(api.ErrLoginStays)
			door.state.Why = "Start at login is enabled for all users below /etc/systemd/user by " + strings.Repeat("a very long name of an administrator of this machine, ", 4) + "who alone can switch it off."
			door.state.Can, door.state.On, door.state.How = false, true, "systemd user unit"
		})
		p.Click(t, startAtLogin.In(welcomePart))
		p.AwaitText(t, welcomePart, "Start at login cannot be switched here.", "By a systemd user unit. Start at login is enabled for all users", "who alone can switch it off.")
		p.Await(t, "it says that it cannot be", "document.querySelector('.welcome .at-login input').ariaDisabled === 'true' && document.querySelector('.welcome .at-login input').checked")
		focused(t, "checkbox Start at login")
		before := len(door.ordered())
		p.Press(t, " ")
		browsertest.Eval[any](t, p, "void document.querySelector('.welcome .at-login input').click()")
		p.Settle(t)
		if now := len(door.ordered()); now != before {
			t.Errorf("%d orders, although it cannot be switched", now-before)
		}
		looks(t, "cannot")
	})
	t.Run("long words", func(t *testing.T) {
		other := open(t, odd)
		other.AwaitText(t, welcomePart, "who alone can switch it off.", oddVersion)
		looksOf(t, other, "long words")
	})
	t.Run("leads to the clients and back", func(t *testing.T) {
		door.change(func() {
			door.refusal, door.state = nil, api.LoginState{Can: true}
		})
		p.Click(t, browsertest.Thing{Role: "DisclosureTriangle", Name: "Policies"})
		p.Focus(t, browsertest.Link("Share servers among my clients…"))
		p.Press(t, kb.Enter)
		p.AwaitText(t, ".setup", "Clients", "Codex")
		focused(t, "heading Clients")
		p.Press(t, "g", "o")
		loginIs(t, p, welcomePart, false)
		p.AwaitText(t, welcomePart, "Off: you start it yourself")
	})
	t.Run("closed, which cannot be noted", func(t *testing.T) {
		door.change(func() { door.unwritten = true })
		p.Click(t, browsertest.Button("Close the welcome"))
		p.AwaitText(t, notices, "The welcome will be shown again. Cannot write welcomed: no space left on device; make room.")
		p.Await(t, "it is gone", "!document.querySelector('.welcome')")
		dismissAll(t, p)
		p.Go(t, server.URL+"/global-dashboard/?again")
		p.AwaitText(t, welcomePart, "Welcome to Lamplighter")
	})
	t.Run("closed for good by the keyboard", func(t *testing.T) {
		door.change(func() { door.unwritten = false })
		p.Focus(t, browsertest.Button("Close the welcome"))
		p.Press(t, kb.Enter)
		p.Await(t, "it is gone", "!document.querySelector('.welcome')")
		focused(t, "tabpanel ")
		apptest.Eventually(t, "that is noted", func() bool { show, _ := door.Welcome(); return !show })
		looks(t, "closed")
		p.Go(t, server.URL+"/global-dashboard/?once-more")
		p.AwaitText(t, mainPart, "24282 - alpha")
		p.Click(t, browsertest.Thing{Role: "DisclosureTriangle", Name: "Policies"})
		loginIs(t, p, ".policy-login", false)
		if browsertest.Eval[bool](t, p, "Boolean(document.querySelector('.welcome')) || performance.getEntriesByType('resource').some(one => one.name.endsWith('/welcomepanel.js'))") {
			t.Error("it is there once more")
		}
	})
	t.Run("no servers", func(t *testing.T) {
		door.change(func() { door.show = true })
		o.mu.Lock()
		o.instances = nil
		o.mu.Unlock()
		if err := o.change(func() {}); err != nil {
			t.Fatal(err)
		}
		p.Go(t, server.URL+"/global-dashboard/?empty")
		p.AwaitText(t, welcomePart, "None runs now; each appears here by itself.")
		p.AwaitText(t, mainPart, "No servers yet")
		looks(t, "no servers")
	})
}

// welcomes asks the routes whether the page is to welcome the user.
func welcomes(t *testing.T, page string) (show bool, installed string) {
	t.Helper()
	var answer struct {
		Show      bool
		Installed *string
	}
	if code, _, body := fetch(t, page+"welcome"); code != http.StatusOK || json.Unmarshal([]byte(body), &answer) != nil {
		t.Fatalf("%d %s", code, body)
	}
	if answer.Installed != nil {
		installed = *answer.Installed
	}
	return answer.Show, installed
}

// TestWelcomeAfterInstalling: whoever has installed the program is welcomed until
// the panel is closed, and its switch is what a login goes by. One that runs from
// where it was built welcomes nobody.
func TestWelcomeAfterInstalling(t *testing.T) {
	h := newHome(t)
	h.write(t, codexSettings, ".codex", "config.toml")
	if err := programtest.WriteFile(h.path("bin", "serena"), []byte("#!/bin/sh\n"), 0o700); err != nil { // only looked for
		t.Fatal(err)
	}
	from := h.background(t, "run")
	if show, installed := welcomes(t, h.page(t)); show || installed != "" {
		t.Errorf("one that was not installed: %v, %q", show, installed)
	}
	from.signal(t, syscall.SIGTERM)
	<-from.ended
	if code, out, errs := h.does(t, "install", "--no-start"); code != 0 {
		t.Fatalf("install: %d, %s%s", code, out, errs)
	}
	program, entry := h.path(".local", "bin", "lamplighter"), h.path(".config", "autostart", "lamplighter.desktop")
	if !isThere(entry) {
		t.Fatal("it does not start at login")
	}
	start := func() (*process, string) {
		run := h.startAs(t, program, "run")
		return run, h.page(t)
	}
	run, page := start()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it logged:\n%s", h.log(t))
		}
	})
	if show, installed := welcomes(t, page); !show || installed != "hand" {
		t.Errorf("one that was installed: %v, %q", show, installed)
	}
	p := browsertest.Start(t).Open(t, page, browsertest.Options{})
	p.AwaitText(t, welcomePart, "Welcome to Lamplighter", "1.2.3-test", "None runs now", "It ends orphaned servers after 10 min, and", "1 client starts a Serena that does not run through Lamplighter yet.")
	loginIs(t, p, welcomePart, true)
	p.Audit(t, "installed")
	p.Picture(t, "installed")

	p.Focus(t, startAtLogin.In(welcomePart))
	p.Press(t, " ")
	loginIs(t, p, welcomePart, false)
	p.AwaitText(t, welcomePart, "Off: you start it yourself after each login.")
	if isThere(entry) {
		t.Error("it is off, and the autostart entry is there")
	}
	p.Click(t, browsertest.Thing{Role: "DisclosureTriangle", Name: "Policies"})
	p.Click(t, startAtLogin.In(".policy-login"))
	loginIs(t, p, ".policy-login", true)
	loginIs(t, p, welcomePart, true)
	if !isThere(entry) {
		t.Error("it is on, and the autostart entry is not there")
	}

	p.Click(t, browsertest.Link("Share servers among my clients…"))
	p.AwaitText(t, ".setup", "Codex", "its Serena is not shared")
	p.Press(t, "g", "o")
	p.Click(t, browsertest.Button("Close the welcome"))
	apptest.Eventually(t, "it is noted that the welcome was closed", func() bool { return isThere(filepath.Join(h.state(), "welcomed")) })
	p.Await(t, "it is gone", "!document.querySelector('.welcome')")

	p.Forgive("net::ERR_") // while it starts again
	run.signal(t, syscall.SIGTERM)
	<-run.ended
	_, page = start()
	if show, installed := welcomes(t, page); show || installed != "hand" {
		t.Errorf("after it was closed: %v, %q", show, installed)
	}
	p.Go(t, page)
	p.AwaitText(t, mainPart, "No servers yet")
	p.Click(t, startAtLogin.In(".policy-login"))
	loginIs(t, p, ".policy-login", false)
	if isThere(entry) || browsertest.Eval[bool](t, p, "Boolean(document.querySelector('.welcome'))") {
		t.Error("the autostart entry or the welcome is there")
	}
}
