//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

// answers tells whether somebody listens on the control socket.
func (h *home) answers() bool {
	conn, err := net.Dial("unix", h.socket())
	if err == nil {
		conn.Close()
	}
	return err == nil
}

func pidOf(p *process) string { return "(pid " + strconv.Itoa(p.cmd.Process.Pid) + ")" }

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func TestVersionIsTheLinkers(t *testing.T) {
	if status, out, _ := newHome(t).does(t, "version"); status != 0 || !strings.HasPrefix(out, "lamplighter 1.2.3-test (go") {
		t.Errorf("%d, %q", status, out)
	}
}

func TestRunHeadless(t *testing.T) {
	h := newHome(t)
	p := h.background(t)
	apptest.Eventually(t, "it says that it is headless", func() bool { return strings.Contains(p.err.String(), "lamplighter: headless: ") })
	for path, want := range map[string]fs.FileMode{
		filepath.Dir(h.socket()): 0o700, h.socket(): 0o600, h.state(): 0o700, filepath.Join(h.state(), "lamplighter.log"): 0o600,
	} {
		if got := modeOf(t, path); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
	status, out, _ := h.does(t, "status", "--json")
	var list struct{ Instances []any }
	if err := json.Unmarshal([]byte(out), &list); err != nil || status != 0 || list.Instances == nil {
		t.Errorf("%d, %q, %v", status, out, err)
	}
	p.signal(t, syscall.SIGTERM)
	if got := p.status(t); got != 0 {
		t.Errorf("exit status %d: %s", got, p.err.String())
	}
	if n := strings.Count(p.err.String(), "\n"); n != 1 {
		t.Errorf("said %d lines: %s", n, p.err.String())
	}
	if _, err := os.Lstat(h.socket()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	apptest.Contains(t, h.log(t), "msg=started version=1.2.3-test", "headless", "msg=stopped")
}

func TestSignalsEndItWhileAStreamIsOpen(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		h := newHome(t)
		p := h.background(t, "run")
		watch := h.start(t, "status", "--watch", "--json")
		apptest.Eventually(t, "the first line", func() bool { return strings.Contains(watch.out.String(), "\n") })
		p.signal(t, s)
		if got := p.status(t); got != 0 {
			t.Errorf("%v: exit status %d: %s", s, got, p.err.String())
		}
		if strings.Contains(h.log(t), "in time") {
			t.Errorf("%v: not clean: %s", s, h.log(t))
		}
		// The reader goes on by itself, and an interrupt is its normal end.
		watch.signal(t, syscall.SIGINT)
		if got := watch.status(t); got != 0 {
			t.Errorf("%v: status --watch: %d: %s", s, got, watch.err.String())
		}
	}
}

func TestSecondRunShowsTheFirst(t *testing.T) {
	h := newHome(t)
	first := h.background(t, "run")
	status, out, said := h.does(t, "run")
	if status != 0 || out != "" || strings.Count(said, "\n") != 1 {
		t.Errorf("%d, %q, %q", status, out, said)
	}
	apptest.Contains(t, said, "lamplighter: it already runs "+pidOf(first))
	if !first.running() {
		t.Error("the first one has ended")
	}
}

func TestTwoRunsAtOnce(t *testing.T) {
	h := newHome(t)
	all := []*process{h.start(t), h.start(t, "run"), h.start(t, "run")}
	var stay *process
	apptest.Eventually(t, "all but one end", func() bool {
		n := 0
		for _, p := range all {
			if p.running() {
				stay = p
				n++
			}
		}
		return n == 1
	})
	for _, p := range all {
		if p == stay {
			continue
		}
		if got := p.status(t); got != 0 {
			t.Errorf("exit status %d", got)
		}
		apptest.Contains(t, p.err.String(), "it already runs "+pidOf(stay))
	}
	if !h.answers() {
		t.Error("nobody answers")
	}
}

func TestRunAfterKill(t *testing.T) {
	h := newHome(t)
	first := h.background(t)
	first.signal(t, syscall.SIGKILL)
	<-first.ended
	if _, err := os.Lstat(h.socket()); err != nil {
		t.Fatalf("the test wants a stale socket: %v", err)
	}
	if status, _, said := h.does(t, "status"); status != 0 || said != "" {
		t.Errorf("status beside a stale socket: %d, %q", status, said)
	}
	h.background(t)
}

func TestSecondRunWhileTheFirstHangs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.background(t)
	first.signal(t, syscall.SIGSTOP)
	defer first.signal(t, syscall.SIGCONT)
	apptest.Eventually(t, "it hangs", func() bool {
		var how syscall.WaitStatus
		pid, err := syscall.Wait4(first.cmd.Process.Pid, &how, syscall.WUNTRACED|syscall.WNOHANG, nil)
		return err == nil && pid > 0 && how.Stopped()
	})
	status, _, said := h.does(t, "run")
	if status != 1 {
		t.Errorf("exit status %d", status)
	}
	apptest.Contains(t, said, "it already runs "+pidOf(first)+", but does not answer", "nothing answers on "+h.socket(), "end that process")
	status, _, said = h.does(t, "status")
	if status != 0 {
		t.Errorf("status: %d", status)
	}
	apptest.Contains(t, said, "cannot be reached", "looking at the processes instead")
}

func TestSettings(t *testing.T) {
	broken := func(h *home) string { return h.path(".config", "lamplighter", "config.yaml") }
	t.Run("broken", func(t *testing.T) {
		h := newHome(t)
		h.write(t, "# mine\n\ntray_icn: dark\n", ".config", "lamplighter", "config.yaml")
		p := h.background(t)
		want := broken(h) + `:3: unknown setting "tray_icn"; did you mean "tray_icon"?; the defaults are used`
		p.says(t, "lamplighter: settings: "+want)
		apptest.Eventually(t, "it is in the log", func() bool { return strings.Contains(h.log(t), "config.yaml:3: unknown setting") })
		// The views have it with the first snapshot.
		apptest.Eventually(t, "status says so", func() bool {
			_, _, said := h.does(t, "status")
			return strings.Contains(said, want)
		})
		if n := strings.Count(p.err.String(), "settings:"); n != 1 {
			t.Errorf("said %d times", n)
		}
	})
	t.Run("broken twice", func(t *testing.T) {
		h := newHome(t)
		h.write(t, "tray_icn: dark\nlog_level: loud\n", ".config", "lamplighter", "config.yaml")
		p := h.background(t)
		p.says(t, "lamplighter: settings: "+broken(h)+`:2: log_level: "loud" is not one of debug, info, warn, error; the defaults are used, and no policy ends anything, until you correct them`)
		line := "lamplighter: settings: " + broken(h) + `:1: unknown setting "tray_icn"; did you mean "tray_icon"?` + "\n"
		p.says(t, line)
		apptest.Eventually(t, "status says so in a line of its own", func() bool {
			_, _, said := h.does(t, "status")
			return strings.Contains(said, line)
		})
	})
	t.Run("named file missing", func(t *testing.T) {
		h := newHome(t)
		p := h.background(t, "run", "--config", "none.yaml")
		p.says(t, "none.yaml: there is no such file")
	})
	t.Run("hidden icon, by the environment", func(t *testing.T) {
		h := newHome(t)
		h.write(t, "tray_icon: hidden\n", "my.yaml")
		h.env = append(h.env, "LAMPLIGHTER_CONFIG="+h.path("my.yaml"))
		p := h.background(t)
		apptest.Eventually(t, "it says so", func() bool { return strings.Contains(p.err.String(), "headless: the settings hide the tray icon") })
	})
	t.Run("log level", func(t *testing.T) {
		h := newHome(t)
		h.write(t, "log_level: error\n", "my.yaml")
		p := h.background(t, "--config", h.path("my.yaml"))
		p.signal(t, syscall.SIGTERM)
		if p.status(t); h.log(t) != "" {
			t.Errorf("logged %q", h.log(t))
		}
	})
}

func TestNohupSurvivesTheHangup(t *testing.T) {
	h := newHome(t)
	p := h.startAs(t, "/bin/sh", "-c", `trap "" HUP; exec "$0"`, binary)
	apptest.Eventually(t, "the control socket is there", h.answers)
	p.signal(t, syscall.SIGHUP)
	if status, _, said := h.does(t, "run"); status != 0 || !strings.Contains(said, "it already runs "+pidOf(p)) {
		t.Errorf("%d, %q", status, said)
	}
	p.signal(t, syscall.SIGTERM)
	if got := p.status(t); got != 0 {
		t.Errorf("exit status %d", got)
	}
}

// A launcher's chatter stays away from our output.
func TestOpenKeepsTheBrowserQuiet(t *testing.T) {
	h := newHome(t)
	const url = "http://127.0.0.1:24282/dashboard/index.html"
	snapshot := &monitor.Snapshot{Seq: 1, Instances: []monitor.Instance{{
		Identity: monitor.Identity{PID: 7, Start: 8}, Kind: monitor.KindSerena, Port: 24282, ProjectName: "alpha",
		State: monitor.StateProject, DashboardURL: url,
	}}}
	log := slog.New(slog.DiscardHandler)
	server := api.NewServer(api.Options{Path: h.socket(), LockHeld: true, Handler: api.Handler(api.Parts{Source: fixed{snapshot}, Log: log}), Log: log})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	if err := server.Open(); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- server.Serve(ctx) }()
	defer func() { cancel(); <-ended }()

	status, out, said := h.does(t, "open", "alpha")
	if status != 0 || out != url+"\n" || said != "" {
		t.Errorf("%d, %q, %q", status, out, said)
	}
	if opened := h.awaitOpened(t, 1); !slices.Equal(opened, []string{url}) {
		t.Errorf("opened %q", opened)
	}
}

// fixed is a model in which nothing happens.
type fixed struct{ snapshot *monitor.Snapshot }

func (f fixed) Snapshot() *monitor.Snapshot { return f.snapshot }

func (f fixed) Subscribe() (<-chan *monitor.Snapshot, func()) {
	return make(chan *monitor.Snapshot), func() {}
}
