package launch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
)

// actBackground is a background process: STATE KEEPER. For each line on its
// standard input, a lifetime, or LIFETIME:KIND, and the flags of a server, it
// starts one and says which processes that are. At the end of its input it ends.
func actBackground(args []string) int {
	l := New(Options{StateDir: args[0], Program: args[1]})
	l.finder = given{}
	if err := l.Open(context.Background()); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- l.Serve(ctx) }()
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		spec := order(words[1:]...)
		lifetime, kind, named := strings.Cut(words[0], ":")
		spec.Lifetime = Lifetime(lifetime)
		if named {
			spec.Template.Name = kind
		}
		s, err := l.Launch(ctx, spec)
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		fmt.Println("ready", s.ID(), s.ids.keeper, s.Identity(), s.Port())
	}
	cancel()
	<-served
	fmt.Println("ended")
	return 0
}

// background is such a process, from the test's side.
type background struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startBackground(t *testing.T, state string) *background {
	t.Helper()
	cmd := exec.Command(os.Args[0], helperArg, "background", state, keeperPath(t))
	cmd.Stderr = os.Stderr
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
	b := &background{cmd, in, bufio.NewScanner(out)}
	t.Cleanup(b.kill)
	return b
}

// startedServer is what a background process says of a server that it has started.
type startedServer struct {
	id             string
	keeper, server monitor.Identity
	port           int
}

func (b *background) launch(t *testing.T, line string) startedServer {
	t.Helper()
	fmt.Fprintln(b.in, line)
	if !b.out.Scan() {
		t.Fatal("the background process has ended")
	}
	var s startedServer
	var keeper, server string
	if _, err := fmt.Sscanf(b.out.Text(), "ready %s %s %s %d", &s.id, &keeper, &server, &s.port); err != nil {
		t.Fatalf("%q: %v", b.out.Text(), err)
	}
	var err error
	if s.keeper, err = monitor.ParseIdentity(keeper); err != nil {
		t.Fatal(err)
	}
	if s.server, err = monitor.ParseIdentity(server); err != nil {
		t.Fatal(err)
	}
	return s
}

// end lets it end as it likes to.
func (b *background) end(t *testing.T) {
	t.Helper()
	b.in.Close()
	if !b.out.Scan() || b.out.Text() != "ended" {
		t.Errorf("the background process said %q", b.out.Text())
	}
	_ = b.cmd.Wait()
}

// kill ends it without asking. It may be called more than once.
func (b *background) kill() {
	if b.cmd.ProcessState == nil {
		_ = b.cmd.Process.Kill()
		_ = b.cmd.Wait()
	}
}

// running returns a Launcher at work until the test ends, or until stop is
// called, which waits for its end.
func running(t testing.TB, state string, change func(*Launcher)) (l *Launcher, stop func()) {
	t.Helper()
	l = New(Options{StateDir: state, Program: keeperPath(t)})
	l.finder = given{}
	l.o.Limits.Linger = time.Second
	if change != nil {
		change(l)
	}
	if err := l.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l, serves(t, l)
}

// serves lets a Launcher work until the test ends, or until stop is called,
// which waits for its end.
func serves(t testing.TB, l *Launcher) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = l.Serve(ctx)
	}()
	stop = func() {
		cancel()
		<-served
	}
	t.Cleanup(stop)
	return stop
}
