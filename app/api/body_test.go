package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/payload"
	"lamplighter/monitor/stop"
)

// A body that has no end is answered, and does not keep its connection: on both
// listeners, for a route of ours and for one that is forwarded, whether it stops
// coming before or after the most that is taken, and where nobody reads it.
func TestBodyWithoutEnd(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	l := &ladder{result: stop.Result{Outcome: stop.Ended}}
	p := parts(m, shower{})
	asked := &sessions{}
	p.Stop, p.Pins, p.Sessions = l, &pinner{}, asked
	s := serveWeb(t, Handler(p), nil)
	srv := serve(t, m, shower{}, func(o *Options) { o.Handler = Handler(p) })
	const one = "/global-dashboard/instance/7/"
	half := "2\r\n{}\r\n"
	long := fmt.Sprintf("%x\r\n%s\r\n", payload.Max+1, strings.Repeat(" ", payload.Max+1))
	open := map[string]func() (net.Conn, error){
		s.at(t):       func() (net.Conn, error) { return net.Dial("tcp4", s.at(t)) },
		"lamplighter": func() (net.Conn, error) { return dialRaw(t.Context(), srv.path) },
	}
	var asking sync.WaitGroup // all at once: the server waits for each body
	for host, open := range open {
		for _, test := range []struct {
			target, body string
			status       int
		}{
			{"POST " + one + "kill", long, 413},
			{"PUT " + one + "pin", long, 413},
			{"POST " + one + "get_log_messages", long, 413},
			{"PUT " + one + "shutdown", long, 413},
			{"POST " + one + "kill", half, 400},
			{"POST " + one + "get_log_messages", half, 400},
			{"POST /request-session", long, 413},
			{"POST /request-session", half, 400},
			{"POST /release-session", half, 400},
			{"GET /health", half, 200},
		} {
			asking.Go(func() {
				conn, err := open()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				if err := withoutEnd(conn, test.target+" HTTP/1.1\r\nHost: "+host, test.body, test.status); err != nil {
					t.Errorf("%s at %s, after %d bytes: %v", test.target, host, len(test.body), err)
				}
			})
		}
	}
	asking.Wait()
	if len(l.orders)+len(asked.asked)+len(asked.released) != 0 {
		t.Errorf("carried out %+v, %+v", l.orders, asked)
	}
}

// withoutEnd sends a request whose body stops in its middle, and says what is
// wrong with the answer and what follows it.
func withoutEnd(conn net.Conn, head, body string, status int) error {
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, head+"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"+body); err != nil {
		return err
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status || !resp.Close {
		return fmt.Errorf("answered with %d %.200s, which ends the connection: %v (%v)", resp.StatusCode, answer, resp.Close, err)
	}
	if n, err := r.Read(make([]byte, 1)); n > 0 || err == nil || isTimeout(err) {
		return fmt.Errorf("the connection goes on: %d bytes, %w", n, err)
	}
	return nil
}

func isTimeout(err error) bool {
	timed, ok := err.(net.Error)
	return ok && timed.Timeout()
}
