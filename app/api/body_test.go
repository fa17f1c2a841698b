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
	const one = "/global-dashboard/instance/7/"
	half := "2\r\n{}\r\n"
	long := fmt.Sprintf("%x\r\n%s\r\n", payload.Max+1, strings.Repeat(" ", payload.Max+1))
	var asking sync.WaitGroup
	// The answer to what is too long does not wait for the rest. Only at the end of
	// its time does the connection end: that is seen where this is short.
	for within, tests := range map[time.Duration][]struct {
		target, body string
		status       int
	}{
		time.Hour: {
			{"POST " + one + "kill", long, 413},
			{"PUT " + one + "pin", long, 413},
			{"POST " + one + "get_log_messages", long, 413},
			{"PUT " + one + "shutdown", long, 413},
			{"POST /request-session", long, 413},
		},
		10 * time.Millisecond: {
			{"POST " + one + "kill", half, 400},
			{"POST " + one + "get_log_messages", half, 400},
			{"POST /request-session", half, 400},
			{"POST /release-session", half, 400},
			{"GET /health", half, 200},
		},
	} {
		s := serveWebWith(t, func(o *WebOptions) { o.Handler, o.Limits.Body = Handler(p), within }, nil)
		srv := serve(t, m, shower{}, func(o *Options) { o.Handler, o.Limits.Body = Handler(p), within })
		for host, open := range map[string]func() (net.Conn, error){
			s.at(t):       func() (net.Conn, error) { return net.Dial("tcp4", s.at(t)) },
			"lamplighter": func() (net.Conn, error) { return dialRaw(t.Context(), srv.path) },
		} {
			for _, test := range tests {
				asking.Go(func() {
					conn, err := open()
					if err != nil {
						t.Error(err)
						return
					}
					defer conn.Close()
					if err := withoutEnd(conn, test.target+" HTTP/1.1\r\nHost: "+host, test.body, test.status, test.body == half); err != nil {
						t.Errorf("%s at %s, after %d bytes: %v", test.target, host, len(test.body), err)
					}
				})
			}
		}
	}
	asking.Wait()
	if len(l.orders)+len(asked.asked)+len(asked.released) != 0 {
		t.Errorf("carried out %+v, %+v", l.orders, asked)
	}
}

// withoutEnd sends a request whose body stops in its middle, and says what is
// wrong with the answer and, if it is to end, with what follows it.
func withoutEnd(conn net.Conn, head, body string, status int, ends bool) error {
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
	if !ends {
		return nil
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
