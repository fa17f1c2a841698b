package cli

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

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
	d.out, d.screen, d.OnScreen = apptest.Buffer{}, screen{width: 80}, true
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
