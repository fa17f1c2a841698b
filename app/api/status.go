package api

import (
	"net/http"
	"os"
	"time"

	"lamplighter/app/dashboard"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// Status is the body of GET /global-dashboard/status, and of the events of that
// name: lamplighter itself, and what one snapshot does not tell.
type Status struct {
	Version        string            `json:"version"`
	PID            int               `json:"pid"`
	StartedAt      *time.Time        `json:"started_at"`
	Address        *string           `json:"address"`  // of the page; null while it is not served
	Warnings       []string          `json:"warnings"` // what the user should know, one sentence each
	Ended          []dashboard.Ended `json:"ended"`    // newest last
	GivenBackBytes uint64            `json:"given_back_bytes"`
	GivenBackSince *time.Time        `json:"given_back_since"`
	Policy         monitor.Policy    `json:"policy"`
}

func (r routes) status(w http.ResponseWriter, _ *http.Request) {
	r.answer(w, http.StatusOK, r.statusNow(r.parts.Recorder.Ended()))
}

// statusNow is what is so now, with a list of ended instances.
func (r routes) statusNow(ended []dashboard.Ended) Status {
	s := r.parts.Source.Snapshot()
	status := Status{
		Version:   r.parts.Version,
		PID:       os.Getpid(),
		StartedAt: view.Moment(r.startedAt),
		Warnings:  append([]string{}, s.Warnings...),
		Ended:     ended,
		Policy:    policyOf(s),
	}
	if r.parts.Address != nil {
		status.Address = view.Known(r.parts.Address())
	}
	if r.parts.GivenBack != nil {
		bytes, since := r.parts.GivenBack()
		status.GivenBackBytes, status.GivenBackSince = bytes, view.Moment(since)
	}
	return status
}
