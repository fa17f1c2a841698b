// Package apptest has what the tests of the application's packages share.
//
// What stands in for a server is app/mcptest's, real servers are
// monitor/serena/serenatest's, and a browser is app/browsertest's. Only tests
// import any of them.
package apptest

import (
	"bytes"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// patience is how long a test waits before it gives up; no test measures time.
const patience = 2 * time.Minute

// Eventually waits until ok, which it asks ever less often: where that starts a
// process, what is waited for has the machine to itself in between.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for pause := 2 * time.Millisecond; !ok(); pause = min(pause*5/4, 50*time.Millisecond) {
		select {
		case <-deadline:
			t.Fatal("never happened: " + what)
		case <-time.After(pause):
		}
	}
}

// Seed decides what a test draws by chance: another one each time, but for a run that is
// to be repeated.
func Seed(t testing.TB) uint64 {
	t.Helper()
	const variable = "LAMPLIGHTER_TEST_SEED"
	seed := rand.Uint64() >> 11 // exact in any program that reads it
	if text := os.Getenv(variable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
	}
	t.Logf("repeat it with %s=%d", variable, seed)
	return seed
}

// ports counts the ports that were handed out.
var ports atomic.Uint32

// FreePort is a port of 127.0.0.1 where nobody listens, for who will. No other test
// of this program gets it, and the system hands out none of these by itself, as it
// would one that it had chosen.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 19000 + int(ports.Add(1)%1000)
		if l, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// Contains checks that each part is in text.
func Contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

// Buffer may be read while it is written. The zero value is empty.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends to the buffer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String is everything that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
