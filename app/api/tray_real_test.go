//go:build real

package api

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/serena/serenatest"
)

// trayHome is a home in which Serena registers with a tray manager.
func trayHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".serena")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	settings := "language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nweb_dashboard_interface: tray_manager\nprojects: []\n"
	if err := os.WriteFile(filepath.Join(dir, "serena_config.yml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// news is one thing that a tray manager told.
type news struct {
	opens     bool
	pid, port int
}

// realTray serves at the real port, with all real checks.
func realTray(t *testing.T) (*site, <-chan news) {
	t.Helper()
	told := make(chan news, 100)
	handler := TrayHandler(parts(newModel(), shower{}), func(pid, port int) { told <- news{pid: pid, port: port} }, func(port int) { told <- news{opens: true, port: port} })
	return serveWebWith(t, func(o *WebOptions) {
		o.Handler, o.Serves, o.Root = handler, "the port for Serena servers", "/"
		o.Instead = func() string { return "they are found by looking" }
		o.Limits.Retry = 20 * time.Millisecond
	}, func(w *Web) { w.Set(false, 0) }), told
}

// nextNews waits for what is told next, which may be the begin of a server that was
// started just now.
func nextNews(t *testing.T, told <-chan news, opens bool) news {
	t.Helper()
	select {
	case n := <-told:
		if n.opens != opens {
			t.Fatalf("told %+v, want opens %v", n, opens)
		}
		return n
	case <-time.After(3 * time.Minute):
		t.Fatalf("never told: opens %v", opens)
		return news{}
	}
}

// healthy waits until somebody answers on the port.
func healthy(t *testing.T) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	apptest.Eventually(t, "somebody answers on port 24224", func() bool {
		resp, err := client.Get("http://127.0.0.1:24224/health")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// TestRealSerenaRegisters: a server of each version registers. One of the newest
// wants its page opened, as servers do by default; so does another beside it, for
// which none is opened.
func TestRealSerenaRegisters(t *testing.T) {
	for _, version := range serenatest.Versions {
		t.Run(version, func(t *testing.T) {
			tray, told := realTray(t)
			tray.Set(true, serena.TrayPort)
			healthy(t)
			newest := version == serenatest.Version
			o := serenatest.Options{Version: version, Home: trayHome(t)}
			if newest {
				o.Args = []string{"--open-web-dashboard", "true"}
			}
			s := serenatest.Start(t, o)
			n := nextNews(t, told, false)
			if newest {
				if opened := nextNews(t, told, true); opened.port != n.port {
					t.Errorf("opened for %d", opened.port)
				}
			}
			s.WaitReady(t)
			if n.pid != s.ServerPID || n.port != s.DashboardPort {
				t.Errorf("registered %+v, the server is %d on port %d", n, s.ServerPID, s.DashboardPort)
			}
			for claim, port := range map[int]int{os.Getppid(): n.port, n.pid: serena.TrayPort} {
				status, answer := newTrayManager(parts(newModel(), shower{}), nil, nil).send(http.MethodPost, "/register", registration(claim, port, ""))
				if status != http.StatusBadRequest {
					t.Errorf("that %d has port %d: %d %s", claim, port, status, answer)
				}
			}
			if newest {
				o.Project = serenatest.GoProject(t, "alpha")
				serenatest.Start(t, o).WaitReady(t)
				if second := nextNews(t, told, false); second.pid == n.pid || len(told) > 0 {
					t.Errorf("the second is %+v, and %d more things were told", second, len(told))
				}
			}
		})
	}
}

// TestRealTrayManagerIsLeftAlone: Serena's own tray manager, which a server
// has started, has the port until it ends.
func TestRealTrayManagerIsLeftAlone(t *testing.T) {
	dummy := []string{"PYSTRAY_BACKEND=dummy"} // there is no desktop
	s := serenatest.Start(t, serenatest.Options{Home: trayHome(t), Env: dummy})
	s.WaitReady(t)
	healthy(t)

	tray, told := realTray(t)
	tray.Set(true, serena.TrayPort)
	apptest.Eventually(t, "it is told that the port is taken", func() bool { return strings.Contains(tray.log.String(), "found by looking") })
	healthy(t)
	if tray.URL() != "" {
		t.Fatalf("the port was taken:\n%s", tray.log.String())
	}
	for _, pid := range s.Pids() {
		info, err := process.Read(pid)
		if err != nil || !slices.ContainsFunc(info.Args, func(a string) bool { return strings.Contains(a, "SerenaDashboardTrayManager") }) {
			continue
		}
		manager, err := os.FindProcess(pid)
		if err == nil {
			err = manager.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	apptest.Eventually(t, "the port is taken when it is free", func() bool { return tray.URL() != "" })
	healthy(t)
	if n := strings.Count(tray.log.String(), "found by looking"); n != 1 || len(told) != 0 {
		t.Errorf("said %d times, told %d things", n, len(told))
	}
}
