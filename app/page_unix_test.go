//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

// pageAt is the address of the page on a port.
func pageAt(port int) string { return fmt.Sprintf("http://127.0.0.1:%d/global-dashboard/", port) }

// holdPort takes a port of the loopback interface, so that nobody else gets it
// until release.
func holdPort(t *testing.T) (port int, release func()) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port, func() { l.Close() }
}

// ownPort is the port that was handed out last. The system gives none from this
// range to anybody by itself.
var ownPort atomic.Int32

// freePort is a port that no other test has.
func freePort(t testing.TB) int {
	t.Helper()
	ownPort.CompareAndSwap(0, 19000)
	for range 1000 {
		port := int(ownPort.Add(1))
		if l, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// fetch asks as curl does. A port that nobody serves gives status 0.
func fetch(t *testing.T, address string) (status int, header http.Header, body string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err != nil {
		return 0, nil, ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, ""
	}
	return resp.StatusCode, resp.Header, string(text)
}

// serves waits until the page is at an address.
func serves(t *testing.T, address string) {
	t.Helper()
	apptest.Eventually(t, "the page is at "+address, func() bool {
		status, _, body := fetch(t, address)
		return status == http.StatusOK && strings.Contains(body, `id="main"`)
	})
}

// tellsOfServers waits until the page tells of the servers, and returns what: it is
// there before the first look for them.
func tellsOfServers(t *testing.T, page string) (body string) {
	t.Helper()
	apptest.Eventually(t, "it has looked for servers", func() bool {
		var status int
		status, _, body = fetch(t, page+"instances")
		return status == http.StatusOK
	})
	return body
}

// leaves waits until nobody serves an address any more.
func leaves(t *testing.T, address string) {
	t.Helper()
	apptest.Eventually(t, "the page has left "+address, func() bool { status, _, _ := fetch(t, address); return status == 0 })
}

// settings writes our own settings file.
func (h *home) settings(t *testing.T, text string) {
	t.Helper()
	h.write(t, text, ".config", "lamplighter", "config.yaml")
}

// serenaSettings writes Serena's.
func (h *home) serenaSettings(t *testing.T, text string) {
	t.Helper()
	h.write(t, text, ".serena", "serena_config.yml")
}

// opened are the addresses that the browser was asked to open.
func (h *home) opened(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(h.path("opened"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// awaitOpened is opened, once it is that many: who orders one does not wait for a
// browser that takes long to start.
func (h *home) awaitOpened(t *testing.T, many int) []string {
	t.Helper()
	apptest.Eventually(t, fmt.Sprintf("%d opened", many), func() bool { return len(h.opened(t)) >= many })
	return h.opened(t)
}

func portSetting(port int) string { return "web_dashboard_global_port: " + strconv.Itoa(port) + "\n" }

func TestThePageIsServedAndOpened(t *testing.T) {
	h := newHome(t)
	page := pageAt(freePort(t))
	port := strings.Split(strings.TrimPrefix(page, "http://127.0.0.1:"), "/")[0]
	h.background(t, "run", "--web-dashboard-global-port", port)
	serves(t, page)
	serves(t, page+"index.html")
	_, header, _ := fetch(t, page)
	apptest.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'", "frame-ancestors 'none'")
	var status struct {
		Address  string
		Warnings []string
		Version  string
	}
	if code, _, body := fetch(t, page+"status"); code != http.StatusOK || json.Unmarshal([]byte(body), &status) != nil || status.Address != page || len(status.Warnings) > 0 {
		t.Errorf("%d %+v", code, status)
	}
	if body := tellsOfServers(t, page); !strings.HasPrefix(body, `{"instances":[`) {
		t.Error(body)
	}

	// By open, and by a second start.
	if code, out, errs := h.does(t, "open"); code != 0 || out != page+"\n" || errs != "" {
		t.Errorf("open: %d, %q, %q", code, out, errs)
	}
	code, _, errs := h.does(t)
	if code != 0 {
		t.Errorf("a second start: %d", code)
	}
	apptest.Contains(t, errs, "it already runs", "opened "+page)
	if got := h.awaitOpened(t, 2); !slices.Equal(got, []string{page, page}) {
		t.Errorf("opened %q", got)
	}
}

func TestOpenWithoutABackgroundProcess(t *testing.T) {
	h := newHome(t)
	code, out, errs := h.does(t, "open")
	if code != 69 || out != "" || len(h.opened(t)) > 0 {
		t.Errorf("%d, %q", code, out)
	}
	apptest.Contains(t, errs, "open: the background process cannot be reached", "start lamplighter for the global dashboard")
}

// The next port will do when another program has ours, and everywhere it is
// said which and why.
func TestThePortIsTaken(t *testing.T) {
	h := newHome(t)
	port, release := holdPort(t)
	h.settings(t, portSetting(port))
	h.background(t)
	var said string
	apptest.Eventually(t, "status says so", func() bool {
		_, _, said = h.does(t, "status")
		return strings.Contains(said, "; the global dashboard is at ")
	})
	apptest.Contains(t, said, fmt.Sprintf("port %d was taken by ", port), fmt.Sprintf(" (pid %d); the global dashboard is at ", os.Getpid()))
	_, page, _ := strings.Cut(strings.TrimSpace(said), "; the global dashboard is at ")
	if page == pageAt(port) {
		t.Fatalf("it is at %s", page)
	}
	serves(t, page)
	if code, out, errs := h.does(t, "open"); code != 0 || out != page+"\n" {
		t.Errorf("open: %d, %q, %q", code, out, errs)
	}
	apptest.Eventually(t, "the log has it", func() bool { return strings.Contains(h.log(t), fmt.Sprintf("port %d was taken by", port)) })
	// With another setting all is well again.
	release()
	next := freePort(t)
	h.settings(t, portSetting(next))
	serves(t, pageAt(next))
	apptest.Eventually(t, "nothing is said any more", func() bool { _, _, errs := h.does(t, "status"); return errs == "" })
}

// Each place may say it, the flag before our file before Serena's, and changes
// count at once.
func TestSettingsOfThePage(t *testing.T) {
	h := newHome(t)
	ours, serenas, flag := freePort(t), freePort(t), freePort(t)
	h.serenaSettings(t, "projects: []\n"+portSetting(serenas)+"web_dashboard_global: true\n")
	p := h.background(t)
	serves(t, pageAt(serenas))

	h.settings(t, portSetting(ours))
	serves(t, pageAt(ours))
	leaves(t, pageAt(serenas))

	h.serenaSettings(t, "web_dashboard_global: false\n")
	leaves(t, pageAt(ours))
	code, out, errs := h.does(t, "open")
	if code != 1 || out != "" {
		t.Errorf("open where it is not served: %d, %q", code, out)
	}
	apptest.Contains(t, errs, "no server with a dashboard is running")
	h.settings(t, portSetting(ours)+"web_dashboard_global: true\n")
	serves(t, pageAt(ours))

	// What is wrong in Serena's file is said with its line, and stays as it was;
	// the rest of it counts.
	h.settings(t, "web_dashboard_global: true\n")
	h.serenaSettings(t, portSetting(serenas)+"web_dashboard_global: sometimes\n")
	serves(t, pageAt(serenas))
	file := h.path(".serena", "serena_config.yml")
	says := func(what string) {
		t.Helper()
		apptest.Eventually(t, what, func() bool {
			_, _, errs := h.does(t, "status")
			return strings.Contains(errs, "settings in Serena's file: "+file+what) && strings.Contains(errs, "the last good settings stay")
		})
	}
	says(`:2: web_dashboard_global: "sometimes" is not one of true, false`)
	h.settings(t, "")
	leaves(t, pageAt(serenas))
	// A typo anywhere in it undoes nothing, least of all that the port is shut.
	h.serenaSettings(t, "web_dashboard_global: true\nprojects: [\n")
	says(":2: ")
	h.settings(t, "web_dashboard_global: true\n")
	serves(t, pageAt(serenas))
	h.settings(t, "")
	leaves(t, pageAt(serenas))
	// One that says nothing to us is as broken as it likes.
	h.serenaSettings(t, "projects: [\n")
	serves(t, pageAt(25282))
	apptest.Eventually(t, "nothing is said any more", func() bool { _, _, errs := h.does(t, "status"); return errs == "" })
	h.serenaSettings(t, portSetting(serenas))
	serves(t, pageAt(serenas))

	// What is wrong in ours is refused with its line, and the last good port
	// stays.
	h.settings(t, portSetting(ours))
	serves(t, pageAt(ours))
	h.settings(t, "# mine\n"+portSetting(0))
	apptest.Eventually(t, "it is said", func() bool {
		_, _, errs := h.does(t, "status")
		return strings.Contains(errs, `config.yaml:2: web_dashboard_global_port: "0" is not a port from 1024 to 65535`)
	})
	serves(t, pageAt(ours))

	p.signal(t, syscall.SIGTERM)
	if got := p.status(t); got != 0 {
		t.Errorf("exit status %d: %s", got, p.err.String())
	}
	h.settings(t, portSetting(ours)+"web_dashboard_global: false\n")
	p = h.background(t, "run", "--web-dashboard-global", "--web-dashboard-global-port="+strconv.Itoa(flag))
	serves(t, pageAt(flag))
	h.settings(t, portSetting(ours))
	p.signal(t, syscall.SIGTERM)
	if got := p.status(t); got != 0 {
		t.Errorf("exit status %d: %s", got, p.err.String())
	}
	if text, err := os.ReadFile(h.path(".serena", "serena_config.yml")); err != nil || string(text) != portSetting(serenas) {
		t.Errorf("Serena's file was written: %q, %v", text, err)
	}
}

// acme starts a server that a rule recognises, and returns its label.
func (h *home) acme(t *testing.T) string {
	t.Helper()
	h.write(t, "import time; print(flush=True); time.sleep(600)\n", "acme-server.py")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("%v: install python3", err)
	}
	server := exec.Command(python, "-u", h.path("acme-server.py"), "--serve")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	return "pid " + strconv.Itoa(server.Process.Pid) + " - acme"
}

const acmeRule = "servers:\n  - name: acme\n    program: python\n    arguments: [acme-server.py, --serve]\n"

// The page opens with the first server after login, and never again: not for
// the next server, nor when lamplighter starts again, however it has ended.
func TestThePageOpensOncePerLogin(t *testing.T) {
	for _, place := range []string{"runtime directory", "state directory"} {
		t.Run(place, func(t *testing.T) {
			h := newHome(t)
			mark := h.path("run", "lamplighter", "global-dashboard-opened")
			if place == "state directory" {
				h.env = append(h.env, "XDG_RUNTIME_DIR=", "LAMPLIGHTER_CONTROL_SOCKET="+h.socket())
				mark = filepath.Join(h.state(), "global-dashboard-opened")
			}
			port := freePort(t)
			page := pageAt(port)
			h.settings(t, acmeRule+portSetting(port)+"web_dashboard_global_open_on_launch: true\n")
			p := h.background(t)
			serves(t, page)
			if got := h.opened(t); len(got) > 0 {
				t.Fatalf("opened %q without a server", got)
			}
			orders := 0
			only := func(what string, times int) {
				t.Helper()
				// An order comes after whatever it was that opened it by itself.
				if code, _, errs := h.does(t, "open"); code != 0 {
					t.Fatalf("open: %d, %q", code, errs)
				}
				orders++
				if got := h.awaitOpened(t, times+orders); len(got) != times+orders || got[0] != page {
					t.Fatalf("%s: opened %q, %d of them by order", what, got, orders)
				}
			}
			sees := func(label string) {
				t.Helper()
				apptest.Eventually(t, label, func() bool { _, out, _ := h.does(t, "status"); return strings.Contains(out, label) })
			}
			first := h.acme(t)
			apptest.Eventually(t, "it opens", func() bool { return len(h.opened(t)) == 1 })
			if got := modeOf(t, mark); got != 0o600 {
				t.Errorf("the mark has mode %o", got)
			}
			sees(h.acme(t))
			only("a second server", 1)
			for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
				p.signal(t, s)
				<-p.ended
				p = h.background(t)
				serves(t, page)
				sees(first)
				only(s.String()+" and a new start", 1)
				sees(h.acme(t))
				only("another server", 1)
			}
			// The next login.
			p.signal(t, syscall.SIGTERM)
			<-p.ended
			if place == "runtime directory" {
				if err := os.RemoveAll(filepath.Dir(mark)); err != nil {
					t.Fatal(err)
				}
			} else if err := os.WriteFile(mark, []byte("another login\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			p = h.background(t)
			apptest.Eventually(t, "it opens again", func() bool { return len(h.opened(t)) == 2+orders })
			only("the next login", 2)

			// Something else in the place of the mark.
			p.signal(t, syscall.SIGTERM)
			<-p.ended
			victim := h.path("victim")
			h.write(t, "mine", "victim")
			if err := os.Remove(mark); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(victim, mark); err != nil {
				t.Fatal(err)
			}
			h.background(t)
			apptest.Eventually(t, "it is logged", func() bool {
				return strings.Contains(h.log(t), "a symbolic link, which is not followed; remove it")
			})
			serves(t, page)
			only("a link", 2)
			if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}
