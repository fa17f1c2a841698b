package process

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"lamplighter/monitor"
)

func isPermission(err error) bool { return errors.Is(err, fs.ErrPermission) }

// linkWith finds the link of a server with one process.
func linkWith(server, client monitor.Identity) (monitor.Pipe, bool, error) {
	holder, l, found, err := (localEnds{server}).Holder(client)
	return l, found && holder.Identity == client, err
}

func mustFind(t testing.TB, server, client monitor.Identity) monitor.Pipe {
	t.Helper()
	l, ok, err := linkWith(server, client)
	if !ok || err != nil {
		t.Fatalf("no link: %v, %v", ok, err)
	}
	return l
}

func wantClosed(t testing.TB, l monitor.Pipe, server monitor.Identity, want bool) {
	t.Helper()
	if closed, err := (localEnds{server}).Closed(l); closed != want || err != nil {
		t.Errorf("closed: %v, %v, want %v", closed, err, want)
	}
}

func wantAbandoned(t testing.TB, server monitor.Identity, want bool) {
	t.Helper()
	if alone, err := (localEnds{server}).Abandoned(); alone != want || err != nil {
		t.Errorf("abandoned: %v, %v, want %v", alone, err, want)
	}
}

// TestLinkOfAClientThatIsKilled starts real clients with real servers, which
// are suspended when their client dies.
func TestLinkOfAClientThatIsKilled(t *testing.T) {
	for name, plan := range map[string]linkPlan{
		"pipes":                           {In: "pipe", Out: "pipe"},
		"pipes, standard error too":       {In: "pipe", Out: "pipe", Err: "pipe"},
		"pipes, moved":                    {In: "pipe", Out: "pipe", Moved: true},
		"pipes, moved, standard error":    {In: "pipe", Out: "pipe", Err: "pipe", Moved: true},
		"pipes, output moved":             {In: "pipe", Out: "pipe", Err: "pipe", MovedOut: true},
		"sockets":                         {In: "socket", Out: "socket", Err: "socket"},
		"sockets, moved":                  {In: "socket", Out: "socket", Err: "socket", Moved: true},
		"one socket":                      {In: "socket", One: true},
		"a pipe and a socket":             {In: "pipe", Out: "socket"},
		"copies of the server's ends":     {In: "pipe", Out: "pipe", Copies: true},
		"copies of the server's sockets":  {In: "socket", Out: "socket", Copies: true},
		"copies of ends that were moved":  {In: "pipe", Out: "pipe", Copies: true, Moved: true},
		"a language server":               {In: "pipe", Out: "pipe", Moved: true, Language: "alive"},
		"a dead language server":          {In: "pipe", Out: "pipe", Moved: true, Language: "dead"},
		"a dead one, in place":            {In: "pipe", Out: "pipe", Language: "dead"},
		"a dead one beside one that runs": {In: "pipe", Out: "pipe", Moved: true, Language: "both"},
		"the same with sockets":           {In: "socket", Out: "socket", Moved: true, Language: "both"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startPair(t, plan)
			before := openDescriptors(t)
			l := mustFind(t, p.server, p.client)
			if again := mustFind(t, p.server, p.client); again != l {
				t.Errorf("%+v, then %+v", l, again)
			}
			if (l.In == l.Out) != plan.One {
				t.Errorf("%+v", l)
			}
			for _, other := range []monitor.Identity{identityOf(t, os.Getpid()), p.server} {
				if l, ok, err := linkWith(p.server, other); ok || err != nil {
					t.Errorf("a link with %v: %+v, %v", other, l, err)
				}
			}
			wantClosed(t, l, p.server, false)
			wantAbandoned(t, p.server, false)
			p.killClient(t)
			wantClosed(t, l, p.server, true)
			wantAbandoned(t, p.server, true)
			if _, _, err := linkWith(p.server, p.client); !errors.Is(err, ErrGone) {
				t.Errorf("a link with the dead: %v", err)
			}
			kill(t, p.server.PID, syscall.SIGKILL)
			eventually(t, "the server is gone", func() bool {
				_, err := (localEnds{p.server}).Closed(l)
				_, err2 := (localEnds{p.server}).Abandoned()
				return errors.Is(err, ErrGone) && errors.Is(err2, ErrGone)
			})
			if after := openDescriptors(t); after != before {
				t.Errorf("%d descriptors, before %d", after, before)
			}
		})
	}
}

func TestLinkThatAnHeirHolds(t *testing.T) {
	for _, kind := range []string{"pipe", "socket"} {
		t.Run(kind, func(t *testing.T) {
			p := startPair(t, linkPlan{In: kind, Out: kind, Heir: true})
			l := mustFind(t, p.server, p.client)
			p.killClient(t)
			wantClosed(t, l, p.server, false)
			wantAbandoned(t, p.server, false)
			kill(t, p.heir, syscall.SIGKILL)
			eventually(t, "the link is closed", func() bool {
				closed, err := (localEnds{p.server}).Closed(l)
				return closed && err == nil
			})
			wantAbandoned(t, p.server, true)
		})
	}
}

func TestWhatIsNoLink(t *testing.T) {
	for name, plan := range map[string]linkPlan{
		"standard error alone":            {In: "null", Out: "null", Err: "pipe"},
		"an output alone":                 {In: "null", Out: "pipe"},
		"a socket as output alone":        {In: "null", Out: "socket", Err: "socket"},
		"an input alone":                  {In: "pipe", Out: "null"},
		"a file as input":                 {In: "file", Out: "pipe"},
		"files and a dead child":          {In: "file", Out: "file", Err: "file", Language: "dead"},
		"an output and a dead child":      {In: "null", Out: "pipe", Language: "dead"},
		"an input and a child that lives": {In: "pipe", Out: "null", Language: "alive"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startPair(t, plan)
			if l, ok, err := linkWith(p.server, p.client); ok || err != nil {
				t.Errorf("%+v, %v", l, err)
			}
			wantAbandoned(t, p.server, false)
			p.killClient(t)
			wantAbandoned(t, p.server, false)
		})
	}
}

// serverOfOurs runs a program whose client this test is.
func serverOfOurs(t *testing.T, cmd *exec.Cmd) (monitor.Identity, io.WriteCloser, io.ReadCloser) {
	t.Helper()
	in, out := pipes(t, cmd)
	return identityOf(t, start(t, cmd)), in, out
}

func TestClosedNeedsBothHalves(t *testing.T) {
	me := identityOf(t, os.Getpid())
	for _, first := range []string{"input", "output"} {
		id, in, out := serverOfOurs(t, exec.Command("sleep", "600"))
		l := mustFind(t, id, me)
		if first == "input" {
			in.Close()
		} else {
			out.Close()
		}
		wantClosed(t, l, id, false)
		wantAbandoned(t, id, false)
		in.Close()
		out.Close()
		wantClosed(t, l, id, true)
		wantAbandoned(t, id, true)
	}
}

// TestClosedDisturbsNobody looks all the time while a server works and its
// client hangs up: nothing is lost, and both notice the end.
func TestClosedDisturbsNobody(t *testing.T) {
	id, in, out := serverOfOurs(t, exec.Command("cat"))
	l := mustFind(t, id, identityOf(t, os.Getpid()))
	asked, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(asked)
		for {
			select {
			case <-stop:
				return
			default:
				if closed, err := (localEnds{id}).Closed(l); closed && err == nil {
					t.Error("closed while its client reads")
				}
			}
		}
	}()
	const line = "all of this comes back\n"
	go func() {
		io.WriteString(in, strings.Repeat(line, 10_000))
		in.Close()
	}()
	b, err := io.ReadAll(out)
	close(stop)
	<-asked
	if err != nil || string(b) != strings.Repeat(line, 10_000) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	eventually(t, "cat has ended", func() bool { _, err := (localEnds{id}).Closed(l); return errors.Is(err, ErrGone) })
}

// An end that the server gives up connects nobody; the other end still may.
func TestEndsThatTheServerGivesUp(t *testing.T) {
	me := identityOf(t, os.Getpid())
	for _, c := range []struct {
		line         string
		held, hungUp error // while its client holds its ends, and when it has hung up
	}{
		{line: "read x; exec <&-; echo; exec sleep 600", hungUp: ErrUnheld},
		{line: "read x; echo; exec >&-; echo closed >&2; exec sleep 600", hungUp: ErrUnheld},
		{line: "read x; echo; exec <&- >&-; echo closed >&2; exec sleep 600", held: ErrUnheld, hungUp: ErrUnheld},
	} {
		cmd := exec.Command("sh", "-c", c.line)
		errs, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		id, in, out := serverOfOurs(t, cmd)
		l := mustFind(t, id, me)
		io.WriteString(in, "go\n")
		said := out
		if strings.Contains(c.line, "closed") {
			said = errs
		}
		if _, err := bufio.NewReader(said).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if closed, err := (localEnds{id}).Closed(l); closed || !errors.Is(err, c.held) {
			t.Errorf("%s: closed %v, %v", c.line, closed, err)
		}
		if _, ok, err := linkWith(id, me); ok || err != nil {
			t.Error(c.line, ok, err)
		}
		in.Close()
		out.Close()
		if closed, err := (localEnds{id}).Closed(l); closed || !errors.Is(err, c.hungUp) || errors.Is(err, ErrGone) {
			t.Errorf("%s, and its client has hung up: closed %v, %v", c.line, closed, err)
		}
	}
}

func TestSocketsOfOtherKindsAreNoLink(t *testing.T) {
	l, _ := listen(t, "tcp4", "127.0.0.1:0")
	_, accepted := join(t, l)
	named, _ := join(t, listenUnix(t, "unix", t.TempDir()+"/service"))
	for _, socket := range []net.Conn{accepted, named} {
		f := fileOf(t, socket)
		cmd := exec.Command("sleep", "600")
		cmd.Stdin, cmd.Stdout = f, f
		id := identityOf(t, start(t, cmd))
		f.Close()
		if l, ok, err := linkWith(id, identityOf(t, os.Getpid())); ok || err != nil {
			t.Errorf("%+v, %v", l, err)
		}
		wantAbandoned(t, id, false)
	}
}

// TestLinksThatMayNotBeLookedAt asks, without any rights, about a process of
// the same user that hides.
func TestLinksThatMayNotBeLookedAt(t *testing.T) {
	cmd := helper("link", "hidden")
	id, _, out := serverOfOurs(t, cmd)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "hidden\n" {
		t.Fatal(line, err)
	}
	told, err := helper("link", "ask", id.String(), identityOf(t, os.Getpid()).String()).Output()
	if err != nil {
		t.Fatal(err, string(told))
	}
	lines := strings.Split(strings.TrimSpace(string(told)), "\n")
	if len(lines) != 3 {
		t.Fatalf("%q", told)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "false true ") {
			t.Error(line)
		}
	}
	if !strings.Contains(lines[0], "permission denied") {
		t.Error(lines[0])
	}
}

func TestLinksOfTheDead(t *testing.T) {
	dead := monitor.Identity{PID: unused(t), Start: 1}
	me := identityOf(t, os.Getpid())
	older := monitor.Identity{PID: me.PID, Start: me.Start - 1}
	for _, id := range []monitor.Identity{dead, older, {}} {
		_, _, err := linkWith(id, me)
		_, _, err2 := linkWith(me, id)
		_, err3 := (localEnds{id}).Closed(monitor.Pipe{})
		_, err4 := (localEnds{id}).Abandoned()
		for _, err := range []error{err, err2, err3, err4} {
			if !errors.Is(err, ErrGone) {
				t.Errorf("%v: %v", id, err)
			}
		}
	}
}
