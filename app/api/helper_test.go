package api

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The test program runs itself as another process, with a task and what it is
// about.
const (
	helperTask = "TEST_HELPER"
	helperWith = "TEST_HELPER_WITH"
)

// help carries out a task and returns the exit status.
func help(task, with string) int {
	switch task {
	case "hold": // an address, until standard input ends
		l, err := net.Listen("tcp", with)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer l.Close()
		fmt.Println(l.Addr().(*net.TCPAddr).Port)
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "kill": // by POST to an address
		resp, err := http.Post(with, "", nil)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer resp.Body.Close()
		fmt.Println(resp.StatusCode)
	case "request": // a session, by POST to an address
		resp, err := http.Post(with, "application/json", strings.NewReader(`{"project_path":"/p"}`))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer resp.Body.Close()
		fmt.Println(resp.StatusCode)
	case "connect-unix", "connect-tcp6": // to an address, which is to close at once
		_, network, _ := strings.Cut(task, "-")
		conn, err := net.Dial(network, with)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer conn.Close()
		// That it was closed already is as good.
		_, _ = io.WriteString(conn, "GET /health HTTP/1.0\r\nHost: "+with+"\r\n\r\n")
		if answer, _ := io.ReadAll(conn); len(answer) > 0 {
			fmt.Printf("answered %q\n", answer)
			return 1
		}
	}
	return 0
}

// helper is the test program as another process, not started yet. It ends with
// the test.
func helper(t *testing.T, task, with string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), helperTask+"="+task, helperWith+"="+with)
	return cmd
}

// holdPort has another process listen on an address and returns its pid and
// the port.
func holdPort(t *testing.T, address string) (pid, port int) {
	t.Helper()
	cmd := helper(t, "hold", address)
	port = holdPortWith(t, cmd)
	return cmd.Process.Pid, port
}

// holdPortWith starts a helper that listens and returns the port.
func holdPortWith(t *testing.T, cmd *exec.Cmd) (port int) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	if _, err := fmt.Fscan(out, &port); err != nil {
		rest, _ := io.ReadAll(out)
		t.Fatalf("%v: %s", err, strings.TrimSpace(string(rest)))
	}
	return port
}
