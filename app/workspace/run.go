package workspace

import "context"

// Job is a command to run in a workspace.
type Job struct {
	Command  []string // {workspace} is replaced by its path in each word
	Confine  bool
	Writable []string // directories that a confined job may write besides; absolute
	Env      []string // NAME=VALUE besides those of the workspace
}

// Run runs a job and says with which status it ended, 128+N for signal N; the
// error tells that it could not be run. When it ends, and no other job runs in it, the workspace of a
// temp or hybrid one is completed, and outcome says what came of that; nil
// when it was not.
func (m *Manager) Run(ctx context.Context, id string, j Job) (status int, outcome *Outcome, err error) {
	return 0, nil, errUnbuilt
}
