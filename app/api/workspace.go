package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

// Workspaces makes workspaces, finds them, and takes them away:
// workspace.Manager. Errors are sentences for people that wrap those of that
// package.
type Workspaces interface {
	Create(ctx context.Context, q workspace.Request, progress func(workspace.Progress)) (workspace.Workspace, error)
	// View is what there is, also where the error tells of some that cannot be read.
	View(ctx context.Context) (workspace.View, error)
	Find(ctx context.Context, name string) (workspace.Workspace, error)
	// Subscribe hands out what there is, now and at each change; the newest wins.
	Subscribe() (views <-chan workspace.View, cancel func())

	Keep(ctx context.Context, id, message string, progress func(workspace.Progress)) (workspace.Version, error)
	Versions(ctx context.Context, id string) ([]workspace.Version, error)
	Diff(ctx context.Context, id string, from, to int) ([]workspace.Change, error)
	Archive(ctx context.Context, id string, progress func(workspace.Progress)) (workspace.Workspace, error)
	Restore(ctx context.Context, id string, version int, progress func(workspace.Progress)) (workspace.Workspace, error)

	Complete(ctx context.Context, id, by string) (workspace.Outcome, error)
	Remove(ctx context.Context, id string, q workspace.Removal) (workspace.Outcome, error)
	Scan(ctx context.Context, dirs []string, progress func(found int, at string)) (workspace.Scanned, error)
	RemoveStale(ctx context.Context, path string, q workspace.Removal) (workspace.Outcome, error)
}

const workspacesPath = "/workspaces"

const noWorkspaces = "no workspaces can be had here"

// workspaceTable are the routes of workspaces. {id} is all that Find takes and
// a path of ours can hold.
func (r routes) workspaceTable() []route {
	const one = workspacesPath + "/{id}"
	table := []route{
		{http.MethodGet, workspacesPath, r.workspaces},
		{http.MethodPost, workspacesPath, r.createWorkspace},
		{http.MethodGet, workspacesPath + "/stream", r.workspaceStream},
		{http.MethodPost, workspacesPath + "/scan", r.scan},
		{http.MethodPost, workspacesPath + "/scan/remove", r.removeStale},
		{http.MethodGet, one, r.workspace},
		{http.MethodDelete, one, r.removeWorkspace},
		{http.MethodGet, one + "/diff", r.diffWorkspace},
		{http.MethodPost, one + "/keep", r.keepWorkspace},
		{http.MethodPost, one + "/archive", r.archiveWorkspace},
		{http.MethodPost, one + "/restore", r.restoreWorkspace},
		{http.MethodPost, one + "/complete", r.completeWorkspace},
	}
	if r.parts.Workspaces == nil {
		for i := range table {
			table[i].serve = func(w http.ResponseWriter, _ *http.Request) { r.fail(w, http.StatusServiceUnavailable, noWorkspaces) }
		}
	}
	return table
}

// workspaces answers with all workspaces, and with what is being made. What
// cannot be read keeps nobody from the rest.
func (r routes) workspaces(w http.ResponseWriter, req *http.Request) {
	view, err := r.parts.Workspaces.View(req.Context())
	if err != nil && view.Workspaces == nil {
		r.failWorkspace(w, err)
		return
	}
	list := encodeView(view)
	if err != nil {
		list.Problem = monitor.Clean(err.Error())
	}
	r.answer(w, http.StatusOK, list)
}

// workspace answers with one and its versions. One that is still being made is
// told as 202, and why one that was asked for here could not be made, as its own
// request would have been told.
func (r routes) workspace(w http.ResponseWriter, req *http.Request) {
	found, err := r.parts.Workspaces.Find(req.Context(), req.PathValue("id"))
	if errors.Is(err, workspace.ErrUnknown) {
		making, failed := r.inTheMaking(req)
		if failed != nil {
			err = failed
		} else if making != nil {
			r.answer(w, http.StatusAccepted, encodeMaking(*making))
			return
		}
	}
	if err != nil {
		r.failWorkspace(w, err)
		return
	}
	versions, err := r.parts.Workspaces.Versions(req.Context(), found.ID)
	if err != nil {
		r.failWorkspace(w, err)
		return
	}
	r.answer(w, http.StatusOK, EncodeShown(found, versions))
}

// inTheMaking is the one of a request if somebody makes it, or why it could not be
// made, as far as that is remembered.
func (r routes) inTheMaking(req *http.Request) (*workspace.Making, error) {
	id := req.PathValue("id")
	if one, known := r.makings.find(id); known {
		return &one.making, one.failed
	}
	view, err := r.parts.Workspaces.View(req.Context())
	if err != nil {
		r.parts.Log.Debug("looking at workspaces", "error", err)
	}
	for _, m := range view.Making {
		if m.ID == id || m.Name == id {
			return &m, nil
		}
	}
	return nil, nil
}

// found finds the workspace of a request; ok is false when that was answered.
func (r routes) found(w http.ResponseWriter, req *http.Request) (found workspace.Workspace, ok bool) {
	found, err := r.parts.Workspaces.Find(req.Context(), req.PathValue("id"))
	if err != nil {
		r.failWorkspace(w, err)
		return workspace.Workspace{}, false
	}
	return found, true
}

// failWorkspace answers with an error of workspaces.
func (r routes) failWorkspace(w http.ResponseWriter, err error) {
	var many *workspace.TooMany
	if errors.As(err, &many) {
		r.failTooMany(w, err, many)
		return
	}
	r.fail(w, workspaceStatus(err), monitor.Clean(err.Error()))
}

// failTooMany says who has the places, and when one is due to be free.
func (r routes) failTooMany(w http.ResponseWriter, err error, many *workspace.TooMany) {
	if many.FreeAt != nil {
		wait := math.Ceil(time.Until(*many.FreeAt).Seconds())
		w.Header().Set("Retry-After", strconv.Itoa(int(max(wait, 1))))
	}
	text := fmt.Sprintf(`%v: %s; "wait": true waits for a place, and DELETE /workspaces/ID removes one`, err, many.Held(time.Now()))
	refused := TooManyWorkspaces{Error: monitor.Clean(text), Holders: []WorkspaceHolder{}}
	for _, holder := range many.Holders {
		refused.Holders = append(refused.Holders, WorkspaceHolder{ID: holder.ID, Name: holder.Name, Job: holder.Job, EndsAt: timeOf(holder.EndsAt)})
	}
	refused.FreeAt = timeOf(many.FreeAt)
	r.answer(w, http.StatusTooManyRequests, refused)
}

// workspaceStatus is the status that belongs to an error of workspaces.
func workspaceStatus(err error) int {
	var ambiguous *workspace.Ambiguous
	var many *workspace.TooMany
	switch {
	case errors.As(err, &many):
		return http.StatusTooManyRequests
	case errors.Is(err, workspace.ErrBadRequest):
		return http.StatusBadRequest
	case errors.Is(err, workspace.ErrUnknown):
		return http.StatusNotFound
	case errors.Is(err, errGivenUp):
		return http.StatusGone
	case stands(err), errors.As(err, &ambiguous):
		return http.StatusConflict
	case errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// stands tells an error that says what stands against doing something now.
func stands(err error) bool {
	return errors.Is(err, workspace.ErrLoss) || errors.Is(err, workspace.ErrInUse) || errors.Is(err, workspace.ErrBusy) || errors.Is(err, workspace.ErrState)
}

// recoverInto turns a panic into an error, so that work that no request waits
// for costs no more than itself.
func (r routes) recoverInto(err *error, what string) {
	if cause := recover(); cause != nil {
		r.parts.Log.Error("panic beside the routes", "what", what, "panic", cause)
		*err = fmt.Errorf("%s: lamplighter failed at this; its log says why", what)
	}
}
