//go:build contract && linux

package contract

import "slices"

// route is one route, what is sent to it and what comes back. Names in braces
// stand for what the test knows: the pids alpha, ended and shut, the workspace
// ws, paths and sessions.
type route struct {
	method, path string
	body         string // sent; "" is none
	status       int
	shape        shape    // of the answer; "" where it is not JSON
	refused      []string // bodies, or with ? queries, that it does not take
	only         string   // "socket": 404 on the ports; "8888": served there as well
}

const (
	p   = "/global-dashboard/"
	one = p + "instance/{alpha}/"
)

// noObject are bodies that no route takes.
var noObject = []string{`[]`, `{`, `{} {}`, `{"colour": "red"}`, `null`}

// with are those and some more.
func with(more ...string) []string { return slices.Concat(noObject, more) }

// routes are all that docs/http.md names, in the order in which they are asked.
// What is forwarded to a server is in forwarded, MCP in mcpRoutes.
var routes = []route{
	{method: "GET", path: p, status: 200},
	{method: "GET", path: p + "index.html", status: 200},
	{method: "GET", path: p + "instances", status: 200, shape: instances},
	{method: "GET", path: p + "status", status: 200, shape: status1},
	{method: "GET", path: p + "events", status: 200, shape: `{"events": [` + event1 + `]}`,
		refused: []string{"?since=never", "?since=-1h"}},
	{method: "GET", path: p + "events?since=1h", status: 200, shape: `{"events": [` + event1 + `]}`},
	{method: "GET", path: p + "events?since=2026-01-02T03:04:05Z", status: 200, shape: `{"events": [` + event1 + `]}`},
	{method: "GET", path: p + "history", status: 200, shape: history},
	{method: "GET", path: "/health", status: 200, shape: health, only: "8888"},
	{method: "GET", path: "/metrics", status: 200},
	{method: "POST", path: "/show", status: 200, shape: `{"url": "text?", "reason": "text?"}`, only: "socket"},

	{method: "GET", path: p + "policy", status: 200, shape: policy1},
	{method: "PUT", path: p + "policy", body: `{"paused": true, "minutes": 60}`, status: 200, shape: `{"paused": "bool", "paused_until": "time"}`,
		refused: with(`{"paused": "yes"}`, `{"paused": true, "minutes": -1}`,
			`{"rule": "all", "on": false}`, `{"rule": "idle"}`)},
	{method: "PUT", path: p + "policy", body: `{"rule": "idle", "on": true}`, status: 409, shape: failure},
	{method: "PUT", path: p + "policy", body: `{"rule": "idle", "minutes": 90, "attached": true}`, status: 200, shape: `{"rule": "=idle", "minutes": "number", "attached": "bool"}`,
		refused: with(`{"rule": "orphans", "minutes": 90, "attached": true}`, `{"rule": "idle", "minutes": 0, "attached": false}`, `{"rule": "idle", "minutes": null, "attached": true}`)},
	{method: "PUT", path: p + "policy", body: `{"rule": "idle", "minutes": null, "attached": false}`, status: 200, shape: `{"rule": "=idle", "minutes": "number?", "attached": "bool"}`},
	{method: "PUT", path: p + "policy", body: `{"paused": false}`, status: 200, shape: `{"paused": "bool", "paused_until": "time?"}`},
	{method: "PUT", path: p + "policy", body: `{"rule": "orphans", "on": true}`, status: 200, shape: `{"rule": "=orphans", "on": "bool"}`},
	{method: "GET", path: p + "decisions", status: 200, shape: `{"decisions": [` + decision1 + `]}`, refused: []string{"?what=some"}},
	{method: "GET", path: p + "decisions?what=all", status: 200, shape: `{"decisions": [` + decision1 + `]}`},

	{method: "PUT", path: one + "pin", body: `{"pinned": true}`, status: 200, shape: `{"pinned": "bool"}`, refused: with(`{}`, `{"pinned": 1}`)},
	{method: "PUT", path: one + "pin", body: `{"pinned": false}`, status: 200, shape: `{"pinned": "bool"}`},
	{method: "PUT", path: one + "keep", body: `{"minutes": 60}`, status: 200, shape: `{"kept_until": "time"}`,
		refused: with(`{}`, `{"minutes": -1}`, `{"minutes": 1e9}`)},
	{method: "PUT", path: one + "rule", body: `{"name": "notes"}`, status: 409, shape: failure, refused: with(`{"name": ""}`)},
	{method: "PUT", path: one + "keep", body: `{"minutes": 0}`, status: 200, shape: `{"kept_until": "time?"}`},
	{method: "GET", path: one + "history", status: 200, shape: history},
	{method: "POST", path: one + "kill", body: `{"dry_run": true}`, status: 200, shape: killed,
		refused: with(`{"force": "yes"}`, `{"rule": "all"}`, `{"force": false, "force": true}`)},
	{method: "POST", path: p + "instance/{ended}/kill", status: 200, shape: killed},
	{method: "PUT", path: p + "instance/{shut}/shutdown", status: 200, shape: `{"status": "text"}`},

	{method: "GET", path: p + "setup", status: 200, shape: clients},
	{method: "POST", path: p + "setup", body: `{"client": "codex", "dry_run": true}`, status: 200, shape: changes, refused: with()},
	{method: "POST", path: p + "setup", body: `{"client": "none", "dry_run": true}`, status: 404, shape: failure},
	{method: "POST", path: p + "setup", body: `{"client": "codex", "path": "/none", "dry_run": true}`, status: 404, shape: failure},
	{method: "GET", path: p + "login", status: 200, shape: login1},
	{method: "PUT", path: p + "login", body: `{"on": true}`, status: 200, shape: login1, refused: with(`{}`, `{"on": 1}`)},
	{method: "PUT", path: p + "login", body: `{"on": false}`, status: 200, shape: login1},
	{method: "GET", path: p + "welcome", status: 200, shape: welcome},
	{method: "PUT", path: p + "welcome", body: `{"dismissed": true}`, status: 200, shape: welcome, refused: with(`{}`)},

	// R1's are in session_test.go; what they refuse is theirs.
	{method: "POST", path: "/request-session", body: `{"project_path": "/none"}`, status: 400, shape: failure, only: "8888"},
	{method: "POST", path: "/release-session", body: `{"session_id": 1}`, status: 404, shape: failure, only: "8888"},
	{method: "GET", path: "/sessions", status: 200, shape: `{"sessions": [` + session1 + `]}`, only: "8888"},

	{method: "POST", path: "/workspaces", body: `{"kind": "persistent", "from": "{source}", "job": "fix"}`, status: 201, shape: workspace1,
		refused: with(`{"kind": "other", "from": "{source}", "job": "x"}`, `{"kind": "temp", "from": "relative", "job": "x"}`,
			`{"kind": "temp", "from": "/none", "job": "x"}`)},
	{method: "GET", path: "/workspaces", status: 200, shape: workspaces},
	{method: "GET", path: "/workspaces/{ws}", status: 200, shape: `{` + workspaceMembers + `, "versions": [` + version1 + `]}`},
	{method: "POST", path: "/workspaces/{ws}/keep", body: `{"message": "one"}`, status: 201, shape: version1, refused: with(`{"message": 1}`)},
	{method: "GET", path: "/workspaces/{ws}/diff?from=1", status: 200, shape: `{"from": "number", "to": "number", "changes": [{"path": "text",
		"what": "=added|=removed|=changed|=mode", "diff?": "text"}], "left_out": "number"}`, refused: []string{"?from=x", "?from=9"}},
	{method: "POST", path: "/workspaces/{ws}/archive", status: 200, shape: workspace1},
	{method: "POST", path: "/workspaces/{ws}/restore", status: 200, shape: workspace1, refused: with(`{"version": "one"}`)},
	{method: "POST", path: "/workspaces/{ws}/restore", body: `{"version": 1}`, status: 200, shape: workspace1},
	{method: "POST", path: "/workspaces/{ws}/complete", status: 200, shape: outcome},
	{method: "DELETE", path: "/workspaces/{ws}?dry_run=true", status: 200, shape: outcome},
	{method: "DELETE", path: "/workspaces/{ws}?force=true", status: 200, shape: outcome},
	{method: "POST", path: "/workspaces/scan", body: `{"dirs": ["{repository}"]}`, status: 200, shape: `{"worktrees": [` + stale1 + `], "problems": ["text"]}`,
		refused: with(`{"dirs": "x"}`, `{"dirs": ["relative"]}`)},
	{method: "POST", path: "/workspaces/scan/remove", body: `{"path": "{worktree}", "dry_run": true}`, status: 200, shape: outcome,
		refused: with(`{"path": 1}`, `{"path": "/none"}`)},
}

// forwarded are what a Serena answers itself.
var forwarded = []route{
	{method: "POST", path: one + "get_log_messages", body: `{"start_idx": 0}`, refused: with(`{"start_idx": "0"}`)},
	{method: "GET", path: one + "get_tool_names"},
	{method: "GET", path: one + "get_tool_stats"},
	{method: "GET", path: one + "get_token_count_estimator_name"},
	{method: "GET", path: one + "get_config_overview"},
	{method: "GET", path: one + "queued_task_executions"},
	{method: "GET", path: one + "last_execution"},
	{method: "POST", path: one + "clear_tool_stats"},
	{method: "POST", path: one + "cancel_task_execution", body: `{"task_id": 7}`, refused: with(`{"task_id": "7"}`)},
	{method: "GET", path: one + "get_available_languages"},
	{method: "POST", path: one + "add_language", body: `{"language": "go"}`, refused: with(`{"language": 1}`)},
	{method: "POST", path: one + "remove_language", body: `{"language": "go"}`, refused: with()},
	{method: "POST", path: one + "get_memory", body: `{"memory_name": "notes"}`, refused: with()},
	{method: "POST", path: one + "delete_memory", body: `{"memory_name": "notes"}`, refused: with()},
	{method: "POST", path: one + "save_memory", body: `{"memory_name": "notes", "content": "…"}`, refused: with(`{"memory_name": "notes"}`, `{"memory_name": "\ud800", "content": ""}`)},
	{method: "POST", path: one + "rename_memory", body: `{"old_name": "notes", "new_name": "plans"}`, refused: with()},
}

// elsewhere are the routes with tests of their own.
var elsewhere = []route{
	{method: "GET", path: p + "stream"}, {method: "GET", path: "/workspaces/stream"}, {method: "POST", path: "/quit"},
	{method: "POST", path: "/mcp"}, {method: "GET", path: "/mcp"}, {method: "DELETE", path: "/mcp"},
}
