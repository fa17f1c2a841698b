//go:build unix && !darwin

package main

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/monitor/programtest"
	"lamplighter/tray/traytest"

	"github.com/godbus/dbus/v5"
)

// put sends a body of JSON, or none.
func put(t *testing.T, address, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// entries are the files that start something at login in a home.
func (h *home) entries(t *testing.T) (files []string) {
	t.Helper()
	for _, dir := range []string{h.path(".config", "autostart"), h.path(".config", "systemd")} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				files = append(files, path)
			}
			if os.IsNotExist(err) {
				return nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// The menu and the page switch the same thing, and each shows what the other did.
func TestStartAtLoginIsSwitchedInTheMenuAndOnThePage(t *testing.T) {
	h := newHome(t)
	address, _ := traytest.StartBus(t)
	h.env = append(h.env, "DBUS_SESSION_BUS_ADDRESS="+address)
	panel := traytest.NewHost(t, address)
	panel.Appear(t)
	port := freePort(t)
	h.settings(t, portSetting(port))
	h.background(t)
	serves(t, pageAt(port))
	sender := panel.AwaitItem(t)
	const line = "Start at login"
	shows := func(on bool) {
		t.Helper()
		apptest.Eventually(t, "the menu shows it", func() bool {
			if !strings.Contains(panel.Labels(t, sender), line) {
				return false
			}
			l := panel.Find(t, sender, line)
			return l.Checkable && l.Enabled && l.Checked == on
		})
		var got api.Login
		if _, _, body := fetch(t, pageAt(port)+"login"); json.Unmarshal([]byte(body), &got) != nil || got.On != on || !got.Can || (got.How != nil) != on {
			t.Errorf("the page is told %s", body)
		}
		if files := h.entries(t); len(files) > 0 != on {
			t.Errorf("on %v, and there are %q", on, files)
		}
	}
	shows(false)
	panel.Event(t, sender, panel.Find(t, sender, line).ID, "clicked")
	apptest.Eventually(t, "the entry", func() bool {
		return slices.Contains(h.entries(t), h.path(".config", "autostart", "lamplighter.desktop"))
	})
	shows(true)
	if text := contentOfEntry(t, h); !strings.Contains(text, binary) || !strings.Contains(text, "run --at-login") {
		t.Errorf("it starts\n%s", text)
	}
	if status, body := put(t, pageAt(port)+"login", `{"on":false}`); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	shows(false)
	if status, body := put(t, pageAt(port)+"login", `{"on":true}`); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	shows(true)
	panel.Event(t, sender, panel.Find(t, sender, line).ID, "clicked")
	apptest.Eventually(t, "no entry", func() bool { return len(h.entries(t)) == 0 })
	shows(false)
}

func contentOfEntry(t *testing.T, h *home) string {
	t.Helper()
	text, err := os.ReadFile(h.path(".config", "autostart", "lamplighter.desktop"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// notifications stands for the notification service of a desktop.
type notifications struct {
	mu    sync.Mutex
	shown []string
}

func (n *notifications) GetCapabilities() ([]string, *dbus.Error) {
	return []string{"body", "actions"}, nil
}

func (n *notifications) Notify(_ string, _ uint32, _, summary, body string, actions []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shown = append(n.shown, strings.Join(append([]string{summary, body}, actions...), "|"))
	return uint32(len(n.shown)), nil
}

func (n *notifications) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.shown)
}

// A program that came with a package welcomes its user once with a notification,
// whose button opens the page, and there until that is closed.
func TestTheFirstRunAfterInstalling(t *testing.T) {
	h := newHome(t)
	address, _ := traytest.StartBus(t)
	h.env = append(h.env, "DBUS_SESSION_BUS_ADDRESS="+address)
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	desktop := &notifications{}
	const name, path = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
	if err := conn.Export(desktop, path, name); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName(name, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	h.settings(t, portSetting(port))
	welcome := func() (w api.Welcome) {
		t.Helper()
		_, _, body := fetch(t, pageAt(port)+"welcome")
		if err := json.Unmarshal([]byte(body), &w); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		return w
	}

	// A build tree comes first, where nobody is welcomed.
	run := h.background(t)
	serves(t, pageAt(port))
	tellsOfServers(t, pageAt(port))
	if w := welcome(); w.Show || w.Installed != nil || w.Login == nil {
		t.Errorf("%+v", w)
	}
	if err := run.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	run.status(t)

	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	installed := h.path("usr", "bin", "lamplighter")
	h.write(t, "deb\n", "usr", "share", "lamplighter", "package")
	if err := os.Mkdir(filepath.Dir(installed), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := programtest.WriteFile(installed, program, 0o700); err != nil {
		t.Fatal(err)
	}
	start := func() (stop func()) {
		t.Helper()
		run := h.startAs(t, installed)
		serves(t, pageAt(port))
		tellsOfServers(t, pageAt(port)) // a welcome comes after that
		return func() {
			if err := run.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if status := run.status(t); status != 0 {
				t.Errorf("%d: %s", status, run.err.String())
			}
		}
	}
	stop := start()
	apptest.Eventually(t, "the notification", func() bool { return len(desktop.all()) > 0 })
	if got := desktop.all()[0]; !strings.HasPrefix(got, "Lamplighter is running|It sees ") || !strings.HasSuffix(got, "|open|Open") {
		t.Errorf("%s", got)
	}
	apptest.Eventually(t, "the button opens the page", func() bool {
		if err := conn.Emit(path, name+".ActionInvoked", uint32(1), "open"); err != nil {
			t.Fatal(err)
		}
		return slices.Contains(h.opened(t), pageAt(port))
	})
	if w := welcome(); !w.Show || w.Installed == nil || *w.Installed != "deb" || w.Version != "1.2.3-test" || w.Clients == nil || w.PageURL == nil {
		t.Errorf("%+v", w)
	}
	stop()
	stop = start()
	if w := welcome(); !w.Show {
		t.Error("it is not shown at the next start, and nobody closed it")
	}
	for range 2 {
		if status, body := put(t, pageAt(port)+"welcome", `{"dismissed":true}`); status != http.StatusOK {
			t.Errorf("%d %s", status, body)
		}
	}
	stop()
	stop = start()
	if w := welcome(); w.Show {
		t.Error("it was closed, and is shown again")
	}
	stop()
	if got := desktop.all(); len(got) != 1 {
		t.Errorf("notified %d times: %q", len(got), got)
	}
}
