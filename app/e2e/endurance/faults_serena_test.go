//go:build real && full && linux

package endurance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor/programtest"
	"lamplighter/monitor/serena/serenatest"
)

// A test program of this name is a Serena as far as faults need one: it starts in
// a moment, so that dozens of them can come and go.
const standInName = "serena"

func init() {
	if filepath.Base(os.Args[0]) == standInName {
		os.Exit(standInSerena(os.Args[1:]))
	}
}

// standInSerena serves what an idle Serena serves: its dashboard, and MCP over
// HTTP where that is asked for. One over stdio ends with its standard input.
func standInSerena(args []string) int {
	if slices.Contains(args, "--version") {
		fmt.Println("Serena " + serenatest.Version)
		return 0
	}
	option := func(name string) string {
		if i := slices.Index(args, name); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	ended := make(chan struct{})
	var failed error
	serve := func(address string, handler http.Handler) {
		l, err := net.Listen("tcp4", address)
		if err == nil {
			go func() { _ = http.Serve(l, handler) }()
		}
		failed = errors.Join(failed, err)
	}
	serve("127.0.0.1:0", standInDashboard(option("--project"), func() { close(ended) }))
	if strings.HasPrefix(option("--transport"), "streamable") {
		server := mcp.NewServer(&mcp.Implementation{Name: "Serena", Version: serenatest.Version}, nil)
		mcp.AddTool(server, &mcp.Tool{Name: "where"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strconv.Itoa(os.Getpid())}}}, nil, nil
		})
		mux := http.NewServeMux()
		mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
		serve("127.0.0.1:"+option("--port"), mux)
	} else {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			close(ended)
		}()
	}
	if failed != nil {
		fmt.Fprintln(os.Stderr, failed)
		return 1
	}
	<-ended
	return 0
}

// standInDashboard has the routes that are asked of an idle Serena.
func standInDashboard(project string, end func()) http.Handler {
	active, name := "null", "null"
	if project != "" {
		active = fmt.Sprintf(`{"name": %q, "path": %q}`, filepath.Base(project), project)
		name = fmt.Sprintf("%q", filepath.Base(project))
	}
	routes := http.NewServeMux()
	for route, text := range map[string]string{
		"GET /heartbeat":              `{"status": "alive"}`,
		"GET /last_execution":         `{"status": "success", "last_execution": null}`,
		"GET /queued_task_executions": `{"status": "success", "queued_executions": []}`,
		"GET /get_config_overview": `{"active_project": ` + active + `, "context": {"name": "ide"}, "modes": [{"name": "editing"}], "serena_version": "` +
			serenatest.Version + `"}`,
		"GET /get_tool_stats":    `{"stats": {}}`,
		"POST /get_log_messages": `{"messages": [], "max_idx": -1, "active_project": ` + name + `}`,
	} {
		routes.HandleFunc(route, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, text)
		})
	}
	routes.HandleFunc("PUT /shutdown", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"status": "shutting down"}`)
		end()
	})
	return routes
}

// faulty is a home in which stand-ins for Serena are started by their name.
type faulty struct {
	*e2e.Manager
	standIn string // its program
}

// faultyHome has a stand-in on its PATH, and lamplighter does not run yet.
func faultyHome(t *testing.T) *faulty {
	t.Helper()
	return faultyOn(t, e2e.ManagerHome(t))
}

func faultyOn(t *testing.T, m *e2e.Manager) *faulty {
	t.Helper()
	f := &faulty{Manager: m}
	f.Initialised(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f.standIn = programtest.Copy(t, self, standInName)
	if err := os.Symlink(f.standIn, f.Path("bin", standInName)); err != nil {
		t.Fatal(err)
	}
	f.Env = append(f.Env, "PATH="+f.Path("bin")+":/usr/bin:/bin", "TMPDIR="+f.Path("tmp"))
	if err := os.Mkdir(f.Path("tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	return f
}

// sharedCommand is what clients run to have a stand-in for their project.
var sharedCommand = []string{standInName, "start-mcp-server", "--project-from-cwd", "--context", "ide"}

// where asks a shared stand-in for its pid.
func where(t *testing.T, s *e2e.Shim, id int) int {
	t.Helper()
	return toPID(t, s.Calls(t, id, "where", map[string]any{}))
}

func toPID(t *testing.T, text string) int {
	t.Helper()
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// foundOne is a stand-in over stdio that lamplighter has not started. Its client
// is the test.
type foundOne struct {
	cmd *exec.Cmd
	in  io.Closer
}

// finds starts one. It ends with the test at the latest.
func (f *faulty) finds(t *testing.T) *foundOne {
	t.Helper()
	cmd := exec.Command(f.standIn, "start-mcp-server", "--context", "ide")
	cmd.Env = []string{e2e.Besides + f.Mark, "HOME=" + f.Dir}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return &foundOne{cmd: cmd, in: in}
}

func (s *foundOne) pid() int { return s.cmd.Process.Pid }

// leaves ends one as its client does.
func (s *foundOne) leaves(t *testing.T) {
	t.Helper()
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Fatalf("a stand-in did not end well: %v", err)
	}
}

// standIns are the pids of the stand-ins that lamplighter has started.
func (f *faulty) standIns() (pids []int) {
	for pid := range f.Servers() {
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); exe == f.standIn && strings.Contains(e2e.CommandLine(pid), "start-mcp-server") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// lists waits until lamplighter shows exactly these of the servers that it has not
// started, all of them live.
func (f *faulty) lists(t *testing.T, want ...int) {
	t.Helper()
	slices.Sort(want)
	var got []int
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("listed last: %v, wanted %v", got, want)
		}
	})
	apptest.Eventually(t, fmt.Sprintf("these are listed: %v", want), func() bool {
		got = f.foundLive(t)
		return slices.Equal(got, want)
	})
}

// foundLive are the pids of the servers that lamplighter shows as live and has not
// started.
func (f *faulty) foundLive(t *testing.T) (pids []int) {
	t.Helper()
	for _, in := range f.onPage(t) {
		if in.PID != nil && !in.Managed && strings.HasPrefix(in.State, "live") {
			pids = append(pids, *in.PID)
		}
	}
	slices.Sort(pids)
	return pids
}

// onPage are all instances of the global dashboard; none when nobody serves it.
func (f *faulty) onPage(t *testing.T) []e2e.OnPage {
	t.Helper()
	status, _, body := e2e.Fetch(t, e2e.PageAt(f.Page)+"instances")
	if status != http.StatusOK {
		return nil
	}
	var list struct{ Instances []e2e.OnPage }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatalf("%v: %s", err, e2e.ExcerptOf(body))
	}
	return list.Instances
}

// sends sends a request to a route, from any goroutine; status 0 says that nobody
// answered.
func (f *faulty) sends(method, path, body string) (status int, answer string) {
	req, err := http.NewRequest(method, fmt.Sprintf("http://127.0.0.1:%d%s", f.Page, path), strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, strings.TrimSuffix(string(text), "\n")
}

// killed is a SIGKILL, and the end that follows.
func killed(t *testing.T, p *e2e.Process) {
	t.Helper()
	p.Signal(t, syscall.SIGKILL)
	<-p.Ended
}

// quits ends lamplighter as its menu does, with all that it has started.
func (f *faulty) quits(t *testing.T) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", f.Socket())
	}, DisableKeepAlives: true}}
	resp, err := client.Post("http://lamplighter/quit", "application/json", strings.NewReader(`{"restart": false}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if status := f.Run.Status(t); resp.StatusCode != http.StatusAccepted || status != 0 {
		t.Errorf("quitting: %d, then exit status %d: %s", resp.StatusCode, status, f.Run.Err.String())
	}
}
