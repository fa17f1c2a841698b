// Package api is the HTTP interface: the wire types, the routes, the two places
// where they are served (the control socket for our own programs, a port of
// 127.0.0.1 for browsers), the guard of each, and the client that the verbs
// use.
//
// What an instance is lives in monitor, and who keeps track of them in
// monitor/watch; this package only carries their snapshots. The page, and what
// instances themselves answer, are app/dashboard's. What `show` means is handed
// in.
package api

import (
	"math"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
)

// Instances is the body of GET /global-dashboard/instances and of each event
// of the stream.
type Instances struct {
	Instances []Instance `json:"instances"`
}

// Instance is one server on the wire. What is not known is null, never a
// made-up zero; a list is never null. Times are RFC 3339 in UTC.
type Instance struct {
	ID            string        `json:"id"`
	PID           *int          `json:"pid"`  // null while parked
	Port          *int          `json:"port"` // of the dashboard
	Kind          string        `json:"kind"`
	Label         string        `json:"label"`
	ProjectName   *string       `json:"project_name"`
	ProjectRoot   *string       `json:"project_root"`
	Context       *string       `json:"context"`
	Modes         []string      `json:"modes"`
	Version       *string       `json:"version"`
	State         monitor.State `json:"state"`
	Cause         *string       `json:"cause"` // only of a zombie
	Reason        *string       `json:"reason"`
	StartedAt     *time.Time    `json:"started_at"`
	LastHeartbeat *time.Time    `json:"last_heartbeat"`
	LastActivity  *time.Time    `json:"last_activity"`
	Busy          *bool         `json:"busy"`
	IdleSeconds   *int64        `json:"idle_seconds"` // when the answer was made
	IdleSince     *time.Time    `json:"idle_since"`   // at least; null while it is at work or that is not known
	ShutdownAt    *time.Time    `json:"shutdown_at"`  // null: no shutdown is planned
	// ShutdownReason is why it is planned, a part of a sentence: "no call for 30 min".
	ShutdownReason *string    `json:"shutdown_reason"`
	KeptUntil      *time.Time `json:"kept_until"` // no policy ends it before; null: not kept
	ToolCalls      *int64     `json:"tool_calls"`
	RSSBytes       *uint64    `json:"rss_bytes"`   // of the whole tree
	CPUPercent     *float64   `json:"cpu_percent"` // of one core, the whole tree
	Processes      *int       `json:"processes"`
	Client         *ClientOf  `json:"client"`
	Transport      *string    `json:"transport"`   // of its clients: "stdio", "http" or "sse"
	ClientGone     bool       `json:"client_gone"` // it was seen to end
	// Orphaned says that nobody holds the other end of its connection any more.
	Orphaned     bool       `json:"orphaned"`
	AloneSince   *time.Time `json:"alone_since"` // since when nobody seems to; null while somebody does
	DashboardURL *string    `json:"dashboard_url"`
	MCPURL       *string    `json:"mcp_url"`
	Managed      bool       `json:"managed"`
	SharedBy     *int       `json:"shared_by"` // how many clients have it through us; null: it is not shared
	Clients      []ClientOf `json:"clients"`   // that have it through us, in the order in which they came
	Waiting      *int       `json:"waiting"`   // their requests that are not answered yet; null: it has no such clients
	// AloneBecause says why a server that a client has through us is its alone, a
	// part of a sentence; null of every other.
	AloneBecause *string `json:"alone_because"`
	SavedBytes   *uint64 `json:"saved_bytes"` // that separate servers would need besides
	Pinned       bool    `json:"pinned"`
	// Recognised is there, and false, only of what merely registered itself,
	// or of what a client has for itself and no rule knows.
	Recognised *bool `json:"recognised,omitempty"`
}

// ClientOf is a client of an instance: the program that started it, or one that has
// it through us.
type ClientOf struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

// Health is the body of GET /health.
type Health struct {
	Status   string   `json:"status"`  // "ok"
	Program  string   `json:"program"` // Program
	Version  string   `json:"version"`
	PID      int      `json:"pid"`
	Ready    bool     `json:"ready"`    // the first look at the servers is complete
	Seq      uint64   `json:"seq"`      // the number of the newest snapshot, 0 before the first
	Warnings []string `json:"warnings"` // what the user should know, one sentence each
}

// Program is how our background process names itself in Health.
const Program = "lamplighter"

// IsProgram tells whether an executable is self, under whatever name, or bears the name
// of one that can be our background process: on Windows that has a name of its own. The
// executable of a process of another user, "", is not.
func IsProgram(exe, self string) bool {
	if exe == "" {
		return false
	}
	name := monitor.ProgramName(exe)
	return exe == self || name == Program || name == Program+"-tray"
}

// Shown is the answer to POST /show: the address that was opened, or null and
// the reason.
type Shown struct {
	URL    *string `json:"url"`
	Reason *string `json:"reason"`
}

// Events is the body of GET /global-dashboard/events: newest last.
type Events struct {
	Events []monitor.Event `json:"events"`
}

// KillOrder is the body of POST /global-dashboard/instance/ID/kill; without a
// body it is the zero value.
type KillOrder struct {
	Force   bool  `json:"force"`   // refuse only what can never be ended
	DryRun  bool  `json:"dry_run"` // say what would be done
	Protect []int `json:"protect"` // pids that must not be ended, nor their ancestors
	// Rule says what the order is for, idle or orphans: a server that is not just
	// before its end is left alone, also with Force. "" is for this server.
	Rule policy.What `json:"rule,omitempty"`
}

// Killed is the answer to a KillOrder, whatever came of it: with status 200
// when the instance has ended or a dry run met no objection, 409 when that was
// refused, 404 when there is no such instance, 502 when something of it still
// runs, 500 when nothing could be done.
type Killed struct {
	Error      string          `json:"error,omitempty"` // not with status 200
	Outcome    stop.Outcome    `json:"outcome"`
	Detail     string          `json:"detail"` // whole sentences
	Steps      []monitor.Event `json:"steps"`
	Processes  int             `json:"processes"`           // how many ended, or would
	FreedBytes uint64          `json:"freed_bytes"`         // resident memory they had
	Forceable  bool            `json:"forceable,omitempty"` // refused, but the user may insist
}

// Failure is the body of every answer that is not a success.
type Failure struct {
	Error string `json:"error"`
}

// Encode turns a snapshot into its wire form; now is the moment of the answer.
func Encode(s *monitor.Snapshot, now time.Time) Instances {
	list := make([]Instance, len(s.Instances))
	for i := range s.Instances {
		list[i] = encode(&s.Instances[i], now)
	}
	return Instances{Instances: list}
}

func encode(in *monitor.Instance, now time.Time) Instance {
	w := Instance{
		ID:             in.ID(),
		Port:           known(in.Port),
		Kind:           in.Kind,
		Label:          in.Label(),
		ProjectName:    known(in.ProjectName),
		ProjectRoot:    known(in.ProjectRoot),
		Context:        known(in.Context),
		Modes:          append([]string{}, in.Modes...),
		Version:        known(in.Version),
		State:          in.State,
		Cause:          known(string(in.Cause)),
		Reason:         known(in.Reason),
		StartedAt:      moment(in.StartedAt),
		LastHeartbeat:  moment(in.LastHeartbeat),
		LastActivity:   moment(in.LastActivity),
		Busy:           in.Busy,
		IdleSince:      moment(in.Evidence.IdleSince),
		ShutdownAt:     moment(in.Plan.ShutdownAt),
		ShutdownReason: known(in.Plan.Reason),
		KeptUntil:      moment(in.Plan.KeptUntil),
		ToolCalls:      in.ToolCalls,
		RSSBytes:       known(in.RSSBytes),
		CPUPercent:     number(in.CPUPercent),
		Processes:      known(in.Processes),
		Transport:      known(in.Evidence.Transport),
		ClientGone:     in.Evidence.ClientGone,
		Orphaned:       in.Evidence.Orphaned,
		AloneSince:     moment(in.Evidence.AloneSince),
		DashboardURL:   known(in.DashboardURL),
		MCPURL:         known(in.MCPURL),
		Managed:        in.Managed,
		Clients:        []ClientOf{},
		Pinned:         in.Pinned,
	}
	if s := in.Sharing; s != nil {
		w.share(s)
	}
	if in.State != monitor.StateParked {
		w.PID = known(in.Identity.PID)
	}
	if !in.Recognised {
		w.Recognised = &in.Recognised
	}
	if idle, ok := in.Idle(now); ok {
		seconds := int64(idle / time.Second)
		w.IdleSeconds = &seconds
	}
	if in.Client != nil {
		w.Client = &ClientOf{PID: in.Client.PID, Name: in.Client.Name}
	}
	return w
}

// share puts what is known of an instance's clients on the wire.
func (w *Instance) share(s *monitor.Sharing) {
	w.Waiting, w.AloneBecause, w.SavedBytes = &s.Waiting, known(s.Alone), known(s.SavedBytes)
	for _, c := range s.Clients {
		w.Clients = append(w.Clients, ClientOf{PID: c.PID, Name: c.Name})
	}
	if s.Alone == "" {
		w.SharedBy = new(len(s.Clients))
	}
}

// sharing is the inverse of share, nil for an instance without such clients.
func (w *Instance) sharing() *monitor.Sharing {
	if w.SharedBy == nil && w.AloneBecause == nil {
		return nil
	}
	s := &monitor.Sharing{Waiting: value(w.Waiting), Alone: value(w.AloneBecause), SavedBytes: value(w.SavedBytes)}
	for _, c := range w.Clients {
		s.Clients = append(s.Clients, monitor.Client{Identity: monitor.Identity{PID: c.PID}, Name: c.Name})
	}
	return s
}

// Decode is the inverse of Encode, as far as the wire carries it: the start
// identity of a client is not on it, and at is the moment of the answer.
// Instances whose id cannot be read are left out.
func Decode(w Instances, at time.Time) *monitor.Snapshot {
	s := &monitor.Snapshot{At: at, Instances: make([]monitor.Instance, 0, len(w.Instances))}
	for i := range w.Instances {
		in := &w.Instances[i]
		id, err := monitor.ParseIdentity(in.ID)
		if err != nil {
			continue
		}
		m := monitor.Instance{
			Identity:      id,
			Kind:          in.Kind,
			Port:          value(in.Port),
			DashboardURL:  value(in.DashboardURL),
			MCPURL:        value(in.MCPURL),
			ProjectName:   value(in.ProjectName),
			ProjectRoot:   value(in.ProjectRoot),
			Context:       value(in.Context),
			Modes:         in.Modes,
			Version:       value(in.Version),
			State:         in.State,
			Cause:         monitor.Cause(value(in.Cause)),
			Reason:        value(in.Reason),
			StartedAt:     value(in.StartedAt),
			LastHeartbeat: value(in.LastHeartbeat),
			LastActivity:  value(in.LastActivity),
			Busy:          in.Busy,
			ToolCalls:     in.ToolCalls,
			RSSBytes:      value(in.RSSBytes),
			CPUPercent:    in.CPUPercent,
			Processes:     value(in.Processes),
			Managed:       in.Managed,
			Sharing:       in.sharing(),
			Pinned:        in.Pinned,
			Recognised:    in.Recognised == nil || *in.Recognised,
			Evidence: monitor.Evidence{
				Transport: value(in.Transport), ClientGone: in.ClientGone, Orphaned: in.Orphaned, IdleSince: value(in.IdleSince),
				AloneSince: value(in.AloneSince),
			},
			Plan: monitor.Plan{ShutdownAt: value(in.ShutdownAt), Reason: value(in.ShutdownReason), KeptUntil: value(in.KeptUntil)},
		}
		if in.Client != nil {
			m.Client = &monitor.Client{Identity: monitor.Identity{PID: in.Client.PID}, Name: in.Client.Name}
		}
		s.Instances = append(s.Instances, m)
	}
	return s
}

// known is nil for a zero value: in the model, zero means unknown.
func known[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// moment is nil for a time that is unknown or that RFC 3339 cannot express.
func moment(t time.Time) *time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return nil
	}
	return &t
}

// number is nil for what JSON cannot express.
func number(f *float64) *float64 {
	if f == nil || math.IsNaN(*f) || math.IsInf(*f, 0) {
		return nil
	}
	return f
}
