//go:build real && bench && linux

package bench

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor/serena/serenatest"
)

// realServers measures both programs beside real servers that do nothing.
func (b *bench) realServers(t *testing.T) {
	m, _ := startTrayManager(t, b.display, b.bus)
	m.register(t, 1, os.Getpid()) // it ends when it knows nobody
	p, sender, _ := b.run(t)
	watching, stop := stream(t, b.home)
	for range servers {
		startRegistered(t).WaitReady(t)
	}
	watching.awaitCount(t, servers)
	m.awaitCount(t, servers+1)
	stop()
	said := listen(t, b.panel, sender)
	<-time.After(settling)

	before := said.count()
	idle := idleFor(t, window(t), m.cmd.Process.Pid, p.Cmd.Process.Pid)
	signals := said.since(before)
	if len(signals) > 0 {
		t.Logf("said on the bus while nothing happened: %v", signals)
	}
	name := func(what string) string { return what + ", " + strconv.Itoa(servers) + " servers" }
	memory := func(file, field string, target float64) row {
		return row{
			what:   name(field),
			theirs: megabytes(t, m.cmd.Process.Pid, file, field), ours: megabytes(t, p.Cmd.Process.Pid, file, field),
			unit: "MB", target: target,
		}
	}
	b.add(
		memory("status", "VmRSS", 20), memory("status", "RssAnon", 9), memory("smaps_rollup", "Pss", unknown),
		row{what: name("CPU when idle"), theirs: idle[0].percent, ours: idle[1].percent, unit: "%", target: 0.1},
		row{what: name("moments awake when idle"), theirs: idle[0].awake, ours: idle[1].awake, unit: "/s", target: 2, below: true},
		row{what: name("context switches when idle"), theirs: idle[0].switches, ours: idle[1].switches, unit: "/s", target: 2, below: true},
		row{what: name("signals on the bus when idle"), theirs: unknown, ours: float64(len(signals)), target: 0},
	)
	b.newcomers(t, m)
	p.Signal(t, syscall.SIGTERM)
	p.Status(t)
}

// startRegistered starts a real server that registers with the tray manager.
func startRegistered(t *testing.T) *serenatest.Server {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".serena"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := `language_backend: LSP
gui_log_window: false
web_dashboard: true
web_dashboard_open_on_launch: false
web_dashboard_interface: tray_manager
projects: []
`
	if err := os.WriteFile(filepath.Join(home, ".serena", "serena_config.yml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return serenatest.Start(t, serenatest.Options{Home: home})
}

// firstDashboard is the port that a server looks at first.
const firstDashboard = 24282

// newcomers measures how soon a server is shown after its dashboard's first
// answer: by looking around, and by its own word in what people have today.
func (b *bench) newcomers(t *testing.T, m *trayManager) {
	watching, stop := stream(t, b.home)
	defer stop()
	var theirs, ours []float64
	for i := range newcomers {
		port := firstDashboard + servers + i
		startRegistered(t)
		url := "http://127.0.0.1:" + strconv.Itoa(port) + "/heartbeat"
		apptest.Eventually(t, "the dashboard answers", func() bool { return answersAt(url) })
		first := time.Now()
		ours = append(ours, inMilliseconds(max(watching.awaitShown(t, port).Sub(first), 0)))
		theirs = append(theirs, inMilliseconds(max(m.awaitShown(t, port).Sub(first), 0)))
	}
	b.add(spread("first answer to shown (today: Serena's tray manager, at which it registers)", theirs, ours, 1000)...)
}
