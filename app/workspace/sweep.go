package workspace

import (
	"context"
	"time"

	"lamplighter/monitor"
)

// Sweep does what is due, and says when something is next; zero: nothing is.
func (m *Manager) Sweep(ctx context.Context) (next time.Time, err error) {
	return time.Time{}, errUnbuilt
}

// View is what there is at one moment.
type View struct {
	Workspaces []Workspace
	Making     []Making
}

// hub hands out views.
type hub struct{}

func newHub() *hub { return &hub{} }

// Subscribe hands out the view now and at each change, while Serve runs; the newest wins.
func (m *Manager) Subscribe() (views <-chan View, cancel func()) { return nil, func() {} }

// Serve recovers, and then does what is due when it is due, notices what other
// processes do, and tells record of all that happens. One process does this for a
// directory: another one waits for its turn, and only watches.
func (m *Manager) Serve(ctx context.Context, record func(monitor.Event)) error { return errUnbuilt }
