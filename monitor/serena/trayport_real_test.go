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

	"lamplighter/monitor"
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
	opens bool
	id    monitor.Identity
	port  int
	asked time.Time // when the request came
}

// realTray serves an endpoint on the real port, with all real checks. It is changed
// by change, if given.
func realTray(t *testing.T, log *sink, change func(*TrayEndpoint)) <-chan news {
	t.Helper()
	told := make(chan news, 100)
	asked := make(chan time.Time, 1000)
	e := NewTrayEndpoint(TrayOptions{
		Heard: func(id monitor.Identity, port int) {
			n := news{id: id, port: port}
			for len(asked) > 0 {
				n.asked = <-asked // the newest
			}
			told <- n
		},
		OpenViewer: func(port int) { told <- news{opens: true, port: port} },
		Peer: func(netip.AddrPort, netip.AddrPort) error {
			asked <- time.Now()
			return nil
		},
		Log:    slog.New(slog.NewTextHandler(log, nil)),
		Limits: TrayLimits{Retry: 20 * time.Millisecond},
	})
	if change != nil {
		change(e)
	}
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
func next(t *testing.T, told <-chan news, opens bool) news {
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

// TestRealSerenaRegisters: a server of each version registers, without a project,
// activates one, and ends. One of the newest wants its page opened, as servers do by
// default; so does another beside it, for which none is opened.
func TestRealSerenaRegisters(t *testing.T) {
	for _, version := range []string{serenatest.Version15, serenatest.Version17, serenatest.Version} {
		t.Run(version, func(t *testing.T) {
			told := realTray(t, &sink{}, nil)
			healthy(t)
			newest := version == serenatest.Version
			o := serenatest.Options{Version: version, Home: trayHome(t)}
			if newest {
				o.Args = []string{"--open-web-dashboard", "true"}
			}
			s := serenatest.Start(t, o)
			n := next(t, told, false)
			t.Logf("from the request of a server to the news of it: %v", time.Since(n.asked))
			if newest {
				if opened := next(t, told, true); opened.port != n.port {
					t.Errorf("opened for %d", opened.port)
				}
			}
			s.WaitReady(t)
			if n.id.PID != s.ServerPID || n.port != s.DashboardPort {
				t.Errorf("registered %+v, the server is %d on port %d", n, s.ServerPID, s.DashboardPort)
			}
			s.Initialize(t)
			s.Call(t, "activate_project", map[string]any{"project": serenatest.GoProject(t, "beta"), "session": "test"})
			if changed := next(t, told, false); changed.id != n.id || changed.port != n.port {
				t.Errorf("%+v has another project", changed)
			}
			if newest {
				claims(t, s)
				o.Project = serenatest.GoProject(t, "alpha")
				serenatest.Start(t, o).WaitReady(t)
				if second := next(t, told, false); second.id == n.id {
					t.Errorf("the second is %+v", second)
				}
			}
			if err := s.Stdin.Close(); err != nil {
				t.Fatal(err)
			}
			if bye := next(t, told, false); bye.id != n.id { // and no page in between
				t.Errorf("%v said goodbye, not %v", bye.id, n.id)
			}
			<-s.Done()
		})
	}
}

// claims makes claims about a real server that are not true, and then one that is.
func claims(t *testing.T, s *serenatest.Server) {
	t.Helper()
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
		{"its port, another process of ours", os.Getppid(), s.DashboardPort, http.StatusBadRequest},
		{"its port, nobody", 1 << 22, s.DashboardPort, http.StatusBadRequest},
		{"its port, ourselves", os.Getpid(), s.DashboardPort, http.StatusBadRequest},
		{"its process, another's port", s.ServerPID, ours.Addr().(*net.TCPAddr).Port, http.StatusBadRequest},
		{"its process, the endpoint's port", s.ServerPID, e.port, http.StatusBadRequest},
		{"the truth", s.ServerPID, s.DashboardPort, http.StatusOK},
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

// TestRealTrayManagerIsLeftAlone: Serena's own tray manager, which a server
// has started, has the port until it ends.
func TestRealTrayManagerIsLeftAlone(t *testing.T) {
	dummy := []string{"PYSTRAY_BACKEND=dummy"} // there is no desktop
	s := serenatest.Start(t, serenatest.Options{Home: trayHome(t), Env: dummy})
	s.WaitReady(t)
	healthy(t)

	log := &sink{}
	tries := make(chan error)
	told := realTray(t, log, func(e *TrayEndpoint) {
		listen := e.listen
		e.listen = func(ctx context.Context) (net.Listener, error) {
			l, err := listen(ctx)
			select {
			case tries <- err:
			default:
			}
			return l, err
		}
	})
	for range 5 {
		if err := <-tries; err == nil {
			t.Fatalf("the port was taken:\n%s", log)
		}
	}
	healthy(t)

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
	healthy(t)
	if n := strings.Count(log.String(), "found by looking"); n != 1 || len(told) != 0 {
		t.Errorf("said %d times, told %d things", n, len(told))
	}
}
