//go:build contract && linux

package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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
	text, _ := io.ReadAll(resp.Body) // what is missing is missed by who reads it
	return answer{resp.StatusCode, resp.Header, text}
}

// open is ask with the body still to be read, for streams.
func (w *world) open(d door, method, path, body string, headers header) (*http.Response, error) {
	network, address, host := "unix", w.socket("control"), "lamplighter"
	if port := map[door]int{page: w.page, sessions: w.sessions}[d]; port != 0 {
		network, address = "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		host = address
	}
	req, err := http.NewRequest(method, "http://placeholder"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	all := header{"Host": host}
	if body != "" {
		all["Content-Type"] = "application/json"
	}
	maps.Copy(all, headers)
	req.Host = all["Host"]
	for name, value := range all {
		if value != "" {
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

// health is what the daemon says of itself there, nil: it does not serve.
func (w *world) health(d door) object { return w.ask(d, http.MethodGet, "/health", "", nil).object() }

// find is the first server that the daemon lists with this member, nil: none.
func (w *world) find(member string, value any) object {
	list := w.ask(control, http.MethodGet, p+"instances", "", nil).list("instances")
	if i := slices.IndexFunc(list, func(in object) bool { return plain(in[member]) == plain(value) }); i >= 0 {
		return list[i]
	}
	return nil
}

// plain is a text or a number as a script has it.
func plain(value any) string { return strings.Trim(jsonOf(value), `"`) }

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

// server is a Serena that a client has started, over HTTP.
type server struct {
	*process
	project string
	port    int // of its dashboard
}

// startFound starts a Serena for the project of that name, and waits until the
// daemon has found it.
func (w *world) startFound(t testing.TB, name string, habits ...string) *server {
	t.Helper()
	s := &server{project: w.project(t, name, habits...)}
	s.process = w.start(t, nil, w.httpServer(s.project)...)
	s.port = int(w.is(t, "live_with_project", "pid", s.pid())["port"].(float64))
	return s
}

// shapes are JSON that stands for other JSON, by name. Strings are the types of what
// may be there: text, number, bool, object, time (RFC 3339), "@" and the name of a
// shape, a word after "=" for that text itself, or several with "|" between them; "?"
// at the end is for null as well. [X] is a list of X. A member whose name ends in "?"
// may be missing, and "..." are the members of another shape. Others than those named
// must not be there.
var shapes object

// fits compares a body with a shape, by its name or itself.
func fits(t testing.TB, what, shape string, body []byte) {
	t.Helper()
	want, got := any("@"+shape), any(nil)
	if strings.HasPrefix(shape, "{") {
		must(t, json.Unmarshal([]byte(shape), &want))
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Errorf("%s: %v: %.300q", what, err, body)
		return
	}
	compare(t, what, want, got)
}

// compare says where a value is not as the shape.
func compare(t testing.TB, at string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case string:
		types, orNull := strings.CutSuffix(want, "?")
		name, named := strings.CutPrefix(types, "@")
		switch {
		case orNull && got == nil:
		case named:
			compare(t, at, shapes[name], got)
		default:
			check(t, isOf(types, got), "%s is %.300v, not %s", at, got, want)
		}
	case []any:
		list, ok := got.([]any)
		check(t, ok, "%s is %.300v, not a list", at, got)
		for i, element := range list {
			compare(t, fmt.Sprintf("%s[%d]", at, i), want[0], element)
		}
	case object:
		members, ok := got.(object)
		check(t, ok, "%s is %.300v, not an object", at, got)
		known := object{}
		for name, of := range membersOf(want) {
			name, optional := strings.CutSuffix(name, "?")
			member, there := members[name]
			if known[name] = of; there {
				compare(t, at+"."+name, of, member)
			} else {
				check(t, optional, "%s.%s is missing", at, name)
			}
		}
		for name := range members {
			check(t, known[name] != nil, "%s.%s is one more", at, name)
		}
	default:
		t.Errorf("%s: there is no such shape", at)
	}
}

// membersOf are those of a shape, and of the one that it extends.
func membersOf(shape object) object {
	all := maps.Clone(shape)
	if base, extends := shape["..."].(string); extends {
		maps.Copy(all, shapes[strings.TrimPrefix(base, "@")].(object))
		delete(all, "...")
	}
	return all
}

func isOf(types string, got any) bool {
	text, isText := got.(string)
	_, notTime := time.Parse(time.RFC3339, text)
	_, isNumber := got.(float64)
	_, isBool := got.(bool)
	_, isObject := got.(object)
	is := map[string]bool{"text": isText, "time": isText && notTime == nil, "number": isNumber, "bool": isBool, "object": isObject, "=" + text: isText}
	return slices.ContainsFunc(strings.Split(types, "|"), func(word string) bool { return is[word] })
}
