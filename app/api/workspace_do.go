package api

import (
	"context"
	"net/http"

	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

// What is begun on a workspace goes on when the client goes away: a tree of
// which a part was done is of use to nobody. Only a scan, which changes
// nothing, ends with who asked for it.

// ordered reads the body of an order about a workspace and finds it; ok is false
// when that was answered.
func ordered[T any](r routes, w http.ResponseWriter, req *http.Request, parse func([]byte) (T, error)) (ctx context.Context, found workspace.Workspace, v T, ok bool) {
	if v, ok = bodyOf(r, w, req, parse); !ok {
		return nil, found, v, false
	}
	found, ok = r.found(w, req)
	return context.WithoutCancel(req.Context()), found, v, ok
}

func (r routes) keepWorkspace(w http.ResponseWriter, req *http.Request) {
	ctx, found, message, ok := ordered(r, w, req, parseMessage)
	if !ok {
		return
	}
	version, err := r.parts.Workspaces.Keep(ctx, found.ID, message, nil)
	if err != nil {
		r.failWorkspace(w, err)
		return
	}
	r.answer(w, http.StatusCreated, version)
}

func (r routes) archiveWorkspace(w http.ResponseWriter, req *http.Request) {
	ctx, found, _, ok := ordered(r, w, req, parseNothing)
	if !ok {
		return
	}
	archived, err := r.parts.Workspaces.Archive(ctx, found.ID, nil)
	r.answerWorkspace(w, archived, err)
}

func (r routes) restoreWorkspace(w http.ResponseWriter, req *http.Request) {
	ctx, found, version, ok := ordered(r, w, req, parseRestore)
	if !ok {
		return
	}
	restored, err := r.parts.Workspaces.Restore(ctx, found.ID, version, nil)
	r.answerWorkspace(w, restored, err)
}

func (r routes) answerWorkspace(w http.ResponseWriter, now workspace.Workspace, err error) {
	if err != nil {
		r.failWorkspace(w, err)
		return
	}
	r.answer(w, http.StatusOK, EncodeWorkspace(now))
}

func (r routes) completeWorkspace(w http.ResponseWriter, req *http.Request) {
	ctx, found, _, ok := ordered(r, w, req, parseNothing)
	if !ok {
		return
	}
	outcome, err := r.parts.Workspaces.Complete(ctx, found.ID, orderedBy(req))
	r.answerOutcome(w, outcome, false, err)
}

func (r routes) removeWorkspace(w http.ResponseWriter, req *http.Request) {
	q, ok := bodyOf(r, w, req, func(body []byte) (workspace.Removal, error) { return removalOf(req, body) })
	if !ok || r.giveUpWorkspace(w, req, q.DryRun) {
		return
	}
	found, ok := r.found(w, req)
	if !ok {
		return
	}
	outcome, err := r.parts.Workspaces.Remove(context.WithoutCancel(req.Context()), found.ID, q)
	r.answerOutcome(w, outcome, q.DryRun, err)
}

// answerOutcome says what was done. What stands against it is in the answer as
// well; a dry run has succeeded when it can say that.
func (r routes) answerOutcome(w http.ResponseWriter, o workspace.Outcome, dryRun bool, err error) {
	if err != nil && !stands(err) {
		r.failWorkspace(w, err)
		return
	}
	answer, status := EncodeOutcome(o), http.StatusOK
	answer.DryRun = dryRun
	if err != nil {
		text := monitor.Clean(err.Error())
		if answer.Why == "" {
			answer.Why = text
		}
		if !dryRun {
			answer.Error, status = text, http.StatusConflict
		}
	}
	r.answer(w, status, answer)
}

// diffWorkspace answers with what differs between two versions; without from, since the
// newest one.
func (r routes) diffWorkspace(w http.ResponseWriter, req *http.Request) {
	from, to, err := versionsOf(req)
	if err != nil {
		r.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	found, ok := r.found(w, req)
	if !ok {
		return
	}
	if from < 0 {
		versions, err := r.parts.Workspaces.Versions(req.Context(), found.ID)
		if err != nil {
			r.failWorkspace(w, err)
			return
		}
		if len(versions) == 0 {
			r.fail(w, http.StatusConflict, monitor.Clean(found.Name)+" has no versions yet, so there is nothing to compare with; keep one first")
			return
		}
		from = versions[len(versions)-1].Number
	}
	changes, err := r.parts.Workspaces.Diff(req.Context(), found.ID, from, to)
	if err != nil {
		r.failWorkspace(w, err)
		return
	}
	r.answer(w, http.StatusOK, encodeDiff(from, to, changes))
}

func (r routes) scan(w http.ResponseWriter, req *http.Request) {
	dirs, ok := bodyOf(r, w, req, parseScan)
	if !ok {
		return
	}
	scanned, err := r.parts.Workspaces.Scan(req.Context(), dirs, nil)
	if err != nil {
		r.failWorkspace(w, err)
		return
	}
	r.answer(w, http.StatusOK, EncodeScanned(scanned))
}

func (r routes) removeStale(w http.ResponseWriter, req *http.Request) {
	order, ok := bodyOf(r, w, req, parseStale)
	if !ok {
		return
	}
	order.By = orderedBy(req)
	outcome, err := r.parts.Workspaces.RemoveStale(context.WithoutCancel(req.Context()), order.path, order.Removal)
	r.answerOutcome(w, outcome, order.DryRun, err)
}
