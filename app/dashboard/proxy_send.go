package dashboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"lamplighter/monitor"
)

// send asks an instance once and waits for its answer, at most until ctx ends.
func (p *Proxy) send(ctx context.Context, in *monitor.Instance, r rule, body []byte) answer {
	if !p.peers.enter(in.Identity, r.queues, time.Now()) {
		return failed(http.StatusServiceUnavailable, "%s has not answered what it was asked before; wait for it and ask again", named(in))
	}
	defer p.peers.leave(in.Identity, r.queues)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(in.Port))
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp4", address)
	if err != nil {
		return p.fault(in, r, false, err, "does not accept connections to its dashboard")
	}
	defer conn.Close()
	if other := p.owns(in, r); other != nil {
		return answer{failure: r.unsent(other)}
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, "http://"+address+"/"+r.Name, bytes.NewReader(body))
	if err != nil {
		return p.fault(in, r, false, err, "cannot be asked")
	}
	req.Header.Set("User-Agent", "lamplighter")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if ctx.Err() != nil {
		return p.fault(in, r, false, ctx.Err(), "was not asked")
	}
	resp, err := over(conn).RoundTrip(req)
	if err != nil && r.ends && hasEnded(ctx, in.Identity) {
		// Over stdio a Serena is gone before it could answer (SerenaAgent.shutdown
		// of serena/agent.py). These are the words that it has for it.
		return answer{body: []byte(`{"status":"shutting down"}`)}
	}
	if err != nil {
		return p.fault(in, r, true, err, "gave an answer to "+r.Name+" that cannot be understood, or none")
	}
	defer resp.Body.Close()
	return p.read(in, r, resp)
}

// over makes the way for one request over a connection that stands. It follows
// no redirect, uses no proxy and asks for no compression.
func over(conn net.Conn) *http.Transport {
	return &http.Transport{
		DialContext:            func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 16 << 10,
	}
}

// fault is the answer when there is none to judge; sent tells whether the
// instance may have got the request.
func (p *Proxy) fault(in *monitor.Instance, r rule, sent bool, err error, what string) answer {
	p.log.Debug("an instance could not be asked", "instance", named(in), "route", r.Name, "error", err)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return late(in, r, sent, p.limit(r, in.Version))
	}
	after := ""
	if sent && r.changes {
		after = "; it may have done what was asked"
	}
	return failed(http.StatusBadGateway, "%s %s%s", named(in), what, after)
}

// late says that an instance did not answer in time.
func late(in *monitor.Instance, r rule, sent bool, limit time.Duration) answer {
	next := "it may be busy or hang; ask again"
	switch {
	case !sent:
		next = "it may hang; nothing was sent to it"
	case r.ends:
		next = "it stops its language servers first and waits for a call that runs, so look before you ask again"
	case r.changes:
		next = "it may still do what was asked, so look before you ask again"
	case r.queues, r.lingers(in.Version):
		next = "this waits for the tool that runs there; ask again when that has ended"
	}
	a := failed(http.StatusGatewayTimeout, "%s did not answer within %s; %s", named(in), monitor.Span(limit), next)
	if !sent {
		a.failure = r.unsent(a.failure)
	}
	return a
}

// read takes the answer in as a whole, because whether it is one shows only at
// its end and the status goes first. What is held at once is bounded: a small
// answer by its largest size and the places of an instance, a large one by
// large.
func (p *Proxy) read(in *monitor.Instance, r rule, resp *http.Response) answer {
	limit := r.largest()
	if resp.StatusCode != http.StatusOK {
		return judge(r, in, resp.StatusCode, nil)
	}
	if resp.ContentLength > limit {
		return tooLarge(in, r)
	}
	var body bytes.Buffer
	body.Grow(int(min(max(resp.ContentLength, 0), maxAnswer)) + bytes.MinRead)
	_, err := body.ReadFrom(io.LimitReader(resp.Body, min(limit, maxAnswer)+1))
	free := func() {}
	if err == nil && body.Len() > maxAnswer && limit > maxAnswer {
		select {
		case p.large <- struct{}{}:
			free = func() { <-p.large }
		default:
			return failed(http.StatusServiceUnavailable, "lamplighter is reading %d other answers as large as the one of %s; ask again in a moment", cap(p.large), named(in))
		}
		// All of it at once: to double it as it comes takes three times as much.
		whole := resp.ContentLength
		if whole < 0 {
			whole = limit + 1
		}
		room := make([]byte, 0, int(min(whole, limit+1))+bytes.MinRead)
		body = *bytes.NewBuffer(append(room, body.Bytes()...))
		_, err = body.ReadFrom(io.LimitReader(resp.Body, limit-int64(body.Len())+1))
	}
	var a answer
	switch {
	case err != nil:
		a = p.fault(in, r, true, fmt.Errorf("reading the answer: %w", err), "broke off its answer to "+r.Name)
	case int64(body.Len()) > limit:
		a = tooLarge(in, r)
	default:
		a = judge(r, in, resp.StatusCode, body.Bytes())
	}
	if a.failure != nil {
		free()
		return a
	}
	a.free = free
	return a
}

func tooLarge(in *monitor.Instance, r rule) answer {
	return failed(http.StatusBadGateway, "%s answered %s with more than %d MiB", named(in), r.Name, r.largest()>>20)
}
