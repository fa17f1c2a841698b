//go:build unix

package workspace

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// witness reports whether a signal that we have got was sent to all of our process
// group, as a terminal does, or to us alone: a process in the group that ends with
// such a signal. Go does not tell who has sent one.
type witness struct {
	hold  io.Closer     // it ends when this is closed
	gone  chan struct{} // closed: none runs
	ended monitor.Bell  // rings when last has changed

	mu   sync.Mutex
	last time.Time // when a signal ended one
}

// together is how far apart two processes learn of a signal that was sent to both,
// at most.
const together = time.Second

// watchGroup starts a witness. It is nil where none is needed, without a terminal,
// and where none can be started.
func watchGroup() *witness {
	terminal, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	terminal.Close()
	// It ends with us, whatever ends us: it holds the end of the pipe that reads.
	read, hold, err := os.Pipe()
	if err != nil {
		return nil
	}
	first, err := bystander(read)
	if err != nil {
		read.Close()
		hold.Close()
		return nil
	}
	w := &witness{hold: hold, gone: make(chan struct{}), ended: monitor.NewBell()}
	go w.run(first, read)
	return w
}

// bystander is a process that a signal of the terminal ends, or its input, and that
// leaves no image of its memory. It has no trap: a shell that gets a signal just before
// it reads would run that only when it has read.
func bystander(input *os.File) (*exec.Cmd, error) {
	cmd := exec.Command("/bin/sh", "-c", "ulimit -c 0; read -r line")
	cmd.Dir, cmd.Env, cmd.Stdin = "/", []string{}, input
	return cmd, cmd.Start()
}

// run has one process after the other be the witness, until one ends otherwise.
func (w *witness) run(cmd *exec.Cmd, input *os.File) {
	defer close(w.gone)
	defer input.Close()
	for {
		_ = cmd.Wait() // its status tells
		w.mu.Lock()
		w.last = time.Now()
		w.mu.Unlock()
		switch exitStatus(cmd.ProcessState) {
		case 128 + int(unix.SIGINT), 128 + int(unix.SIGQUIT):
		default:
			return
		}
		w.ended.Ring()
		var err error
		if cmd, err = bystander(input); err != nil {
			return
		}
	}
}

// hasGot reports whether the group has got the signal that we got now. What nobody
// can tell is taken for one of the terminal.
func (w *witness) hasGot(now time.Time) bool {
	if w == nil {
		return true
	}
	late := time.NewTimer(together)
	defer late.Stop()
	for {
		w.mu.Lock()
		near := now.Sub(w.last) < together
		w.mu.Unlock()
		if near {
			return true
		}
		select {
		case <-w.ended:
		case <-w.gone:
			return true
		case <-late.C:
			return false
		}
	}
}

// stop ends the witness.
func (w *witness) stop() {
	if w == nil {
		return
	}
	w.hold.Close()
	<-w.gone
}
