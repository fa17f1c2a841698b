package assistant

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"lamplighter/app/apptest"
	"lamplighter/app/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func example() workspace.Workspace {
	ends := noon.Add(time.Hour)
	return workspace.Workspace{
		ID: "019aa0c3-0000-7000-8000-00001a2b3c4d", Name: "alpha-fix-1a2b3c4d", Path: "/trees/alpha-fix-1a2b3c4d", Kind: workspace.Temp, Job: "fix",
		Project: "alpha", State: workspace.Ready, Cleanup: workspace.AtCompletion, Retention: 24 * time.Hour, CreatedAt: noon, UsedAt: noon, EndsAt: &ends,
		Ends: "removed", SizeBytes: -1,
	}
}

// pipe is one of the system, except on Windows, where closing one waits for whoever
// reads from it.
func pipe(t *testing.T) (io.ReadCloser, io.WriteCloser) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return io.Pipe()
	}
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return from, to
}

// talk connects a client of the SDK with a server on f, over a pipe of the system,
// and returns besides what the server has written. end ends the server's ctx, and
// returns what Serve has returned.
func talk(t *testing.T, f *fake, o *mcp.ClientOptions) (session *mcp.ClientSession, wrote *apptest.Buffer, end func() error) {
	t.Helper()
	fromClient, toServer := pipe(t)
	fromServer, toClient := pipe(t)
	wrote = &apptest.Buffer{}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := Serve(ctx, Options{Manager: f, Dir: here, Version: "1.2.3", In: fromClient, Out: io.MultiWriter(toClient, wrote)})
		toClient.Close()
		ended <- err
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Title: "Test\x1b[31mer", Version: "1"}, o)
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		session.Close()
		end()
		for _, line := range strings.Split(strings.TrimSuffix(wrote.String(), "\n"), "\n") {
			var message struct {
				Version string `json:"jsonrpc"`
			}
			if err := json.Unmarshal([]byte(line), &message); err != nil || message.Version != "2.0" {
				t.Errorf("this is no JSON-RPC: %q", line)
			}
		}
	})
	return session, wrote, end
}

func call(t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any) (text string, structured map[string]any, failed bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	structured, _ = result.StructuredContent.(map[string]any)
	for _, c := range result.Content {
		text += c.(*mcp.TextContent).Text
	}
	return text, structured, result.IsError
}

func TestToolsAreOffered(t *testing.T) {
	session, _, _ := talk(t, &fake{}, nil)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	effects := map[string]effect{}
	for _, tool := range list.Tools {
		if tool.Description == "" || tool.Title == "" || tool.OutputSchema == nil {
			t.Errorf("%s lacks words or a schema", tool.Name)
		}
		e := adds
		switch {
		case tool.Annotations.ReadOnlyHint:
			e = looks
		case *tool.Annotations.DestructiveHint:
			e = alters
		}
		effects[tool.Name] = e
		properties, _ := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
		for name, schema := range properties {
			if s, _ := schema.(map[string]any); s["description"] == nil {
				t.Errorf("%s does not describe %s", tool.Name, name)
			}
		}
	}
	want := map[string]effect{
		"workspace_create": adds, "workspace_list": looks, "workspace_show": looks, "workspace_keep": adds, "workspace_diff": looks, "workspace_archive": alters,
		"workspace_restore": alters, "workspace_complete": alters, "workspace_scan": looks, "workspace_remove": alters,
	}
	for name, e := range want {
		if got, ok := effects[name]; !ok || got != e {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
	if len(effects) != len(want) {
		t.Errorf("offered are %v", effects)
	}
	if got := session.InitializeResult(); got.ServerInfo.Name != "lamplighter" || got.ServerInfo.Version != "1.2.3" || got.Instructions == "" {
		t.Errorf("%+v", got)
	}
}

// Directories that need not be there: where the server is, and another one.
var here, abs = filepath.Join(os.TempDir(), "here"), filepath.Join(os.TempDir(), "abs")

func TestCreate(t *testing.T) {
	f := &fake{made: example()}
	session, _, _ := talk(t, f, nil)
	text, made, failed := call(t, session, "workspace_create", map[string]any{
		"kind": "hybrid", "job": "fix", "from": "repo", "ref": "main", "in": abs, "share": []string{"node_modules"}, "cleanup": "archive",
		"retention_seconds": 90, "serve": true, "wait": true, "project": "p",
	})
	if failed || made["path"] != example().Path || made["retention_seconds"] != 86400.0 || made["ends_at"] != "2026-11-20T13:00:00Z" || made["completed_at"] != nil || !strings.Contains(text, example().ID) {
		t.Errorf("%v %v %s", failed, made, text)
	}
	want := workspace.Request{
		Kind: workspace.Hybrid, Job: "fix", From: filepath.Join(here, "repo"), Ref: "main", In: abs, Share: []string{"node_modules"}, Cleanup: workspace.ToArchive,
		Retention: 90 * time.Second, Serve: true, Wait: true, Project: "p",
	}
	if got := fmt.Sprintf("%+v", f.request); got != fmt.Sprintf("%+v", want) {
		t.Errorf("asked for %s", got)
	}
}

func TestRefusals(t *testing.T) {
	in3h := time.Now().Add(3*time.Hour + 5*time.Second)
	for name, test := range map[string]struct {
		f    *fake
		tool string
		args map[string]any
		want string
	}{
		"too many":        {&fake{err: &workspace.TooMany{Limit: 1, Holders: []workspace.Workspace{example()}, FreeAt: &in3h}}, "workspace_create", map[string]any{"kind": "temp", "job": "x"}, "the limit of 1 workspace is reached: they are held by alpha-fix-1a2b3c4d; one is due to be free in 3 h. Call it again with wait"},
		"bad request":     {&fake{err: fmt.Errorf("%w: no", workspace.ErrBadRequest)}, "workspace_create", map[string]any{"kind": "temp", "job": "x"}, "the request cannot be carried out: no"},
		"unknown kind":    {&fake{}, "workspace_create", map[string]any{"kind": "big", "job": "x"}, "big"},
		"no job":          {&fake{}, "workspace_create", map[string]any{"kind": "temp"}, "job"},
		"unknown member":  {&fake{}, "workspace_create", map[string]any{"kind": "temp", "job": "x", "colour": 1}, "colour"},
		"wrong type":      {&fake{}, "workspace_create", map[string]any{"kind": "temp", "job": 7}, "job"},
		"long retention":  {&fake{}, "workspace_create", map[string]any{"kind": "temp", "job": "x", "retention_seconds": int64(1) << 50}, "retention_seconds is"},
		"minus retention": {&fake{}, "workspace_create", map[string]any{"kind": "temp", "job": "x", "retention_seconds": -1}, "retention_seconds is -1"},
		"unknown":         {&fake{}, "workspace_show", map[string]any{"workspace": "none"}, `no such workspace: "none"; workspace_list shows them`},
		"empty":           {&fake{}, "workspace_complete", map[string]any{"workspace": ""}, "workspace is empty"},
		"no versions":     {&fake{}, "workspace_diff", map[string]any{"workspace": "x"}, "has no versions to compare with; workspace_keep makes one"},
		"minus version":   {&fake{}, "workspace_restore", map[string]any{"workspace": "x", "version": -2}, "versions are numbered from 1"},
		"neither":         {&fake{}, "workspace_remove", map[string]any{}, "give either workspace or path"},
		"both":            {&fake{}, "workspace_remove", map[string]any{"workspace": "x", "path": "/x"}, "give either workspace or path"},
		"no list":         {&fake{err: errors.New("the disk is gone")}, "workspace_list", nil, "the disk is gone"},
		"no directory":    {&fake{}, "workspace_scan", map[string]any{"dirs": []string{""}}, "the name of a directory is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			session, _, _ := talk(t, test.f, nil)
			text, _, failed := call(t, session, test.tool, test.args)
			if !failed || !strings.Contains(text, test.want) {
				t.Errorf("%v %s", failed, text)
			}
			if len(test.f.asked) > 0 {
				t.Errorf("asked for %q", test.f.asked)
			}
		})
	}
}

func TestCalls(t *testing.T) {
	id := example().ID
	f := &fake{
		list:     []workspace.Workspace{example()},
		versions: []workspace.Version{{Number: 1}, {Number: 4, Message: "good"}},
		changes:  []workspace.Change{{Path: "a", What: "changed", Diff: strings.Repeat("x", diffMost-1)}, {Path: "b", What: "changed", Diff: "yy"}, {Path: "c", What: "added"}},
		outcome:  workspace.Outcome{Workspace: example(), Done: true, What: "removed", Kept: "the branch"},
		scanned:  workspace.Scanned{Worktrees: []workspace.Stale{{Path: "/old", Removable: true}}},
	}
	session, _, _ := talk(t, f, nil)
	for _, test := range []struct {
		tool string
		args map[string]any
		want string // in the answer
		asks string
	}{
		{"workspace_list", nil, `"workspaces":[{`, ""},
		{"workspace_show", map[string]any{"workspace": "fix"}, `"message":"good"`, ""},
		{"workspace_keep", map[string]any{"workspace": "fix", "message": "m"}, `"version":3`, "keep " + id + " m"},
		{"workspace_diff", map[string]any{"workspace": "fix"}, `"without_text":1`, "diff " + id + " 4 0"},
		{"workspace_diff", map[string]any{"workspace": "fix", "from": 1, "to": 4}, `"to":4`, "diff " + id + " 1 4"},
		{"workspace_archive", map[string]any{"workspace": "fix"}, `"name":"alpha-fix-1a2b3c4d"`, "archive " + id},
		{"workspace_restore", map[string]any{"workspace": "fix"}, `"name":"alpha-fix-1a2b3c4d"`, "restore " + id + " 0"},
		{"workspace_restore", map[string]any{"workspace": "fix", "version": 4}, `"name":"alpha-fix-1a2b3c4d"`, "restore " + id + " 4"},
		{"workspace_complete", map[string]any{"workspace": "fix"}, `"kept":"the branch"`, "complete " + id + " Test[31mer, over MCP"},
		{"workspace_scan", nil, `"path":"/old"`, fmt.Sprintf("scan %q", []string{here})},
		{"workspace_scan", map[string]any{"dirs": []string{".", abs}}, `"problems":[]`, fmt.Sprintf("scan %q", []string{here, abs})},
		{"workspace_remove", map[string]any{"workspace": "fix", "dry_run": true}, `"done":true`, "remove " + id + " {Force:false DryRun:true By:Test[31mer, over MCP}"},
		{"workspace_remove", map[string]any{"path": "old", "force": true}, `"done":true`, "stale " + filepath.Join(here, "old") + " {Force:true DryRun:false By:Test[31mer, over MCP}"},
	} {
		f.asked = nil
		text, structured, failed := call(t, session, test.tool, test.args)
		if failed || structured == nil || !strings.Contains(text, test.want) {
			t.Errorf("%s %v: %v %s", test.tool, test.args, failed, text)
		}
		if want := slices.DeleteFunc([]string{test.asks}, func(s string) bool { return s == "" }); !slices.Equal(f.asked, want) {
			t.Errorf("%s %v asked for %q", test.tool, test.args, f.asked)
		}
	}
}

// What can be read is listed beside what cannot.
func TestListInPart(t *testing.T) {
	session, _, _ := talk(t, &fake{list: []workspace.Workspace{example()}, err: errors.New("one is broken")}, nil)
	text, structured, failed := call(t, session, "workspace_list", nil)
	if failed || structured["problem"] != "one is broken" || !strings.Contains(text, example().ID) {
		t.Errorf("%v %s", failed, text)
	}
}

// What a removal would lose is in the refusal, for people and for programs.
func TestRefusedRemoval(t *testing.T) {
	for _, why := range []error{workspace.ErrLoss, workspace.ErrInUse, workspace.ErrBusy} {
		f := &fake{err: fmt.Errorf("%w: a.txt", why), outcome: workspace.Outcome{Loss: &workspace.Loss{Uncommitted: []string{"a.txt"}}, InUse: []workspace.User{{PID: 7}}}}
		session, _, _ := talk(t, f, nil)
		for _, args := range []map[string]any{{"workspace": "fix"}, {"path": "/x"}} {
			text, structured, failed := call(t, session, "workspace_remove", args)
			loss, _ := structured["loss"].(map[string]any)
			if !failed || text != why.Error()+": a.txt" || loss["uncommitted"] == nil {
				t.Errorf("%v %q %v", failed, text, structured)
			}
		}
	}
}

func TestProgressIsTold(t *testing.T) {
	f := &fake{made: example(), tells: []workspace.Progress{{Phase: workspace.Copying, Percent: 40, BytesTotal: -1, FilesTotal: -1, Left: -1}}}
	told := make(chan *mcp.ProgressNotificationParams, 10)
	session, _, _ := talk(t, f, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params },
	})
	params := &mcp.CallToolParams{Name: "workspace_create", Arguments: map[string]any{"kind": "temp", "job": "x"}}
	params.SetProgressToken("mine")
	if _, err := session.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	if got := <-told; got.ProgressToken != "mine" || got.Progress != 40 || got.Total != 100 || got.Message != "copying: 40 %" {
		t.Errorf("%+v", got)
	}
}

// A client that cancels a request, ends its input or is left alone by SIGTERM has
// what is at work ended, not left behind.
func TestWorkIsCancelled(t *testing.T) {
	for name, cancel := range map[string]func(session *mcp.ClientSession, request context.CancelFunc, end func() error) error{
		"cancelled": func(_ *mcp.ClientSession, request context.CancelFunc, _ func() error) error {
			request()
			return context.Canceled
		},
		"ended": func(_ *mcp.ClientSession, _ context.CancelFunc, end func() error) error { return end() },
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{working: make(chan struct{})}
			session, _, end := talk(t, f, nil)
			ctx, request := context.WithCancel(t.Context())
			defer request()
			answered := make(chan error, 1)
			go func() {
				_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "workspace_create", Arguments: map[string]any{"kind": "temp", "job": "x"}})
				answered <- err
			}()
			<-f.working
			if err := cancel(session, request, end); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			<-answered
			apptest.Eventually(t, "the end of the work", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.ended })
		})
	}
}

// What was made for a request that is cancelled meanwhile is removed: nobody knows
// of it.
func TestMadeForNobody(t *testing.T) {
	f := &fake{working: make(chan struct{}), late: true, made: example()}
	session, _, _ := talk(t, f, nil)
	ctx, request := context.WithCancel(t.Context())
	defer request()
	answered := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "workspace_create", Arguments: map[string]any{"kind": "temp", "job": "x"}})
		answered <- err
	}()
	<-f.working
	request()
	<-answered
	apptest.Eventually(t, "it is removed", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return slices.Contains(f.asked, "remove "+example().ID+" {Force:false DryRun:false By:its client has gone}")
	})
}

// The end of the input ends what is at work, and Serve without an error.
func TestEndOfInput(t *testing.T) {
	f := &fake{working: make(chan struct{})}
	in, client := io.Pipe()
	var out apptest.Buffer
	ended := make(chan error, 1)
	go func() { ended <- Serve(context.Background(), Options{Manager: f, Dir: "/", In: in, Out: &out}) }()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workspace_create","arguments":{"kind":"temp","job":"x"}}}`,
	} {
		if _, err := io.WriteString(client, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	<-f.working
	client.Close()
	if err := <-ended; err != nil || !f.ended {
		t.Errorf("%v, %v", err, f.ended)
	}
}

// What is no JSON-RPC ends the conversation with an error, and is not answered with
// anything else.
func TestWhatIsNoJSONRPC(t *testing.T) {
	for _, text := range []string{"hello\n", "{\n\n", "[]\n", "\x00\n", "{}\n"} {
		var out, log bytes.Buffer
		err := Serve(context.Background(), Options{Manager: &fake{}, Dir: "/", In: io.NopCloser(strings.NewReader(text)), Out: &out, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err == nil || !strings.Contains(err.Error(), "one JSON-RPC message per line") {
			t.Errorf("%q: %v", text, err)
		}
		scanner := bufio.NewScanner(&out)
		for scanner.Scan() {
			if !json.Valid(scanner.Bytes()) {
				t.Errorf("%q was answered with %q", text, scanner.Text())
			}
		}
	}
}
