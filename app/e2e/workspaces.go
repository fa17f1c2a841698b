//go:build real && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"lamplighter/monitor/serena/serenatest"
)

// Space is what workspace create and list tell of a workspace, as users read it.
type Space struct {
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

// Jobs is a home in which workspaces are made, of a git repository.
type Jobs struct {
	*Manager
	Repo string
}

func JobsHome(t *testing.T) Jobs {
	t.Helper()
	m := ManagerHome(t)
	m.Env = append(m.Env, "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	m.Set(t, "")
	j := Jobs{m, serenatest.GoProject(t, "alpha")}
	j.Git(t, "init", "-q", "-b", "main")
	j.Git(t, "add", "-A")
	j.Git(t, "commit", "-qm", "Begin")
	return j
}

// Git runs git in the repository.
func (j Jobs) Git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = j.Repo, slices.Concat(j.Env, []string{"PATH=" + os.Getenv("PATH")})
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Runs runs a verb to its end, from any goroutine.
func (j Jobs) Runs(args ...string) (out, errs string, status int, err error) {
	cmd := exec.Command(Program, append([]string{"workspace"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = slices.Concat(j.Env, []string{"PATH=" + os.Getenv("PATH")}), j.Dir, &stdout, &stderr
	err = cmd.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = nil
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), err
}

// Ok runs a verb that has to succeed.
func (j Jobs) Ok(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, status, err := j.Runs(args...)
	if err != nil || status != 0 {
		t.Fatalf("workspace %v: %d, %v\n%s%s", args, status, err, out, errs)
	}
	return out
}

func (j Jobs) Creates(t *testing.T, args ...string) Space {
	t.Helper()
	var made Space
	out := j.Ok(t, append([]string{"create", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &made); err != nil || made.ID == "" || !filepath.IsAbs(made.Path) {
		t.Fatalf("%v: %s", err, out)
	}
	return made
}

func (j Jobs) List(t *testing.T) []Space {
	t.Helper()
	var listed struct{ Workspaces []Space }
	if err := json.Unmarshal([]byte(j.Ok(t, "list", "--json")), &listed); err != nil {
		t.Fatal(err)
	}
	return listed.Workspaces
}

func IsGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
