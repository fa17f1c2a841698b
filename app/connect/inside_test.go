package main

import (
	"bytes"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"lamplighter/app/share/wire"
)

// inside is a shim in the test's own process.
type inside struct {
	s      *shim
	in     *io.PipeWriter
	status chan int

	mu      sync.Mutex
	printed []string
	ended   bool
}

// newInside makes a shim that is not yet connected.
func newInside(l limits, dial func() (link, error)) *inside {
	read, write := io.Pipe()
	i := &inside{s: newShim(l), in: write, status: make(chan int, 16)}
	i.s.read = read.Read
	i.s.dial = func() (link, error) {
		i.mu.Lock()
		ended := i.ended
		i.mu.Unlock()
		if ended {
			runtime.Goexit() // as the whole process would
		}
		return dial()
	}
	i.s.complain = func(string) {}
	i.s.closed = func() bool { return false }
	i.s.print = func(p []byte) error {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.printed = append(i.printed, strings.TrimSuffix(string(p), "\n"))
		return nil
	}
	i.s.exit = func(status int) {
		i.mu.Lock()
		i.ended = true
		i.mu.Unlock()
		i.status <- status
		read.Close()
		runtime.Goexit()
	}
	return i
}

// serve runs it, and returns when it has ended.
func (i *inside) serve() {
	l, _, _, f, err := i.s.first()
	if err != nil {
		i.status <- exitUnavailable
		return
	}
	i.s.exit(i.s.serve(l, f))
}

func (i *inside) lines() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.printed)
}

// TestWhereverItIsCut: the background process dies again and again, in the
// middle of what it says or between; no line is lost without an error, and
// none is carried out or answered twice.
func TestWhereverItIsCut(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := newFake(t)
		defer f.close()
		quick := usual
		quick.firstWait, quick.lastWait = time.Millisecond, time.Millisecond
		i := newInside(quick, func() (link, error) { return dialSocket(f.path) })
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			i.serve()
		}()
		asks := rapid.SliceOfN(rapid.Bool(), 1, 30).Draw(r, "which lines are requests")
		written := make(chan struct{})
		finish := make(chan struct{})
		go func() {
			defer close(written)
			for n, ask := range asks {
				line := `{"method":"notifications/` + strconv.Itoa(n+1) + `"}`
				if ask {
					line = request(n + 1)
				}
				if _, err := io.WriteString(i.in, line+"\n"); err != nil {
					t.Error(err)
				}
			}
			<-finish
			i.in.Close()
		}()
		accepted := 0 // lines, in all
		answered := map[int]bool{}
		for cuts := rapid.IntRange(0, 6).Draw(r, "cuts"); cuts >= 0; cuts-- {
			conn, _ := f.welcome(wire.Shared, "")
			var open []int
			steps := 2 * len(asks)
			if cuts > 0 {
				steps = rapid.IntRange(0, steps).Draw(r, "steps")
			}
			for range steps {
				if len(open) > 0 && (accepted == len(asks) || rapid.Bool().Draw(r, "answer")) {
					at := rapid.IntRange(0, len(open)-1).Draw(r, "which")
					id := open[at]
					open = slices.Delete(open, at, at+1)
					answered[id] = true
					conn.send(wire.Deliver, uint64(id), result(id))
				} else if accepted < len(asks) {
					accepted++
					if asks[accepted-1] {
						open = append(open, accepted)
					}
					conn.accept(uint64(accepted))
				}
			}
			if cuts == 0 {
				for _, id := range open {
					answered[id] = true
					conn.send(wire.Deliver, uint64(id), result(id))
				}
				close(finish)
				if status := <-i.status; status != 0 {
					r.Errorf("exit status %d", status)
				}
				conn.close()
				break
			}
			if accepted < len(asks) && rapid.Bool().Draw(r, "it has read one more") {
				conn.want(wire.Line, uint64(accepted+1))
			}
			frame := wire.AppendHeader(nil, wire.Header{Type: wire.Deliver, Seq: 1, Length: 10})
			frame = append(frame, "half an an"...)
			half := rapid.IntRange(0, len(frame)-1).Draw(r, "bytes of an answer")
			_, _ = conn.conn.Write(frame[:half])
			conn.close()
		}
		<-written
		<-ended
		got := i.lines()
		for n, ask := range asks {
			id := n + 1
			want := lost(id)
			if answered[id] {
				want = result(id)
			}
			count := 0
			for _, line := range got {
				if line == want {
					count++
				}
			}
			if ask && count != 1 {
				r.Errorf("%d lines answer %d", count, id)
			}
		}
		if want := countTrue(asks); len(got) != want {
			r.Errorf("%d lines for %d requests: %q", len(got), want, got)
		}
	})
}

func countTrue(list []bool) int {
	n := 0
	for _, is := range list {
		if is {
			n++
		}
	}
	return n
}

// talker is a link to a background process that takes what it gets, and says
// what the test has it say.
type talker struct {
	says  *io.PipeReader
	say   *io.PipeWriter
	stuck chan struct{} // until it is closed it takes only what comes first; nil: it takes all

	mu  sync.Mutex
	got bytes.Buffer
}

func newTalker() *talker {
	t := &talker{}
	t.says, t.say = io.Pipe()
	return t
}

func (t *talker) read(p []byte) (int, error) { return t.says.Read(p) }

func (t *talker) write(p []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stuck != nil && t.got.Len() > 0 {
		<-t.stuck
		return io.ErrClosedPipe
	}
	t.got.Write(p)
	return nil
}

func (t *talker) endWriting() {}
func (t *talker) hangUp()     { t.say.Close() }
func (t *talker) close()      {}

// frame says something.
func (t *talker) frame(kind wire.Type, seq uint64, payload string) {
	frame := wire.AppendHeader(nil, wire.Header{Type: kind, Seq: seq, Length: len(payload)})
	_, _ = t.say.Write(append(frame, payload...))
}

// sent are the numbers of the lines that it got.
func (t *talker) sent() (lines []uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := t.got.Bytes()
	for len(rest) > 0 {
		h, err := wire.ParseHeader(rest)
		if err != nil {
			panic(err)
		}
		if h.Type == wire.Line || h.Type == wire.Long {
			lines = append(lines, h.Seq)
		}
		rest = rest[wire.HeaderLength+h.Length:]
	}
	return lines
}

// talking starts a shim in a bubble, connected to the first of some background
// processes. The others come as the test sends them.
func talking(l limits) (*inside, *talker, chan *talker) {
	return talkingTo(l, newTalker())
}

func talkingTo(l limits, first *talker) (*inside, *talker, chan *talker) {
	others := make(chan *talker, 1)
	others <- first
	i := newInside(l, func() (link, error) {
		select {
		case next := <-others:
			return next, nil
		default:
			return nil, io.EOF
		}
	})
	go i.serve()
	first.frame(wire.Welcome, 0, "S")
	synctest.Wait()
	return i, first, others
}

func (i *inside) write(text string) {
	if _, err := io.WriteString(i.in, text); err != nil {
		panic(err)
	}
	synctest.Wait()
}

// leave ends what still runs in a bubble.
func (i *inside) leave(talkers ...*talker) {
	for _, t := range talkers {
		t.frame(wire.Bye, 0, "\x00")
		t.hangUp()
	}
	i.in.Close()
	synctest.Wait()
	time.Sleep(2 * time.Minute) // of the bubble: all limits
}
