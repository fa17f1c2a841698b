package launch

import (
	"context"
	"sync"
	"time"

	"lamplighter/monitor/plainfile"
)

const (
	// verdictFor is how long a good verdict holds. The files it depends on are
	// known, but not all of them: what uvx would run changes elsewhere.
	verdictFor = 24 * time.Hour
	// failureFor is how long a bad one holds: what was missing may come any moment.
	failureFor   = 30 * time.Second
	mostVerdicts = 64
)

// verdicts remembers what checks have found, good news also on disk. It is safe
// for concurrent use.
type verdicts struct {
	path string // empty: in memory only
	now  func() time.Time

	mu     sync.Mutex
	loaded bool
	known  map[string]remembered
	busy   map[string]chan struct{} // closed when the check of that key is done
}

type remembered struct {
	verdict Verdict
	at      time.Time
}

func newVerdicts(path string, now func() time.Time) *verdicts {
	return &verdicts{path: path, now: now, known: map[string]remembered{}, busy: map[string]chan struct{}{}}
}

// take waits until nobody else checks the same, so that many who want it at once
// run it once. The error is that of ctx.
func (s *verdicts) take(ctx context.Context, key string) (release func(), err error) {
	for {
		s.mu.Lock()
		other, taken := s.busy[key]
		if !taken {
			done := make(chan struct{})
			s.busy[key] = done
			s.mu.Unlock()
			return func() {
				s.mu.Lock()
				delete(s.busy, key)
				s.mu.Unlock()
				close(done)
			}, nil
		}
		s.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *verdicts) get(key string) (Verdict, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		s.loaded = true
		if s.path != "" {
			_ = plainfile.Sweep(s.path) // it is in nobody's way
		}
		s.merge(loadVerdicts(s.path))
	}
	r, ok := s.known[key]
	if !ok || !r.fresh(s.now()) {
		return Verdict{}, false
	}
	return r.verdict, true
}

func (s *verdicts) put(key string, v Verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[key] = remembered{verdict: v, at: s.now()}
	s.prune()
	if v.OK && s.path != "" {
		// Another process may have added to it meanwhile.
		s.merge(loadVerdicts(s.path))
		_ = saveVerdicts(s.path, s.known) // it is asked again next time
	}
}

func (r remembered) fresh(now time.Time) bool {
	limit := failureFor
	if r.verdict.OK {
		limit = verdictFor
	}
	age := now.Sub(r.at)
	return age >= 0 && age < limit
}

// merge adds what is on disk and not known better.
func (s *verdicts) merge(disk map[string]remembered) {
	for key, r := range disk {
		if mine, ok := s.known[key]; !ok || mine.at.Before(r.at) {
			s.known[key] = r
		}
	}
	s.prune()
}

func (s *verdicts) prune() {
	now := s.now()
	for key, r := range s.known {
		if !r.fresh(now) {
			delete(s.known, key)
		}
	}
	for len(s.known) > mostVerdicts {
		oldest := ""
		for key, r := range s.known {
			if oldest == "" || r.at.Before(s.known[oldest].at) {
				oldest = key
			}
		}
		delete(s.known, oldest)
	}
}
