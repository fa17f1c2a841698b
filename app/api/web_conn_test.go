package api

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
)

// Where the system cannot tell who connects, the token tells.
func TestWebToken(t *testing.T) {
	for name, ours := range map[string]func(netip.AddrPort, netip.AddrPort) (bool, error){
		"forwarded from elsewhere": func(netip.AddrPort, netip.AddrPort) (bool, error) { return false, fs.ErrNotExist },
		"the system does not tell": func(netip.AddrPort, netip.AddrPort) (bool, error) { return false, errors.ErrUnsupported },
	} {
		t.Run(name, func(t *testing.T) {
			l := &ladder{result: stop.Result{Outcome: stop.Ended}}
			m := newModel()
			m.set(snapshot(instance(7, "alpha")))
			p := parts(m, shower{})
			p.Stop = l
			s := serveWeb(t, Handler(p), func(w *Web) { w.ours, w.forwarded = ours, name == "forwarded from elsewhere" })
			apptest.Eventually(t, "it knows that a token is needed", func() bool { return strings.Contains(s.OpenURL(""), "#token=") })
			_, token, _ := strings.Cut(s.OpenURL(""), "#token=")
			if len(token) != 64 || s.OpenURL("/7/logs") != s.URL()+"#/7/logs&token="+token {
				t.Errorf("open %s", s.OpenURL("/7/logs"))
			}
			for _, test := range []struct {
				path, authorization string
				status              int
			}{
				{"/", "", 302},
				{"/global-dashboard/", "", 200},
				{"/global-dashboard/assets/app.js", "", 200},
				{"/global-dashboard/assets/..%2finstances", "", 403},
				{"/global-dashboard/assets/../instances", "", 403},
				{"/global-dashboard/instances", "", 403},
				{"/health", "", 403},
				{"/metrics", "", 403},
				{"/nothing", "", 403},
				{"/global-dashboard/instances", "Authorization: Bearer " + token, 200},
				{"/global-dashboard/instances", "Authorization: bearer " + token, 200},
				{"/global-dashboard/instances", "Authorization: Basic " + token, 403},
				{"/global-dashboard/instances", "Authorization: Bearer", 403},
				{"/global-dashboard/instances", "Authorization: Bearer " + token + "0", 403},
				{"/global-dashboard/instances", "Authorization: Bearer " + token[1:], 403},
				{"/global-dashboard/instances", "Authorization: Bearer " + token + "\r\nAuthorization: Bearer " + token, 403},
				{"/global-dashboard/instances", "Cookie: token=" + token, 403},
				{"/global-dashboard/instances?token=" + token, "X: y", 403},
				{"/global-dashboard/instances", "Authorization: Bearer " + token + "\r\nOrigin: https://evil.example", 403},
			} {
				headers := []string{}
				if test.authorization != "" {
					headers = append(headers, test.authorization)
				}
				if resp, body := s.send(t, get(test.path, headers...)); resp.StatusCode != test.status {
					t.Errorf("%s, %s: %d %.200s", test.path, test.authorization, resp.StatusCode, body)
				}
			}
			const order = "POST /global-dashboard/instance/7/kill HTTP/1.1\r\nHost: $HOST\r\n"
			if resp, _ := s.send(t, order+"\r\n"); resp.StatusCode != 403 || len(l.orders) != 0 {
				t.Errorf("an order without the token: %d", resp.StatusCode)
			}
			if resp, body := s.send(t, order+"Authorization: Bearer "+token+"\r\n\r\n"); resp.StatusCode != 200 || len(l.orders) != 1 {
				t.Errorf("an order with the token: %d %s", resp.StatusCode, body)
			}
			if strings.Contains(s.log.String(), token) {
				t.Error("the token is in the log")
			}
		})
	}
}

// Who cannot be seen may be part of what it asks to end; who is elsewhere is not.
func TestAskers(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		theirs, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer theirs.Close()
		ours, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		if pids, err := (&webConn{Conn: ours}).askers(); err != nil || !reflect.DeepEqual(pids, []int{os.Getpid()}) {
			t.Errorf("%s: %v, %v", address, pids, err)
		}
		theirs.Close()
		apptest.Eventually(t, "nobody holds the far end", func() bool {
			_, err := (&webConn{Conn: ours}).askers()
			return errors.Is(err, errUnseen)
		})
		if pids, err := (&webConn{Conn: ours, outside: true}).askers(); err != nil || len(pids) != 0 {
			t.Errorf("from outside: %v, %v", pids, err)
		}
	}
}

// One who has gone before it was asked about gets nothing, and is no user of
// another name.
func TestWelcome(t *testing.T) {
	end := connect(t, serveWeb(t, http.NotFoundHandler(), nil).at(t))
	for name, test := range map[string]struct {
		ours      bool
		err       error
		forwarded bool
		want      *webConn
		why       string // part of the refusal
	}{
		"ours":            {true, nil, false, &webConn{proven: true}, ""},
		"another user's":  {false, nil, false, nil, "another user's program"},
		"another, on WSL": {false, nil, true, nil, "another user's program"},
		"gone":            {false, fs.ErrNotExist, false, nil, "has gone"},
		"closed":          {false, process.ErrGone, false, nil, "has gone"},
		"closed, on WSL":  {false, process.ErrGone, true, nil, "has gone"},
		"from Windows":    {false, fs.ErrNotExist, true, &webConn{outside: true}, ""},
		"it cannot tell":  {false, errors.ErrUnsupported, false, &webConn{}, ""},
	} {
		w := &Web{forwarded: test.forwarded, ours: func(netip.AddrPort, netip.AddrPort) (bool, error) { return test.ours, test.err }}
		got, err := w.welcome(end)
		if test.why != "" {
			if err == nil || !strings.Contains(err.Error(), test.why) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		conn, ok := got.(*webConn)
		if err != nil || !ok || conn.proven != test.want.proven || conn.outside != test.want.outside {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRefusalsAreCounted(t *testing.T) {
	var log apptest.Buffer
	r := newRefusals("the page", slog.New(slog.NewTextHandler(&log, nil)))
	for range 9 {
		r.note(errors.New("another user's program connects"))
	}
	if n := strings.Count(log.String(), "refused"); n != 4 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}

// A route's limit ends an answer that its reader takes, but never to the end.
// Without one only a reader that takes nothing ends it.
func TestWriteDeadline(t *testing.T) {
	failed := make(chan error, 1)
	s := serveWeb(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		limit := http.NewResponseController(w)
		var err error
		if req.URL.Path == "/limited" {
			err = limit.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
		} else {
			err = errors.Join(limit.SetWriteDeadline(time.Now().Add(time.Hour)), limit.SetWriteDeadline(time.Time{}))
		}
		part := make([]byte, 64<<10)
		for err == nil {
			_, err = w.Write(part)
		}
		failed <- err
	}), func(w *Web) { w.limits.Reader = 500 * time.Millisecond })
	taken := connect(t, s.at(t))
	if _, err := io.WriteString(taken, strings.ReplaceAll(get("/limited"), "$HOST", s.at(t))); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, taken); err != nil {
		t.Errorf("the connection of one who takes all the time goes on: %v", err)
	}
	if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing ended with %v", err)
	}
	stuck := connect(t, s.at(t))
	if _, err := io.WriteString(stuck, strings.ReplaceAll(get("/"), "$HOST", s.at(t))); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing to one who takes nothing ended with %v", err)
	}
}
