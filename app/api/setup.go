package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"

	"lamplighter/app/payload"
	"lamplighter/app/setup"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// Setup reads and changes the settings of MCP clients: app/setup. Errors are
// sentences for people, and wrap those of that package.
type Setup interface {
	List(ctx context.Context, w setup.Wanted) ([]setup.Client, error)
	Do(ctx context.Context, w setup.Wanted) (setup.Result, error)
}

const setupPath = pageRoot + "setup"

const noSetup = "the settings of clients cannot be seen from here"

// setupTable are the routes of clients' settings.
func (r routes) setupTable() []route {
	return []route{
		{http.MethodGet, setupPath, r.withSetup(r.clients)},
		{http.MethodPost, setupPath, r.withSetup(r.changeClients)},
	}
}

// withSetup answers in place of a route where nobody knows of settings.
func (r routes) withSetup(serve http.HandlerFunc) http.HandlerFunc {
	if r.parts.Setup != nil {
		return serve
	}
	return func(w http.ResponseWriter, _ *http.Request) { r.fail(w, http.StatusServiceUnavailable, noSetup) }
}

// clients answers with the settings of all clients as they are now.
func (r routes) clients(w http.ResponseWriter, req *http.Request) {
	list, err := r.parts.Setup.List(req.Context(), setup.Wanted{})
	if err != nil {
		r.fail(w, http.StatusInternalServerError, monitor.Clean(err.Error()))
		return
	}
	setup.NoteRunning(list, view.All(r.parts.Source.Snapshot()))
	r.answer(w, http.StatusOK, setupClients{list})
}

// changeClients changes settings, undoes it, or says what would be changed. Only
// files that clients shows can be named: a request is no way to write elsewhere.
// Once begun it goes on, also when whoever asked goes away.
func (r routes) changeClients(w http.ResponseWriter, req *http.Request) {
	wanted, ok := bodyOf(r, w, req, parseSetupOrder)
	if !ok {
		return
	}
	ctx := context.WithoutCancel(req.Context())
	list, err := r.parts.Setup.List(ctx, setup.Wanted{})
	if err != nil {
		r.fail(w, http.StatusInternalServerError, monitor.Clean(err.Error()))
		return
	}
	if why := unlisted(list, wanted); why != "" {
		r.fail(w, http.StatusNotFound, why)
		return
	}
	result, err := r.parts.Setup.Do(ctx, wanted)
	switch {
	case errors.Is(err, setup.ErrBusy), errors.Is(err, setup.ErrUnfitConnect), errors.Is(err, setup.ErrNoConnect): // the latter Is fs.ErrNotExist too
		r.fail(w, http.StatusConflict, monitor.Clean(err.Error()))
		return
	case errors.Is(err, setup.ErrNoClient), errors.Is(err, fs.ErrNotExist): // it has gone since
		r.fail(w, http.StatusNotFound, monitor.Clean(err.Error()))
		return
	case err != nil:
		r.fail(w, http.StatusInternalServerError, monitor.Clean(err.Error()))
		return
	}
	if !wanted.DryRun {
		for _, change := range result.Changes {
			r.parts.Log.Info("settings of a client", "by", orderedBy(req), "undo", wanted.Undo, "file", change.Path,
				"changed", len(change.Entries), "left", len(change.Left), "problem", change.Problem)
		}
	}
	r.answer(w, http.StatusOK, result)
}

// unlisted says of what is not among the clients and their files that it is not;
// "" when all that is wanted is.
func unlisted(list []setup.Client, w setup.Wanted) string {
	if w.Client != "" {
		known := make([]string, len(list))
		for i, c := range list {
			known[i] = c.ID
		}
		list = slices.DeleteFunc(slices.Clone(list), func(c setup.Client) bool { return c.ID != w.Client })
		if len(list) == 0 {
			return fmt.Sprintf("no client is %q; known are %s", monitor.Shorten(monitor.Clean(w.Client), 40), monitor.Clean(strings.Join(known, ", ")))
		}
	}
	ours := func(f setup.File) bool { return f.Path == w.File }
	if w.File != "" && !slices.ContainsFunc(list, func(c setup.Client) bool { return slices.ContainsFunc(c.Files, ours) }) {
		return fmt.Sprintf("%q is none of the files that are shown here; lamplighter setup --file changes any", monitor.Shorten(monitor.Clean(w.File), 200))
	}
	return ""
}

// parseSetupOrder reads a setupOrder and nothing else: what is misspelt in an
// order to rewrite files must not be overlooked.
func parseSetupOrder(body []byte) (setup.Wanted, error) {
	const like = `the body is not like {"client":"codex","dry_run":true}, with "" for all clients, and "path", "undo", "no_page" or "expect"`
	const client, expect = "client", "expect"
	values, err := payload.Object(body, client, "path", "undo", "no_page", "dry_run", expect)
	if err != nil {
		return setup.Wanted{}, fmt.Errorf(like+": %s", monitor.Clean(err.Error()))
	}
	for name, value := range values {
		if string(value) == "null" {
			return setup.Wanted{}, fmt.Errorf("%s is null; leave it out", name)
		}
	}
	var order setupOrder
	if err := json.Unmarshal(body, &order); err != nil {
		return setup.Wanted{}, errors.New(like + ": " + wrongType(values))
	}
	if value, given := values[expect]; given {
		if err := checkExpect(value, order.Expect); err != nil {
			return setup.Wanted{}, fmt.Errorf("expect is not what a dry run said, the sum of each path: %s", monitor.Clean(err.Error()))
		}
	}
	_, named := values[client]
	switch {
	case !named && order.Path == "":
		return setup.Wanted{}, errors.New(like + ": neither a client nor a path is given")
	case order.Undo && order.NoPage:
		return setup.Wanted{}, errors.New("no_page is for what is shared, not for undo")
	}
	return setup.Wanted{
		Client: order.Client, File: order.Path, Undo: order.Undo, DryRun: order.DryRun,
		NoPage: order.NoPage, Expect: order.Expect,
	}, nil
}

// wrongType says of values that a setupOrder cannot hold which one is no such
// value.
func wrongType(values map[string]json.RawMessage) string {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var into any = new(bool)
		kind := "neither true nor false"
		switch name {
		case "client", "path":
			into, kind = new(string), "no string"
		case "expect":
			into, kind = new(map[string]string), "no object of strings"
		}
		if json.Unmarshal(values[name], into) != nil {
			return name + " is " + kind
		}
	}
	return "a value has the wrong type"
}

// checkExpect refuses a path that is given twice, and what is no SHA-256.
func checkExpect(value []byte, expect map[string]string) error {
	if _, err := payload.Object(value, slices.Collect(maps.Keys(expect))...); err != nil {
		return err
	}
	for _, sum := range expect {
		if bytes, err := hex.DecodeString(sum); err != nil || len(bytes) != sha256.Size || hex.EncodeToString(bytes) != sum {
			return errors.New("a sum has 64 hexadecimal digits, in small letters")
		}
	}
	return nil
}
