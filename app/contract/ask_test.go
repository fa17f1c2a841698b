//go:build contract && linux

package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// door is a way to the daemon: 127.0.0.1:25282, 127.0.0.1:8888, or the control socket.
type door string

const (
	page     door = "page"
	sessions door = "sessions"
	control  door = "socket"
)

// header is what a request has besides the usual.
type header map[string]string

// answer is what was answered to one request; the status 0: nothing was.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask makes one request. A body is sent as application/json unless a header
// says otherwise; a header with the value "" is not sent, and Host counts too.
func (w *world) ask(d door, method, path, body string, headers header) answer {
	resp, err := w.open(d, method, path, body, headers)
	if err != nil {
		return answer{body: []byte(err.Error())}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{body: []byte(err.Error())}
	}
	return answer{resp.StatusCode, resp.Header, text}
}

// open is ask with the body still to be read, for streams.
func (w *world) open(d door, method, path, body string, headers header) (*http.Response, error) {
	network, address := "unix", w.socket("control")
	if port := map[door]int{page: w.page, sessions: w.sessions}[d]; port != 0 {
		network, address = "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	req, err := http.NewRequest(method, "http://placeholder"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if req.Host = address; d == control {
		req.Host = "lamplighter"
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		switch {
		case name == "Host":
			req.Host = value
		case value == "":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	transport := http.Transport{
		DisableKeepAlives: true, DisableCompression: true, ExpectContinueTimeout: time.Minute,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	return transport.RoundTrip(req) // follows nothing
}

// get asks the one daemon on the page's port.
func get(path string) answer { return home.ask(page, http.MethodGet, path, "", nil) }

// object is one of JSON.
type object = map[string]any

// object is a body that is one, nil where it is not.
func (a answer) object() (o object) {
	_ = json.Unmarshal(a.body, &o) // then nothing is in it
	return o
}

// list are the objects in a list of a body.
func (a answer) list(name string) (found []object) {
	all, _ := a.object()[name].([]any)
	for _, one := range all {
		found = append(found, one.(object))
	}
	return found
}

// fails wants a status, and an error in the body.
func (a answer) fails(t testing.TB, status int, what string) {
	t.Helper()
	words, _ := a.object()["error"].(string)
	check(t, words != "" && a.status == status, "%.200s: %d %.300q, want %d and an error", what, a.status, a.body, status)
}

// ready reports whether the daemon serves there, and has looked for servers.
func (w *world) ready(d door) bool {
	return w.ask(d, http.MethodGet, "/health", "", nil).object()["ready"] == true
}

// warnings are what the daemon warns of.
func (w *world) warnings() string {
	return fmt.Sprint(w.ask(control, http.MethodGet, "/health", "", nil).object()["warnings"])
}

// find is the first server that the daemon lists with this member, nil: none.
func (w *world) find(member string, value any) object {
	list := w.ask(control, http.MethodGet, p+"instances", "", nil).list("instances")
	if i := slices.IndexFunc(list, func(in object) bool { return in[member] == value }); i >= 0 {
		return list[i]
	}
	return nil
}

// instance is what the one daemon says of a pid, nil: nothing.
func instance(pid int) object { return home.find("pid", float64(pid)) }

// is waits until the server with this member has a state, and returns what is said
// of it.
func (w *world) is(t testing.TB, state, member string, value any) (in object) {
	t.Helper()
	apptest.Eventually(t, fmt.Sprintf("the server with the %s %v is %s", member, value, state), func() bool {
		in = w.find(member, value)
		return in["state"] == state
	})
	return in
}
