package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

func TestWorkspaceList(t *testing.T) {
	d, f := workspaceDesktop(t)
	if d.runs(t, "workspace", "list") != 0 || d.out.String() !=
		"ID        JOB  KIND    SIZE  AGE  STATE  THEN                            PATH\n"+
			"1a2b3c4d  fix  temp  1.2 GB  3 h  ready  removed at its end, or in 23 h  /trees/alpha-fix-1a2b3c4d\n" {
		t.Errorf("%s%s", d.out.String(), d.err.String())
	}
	f.list[0].Problem = "in use: sh (7)\x1b[2J works in it"
	f.list[0].Job = "日本語の仕事\x1b[31m" + strings.Repeat("長", 60)
	for width, want := range map[int]string{
		150: "/trees/alpha-fix-1a2b3c4d\n  stays for now: in use: sh (7)[2J works in it\n",
		80:  "1a2b3c4d",
		40:  "1a2b3c4d",
		5:   "1a2b3c4d",
	} {
		d.out, d.screen.width = apptest.Buffer{}, width
		if d.runs(t, "workspace", "list") != 0 || !strings.Contains(d.out.String(), want) {
			t.Errorf("%d columns: %s", width, d.out.String())
		}
		for line := range strings.Lines(d.out.String()) {
			if n := monitor.Columns(strings.TrimSuffix(line, "\n")); width >= narrowest && n > width {
				t.Errorf("%d columns: %d in %q", width, n, line)
			}
			if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), monitor.Unprintable) {
				t.Errorf("%q disturbs the terminal", line)
			}
		}
	}
}

func TestWorkspaceListOfMany(t *testing.T) {
	d, f := workspaceDesktop(t)
	d.screen.width = 100
	for i := range 999 {
		f.list = append(f.list, space(fmt.Sprintf("job %d", i)))
	}
	if d.runs(t, "workspace", "list") != 0 || strings.Count(d.out.String(), "\n") != 1001 {
		t.Errorf("%d lines", strings.Count(d.out.String(), "\n"))
	}
}

func TestWorkspaceListOfNone(t *testing.T) {
	d, f := workspaceDesktop(t)
	f.list = nil
	if d.runs(t, "workspace", "list") != 0 || d.out.String() != noWorkspaces {
		t.Errorf("%s", d.out.String())
	}
	d.out = apptest.Buffer{}
	if d.runs(t, "workspace", "list", "--json") != 0 || d.out.String() != `{"workspaces":[]}`+"\n" {
		t.Errorf("%s", d.out.String())
	}
	f.listErr = errors.New("reading the workspaces: no")
	if got := d.runs(t, "workspace", "list"); got != 1 || d.err.String() != "lamplighter: workspace list: reading the workspaces: no\n" {
		t.Errorf("%d %s", got, d.err.String())
	}
}

// What can be read is listed beside what cannot.
func TestWorkspaceListInPart(t *testing.T) {
	d, f := workspaceDesktop(t)
	f.listErr = errors.New("reading /records/x.json: it is not the record of a workspace")
	if got := d.runs(t, "workspace", "list", "--json"); got != 0 || d.err.String() != "lamplighter: reading /records/x.json: it is not the record of a workspace\n" {
		t.Errorf("%d %s", got, d.err.String())
	}
	var listed struct {
		Workspaces []struct {
			ID               string
			RetentionSeconds int `json:"retention_seconds"`
			Shares           []workspace.Share
		}
	}
	if err := json.Unmarshal([]byte(d.out.String()), &listed); err != nil || len(listed.Workspaces) != 1 || listed.Workspaces[0].RetentionSeconds != 86400 || listed.Workspaces[0].Shares == nil {
		t.Errorf("%v %s", err, d.out.String())
	}
}

func TestWhatHappensThen(t *testing.T) {
	now := noon
	soon, past := now.Add(26*time.Hour), now.Add(-time.Second)
	for _, test := range []struct {
		w    workspace.Workspace
		want string
	}{
		{workspace.Workspace{Kind: workspace.Persistent, Cleanup: workspace.ByHand}, "stays"},
		{workspace.Workspace{Kind: workspace.Temp, State: workspace.Ready, Cleanup: workspace.AtCompletion, Problem: "in use"}, "removed when nothing stands against it"},
		{workspace.Workspace{Kind: workspace.Temp, Cleanup: workspace.AtCompletion, EndsAt: &soon}, "removed at its end, or in 26 h"},
		{workspace.Workspace{Kind: workspace.Temp, Cleanup: workspace.AtCompletion, EndsAt: &past, DoneAt: &past}, "removed now"},
		{workspace.Workspace{Kind: workspace.Hybrid, Cleanup: workspace.AtRetention, EndsAt: &soon}, "tree removed in 26 h"},
		{workspace.Workspace{Kind: workspace.Persistent, Cleanup: workspace.ToArchive, EndsAt: &soon}, "archived in 26 h"},
	} {
		if got := then(&test.w, now); got != test.want {
			t.Errorf("%+v: %q, want %q", test.w, got, test.want)
		}
	}
	done := workspace.Workspace{State: workspace.Ready, DoneAt: &past}
	if stateOf(&done) != "completed" {
		t.Error(stateOf(&done))
	}
}

func TestWorkspaceShow(t *testing.T) {
	d, f := workspaceDesktop(t)
	w := &f.list[0]
	w.Problem, w.Shares = "in use", []workspace.Share{{From: "/src/alpha/node_modules", To: "node_modules"}}
	w.Server = &workspace.Server{SessionID: 4711, MCPURL: "http://127.0.0.1:4/mcp"}
	w.Archive = &workspace.Archive{Path: "/archives/x.tar.zst", Bytes: 3e6, At: time.Now().Add(-3 * time.Hour)}
	f.versions = []workspace.Version{{Number: 1, Message: "fi\x1b[31mrst", At: noon, Files: 12, Bytes: 5}}
	if d.runs(t, "workspace", "show", "fix") != 0 {
		t.Fatal(d.err.String())
	}
	apptest.Contains(t, d.out.String(), "alpha-fix-1a2b3c4d\n  id ", "  from         git, /src/alpha at main (012345678)\n", "  shares       node_modules, which is /src/alpha/node_modules\n",
		"  age          made 3 h ago, used 60 min ago\n", "  size         1.2 GB in 5010 files\n", "  then         removed when its job ends\n  due          in 23 h\n", "  but          in use\n",
		"http://127.0.0.1:4/mcp, session 4711", "/archives/x.tar.zst, 3.0 MB, packed 3 h ago", "TMPDIR", "/data/env", "\nVERSION", "fi[31mrst\n")
	d.out = apptest.Buffer{}
	if d.runs(t, "workspace", "show", "fix", "--json") != 0 {
		t.Fatal(d.err.String())
	}
	apptest.Contains(t, d.out.String(), `"version_count":0`, `"versions":[{"version":1`, `"retention_seconds":86400`)
}

func TestWorkspaceDiff(t *testing.T) {
	d, f := workspaceDesktop(t)
	if got := d.runs(t, "workspace", "diff", "fix"); got != 1 || !strings.Contains(d.err.String(), "has no versions to compare with; lamplighter workspace keep makes one") {
		t.Errorf("%d %s", got, d.err.String())
	}
	f.versions = []workspace.Version{{Number: 1}, {Number: 5}}
	f.changes = []workspace.Change{{Path: "a", What: "changed", Diff: "--- a\n+++ a\n@@ -1 +1 @@\n-\told\x1b[2J\n+\tnew  x\n"}, {Path: "b\n", What: "added"}}
	const raw = "--- a\n+++ a\n@@ -1 +1 @@\n-\told\x1b[2J\n+\tnew  x\nadded: b\n"
	if d.runs(t, "workspace", "diff", "fix") != 0 || d.out.String() != raw {
		t.Errorf("%q", d.out.String())
	}
	d.out, d.screen = apptest.Buffer{}, screen{terminal: true, width: 80}
	if d.runs(t, "workspace", "diff", "fix", "1") != 0 || d.out.String() != strings.ReplaceAll(raw, "\x1b", "") {
		t.Errorf("%q", d.out.String())
	}
	d.out = apptest.Buffer{}
	if d.runs(t, "workspace", "diff", "fix", "1", "5", "--json") != 0 || !strings.HasPrefix(d.out.String(), `{"from":1,"to":5,"changes":[{`) {
		t.Errorf("%q", d.out.String())
	}
	if got := strings.Join(f.asked, "|"); got != "diff "+spaceID+" 5 0|diff "+spaceID+" 1 0|diff "+spaceID+" 1 5" {
		t.Errorf("asked for %s", got)
	}
}

func TestWorkspaceScan(t *testing.T) {
	d, f := workspaceDesktop(t)
	used := time.Now().Add(-72 * time.Hour)
	f.scanned = workspace.Scanned{
		Worktrees: []workspace.Stale{
			{Path: "/p/.claude/worktrees/small one", Branch: "x", MadeBy: "Claude Code", UsedAt: used, SizeBytes: 2e6, Merged: true, Pushed: true, Removable: true, Why: "merged"},
			{Path: "/p/w/big", Branch: "y", UsedAt: used, SizeBytes: 3e9, Dirty: true, Locked: true, InUse: []workspace.User{{PID: 7}}, Why: "a.txt is not \x1b[2Jcommitted"},
			{Path: "/p/gone", SizeBytes: -1, Missing: true, Removable: true},
		},
		Problems: []string{"/p/secret: permission denied"},
	}
	if d.runs(t, "workspace", "scan", "/p") != 0 {
		t.Fatal(d.err.String())
	}
	const want = "  SIZE  USED  REMOVABLE  STATE                            BRANCH  MADE BY      PATH\n" +
		"3.0 GB   3 d  no         in use, locked, dirty, unpushed  y       -            /p/w/big\n" +
		"  a.txt is not [2Jcommitted\n" +
		"2.0 MB   3 d  yes        merged                           x       Claude Code  /p/.claude/worktrees/small one\n" +
		"     -     -  yes        gone                             -       -            /p/gone\n" +
		"3 worktrees, 3.0 GB; 2 can be removed, 2.0 MB:\n" +
		"  lamplighter workspace rm '/p/.claude/worktrees/small one' /p/gone\n"
	if d.out.String() != want || d.err.String() != "lamplighter: /p/secret: permission denied\n" {
		t.Errorf("%s%s", d.out.String(), d.err.String())
	}
	d.out = apptest.Buffer{}
	f.scanned.Worktrees = f.scanned.Worktrees[1:2]
	if d.runs(t, "workspace", "scan", "/p") != 0 || !strings.HasSuffix(d.out.String(), "\n1 worktree, 3.0 GB; none can be removed without a loss.\n") {
		t.Errorf("%s", d.out.String())
	}
	d.out = apptest.Buffer{}
	f.scanned = workspace.Scanned{}
	if d.runs(t, "workspace", "scan", "/p") != 0 || d.out.String() != noWorktrees {
		t.Errorf("%s", d.out.String())
	}
	d.out = apptest.Buffer{}
	if d.runs(t, "workspace", "scan", "/p", "--json") != 0 || d.out.String() != `{"worktrees":[],"problems":[]}`+"\n" {
		t.Errorf("%s", d.out.String())
	}
}

// A command that is there to be copied runs nothing else.
func TestTheLineThatRemoves(t *testing.T) {
	stale := func(paths ...string) (list []workspace.Stale) {
		for _, path := range paths {
			list = append(list, workspace.Stale{Path: path})
		}
		return list
	}
	for want, list := range map[string][]workspace.Stale{
		`lamplighter workspace rm /a '/b c' '/$(touch x)' '/d'\''e'`:         stale("/a", "/b c", "/$(touch x)", "/d'e"),
		"lamplighter workspace rm PATH…, with those that you choose of them": stale("/a", "/b\n/c"),
	} {
		if got := removeLine(list); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := removeLine(stale(strings.Split(strings.Repeat("/a ", 40), " ")...)); !strings.Contains(got, "PATH…") {
		t.Error(got)
	}
}

// The verb mcp writes what assistants read, and nothing else, and ends with its
// input.
func TestWorkspaceMCP(t *testing.T) {
	d, _ := workspaceDesktop(t)
	in, client := io.Pipe()
	root := d.root()
	root.SetIn(in)
	root.SetArgs([]string{"workspace", "mcp"})
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(t.Context()) }()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workspace_list","arguments":{}}}`,
	} {
		if _, err := io.WriteString(client, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	apptest.Eventually(t, "the answer", func() bool { return strings.Contains(d.out.String(), spaceID) })
	client.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(d.out.String()) {
		if !json.Valid([]byte(line)) || !strings.Contains(line, `"jsonrpc":"2.0"`) {
			t.Errorf("%q", line)
		}
	}
	if d.err.String() != "" {
		t.Error(d.err.String())
	}
}

// Of each record that cannot be read is told in a line of its own.
func TestWorkspaceListTellsEachProblem(t *testing.T) {
	d, f := workspaceDesktop(t)
	f.listErr = errors.Join(errors.New("reading /records/x.json: no"), errors.New("reading /records/y.json: no"))
	if got := d.runs(t, "workspace", "list"); got != 0 || d.err.String() != "lamplighter: reading /records/x.json: no\nlamplighter: reading /records/y.json: no\n" {
		t.Errorf("%d, %q", got, d.err.String())
	}
}
