package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lamplighter/monitor"
)

// Remove takes a workspace away with its versions, or says what would be lost:
// the error Is ErrLoss, ErrInUse, ErrState or ErrBusy then, and Outcome is filled in. A dry
// run changes nothing, and is no error where something stands against it:
// Outcome.Why says what. Commits are never lost: a branch with commits of its own
// stays, and Outcome.Kept says so.
func (m *Manager) Remove(ctx context.Context, id string, q Removal) (Outcome, error) {
	found, err := m.find(id)
	if err != nil {
		return Outcome{}, err
	}
	if q.By == "" {
		q.By = m.o.By
	}
	if q.DryRun {
		return m.wouldRemove(ctx, found, q), nil
	}
	out := Outcome{Workspace: m.view(found), InUse: []User{}}
	err = m.change(ctx, found.ID, func(r *record) error {
		out, err = m.takeAway(ctx, r, stepRemove, q)
		return err
	})
	if err != nil {
		out.Done, out.What, out.Why = false, "not removed", err.Error()
	}
	return out, err
}

// wouldRemove is what Remove would do.
func (m *Manager) wouldRemove(ctx context.Context, r *record, q Removal) Outcome {
	out := Outcome{Workspace: m.view(r), DryRun: true, What: "would be removed", InUse: []User{}}
	err := m.stands(ctx, r, stepRemove, q, &out)
	if err != nil {
		out.What, out.Why = "would not be removed", err.Error()
	}
	out.Freed = m.freed(ctx, r, true)
	out.Kept = m.wouldKeep(ctx, r, out.Loss)
	return out
}

// Complete says that the job of a workspace has ended: what its clean-up says is
// done. What stands against that is in Outcome.Why and is no error.
func (m *Manager) Complete(ctx context.Context, id, by string) (Outcome, error) {
	found, err := m.find(id)
	if err != nil {
		return Outcome{}, err
	}
	if by == "" {
		by = m.o.By
	}
	out := Outcome{Workspace: m.view(found), InUse: []User{}}
	err = m.change(ctx, found.ID, func(r *record) error {
		clock := m.o.Clock()
		if f := factsOf(r, m.limits()); !f.completed() {
			at := clock.Wall.UTC()
			if after(r.Used, clock) { // by a clock that was wrong
				m.touch(r)
				clock = r.Used
			}
			r.Done, r.DoneAt, r.Problem = &clock, &at, ""
			r.note(at, "completed", "by "+by)
			if err := m.store.write(r); err != nil && !diskFull(err) {
				return err
			}
			m.at("complete: noted")
		}
		f := factsOf(r, m.limits())
		v := due(f, clock)
		if v.due() && v.Action != actArchive { // Sweep archives, for that takes long
			out, err = m.cleanUp(ctx, r, v.Action, by)
			return err
		}
		out.Workspace = m.view(r)
		out.What = "completed; " + v.sentence()
		return nil
	})
	if err != nil {
		out.What, out.Why = "not completed", err.Error()
	}
	return out, err
}

// The words that begin what stands against clean-up; each is told once.
const (
	leftInUse  = "in use: "
	leftLoss   = "work would be lost: "
	leftFailed = "it did not work: "
	leftBarred = "it cannot be removed: "
)

// cleanUp takes a workspace or its tree away without being asked; the caller holds
// its lock, and writes the record. What stands against it is remembered, and no
// error.
func (m *Manager) cleanUp(ctx context.Context, r *record, a action, by string) (Outcome, error) {
	verb := stepRemove
	if a == actEnd {
		verb = stepEnd
	}
	out, err := m.takeAway(ctx, r, verb, Removal{By: by})
	if err == nil || r.Step != nil || ctx.Err() != nil {
		return out, err
	}
	m.leave(r, err)
	out.Workspace, out.What, out.Why = m.view(r), "left as it is", err.Error()
	return out, nil
}

// leave remembers what stands against clean-up. It is in the history once, however
// often that is tried.
func (m *Manager) leave(r *record, err error) {
	why := leftFailed + err.Error()
	var stands *standsAgainst
	switch {
	case errors.As(err, &stands):
		why = stands.left()
	case errors.Is(err, ErrInUse): // of Archive
		why = leftInUse + err.Error()
	}
	kind := leftKind(why)
	known := r.Problem != "" && leftKind(r.Problem) == kind
	r.Problem = why
	if !known {
		r.note(m.o.Clock().Wall, "left", why)
	}
}

// leftKind is which of the reasons something is; "" is none of them.
func leftKind(problem string) string {
	for _, kind := range []string{leftInUse, leftLoss, leftFailed, leftBarred} {
		if strings.HasPrefix(problem, kind) {
			return kind
		}
	}
	return ""
}

// standsAgainst is why something is not taken away: is is ErrLoss, ErrInUse or
// ErrState.
type standsAgainst struct {
	name  string
	is    error
	words string
}

func (e *standsAgainst) Error() string {
	what := "end that first"
	switch e.is {
	case ErrLoss:
		what = "keep it elsewhere first, or remove it with force"
	case ErrState:
		return fmt.Sprintf("removing %s: %v: %s", e.name, e.is, e.words)
	}
	return fmt.Sprintf("removing %s: %v: %s; %s", e.name, e.is, e.words, what)
}

func (e *standsAgainst) Unwrap() error { return e.is }

// left is the reason as a Problem.
func (e *standsAgainst) left() string {
	switch e.is {
	case ErrInUse:
		return leftInUse + e.words
	case ErrState:
		return leftBarred + e.words
	}
	return leftLoss + e.words + "; keep it or remove it"
}

// stands finds what stands against taking a workspace or its tree away, which is a
// *standsAgainst, and tells out of it. When nothing but servers of ours that nobody
// needs does, they are ended, except in a dry run.
func (m *Manager) stands(ctx context.Context, r *record, verb verb, q Removal, out *Outcome) error {
	loss, err := m.lossWith(ctx, r, verb)
	if err != nil {
		return err
	}
	out.Loss = &loss
	if barred := m.barred(ctx, r); barred != "" {
		return &standsAgainst{r.Name, ErrState, barred}
	}
	if loss.Words != "" && !q.Force {
		return &standsAgainst{r.Name, ErrLoss, loss.Words}
	}
	users, err := m.vacate(ctx, r, q.DryRun)
	if err != nil {
		return err
	}
	out.InUse = users
	return inUse(r.Name, out.InUse)
}

// inUse is the error when somebody works inside.
func inUse(name string, users []User) error {
	if len(users) == 0 {
		return nil
	}
	return &standsAgainst{name, ErrInUse, usersWords(users)}
}

// mostUsers bounds how many are named in a sentence.
const mostUsers = 3

func usersWords(users []User) string {
	var words []string
	for i, u := range users {
		if i == mostUsers {
			words = append(words, fmt.Sprintf("and %d more", len(users)-i))
			break
		}
		words = append(words, fmt.Sprintf("%s (%d) %s", u.Name, u.PID, u.How))
	}
	return strings.Join(words, ", ")
}

// inside are the processes that run a job in a workspace, or work in its tree, which
// lies at path, or with its temporary files. The error tells that nobody could
// look.
func (m *Manager) inside(ctx context.Context, r *record, path string) ([]User, error) {
	// A job counts wherever its processes are: it may be about to begin, and one in a
	// container cannot be seen.
	users := append([]User{}, m.jobs(r.ID)...)
	var dirs []string
	if lies, err := m.lies(r, path); r.State == Ready && (lies == ours || err != nil) {
		dirs = append(dirs, path) // what else lies there stays
	}
	if temp := m.tempDir(r.ID); isDir(temp) {
		dirs = append(dirs, temp)
	}
	for _, dir := range dirs {
		found, err := m.o.InUse(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("removing %s: it could not be found out whether somebody works inside: %w", r.Name, err)
		}
		for _, p := range found {
			if slices.ContainsFunc(users, func(u User) bool { return u.PID == p.PID }) {
				continue
			}
			users = append(users, User{PID: p.PID, Name: monitor.Clean(p.Name), How: monitor.Clean(p.How)})
		}
	}
	return users, nil
}
