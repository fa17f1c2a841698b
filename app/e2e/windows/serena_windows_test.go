package windows

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// fakeSerena is a Serena as Windows has it, because there is no Python for Wine
// here: serena.exe, which only starts Python with itself as the script, and
// that serves the dashboard. Both end when their standard input does.
func fakeSerena() int {
	if filepath.Base(os.Args[0]) == "serena.exe" {
		cmd := exec.Command(filepath.Join(filepath.Dir(os.Args[0]), "python.exe"), os.Args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stop := make(chan struct{})
	answer := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, text)
		}
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /heartbeat", answer(`{"status":"alive"}`))
	routes.HandleFunc("GET /get_config_overview", answer(`{"active_project":{"name":"lamps","path":"C:\\work\\lamps"},"context":{"name":"ide"},"modes":[],"serena_version":"2.1.0"}`))
	routes.HandleFunc("GET /get_tool_stats", answer(`{"stats":{}}`))
	routes.HandleFunc("GET /last_execution", answer(`{"status":"success","last_execution":null}`))
	routes.HandleFunc("GET /queued_task_executions", answer(`{"status":"success","queued_executions":[]}`))
	routes.HandleFunc("POST /get_log_messages", answer(`{"messages":["INFO  2026-11-20 12:00:00,000 one line"],"max_idx":0,"active_project":"lamps"}`))
	routes.HandleFunc("PUT /shutdown", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"status":"shutting down"}`)
		close(stop)
	})
	go func() { _ = http.Serve(l, routes) }()
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(stop) }()
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	<-stop
	return 0
}

// listed is what the tests read of an instance on the command line.
type listed struct {
	ID, Kind, Label, State string
	PID                    int
	Port                   *int
	ProjectName            string `json:"project_name"`
	ProjectRoot            string `json:"project_root"`
	Processes              int
	RSSBytes               *uint64 `json:"rss_bytes"`
	Client                 *struct {
		PID  int
		Name string
	}
}

// instances are those that status lists.
func (h *home) instances(t *testing.T) []listed {
	t.Helper()
	status, out, said := h.does(t, "status", "--json")
	var list struct{ Instances []listed }
	if err := json.Unmarshal([]byte(out), &list); err != nil || status != 0 {
		t.Fatalf("status: %d, %q, %q, %v", status, out, said, err)
	}
	return list.Instances
}

// server is a running MCP server, with us as its client.
type server struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{}
}

// serve starts a server that ends with the test.
func serve(t *testing.T, cmd *exec.Cmd) *server {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{cmd: cmd, stdin: stdin, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		_ = cmd.Wait() // it may be killed
	}()
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Process.Kill() // it may have ended
		<-s.ended
	})
	return s
}

// startSerena starts a fake Serena, with the name of its project.
func startSerena(t *testing.T) *server {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "Program Files")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"serena.exe", "python.exe"} {
		if err := os.WriteFile(filepath.Join(dir, name), program, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(dir, "serena.exe"), "start-mcp-server", "--project", `C:\work\lamps`, "--context", "ide")
	cmd.Env = append(os.Environ(), helperMode+"=serena")
	var out apptest.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	s := serve(t, cmd)
	apptest.Eventually(t, "the dashboard listens", func() bool { return strings.Contains(out.String(), "\n") })
	return s
}

// await waits until status lists one instance that is as wanted.
func (h *home) await(t *testing.T, what string, wanted func(listed) bool) listed {
	t.Helper()
	var found listed
	apptest.Eventually(t, what, func() bool {
		list := h.instances(t)
		if len(list) == 1 {
			found = list[0]
		}
		return len(list) == 1 && wanted(list[0])
	})
	return found
}

// One lamp for the two processes, with the port of the one, and both end
// together.
func TestSerenaIsSeenAndStopped(t *testing.T) {
	for name, background := range map[string]bool{"with the tray": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			var tray *process
			if background {
				tray = h.served(t, h.startBare(t, gui))
			}
			s := startSerena(t)
			// The tree may have been looked at before the second one had started.
			in := h.await(t, "both of its processes are live", func(in listed) bool {
				return in.State == "live_with_project" && in.Processes == 2
			})
			if in.Kind != "serena" || in.ProjectName != "lamps" || in.ProjectRoot != `C:\work\lamps` ||
				in.Port == nil || in.RSSBytes == nil || *in.RSSBytes == 0 {
				t.Errorf("%+v", in)
			}
			if in.Client == nil || in.Client.PID != os.Getpid() {
				t.Errorf("its client is %+v, not %d", in.Client, os.Getpid())
			}
			if status, out, said := h.does(t, "logs", "lamps"); status != 0 || !strings.Contains(out, "one line") {
				t.Errorf("logs: %d, %q, %q", status, out, said)
			}
			// We are the client, above the program that is told to stop it.
			status, out, said := h.does(t, "stop", "lamps")
			if status != 0 {
				t.Fatalf("stop: %d, %q, %q", status, out, said)
			}
			<-s.ended
			apptest.Eventually(t, "it is gone", func() bool { return len(h.instances(t)) == 0 })
			if tray != nil {
				tray.end(t)
				if status := tray.status(t); status != 0 {
					t.Errorf("exit status %d", status)
				}
			}
		})
	}
}
