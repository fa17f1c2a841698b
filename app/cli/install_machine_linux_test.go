package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/daemon"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/app/setup"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// fakeBackground is a background process that answers for its version and ends when
// it is told to.
type fakeBackground struct {
	pid     int
	version string
	older   bool // than the route that ends it
	refuses bool

	mu    sync.Mutex
	quits []bool // with restart or not
	stop  func()
}

func (f *fakeBackground) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	answer := func(status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	switch {
	case req.URL.Path == "/health":
		answer(http.StatusOK, api.Health{Status: "ok", Program: api.Program, Version: f.version, PID: f.pid, Warnings: []string{}})
	case req.URL.Path == "/quit" && f.refuses:
		answer(http.StatusServiceUnavailable, api.Failure{Error: "it cannot be ended from here"})
	case req.URL.Path == "/quit" && !f.older:
		var order api.QuitOrder
		_ = json.NewDecoder(req.Body).Decode(&order)
		f.mu.Lock()
		f.quits = append(f.quits, order.Restart)
		f.mu.Unlock()
		answer(http.StatusAccepted, api.Quitting{PID: f.pid})
		f.stop()
	default:
		answer(http.StatusNotFound, api.Failure{Error: "there is nothing at " + req.URL.Path})
	}
}

// serve has it run until it is stopped, or the test ends.
func (f *fakeBackground) serve(t *testing.T, d *desktop) {
	t.Helper()
	server := api.NewServer(api.Options{Path: d.Places().ControlSocket, LockHeld: true, Handler: f, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err := server.Open(); err != nil {
		t.Error(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.stop = cancel
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
}

// machine is a desktop into which Lamplighter can be installed.
type machine struct {
	*desktop
	system   *daemontest.System
	env      map[string]string
	launched []string        // command lines
	next     *fakeBackground // that a launch starts; nil: it ends at once
	ended    []int           // pids that were asked to end by a signal
	settings *fakeSettings
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	d := newDesktop(t)
	m := &machine{desktop: d, system: &daemontest.System{}, env: map[string]string{"PATH": "/usr/bin:/bin", "DISPLAY": ":0"}}
	home := filepath.Join(t.TempDir(), "my home")
	unpacked := filepath.Join(t.TempDir(), "unpacked")
	for _, dir := range []string{home, unpacked} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.Base.Home, d.Base.ConfigHome, d.Base.StateHome = home, filepath.Join(home, ".config"), filepath.Join(home, ".local", "state")
	d.Self = filepath.Join(unpacked, "lamplighter")
	for _, name := range []string{"lamplighter", "lamplighter-connect"} {
		if err := os.WriteFile(filepath.Join(unpacked, name), []byte("program "+name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.Getenv = func(name string) string { return m.env[name] }
	d.Command = m.system.Run
	d.account = func(string) account { return account{uid: 1000, owner: 1000} }
	d.Pause = daemon.Pause
	d.Process = func(int) (process.Info, error) { return process.Info{}, process.ErrGone }
	m.next = &fakeBackground{pid: 4712, version: "1.2.3"}
	d.launch = func(path string, args ...string) (<-chan error, error) {
		m.launched = append(m.launched, strings.Join(append([]string{path}, args...), " "))
		ended := make(chan error, 1)
		if m.next == nil {
			ended <- errors.New("exit status 1")
			return ended, nil
		}
		m.next.serve(t, d)
		return ended, nil
	}
	d.terminate = func(_ context.Context, id monitor.Identity) error {
		m.ended = append(m.ended, id.PID)
		return nil
	}
	m.settings = &fakeSettings{}
	d.Setup = func(o setup.Options) api.Setup { m.settings.options = o; return m.settings }
	return m
}

// installed is the path of the installed program.
func (m *machine) installed() string { return m.home(".local", "bin", "lamplighter") }

// files are all files below the home directory.
func (m *machine) files(t *testing.T) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(m.Base.Home, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			list = append(list, strings.TrimPrefix(path, m.Base.Home+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// says runs a command line, and is what it says with ~ for the home directory.
func (m *machine) says(t *testing.T, want int, args ...string) (out, failed string) {
	t.Helper()
	m.out, m.err = apptest.Buffer{}, apptest.Buffer{}
	if status := m.runs(t, args...); status != want {
		t.Errorf("%q: status %d, said %s%s", args, status, m.out.String(), m.err.String())
	}
	homely := func(text string) string {
		if m.Base.Home == "" {
			return text
		}
		return strings.ReplaceAll(text, m.Base.Home, "~")
	}
	return homely(m.out.String()), homely(m.err.String())
}
