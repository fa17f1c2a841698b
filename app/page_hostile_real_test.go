//go:build real && linux

package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
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
const markup = `"'><img src=x onerror="window.pwned=1"><script>window.pwned=1</script><svg onload=window.pwned=1>javascript:window.pwned=1//`

// hostileDashboard is a Serena server to whoever looks at it, and says markup
// wherever a dashboard has a text of its own.
const hostileDashboard = `#!/usr/bin/env python3
import http.server, json, os
M = os.environ["MARKUP"]
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

// hostileServer starts one, in a project whose name is markup too, and returns
// the port of its dashboard once it is shown.
func (h *home) hostileServer(t *testing.T) (port int) {
	t.Helper()
	serena := h.path("bin", "serena")
	if err := programtest.WriteFile(serena, []byte(hostileDashboard), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(serena, "start-mcp-server", "--context", markup, "--project", "/"+markup)
	cmd.Env = append(os.Environ(), "MARKUP="+markup)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	apptest.Eventually(t, "the hostile server is shown with its project", func() bool {
		in, found := h.listing(t)[cmd.Process.Pid]
		if found && in.Port != nil {
			port = *in.Port
		}
		return port != 0
	})
	return port
}

// Whatever a server says is text on the page, everywhere.
func TestThePageTakesNothingForMarkup(t *testing.T) {
	h := newHome(t)
	h.settings(t, portSetting(freePort(t)))
	h.write(t, `{"mcpServers": {"`+strings.ReplaceAll(markup, `"`, `\"`)+`": {"command": "`+strings.ReplaceAll(markup, `"`, `\"`)+
		`", "args": ["serena", "start-mcp-server", "`+strings.ReplaceAll(markup, `"`, `\"`)+`"]}, "serena": {"command": "serena", "args": ["start-mcp-server", "--project", "`+
		strings.ReplaceAll(markup, `"`, `\"`)+`"]}}}`, ".claude.json")
	h.background(t)
	address := h.page(t)
	port := h.hostileServer(t)
	page := browsertest.Start(t).Open(t, address, browsertest.Options{})
	page.Forgive("status of") // what the hostile one answers may be refused
	const inMain = `(document.querySelector("#main")?.innerText ?? "").includes("window.pwned=1")`
	for _, part := range []string{"", "%d", "%d/logs", "%d/events", "%d/memories", "clients"} {
		if strings.Contains(part, "%d") {
			part = fmt.Sprintf(part, port)
		}
		page.Go(t, address+"#/"+part)
		page.Await(t, fmt.Sprintf("%q shows the markup as text", part), inMain)
		if browsertest.Eval[bool](t, page, `"pwned" in window || document.querySelector("body [onerror], body script, body [onload], [href^='javascript:']") !== null`) {
			t.Errorf("%q: markup was taken for more than text", part)
		}
	}
}

// elsewhere is a page of another origin on this machine, with what such pages try.
const elsewhere = `<!doctype html><meta charset="utf-8"><title>elsewhere</title><body><script>
async function tries(at) {
  const out = {};
  const page = at + "global-dashboard/";
  const got = async (name, what) => { try { out[name] = await Promise.race([what(), new Promise(d => setTimeout(() => d("nothing"), 4000))]); } catch (e) { out[name] = "refused"; } };
  await got("read", async () => "READ " + await (await fetch(page + "instances")).text());
  await got("no-cors", async () => { const r = await fetch(page + "instances", {mode: "no-cors"}); return r.type + r.status + (await r.text()).length; });
  await got("put", async () => "DONE " + (await fetch(page + "policy", {method: "PUT", headers: {"Content-Type": "application/json"}, body: '{"paused":true,"minutes":60}'})).status);
  await got("text", async () => { await fetch(at + "workspaces", {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body: '{"kind":"temp","job":"x"}'}); return "sent"; });
  await got("blob", async () => { await fetch(at + "mcp?project=/tmp", {method: "POST", mode: "no-cors", body: new Blob(['{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'])}); return "sent"; });
  await got("beacon", async () => { navigator.sendBeacon(at + "quit", '{"restart":false}'); navigator.sendBeacon(page + "instance/1/kill"); return "sent"; });
  await got("socket", () => new Promise(d => { const s = new WebSocket(at.replace("http", "ws") + "global-dashboard/stream"); s.onopen = () => d("OPEN"); s.onerror = () => d("refused"); }));
  await got("stream", () => new Promise(d => { const s = new EventSource(page + "stream"); s.onmessage = () => d("READ"); s.onerror = () => { s.close(); d("refused"); }; }));
  await got("script", () => new Promise(d => { const s = document.createElement("script"); s.src = page + "instances"; s.onload = () => d("LOADED"); s.onerror = () => d("refused"); document.body.append(s); }));
  await got("module", () => new Promise(d => { const s = document.createElement("script"); s.src = page + "assets/http.js"; s.type = "module"; s.onload = () => d("LOADED"); s.onerror = () => d("refused"); document.body.append(s); }));
  await got("image", () => new Promise(d => { const s = new Image(); s.src = page + "assets/lantern.svg"; s.onload = () => d("LOADED"); s.onerror = () => d("refused"); }));
  await got("style", () => new Promise(d => { const s = document.createElement("link"); s.rel = "stylesheet"; s.href = page + "assets/base.css"; s.onload = () => d("LOADED"); s.onerror = () => d("refused"); document.head.append(s); }));
  await got("worker", async () => { await navigator.serviceWorker.register(page + "assets/http.js"); return "REGISTERED"; });
  await got("frame", () => new Promise(d => { const s = document.createElement("iframe"); s.src = page; s.name = "f"; s.onload = () => { let n; try { n = s.contentDocument ? "BLANK" : "closed"; n += s.contentWindow.length; } catch (e) { n = "closed"; } d(n); }; document.body.append(s); }));
  await got("form", () => new Promise(d => { const s = document.createElement("iframe"); s.name = "t"; document.body.append(s); const f = document.createElement("form"); f.method = "post"; f.target = "t"; f.enctype = "text/plain"; f.action = at + "workspaces"; const i = document.createElement("input"); i.name = '{"kind":"temp","job":"x'; i.value = '"}'; f.append(i); document.body.append(f); f.submit(); setTimeout(() => d("sent"), 700); }));
  return out;
}
</script>`

// A page of another origin can neither read nor do anything, also when it is on
// this machine, or has a name that leads here.
func TestPagesOfOthersAreKeptOut(t *testing.T) {
	h := newHome(t)
	port := freePort(t)
	h.settings(t, portSetting(port)+fmt.Sprintf("session_port: %d\n", freePort(t)))
	h.background(t)
	address := h.page(t)
	root := strings.TrimSuffix(address, "global-dashboard/")
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	other := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, elsewhere)
	})}}
	other.Start()
	t.Cleanup(other.Close)
	theirs := l.Addr().(*net.TCPAddr).Port
	browser := browsertest.Start(t)
	for _, host := range []string{"127.0.0.1", "localhost", "evil.localhost"} {
		page := browser.Open(t, fmt.Sprintf("http://%s:%d/", host, theirs), browsertest.Options{})
		page.Forgive("") // the browser says of each try that it failed
		for _, at := range []string{root, strings.Replace(root, "127.0.0.1", "localhost", 1), strings.Replace(root, "127.0.0.1", "[::1]", 1), strings.Replace(root, "127.0.0.1", "evil.localhost", 1), strings.Replace(root, "127.0.0.1", "0.0.0.0", 1)} {
			said := browsertest.Eval[map[string]string](t, page, fmt.Sprintf("tries(%q)", at))
			t.Logf("%s -> %s: %v", host, at, said)
			for name, came := range said {
				if strings.ToLower(came) != came || strings.HasPrefix(came, "opaque200") {
					t.Errorf("a page at %s asks %s: %s: %s", host, at, name, came)
				}
			}
		}
	}
	// One whose name was pointed at us shows nothing of ours.
	page := browser.Open(t, "http://evil.localhost:"+fmt.Sprint(port)+"/global-dashboard/", browsertest.Options{})
	page.Forgive("")
	if text := browsertest.Eval[string](t, page, "document.documentElement.innerText"); !strings.Contains(text, "another host") {
		t.Errorf("under another name it shows %q", text)
	}
	if _, _, body := fetch(t, address+"policy"); !strings.Contains(body, `"paused":false`) {
		t.Errorf("the policies are %s", body)
	}
	if _, _, body := fetch(t, root+"workspaces"); strings.Contains(body, `"job":"x`) {
		t.Errorf("a workspace was made: %s", body)
	}
	if trees, _ := filepath.Glob(h.state() + "/workspaces/trees/*"); len(trees) != 0 {
		t.Errorf("workspaces were made: %q", trees)
	}
}
