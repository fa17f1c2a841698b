package dashboard

import (
	"math"
	"slices"
	"time"

	"lamplighter/monitor"
)

// History is how an instance went, in columns of one length, as uPlot takes
// them. Times ascend, and each is there once. What was not known is null. The
// last point is the newest that is known, at the time of the answer or of the
// end of the instance.
//
// A value holds until the next. Where one has held for longer than the
// resolution it is repeated right before it changes, so that lines from point
// to point invent no slope.
type History struct {
	ID         string     `json:"id"`
	Times      []int64    `json:"times"`     // seconds since the epoch
	RSSBytes   []*uint64  `json:"rss_bytes"` // of the whole tree
	CPUPercent []*float64 `json:"cpu_percent"`
	ToolCalls  []*int64   `json:"tool_calls"` // since the server began to count
}

// What is kept of an instance: half an hour of changes in detail and a day of
// them in outline. An instance that changes less often is kept in detail for
// longer.
const (
	fineStep    = 10 * time.Second
	finePoints  = int(30 * time.Minute / fineStep)
	outlineStep = 5 * time.Minute
	outlineSpan = 24 * time.Hour
	outlineMost = int(outlineSpan / outlineStep)
)

// series is the history of one instance. Make one with newSeries.
type series struct {
	outline, fine ring
	begun         bool
	last          point // the newest figures, and when they were first seen
}

func newSeries() *series {
	return &series{
		outline: ring{step: int64(outlineStep / time.Second), most: outlineMost},
		fine:    ring{step: int64(fineStep / time.Second), most: finePoints},
	}
}

// observe takes in the figures of a moment.
func (s *series) observe(p point) {
	held := s.last
	if !s.begun {
		held = p
	}
	s.outline.take(p, held)
	s.fine.take(p, held)
	switch {
	case !s.begun || !p.same(held):
		s.begun, s.last = true, p
	case p.at < held.at: // the clock was set back
		s.last.at = p.at
	}
}

// join is the whole series until then: the outline, and from where the details
// begin those. The newest figures are its end.
func (s *series) join(until int64) []point {
	if !s.begun {
		return nil
	}
	var points []point
	oldest := until - int64(outlineSpan/time.Second)
	add := func(p point, step int64) {
		p.at = max(p.at, oldest)
		if n := len(points); n > 0 {
			before := points[n-1]
			switch {
			case before.at >= p.at: // both are older than what is told
				points = points[:n-1]
			case p.at-before.at > 2*step && !p.same(before):
				before.at = p.at - 1
				points = append(points, before)
			}
		}
		points = append(points, p)
	}
	for i := range s.outline.n {
		if p := s.outline.get(i); p.at < s.fine.get(0).at {
			add(p, s.outline.step)
		}
	}
	for i := range s.fine.n {
		add(s.fine.get(i), s.fine.step)
	}
	if !s.last.same(s.fine.newest()) {
		add(s.last, s.fine.step)
	}
	now := s.last
	if now.at = max(until, now.at); now.at > points[len(points)-1].at {
		add(now, s.fine.step)
	}
	return points
}

// pointOf is what a snapshot says of an instance.
func pointOf(in *monitor.Instance, at time.Time) point {
	p := point{at: at.Unix(), rss: in.RSSBytes, cpu: noCPU, calls: noCalls}
	if c := in.CPUPercent; c != nil && *c >= 0 && !math.IsInf(*c, 0) {
		p.cpu = *c
	}
	if n := in.ToolCalls; n != nil && *n >= 0 {
		p.calls = *n
	}
	return p
}

// unknown is the point of one of whom nothing is known.
func unknown(at time.Time) point {
	return point{at: at.Unix(), rss: noRSS, cpu: noCPU, calls: noCalls}
}

// columns puts points into the form of the wire.
func columns(id monitor.Identity, points []point) History {
	h := History{
		ID:         id.String(),
		Times:      make([]int64, len(points)),
		RSSBytes:   make([]*uint64, len(points)),
		CPUPercent: make([]*float64, len(points)),
		ToolCalls:  make([]*int64, len(points)),
	}
	points = slices.Clone(points) // what the columns point to
	for i := range points {
		p := &points[i]
		h.Times[i] = p.at
		if p.rss != noRSS {
			h.RSSBytes[i] = &p.rss
		}
		if p.cpu != noCPU {
			h.CPUPercent[i] = &p.cpu
		}
		if p.calls != noCalls {
			h.ToolCalls[i] = &p.calls
		}
	}
	return h
}
