//go:build real && linux

package desktop

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor/serena/serenatest"
)

// TestWorkspacesOfJobs: eight jobs at once write files with the same names, see
// only their own, and leave nothing.
func TestWorkspacesOfJobs(t *testing.T) {
	t.Parallel()
	j := e2e.JobsHome(t)
	const jobCount = 8
	// It says what it sees once all others have written.
	script := `set -e
test "$WORKSPACE" = "$1"; test "$PWD" = "$1"; test "$(stat -c %a .)" = 700
echo "$2" >result.txt; mkdir -p out; echo "$2" >out/main.go; echo "$2" >"$TMPDIR/scratch"
touch "$3/ready-$2"
n=0; while [ "$(ls "$3" | grep -c ready)" -lt 8 ]; do n=$((n+1)); [ $n -lt 6000 ] || exit 9; sleep 0.01; done
test "$(cat result.txt out/main.go "$TMPDIR/scratch" | sort -u)" = "$2"
grep -q "^package main" main.go
ls -a | tr '\n' ' '`
	meeting := t.TempDir()
	var running sync.WaitGroup
	paths := make([]string, jobCount)
	for i := range jobCount {
		running.Go(func() {
			job := "job-" + strconv.Itoa(i)
			out, errs, status, err := j.Runs("create", "--json", "--kind", "temp", "--from", j.Repo, "--job", job)
			var made e2e.Space
			if err != nil || status != 0 || json.Unmarshal([]byte(out), &made) != nil {
				t.Errorf("%s: %d, %v, %s%s", job, status, err, out, errs)
				return
			}
			paths[i] = made.Path
			if !strings.HasPrefix(filepath.Base(made.Path), "alpha-"+job+"-") {
				t.Errorf("%s is made at %s", job, made.Path)
			}
			out, errs, status, err = j.Runs("run", made.ID, "--", "sh", "-c", script, "sh", "{workspace}", strconv.Itoa(i), meeting)
			if err != nil || status != 0 {
				t.Errorf("%s: %d, %v, %s%s", job, status, err, out, errs)
			}
			// What is not committed is not taken away.
			if !strings.Contains(out, "result.txt") || e2e.IsGone(made.Path) {
				t.Errorf("%s: %q", job, out)
			}
		})
	}
	running.Wait()
	if t.Failed() {
		return
	}
	if all := j.List(t); len(all) != jobCount {
		t.Errorf("%d are listed", len(all))
	}
	if n := strings.Count(j.Git(t, "worktree", "list"), "\n"); n != jobCount+1 {
		t.Errorf("git knows %d worktrees", n)
	}
	for i, path := range paths {
		args := []string{"rm", path}
		if _, errs, status, err := j.Runs(args...); err != nil || status != 1 || !strings.Contains(errs, "result.txt") {
			t.Fatalf("what is not committed would be lost: %d, %v, %s", status, err, errs)
		}
		j.Ok(t, append(args, "--force")...)
		if !e2e.IsGone(path) {
			t.Errorf("job %d is still there", i)
		}
	}
	if all := j.List(t); len(all) != 0 {
		t.Errorf("%+v are listed", all)
	}
	if n := strings.Count(j.Git(t, "worktree", "list"), "\n"); n != 1 {
		t.Errorf("git still knows %s", j.Git(t, "worktree", "list"))
	}
	if left := j.Git(t, "branch", "--list", "lamplighter/*"); left != "" {
		t.Errorf("branches without a commit of their own stay: %s", left)
	}
	trees, err := filepath.Glob(filepath.Join(j.State(), "workspaces", "trees", "*"))
	data, err2 := filepath.Glob(filepath.Join(j.State(), "workspaces", "data", "*"))
	if err := errors.Join(err, err2); err != nil || len(trees)+len(data) != 0 {
		t.Errorf("left on the disk: %v %v, %v", trees, data, err)
	}
}

// TestWorkspaces is the life of workspaces of a git repository beside a background
// process, with a real Serena for one of them.
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	j := e2e.JobsHome(t)
	if _, errs, status, err := j.Runs("create", "--kind", "temp", "--from", j.Repo, "--job", "early", "--serve"); err != nil || status == 0 || len(j.List(t)) != 0 {
		t.Errorf("without a background process: %d, %v, %s, %+v", status, err, errs, j.List(t))
	}
	tools := serenatest.Tools(t)
	j.Write(t, "language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nprojects: []\n", ".serena", "serena_config.yml")
	j.Env = append(j.Env, "PATH="+filepath.Join(tools, "bin")+":"+os.Getenv("PATH"), "SERENA_USAGE_REPORTING=false")
	j.Set(t, fmt.Sprintf("session_start_seconds: 300\nsession_command: [%q]\n", filepath.Join(tools, "venv", "bin", "serena")))
	j.Begin(t)
	goWithTheirJobs(t, j)
	haveASerena(t, j)
	areSeen(t, j)
	areNotTakenFromTheirUsers(t, j)
}

// haveASerena: a server is started for a workspace, works on it, and ends with it.
func haveASerena(t *testing.T, j e2e.Jobs) {
	t.Helper()
	made := j.Creates(t, "--kind", "temp", "--from", j.Repo, "--job", "served", "--serve")
	if made.Server == nil || made.Server.SessionID == 0 || !strings.HasPrefix(made.Server.MCPURL, "http://127.0.0.1:") {
		t.Fatalf("%+v", made)
	}
	apptest.Eventually(t, "Serena has the workspace for its project", func() bool {
		in := j.Instance(t, made.Server.SessionID)
		return in != nil && in.ProjectRoot != nil && *in.ProjectRoot == made.Path
	})
	if _, errs, status, err := j.Runs("rm", made.ID, "--dry-run"); err != nil || status != 0 {
		t.Errorf("dry run: %d, %v, %s", status, err, errs)
	}
	if e2e.IsGone(made.Path) {
		t.Fatal("a dry run removes")
	}
	j.Ok(t, "rm", "--force", made.ID) // Serena has written its .serena
	if !e2e.IsGone(made.Path) {
		t.Error("the tree stays")
	}
	apptest.Eventually(t, "its server has ended", func() bool { // others are those of other tests
		_, left := j.Listing(t)[made.Server.SessionID]
		return !left
	})
}

// goWithTheirJobs: a temporary one with nothing of its own is taken away when its
// job ends, one whose commits are nowhere else leaves its branch.
func goWithTheirJobs(t *testing.T, j e2e.Jobs) {
	t.Helper()
	made := j.Creates(t, "--kind", "temp", "--from", j.Repo, "--job", "look")
	_, _, status, err := j.Runs("run", made.ID, "--", "sh", "-c", "test -f main.go; exit 7")
	if err != nil || status != 7 || !e2e.IsGone(made.Path) || len(j.List(t)) != 0 {
		t.Errorf("status %d, %v, %+v", status, err, j.List(t))
	}

	plain := j.Creates(t, "--kind", "temp", "--job", "scratch", "--in", t.TempDir())
	j.Ok(t, "run", plain.Job, "--", "sh", "-c", "echo draft >draft")
	if !e2e.IsGone(plain.Path) {
		t.Error("an empty temporary one stays after its job")
	}

	made = j.Creates(t, "--kind", "temp", "--from", j.Repo, "--job", "commit")
	j.Ok(t, "run", made.ID, "--", "sh", "-c", "echo x >x && git add x && git commit -qm Work")
	if e2e.IsGone(made.Path) {
		t.Fatal("commits that are nowhere else were taken away")
	}
	out := j.Ok(t, "rm", "--force", made.ID)
	branch := strings.TrimSpace(j.Git(t, "branch", "--list", "lamplighter/*", "--format", "%(refname:short)"))
	if !e2e.IsGone(made.Path) || branch == "" || !strings.Contains(out, branch) {
		t.Errorf("the branch %q, said %s", branch, out)
	}
	if got := j.Git(t, "show", branch+":x"); got != "x\n" {
		t.Errorf("it has %q", got)
	}
}

// areNotTakenFromTheirUsers: what somebody works in is never taken away.
func areNotTakenFromTheirUsers(t *testing.T, j e2e.Jobs) {
	t.Helper()
	made := j.Creates(t, "--kind", "temp", "--job", "busy")
	for name, line := range map[string][]string{
		"works in it":      {"sh", "-c", "cd \"$0\" && exec sleep 600", made.Path},
		"has a file open":  {"sh", "-c", "exec 3>\"$0/open\"; exec sleep 600", made.Path},
		"runs a job of it": {e2e.Program, "workspace", "run", made.ID, "--", "sleep", "600"},
	} {
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = slices.Concat(j.Env, []string{"PATH=" + os.Getenv("PATH")})
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		apptest.Eventually(t, name, func() bool {
			_, errs, status, err := j.Runs("rm", "--force", "--dry-run", made.ID)
			return err == nil && status == 1 && strings.Contains(errs, fmt.Sprint(cmd.Process.Pid)) || strings.Contains(errs, "sleep")
		})
		if _, errs, status, err := j.Runs("rm", "--force", made.ID); err != nil || status != 1 || e2e.IsGone(made.Path) {
			t.Errorf("%s: %d, %v, %s", name, status, err, errs)
		}
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// areSeen: the background process notices what the verbs do, does what is due, and
// tells it.
func areSeen(t *testing.T, j e2e.Jobs) {
	t.Helper()
	hybrid := j.Creates(t, "--kind", "hybrid", "--from", j.Repo, "--job", "report")
	if err := os.WriteFile(filepath.Join(hybrid.Path, "report.md"), []byte("# Final\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	j.Ok(t, "keep", hybrid.ID, "-m", "the final report")
	j.Ok(t, "complete", hybrid.ID)
	if !e2e.IsGone(hybrid.Path) {
		t.Error("the tree of a hybrid one stays, although it was kept")
	}
	var shown struct {
		Versions []struct{ Path, Message string }
	}
	if err := json.Unmarshal([]byte(j.Ok(t, "show", hybrid.ID, "--json")), &shown); err != nil || len(shown.Versions) != 1 || shown.Versions[0].Message != "the final report" {
		t.Fatalf("%v: %+v", err, shown)
	}
	if text := contentOf(t, filepath.Join(shown.Versions[0].Path, "report.md")); text != "# Final\n" {
		t.Errorf("kept is %q", text)
	}

	short := j.Creates(t, "--kind", "temp", "--job", "short", "--cleanup", "retention", "--retention", "1s")
	apptest.Eventually(t, "what nobody uses goes after its retention", func() bool { return e2e.IsGone(short.Path) })
	apptest.Eventually(t, "all of it is told", func() bool {
		_, out, _ := j.Does(t, "events")
		for _, what := range []string{"workspace created", "workspace kept", "tree removed", "workspace removed"} {
			if !strings.Contains(out, what) {
				return false
			}
		}
		return true
	})
	j.Ok(t, "restore", hybrid.ID)
	if text := contentOf(t, filepath.Join(hybrid.Path, "report.md")); text != "# Final\n" {
		t.Errorf("restored is %q", text)
	}
	j.Ok(t, "archive", hybrid.ID)
	if all := j.List(t); len(all) != 1 || all[0].State != "archived" || !e2e.IsGone(hybrid.Path) {
		t.Errorf("%+v", all)
	}
	j.Ok(t, "restore", hybrid.ID)
	if text := contentOf(t, filepath.Join(hybrid.Path, "report.md")); text != "# Final\n" {
		t.Errorf("restored from the archive is %q", text)
	}
	if out := j.Git(t, "-C", hybrid.Path, "status", "--porcelain"); out != "?? report.md\n" {
		t.Errorf("git sees %q", out)
	}
}
