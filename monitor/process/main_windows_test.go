package process

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"lamplighter/monitor"
)

// Each of the helper programs below says one line when it is ready, and ends when its
// standard input does, so that none outlives the test, however that ends.
func TestMain(m *testing.M) {
	switch mode := os.Getenv(helperMode); mode {
	case "":
		goleak.VerifyTestMain(m)
		return
	case "idle":
		fmt.Println("ready")
	case "busy":
		fmt.Println("ready")
		go func() {
			for n := 0; n >= 0; n = (n + 1) % 1000 { // for ever
			}
		}()
	case "parent":
		helperParent()
	case "listen":
		helperListen()
	default:
		fmt.Fprintln(os.Stderr, "unknown helper", mode)
		os.Exit(2)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// helperParent has a child that idles, and says its pid.
func helperParent() {
	cmd := exec.Command(os.Args[0], "grandchild")
	cmd.Env = append(os.Environ(), helperMode+"=idle")
	out, err := cmd.StdoutPipe()
	if err == nil {
		// Held open, so that the child ends after its parent.
		cmd.Stdin = os.Stdin
		err = cmd.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(cmd.Process.Pid)
}

// helperListen listens on what its arguments name, and says the ports. It
// accepts connections, and keeps them: Wine shows no others.
func helperListen() {
	var ports []string
	for _, addr := range os.Args[1:] {
		network := "tcp4"
		if strings.HasPrefix(addr, "[") {
			network = "tcp6"
		}
		l, err := net.Listen(network, addr)
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close() // with the process
			}
		}()
		ports = append(ports, fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
	}
	fmt.Println(strings.Join(ports, " "))
}

// helper is a running helper program.
type helper struct {
	monitor.Identity
	said  string // its line
	cmd   *exec.Cmd
	stdin io.Closer
}

// start runs a helper until the test ends.
func start(t testing.TB, mode string, args ...string) *helper {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), helperMode+"="+mode)
	cmd.Stderr = os.Stderr
	stdin, stdout := pipes(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := &helper{cmd: cmd, stdin: stdin}
	t.Cleanup(h.kill)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("helper %s: %v", mode, err)
	}
	h.said = strings.TrimSpace(line)
	h.Identity = identityOf(t, cmd.Process.Pid)
	return h
}

// number is the pid that it said.
func (h *helper) number(t testing.TB) int {
	t.Helper()
	n, err := strconv.Atoi(h.said)
	if err != nil {
		t.Fatal(h.said)
	}
	return n
}

// kill ends the helper and waits until the system knows.
func (h *helper) kill() {
	_ = h.cmd.Process.Kill() // it may have ended
	h.stdin.Close()
	_ = h.cmd.Wait() // its status is that of a killed process
}

// idle runs a helper that does nothing.
func idle(t testing.TB) idler {
	t.Helper()
	h := start(t, "idle")
	return idler{h.Identity, h.kill}
}
