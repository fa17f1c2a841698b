package payload

import (
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
)

// Kept is what of a Budget no body longer than Max gets, in bytes, so that a few
// long ones never keep the short ones out.
const Kept = 64 << 20

// Once no body this long has been handed on for a while, memory goes back to the
// system.
const (
	freeAbove = 4 << 20
	freeAfter = 10 * time.Second
)

// ErrFull is that a Budget has no room for a body: status 503.
var ErrFull = errors.New("the bodies of other requests fill the memory that there is for them; send this again in a few seconds, or send less at once")

// Budget bounds the bytes of all bodies that are in flight: each counts from when
// it is read until its request was answered. It is safe for concurrent use.
type Budget struct {
	most int64
	free func()

	mu    sync.Mutex
	taken int64
	quiet *time.Timer // frees memory; nil before the first long body
}

// NewBudget returns a Budget of that many bytes, Kept included.
func NewBudget(most int64) *Budget { return &Budget{most: most, free: debug.FreeOSMemory} }

// Handler has the requests of h share the budget. Reading a body that does not fit
// fails with ErrFull.
func (b *Budget) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body := &counted{ReadCloser: req.Body, budget: b}
		if req.ContentLength <= b.most-Kept { // what can never fit is too long for whoever reads it, too, who says so
			body.length = req.ContentLength
		}
		defer body.handedOn()
		counting := *req
		counting.Body = body
		h.ServeHTTP(w, &counting)
	})
}

// counted is a body that takes its bytes from a budget: all at once when its
// length is known, else as they come.
type counted struct {
	io.ReadCloser
	budget *Budget
	length int64 // 0 or less when it is not known
	read   int64
	taken  int64
}

func (c *counted) Read(p []byte) (n int, err error) {
	if err := c.take(c.length); err != nil {
		return 0, err
	}
	n, err = c.ReadCloser.Read(p)
	c.read += int64(n)
	if err := c.take(c.read); err != nil {
		return 0, err
	}
	return n, err
}

// take has the body hold that many bytes of the budget, unless it holds more.
func (c *counted) take(length int64) error {
	if length <= c.taken {
		return nil
	}
	b := c.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if !fits(b.most, b.taken-c.taken, length) {
		return ErrFull
	}
	b.taken += length - c.taken
	c.taken = length
	return nil
}

// fits reports whether a body of that length has room beside what others have
// taken.
func fits(most, others, length int64) bool {
	if length > Max {
		most -= Kept
	}
	return others+length <= most
}

// handedOn gives back what the body has taken.
func (c *counted) handedOn() {
	b := c.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= c.taken
	switch {
	case c.taken < freeAbove:
	case b.quiet == nil:
		b.quiet = time.AfterFunc(freeAfter, b.free)
	default:
		b.quiet.Reset(freeAfter)
	}
}
