package assistant

import (
	"context"
	"fmt"
	"sync"

	"lamplighter/app/workspace"
)

// fake answers what it is told, and remembers what it was asked.
type fake struct {
	mu    sync.Mutex
	asked []string

	err      error
	made     workspace.Workspace
	list     []workspace.Workspace
	versions []workspace.Version
	changes  []workspace.Change
	outcome  workspace.Outcome
	scanned  workspace.Scanned
	tells    []workspace.Progress
	working  chan struct{} // is closed when a Create waits for its end; nil: it does not wait
	ended    bool          // it has ended
	late     bool          // it has made it all the same
	request  workspace.Request
}

func (f *fake) ask(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
}

func (f *fake) Create(ctx context.Context, q workspace.Request, progress func(workspace.Progress)) (workspace.Workspace, error) {
	f.mu.Lock()
	f.request = q
	f.mu.Unlock()
	for _, p := range f.tells {
		if progress != nil {
			progress(p)
		}
	}
	if f.working != nil {
		close(f.working)
		<-ctx.Done()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ended = true
		if f.late {
			return f.made, nil
		}
		return workspace.Workspace{}, ctx.Err()
	}
	return f.made, f.err
}

func (f *fake) List(context.Context) ([]workspace.Workspace, error) {
	return f.list, f.err
}

func (f *fake) Find(_ context.Context, name string) (workspace.Workspace, error) {
	if name == "none" {
		return workspace.Workspace{}, fmt.Errorf("%w: %q", workspace.ErrUnknown, name)
	}
	return example(), nil
}

func (f *fake) Keep(_ context.Context, id, message string, _ func(workspace.Progress)) (workspace.Version, error) {
	f.ask("keep %s %s", id, message)
	return workspace.Version{Number: 3, Message: message, At: noon, Path: "/v/3"}, f.err
}

func (f *fake) Versions(context.Context, string) ([]workspace.Version, error) {
	return f.versions, f.err
}

func (f *fake) Diff(_ context.Context, id string, from, to int) ([]workspace.Change, error) {
	f.ask("diff %s %d %d", id, from, to)
	return f.changes, f.err
}

func (f *fake) Archive(_ context.Context, id string, _ func(workspace.Progress)) (workspace.Workspace, error) {
	f.ask("archive %s", id)
	return example(), f.err
}

func (f *fake) Restore(_ context.Context, id string, version int, _ func(workspace.Progress)) (workspace.Workspace, error) {
	f.ask("restore %s %d", id, version)
	return example(), f.err
}

func (f *fake) Complete(_ context.Context, id, by string) (workspace.Outcome, error) {
	f.ask("complete %s %s", id, by)
	return f.outcome, f.err
}

func (f *fake) Remove(_ context.Context, id string, q workspace.Removal) (workspace.Outcome, error) {
	f.ask("remove %s %+v", id, q)
	return f.outcome, f.err
}

func (f *fake) Scan(_ context.Context, dirs []string, progress func(int, string)) (workspace.Scanned, error) {
	f.ask("scan %q", dirs)
	if progress != nil {
		progress(1, "/x")
	}
	return f.scanned, f.err
}

func (f *fake) RemoveStale(_ context.Context, path string, q workspace.Removal) (workspace.Outcome, error) {
	f.ask("stale %s %+v", path, q)
	return f.outcome, f.err
}
