package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/workspace"
)

func TestWorkspaceUsage(t *testing.T) {
	d, f := workspaceDesktop(t)
	for _, test := range []struct {
		args string
		want string
	}{
		{"", "workspace takes one of create, list, show, run,"},
		{"lst", `there is no verb "lst"; did you mean list? See lamplighter workspace --help`},
		{"create", "create takes --kind temp, persistent or hybrid; see lamplighter workspace create --help"},
		{"create --kind big --job x", "create takes --kind temp, persistent or hybrid"},
		{"create --kind temp", "create takes the name of the job, as in --job fix-login"},
		{"create --kind temp --job x extra", "create takes no argument; the job is named with --job"},
		{"create --kind temp --job x --ref main", "--ref is of a git repository, which is named with --from"},
		{"create --kind temp --job x --from . --ref main --copy", "--copy takes the directory as it is; leave --ref out"},
		{"create --kind temp --job x --share a", "--share is relative to the source"},
		{"create --kind temp --job x --copy", "--copy copies a directory"},
		{"create --kind temp --job x --from=", "--from: the name of the directory is empty"},
		{"create --kind temp --job x --in=", "--in: the name of the directory is empty"},
		{"create --kind temp --job x --from . --share=", "--share takes the name of a directory"},
		{"create --kind temp --job x --from . --ref=", "what stands behind --ref is empty"},
		{"create --kind temp --job x --cleanup never", "--cleanup takes completion, retention, manual or archive"},
		{"create --kind temp --job x --retention soon", `"soon" is not a length of time; write it like 90m, 24h or 7d`},
		{"create --kind temp --job x --retention -1h", "is not a length of time"},
		{"create --kind temp --job x --retention 0d", "is not a length of time"},
		{"create --kind temp --job x --retention 999999999d", "is not a length of time"},
		{"create --kind temp --job x --retention NaNd", "is not a length of time"},
		{"create --kind temp --job x --from d\xff", `the name "d\xff" is not UTF-8`},
		{"list x", "list takes no argument"},
		{"show", "show takes one workspace: its id, name or job"},
		{"keep fix", "keep takes a message that says what is in it"},
		{"keep fix --message=", "keep takes a message"},
		{"diff fix 0", `"0" is no number of a version; lamplighter workspace show lists them`},
		{"diff fix one", `"one" is no number of a version`},
		{"diff fix 1 2 3", "diff takes a workspace and at most two versions"},
		{"restore fix --version 0", "versions are numbered from 1"},
		{"run fix make", "run takes a workspace, and behind -- the command"},
		{"run fix --", "run takes a workspace, and behind -- the command"},
		{"run -- make", "run takes one workspace before the --"},
		{"run a b -- make", "run takes one workspace before the --"},
		{"run fix --writable . -- make", "--writable is for --confine"},
		{"run fix --commit -- make", "--commit is for --confine"},
		{"run fix --confine --writable= -- make", "--writable: the name of the directory is empty"},
		{"rm", "rm takes at least one workspace or path"},
		{"scan", "scan takes at least one directory; . is this one"},
		{"mcp x", "mcp takes no argument"},
	} {
		d.err = apptest.Buffer{}
		args := strings.Split(strings.TrimSpace("workspace "+test.args), " ")
		if got := d.runs(t, args...); got != statusUsage || !strings.Contains(d.err.String(), test.want) {
			t.Errorf("%s: %d %s", test.args, got, d.err.String())
		}
	}
	for _, verb := range []string{"show", "archive", "restore", "complete", "rm"} {
		d.err = apptest.Buffer{}
		if got := d.runs(t, "workspace", verb, ""); got != statusUsage || !strings.Contains(d.err.String(), "the name of the workspace is empty") {
			t.Errorf("%s: %d %s", verb, got, d.err.String())
		}
	}
	if len(f.asked) > 0 || d.out.String() != "" {
		t.Errorf("asked for %q, printed %s", f.asked, d.out.String())
	}
}

func TestWorkspaceVerbs(t *testing.T) {
	removed := workspace.Outcome{Workspace: space("fix"), Done: true, What: "removed", Freed: 1.2e9, Kept: "the branch lamplighter/x"}
	for _, test := range []struct {
		args     []string
		err      error
		want     int
		asked    string
		out, say string // parts of standard output and of the other
	}{
		{[]string{"create", "--kind", "temp", "--job", "fix"}, nil, 0, "create", "id      " + spaceID + "\npath    /trees/alpha-fix-1a2b3c4d\nkind    temp\njob     fix\nbranch  lamplighter/alpha-fix-1a2b3c4d\nthen    removed when its job ends\n", ""},
		{[]string{"create", "--kind", "temp", "--job", "fix", "--json"}, nil, 0, "create", `"path":"/trees/alpha-fix-1a2b3c4d","kind":"temp","job":"fix"`, ""},
		{[]string{"create", "--kind", "temp", "--job", "fix"}, fmt.Errorf("%w: no", workspace.ErrBadRequest), 1, "create", "", "workspace create: the request cannot be carried out: no\n"},
		{[]string{"show", "fix"}, nil, 0, "", "branch       lamplighter/alpha-fix-1a2b3c4d", ""},
		{[]string{"show", "none"}, nil, 1, "", "", `workspace show: no such workspace: "none"`},
		{[]string{"keep", "fix", "-m", "it works"}, nil, 0, "keep " + spaceID + " it works", "Kept: version 3 of alpha-fix-1a2b3c4d, 1.5 kB in 1 file.\n", ""},
		{[]string{"keep", "fix", "-m", "m", "--json"}, nil, 0, "keep " + spaceID + " m", `{"version":3,"message":"m"`, ""},
		{[]string{"keep", "fix", "-m", "m"}, workspace.ErrState, 1, "keep " + spaceID + " m", "", "workspace keep: this is not possible in its state"},
		{[]string{"archive", "fix"}, nil, 0, "archive " + spaceID, "Archived: alpha-fix-1a2b3c4d, 2.0 MB, in /archives/a.tar.zst\n", ""},
		{[]string{"restore", "fix"}, nil, 0, "restore " + spaceID + " 0", "Restored: alpha-fix-1a2b3c4d, in /trees/alpha-fix-1a2b3c4d\n", ""},
		{[]string{"restore", "fix", "--version", "2", "--json"}, nil, 0, "restore " + spaceID + " 2", `"retention_seconds":86400`, ""},
		{[]string{"complete", "fix"}, nil, 0, "complete " + spaceID + " the command line", "alpha-fix-1a2b3c4d: removed, 1.2 GB given back\n  stays: the branch lamplighter/x\n", ""},
		{[]string{"complete", "fix", "--json"}, nil, 0, "complete " + spaceID + " the command line", `"freed_bytes":1200000000`, ""},
		{[]string{"rm", "fix"}, nil, 0, "remove " + spaceID + " {Force:false DryRun:false By:the command line}", "alpha-fix-1a2b3c4d: removed, 1.2 GB given back\n", ""},
		{[]string{"rm", "--force", spaceID}, nil, 0, "remove " + spaceID + " {Force:true DryRun:false By:the command line}", "removed", ""},
		{[]string{"rm", "/some/tree"}, nil, 0, "stale " + absolute(t, "/some/tree") + " {Force:false DryRun:false By:the command line}", "removed", ""},
		{[]string{"rm", "none"}, nil, 1, "", "", `workspace rm: none: no such workspace: "none"`},
		{[]string{"rm", "fix"}, fmt.Errorf("%w: a.txt", workspace.ErrLoss), 1, "remove " + spaceID + " {Force:false DryRun:false By:the command line}", "", "workspace rm: fix: work would be lost: a.txt\n"},
	} {
		d, f := workspaceDesktop(t)
		f.err, f.outcome = test.err, removed
		got := d.runs(t, append([]string{"workspace"}, test.args...)...)
		if got != test.want || !strings.Contains(d.out.String(), test.out) || !strings.Contains(d.err.String(), test.say) || (test.say == "") != (d.err.String() == "") ||
			strings.Join(f.asked, "; ") != test.asked {
			t.Errorf("workspace %q: %d, asked %q\n%s%s", test.args, got, f.asked, d.out.String(), d.err.String())
		}
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

func TestWorkspaceRequest(t *testing.T) {
	d, f := workspaceDesktop(t)
	dir := t.TempDir()
	t.Chdir(dir)
	if d.runs(t, "workspace", "create", "--kind", "hybrid", "--job", "a job", "--from", "src", "--ref", "v1", "--in", ".", "--share", "node_modules", "--share", "b c",
		"--project", "p", "--cleanup", "archive", "--retention", "7d", "--serve", "--wait") != 0 {
		t.Fatal(d.err.String())
	}
	want := workspace.Request{
		Kind: workspace.Hybrid, Job: "a job", From: absolute(t, "src"), Ref: "v1", In: absolute(t, "."), Share: []string{"node_modules", "b c"}, Project: "p",
		Cleanup: workspace.ToArchive, Retention: 7 * 24 * time.Hour, Serve: true, Wait: true,
	}
	if fmt.Sprintf("%+v", f.request) != fmt.Sprintf("%+v", want) {
		t.Errorf("asked for %+v", f.request)
	}
}

func TestWorkspaceInterrupted(t *testing.T) {
	for _, test := range []struct {
		args string
		want string
	}{
		{"create --kind temp --job x", "workspace create: interrupted; nothing was made\n"},
		{"keep fix -m m", "workspace keep: interrupted; no version was made\n"},
		{"archive fix", "workspace archive: interrupted; lamplighter workspace show says how it is now\n"},
		{"restore fix", "workspace restore: interrupted; lamplighter workspace show says how it is now\n"},
		{"scan .", "workspace scan: interrupted; nothing was changed\n"},
	} {
		d, f := workspaceDesktop(t)
		ctx, cancel := context.WithCancel(t.Context())
		f.during, f.err = cancel, context.Canceled
		if got := d.main(ctx, strings.Fields("workspace "+test.args)); got != 1 || d.err.String() != "lamplighter: "+test.want {
			t.Errorf("%s: %d %s", test.args, got, d.err.String())
		}
		cancel()
	}
}

// A job's status is ours, and what stays of its workspace is told.
func TestWorkspaceRun(t *testing.T) {
	d, f := workspaceDesktop(t)
	f.status, f.ended = 7, &workspace.Outcome{What: "left as it is", Why: "work would be lost: a.txt"}
	dir := t.TempDir()
	t.Chdir(dir)
	got := d.runs(t, "workspace", "run", "fix", "--confine", "--commit", "--writable", "cache", "--", "make", "--job", "{workspace}")
	if got != 7 || d.out.String() != "" || d.err.String() != "alpha-fix-1a2b3c4d: left as it is\n  work would be lost: a.txt\n" {
		t.Errorf("%d %s%s", got, d.out.String(), d.err.String())
	}
	f.job.Warn("shared things can be \x1b[2Jwritten")
	if got := d.err.String(); !strings.HasSuffix(got, "lamplighter: shared things can be [2Jwritten\n") {
		t.Errorf("%q", got)
	}
	f.job.Warn = nil
	if want := (workspace.Job{Command: []string{"make", "--job", "{workspace}"}, Confine: true, Commit: true, Writable: []string{absolute(t, "cache")}}); fmt.Sprint(f.job) != fmt.Sprint(want) {
		t.Errorf("%+v", f.job)
	}
	for _, quiet := range []*workspace.Outcome{nil, {Done: true, What: "removed"}} {
		d.err, f.status, f.ended = apptest.Buffer{}, 0, quiet
		if got := d.runs(t, "workspace", "run", "fix", "--", "true"); got != 0 || d.err.String() != "" {
			t.Errorf("%d %s", got, d.err.String())
		}
	}
	f.err = errors.New("no such program")
	if got := d.runs(t, "workspace", "run", "fix", "--", "none"); got != 1 || !strings.Contains(d.err.String(), "workspace run: no such program\n") {
		t.Errorf("%d %s", got, d.err.String())
	}
	for failed, want := range map[error]int{workspace.ErrNoCommand: 127, workspace.ErrNotExecutable: 126} {
		d.err, f.err = apptest.Buffer{}, fmt.Errorf("running a job: %w: none", failed)
		if got := d.runs(t, "workspace", "run", "fix", "--", "none"); got != want || d.err.String() != "lamplighter: workspace run: "+f.err.Error()+"\n" {
			t.Errorf("%d %s", got, d.err.String())
		}
	}
}

// Each argument has its own outcome, and one that fails holds up no other.
func TestWorkspaceRemovesSeveral(t *testing.T) {
	d, f := workspaceDesktop(t)
	t.Chdir(t.TempDir())
	for _, name := range []string{"here", "fix"} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f.outcome = workspace.Outcome{Done: true, What: "removed"}
	// A workspace counts before a directory of its name.
	if got := d.runs(t, "workspace", "rm", "none", "here", "fix", "./fix"); got != 1 || d.err.String() != "lamplighter: workspace rm: none: no such workspace: \"none\"\n" ||
		d.out.String() != "here: removed\nfix: removed\n./fix: removed\n" {
		t.Errorf("%d %s%s", got, d.out.String(), d.err.String())
	}
	want := fmt.Sprintf("stale %s {", absolute(t, "here")) + "|" + fmt.Sprintf("remove %s {", spaceID) + "|" + fmt.Sprintf("stale %s {", absolute(t, "fix"))
	for i, part := range strings.Split(want, "|") {
		if i >= len(f.asked) || !strings.HasPrefix(f.asked[i], part) {
			t.Errorf("asked for %q", f.asked)
		}
	}
	d.out, d.err = apptest.Buffer{}, apptest.Buffer{}
	if got := d.runs(t, "workspace", "rm", "--json", "none", "fix"); got != 1 {
		t.Error(got)
	}
	var printed struct {
		Results []struct {
			Argument, What, Error string
			Done                  bool
		}
	}
	if err := json.Unmarshal([]byte(d.out.String()), &printed); err != nil || len(printed.Results) != 2 || printed.Results[0].Error == "" || !printed.Results[1].Done {
		t.Errorf("%v %+v", err, printed)
	}
}

// A dry run says what would be lost, and fails where it would be refused.
func TestWorkspaceDryRun(t *testing.T) {
	d, f := workspaceDesktop(t)
	f.outcome = workspace.Outcome{Workspace: f.list[0], DryRun: true, What: "would be removed", Freed: 5e6, Loss: &workspace.Loss{Words: "a.txt is not committed"}}
	if got := d.runs(t, "workspace", "rm", "--dry-run", "--force", "fix"); got != 0 ||
		d.out.String() != "alpha-fix-1a2b3c4d: would be removed, 5.0 MB would be given back\n  would be lost: a.txt is not committed\n" {
		t.Errorf("%d %s", got, d.out.String())
	}
	d.out, d.err = apptest.Buffer{}, apptest.Buffer{}
	f.outcome.What, f.outcome.Why = "would not be removed", "a process works in this workspace: sh (7)"
	if got := d.runs(t, "workspace", "rm", "--dry-run", "--force", "fix"); got != 1 || d.out.String() != "" ||
		d.err.String() != "lamplighter: workspace rm: fix: a process works in this workspace: sh (7)\n" {
		t.Errorf("%d %s%s", got, d.out.String(), d.err.String())
	}
}

func TestWorkspacesAreCompleted(t *testing.T) {
	d, f := workspaceDesktop(t)
	other := space("report")
	other.ID, other.Name, other.Kind, other.State = "019aa0c3-0000-7000-8000-0000ffffffff", "alpha-report-ffffffff", workspace.Hybrid, workspace.Archived
	other.Job = "re\x1b[31mport"
	f.list = append(f.list, other)
	f.versions = []workspace.Version{{Number: 1, Message: "fi\nrst"}}
	const fix, report = "alpha-fix-1a2b3c4d\tfix, temp, ready\n", "alpha-report-ffffffff\tre[31mport, hybrid, archived\n"
	for args, want := range map[string]string{
		"show|":                                 fix + report + ":4\n",
		"show|alpha-fix-1a2b3c4d|":              ":4\n",
		"rm|alpha-fix-1a2b3c4d|":                report + ":4\n",
		"rm|./":                                 ":16\n",
		"run|":                                  fix + ":4\n",
		"run|alpha-fix-1a2b3c4d|--|":            ":0\n",
		"keep|":                                 report + ":4\n",
		"diff|":                                 report + ":4\n",
		"diff|alpha-report-ffffffff|":           "1\tfi rst\n:4\n",
		"restore|alpha-fix-1a2b3c4d|--version|": "1\tfi rst\n:4\n",
		"archive|":                              fix + ":4\n",
		"complete|":                             fix + ":4\n",
		"create|--kind|":                        "temp\npersistent\nhybrid\n:4\n",
		"create|--cleanup|":                     "completion\nretention\nmanual\narchive\n:4\n",
		"create|--from|":                        ":16\n",
		"create|--share|":                       ":16\n",
		"scan|":                                 ":16\n",
		"mcp|":                                  ":4\n",
	} {
		d.out = apptest.Buffer{}
		d.runs(t, append([]string{"__complete", "workspace"}, strings.Split(args, "|")...)...)
		if got := d.out.String(); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	f.listErr, f.list = errors.New("broken"), nil
	d.out, d.err = apptest.Buffer{}, apptest.Buffer{}
	d.runs(t, "__complete", "workspace", "show", "")
	if d.out.String() != ":4\n" {
		t.Errorf("%q", d.out.String())
	}
}
