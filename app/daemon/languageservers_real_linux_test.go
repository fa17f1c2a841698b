//go:build real

package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
	"lamplighter/monitor/stop"
)

// goplsOf are the processes below a server.
func goplsOf(t *testing.T, server monitor.Identity) (list []process.Stat) {
	t.Helper()
	tree, err := process.Tree(server)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tree[1:] {
		if p.State != process.Unreaped {
			list = append(list, p)
		}
	}
	return list
}

// hasUnread reports whether a process has not read what was written to its pipe.
func hasUnread(p process.Stat) bool {
	in, err := os.Open(fmt.Sprintf("/proc/%d/fd/0", p.PID))
	if err != nil {
		return false
	}
	defer in.Close()
	n, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCINQ)
	return err == nil && n > 0
}

// TestRealRestartLanguageServer: gopls that is well, and one that hangs while a call
// waits for it, below every version of Serena; and one that could not start.
func TestRealRestartLanguageServer(t *testing.T) {
	for _, version := range []string{serenatest.Version15, serenatest.Version17, serenatest.Version} {
		t.Run(version, func(t *testing.T) { testRestartLanguageServer(t, version) })
	}
}

func newLanguageServers(t *testing.T) (*languageServers, *[]monitor.Event) {
	var told []monitor.Event
	return &languageServers{stop.New(stop.Options{}), func(e monitor.Event) { told = append(told, e) }}, &told
}

func testRestartLanguageServer(t *testing.T, version string) {
	t.Parallel()
	tools := filepath.Join(serenatest.Tools(t), "bin")
	s := serenatest.Start(t, serenatest.Options{
		Version: version, Project: serenatest.GoProject(t, "alpha"), Context: "desktop-app", Env: []string{"PATH=" + tools + ":" + os.Getenv("PATH")},
	})
	s.WaitReady(t)
	s.Initialize(t)
	symbol := map[string]any{"name_path": "greet", "relative_path": "main.go"}
	fine := func(what, text string) {
		t.Helper()
		if !strings.Contains(text, "main.go") {
			t.Errorf("%s: %s", what, text)
		}
	}
	fine("at first", s.Try(t, "find_referencing_symbols", symbol))
	st, err := process.ReadStat(s.ServerPID)
	if err != nil {
		t.Fatal(err)
	}
	in := monitor.Instance{Identity: st.Identity, Kind: monitor.KindSerena, ProjectName: "alpha", Recognised: true, Port: s.DashboardPort}
	l, told := newLanguageServers(t)
	restart := func(what string) {
		t.Helper()
		before := goplsOf(t, in.Identity)
		detail, err := l.Restart(t.Context(), in, stop.Order{By: "a test"})
		t.Logf("%s: %s, %v", what, detail, err)
		if err != nil || !strings.Contains(detail, "gopls") {
			t.Fatalf("%s: %q, %v", what, detail, err)
		}
		for _, p := range before {
			if process.MayLive(process.Local(), p.Identity) {
				t.Errorf("%s: %v may be alive", what, p)
			}
		}
	}
	restart("well")
	fine("after it was well", s.Try(t, "find_referencing_symbols", symbol))

	for _, p := range goplsOf(t, in.Identity) {
		if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	answer := s.Begin(t, "find_referencing_symbols", symbol)
	apptest.Eventually(t, "the call waits", func() bool { return slices.ContainsFunc(goplsOf(t, in.Identity), hasUnread) })
	restart("stopped, and a call waits")
	fine("the call that waited", answer(t))
	if len(*told) != 2 || (*told)[0].Kind != monitor.EventLanguageServer || !strings.HasPrefix((*told)[0].Detail, "by a test: ended ") {
		t.Errorf("%+v", *told)
	}
}

// A language server that could not start is started again by Serena's own tool, where it
// is listed.
func TestRealRestartByTool(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	settings := "language_backend: LSP\nweb_dashboard: true\nweb_dashboard_open_on_launch: false\nprojects: []\nincluded_optional_tools: [restart_language_server]\n"
	if err := errors.Join(os.Mkdir(filepath.Join(home, ".serena"), 0o700), os.WriteFile(filepath.Join(home, ".serena", "serena_config.yml"), []byte(settings), 0o600)); err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(serenatest.Tools(t), "bin")
	late := t.TempDir()
	s := serenatest.Start(t, serenatest.Options{
		Project: serenatest.GoProject(t, "alpha"), Context: "desktop-app", HTTP: true, Home: home, Env: []string{"PATH=" + late + ":/usr/bin:/bin:/usr/local/go/bin"},
	})
	s.WaitReady(t)
	s.Initialize(t)
	symbol := map[string]any{"name_path": "greet", "relative_path": "main.go"}
	if text := s.Try(t, "find_referencing_symbols", symbol); strings.Contains(text, "greet") && !strings.Contains(text, "rror") {
		t.Fatalf("it has started: %s", text)
	}
	st, err := process.ReadStat(s.ServerPID)
	if err != nil {
		t.Fatal(err)
	}
	in := monitor.Instance{
		Identity: st.Identity, Kind: monitor.KindSerena, ProjectName: "alpha", Recognised: true, Port: s.DashboardPort, Client: &monitor.Client{Name: "Codex"},
		Problem: &monitor.Problem{Cause: monitor.CauseLanguageServer, Kind: monitor.StartFailed},
	}
	l, _ := newLanguageServers(t)
	if _, err := l.Restart(t.Context(), in, stop.Order{}); err == nil || !strings.Contains(err.Error(), "only a restart of the server helps. Its client, Codex, loses it.") {
		t.Errorf("without a way to ask: %v", err)
	}
	if err := os.Symlink(filepath.Join(tools, "gopls"), filepath.Join(late, "gopls")); err != nil {
		t.Fatal(err)
	}
	in.MCPURL = s.MCPURL
	detail, err := l.Restart(t.Context(), in, stop.Order{By: "a test"})
	t.Logf("%s, %v", detail, err)
	if err != nil {
		t.Fatal(err)
	}
	if text := s.Try(t, "find_referencing_symbols", symbol); !strings.Contains(text, "main.go") {
		t.Errorf("%s", text)
	}
}
