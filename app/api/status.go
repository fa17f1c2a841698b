package api

import (
	"net/http"
	"os"
	"slices"
	"time"

	"lamplighter/app/dashboard"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// Status is the body of GET /global-dashboard/status, and of the events of that
// name: lamplighter itself, and what one snapshot does not tell.
type Status struct {
	Version        string     `json:"version"`
	PID            int        `json:"pid"`
	StartedAt      *time.Time `json:"started_at"`
	Address        *string    `json:"address"`  // of the page; null while it is not served
	Warnings       []string   `json:"warnings"` // what the user should know, one sentence each
	Ended          []Ended    `json:"ended"`    // newest last
	GivenBackBytes uint64     `json:"given_back_bytes"`
	GivenBackSince *time.Time `json:"given_back_since"`
	Policy         Policy     `json:"policy"`
}

// Ended is an instance that has ended, as it last was.
type Ended struct {
	Instance view.Server `json:"instance"`
	EndedAt  *time.Time  `json:"ended_at"`
	Why      string      `json:"why"`
}

func (r routes) status(w http.ResponseWriter, _ *http.Request) {
	r.answer(w, http.StatusOK, r.statusOf(r.facts(r.parts.Recorder.Ended())))
}

// facts are what may change of a Status.
type facts struct {
	address   string
	warnings  []string
	ended     []dashboard.Ended
	givenBack uint64
	since     time.Time
	policy    monitor.Policy
}

// facts gathers what is so now, with a list of ended instances.
func (r routes) facts(ended []dashboard.Ended) facts {
	s := r.parts.Source.Snapshot()
	f := facts{warnings: s.Warnings, ended: ended, policy: s.Policy}
	if r.parts.Address != nil {
		f.address = r.parts.Address()
	}
	if r.parts.Returned != nil {
		f.givenBack, f.since = r.parts.Returned.GivenBack()
	}
	return f
}

func (f facts) same(g facts) bool {
	return f.address == g.address && f.givenBack == g.givenBack && f.since.Equal(g.since) && slices.Equal(f.warnings, g.warnings) &&
		samePolicy(&f.policy, &g.policy) &&
		slices.EqualFunc(f.ended, g.ended, func(a, b dashboard.Ended) bool {
			return a.Instance.Identity == b.Instance.Identity && a.At.Equal(b.At) && a.Why == b.Why
		})
}

func (r routes) statusOf(f facts) Status {
	s := Status{
		Version:        r.parts.Version,
		PID:            os.Getpid(),
		StartedAt:      view.Moment(r.startedAt),
		Address:        view.Known(f.address),
		Warnings:       append([]string{}, f.warnings...),
		Ended:          make([]Ended, len(f.ended)),
		GivenBackBytes: f.givenBack,
		GivenBackSince: view.Moment(f.since),
		Policy:         encodePolicy(&f.policy),
	}
	for i := range f.ended {
		e := &f.ended[i]
		s.Ended[i] = Ended{Instance: view.Of(&e.Instance).Sent(e.At), EndedAt: view.Moment(e.At), Why: e.Why}
	}
	return s
}
