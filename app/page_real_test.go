//go:build real && linux

package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/serena/serenatest"
)

// asking is a home of Serena servers that register with a tray manager.
func (h *home) asking(t *testing.T) string {
	t.Helper()
	const settings = "language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nweb_dashboard_interface: tray_manager\nprojects: []\n"
	h.write(t, settings, "s", ".serena", "serena_config.yml")
	return h.path("s")
}

// knows waits until a server is listed.
func (h *home) knows(t *testing.T, s *serenatest.Server) {
	t.Helper()
	s.WaitReady(t)
	apptest.Eventually(t, fmt.Sprintf("the server with pid %d is listed", s.ServerPID), func() bool {
		in, found := h.listing(t)[s.ServerPID]
		return found && in.Port != nil
	})
}

// onlyPage checks that the page, and nothing else, was opened so often by
// itself. The order that it gives comes after all that went before.
func (h *home) onlyPage(t *testing.T, page string, byItself int, orders *int) {
	t.Helper()
	if code, _, errs := h.does(t, "open"); code != 0 {
		t.Fatalf("open: %d, %q", code, errs)
	}
	*orders++
	got := h.awaitOpened(t, byItself+*orders)
	if len(got) != byItself+*orders || strings.Count(strings.Join(got, " "), page) != len(got) {
		t.Errorf("opened %q, %d of them by order; want %d by itself", got, *orders, byItself)
	}
}

// Every Serena asks for its page by default. All of them together get one, and
// that is the global one, also when lamplighter starts again.
func TestServersThatAskOpenOnePage(t *testing.T) {
	h := newHome(t)
	port := freePort(t)
	page := pageAt(port)
	h.settings(t, portSetting(port))
	p := h.background(t)
	serves(t, page)
	home := h.asking(t)
	asks := func() *serenatest.Server {
		s := serenatest.Start(t, serenatest.Options{Home: home, Args: []string{"--open-web-dashboard", "true"}})
		h.knows(t, s)
		return s
	}
	orders := 0
	first := asks()
	apptest.Eventually(t, "the first gets a page", func() bool { return len(h.opened(t)) == 1 })
	h.onlyPage(t, page, 1, &orders)
	asks()
	h.onlyPage(t, page, 1, &orders)

	p.signal(t, syscall.SIGKILL)
	<-p.ended
	p = h.background(t)
	serves(t, page)
	apptest.Eventually(t, "servers can register", func() bool { return strings.Count(h.log(t), "Serena servers can register here") == 2 })
	first.Signal(t, syscall.SIGKILL)
	asks()
	h.onlyPage(t, page, 1, &orders)

	// Without the page it is as it was before there was one.
	p.signal(t, syscall.SIGTERM)
	<-p.ended
	h.background(t, "run", "--web-dashboard-global=false")
	apptest.Eventually(t, "servers can register", func() bool { return strings.Count(h.log(t), "Serena servers can register here") == 3 })
	last := asks()
	own := fmt.Sprintf("http://127.0.0.1:%d/dashboard/index.html", last.DashboardPort)
	apptest.Eventually(t, "it gets its own page", func() bool { got := h.opened(t); return got[len(got)-1] == own })
}

// The page opens with the first of several real servers, and once.
func TestThePageOpensWithTheFirstServer(t *testing.T) {
	h := newHome(t)
	port := freePort(t)
	page := pageAt(port)
	// Serena's own file says it, as users asked for.
	h.serenaSettings(t, "projects: []\nweb_dashboard_global_open_on_launch: true\n"+portSetting(port))
	p := h.background(t)
	serves(t, page)
	home := h.asking(t) // one that asks for its page is no second occasion
	orders := 0
	start := func(o serenatest.Options) *serenatest.Server {
		s := serenatest.Start(t, o)
		h.knows(t, s)
		return s
	}
	start(serenatest.Options{Project: serenatest.GoProject(t, "alpha")})
	apptest.Eventually(t, "it opens", func() bool { return len(h.opened(t)) == 1 })
	start(serenatest.Options{HTTP: true})
	h.onlyPage(t, page, 1, &orders)
	start(serenatest.Options{Home: home, Args: []string{"--open-web-dashboard", "true"}})
	h.onlyPage(t, page, 1, &orders)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		p.signal(t, s)
		<-p.ended
		p = h.background(t)
		serves(t, page)
		apptest.Eventually(t, "it knows them all", func() bool { return len(h.listing(t)) == 3 })
		h.onlyPage(t, page, 1, &orders)
	}
}

// One without a dashboard is shown on the page, by its id.
func TestOpenOfAServerWithoutADashboard(t *testing.T) {
	h := newHome(t)
	port := freePort(t)
	h.settings(t, portSetting(port))
	h.background(t)
	serves(t, pageAt(port))
	memory := serenatest.Start(t, serenatest.Options{Command: serenatest.Memory(t)})
	memory.Initialize(t)
	var id string
	apptest.Eventually(t, "it is listed", func() bool { id = h.listing(t)[memory.ServerPID].ID; return id != "" })
	want := pageAt(port) + "#/" + id
	if code, out, errs := h.does(t, "open", "memory"); code != 0 || out != want+"\n" {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	if got := h.awaitOpened(t, 1); len(got) != 1 || got[0] != want {
		t.Errorf("opened %q", got)
	}
}
