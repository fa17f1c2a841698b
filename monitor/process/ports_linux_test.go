package process

import (
	"bufio"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func listen(t testing.TB, network, addr string) (*net.TCPListener, netip.AddrPort) {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.(*net.TCPListener), l.Addr().(*net.TCPAddr).AddrPort()
}

// holder runs a sleep that holds a listening socket, which we close.
func holder(t testing.TB, l *net.TCPListener) int {
	t.Helper()
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := exec.Command("sleep", "600")
	cmd.ExtraFiles = []*os.File{f}
	pid := start(t, cmd)
	waitForName(t, pid, "sleep")
	l.Close()
	return pid
}

func listeners(t testing.TB, p *Ports, pids ...int) []Listener {
	t.Helper()
	got, err := p.Listeners(pids)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func want(list ...Listener) []Listener { return sortListeners(list) }

func TestListenersOfBothFamilies(t *testing.T) {
	me := os.Getpid()
	_, four := listen(t, "tcp4", "127.0.0.1:0")
	_, six := listen(t, "tcp6", "[::1]:0")
	_, any4 := listen(t, "tcp4", "0.0.0.0:0")
	_, any6 := listen(t, "tcp", "[::]:0")
	client, err := net.Dial("tcp", four.String()) // connected sockets are no listeners
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	other := sleeper(t)
	expected := want(Listener{me, four}, Listener{me, six}, Listener{me, any4}, Listener{me, any6})
	p := NewPorts()
	for range 3 {
		if got := listeners(t, p, me, other.PID, me); !slices.Equal(got, expected) {
			t.Errorf("%v, want %v", got, expected)
		}
	}
	if !any4.Addr().IsUnspecified() || !any6.Addr().IsUnspecified() || !any6.Addr().Is6() {
		t.Errorf("wildcards %v %v", any4, any6)
	}
	p = NewPorts()
	p.dump = func([]byte, func(tcpSocket)) error { return errors.New("no sock_diag here") }
	if got := listeners(t, p, me); !slices.Equal(got, expected) {
		t.Errorf("from text: %v, want %v", got, expected)
	}
}

func TestListenersChange(t *testing.T) {
	l, addr := listen(t, "tcp4", "127.0.0.1:0")
	a := holder(t, l)
	idle := sleeper(t).PID
	me := os.Getpid()
	p := NewPorts()
	if got := listeners(t, p, a, idle, me); !slices.Equal(got, want(Listener{a, addr})) {
		t.Fatalf("%v", got)
	}
	l2, addr2 := listen(t, "tcp4", "127.0.0.1:0") // opened by a process that is known already
	if got := listeners(t, p, a, idle, me); !slices.Equal(got, want(Listener{a, addr}, Listener{me, addr2})) {
		t.Errorf("a new listener: %v", got)
	}
	l2.Close()
	if got := listeners(t, p, a, idle, me); !slices.Equal(got, want(Listener{a, addr})) {
		t.Errorf("a closed listener: %v", got)
	}
	if got := listeners(t, p, idle); len(got) > 0 {
		t.Errorf("not asked for: %v", got)
	}
	if got := listeners(t, p, a, idle, unused(t)); !slices.Equal(got, want(Listener{a, addr})) {
		t.Errorf("asked again: %v", got)
	}
	kill(t, a, syscall.SIGKILL)
	waitForState(t, a, Unreaped)
	if got := listeners(t, p, a, idle); len(got) > 0 {
		t.Errorf("of a dead process: %v", got)
	}
	if got := listeners(t, p); len(got) > 0 || len(p.held) > 0 {
		t.Errorf("nobody: %v, remembers %v", got, p.held)
	}
}

func TestSharedListenerIsListedForEach(t *testing.T) {
	l, addr := listen(t, "tcp4", "127.0.0.1:0")
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := exec.Command("sleep", "600")
	cmd.ExtraFiles = []*os.File{f}
	child := start(t, cmd)
	waitForName(t, child, "sleep")
	me := os.Getpid()
	if got := listeners(t, NewPorts(), me, child); !slices.Equal(got, want(Listener{me, addr}, Listener{child, addr})) {
		t.Errorf("%v", got)
	}
}

func TestSteadyStateReadsOneProcessPerCall(t *testing.T) {
	var pids []int
	for range 5 {
		l, _ := listen(t, "tcp4", "127.0.0.1:0")
		pids = append(pids, holder(t, l))
	}
	pids = append(pids, sleeper(t).PID)
	p := NewPorts()
	// Only our own listeners count: other programs of this machine may come and go.
	mine := map[uint32]bool{}
	p.dump = func(buf []byte, add func(tcpSocket)) error {
		return dumpListening(buf, func(s tcpSocket) {
			if len(mine) < 5 || mine[s.inode] {
				add(s)
			}
		})
	}
	first := listeners(t, p, pids...)
	for _, had := range p.held {
		for _, h := range had {
			mine[h.inode] = true
		}
	}
	if len(first) != 5 || len(mine) != 5 {
		t.Fatalf("%v", first)
	}
	turns := map[int]bool{}
	for range len(pids) {
		before := p.walks
		if got := listeners(t, p, pids...); !slices.Equal(got, first) {
			t.Errorf("%v, want %v", got, first)
		}
		if p.walks != before+1 {
			t.Errorf("%d processes were read in the steady state", p.walks-before)
		}
		turns[p.turn] = true
	}
	if len(turns) != len(pids) {
		t.Errorf("read anew in turn: %v", turns)
	}
}

func TestHandedOverListenerIsFound(t *testing.T) {
	l, addr := listen(t, "tcp4", "127.0.0.1:0")
	a := holder(t, l)
	p := NewPorts()
	listeners(t, p, a)
	p.held[a] = nil // as if it had been handed over after the question
	eventually(t, "the next turn finds it", func() bool {
		return slices.Equal(listeners(t, p, a), want(Listener{a, addr}))
	})
}

func TestAnotherNetworkNamespaceHasNoListeners(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), helperMode+"=listen")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	pid := start(t, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatalf("the helper says %q", line)
	}
	if got := listeners(t, NewPorts(), pid); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestListenersWithoutDescriptorsLeft(t *testing.T) {
	p := NewPorts()
	p.fs = procfs{t.TempDir()} // nothing can be read here
	p.dump = func([]byte, func(tcpSocket)) error { return errors.New("no sock_diag here") }
	if got, err := p.Listeners([]int{1}); err == nil || errors.Is(err, ErrGone) {
		t.Errorf("%v, %v", got, err)
	}
}
