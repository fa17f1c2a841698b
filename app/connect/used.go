package main

// used is memory for short texts that is used again. Without it each line would
// be garbage, of which a program as small as this one keeps more than all else.
type used struct{ free [][]byte }

// What is kept at most. Short ones are as long as most are, so that each fits.
const (
	usedLength = 4 << 10
	usedCount  = 16
	usedLeast  = 512
)

// take returns an empty text with room for size bytes.
func (u *used) take(size int) []byte {
	for i := len(u.free) - 1; i >= 0; i-- {
		if p := u.free[i]; cap(p) >= size {
			last := len(u.free) - 1
			u.free[i] = u.free[last]
			u.free[last] = nil
			u.free = u.free[:last]
			return p[:0]
		}
	}
	return make([]byte, 0, max(size, usedLeast))
}

// put gives back a text that nobody uses any more.
func (u *used) put(p []byte) {
	if cap(p) <= usedLength && len(u.free) < usedCount {
		u.free = append(u.free, p)
	}
}
