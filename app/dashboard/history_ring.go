package dashboard

// point is what is known of an instance at one moment. Points are compared, so
// what is not known has a value of its own instead of NaN or a pointer.
type point struct {
	at    int64 // seconds since the epoch
	rss   uint64
	cpu   float64
	calls int64
}

// What a point holds for a figure that is not known.
const (
	noRSS   = 0
	noCPU   = -1
	noCalls = -1
)

// same reports whether two points have the same figures, whenever they were.
func (p point) same(other point) bool {
	p.at = other.at
	return p == other
}

// ring keeps the newest points of one resolution. It samples a value that holds
// until the next: a point is added when at least step seconds have passed since
// the one before and something has changed. What is quiet takes no room, and is
// remembered for longer.
type ring struct {
	step   int64 // seconds
	most   int
	points []point // grows up to most
	first  int     // index of the oldest
	n      int
}

// firstRoom is the room for points that a ring begins with.
const firstRoom = 8

// get is the i-th point, the oldest being 0.
func (r *ring) get(i int) point { return r.points[(r.first+i)%len(r.points)] }

func (r *ring) newest() point { return r.get(r.n - 1) }

// take adds a point, if it is time for one. Until p.at the figures were those of
// held.
func (r *ring) take(p, held point) {
	for r.n > 0 && r.newest().at > p.at {
		r.n-- // the clock was set back
	}
	if r.n == 0 {
		r.push(p)
		return
	}
	// The figures changed too soon after the last point to get one then.
	if due := r.newest().at + r.step; held.at <= due && due < p.at && !held.same(r.newest()) {
		held.at = due
		r.push(held)
	}
	if p.at-r.newest().at >= r.step && !p.same(r.newest()) {
		r.push(p)
	}
}

func (r *ring) push(p point) {
	if r.n == len(r.points) && r.n < r.most {
		grown := make([]point, min(max(2*r.n, firstRoom), r.most))
		for i := range r.n {
			grown[i] = r.get(i)
		}
		r.points, r.first = grown, 0
	}
	if r.n == r.most {
		r.first = (r.first + 1) % r.most
		r.n--
	}
	r.n++
	r.points[(r.first+r.n-1)%len(r.points)] = p
}
