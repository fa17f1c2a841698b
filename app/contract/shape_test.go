//go:build contract && linux

package contract

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// A shape is JSON that stands for other JSON. Its strings are the types of what
// may be there: text, number, bool, time (RFC 3339), any, a word after "=" for
// that text itself, or several with "|" between them; "?" at the end is for null
// as well. [X] is a list of X, and {} is any object. A member whose name ends in
// "?" may be missing. Others than those named must not be there.
type shape string

const (
	failure = shape(`{"error": "text"}`)

	process1 = `{"pid": "number", "name": "text"}`

	instance1 = `{"id": "text", "pid": "number?", "port": "number?", "kind": "text", "label": "text", "project_name": "text?", "project_root": "text?",
		"context": "text?", "modes": ["text"], "version": "text?", "state": "=starting|=live_with_project|=live_no_project|=live|=zombie|=parked",
		"cause": "text?", "reason": "text?", "problem": [{"kind": "text?", "language": "text?", "evidence": ["text"], "since": "time?"}, "null"], "started_at": "time?", "last_heartbeat": "time?", "last_activity": "time?", "busy": "bool?", "idle_seconds": "number?",
		"idle_since": "time?", "shutdown_at": "time?", "shutdown_reason": "text?", "kept_until": "time?", "tool_calls": "number?", "rss_bytes": "number?",
		"cpu_percent": "number?", "processes": "number?", "client": [` + process1 + `, "null"], "transport": "text?", "client_gone": "bool", "orphaned": "bool",
		"alone_since": "time?", "dashboard_url": "text?", "mcp_url": "text?", "managed": "bool", "shared_by": "number?", "clients": [` + process1 + `],
		"waiting": "number?", "alone_because": "text?", "saved_bytes": "number?", "pinned": "bool", "certainty": "=by_rule|=by_entry|=unsure", "on_pipes": "bool",
		"command": "text?", "directory": "text?",
		"entry": [{"name": "text", "client": "text", "file": "text", "scope": "=user|=project", "plugin": "text?"}, "null"],
		"words": {}}`
	instances = shape(`{"instances": [` + instance1 + `],
		"children": [{"client": ` + process1 + `, "list": [{"id": "text", "pid": "number", "name": "text"}], "words": "text", "names": "text"}],
		"repeated": [{"words": "text", "ids": ["text"], "keep": "text?"}]}`)

	policy1 = `{"active": "bool", "paused": "bool", "paused_until": "time?", "idle": "number", "orphans": "number",
		"rules": [{"name": "=orphans|=idle|=zombies|=memory|=duplicates", "words": "text", "on": "bool", "set": "bool", "minutes?": "number", "attached?": "bool"}]}`

	status1 = `{"version": "text", "pid": "number", "started_at": "time", "address": "text?", "warnings": ["text"], "given_back_bytes": "number",
		"given_back_since": "time?", "policy": ` + policy1 + `, "ended": [{"instance": ` + instance1 + `, "ended_at": "time", "why": "text"}]}`

	health = shape(`{"status": "=ok", "program": "=lamplighter", "version": "text", "pid": "number", "warnings": ["text"], "ready": "bool", "seq": "number"}`)

	event1 = `{"at": "time", "kind": "text", "id": "text", "pid": "number", "label": "text", "detail": "text", "freed_bytes?": "number", "words?": {}}`

	decision1 = `{"id": "text", "label": "text", "rule": "text?", "do": "=end|=wait|=notify|=refuse", "at": "time?", "reason": "text?", "because": "text?", "evidence": ["text"], "words": {}}`

	killed = shape(`{"error?": "text", "outcome": "text", "detail": "text", "steps": [` + event1 + `], "processes": "number", "freed_bytes": "number", "forceable?": "bool"}`)

	history = shape(`{"id": "text", "times": ["number"], "rss_bytes": ["number?"], "cpu_percent": ["number?"], "tool_calls": ["number?"]}`)

	login1  = `{"on": "bool", "can": "bool", "how": "text?", "why": "text?"}`
	welcome = shape(`{"show": "bool", "version": "text", "installed": "text?", "login": [` + login1 + `, "null"], "servers": "number", "clients": "number?", "page_url": "text?"}`)

	session1 = `{"session_id": "number?", "host": "=127.0.0.1", "port": "number?", "state": "=starting|=running|=ending", "project_path": "text", "server": "text",
		"mcp_url": "text?", "dashboard_url": "text?", "started_at": "time", "asked_by": [` + process1 + `, "null"]}`

	entry1 = `{"name": "text", "path": ["text"], "line": "number", "state": "=direct|=shared|=other|=gone|=remote|=odd", "serena": "bool", "off": "bool", "runs": ["text"],
		"now": "text", "becomes": ["text"], "why": "text", "alone": "text", "missing": "text", "broken": "text", "opens_page": "bool", "page_stops": "bool"}`

	workspaceMembers = `"id": "text", "name": "text", "path": "text", "kind": "=temp|=persistent|=hybrid", "job": "text", "project": "text", "state": "=ready|=ended|=archived|=removed",
		"source": {}, "shares": [{"from": "text", "to": "text"}], "cleanup": "=completion|=retention|=manual|=archive", "retention_seconds": "number", "created_at": "time",
		"used_at": "time", "completed_at": "time?", "ends_at": "time?", "ends": "text", "problem": "text?", "size_bytes": "number?", "files": "number?", "measured_at": "time?",
		"version_count": "number", "tmpdir": "text", "env_file": "text", "archive": [{}, "null"], "server": [{}, "null"]`
	workspace1 = `{` + workspaceMembers + `}`
	version1   = `{"version": "number", "message": "text", "at": "time", "files": "number", "size_bytes": "number", "left_out?": "number", "path": "text"}`
	progress1  = `{"phase": "text?", "files": "number", "files_total": "number?", "bytes": "number", "bytes_total": "number?", "percent": "number?", "left_seconds": "number?"}`
	making1    = `{"id": "text", "name": "text", "job": "text", "progress": ` + progress1 + `}`
	workspaces = shape(`{"workspaces": [` + workspace1 + `], "making": [` + making1 + `], "problem?": "text"}`)
	loss1      = `{"uncommitted": ["text"], "more": "number", "commits": ["text"], "more_commits": "number", "changed": "bool", "submodules": ["text"], "nested?": ["text"],
		"archive": "bool", "versions": "number", "words": "text", "unknown?": "text"}`
	user1   = `{"pid": "number", "name": "text", "how": "text"}`
	outcome = shape(`{"workspace": [` + workspace1 + `, "null"], "done": "bool", "dry_run": "bool", "what": "text", "loss": [` + loss1 + `, "null"], "in_use": [` + user1 + `],
		"freed_bytes": "number", "kept": "text", "why?": "text", "error?": "text"}`)
	stale1 = `{"path": "text", "repository": "text", "project": "text", "branch": "text", "head": "text", "made_by": "text", "used_at": "time", "size_bytes": "number",
		"files": "number", "merged": "bool", "pushed": "bool", "dirty": "bool", "locked": "bool", "locked_reason?": "text", "missing": "bool", "in_use": [` + user1 + `],
		"loss": ` + loss1 + `, "workspace_id?": "text", "removable": "bool", "why": "text"}`
)

// check compares a body with the shape.
func (s shape) check(t testing.TB, what string, body []byte) {
	t.Helper()
	var want, got any
	if err := json.Unmarshal([]byte(s), &want); err != nil {
		t.Fatalf("the shape for %s is wrong: %v", what, err)
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Errorf("%s: %v: %.300q", what, err, body)
		return
	}
	if wrong := differences(want, got, ""); wrong != nil {
		t.Errorf("%s: %s in\n%.2000s", what, strings.Join(wrong, "; "), body)
	}
}

// differences says where a value is not as the shape.
func differences(want, got any, at string) (wrong []string) {
	switch want := want.(type) {
	case string:
		if !isOf(want, got) {
			wrong = append(wrong, fmt.Sprintf("%s is not %s", at, want))
		}
	case []any:
		// [X, "null"] is X or null, everything else with one element is a list.
		if len(want) == 2 {
			if got == nil {
				return nil
			}
			return differences(want[0], got, at)
		}
		list, ok := got.([]any)
		if !ok {
			return append(wrong, at+" is not a list")
		}
		for i, element := range list {
			wrong = append(wrong, differences(want[0], element, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case map[string]any:
		members, ok := got.(map[string]any)
		if !ok {
			return append(wrong, at+" is not an object")
		}
		for name, of := range want {
			name, optional := strings.CutSuffix(name, "?")
			member, there := members[name]
			switch {
			case there:
				wrong = append(wrong, differences(of, member, at+"."+name)...)
			case !optional:
				wrong = append(wrong, at+"."+name+" is missing")
			}
		}
		for name := range members {
			if want[name] == nil && want[name+"?"] == nil && len(want) > 0 {
				wrong = append(wrong, at+"."+name+" is one more")
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

func isOf(types string, got any) bool {
	types, orNull := strings.CutSuffix(types, "?")
	if got == nil {
		return orNull || types == "any"
	}
	text, isText := got.(string)
	for word := range strings.SplitSeq(types, "|") {
		exact, literal := strings.CutPrefix(word, "=")
		_, isTime := time.Parse(time.RFC3339, text)
		switch {
		case literal && text == exact, word == "any", word == "text" && isText, word == "time" && isText && isTime == nil,
			word == "number" && reflect.TypeOf(got).Kind() == reflect.Float64, word == "bool" && reflect.TypeOf(got).Kind() == reflect.Bool:
			return true
		}
	}
	return false
}
