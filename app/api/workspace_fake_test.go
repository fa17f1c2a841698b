package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

// The ids of the tests.
const (
	anID      = "01936f3e-7c00-7000-8000-0000000000a1"
	anotherID = "01936f3e-7c00-7000-8000-0000000000a2"
)

// yard is a Workspaces that answers as it is told and notes what it is asked,
// each as one line.
type yard struct {
	mu       sync.Mutex
	list     []workspace.Workspace
	making   []workspace.Making
	versions []workspace.Version
	changes  []workspace.Change
	outcome  workspace.Outcome
	scanned  workspace.Scanned
	err      error // of whatever is asked but to find and to list
	findErr  error
	unsaid   bool          // Create tells no id
	late     error         // is what Create says after it has told the id
	quietly  bool          // Create tells no progress
	panics   bool          // Create does
	whole    bool          // Create has made it when it is given up
	stuck    error         // is what Create says besides when it is given up
	held     chan struct{} // if not nil, Create, Scan and Remove wait for it or for ctx
	told     []string
	requests []workspace.Request
	undone   int  // were given up because ctx has ended
	canceled bool // ctx had ended, or can, when something was asked that must go on
	views    monitor.Feed[workspace.View]
	readers  atomic.Int32
}

func aWorkspace(id, job string) workspace.Workspace {
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	return workspace.Workspace{
		ID: id, Name: "alpha-" + job + "-000000a1", Path: "/home/u/trees/alpha-" + job + "-000000a1", Kind: workspace.Temp, Job: job, Project: "alpha", State: workspace.Ready,
		Source: workspace.Source{Kind: workspace.FromNothing}, Cleanup: workspace.AtCompletion, Retention: 24 * time.Hour, CreatedAt: at, UsedAt: at,
		Ends: "removed when its job ends", SizeBytes: -1, TempDir: "/t", EnvFile: "/e",
	}
}

func (y *yard) tell(format string, args ...any) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.told = append(y.told, fmt.Sprintf(format, args...))
}

// asked is what it was asked since the last time.
func (y *yard) asked() []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	told := y.told
	y.told = nil
	return told
}

func (y *yard) wait(ctx context.Context) error {
	if y.held == nil {
		return nil
	}
	select {
	case <-y.held:
		return nil
	case <-ctx.Done():
		y.mu.Lock()
		defer y.mu.Unlock()
		y.undone++
		return ctx.Err()
	}
}

func (y *yard) count() (requests, undone int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return len(y.requests), y.undone
}

func (y *yard) Create(ctx context.Context, q workspace.Request, progress func(workspace.Progress)) (workspace.Workspace, error) {
	y.mu.Lock()
	begun := q.Begun
	q.Begun = nil
	y.requests = append(y.requests, q)
	made := aWorkspace(anID, "fix")
	err, unsaid, panics, late := y.err, y.unsaid, y.panics, y.late
	if y.quietly {
		progress = nil
	}
	y.mu.Unlock()
	if err != nil {
		return workspace.Workspace{}, err
	}
	if begun != nil && !unsaid {
		begun(workspace.Making{ID: made.ID, Name: made.Name, Job: q.Job})
	}
	if late != nil {
		return workspace.Workspace{}, late
	}
	if panics {
		panic("in the yard")
	}
	if progress != nil {
		progress(workspace.Progress{Phase: workspace.Copying, Bytes: 5, BytesTotal: 10, FilesTotal: -1, Percent: 50, Left: 1500 * time.Millisecond})
	}
	if err := y.wait(ctx); err != nil && !y.whole {
		return workspace.Workspace{}, errors.Join(err, y.stuck)
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.findErr == nil {
		y.list = append(y.list, made)
	}
	return made, nil
}

func (y *yard) View(context.Context) (workspace.View, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return workspace.View{Workspaces: y.list, Making: y.making}, y.findErr
}

func (y *yard) Find(_ context.Context, name string) (workspace.Workspace, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, w := range y.list {
		if w.ID == name || w.Job == name {
			return w, y.findErr
		}
	}
	if y.findErr != nil {
		return workspace.Workspace{}, y.findErr
	}
	return workspace.Workspace{}, fmt.Errorf("%w: %q", workspace.ErrUnknown, name)
}

func (y *yard) Subscribe() (<-chan workspace.View, func()) {
	y.change(func() {})
	return counted(&y.views, &y.readers)
}

// change does something and tells the readers.
func (y *yard) change(do func()) {
	y.mu.Lock()
	defer y.mu.Unlock()
	do()
	y.views.Publish(workspace.View{Workspaces: y.list, Making: y.making})
}

func (y *yard) subscribers() int { return int(y.readers.Load()) }

// goesOn notes a ctx that could be cancelled.
func (y *yard) goesOn(ctx context.Context) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.canceled = y.canceled || ctx.Done() != nil
}

func (y *yard) Keep(ctx context.Context, id, message string, _ func(workspace.Progress)) (workspace.Version, error) {
	y.goesOn(ctx)
	y.tell("keep %s %q", id, message)
	return workspace.Version{Number: 2, Message: message, Path: "/v/2"}, y.err
}

func (y *yard) Versions(context.Context, string) ([]workspace.Version, error) {
	return y.versions, y.err
}

func (y *yard) Diff(_ context.Context, id string, from, to int) ([]workspace.Change, error) {
	y.tell("diff %s %d %d", id, from, to)
	return y.changes, y.err
}

func (y *yard) Archive(ctx context.Context, id string, _ func(workspace.Progress)) (workspace.Workspace, error) {
	y.goesOn(ctx)
	y.tell("archive %s", id)
	w := aWorkspace(id, "fix")
	w.State = workspace.Archived
	return w, y.err
}

func (y *yard) Restore(ctx context.Context, id string, version int, _ func(workspace.Progress)) (workspace.Workspace, error) {
	y.goesOn(ctx)
	y.tell("restore %s %d", id, version)
	return aWorkspace(id, "fix"), y.err
}

func (y *yard) Complete(ctx context.Context, id, by string) (workspace.Outcome, error) {
	y.goesOn(ctx)
	y.tell("complete %s by %s", id, by)
	return y.outcome, y.err
}

func (y *yard) Remove(ctx context.Context, id string, q workspace.Removal) (workspace.Outcome, error) {
	y.goesOn(ctx)
	y.tell("remove %s %+v", id, q)
	return y.outcome, y.err
}

func (y *yard) Scan(ctx context.Context, dirs []string, _ func(int, string)) (workspace.Scanned, error) {
	y.tell("scan %q", dirs)
	if err := y.wait(ctx); err != nil {
		return workspace.Scanned{}, err
	}
	return y.scanned, y.err
}

func (y *yard) RemoveStale(ctx context.Context, path string, q workspace.Removal) (workspace.Outcome, error) {
	y.goesOn(ctx)
	y.tell("remove stale %s %+v", path, q)
	return y.outcome, y.err
}

func withWorkspaces(y Workspaces) http.Handler {
	p := parts(newModel(), shower{})
	p.Workspaces = y
	return Handler(p)
}
