package main

import (
	"os"
	"sync"
)

// maxLast is how much of the end of the output is kept in memory, in bytes.
const maxLast = 16 << 10

// output takes what the server prints.
type output struct {
	log logFile

	mu   sync.Mutex
	ring [maxLast]byte
	n    int // how much was written into the ring, ever
}

func newOutput(dir string) *output { return &output{log: logFile{dir: dir}} }

// drain reads to the end. It never waits for anything but the server, because
// then the server would wait for it.
func (o *output) drain(from *os.File) {
	o.log.open()
	defer o.log.close()
	var chunk [maxLast]byte
	for {
		n, err := from.Read(chunk[:])
		if err != nil {
			return
		}
		o.keep(chunk[:n])
		o.log.write(chunk[:n])
	}
}

// keep remembers p, which is no longer than the ring.
func (o *output) keep(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := o.n % maxLast
	copy(o.ring[:], p[copy(o.ring[at:], p):])
	o.n += len(p)
}

// last is the end of what the server has printed so far.
func (o *output) last() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n <= maxLast {
		return append([]byte(nil), o.ring[:o.n]...)
	}
	at := o.n % maxLast
	return append(append([]byte(nil), o.ring[at:]...), o.ring[:at]...)
}
