//go:build real && bench && linux

package bench

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	facts "lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// registered is how many servers tell of themselves.
const registered = 10

// registrations measures how soon a server that says that it is there stands in
// the menu, which is read as a panel does it. The servers are real ones that
// run Serena as a library, so that nothing else finds them.
func (b *bench) registrations(t *testing.T) {
	p, sender, _ := b.run(t)
	apptest.Eventually(t, "we hold the port of the tray protocol", func() bool { return answersAt(managerURL + "/health") })
	said := listen(t, b.panel, sender)
	python := filepath.Join(serenatest.Tools(t), "venv", "bin", "python")
	script := filepath.Join(t.TempDir(), "mine.py")
	if err := os.WriteFile(script, []byte("from serena.cli import top_level\ntop_level(['start-mcp-server', '--context', 'desktop-app'])\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var ours []float64
	for range registered {
		s := serenatest.Start(t, serenatest.Options{Command: []string{python, script}})
		// Not always the next port: one that an earlier part has used rests for a minute.
		var port int
		apptest.Eventually(t, "the dashboard answers", func() bool {
			found, err := facts.Listeners([]int{s.PID})
			if err != nil || len(found) != 1 {
				return false
			}
			port = int(found[0].Addr.Port())
			return answersAt("http://127.0.0.1:" + strconv.Itoa(port) + "/heartbeat")
		})
		began := time.Now()
		(&trayManager{}).register(t, port, s.PID)
		shown := func() bool { return strings.Contains(b.panel.Labels(t, sender), strconv.Itoa(s.PID)+" - ") }
		for limit := time.After(time.Minute); !shown(); {
			select {
			case <-said.heard:
			case <-limit:
				t.Fatal("a server that registered is not in the menu")
			}
		}
		ours = append(ours, inMilliseconds(time.Since(began)))
	}
	b.add(spread("registration to menu", nil, ours, 50)...)
	p.Signal(t, syscall.SIGTERM)
	p.Status(t)
}
