package main

import (
	"os"
	"strconv"
	"time"
)

// lastWords is how long the keeper waits, when nothing of the server is left,
// for somebody else who holds the server's output, and for a launcher that does
// not read.
const lastWords = time.Second

// theirWords is the same where what people work in goes on, which often holds
// the output.
const theirWords = 100 * time.Millisecond

// reason is why a tree is ended. The greater one leaves it less time.
type reason int

const (
	asked      reason = iota // by a signal
	askedOwn                 // the keeper of a shim's own command, by a signal
	askedAbove               // the shim above that keeper, by a signal or because the client has gone
	orphaned                 // the background process, or the shim above us, has died
)

// keep runs one server to the end of everything that came of it, and returns
// the exit status.
func keep(o options) int {
	says := speak(os.Stdout)
	out := newOutput(o.dir)
	status := 0
	if err := run(o, out, says); err != nil {
		says.line("failed " + oneLine(err.Error()))
		status = 1
	}
	says.line("output " + quote(out.last(), maxLine-len("output \n")))
	says.close(lastWords)
	return status
}

// run starts the server and returns when nothing of it is left, or after its end
// was ordered, nothing but what people work in. An error says why it was not
// started.
func run(o options, out *output, says *speaker) error {
	reasons := make(chan reason, 1)
	onSignal(reasons)
	lock, err := openAlive(o.alive)
	if err != nil {
		return cannot("open the lock of the background process", o.alive, err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return cannot("make a pipe for the output of", o.command[0], err)
	}
	t, err := start(child{path: o.command[0], command: o.command, out: write, apart: true, spare: o.spare, server: serverIn(o.dir)})
	write.Close() // the server has its own
	if err != nil {
		read.Close()
		return err
	}
	says.line("started " + strconv.Itoa(t.first.pid) + " " + strconv.FormatUint(t.first.start, 10))
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		out.drain(read)
	}()
	go o.watchAlive(lock, reasons)
	gone, told, spared := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		t.wait(func(status string) {
			says.line("exited " + strconv.Itoa(t.first.pid) + " " + status)
			close(told)
		})
	}()
	go func() {
		defer close(spared)
		t.end(reasons)
	}()

	patience := lastWords
	select {
	case <-gone:
	case <-spared:
		<-told
		patience = theirWords
	}
	select {
	case <-drained:
	case <-time.After(patience):
		leaveDrain(read)
	}
	return nil
}
