package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// linkPlan says what a client makes and how its server arranges itself.
type linkPlan struct {
	In, Out, Err string // of the server: "pipe", "socket", "null", "file", "tcp"; else that of the client
	One          bool   // one socket for input and output
	Moved        bool   // the server moves its ends away, as the MCP SDK for Python does
	MovedOut     bool   // the server moves its output only
	Language     string // language server: "", "alive", "dead" (beside one that is alive: "both")
	Heir         bool   // the client starts another process that inherits the client's ends
	Copies       bool   // the server starts another process that inherits the server's ends
}

// helperLink is a client or its server, or one that asks without any rights.
func helperLink() {
	var err error
	switch os.Args[1] {
	case "client":
		err = linkClient(os.Args[2])
	case "server":
		err = linkServer(os.Args[2])
	case "hidden":
		err = linkHidden()
	case "dial":
		err = linkDial(os.Args[2])
	case "ask":
		err = linkAsk(os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// pause waits for the end; a signal that has a handler, as SIGCHLD has in Go,
// is none.
func pause() error {
	for {
		if err := unix.Pause(); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// channel makes the two ends of one stream: the server's, and the client's.
func channel(kind string, serverReads bool) (server, client *os.File, err error) {
	switch kind {
	case "pipe":
		r, w, err := os.Pipe()
		if serverReads {
			return r, w, err
		}
		return w, r, err
	case "socket":
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, nil, err
		}
		return os.NewFile(uintptr(pair[0]), "server"), os.NewFile(uintptr(pair[1]), "client"), nil
	case "null":
		server, err = os.OpenFile(os.DevNull, os.O_RDWR, 0)
	case "file":
		server, err = os.CreateTemp("", "link")
	}
	return server, nil, err
}

// linkClient starts a server and tells its pid, and its heir's.
func linkClient(plan string) error {
	var p linkPlan
	if err := json.Unmarshal([]byte(plan), &p); err != nil {
		return err
	}
	cmd := helper("link", "server", plan)
	cmd.Stderr = os.Stderr
	var ends []*os.File
	make1 := func(kind string, serverReads bool) (*os.File, error) {
		server, client, err := channel(kind, serverReads)
		if client != nil {
			ends = append(ends, client)
		}
		return server, err
	}
	in, err := make1(p.In, true)
	if err != nil {
		return err
	}
	out := in
	if !p.One {
		if out, err = make1(p.Out, false); err != nil {
			return err
		}
	}
	cmd.Stdin, cmd.Stdout = in, out
	// In the client's process group, suspended, it would be ended by the SIGHUP
	// that the kernel sends to a group that nobody is left to continue.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if p.Err != "" {
		err, failed := make1(p.Err, false)
		if failed != nil {
			return failed
		}
		cmd.Stderr = err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	in.Close()
	out.Close()
	fmt.Println(cmd.Process.Pid)
	heir := 0
	if p.Heir {
		cmd := exec.Command("sleep", "600")
		cmd.ExtraFiles = ends
		if err := cmd.Start(); err != nil {
			return err
		}
		heir = cmd.Process.Pid
	}
	fmt.Println(heir)
	return pause()
}

// linkServer arranges its descriptors and becomes a sleep.
func linkServer(plan string) error {
	var p linkPlan
	if err := json.Unmarshal([]byte(plan), &p); err != nil {
		return err
	}
	// Whoever runs the tests may leave descriptors of his own in all of us.
	if err := unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	if p.Copies {
		cmd := exec.Command("sleep", "600")
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
		if err := cmd.Start(); err != nil {
			return err
		}
	}
	if p.Moved || p.MovedOut {
		if p.Moved {
			if err := unix.Dup3(0, 9, 0); err != nil {
				return err
			}
			null, err := os.Open(os.DevNull)
			if err != nil {
				return err
			}
			if err := unix.Dup3(int(null.Fd()), 0, 0); err != nil {
				return err
			}
		}
		if err := unix.Dup3(1, 10, 0); err != nil {
			return err
		}
		if err := unix.Dup3(2, 1, 0); err != nil {
			return err
		}
	}
	if p.Language == "dead" || p.Language == "both" {
		if err := languageServer(20, false); err != nil {
			return err
		}
	}
	if p.Language == "alive" || p.Language == "both" {
		if err := languageServer(30, true); err != nil {
			return err
		}
	}
	// What wakes an event loop up: both ends are its own.
	var self [2]int
	if err := unix.Pipe2(self[:], 0); err != nil {
		return err
	}
	if _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil {
		return err
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		return err
	}
	return syscall.Exec(sleep, []string{"sleep", "600"}, os.Environ())
}

// languageServer starts a child with pipes of its own, the server's ends of
// which are at fd and fd+1.
func languageServer(fd int, alive bool) error {
	cmd := exec.Command("sleep", "600")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for i, f := range []any{in, out} {
		if err := unix.Dup3(int(f.(*os.File).Fd()), fd+i, 0); err != nil {
			return err
		}
	}
	if alive {
		return nil
	}
	cmd.Process.Kill()
	_, err = cmd.Process.Wait()
	return err
}

// linkHidden is a process that others of its user may not look at.
func linkHidden() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	fmt.Println("hidden")
	return pause()
}

// linkDial connects to an address and stays until its input ends.
func linkDial(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// linkAsk gives up all capabilities and looks at a process.
func linkAsk(server, client string) error {
	none := [2]unix.CapUserData{}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	runtime.LockOSThread() // rights belong to a thread
	if err := unix.Capset(&header, &none[0]); err != nil {
		return err
	}
	s, err := monitor.ParseIdentity(server)
	if err != nil {
		return err
	}
	c, err := monitor.ParseIdentity(client)
	if err != nil {
		return err
	}
	_, found, findErr := linkWith(s, c)
	_, closedErr := (localEnds{s}).Closed(monitor.Pipe{In: monitor.PipeEnd{Inode: 1}, Out: monitor.PipeEnd{Inode: 2}})
	_, aloneErr := (localEnds{s}).Abandoned()
	for _, err := range []error{findErr, closedErr, aloneErr} {
		fmt.Println(found, isPermission(err), err)
	}
	return nil
}

// pair is a client that runs with its server, and perhaps an heir.
type pair struct {
	client, server monitor.Identity
	heir           int
}

func startPair(t testing.TB, p linkPlan) pair {
	t.Helper()
	plan, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := helper("link", "client", string(plan))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	pid := startGroup(t, cmd)
	lines := bufio.NewReader(out)
	got := pair{client: identityOf(t, pid)}
	server := readPID(t, lines)
	got.heir = readPID(t, lines)
	t.Cleanup(func() { syscall.Kill(-server, syscall.SIGKILL) })
	waitForName(t, server, "sleep")
	got.server = identityOf(t, server)
	return got
}

func readPID(t testing.TB, from *bufio.Reader) int {
	t.Helper()
	line, err := from.ReadString('\n')
	pid, err2 := strconv.Atoi(strings.TrimSpace(line))
	if err != nil && err != io.EOF || err2 != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return pid
}

// killClient suspends the server, so that it could not notice anything, and
// ends its client.
func (p pair) killClient(t testing.TB) {
	t.Helper()
	kill(t, p.server.PID, syscall.SIGSTOP)
	waitForState(t, p.server.PID, Stopped)
	kill(t, p.client.PID, syscall.SIGKILL)
	waitForState(t, p.client.PID, Unreaped)
}
