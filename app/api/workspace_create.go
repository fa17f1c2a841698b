package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

// workspaceGivenUp is told a client that has closed its end, and may still read.
const workspaceGivenUp = `the connection was closed before the workspace was whole, so it is undone; keep it open until the answer, or ask with "async": true`

// createWorkspace answers when the workspace is whole or, where async is asked
// for, when its id is known. Whoever waits for it and goes away has none.
func (r routes) createWorkspace(w http.ResponseWriter, req *http.Request) {
	order, ok := bodyOf(r, w, req, parseCreate)
	if !ok {
		return
	}
	if order.async {
		r.beginWorkspace(w, req, order.Request)
		return
	}
	made, err := r.parts.Workspaces.Create(req.Context(), order.Request, nil)
	switch {
	case err != nil && req.Context().Err() != nil:
		r.failGivenUp(req.Context(), w, err)
	case err != nil:
		r.failWorkspace(w, err)
	default:
		err := req.Context().Err()
		if err == nil {
			err = r.deliver(w, http.StatusCreated, EncodeWorkspace(made))
		}
		if err != nil {
			r.takeBackWorkspace(req.Context(), made, err)
		}
	}
}

// failGivenUp answers a client that has closed its end. What more there is to the
// error is logged, since it may not read that.
func (r routes) failGivenUp(ctx context.Context, w http.ResponseWriter, err error) {
	err = workspace.Interrupted(ctx, err, workspaceGivenUp)
	r.parts.Log.Info("who asked for a workspace has gone", "error", err)
	r.fail(w, http.StatusServiceUnavailable, monitor.Clean(err.Error()))
}

// takeBackWorkspace removes a workspace whose answer did not arrive: nobody
// knows of it, and nobody has worked in it.
func (r routes) takeBackWorkspace(ctx context.Context, made workspace.Workspace, why error) {
	r.parts.Log.Info("who asked for a workspace did not take the answer; it is removed", "workspace", made.Name, "error", why)
	if _, err := r.parts.Workspaces.Remove(context.WithoutCancel(ctx), made.ID, workspace.Removal{By: "its client has gone"}); err != nil {
		r.parts.Log.Warn("a workspace that nobody knows of stays", "workspace", made.Name, "error", err)
	}
}

// beginWorkspace answers when the id is known, and has the workspace made beside
// the request. When this process ends before that, what is half made is undone
// like after any crash.
func (r routes) beginWorkspace(w http.ResponseWriter, req *http.Request, q workspace.Request) {
	release, ok := r.makings.reserve(q.Wait)
	if !ok {
		text := fmt.Sprintf("%d workspaces are being made here, which is the most; ask again when one is whole", mostBegun)
		if q.Wait {
			text = fmt.Sprintf("%d workspaces that may wait for a place are being made here, which is the most; ask again when one is whole, or DELETE one of them", mostWaiting)
		}
		w.Header().Set("Retry-After", "1")
		r.fail(w, http.StatusServiceUnavailable, text)
		return
	}
	ctx, giveUp := context.WithCancel(context.WithoutCancel(req.Context()))
	mine, began, ended := &beginning{giveUp: giveUp, over: make(chan struct{})}, make(chan workspace.Making, 1), make(chan error, 1)
	q.Begun = func(m workspace.Making) {
		if r.makings.begin(mine, m) {
			began <- m
		}
	}
	goesOn := monitor.NewBell()
	progress := func(p workspace.Progress) {
		if r.makings.progress(mine, p) {
			goesOn.Ring()
		}
	}
	go func() {
		defer release()
		defer giveUp()
		defer close(mine.over)
		err := r.makeWorkspace(ctx, q, progress)
		if err != nil && ctx.Err() != nil && workspace.OnlyEnded(ctx, err) {
			err = errGivenUp
		}
		if name := r.makings.end(mine, err); err != nil && name != "" {
			r.parts.Log.Warn("a workspace was not made", "workspace", name, "error", err)
		}
		ended <- err
	}()
	var making workspace.Making
	select {
	case making = <-began:
	case err := <-ended:
		r.answerBegun(w, began, err)
		return
	}
	// That there is no place for it shows a moment after it has its id.
	soon := time.NewTimer(soonRefused)
	defer soon.Stop()
	select {
	case err := <-ended:
		began <- making
		r.answerBegun(w, began, err)
		return
	case <-goesOn:
	case <-soon.C:
	}
	r.answer(w, http.StatusAccepted, encodeMaking(making))
}

// errGivenUp is why a workspace was not made that a client has given up.
var errGivenUp = errors.New("it was given up while it was made, and nothing of it stays")

// giveUpWorkspace ends the making of a workspace beside its request, and waits until
// what was made of it is undone. It answers nothing and returns false when there is
// none, and when that was whole before, so that it is to be removed like others.
func (r routes) giveUpWorkspace(w http.ResponseWriter, req *http.Request, dryRun bool) (answered bool) {
	id := req.PathValue("id")
	one, known := r.makings.find(id)
	switch {
	case !known || one.failed != nil:
		return false
	case dryRun:
		r.answerOutcome(w, workspace.Outcome{What: "its making would be given up"}, true, nil)
		return true
	}
	one.giveUp()
	select {
	case <-one.over:
	case <-req.Context().Done(): // it goes on being undone
		return true
	}
	one, known = r.makings.find(id)
	switch {
	case !known:
		return false
	case errors.Is(one.failed, errGivenUp):
		r.answerOutcome(w, workspace.Outcome{Done: true, What: "its making was given up"}, false, nil)
	default:
		r.failWorkspace(w, one.failed)
	}
	return true
}

// soonRefused is how long a workspace that is made beside its request can be
// refused in the answer to it.
const soonRefused = time.Second

// answerBegun answers where a workspace was whole, or refused, at once.
func (r routes) answerBegun(w http.ResponseWriter, began <-chan workspace.Making, err error) {
	if err != nil {
		r.failWorkspace(w, err)
		return
	}
	select {
	case making := <-began:
		r.answer(w, http.StatusAccepted, encodeMaking(making))
	default:
		r.failWorkspace(w, errors.New("the workspace was made, and nobody said which one it is; look for it among all"))
	}
}

func (r routes) makeWorkspace(ctx context.Context, q workspace.Request, progress func(workspace.Progress)) (err error) {
	defer r.recoverInto(&err, "making a workspace")
	_, err = r.parts.Workspaces.Create(ctx, q, progress)
	return err
}

// The bounds of what is remembered of workspaces that were begun.
const (
	mostBegun   = 64  // at once
	mostWaiting = 256 // at once of those that may wait for a place
	mostFailed  = 100
)

// makings are the workspaces that are being made beside their requests, and why
// the last of them could not be. It is safe for concurrent use.
type makings struct {
	places, waiting chan struct{}

	mu     sync.Mutex
	making map[string]*beginning // by id
	failed []string              // ids, oldest first
}

// beginning is one of them.
type beginning struct {
	making workspace.Making
	failed error         // nil: it is being made
	giveUp func()        // ends that
	over   chan struct{} // is closed when it has ended
}

func newMakings() *makings {
	return &makings{places: make(chan struct{}, mostBegun), waiting: make(chan struct{}, mostWaiting), making: map[string]*beginning{}}
}

// reserve takes a place; ok is false when there is none. Those that may wait have
// places of their own, so that they keep nobody else from being made.
func (b *makings) reserve(waits bool) (release func(), ok bool) {
	places := b.places
	if waits {
		places = b.waiting
	}
	select {
	case places <- struct{}{}:
		return func() { <-places }, true
	default:
		return nil, false
	}
}

// begin reports whether this was not known yet.
func (b *makings) begin(one *beginning, m workspace.Making) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one.making.ID != "" {
		return false
	}
	one.making = m
	b.making[m.ID] = one
	return true
}

// progress reports whether it has begun.
func (b *makings) progress(one *beginning, p workspace.Progress) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	one.making.Progress = p
	return one.making.ID != ""
}

// end forgets one that is whole, and remembers for a while why one is not. Its
// name is "" when it had not begun.
func (b *makings) end(one *beginning, err error) (name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := one.making.ID
	switch {
	case id == "":
		return ""
	case err == nil:
		delete(b.making, id)
		return one.making.Name
	}
	one.failed = fmt.Errorf("%s was not made: %w", monitor.Clean(one.making.Name), err)
	b.failed = append(b.failed, id)
	if len(b.failed) > mostFailed {
		delete(b.making, b.failed[0])
		b.failed = slices.Delete(b.failed, 0, 1)
	}
	return one.making.Name
}

// find is one as it is now, by its id.
func (b *makings) find(id string) (beginning, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.making[id]; one != nil {
		return *one, true
	}
	return beginning{}, false
}
