//go:build contract && linux

package contract

import (
	"fmt"
	"maps"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Who is let in. Each guard stands once for each method that matters.
func TestGuards(t *testing.T) {
	victim := startFound(t, "victim")
	known := map[string]string{"victim": strconv.Itoa(victim.pid()), "alpha": strconv.Itoa(victim.pid()), "project": victim.project, "ws": "none"}
	for _, row := range table(t, "guards.txt") {
		with := header{}
		for _, text := range row[5:] {
			name, value, _ := strings.Cut(text, ":")
			with[name] = strings.TrimSpace(value)
			if name == "navigate" {
				maps.Copy(with, header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"})
			}
		}
		a := home.ask(door(row[1]), row[2], fill(row[3], known), cell(row, 4), with)
		what := fmt.Sprintf("%q", row)
		same(t, what, strconv.Itoa(a.status), row[0])
		if a.status >= 400 {
			a.fails(t, a.status, what)
		}
		same(t, what+": who may read the answer", a.header.Get("Access-Control-Allow-Origin"), "")
	}
	for _, r := range routes(t) {
		if r.served != "sessions" {
			home.ask(sessions, r.method, fill(r.path, known), "", nil).fails(t, 404, r.name()+" on 8888")
		}
	}
	check(t, instance(victim.pid())["pinned"] == false && victim.running(), "what was refused has changed the server")
}

// asNobody makes a process another user's, which only root can.
var asNobody = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}

func onlyOneUser() bool {
	ids := strings.Fields(read("/proc/self/uid_map"))
	return len(ids) == 3 && ids[2] == "1"
}

// Another user of the machine is not let in, whatever he sends.
func TestOtherUser(t *testing.T) {
	if onlyOneUser() {
		t.Skip("only root can become another user")
	}
	const asks = `exec 3<>/dev/tcp/127.0.0.1/$1 && printf 'GET /health HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n' $1 >&3 && cat <&3`
	for _, port := range []int{home.page, home.sessions} {
		for _, user := range []*syscall.SysProcAttr{nil, asNobody} {
			c := exec.Command("/bin/bash", "-c", asks, "bash", strconv.Itoa(port))
			c.Dir, c.SysProcAttr = "/", user
			out, _ := c.CombinedOutput() // the connection may be cut
			let := strings.HasPrefix(string(out), "HTTP/1.1 200")
			check(t, let == (user == nil), "on port %d, user %v got %.100q", port, user, out)
		}
	}
}

// Nothing of the daemon listens anywhere but on the loopback interface.
func TestLoopbackOnly(t *testing.T) {
	found := listenersOf(home.daemon.pid())
	for _, l := range found {
		check(t, l.address == "0100007F" || l.address == "00000000000000000000000001000000", "it listens on %+v", l)
	}
	check(t, len(found) >= 4, "only these of its listeners were found: %v", found) // the page and sessions, both on 127.0.0.1 and [::1]
}
