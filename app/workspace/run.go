package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/app/workspace/confine"
	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// What stands against starting the command of a job.
var (
	ErrNoCommand     = errors.New("there is no such command")
	ErrNotExecutable = errors.New("the command cannot be executed")
)

// Job is a command to run in a workspace.
type Job struct {
	// Command is the program and its arguments. {workspace} is replaced by the path
	// of the workspace in each word, and nothing else is.
	Command []string
	Confine bool
	// Commit lets a confined job write what git needs for a commit on the branches
	// of workspaces: all objects of the repository too, which it could damage. Without
	// it the job writes nothing of the repository.
	Commit   bool
	Writable []string // directories that a confined job may write besides; absolute
	Env      []string // NAME=VALUE besides those of the workspace

	// The following are those of our own process where they are nil.
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	// Warn is told in a sentence what the job can do although it should not: write
	// what is shared, where the system cannot keep it from that. It may be nil.
	Warn func(string)
}

// Run runs a job, in the tree, with our environment, but for what binds a tool to
// another place, and that of the workspace, and says with which status it ended, 128+N for signal N; the error tells that it
// could not be run: when it Is ErrNoCommand or ErrNotExecutable, because of the
// command, and the workspace is as it was. When it has ended, and no other job runs there, a workspace
// that is temp or hybrid is completed, and outcome says what came of that; it is
// nil when it was not.
//
// ctx counts until the job begins. From then on the signals of our process are
// for the job, which may do with them what it likes: those that end programs are
// passed on to it, unless the terminal has sent them to both.
func (m *Manager) Run(ctx context.Context, id string, j Job) (status int, outcome *Outcome, err error) {
	if err := j.check(); err != nil {
		return 0, nil, err
	}
	found, err := m.find(id)
	if err != nil {
		return 0, nil, err
	}
	r, mark, err := m.beginJob(ctx, found.ID)
	if err != nil {
		return 0, nil, err
	}
	ctx = context.WithoutCancel(ctx)
	status, err = m.runJob(ctx, r, j)
	last := mark.end(ctx)
	if err != nil {
		if errors.Is(err, ErrNoCommand) || errors.Is(err, ErrNotExecutable) {
			_ = m.takeBack(ctx, r, found) // else it counts as used, and stays for longer
		}
		return 0, nil, fmt.Errorf("running a job in %s: %w", r.Name, err)
	}
	if !last || r.Kind == Persistent {
		return status, nil, nil
	}
	out, err := m.Complete(ctx, r.ID, "the end of its job")
	if err != nil && out.Why == "" {
		out.Workspace, out.Why = m.view(r), err.Error()
	}
	return status, &out, nil
}

// check says what is wrong with a job.
func (j Job) check() error {
	if len(j.Command) == 0 || j.Command[0] == "" {
		return fmt.Errorf("running a job: %w: there is no command; name one", ErrBadRequest)
	}
	if j.Commit && !j.Confine {
		return fmt.Errorf("running a job: %w: commits can be allowed to a job that is confined; any other may make them anyway", ErrBadRequest)
	}
	for _, dir := range j.Writable {
		if !filepath.IsAbs(dir) {
			return fmt.Errorf("running a job: %w: the directory %q that it may write is not absolute", ErrBadRequest, dir)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("running a job: %w: there is no directory %q that it could write; make it first", ErrBadRequest, dir)
		}
	}
	return nil
}

// beginJob marks a workspace as one that a job runs in. From then on nobody takes
// it away.
func (m *Manager) beginJob(ctx context.Context, id string) (begun *record, mark *jobMark, err error) {
	err = m.change(ctx, id, func(r *record) error {
		if r.State != Ready {
			return fmt.Errorf("running a job in %s: %w: it is %s; bring its tree back with `lamplighter workspace restore %s`", r.Name, ErrState, r.State, r.ID)
		}
		if root, err := tree.Identity(r.Path); err != nil {
			return fmt.Errorf("running a job in %s: %w: %w", r.Name, ErrState, err)
		} else if root != r.Root {
			return fmt.Errorf("running a job in %s: %w: somebody has put something else in its place, %s", r.Name, ErrState, monitor.Clean(r.Path))
		}
		if err := m.writeEnv(r); err != nil {
			return err
		}
		var err error
		if mark, err = m.markJob(ctx, r.ID); err != nil {
			return err
		}
		r.Used = m.o.Clock()
		r.UsedAt = r.Used.Wall.UTC()
		r.Done, r.DoneAt, r.Problem = nil, nil, "" // what ended before was another job
		begun = r
		return nil
	})
	if err != nil && mark != nil {
		mark.end(context.WithoutCancel(ctx))
	}
	return begun, mark, err
}

// takeBack makes a workspace what it was before a job that has never run, unless
// somebody has used it since.
func (m *Manager) takeBack(ctx context.Context, begun, before *record) error {
	return m.change(ctx, begun.ID, func(r *record) error {
		if r.UsedAt.Equal(begun.UsedAt) {
			r.Used, r.UsedAt = before.Used, before.UsedAt
			r.Done, r.DoneAt, r.Problem = before.Done, before.DoneAt, before.Problem
		}
		return nil
	})
}

// notStarted says of an error of starting a command which of ours it is.
func notStarted(err error) error {
	var path *fs.PathError
	switch {
	case errors.As(err, &path) && path.Op == "chdir":
		return err
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrNoCommand, err)
	}
	return fmt.Errorf("%w: %w", ErrNotExecutable, err)
}

// runJob runs a job to its end.
func (m *Manager) runJob(ctx context.Context, r *record, j Job) (status int, err error) {
	words := withPath(j.Command, r.Path)
	env := slices.Concat(inherited(os.Environ(), r.Path), m.environment(r))
	if j.Confine && !j.Commit {
		env = append(env, "GIT_OPTIONAL_LOCKS=0") // git status writes nothing, then
	}
	env = append(env, j.Env...)
	stdin, stdout, stderr := io.Reader(os.Stdin), io.Writer(os.Stdout), io.Writer(os.Stderr)
	if j.Stdin != nil {
		stdin = j.Stdin
	}
	if j.Stdout != nil {
		stdout = j.Stdout
	}
	if j.Stderr != nil {
		stderr = j.Stderr
	}
	signals, stop := forJobs()
	defer stop()
	if j.Confine || len(r.Shares) > 0 {
		s, err := m.boundsOf(r, j)
		if err != nil {
			return 0, err
		}
		s.Dir, s.Command, s.Env, s.Signals = r.Path, words, latest(env), signals
		s.Stdin, s.Stdout, s.Stderr = stdin, stdout, stderr
		status, err = confine.Run(ctx, s)
		if j.Commit && r.Source.Kind == FromGit {
			if failed := clearLinks(r); failed != nil && j.Warn != nil {
				j.Warn(fmt.Sprintf("links that the job may have left in %s could not be removed, and git may write where they lead: %v", r.Source.Admin, failed))
			}
		}
		if errors.Is(err, confine.ErrNotStarted) {
			return 0, notStarted(err)
		}
		if j.Confine || !errors.Is(err, confine.ErrUnavailable) {
			return status, err
		}
		if j.Warn != nil {
			j.Warn(fmt.Sprintf("the job could write what is shared with %s: %v", r.Name, err))
		}
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = r.Path, env, stdin, stdout, stderr
	if err := cmd.Start(); err != nil {
		return 0, notStarted(err)
	}
	ended, passed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(passed)
		for {
			select {
			case sig := <-signals:
				_ = cmd.Process.Signal(sig) // it may have ended
			case <-ended:
				return
			}
		}
	}()
	err = cmd.Wait()
	close(ended)
	<-passed
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return exitStatus(cmd.ProcessState), nil
}

// placeholder stands for the path of the workspace in the words of a command.
const placeholder = "{workspace}"

func withPath(command []string, path string) []string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = strings.ReplaceAll(word, placeholder, path)
	}
	return words
}

// latest leaves of each variable what was said last.
func latest(environment []string) []string {
	var list []string
	seen := map[string]bool{}
	for _, entry := range slices.Backward(environment) {
		if key, _, _ := strings.Cut(entry, "="); !seen[key] {
			seen[key] = true
			list = append(list, entry)
		}
	}
	slices.Reverse(list)
	return list
}
