package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"lamplighter/app/payload"
	"lamplighter/monitor"
)

// quitPath is nothing for those who come by TCP: no page and no other program
// that only reaches the port is to end us.
const quitPath = "/quit"

// ErrNoQuit says that the background process is older than the route that ends it.
var ErrNoQuit = errors.New("it is too old to be told to end")

// QuitOrder is the body of POST /quit.
type QuitOrder struct {
	// Restart: another one starts at once, so that shared servers stay for it.
	Restart bool `json:"restart"`
}

// Quitting is the answer to it with status 202.
type Quitting struct {
	PID int `json:"pid"` // of the process that ends
}

// Quit tells the background process to end, and returns when it has said that it
// will, not when it has. The error Is ErrNoQuit when it knows no such order.
func (c *Client) Quit(ctx context.Context, restart bool) (Quitting, error) {
	var quitting Quitting
	err := c.order(ctx, http.MethodPost, quitPath, QuitOrder{Restart: restart}, &quitting, http.StatusAccepted, answerTime)
	var refusal refusedError
	if errors.As(err, &refusal) && refusal.status == http.StatusNotFound {
		err = ErrNoQuit
	}
	return quitting, err
}

// quit answers, and ends the process after that.
func (r routes) quit(w http.ResponseWriter, req *http.Request) {
	order, ok := bodyOf(r, w, req, parseQuit)
	if !ok {
		return
	}
	if r.parts.Quit == nil {
		r.fail(w, http.StatusServiceUnavailable, "it cannot be ended from here")
		return
	}
	r.parts.Log.Info("told to end", "restart", order.Restart)
	r.answer(w, http.StatusAccepted, Quitting{PID: os.Getpid()})
	// The answer is to be out before listeners close.
	_ = http.NewResponseController(w).Flush()
	r.parts.Quit(order.Restart)
}

// parseQuit reads a QuitOrder and nothing else. Whether another one starts has to be
// said: it decides what becomes of shared servers.
func parseQuit(body []byte) (QuitOrder, error) {
	const like = `the body is not {"restart": true} or {"restart": false}`
	values, err := payload.Object(body, "restart")
	if err != nil {
		return QuitOrder{}, fmt.Errorf(like+": %s", monitor.Clean(err.Error()))
	}
	switch string(values["restart"]) {
	case "true":
		return QuitOrder{Restart: true}, nil
	case "false":
		return QuitOrder{}, nil
	}
	return QuitOrder{}, errors.New(like)
}
