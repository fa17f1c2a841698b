package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/workspace"
)

const aWire = `"name":"alpha-fix-000000a1","path":"/home/u/trees/alpha-fix-000000a1","kind":"temp","job":"fix","project":"alpha","state":"ready","source":{"kind":"empty"},` +
	`"cleanup":"completion","created_at":"2026-11-22T10:00:00Z","used_at":"2026-11-22T10:00:00Z","completed_at":null,"ends_at":null,"ends":"removed when its job ends",` +
	`"measured_at":null,"version_count":0,"tmpdir":"/t","env_file":"/e","shares":[],"size_bytes":null,"files":null,"problem":null,"archive":null,"server":null,"retention_seconds":86400`

// onSystem has the paths in a body, or in what is asked for, begin as absolute ones do on this system.
func onSystem(text string) string {
	if runtime.GOOS != "windows" {
		return text
	}
	return strings.ReplaceAll(text, `"/`, `"C:/`)
}

// aStale is /w as it is asked for on this system.
var aStale = strings.Trim(onSystem(`"/w"`), `"`)

// tryHere is try with paths of this system in the body.
func tryHere(t *testing.T, h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	return try(t, h, method, path, onSystem(body))
}

func TestWorkspaces(t *testing.T) {
	y := &yard{
		list:     []workspace.Workspace{aWorkspace(anID, "fix")},
		making:   []workspace.Making{{ID: anotherID, Name: "alpha-b-1", Job: "b\u202e", Progress: workspace.Progress{Phase: workspace.Copying, Files: 1, FilesTotal: -1, Bytes: 3, BytesTotal: 4, Percent: 75, Left: time.Second}}},
		versions: []workspace.Version{{Number: 1, Message: "it works", At: time.Date(2026, 11, 22, 11, 0, 0, 0, time.UTC), Files: 2, Bytes: 3, Path: "/v/1/tree"}},
		changes:  []workspace.Change{{Path: "a.go", What: "changed", Diff: "-a\n+b\n"}},
	}
	h := withWorkspaces(y)
	const one = "/workspaces/" + anID
	for _, test := range []struct{ method, target, body, want string }{
		{"GET", "/workspaces", "", `{"workspaces":[{"id":"` + anID + `",` + aWire + `}],"making":[{"id":"` + anotherID + `","name":"alpha-b-1","job":"b\u202e","progress":` +
			`{"phase":"copying","files":1,"files_total":null,"bytes":3,"bytes_total":4,"percent":75,"left_seconds":1}}]}`},
		{"GET", one, "", `{"id":"` + anID + `",` + aWire + `,"versions":[{"version":1,"message":"it works","at":"2026-11-22T11:00:00Z","files":2,"size_bytes":3,"path":"/v/1/tree"}]}`},
		{"GET", "/workspaces/fix", "", `{"id":"` + anID + `",` + aWire + `,"versions":[{"version":1,"message":"it works","at":"2026-11-22T11:00:00Z","files":2,"size_bytes":3,"path":"/v/1/tree"}]}`},
		{"GET", one + "/diff?from=3&to=4", "", `{"from":3,"to":4,"changes":[{"path":"a.go","what":"changed","diff":"-a\n+b\n"}],"left_out":0}`},
		{"GET", one + "/diff", "", `{"from":1,"to":0,"changes":[{"path":"a.go","what":"changed","diff":"-a\n+b\n"}],"left_out":0}`},
		{"POST", one + "/keep", `{"message":"better"}`, `{"version":2,"message":"better","at":"0001-01-01T00:00:00Z","files":0,"size_bytes":0,"path":"/v/2"}`},
		{"POST", one + "/restore", `{"version":1}`, `{"id":"` + anID + `",` + aWire + `}`},
		{"POST", one + "/restore", "", `{"id":"` + anID + `",` + aWire + `}`},
		{"POST", one + "/archive", "", `{"id":"` + anID + `",` + strings.Replace(aWire, "ready", "archived", 1) + `}`},
		{"POST", one + "/archive", "{}", `{"id":"` + anID + `",` + strings.Replace(aWire, "ready", "archived", 1) + `}`},
	} {
		w := tryHere(t, h, test.method, test.target, test.body)
		status := 200
		if strings.HasSuffix(test.target, "/keep") {
			status = 201
		}
		if w.Code != status || strings.TrimSpace(w.Body.String()) != test.want || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: %d %s\nwant %s", test.method, test.target, w.Code, w.Body, test.want)
		}
	}
	want := []string{"diff " + anID + " 3 4", "diff " + anID + " 1 0", "keep " + anID + ` "better"`, "restore " + anID + " 1", "restore " + anID + " 0", "archive " + anID, "archive " + anID}
	if got := y.asked(); !slices.Equal(got, want) || y.canceled {
		t.Errorf("asked %q, which a client can end: %v", got, y.canceled)
	}
	for target, status := range map[string]int{anotherID: 202, "alpha-b-1": 202, "01936f3e-7c00-7000-8000-0000000000a3": 404} {
		w := tryHere(t, h, "GET", "/workspaces/"+target, "")
		if w.Code != status || status == 202 && !strings.HasPrefix(w.Body.String(), `{"id":"`+anotherID+`","name":"alpha-b-1",`) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if w := tryHere(t, withWorkspaces(&yard{}), "GET", "/workspaces", ""); w.Body.String() != `{"workspaces":[],"making":[]}`+"\n" {
		t.Errorf("none: %s", w.Body)
	}
	measured := aWorkspace(anID, "fix")
	measured.SizeBytes, measured.Files, measured.MeasuredAt, measured.Problem = 0, 7, &measured.UsedAt, "in use"
	measured.Archive = &workspace.Archive{Path: "/a.tar.zst", Bytes: 5, At: measured.UsedAt}
	w := tryHere(t, withWorkspaces(&yard{list: []workspace.Workspace{measured}}), "GET", "/workspaces", "")
	apptest.Contains(t, w.Body.String(), `"size_bytes":0,"files":7,"problem":"in use","archive":{"path":"/a.tar.zst","bytes":5,"at":"2026-11-22T10:00:00Z"}`)
}

// What cannot be read keeps nobody from the rest.
func TestWorkspacesThatCannotBeRead(t *testing.T) {
	broken := errors.New("reading x.json\x1b: it is not the record of a workspace")
	w := tryHere(t, withWorkspaces(&yard{findErr: broken, list: []workspace.Workspace{aWorkspace(anID, "fix")}}), "GET", "/workspaces", "")
	if w.Code != 200 || !strings.HasSuffix(w.Body.String(), `}],"making":[],"problem":"reading x.json: it is not the record of a workspace"}`+"\n") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := tryHere(t, withWorkspaces(&yard{findErr: broken}), "GET", "/workspaces", ""); w.Code != 500 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestWorkspaceMethods(t *testing.T) {
	y := &yard{list: []workspace.Workspace{aWorkspace(anID, "stream"), aWorkspace(anotherID, "scan")}}
	h := withWorkspaces(y)
	for _, test := range []struct{ method, target, allow string }{
		{"PUT", "/workspaces", "GET, POST, HEAD"},
		{"DELETE", "/workspaces", "GET, POST, HEAD"},
		{"POST", "/workspaces/" + anID, "GET, DELETE, HEAD"},
		{"DELETE", "/workspaces/stream", "GET, HEAD"}, // not the one of that name
		{"POST", "/workspaces/stream", "GET, HEAD"},
		{"GET", "/workspaces/scan", "POST"},
		{"DELETE", "/workspaces/scan", "POST"},
		{"GET", "/workspaces/scan/remove", "POST"},
		{"GET", "/workspaces/" + anID + "/keep", "POST"},
		{"POST", "/workspaces/" + anID + "/diff", "GET, HEAD"},
	} {
		if w := tryHere(t, h, test.method, test.target, ""); w.Code != 405 || w.Header().Get("Allow") != test.allow {
			t.Errorf("%s %s: %d, Allow %q, %s", test.method, test.target, w.Code, w.Header().Get("Allow"), w.Body)
		}
	}
	for _, target := range []string{"/workspaces/", "/workspaces/" + anID + "/", "/workspaces/" + anID + "/x", "/workspaces/a%20b", "/workspaces/..", "/workspaces/scan/x", "/workspacesx"} {
		if w := tryHere(t, h, "GET", target, ""); w.Code != 404 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if told := y.asked(); told != nil {
		t.Errorf("asked %q", told)
	}
	w := tryHere(t, h, "HEAD", "/workspaces/stream", "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/event-stream" || w.Body.Len() != 0 {
		t.Errorf("HEAD: %d %s", w.Code, w.Body)
	}
}

func TestBadOrdersOfWorkspaces(t *testing.T) {
	y := &yard{list: []workspace.Workspace{aWorkspace(anID, "fix")}}
	h := withWorkspaces(y)
	const one = "/workspaces/" + anID
	for _, test := range []struct{ method, target, body, error string }{
		{"POST", "/workspaces", "", "kind has to be temp, persistent or hybrid"},
		{"POST", "/workspaces", "[]", "the body is not like {"},
		{"POST", "/workspaces", "{", "has no end"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a"} x`, "something follows"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","Async":true}`, "Async"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","forse":true}`, "there is no such field here"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","job":"b"}`, "job is given twice"},
		{"POST", "/workspaces", `{"kind":"temp","job":"\ud800"}`, "half a character"},
		{"POST", "/workspaces", `{"kind":"temp","job":null}`, "job is null; leave it out"},
		{"POST", "/workspaces", `{"kind":7,"job":"a"}`, "kind is not a string"},
		{"POST", "/workspaces", `{"kind":"tmp","job":"a"}`, "kind has to be"},
		{"POST", "/workspaces", `{"kind":"temp"}`, "job is missing"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","share":"node_modules"}`, "share is not a list of strings"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","share":[1]}`, "share is not a list of strings"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","share":[` + strings.Repeat(`"a",`, 100) + `"a"]}`, "more than 100 directories"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","cleanup":"later"}`, "cleanup has to be"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","retention_seconds":1.5}`, "retention_seconds is not a whole number"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","retention_seconds":"60"}`, "retention_seconds is not a whole number"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","retention_seconds":-1}`, "retention_seconds has to be from 0"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","retention_seconds":9223372036854775807}`, "retention_seconds has to be from 0"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","serve":"yes"}`, "serve is not true or false"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","wait":1}`, "wait is not true or false"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","async":"true"}`, "async is not true or false"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","from":"src"}`, "from has to be an absolute path"},
		{"POST", "/workspaces", `{"kind":"temp","job":"a","in":"~/src"}`, "in has to be an absolute path"},
		{"POST", one + "/keep", "", "message is missing"},
		{"POST", one + "/keep", `{"message":""}`, "message is missing"},
		{"POST", one + "/keep", `{"message":["a"]}`, "message is not a string"},
		{"POST", one + "/archive", `{"force":true}`, "there is no such field here"},
		{"POST", one + "/complete", `[]`, "the body is not like {}"},
		{"POST", one + "/restore", `{"version":"1"}`, "version is not a whole number"},
		{"POST", one + "/restore", `{"version":-1}`, "version is below 0"},
		{"POST", "/workspaces/scan", "", "dirs is missing"},
		{"POST", "/workspaces/scan", `{"dirs":[]}`, "dirs is missing"},
		{"POST", "/workspaces/scan", `{"dirs":["/a","b"]}`, "each of dirs has to be an absolute path"},
		{"POST", "/workspaces/scan", `{"dirs":[` + strings.Repeat(`"/a",`, 100) + `"/a"]}`, "more than 100 directories"},
		{"POST", "/workspaces/scan/remove", "", "path has to be an absolute path"},
		{"POST", "/workspaces/scan/remove", `{"path":"/a","dryrun":true}`, "there is no such field here"},
		{"POST", "/workspaces/scan/remove", `{"path":"/a","force":"yes"}`, "force is not true or false"},
		{"DELETE", one + "?force=yes", "", "force is neither true nor false"},
		{"DELETE", one + "?dryrun=true", "", `\"dryrun\": there is no such parameter here`},
		{"DELETE", one + "?dry_run=true&dry_run=false", "", "dry_run is given more than once"},
		{"DELETE", one + "?dry_run=", "", "dry_run is neither true nor false"},
		{"DELETE", one + "?dry_run=true;force=true", "", "cannot be read"},
		{"DELETE", one, `{"dry_run":true}`, "a DELETE takes no body"},
		{"GET", one + "/diff?from=0", "", "from is the number of a version"},
		{"GET", one + "/diff?from=1&to=x", "", "to is the number of a version"},
		{"GET", one + "/diff?version=1", "", "there is no such parameter here"},
	} {
		w := tryHere(t, h, test.method, test.target, test.body)
		if w.Code != 400 || !strings.Contains(w.Body.String(), test.error) {
			t.Errorf("%s %s %.80s: %d %s", test.method, test.target, test.body, w.Code, w.Body)
		}
	}
	if told := y.asked(); told != nil || len(y.requests) > 0 {
		t.Errorf("asked %q, %+v", told, y.requests)
	}
	if w := tryHere(t, h, "GET", one+"/diff", ""); w.Code != 409 || !strings.Contains(w.Body.String(), "no versions yet") {
		t.Errorf("no version: %d %s", w.Code, w.Body)
	}
}

// Each error has its status, and foreign text in it cannot disturb.
func TestErrorsOfWorkspaces(t *testing.T) {
	const one = "/workspaces/" + anID
	routes := [][3]string{
		{"POST", "/workspaces", `{"kind":"temp","job":"a"}`}, {"POST", "/workspaces", `{"kind":"temp","job":"a","async":true}`},
		{"GET", one, ""}, {"GET", one + "/diff?from=1", ""}, {"GET", one + "/diff", ""}, {"DELETE", one, ""}, {"POST", one + "/keep", `{"message":"a"}`}, {"POST", one + "/archive", ""},
		{"POST", one + "/restore", ""}, {"POST", one + "/complete", ""}, {"POST", "/workspaces/scan", `{"dirs":["/a"]}`}, {"POST", "/workspaces/scan/remove", `{"path":"/a"}`},
	}
	for _, test := range []struct {
		err    error
		status int
	}{
		{fmt.Errorf("%w: no \x1b[2Jsuch\u202e ref", workspace.ErrBadRequest), 400},
		{fmt.Errorf("%w: it has gone", workspace.ErrUnknown), 404},
		{fmt.Errorf("%w: wait", workspace.ErrBusy), 409},
		{fmt.Errorf("%w: 4711", workspace.ErrInUse), 409},
		{fmt.Errorf("%w: 3 files", workspace.ErrLoss), 409},
		{fmt.Errorf("%w: a temp one", workspace.ErrState), 409},
		{&workspace.Ambiguous{Name: "fix", IDs: []string{anID, anotherID}}, 409},
		{&workspace.TooMany{Limit: 1}, 429},
		{fmt.Errorf("%w: it burnt", workspace.ErrNoServer), 500},
		{errors.New("no space left on device"), 500},
	} {
		y := &yard{list: []workspace.Workspace{aWorkspace(anID, "fix")}, err: test.err}
		h := withWorkspaces(y)
		for _, r := range routes {
			w := tryHere(t, h, r[0], r[1], r[2])
			var refusal Failure
			if w.Code != test.status || decode(w, &refusal) != nil || refusal.Error == "" || strings.ContainsAny(w.Body.String(), "\x1b\u202e") {
				t.Errorf("%v: %s %s: %d %s", test.err, r[0], r[1], w.Code, w.Body)
			}
		}
	}
	missing := withWorkspaces(&yard{})
	for _, r := range routes[2:10] {
		if w := tryHere(t, missing, r[0], r[1], r[2]); w.Code != 404 {
			t.Errorf("%s %s: %d %s", r[0], r[1], w.Code, w.Body)
		}
	}
	broken := withWorkspaces(&yard{findErr: errors.New("records cannot be read")})
	for _, r := range append(routes[2:10], [3]string{"GET", "/workspaces", ""}) {
		if w := tryHere(t, broken, r[0], r[1], r[2]); w.Code != 500 || !strings.Contains(w.Body.String(), "records cannot be read") {
			t.Errorf("%s %s: %d %s", r[0], r[1], w.Code, w.Body)
		}
	}
}

func TestOutcomesOfWorkspaces(t *testing.T) {
	ours := aWorkspace(anID, "fix")
	const one = "/workspaces/" + anID
	for name, test := range map[string]struct {
		method, target, body string
		outcome              workspace.Outcome
		err                  error
		status               int
		answer, told         string
	}{
		"removed": {"DELETE", one, "", workspace.Outcome{Workspace: ours, Done: true, What: "removed", Freed: 5, Kept: "the branch x"}, nil, 200,
			`{"done":true,"dry_run":false,"what":"removed","freed_bytes":5,"kept":"the branch x","workspace":{"id":"` + anID + `",` + aWire + `},"in_use":[],"loss":null}`,
			"remove " + anID + " {Force:false DryRun:false By:a request}"},
		"would be": {"DELETE", one + "?dry_run=true&force=false", "", workspace.Outcome{What: "would be removed", Loss: &workspace.Loss{}}, nil, 200,
			`{"done":false,"dry_run":true,"what":"would be removed","freed_bytes":0,"kept":"","workspace":null,"in_use":[],"loss":{"uncommitted":[],"more":0,"commits":[],"more_commits":0,"changed":false,"submodules":[],"archive":false,"versions":0,"words":""}}`,
			"remove " + anID + " {Force:false DryRun:true By:a request}"},
		"loss": {"DELETE", one + "?force=true", "", workspace.Outcome{Why: "3 files", Loss: &workspace.Loss{Uncommitted: []string{"a"}, More: 2, Words: "3 files that are not committed"}}, fmt.Errorf("%w: 3 files", workspace.ErrLoss), 409,
			`{"done":false,"dry_run":false,"what":"","freed_bytes":0,"kept":"","why":"3 files","workspace":null,"in_use":[],"loss":{"uncommitted":["a"],"more":2,"commits":[],"more_commits":0,"changed":false,"submodules":[],"archive":false,"versions":0,"words":"3 files that are not committed"},"error":"work would be lost: 3 files"}`,
			"remove " + anID + " {Force:true DryRun:false By:a request}"},
		"would not be": {"POST", "/workspaces/scan/remove", `{"path":"/w","dry_run":true}`, workspace.Outcome{}, fmt.Errorf("%w: it is locked", workspace.ErrState), 200,
			`{"done":false,"dry_run":true,"what":"","freed_bytes":0,"kept":"","why":"this is not possible in its state: it is locked","workspace":null,"in_use":[],"loss":null}`,
			"remove stale " + aStale + " {Force:false DryRun:true By:a request}"},
		"in use": {"POST", "/workspaces/scan/remove", `{"path":"/w","force":true}`, workspace.Outcome{InUse: []workspace.User{{PID: 7, Name: "vim", How: "works in it"}}}, workspace.ErrInUse, 409,
			`{"done":false,"dry_run":false,"what":"","freed_bytes":0,"kept":"","why":"a process works in this workspace","workspace":null,"in_use":[{"pid":7,"name":"vim","how":"works in it"}],"loss":null,"error":"a process works in this workspace"}`,
			"remove stale " + aStale + " {Force:true DryRun:false By:a request}"},
		"completed": {"POST", one + "/complete", "", workspace.Outcome{Why: "in use"}, nil, 200,
			`{"done":false,"dry_run":false,"what":"","freed_bytes":0,"kept":"","why":"in use","workspace":null,"in_use":[],"loss":null}`, "complete " + anID + " by a request"},
	} {
		t.Run(name, func(t *testing.T) {
			y := &yard{list: []workspace.Workspace{ours}, outcome: test.outcome, err: test.err}
			w := tryHere(t, withWorkspaces(y), test.method, test.target, test.body)
			if told := y.asked(); w.Code != test.status || strings.TrimSpace(w.Body.String()) != test.answer || !slices.Equal(told, []string{test.told}) || y.canceled {
				t.Errorf("%d %s\nwant %s\ntold %q; ends with its client: %v", w.Code, w.Body, test.answer, told, y.canceled)
			}
		})
	}
}

func TestScanOfWorktrees(t *testing.T) {
	y := &yard{scanned: workspace.Scanned{Worktrees: []workspace.Stale{{Path: "/w", Removable: true}}}}
	w := tryHere(t, withWorkspaces(y), "POST", "/workspaces/scan", `{"dirs":["/a","/b"]}`)
	apptest.Contains(t, w.Body.String(), `{"worktrees":[{"path":"/w",`, `"in_use":[],"loss":{"uncommitted":[],`, `"removable":true`, `"problems":[]}`)
	if told := y.asked(); w.Code != 200 || !slices.Equal(told, []string{onSystem(`scan ["/a" "/b"]`)}) {
		t.Errorf("%d, told %q", w.Code, told)
	}
	if w := tryHere(t, withWorkspaces(&yard{}), "POST", "/workspaces/scan", `{"dirs":["/a"]}`); w.Body.String() != `{"worktrees":[],"problems":[]}`+"\n" {
		t.Errorf("nothing: %s", w.Body)
	}
}

// An answer stays within bounds, whatever has changed.
func TestLongDiff(t *testing.T) {
	var changes []workspace.Change
	for i := range 12 {
		changes = append(changes, workspace.Change{Path: fmt.Sprint(i), What: "changed", Diff: strings.Repeat("x", 1<<20)})
	}
	y := &yard{list: []workspace.Workspace{aWorkspace(anID, "fix")}, changes: changes}
	w := tryHere(t, withWorkspaces(y), "GET", "/workspaces/"+anID+"/diff?from=1", "")
	var diff WorkspaceDiff
	if err := decode(w, &diff); err != nil || w.Code != 200 || len(diff.Changes) != 12 || diff.LeftOut != 4 || w.Body.Len() > mostDiff+4096 {
		t.Errorf("%v: %d, %d changes, %d left out, %d bytes", err, w.Code, len(diff.Changes), diff.LeftOut, w.Body.Len())
	}
	if changes[11].Diff == "" {
		t.Error("what the manager has was changed")
	}
}
