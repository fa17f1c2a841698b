package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// releaseTime bounds the answer to a release: a server is asked, terminated and
// killed, each with its time.
const releaseTime = 30 * time.Second

// ErrNoSession: no session has that id.
var ErrNoSession = errors.New("there is no such session")

// refusedError is a sentence that the background process answered with.
type refusedError struct {
	status int
	text   string
}

func (e refusedError) Error() string { return e.text }

// RequestSession asks for a session and returns when its server is ready, or
// after limit.
func (c *Client) RequestSession(ctx context.Context, order SessionOrder, limit time.Duration) (SessionGiven, error) {
	var given SessionGiven
	err := c.order(ctx, http.MethodPost, "/request-session", order, &given, http.StatusCreated, limit)
	return given, err
}

// ReleaseSession ends a session and returns what came of it. The error Is
// ErrNoSession when there is none.
func (c *Client) ReleaseSession(ctx context.Context, id int) (SessionReleased, error) {
	var released SessionReleased
	err := c.order(ctx, http.MethodPost, "/release-session", SessionRelease{SessionID: id}, &released, http.StatusOK, releaseTime)
	var refusal refusedError
	if errors.As(err, &refusal) && refusal.status == http.StatusNotFound {
		err = ErrNoSession
	}
	return released, err
}

// Sessions returns all sessions as they are now.
func (c *Client) Sessions(ctx context.Context) (Sessions, error) {
	var list Sessions
	err := c.ask(ctx, http.MethodGet, "/sessions", &list)
	return list, err
}

// order sends an order and reads its answer, which has that status.
func (c *Client) order(ctx context.Context, method, route string, order, into any, status int, limit time.Duration) error {
	body, err := json.Marshal(order)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	resp, err := c.send(ctx, method, route, body, limit)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == status {
		return c.decode(ctx, resp, into, limit)
	}
	var failure Failure
	if err := c.decode(ctx, resp, &failure, limit); err != nil {
		return err
	}
	if failure.Error == "" {
		return refused(method, route, resp.Status, "")
	}
	return refusedError{resp.StatusCode, failure.Error}
}
