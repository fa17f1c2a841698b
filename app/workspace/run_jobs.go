package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"lamplighter/monitor/statefile"
)

// jobsDir is in a workspace's data: a file PID-ID.job for each job, which whoever
// runs it has locked, and "lock", which is held to count them.
const (
	jobsDir   = "jobs"
	jobSuffix = ".job"
)

// jobMark says that a job runs, for as long as our process runs and end was not
// called.
type jobMark struct {
	dir  string
	lock *flock.Flock
}

// markJob marks a workspace, whose lock the caller holds.
func (m *Manager) markJob(ctx context.Context, id string) (*jobMark, error) {
	dir := m.store.path(dataDir, id, jobsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("marking a workspace as one with a job: %w", err)
	}
	name := strconv.Itoa(os.Getpid()) + "-" + uuid.NewString() + jobSuffix
	lock, err := statefile.Lock(ctx, filepath.Join(dir, name), lockPause)
	if err != nil {
		return nil, fmt.Errorf("marking a workspace as one with a job: %w", err)
	}
	return &jobMark{dir, lock}, nil
}

// end takes the mark away and tells whether no other job is marked. Of two that
// end at once one is the last one.
func (k *jobMark) end(ctx context.Context) (last bool) {
	counting, err := statefile.Lock(ctx, filepath.Join(k.dir, "lock"), lockPause)
	// A file that is open cannot be removed everywhere.
	unlock(k.lock)
	_ = os.Remove(k.lock.Path()) // one without a lock marks nothing
	if err != nil {
		return len(marked(k.dir)) == 0 // without the lock it may be told twice, which does no harm
	}
	defer unlock(counting)
	return len(marked(k.dir)) == 0
}

// marked are the processes that run a job, by the marks in dir. What a dead one has
// left is removed.
func marked(dir string) []int {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), jobSuffix)
		pid, _, _ := strings.Cut(name, "-")
		n, err := strconv.Atoi(pid)
		if !ok || err != nil {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		lock, err := statefile.TryLock(path)
		switch {
		case err != nil:
		case lock == nil: // somebody has it
			pids = append(pids, n)
		default:
			// While it is locked: whoever is about to lock it finds that it has gone.
			open := os.Remove(path)
			unlock(lock)
			if open != nil {
				// Where that cannot be done to an open file. There it stays, too, when
				// somebody has it open by now.
				_ = os.Remove(path)
			}
		}
	}
	return pids
}

// jobs are the processes of ours that run a job in a workspace, whatever that does
// and wherever.
func (m *Manager) jobs(id string) []User {
	var users []User
	for _, pid := range marked(m.store.path(dataDir, id, jobsDir)) {
		users = append(users, User{PID: pid, Name: "lamplighter", How: "runs a job in it"})
	}
	return users
}
