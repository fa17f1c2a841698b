//go:build real && linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/serena/serenatest"
)

// space is what workspace create and list tell of a workspace, as users read it.
type space struct {
	ID     string
	Path   string
	Kind   string
	Job    string
	State  string
	Ends   string
	Server *struct {
		SessionID int    `json:"session_id"`
		MCPURL    string `json:"mcp_url"`
	}
}

// jobs is a home in which workspaces are made, of a git repository.
type jobs struct {
	*manager
	repo string
}

func jobsHome(t *testing.T) jobs {
	t.Helper()
	m := managerHome(t)
	m.env = append(m.env, "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	m.set(t, "")
	j := jobs{m, serenatest.GoProject(t, "alpha")}
	j.git(t, "init", "-q", "-b", "main")
	j.git(t, "add", "-A")
	j.git(t, "commit", "-qm", "Begin")
	return j
}

// git runs git in the repository.
func (j jobs) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = j.repo, slices.Concat(j.env, []string{"PATH=" + os.Getenv("PATH")})
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// runs runs a verb to its end, from any goroutine.
func (j jobs) runs(args ...string) (out, errs string, status int, err error) {
	cmd := exec.Command(binary, append([]string{"workspace"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = slices.Concat(j.env, []string{"PATH=" + os.Getenv("PATH")}), j.dir, &stdout, &stderr
	err = cmd.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = nil
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), err
}

// ok runs a verb that has to succeed.
func (j jobs) ok(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, status, err := j.runs(args...)
	if err != nil || status != 0 {
		t.Fatalf("workspace %v: %d, %v\n%s%s", args, status, err, out, errs)
	}
	return out
}

func (j jobs) creates(t *testing.T, args ...string) space {
	t.Helper()
	var made space
	out := j.ok(t, append([]string{"create", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &made); err != nil || made.ID == "" || !filepath.IsAbs(made.Path) {
		t.Fatalf("%v: %s", err, out)
	}
	return made
}

func (j jobs) list(t *testing.T) []space {
	t.Helper()
	var listed struct{ Workspaces []space }
	if err := json.Unmarshal([]byte(j.ok(t, "list", "--json")), &listed); err != nil {
		t.Fatal(err)
	}
	return listed.Workspaces
}

func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// TestWorkspacesOfJobs: twenty jobs at once write files with the same names, see
// only their own, and leave nothing.
func TestWorkspacesOfJobs(t *testing.T) {
	t.Parallel()
	j := jobsHome(t)
	const jobCount = 20
	// It says what it sees once all others have written.
	script := `set -e
test "$WORKSPACE" = "$1"; test "$PWD" = "$1"; test "$(stat -c %a .)" = 700
echo "$2" >result.txt; mkdir -p out; echo "$2" >out/main.go; echo "$2" >"$TMPDIR/scratch"
touch "$3/ready-$2"
n=0; while [ "$(ls "$3" | grep -c ready)" -lt 20 ]; do n=$((n+1)); [ $n -lt 6000 ] || exit 9; sleep 0.01; done
test "$(cat result.txt out/main.go "$TMPDIR/scratch" | sort -u)" = "$2"
grep -q "^package main" main.go
ls -a | tr '\n' ' '`
	meeting := t.TempDir()
	var running sync.WaitGroup
	paths := make([]string, jobCount)
	for i := range jobCount {
		running.Go(func() {
			job := "job-" + strconv.Itoa(i)
			out, errs, status, err := j.runs("create", "--json", "--kind", "temp", "--from", j.repo, "--job", job)
			var made space
			if err != nil || status != 0 || json.Unmarshal([]byte(out), &made) != nil {
				t.Errorf("%s: %d, %v, %s%s", job, status, err, out, errs)
				return
			}
			paths[i] = made.Path
			if !strings.HasPrefix(filepath.Base(made.Path), "alpha-"+job+"-") {
				t.Errorf("%s is made at %s", job, made.Path)
			}
			out, errs, status, err = j.runs("run", made.ID, "--", "sh", "-c", script, "sh", "{workspace}", strconv.Itoa(i), meeting)
			if err != nil || status != 0 {
				t.Errorf("%s: %d, %v, %s%s", job, status, err, out, errs)
			}
			// What is not committed is not taken away.
			if !strings.Contains(out, "result.txt") || isGone(made.Path) {
				t.Errorf("%s: %q", job, out)
			}
		})
	}
	running.Wait()
	if t.Failed() {
		return
	}
	if all := j.list(t); len(all) != jobCount {
		t.Errorf("%d are listed", len(all))
	}
	if n := strings.Count(j.git(t, "worktree", "list"), "\n"); n != jobCount+1 {
		t.Errorf("git knows %d worktrees", n)
	}
	for i, path := range paths {
		args := []string{"rm", path}
		if _, errs, status, err := j.runs(args...); err != nil || status != 1 || !strings.Contains(errs, "result.txt") {
			t.Fatalf("what is not committed would be lost: %d, %v, %s", status, err, errs)
		}
		j.ok(t, append(args, "--force")...)
		if !isGone(path) {
			t.Errorf("job %d is still there", i)
		}
	}
	if all := j.list(t); len(all) != 0 {
		t.Errorf("%+v are listed", all)
	}
	if n := strings.Count(j.git(t, "worktree", "list"), "\n"); n != 1 {
		t.Errorf("git still knows %s", j.git(t, "worktree", "list"))
	}
	if left := j.git(t, "branch", "--list", "lamplighter/*"); left != "" {
		t.Errorf("branches without a commit of their own stay: %s", left)
	}
	trees, err := filepath.Glob(filepath.Join(j.state(), "workspaces", "trees", "*"))
	data, err2 := filepath.Glob(filepath.Join(j.state(), "workspaces", "data", "*"))
	if err := errors.Join(err, err2); err != nil || len(trees)+len(data) != 0 {
		t.Errorf("left on the disk: %v %v, %v", trees, data, err)
	}
}

// TestWorkspaceGoesWithItsJob: a temporary one with nothing of its own is taken
// away when its job ends, one whose commits are nowhere else leaves its branch.
func TestWorkspaceGoesWithItsJob(t *testing.T) {
	t.Parallel()
	j := jobsHome(t)
	made := j.creates(t, "--kind", "temp", "--from", j.repo, "--job", "look")
	_, _, status, err := j.runs("run", made.ID, "--", "sh", "-c", "test -f main.go; exit 7")
	if err != nil || status != 7 || !isGone(made.Path) || len(j.list(t)) != 0 {
		t.Errorf("status %d, %v, %+v", status, err, j.list(t))
	}

	plain := j.creates(t, "--kind", "temp", "--job", "scratch", "--in", t.TempDir())
	j.ok(t, "run", plain.Job, "--", "sh", "-c", "echo draft >draft")
	if !isGone(plain.Path) {
		t.Error("an empty temporary one stays after its job")
	}

	made = j.creates(t, "--kind", "temp", "--from", j.repo, "--job", "commit")
	j.ok(t, "run", made.ID, "--", "sh", "-c", "echo x >x && git add x && git commit -qm Work")
	if isGone(made.Path) {
		t.Fatal("commits that are nowhere else were taken away")
	}
	out := j.ok(t, "rm", "--force", made.ID)
	branch := strings.TrimSpace(j.git(t, "branch", "--list", "lamplighter/*", "--format", "%(refname:short)"))
	if !isGone(made.Path) || branch == "" || !strings.Contains(out, branch) {
		t.Errorf("the branch %q, said %s", branch, out)
	}
	if got := j.git(t, "show", branch+":x"); got != "x\n" {
		t.Errorf("it has %q", got)
	}
}

// TestWorkspaceIsSeen: the background process notices what the verbs do, does what
// is due, and tells it.
func TestWorkspaceIsSeen(t *testing.T) {
	t.Parallel()
	j := jobsHome(t)
	j.begin(t)
	hybrid := j.creates(t, "--kind", "hybrid", "--from", j.repo, "--job", "report")
	if err := os.WriteFile(filepath.Join(hybrid.Path, "report.md"), []byte("# Final\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	j.ok(t, "keep", hybrid.ID, "-m", "the final report")
	j.ok(t, "complete", hybrid.ID)
	if !isGone(hybrid.Path) {
		t.Error("the tree of a hybrid one stays, although it was kept")
	}
	var shown struct {
		Versions []struct{ Path, Message string }
	}
	if err := json.Unmarshal([]byte(j.ok(t, "show", hybrid.ID, "--json")), &shown); err != nil || len(shown.Versions) != 1 || shown.Versions[0].Message != "the final report" {
		t.Fatalf("%v: %+v", err, shown)
	}
	if text := contentOf(t, filepath.Join(shown.Versions[0].Path, "report.md")); text != "# Final\n" {
		t.Errorf("kept is %q", text)
	}

	short := j.creates(t, "--kind", "temp", "--job", "short", "--cleanup", "retention", "--retention", "1s")
	apptest.Eventually(t, "what nobody uses goes after its retention", func() bool { return isGone(short.Path) })
	apptest.Eventually(t, "all of it is told", func() bool {
		_, out, _ := j.does(t, "events")
		for _, what := range []string{"workspace created", "workspace kept", "tree removed", "workspace removed"} {
			if !strings.Contains(out, what) {
				return false
			}
		}
		return true
	})
	j.ok(t, "restore", hybrid.ID)
	if text := contentOf(t, filepath.Join(hybrid.Path, "report.md")); text != "# Final\n" {
		t.Errorf("restored is %q", text)
	}
	j.ok(t, "archive", hybrid.ID)
	if all := j.list(t); len(all) != 1 || all[0].State != "archived" || !isGone(hybrid.Path) {
		t.Errorf("%+v", all)
	}
	j.ok(t, "restore", hybrid.ID)
	if text := contentOf(t, filepath.Join(hybrid.Path, "report.md")); text != "# Final\n" {
		t.Errorf("restored from the archive is %q", text)
	}
	if out := j.git(t, "-C", hybrid.Path, "status", "--porcelain"); out != "?? report.md\n" {
		t.Errorf("git sees %q", out)
	}
}

// TestWorkspaceWithASerena: a server is started for a workspace, works on it, and
// ends with it.
func TestWorkspaceWithASerena(t *testing.T) {
	t.Parallel()
	j := jobsHome(t)
	if _, errs, status, err := j.runs("create", "--kind", "temp", "--from", j.repo, "--job", "early", "--serve"); err != nil || status == 0 || len(j.list(t)) != 0 {
		t.Errorf("without a background process: %d, %v, %s, %+v", status, err, errs, j.list(t))
	}
	tools := serenatest.Tools(t)
	j.write(t, "language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nprojects: []\n", ".serena", "serena_config.yml")
	j.env = append(j.env, "PATH="+filepath.Join(tools, "bin")+":"+os.Getenv("PATH"), "SERENA_USAGE_REPORTING=false")
	j.set(t, fmt.Sprintf("session_start_seconds: 300\nsession_command: [%q]\n", filepath.Join(tools, "venv", "bin", "serena")))
	j.begin(t)
	made := j.creates(t, "--kind", "temp", "--from", j.repo, "--job", "served", "--serve")
	if made.Server == nil || made.Server.SessionID == 0 || !strings.HasPrefix(made.Server.MCPURL, "http://127.0.0.1:") {
		t.Fatalf("%+v", made)
	}
	apptest.Eventually(t, "Serena has the workspace for its project", func() bool {
		in := j.instance(t, made.Server.SessionID)
		return in != nil && in.ProjectRoot != nil && *in.ProjectRoot == made.Path
	})
	if _, errs, status, err := j.runs("rm", made.ID, "--dry-run"); err != nil || status != 0 {
		t.Errorf("dry run: %d, %v, %s", status, err, errs)
	}
	if isGone(made.Path) {
		t.Fatal("a dry run removes")
	}
	j.ok(t, "rm", "--force", made.ID) // Serena has written its .serena
	if !isGone(made.Path) {
		t.Error("the tree stays")
	}
	apptest.Eventually(t, "its server has ended", func() bool { // others are those of other tests
		_, left := j.listing(t)[made.Server.SessionID]
		return !left
	})
}

// TestWorkspaceInUse: what somebody works in is never taken away.
func TestWorkspaceInUse(t *testing.T) {
	t.Parallel()
	j := jobsHome(t)
	made := j.creates(t, "--kind", "temp", "--job", "busy")
	for name, line := range map[string][]string{
		"works in it":      {"sh", "-c", "cd \"$0\" && exec sleep 600", made.Path},
		"has a file open":  {"sh", "-c", "exec 3>\"$0/open\"; exec sleep 600", made.Path},
		"runs a job of it": {binary, "workspace", "run", made.ID, "--", "sleep", "600"},
	} {
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = slices.Concat(j.env, []string{"PATH=" + os.Getenv("PATH")})
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		apptest.Eventually(t, name, func() bool {
			_, errs, status, err := j.runs("rm", "--force", "--dry-run", made.ID)
			return err == nil && status == 1 && strings.Contains(errs, fmt.Sprint(cmd.Process.Pid)) || strings.Contains(errs, "sleep")
		})
		if _, errs, status, err := j.runs("rm", "--force", made.ID); err != nil || status != 1 || isGone(made.Path) {
			t.Errorf("%s: %d, %v, %s", name, status, err, errs)
		}
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// TestWorkspaceToolsWithARealClient: the MCP Inspector lists the tools, and makes
// a workspace with one.
func TestWorkspaceToolsWithARealClient(t *testing.T) {
	t.Parallel()
	j := jobsHome(t)
	env := withClients(t, slices.Concat(j.env, []string{"PATH=" + os.Getenv("PATH")}))
	inspect := func(args ...string) string {
		return tool(t, j.dir, env, append([]string{"mcp-inspector", "--cli", binary, "workspace", "mcp"}, args...)...)
	}
	apptest.Contains(t, inspect("--method", "tools/list"), "workspace_create", "workspace_remove", "readOnlyHint")
	out := inspect("--method", "tools/call", "--tool-name", "workspace_create",
		"--tool-arg", "kind=temp", "--tool-arg", "job=asked for", "--tool-arg", "from="+j.repo)
	all := j.list(t)
	if len(all) != 1 || all[0].Job != "asked for" || !strings.Contains(out, all[0].ID) {
		t.Errorf("%+v after\n%s", all, out)
	}
}
