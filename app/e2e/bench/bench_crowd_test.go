//go:build real && bench && linux

package bench

import (
	"bufio"
	"io"
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

	"golang.org/x/sys/unix"

	"lamplighter/monitor/serena/serenatest"
)

// standIn has Serena's command line and answers what an idle Serena answers.
// A hundred real ones would need 11 GB. Like Serena over stdio it serves its
// dashboard beside a main thread that sleeps.
const standIn = `
import json, threading
from http.server import BaseHTTPRequestHandler, HTTPServer

answers = {route: json.dumps(answer).encode() for route, answer in {
    "/heartbeat": {"status": "alive"},
    "/last_execution": {"status": "success", "last_execution": None},
    "/queued_task_executions": {"status": "success", "queued_executions": []},
    "/get_config_overview": {"active_project": {"name": "alpha", "path": "/p/alpha"}, "context": {"name": "ide"},
                             "modes": [{"name": "editing"}], "serena_version": "2.1.0"},
    "/get_tool_stats": {"stats": {}},
    "/get_log_messages": {"messages": [], "max_idx": -1, "active_project": "alpha"},
}.items()}

class Dashboard(BaseHTTPRequestHandler):
    def do_GET(self):
        body = answers[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *args):
        pass

HTTPServer.request_queue_size = 64
server = HTTPServer(("127.0.0.1", 0), Dashboard)
threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 3600}, daemon=True).start()
print(server.server_address[1], flush=True)
threading.Event().wait()
`

// stand is a running stand-in.
type stand struct {
	cmd  *exec.Cmd
	port int
	end  func() // kills and reaps it, as its client does
}

func startStandIns(t *testing.T, n int) []*stand {
	t.Helper()
	script := filepath.Join(t.TempDir(), "serena")
	if err := os.WriteFile(script, []byte(standIn), 0o600); err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(serenatest.Tools(t), "venv", "bin", "python")
	var all []*stand
	var ports []io.Reader
	for range n {
		s := &stand{cmd: exec.Command(python, "-S", script, "start-mcp-server", "--context", "ide")}
		out, err := s.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s.end = sync.OnceFunc(func() { s.cmd.Process.Kill(); s.cmd.Wait() })
		t.Cleanup(s.end)
		all, ports = append(all, s), append(ports, out)
	}
	for i, s := range all {
		line, err := bufio.NewReader(ports[i]).ReadString('\n')
		if err != nil {
			t.Fatalf("a stand-in did not start: %v", err)
		}
		s.port = toNumber(t, strings.TrimSpace(line))
	}
	return all
}

// startCrowd starts n processes that have nothing to do with us, from one
// shell, which is quick.
func startCrowd(t *testing.T, n int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", `i=0; while [ $i -lt `+strconv.Itoa(n)+` ]; do sleep 3600 & i=$((i+1)); done; echo; wait`)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}

// probeSimply asks each dashboard for its heartbeat every 3 s, spread evenly,
// as a simple watcher would, and returns the percentage of a core that it
// takes. This program does nothing else meanwhile.
func probeSimply(t *testing.T, window time.Duration, all []*stand) float64 {
	t.Helper()
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	tick := time.NewTicker(3 * time.Second / time.Duration(len(all)))
	defer tick.Stop()
	began, before := time.Now(), clock(t, unix.CLOCK_PROCESS_CPUTIME_ID)
	for i := 0; time.Since(began) < window; i++ {
		<-tick.C
		resp, err := client.Get("http://127.0.0.1:" + strconv.Itoa(all[i%len(all)].port) + "/heartbeat")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	return 100 * float64(clock(t, unix.CLOCK_PROCESS_CPUTIME_ID)-before) / float64(time.Since(began))
}
