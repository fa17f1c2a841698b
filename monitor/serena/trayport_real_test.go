//go:build real

package serena

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor/process"
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

// news is one thing that an endpoint told.
type news struct {
	kind string
	Registration
	asked time.Time // when the request came
}

// realTray serves an endpoint on the real port, with all real checks.
func realTray(t *testing.T, log *sink) <-chan news {
	t.Helper()
	told := make(chan news, 100)
	asked := make(chan time.Time, 1000)
	tell := func(kind string) func(Registration) {
		return func(r Registration) {
			n := news{kind: kind, Registration: r}
			for len(asked) > 0 {
				n.asked = <-asked // the newest
			}
			told <- n
		}
	}
	e := NewTrayEndpoint(TrayOptions{
		Register:      tell("register"),
		UpdateProject: tell("update"),
		Unregister:    tell("unregister"),
		OpenViewer:    tell("open"),
		Peer: func(netip.AddrPort, netip.AddrPort) error {
			asked <- time.Now()
			return nil
		},
		Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	e.retry = 20 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v", err)
		}
		if t.Failed() {
			t.Logf("log of the endpoint:\n%s", log)
		}
	})
	return told
}

// next waits for what is told next, which may be the begin of a server that was
// started just now.
func next(t *testing.T, told <-chan news, kind string) news {
	t.Helper()
	select {
	case n := <-told:
		if n.kind != kind {
			t.Fatalf("told %s %+v, want %s", n.kind, n.Registration, kind)
		}
		return n
	case <-time.After(3 * time.Minute):
		t.Fatalf("never told: %s", kind)
		return news{}
	}
}

// healthy waits until somebody answers on the port.
func healthy(t *testing.T) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if resp, err := client.Get("http://127.0.0.1:24224/health"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("nobody answers on port 24224")
		}
	}
}

func TestRealSerenaRegisters(t *testing.T) {
	for _, version := range []string{serenatest.Version15, serenatest.Version17, serenatest.Version} {
		t.Run(version, func(t *testing.T) {
			told := realTray(t, &sink{})
			healthy(t)

			s := serenatest.Start(t, serenatest.Options{Version: version, Home: trayHome(t), Project: serenatest.GoProject(t, "alpha")})
			n := next(t, told, "register")
			t.Logf("from the request of a server to the news of it: %v", time.Since(n.asked))
			s.WaitReady(t)
			if n.Identity.PID != s.ServerPID || n.Port != s.DashboardPort || n.Project != "alpha" || n.OpenViewer || n.StartedAt.IsZero() || time.Since(n.StartedAt) > time.Hour {
				t.Errorf("registered %+v, the server is %d on port %d", n.Registration, s.ServerPID, s.DashboardPort)
			}
			s.Initialize(t)
			if err := s.Stdin.Close(); err != nil {
				t.Fatal(err)
			}
			if bye := next(t, told, "unregister"); bye.Identity != n.Identity {
				t.Errorf("%v said goodbye, not %v", bye.Identity, n.Identity)
			}
			<-s.Done()

			// One without a project, which activates one later.
			s = serenatest.Start(t, serenatest.Options{Version: version, Home: trayHome(t), HTTP: true})
			first := next(t, told, "register")
			t.Logf("from the request of a server to the news of it: %v", time.Since(first.asked))
			s.WaitReady(t)
			if first.Identity.PID != s.ServerPID || first.Project != "" {
				t.Errorf("registered %+v, the server is %d", first.Registration, s.ServerPID)
			}
			s.Initialize(t)
			s.Call(t, "activate_project", map[string]any{"project": serenatest.GoProject(t, "beta"), "session": "test"})
			if changed := next(t, told, "update"); changed.Identity != first.Identity || changed.Project != "beta" {
				t.Errorf("changed to %+v", changed.Registration)
			}
		})
	}
}

// TestRealLies: claims about a real server that are not true, and then one that
// is.
func TestRealLies(t *testing.T) {
	s := serenatest.Start(t, serenatest.Options{})
	port := s.WaitReady(t)
	ours, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	e := serveTray(t, func(e *tray) { e.options.Owner = PortOwner })
	for _, c := range []struct {
		name      string
		pid, port int
		status    int
	}{
		{"its port, another process of ours", os.Getppid(), port, http.StatusBadRequest},
		{"its port, nobody", 1 << 22, port, http.StatusBadRequest},
		{"its port, ourselves", os.Getpid(), port, http.StatusBadRequest},
		{"its process, another's port", s.ServerPID, ours.Addr().(*net.TCPAddr).Port, http.StatusBadRequest},
		{"its process, the endpoint's port", s.ServerPID, e.port, http.StatusBadRequest},
		{"the truth", s.ServerPID, port, http.StatusOK},
	} {
		status, answer := e.send(t, http.MethodPost, "/register", registerBody(c.pid, c.port, ""), nil)
		t.Logf("%s: %d %v", c.name, status, answer)
		if status != c.status || c.status != http.StatusOK && answer["error"] == "" {
			t.Errorf("%s: %d %v", c.name, status, answer)
		}
	}
	if got := e.told(); len(got) != 1 {
		t.Errorf("told %q", got)
	}
}

// TestRealSerenaOpensOnce: two servers ask for a page, as they do by default.
func TestRealSerenaOpensOnce(t *testing.T) {
	told := realTray(t, &sink{})
	healthy(t)
	home := trayHome(t)
	open := []string{"--open-web-dashboard", "true"}
	serenatest.Start(t, serenatest.Options{Home: home, Args: open}).WaitReady(t)
	first := next(t, told, "register")
	if opened := next(t, told, "open"); opened.Identity != first.Identity {
		t.Errorf("opened for %v", opened.Identity)
	}
	serenatest.Start(t, serenatest.Options{Home: home, Args: open}).WaitReady(t)
	if second := next(t, told, "register"); !second.OpenViewer || second.Identity == first.Identity {
		t.Errorf("the second is %+v", second.Registration)
	}
	serenatest.Start(t, serenatest.Options{Home: home}).WaitReady(t)
	next(t, told, "register") // and no page in between
}

// TestRealTrayManagerIsLeftAlone: Serena's own tray manager, which a server
// has started, has the port.
func TestRealTrayManagerIsLeftAlone(t *testing.T) {
	home := trayHome(t)
	dummy := []string{"PYSTRAY_BACKEND=dummy"} // there is no desktop
	s := serenatest.Start(t, serenatest.Options{Home: home, Env: dummy})
	s.WaitReady(t)
	healthy(t)

	log := &sink{}
	told := realTray(t, log)
	log.await(t, "found by looking")
	serenatest.Start(t, serenatest.Options{Home: home, Env: dummy}).WaitReady(t)
	healthy(t)
	if strings.Contains(log.String(), "can register here") {
		t.Fatalf("the port was taken:\n%s", log)
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
	log.await(t, "can register here")
	if n := strings.Count(log.String(), "found by looking"); n != 1 || len(told) != 0 {
		t.Errorf("said %d times, told %d things", n, len(told))
	}
	serenatest.Start(t, serenatest.Options{Home: home}).WaitReady(t)
	next(t, told, "register")
}
