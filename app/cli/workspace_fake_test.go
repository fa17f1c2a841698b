package cli

import (
	"context"
	"fmt"
	"testing"
	"time"

	"lamplighter/app/daemon/daemontest"
	"lamplighter/app/workspace"
)

// fakeSpaces answers what it is told, and remembers what it was asked.
type fakeSpaces struct {
	list     []workspace.Workspace
	versions []workspace.Version
	changes  []workspace.Change
	outcome  workspace.Outcome
	scanned  workspace.Scanned
	status   int
	ended    *workspace.Outcome // of Run
	tells    []workspace.Progress
	err      error
	listErr  error
	during   func() // is called while something is at work; nil: nothing is

	asked   []string
	request workspace.Request
	job     workspace.Job
}

func (f *fakeSpaces) ask(format string, args ...any) error {
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
	if f.during != nil {
		f.during()
	}
	return f.err
}

func (f *fakeSpaces) Create(_ context.Context, q workspace.Request, progress func(workspace.Progress)) (workspace.Workspace, error) {
	f.request = q
	for _, p := range f.tells {
		if progress != nil {
			progress(p)
		}
	}
	if err := f.ask("create"); err != nil {
		return workspace.Workspace{}, err
	}
	return f.list[0], nil
}

func (f *fakeSpaces) List(context.Context) ([]workspace.Workspace, error) { return f.list, f.listErr }

func (f *fakeSpaces) Find(_ context.Context, name string) (workspace.Workspace, error) {
	for _, w := range f.list {
		if name == w.ID || name == w.Name || name == w.Job {
			return w, nil
		}
	}
	return workspace.Workspace{}, fmt.Errorf("%w: %q", workspace.ErrUnknown, name)
}

func (f *fakeSpaces) Keep(_ context.Context, id, message string, _ func(workspace.Progress)) (workspace.Version, error) {
	return workspace.Version{Number: 3, Message: message, Files: 1, Bytes: 1500, At: daemontest.Noon}, f.ask("keep %s %s", id, message)
}

func (f *fakeSpaces) Versions(context.Context, string) ([]workspace.Version, error) {
	return f.versions, nil
}

func (f *fakeSpaces) Diff(_ context.Context, id string, from, to int) ([]workspace.Change, error) {
	return f.changes, f.ask("diff %s %d %d", id, from, to)
}

func (f *fakeSpaces) Archive(_ context.Context, id string, _ func(workspace.Progress)) (workspace.Workspace, error) {
	w := f.list[0]
	w.Archive = &workspace.Archive{Path: "/archives/a.tar.zst", Bytes: 2e6}
	return w, f.ask("archive %s", id)
}

func (f *fakeSpaces) Restore(_ context.Context, id string, version int, _ func(workspace.Progress)) (workspace.Workspace, error) {
	return f.list[0], f.ask("restore %s %d", id, version)
}

func (f *fakeSpaces) Complete(_ context.Context, id, by string) (workspace.Outcome, error) {
	return f.outcome, f.ask("complete %s %s", id, by)
}

func (f *fakeSpaces) Remove(_ context.Context, id string, q workspace.Removal) (workspace.Outcome, error) {
	return f.outcome, f.ask("remove %s %+v", id, q)
}

func (f *fakeSpaces) Scan(_ context.Context, dirs []string, progress func(int, string)) (workspace.Scanned, error) {
	if progress != nil {
		progress(7, "/some/where")
	}
	return f.scanned, f.ask("scan %q", dirs)
}

func (f *fakeSpaces) RemoveStale(_ context.Context, path string, q workspace.Removal) (workspace.Outcome, error) {
	return f.outcome, f.ask("stale %s %+v", path, q)
}

func (f *fakeSpaces) Run(_ context.Context, id string, j workspace.Job) (int, *workspace.Outcome, error) {
	f.job = j
	return f.status, f.ended, f.ask("run %s", id)
}

const spaceID = "019aa0c3-0000-7000-8000-00001a2b3c4d"

func space(job string) workspace.Workspace {
	ends := time.Now().Add(23*time.Hour + time.Minute)
	return workspace.Workspace{
		ID: spaceID, Name: "alpha-fix-1a2b3c4d", Path: "/trees/alpha-fix-1a2b3c4d", Kind: workspace.Temp, Job: job, Project: "alpha", State: workspace.Ready,
		Source:  workspace.Source{Kind: workspace.FromGit, From: "/src/alpha", Ref: "main", Commit: "0123456789abcdef", Branch: "lamplighter/alpha-fix-1a2b3c4d"},
		Cleanup: workspace.AtCompletion, Retention: 24 * time.Hour, CreatedAt: time.Now().Add(-3 * time.Hour), UsedAt: time.Now().Add(-time.Hour), EndsAt: &ends,
		Ends: "removed when its job ends", SizeBytes: 1.2e9, Files: 5010, TempDir: "/data/tmp", EnvFile: "/data/env",
	}
}

func workspaceDesktop(t *testing.T) (*desktop, *fakeSpaces) {
	t.Helper()
	d := newDesktop(t)
	f := &fakeSpaces{list: []workspace.Workspace{space("fix")}}
	d.spaces = func() (workspaceManager, error) { return f, nil }
	return d, f
}
