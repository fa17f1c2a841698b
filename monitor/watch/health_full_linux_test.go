//go:build real && full

package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/serena/serenatest"
)

// TestRealLanguageServers is TestRealLanguageServer with the other versions.
func TestRealLanguageServers(t *testing.T) {
	for _, version := range []string{serenatest.Version15, serenatest.Version17} {
		t.Run(version, func(t *testing.T) { testLanguageServer(t, version, false) })
	}
	// A tool that runs blocks it, and its log file is closed.
	t.Run("1.7.0 over HTTP", func(t *testing.T) { testLanguageServer(t, serenatest.Version17, true) })
}

// TestRealLostDashboard: a real Serena has chosen the port of its dashboard, and before
// it listens there another one does.
func TestRealLostDashboard(t *testing.T) {
	t.Parallel()
	home, late, gate := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "gate")
	code := "import os, time, flask\nrun = flask.Flask.run\ndef late(*args, **more):\n    while not os.path.exists('" + gate + "'): time.sleep(0.05)\n    run(*args, **more)\nflask.Flask.run = late\n"
	if err := os.WriteFile(filepath.Join(late, "sitecustomize.py"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	loser := serenatest.Start(t, serenatest.Options{
		Command: []string{filepath.Join(serenatest.Tools(t), "venv", "bin", "serena"), "start-mcp-server", "--open-web-dashboard", "false"},
		Home:    home, Env: []string{"PYTHONPATH=" + late},
	})
	serenas := filepath.Join(home, ".serena")
	waitFor(t, "it has chosen a port", func() bool { return serena.ReadClaim(serenas, loser.PID, began) != nil })
	winner := serenatest.Start(t, serenatest.Options{})
	winner.WaitReady(t)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := New(Options{SerenaHome: serenas})
	serve(t, w)
	in := await(t, w, loser.PID, "it has lost its dashboard", patience, inState(monitor.StateZombie, monitor.CauseNoDashboard))
	if p := in.Problem; p.Port != winner.DashboardPort || !strings.HasPrefix(p.Reason, fmt.Sprintf("another Serena (%d - ", winner.ServerPID)) || in.Port != 0 {
		t.Errorf("%+v, %+v", in, p)
	}
	t.Log(in.Reason)
	await(t, w, winner.ServerPID, "the winner is well", patience, inState(monitor.StateNoProject, ""))
}
