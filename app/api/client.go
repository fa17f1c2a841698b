package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"lamplighter/app/mcp"
	"lamplighter/app/socket"
	"lamplighter/monitor"
	"lamplighter/monitor/stop"
)

// ErrUnreachable: no background process answers on the control socket.
var ErrUnreachable = errors.New("the background process cannot be reached")

// What Dial finds wrong with the path of the control socket.
var (
	ErrPathTooLong = socket.ErrPathTooLong
	ErrNotAbsolute = socket.ErrNotAbsolute
)

// answerTime bounds a request that is not a stream, in all.
const answerTime = 3 * time.Second

// maxAnswer bounds one answer, in bytes: some 30,000 instances.
const maxAnswer = 32 << 20

// Client talks to the background process. It is safe for concurrent use.
type Client struct {
	http  *http.Client
	path  string
	heard atomic.Bool // whether the newest connection has brought anything
}

// heardConn takes note of what it brings.
type heardConn struct {
	net.Conn
	heard *atomic.Bool
}

func (c heardConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.heard.Store(true)
	}
	return n, err
}

// Dial returns a client of the background process that serves the control
// socket at path, after it has answered. Errors wrap ErrUnreachable.
func Dial(ctx context.Context, path string) (*Client, Health, error) {
	place := socket.Control(path)
	if path == "" {
		return nil, Health{}, fmt.Errorf("%w: the %s: %w; set %s", ErrUnreachable, place.Name, socket.ErrNoPlace, place.Env)
	}
	c := &Client{path: path}
	c.http = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := socket.Dial(ctx, place)
			if err != nil {
				return nil, dialError{err}
			}
			c.heard.Store(false)
			return heardConn{conn, &c.heard}, nil
		},
	}}
	var health Health
	if err := c.ask(ctx, http.MethodGet, "/health", &health); err != nil {
		c.Close()
		if !errors.Is(err, ErrUnreachable) {
			err = c.foreign()
		}
		return nil, Health{}, err
	}
	if health.Program != Program {
		c.Close()
		return nil, Health{}, c.foreign()
	}
	return c, health, nil
}

// Close ends the client's idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Instances returns all instances as they are now.
func (c *Client) Instances(ctx context.Context) (Instances, error) {
	var list Instances
	err := c.ask(ctx, http.MethodGet, "/global-dashboard/instances", &list)
	return list, err
}

// Show asks the background process to open the global dashboard.
func (c *Client) Show(ctx context.Context) (Shown, error) {
	var shown Shown
	err := c.ask(ctx, http.MethodPost, "/show", &shown)
	return shown, err
}

// Events returns what happened since then, newest last.
func (c *Client) Events(ctx context.Context, since time.Time) ([]monitor.Event, error) {
	var list Events
	err := c.ask(ctx, http.MethodGet, "/global-dashboard/events?since="+url.QueryEscape(since.Format(time.RFC3339Nano)), &list)
	events := make([]monitor.Event, len(list.Events))
	for i, e := range list.Events {
		events[i] = e.Event
	}
	return events, err
}

// killTime bounds the answer to an order: a whole ladder after another one of
// the same instance, and what each has to find out before.
func killTime() time.Duration {
	l := stop.DefaultLimits()
	return 2 * (l.Ask + l.Root + l.Rest + l.Kill + l.Settle + 5*time.Second)
}

// Kill orders the end of the instance with that id or pid. The error is nil
// when the order was answered, whatever came of it: see Killed.Outcome.
func (c *Client) Kill(ctx context.Context, id string, order KillOrder) (Killed, error) {
	return c.orderEnd(ctx, id, "kill", order, killTime())
}

// Restart has the instance with that id or pid started again, as Kill ends it.
func (c *Client) Restart(ctx context.Context, id string, order RestartOrder) (Killed, error) {
	return c.orderEnd(ctx, id, "restart", order, killTime()+2*time.Minute) // to start it
}

// RestartLanguageServer has the language servers of the instance with that id or pid
// started again.
func (c *Client) RestartLanguageServer(ctx context.Context, id string) (done LanguageServerRestarted, err error) {
	route := pageRoot + "instance/" + url.PathEscape(id) + "/restart-language-server"
	err = c.order(ctx, http.MethodPost, route, struct{}{}, &done, http.StatusOK, killTime())
	return done, err
}

func (c *Client) orderEnd(ctx context.Context, id, verb string, order any, limit time.Duration) (Killed, error) {
	body, err := json.Marshal(order)
	if err != nil {
		return Killed{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	route := "/global-dashboard/instance/" + url.PathEscape(id) + "/" + verb
	resp, err := c.send(ctx, http.MethodPost, route, body, limit)
	if err != nil {
		return Killed{}, err
	}
	defer resp.Body.Close()
	var killed Killed
	if err := c.decode(ctx, resp, &killed, limit); err != nil {
		return Killed{}, err
	}
	if killed.Outcome == "" {
		return Killed{}, refused(http.MethodPost, route, resp.Status, killed.Error)
	}
	return killed, nil
}

// Stream calls each with all instances, now and after each change, until ctx
// ends, each returns an error, or the background process ends; that error is
// returned and is never nil.
func (c *Client) Stream(ctx context.Context, each func(Instances) error) error {
	resp, err := c.do(ctx, http.MethodGet, "/global-dashboard/stream")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var failure error
	err = mcp.ReadEvents(resp.Body, func(kind string, data []byte) {
		var list Instances
		switch {
		case kind != mcp.Message || failure != nil:
			return
		case json.Unmarshal(data, &list) != nil:
			failure = errors.New("the background process sent what is not a snapshot")
		default:
			failure = each(list)
		}
		if failure != nil {
			resp.Body.Close() // so that no more is read
		}
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failure != nil:
		return failure
	case err == nil, errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it ended", ErrUnreachable)
	}
	return err
}

func (c *Client) ask(ctx context.Context, method, route string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	resp, err := c.do(ctx, method, route)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return c.decode(ctx, resp, into, answerTime)
}

// decode reads an answer that had to come within limit.
func (c *Client) decode(ctx context.Context, resp *http.Response, into any, limit time.Duration) error {
	err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax), errors.As(err, &kind):
		return c.foreign()
	}
	return c.failure(ctx, err, limit)
}

// dialError is an error from before there was a connection.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

// failure puts the error of a request into words: those of the libraries name
// their own parts. It wraps ErrUnreachable, and the cause that it names; limit
// is what the answer had.
func (c *Client) failure(ctx context.Context, err error, limit time.Duration) error {
	var dialing dialError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: nothing answers on %s within %s", ErrUnreachable, c.path, monitor.Span(limit))
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrUnreachable, ctx.Err())
	case errors.As(err, &dialing):
		return fmt.Errorf("%w: connecting to %s: %w", ErrUnreachable, c.path, cause(dialing.error))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), socket.HungUp(err), !c.heard.Load():
		return fmt.Errorf("%w: the connection to %s was closed before it answered", ErrUnreachable, c.path)
	}
	return c.foreign()
}

// cause is the system's error without the names of the calls around it.
func cause(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// foreign says that what answers is not a lamplighter.
func (c *Client) foreign() error {
	return fmt.Errorf("%w: another program serves %s; stop it or set LAMPLIGHTER_CONTROL_SOCKET to another path", ErrUnreachable, c.path)
}

// do sends a request without a body. The answer's status is 200.
func (c *Client) do(ctx context.Context, method, route string) (*http.Response, error) {
	resp, err := c.send(ctx, method, route, nil, answerTime)
	if err != nil || resp.StatusCode == http.StatusOK {
		return resp, err
	}
	defer resp.Body.Close()
	var failure Failure
	if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&failure); err != nil {
		failure.Error = ""
	}
	return nil, refused(method, route, resp.Status, failure.Error)
}

// send sends a request, with a body of JSON if there is one. The answer may
// have any status.
func (c *Client) send(ctx context.Context, method, route string, body []byte, limit time.Duration) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://lamplighter"+route, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.failure(ctx, err, limit)
	}
	return resp, nil
}

// refused is the error of an answer that is not a success.
func refused(method, route, status, why string) error {
	if why == "" {
		why = status
	}
	return fmt.Errorf("%s %s was refused: %s", method, route, why)
}
