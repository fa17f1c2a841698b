//go:build real && soak && linux

package endurance

// synthetic has Serena's command line and its dashboard's answers. What it answers
// is changed while it runs, by POST /soak: its project, or that it hangs. Its
// habits are in SOAK_HABITS: "eof" ends with its client as a healthy server does,
// "deaf" does not end when its dashboard is asked to, "stubborn" does not end by
// SIGTERM.
const synthetic = `
import json, os, signal, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

habits = os.environ.get("SOAK_HABITS", "").split()
said = {"project": os.environ.get("SOAK_PROJECT", "alpha")}
free = threading.Event()
free.set()

def answer(route):
    p = said["project"]
    return {
        "/heartbeat": {"status": "alive"},
        "/last_execution": {"status": "success", "last_execution": None},
        "/queued_task_executions": {"status": "success", "queued_executions": []},
        "/get_config_overview": {"active_project": {"name": p, "path": "/p/" + p} if p else None, "context": {"name": "ide"},
                                 "modes": [{"name": "editing"}], "serena_version": "2.1.0", "agent_interface": "tools"},
        "/get_tool_stats": {"stats": {}},
        "/get_log_messages": {"messages": [], "max_idx": -1, "active_project": p},
    }[route]

class Dashboard(BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/soak":
            said.update(json.loads(body))
            if said.get("hang"):
                free.clear()
            else:
                free.set()
            self.reply({})
        elif self.path == "/shutdown":
            self.reply({})
            if "deaf" not in habits:
                os._exit(0)
        else:
            free.wait()
            self.reply(answer(self.path))
    def reply(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
    do_POST = do_PUT = do_GET
    def log_message(self, *args):
        pass

def ended_with_its_client():
    while os.read(0, 4096):
        pass
    os._exit(0)

if "stubborn" in habits:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "eof" in habits:
    threading.Thread(target=ended_with_its_client, daemon=True).start()
ThreadingHTTPServer.request_queue_size = 64
ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer.handle_error = lambda *args: None
server = ThreadingHTTPServer(("127.0.0.1", 0), Dashboard)
threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 3600}, daemon=True).start()
print(server.server_address[1], flush=True)
threading.Event().wait()
`
