//go:build contract && linux

package contract

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Who is let in. Each guard stands once for each method that matters; what is
// refused has no effect.
func TestGuards(t *testing.T) {
	victim := startFound(t, "victim")
	kill := fmt.Sprintf(p+"instance/%d/kill", victim.pid)
	const (
		force  = `{"force": true}`
		ours   = "127.0.0.1:25282"
		theirs = "http://evil.example"
	)
	navigate := header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	for _, row := range []struct {
		door         door
		method, path string
		body         string
		header       header
		status       int
	}{
		// Host, against names that lead here.
		{page, "GET", p + "instances", "", header{"Host": "evil.example:25282"}, 403},
		{page, "GET", p + "instances", "", header{"Host": "127.0.0.1"}, 403},
		{page, "GET", p + "instances", "", header{"Host": "127.0.0.1:8888"}, 403},
		{page, "POST", kill, force, header{"Host": "evil.example:25282"}, 403},
		{page, "GET", p + "instances", "", header{"Host": "localhost:25282"}, 200},
		{page, "GET", p + "instances", "", header{"Host": "[::1]:25282"}, 200},
		// Origin and Sec-Fetch-Site, against pages of others, GET included.
		{page, "GET", p + "instances", "", header{"Origin": theirs}, 403},
		{page, "GET", p + "instances", "", header{"Origin": "http://127.0.0.1:24282"}, 403},
		{page, "GET", p + "instances", "", header{"Sec-Fetch-Site": "cross-site"}, 403},
		{page, "GET", p + "instances", "", header{"Sec-Fetch-Site": "same-site"}, 403},
		{page, "POST", kill, force, header{"Origin": theirs}, 403},
		{page, "POST", kill, force, header{"Sec-Fetch-Site": "cross-site"}, 403},
		{page, "OPTIONS", kill, "", header{"Origin": theirs, "Access-Control-Request-Method": "POST"}, 403},
		{page, "POST", "/mcp?project=" + victim.project, `{}`, header{"Origin": theirs}, 403},
		{page, "GET", p + "instances", "", header{"Origin": "http://" + ours, "Sec-Fetch-Site": "same-origin"}, 200},
		{page, "GET", p + "instances", "", header{"Sec-Fetch-Site": "none"}, 200},
		// A link may open the page, and nothing else.
		{page, "GET", p, "", navigate, 200},
		{page, "GET", "/", "", navigate, 302},
		{page, "GET", p + "instances", "", navigate, 403},
		{page, "GET", p, "", navigate.with("Sec-Fetch-Dest", "iframe"), 403},
		{page, "GET", p, "", navigate.with("Origin", theirs), 403},
		{page, "POST", kill, force, navigate, 403},
		// What a form of any page can send.
		{page, "POST", kill, force, header{"Content-Type": ""}, 400},
		{socket, "POST", kill, force, header{"Content-Type": "text/plain"}, 400},
		// A GET changes nothing.
		{page, "GET", kill, "", nil, 405},
		// Only our own programs open windows and end the daemon.
		{page, "POST", "/show", "", nil, 404},
		{page, "POST", "/quit", `{"restart": true}`, nil, 404},
		{sessions, "POST", "/quit", `{"restart": true}`, nil, 404},
		// 8888 has the same guards, and serves sessions and health alone.
		{sessions, "POST", "/request-session", `{"project_path": "/tmp"}`, header{"Host": "evil.example:8888"}, 403},
		{sessions, "POST", "/request-session", `{"project_path": "/tmp"}`, header{"Host": ours}, 403},
		{sessions, "POST", "/request-session", `{"project_path": "/tmp"}`, header{"Origin": "http://" + ours}, 403},
		{sessions, "POST", "/request-session", `{"project_path": "/tmp"}`, header{"Sec-Fetch-Site": "cross-site"}, 403},
		{sessions, "POST", "/request-session", `{"project_path": "/tmp"}`, header{"Content-Type": "text/plain"}, 400},
		{sessions, "GET", "/sessions", "", navigate, 403},
		{sessions, "GET", "/sessions", "", header{"Host": "localhost:8888"}, 200},
	} {
		a := ask(t, row.door, row.method, row.path, row.body, row.header)
		what := fmt.Sprintf("%s %s on %v with %v", row.method, row.path, row.door, row.header)
		if row.status >= 400 {
			checkFailure(t, a, row.status, what)
		} else if a.status != row.status {
			t.Errorf("%s: %d, want %d", what, a.status, row.status)
		}
		if a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: others may read the answer", what)
		}
	}
	for _, r := range slices.Concat(routes, forwarded, elsewhere) {
		path := strings.NewReplacer("{alpha}", fmt.Sprint(victim.pid), "{ws}", "none").Replace(r.path)
		if r.only != "8888" {
			checkFailure(t, ask(t, sessions, r.method, path, "", nil), http.StatusNotFound, r.name()+" on 8888")
		}
	}
	if in := home.instance(victim.pid); in["pinned"] != false || !alive(victim.pid) {
		t.Errorf("what was refused has changed the server: %v", in)
	}
}

// asNobody makes a process another user's, which only root can.
var asNobody = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}

func onlyOneUser() bool {
	ids, err := os.ReadFile("/proc/self/uid_map")
	return err != nil || strings.Fields(string(ids))[2] == "1"
}

// Another user of the machine is not let in, whatever he sends.
func TestOtherUser(t *testing.T) {
	if onlyOneUser() {
		t.Skip("only root can become another user")
	}
	const asks = `exec 3<>/dev/tcp/127.0.0.1/$1 && printf 'GET /health HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n' $1 >&3 && cat <&3`
	for _, port := range []int{home.page, home.sessions} {
		for _, user := range []*syscall.SysProcAttr{nil, asNobody} {
			c := exec.Command("/bin/bash", "-c", asks, "bash", fmt.Sprint(port))
			c.Dir, c.SysProcAttr = "/", user
			out, _ := c.CombinedOutput() // the connection may be cut
			if let := strings.HasPrefix(string(out), "HTTP/1.1 200"); let != (user == nil) {
				t.Errorf("on port %d, user %v got %.100q", port, user, out)
			}
		}
	}
}

// Nothing of the daemon listens anywhere but on the loopback interface.
func TestLoopbackOnly(t *testing.T) {
	found := listenersOf(home.daemon.pid())
	for _, l := range found {
		if l.address != "0100007F" && l.address != "00000000000000000000000001000000" {
			t.Errorf("it listens on %+v", l)
		}
	}
	if len(found) < 4 { // the page and sessions, both on 127.0.0.1 and [::1]
		t.Errorf("only these of its listeners were found: %v", found)
	}
}
