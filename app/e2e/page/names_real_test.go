//go:build real && linux

package page

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
	"lamplighter/monitor/programtest"
)

// markup would show itself as window.pwned if any of it were taken for more than
// text.
const (
	markup       = `"'><img src=x onerror="window.pwned=1"><script>window.pwned=1</script><svg onload=window.pwned=1>javascript:window.pwned=1//`
	markupAsJSON = `"\"'><img src=x onerror=\"window.pwned=1\"><script>window.pwned=1</script><svg onload=window.pwned=1>javascript:window.pwned=1//"`
)

// strange is a name that somebody might have, in three scripts and far too long.
var strange = "الفوانيس القديمة 街の灯り 🏮 " + strings.Repeat("a very long name ", 12) + strings.Repeat("street", 20)

// hostileDashboard is a Serena server to whoever looks at it, and says SAYS
// wherever a dashboard has a text of its own.
const hostileDashboard = `#!/usr/bin/env python3
import http.server, json, os
M = os.environ["SAYS"]
class H(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self):
        n = int(self.headers.get("Content-Length") or 0)
        if n: self.rfile.read(n)
        task = {"name": "Task-1:" + M, "task_id": 1, "is_running": False, "finished_successfully": True, "logged": True}
        said = {
            "/heartbeat": {"status": "alive"},
            "/get_config_overview": {"active_project": {"name": M, "path": "/" + M, "language": M, "languages": [M]}, "context": {"name": M, "description": M, "path": M},
                "modes": [{"name": M, "description": M, "path": M}], "active_tools": [M], "tool_stats_summary": {M: {"num_calls": 1}}, "registered_projects": [{"name": M, "path": M, "is_active": True}],
                "available_tools": [{"name": M, "is_active": True}], "available_modes": [{"name": M, "is_active": True, "path": M}], "available_contexts": [{"name": M, "is_active": True, "path": M}],
                "available_memories": [M], "jetbrains_mode": False, "languages": [M], "encoding": M, "current_client": M, "serena_version": M, "agent_interface": M},
            "/get_tool_names": {"tool_names": [M]},
            "/get_tool_stats": {"stats": {M: {"num_times_called": 3, "input_tokens": 5, "output_tokens": 7}}},
            "/get_token_count_estimator_name": {"token_count_estimator_name": M},
            "/get_log_messages": {"messages": ["ERROR 2026-01-01 00:00:00,000 [" + M + "] " + M, M, "INFO " + M], "max_idx": 2, "active_project": M},
            "/queued_task_executions": {"status": "success", "queued_executions": [task]},
            "/last_execution": {"status": "success", "last_execution": task},
            "/get_available_languages": {"status": "success", "languages": [M]},
            "/get_memory": {"status": "success", "content": M, "memory_name": M},
        }.get(self.path.split("?")[0])
        body = json.dumps(said if said is not None else {"status": "error", "message": M}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_PUT = do_GET
for port in range(24282, 24300):
    try: s = http.server.ThreadingHTTPServer(("127.0.0.1", port), H)
    except OSError: continue
    break
s.serve_forever()
`

// thatSays starts one, in a project of that name too, and returns its pid once its
// dashboard is known.
func (s *street) thatSays(t *testing.T, name string) (pid int) {
	t.Helper()
	serena := filepath.Join(t.TempDir(), "serena")
	if err := programtest.WriteFile(serena, []byte(hostileDashboard), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(serena, "start-mcp-server", "--context", name, "--project", "/"+name)
	cmd.Env = append(os.Environ(), "SAYS="+name)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	apptest.Eventually(t, "the hostile server is shown with its project", func() bool {
		in, found := s.Listing(t)[cmd.Process.Pid]
		return found && in.Port != nil
	})
	return cmd.Process.Pid
}

// Whatever a server, a workspace or the settings of a client say is text on the page,
// everywhere, and runs into nothing.
func (s *street) namesAreText(t *testing.T) {
	hostile, other := s.thatSays(t, markup), s.thatSays(t, strange)
	job := s.create(t, "--kind", "temp", "--job", markup)
	t.Cleanup(func() { s.Does(t, "workspace", "rm", job.ID, "--force") })
	p := s.open(t, s.address)
	p.Forgive("status of") // what the hostile one answers may be refused
	shows := func(part, what string) {
		t.Helper()
		p.Go(t, s.address+"#/"+part)
		p.Await(t, fmt.Sprintf("%q shows the words as text", part), fmt.Sprintf("(document.querySelector('main')?.innerText ?? '').replace(/\\s+/g, ' ').includes(%q)", what))
		if browsertest.Eval[bool](t, p, `"pwned" in window || document.querySelector("body [onerror], body script, body [onload], [href^='javascript:']") !== null`) {
			t.Errorf("%q: markup was taken for more than text", part)
		}
	}
	for _, part := range []string{"", "%d", "%d/logs", "%d/events", "%d/memories", "clients", "workspaces"} {
		if strings.Contains(part, "%d") {
			part = fmt.Sprintf(part, hostile)
		}
		shows(part, "window.pwned=1")
	}
	shows("", "الفوانيس القديمة 街の灯り 🏮")
	looks(t, p, "the overview with strange names")
	browsertest.Eval[any](t, p, `localStorage.setItem("lamplighter-groups", '"project"'), location.reload()`)
	p.Await(t, "the name of a group leaves room for tabs", `(all => all.length > 1 && all.every(one => one.offsetWidth < 320))([...document.querySelectorAll(".tab-group")])`)
	looks(t, p, "groups with strange names")
	shows(fmt.Sprint(other), "الفوانيس القديمة 街の灯り 🏮")
	looks(t, p, "a server with a strange name")
}
