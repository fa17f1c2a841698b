//go:build real && bench && linux

package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor/serena/serenatest"
)

// managerURL is where Serena's tray manager listens, always.
const managerURL = "http://127.0.0.1:24224"

// managerProgram is Serena's tray manager, which prints what it shows whenever
// it brings its menu up to date.
const managerProgram = `
from serena.dashboard import SerenaDashboardTrayManager

class Told(SerenaDashboardTrayManager):
    def _update_menu(self):
        super()._update_menu()
        with self._lock:
            print(*self._instances, flush=True)

Told().run()
`

// trayManager is Serena's own tray manager, running: what people have today.
type trayManager struct {
	cmd *exec.Cmd
	*sightings
	end func()
}

// startTrayManager starts it and returns when its port answers.
func startTrayManager(t *testing.T, display, bus string) (*trayManager, time.Duration) {
	t.Helper()
	if conn, err := net.Dial("tcp", strings.TrimPrefix(managerURL, "http://")); err == nil {
		conn.Close()
		t.Fatalf("something answers on %s already; run this through ./build.sh bench", managerURL)
	}
	home := t.TempDir()
	m := &trayManager{sightings: newSightings()}
	m.cmd = exec.Command(filepath.Join(serenatest.Tools(t), "venv", "bin", "python"), "-c", managerProgram)
	m.cmd.Env = []string{
		"HOME=" + home, "SERENA_HOME=" + filepath.Join(home, ".serena"), "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8",
		"DISPLAY=" + display, "DBUS_SESSION_BUS_ADDRESS=" + bus, "SERENA_USAGE_REPORTING=false", "CI=true",
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			at := time.Now()
			var ports []int
			for _, word := range strings.Fields(lines.Text()) {
				if port, err := strconv.Atoi(word); err == nil {
					ports = append(ports, port)
				}
			}
			m.show(ports, at)
		}
	}()
	m.end = sync.OnceFunc(func() { m.cmd.Process.Kill(); <-read; m.cmd.Wait() })
	t.Cleanup(m.end)
	apptest.Eventually(t, "the tray manager answers", func() bool { return answersAt(managerURL + "/health") })
	return m, time.Since(began)
}

func answersAt(url string) bool {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// register is what an instance does when it starts.
func (m *trayManager) register(t *testing.T, port, pid int) {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"port": port, "pid": pid, "dashboard_url": fmt.Sprintf("http://127.0.0.1:%d/dashboard/index.html", port),
		"project": nil, "started_at": time.Now().Format("2006-01-02T15:04:05"), "open_viewer": false,
	})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(managerURL+"/register", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the tray manager answered %s", resp.Status)
	}
}

// startDisplay starts an X server without a screen to look at.
func startDisplay(t *testing.T) string {
	t.Helper()
	// Displays are numbered in /tmp, which is the whole machine's, and Xvfb
	// takes the lock of a server in another process namespace for a stale one.
	number := strconv.Itoa(10000 + rand.IntN(40000))
	cmd := exec.Command("Xvfb", ":"+number, "-screen", "0", "640x480x24", "-nolisten", "tcp")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(syscall.SIGTERM); cmd.Wait() }) // gives its number back
	apptest.Eventually(t, "the display is there", func() bool {
		conn, err := net.Dial("unix", "/tmp/.X11-unix/X"+number)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return ":" + number
}
