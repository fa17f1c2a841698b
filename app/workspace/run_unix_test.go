//go:build unix

package workspace

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/workspace/gitwork"
)

// sh runs a script as a job, and returns what it wrote.
func sh(t *testing.T, m *Manager, id string, j Job, script string, args ...string) (int, *Outcome, string) {
	t.Helper()
	var out bytes.Buffer
	j.Command = append([]string{"sh", "-c", script, "sh"}, args...)
	j.Stdin, j.Stdout, j.Stderr = strings.NewReader("typed\n"), &out, &out
	status, outcome, err := m.Run(t.Context(), id, j)
	if err != nil {
		t.Fatal(err)
	}
	return status, outcome, out.String()
}

func TestRunEnvironment(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Job: `it's "odd" $HOME ` + "`x`"})
	t.Setenv("WORKSPACE", "another")
	const tell = `printf '%s\n' "$WORKSPACE" "$WORKSPACE_ID" "$WORKSPACE_NAME" "$WORKSPACE_JOB" "$TMPDIR" "$TMP" "$TEMP"`
	want := strings.Join([]string{w.Path, w.ID, w.Name, w.Job, w.TempDir, w.TempDir, w.TempDir}, "\n") + "\n"
	status, _, out := sh(t, m, w.ID, Job{Env: []string{"MORE=x"}}, tell+`; pwd; echo "$MORE $1"; read line; echo "$line"; test -d "$TMPDIR"`, "in {workspace}")
	if want := want + w.Path + "\nx in " + w.Path + "\ntyped\n"; status != 0 || out != want {
		t.Errorf("%d, %q, want %q", status, out, want)
	}
	cmd := exec.Command("sh", "-c", ". "+m.envFile(w.ID)+"; sh -c '"+strings.ReplaceAll(tell, "'", `'\''`)+"'")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
		t.Errorf("its file: %q, %v", out, err)
	}
	for path, mode := range map[string]os.FileMode{w.TempDir: 0o700, w.EnvFile: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

// A hook of git, or a shell with its variables, binds what it runs to another
// repository: a workspace is made of its own all the same, and its jobs work on it.
func TestJobFromAHook(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	own := l.repository("own", map[string]string{"file": "first\n"})
	other := l.repository("other", map[string]string{"theirs": "x\n"})
	index := l.path("other/.git/index")
	before, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range gitwork.Bindings {
		t.Setenv(name, l.path("other/.git"))
	}
	for name, value := range map[string]string{
		"GIT_INDEX_FILE": index, "GIT_WORK_TREE": other, "GIT_PREFIX": "sub/", "GIT_OBJECT_DIRECTORY": l.path("other/.git/objects"), "PWD": other, "OLDPWD": other,
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.worktree", "GIT_CONFIG_VALUE_0": other, "GIT_NAMESPACE": "n", "GIT_CONFIG_PARAMETERS": "'core.bare=true'",
	} {
		t.Setenv(name, value)
	}
	w := l.create(m, Request{Kind: Persistent, Job: "job", From: own})
	const does = `echo second >file && echo new >new && git add --all && git rev-parse --show-toplevel && git diff --cached --name-only && echo "$PWD ${OLDPWD-none}"`
	want := w.Path + "\nfile\nnew\n" + w.Path + " none\n"
	if status, _, out := sh(t, m, w.ID, Job{}, does); status != 0 || out != want {
		t.Errorf("%d, %q, want %q", status, out, want)
	}
	cmd := exec.Command("sh", "-c", ". "+w.EnvFile+` && cd "$WORKSPACE" && git rev-parse --show-toplevel`)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != w.Path+"\n" {
		t.Errorf("with its file: %q, %v", out, err)
	}
	if after, err := os.ReadFile(index); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the index of the other repository was written: %v", err)
	}
	if status := git(t, other, "status", "--porcelain"); status != "" {
		t.Error(status)
	}
}

func TestRunStatus(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{})
	for script, want := range map[string]int{"true": 0, "exit 3": 3, "kill -TERM $$": 143, "kill -KILL $$": 137} {
		if status, outcome, out := sh(t, m, w.ID, Job{}, script); status != want || outcome != nil {
			t.Errorf("%s: %d, %+v, %s", script, status, outcome, out)
		}
	}
}

// A command that cannot be started leaves all as it was.
func TestRunNotStarted(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp})
	if err := os.WriteFile(filepath.Join(w.Path, "text"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.change(t.Context(), w.ID, func(r *record) error {
		used := r.Used
		r.Done, r.DoneAt, r.Problem = &used, &r.UsedAt, "somebody works in it"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	before := l.record(m, w.ID)
	for command, want := range map[string]error{
		"lamplighter-no-such-command": ErrNoCommand, "./none": ErrNoCommand, "./text": ErrNotExecutable, w.Path: ErrNotExecutable,
	} {
		_, outcome, err := m.Run(t.Context(), w.ID, Job{Command: []string{command}})
		if !errors.Is(err, want) || outcome != nil {
			t.Errorf("%s: %v, %+v", command, err, outcome)
		}
	}
	after := l.record(m, w.ID)
	if after.State != Ready || after.Problem != before.Problem || after.Done == nil || after.DoneAt == nil || !after.UsedAt.Equal(before.UsedAt) {
		t.Errorf("%+v\nwas %+v", after, before)
	}
}

func TestRunCompletes(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	temp, hybrid := l.create(m, Request{Kind: Temp, Job: "temp"}), l.create(m, Request{Kind: Hybrid, Job: "hybrid"})
	if _, outcome, _ := sh(t, m, temp.ID, Job{}, "echo x > file"); outcome == nil || !outcome.Done {
		t.Errorf("temp: %+v", outcome)
	}
	if _, err := os.Lstat(temp.Path); err == nil {
		t.Error("temp: its tree is there")
	}
	if _, outcome, _ := sh(t, m, hybrid.ID, Job{}, "echo x > file"); outcome == nil || outcome.Done || outcome.Why == "" {
		t.Errorf("hybrid, not kept: %+v", outcome)
	}
	if _, err := m.Keep(t.Context(), hybrid.ID, "done", nil); err != nil {
		t.Fatal(err)
	}
	if _, outcome, _ := sh(t, m, hybrid.ID, Job{}, "true"); outcome == nil || !outcome.Done {
		t.Errorf("hybrid, kept: %+v", outcome)
	}
	if w, err := m.Find(t.Context(), hybrid.ID); err != nil || w.State != Ended || w.Versions != 1 {
		t.Errorf("hybrid: %+v, %v", w, err)
	}
}

// A workspace is completed when the last of its jobs has ended.
func TestRunTogether(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp})
	pipe := l.path("pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	type result struct {
		status  int
		outcome *Outcome
		err     error
	}
	first := make(chan result, 1)
	go func() {
		status, outcome, err := m.Run(t.Context(), w.ID, Job{Command: []string{"sh", "-c", "echo first > mine; read line < " + pipe}})
		first <- result{status, outcome, err}
	}()
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the job
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if _, outcome, _ := sh(t, l.manager(nil), w.ID, Job{}, "cat mine"); outcome != nil {
		t.Errorf("the first one runs: %+v", outcome)
	}
	if _, err := os.Lstat(filepath.Join(w.Path, "mine")); err != nil {
		t.Error(err)
	}
	if _, err := writer.WriteString("go on\n"); err != nil {
		t.Fatal(err)
	}
	if r := <-first; r.err != nil || r.status != 0 || r.outcome == nil || !r.outcome.Done {
		t.Errorf("%+v", r)
	}
}
