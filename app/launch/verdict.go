package launch

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lamplighter/monitor/statefile"
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
	file statefile.File[map[string]remembered] // no path: in memory only
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
	return &verdicts{file: verdictsAt(path), now: now, known: map[string]remembered{}, busy: map[string]chan struct{}{}}
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
		if s.file.Path != "" {
			_ = statefile.Sweep(s.file.Path, statefile.Abandoned) // it is in nobody's way
		}
		s.load()
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
	if !v.OK || s.file.Path == "" {
		return
	}
	// Another process may have added to it meanwhile.
	s.load()
	// Who only asks makes no directory.
	if _, err := os.Stat(filepath.Dir(s.file.Path)); err == nil {
		_ = s.file.Write(s.known) // it is asked again next time
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

// load adds what is on disk and not known better. A file that is no such file is worth
// nothing: everything is asked again then.
func (s *verdicts) load() {
	if s.file.Path == "" {
		return
	}
	disk, _ := s.file.Read()
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
