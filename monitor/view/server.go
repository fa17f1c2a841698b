// Package view is what faces show of servers and may order: facts, codes and
// words. Every sentence about a server, its state, its sharing, its plan and
// what happened to it is made here, once.
//
// All of it is pure. The view reads no clock and holds no running span: where a
// text needs a time it is a Phrase, and who draws it adds the clock. HTTP, menus,
// columns and who carries an order out are not known here.
package view

import (
	"math"
	"sync"
	"time"

	"lamplighter/monitor"
)

// Server is one server as faces show it and programs read it. What is not known is null, never a
// made-up zero; a list is never null. Times are RFC 3339 in UTC.
type Server struct {
	ID            ID            `json:"id"`
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
	Problem       *Problem      `json:"problem"`   // what its log, its queue or its sockets show; null: nothing
	Command       *string       `json:"command"`   // for people, without secrets
	Directory     *string       `json:"directory"` // in which it works
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
	// GivenUpSince is since when no list shows it, because it is dead to everybody.
	GivenUpSince *time.Time `json:"given_up_since"`
	ToolCalls    *int64     `json:"tool_calls"`
	RSSBytes     *uint64    `json:"rss_bytes"`   // of the whole tree
	CPUPercent   *float64   `json:"cpu_percent"` // of one core, the whole tree
	Processes    *int       `json:"processes"`
	Client       *Client    `json:"client"`
	Transport    *string    `json:"transport"`   // of its clients: "stdio", "http" or "sse"
	ClientGone   bool       `json:"client_gone"` // it was seen to end
	// Orphaned says that nobody holds the other end of its connection any more.
	Orphaned     bool       `json:"orphaned"`
	AloneSince   *time.Time `json:"alone_since"` // since when nobody seems to; null while somebody does
	DashboardURL *string    `json:"dashboard_url"`
	MCPURL       *string    `json:"mcp_url"`
	Managed      bool       `json:"managed"`
	SharedBy     *int       `json:"shared_by"` // how many clients have it through us; null: it is not shared
	Clients      []Client   `json:"clients"`   // that have it through us, in the order in which they came
	Waiting      *int       `json:"waiting"`   // their requests that are not answered yet; null: it has no such clients
	// AloneBecause says why a server that a client has through us is its alone, a
	// part of a sentence; null of every other.
	AloneBecause *string `json:"alone_because"`
	SavedBytes   *uint64 `json:"saved_bytes"` // that separate servers would need besides
	Pinned       bool    `json:"pinned"`
	// Certainty is "by_rule", "by_entry" (of its client's settings) or "unsure", which is
	// shown and never ended.
	Certainty monitor.Certainty `json:"certainty"`
	// OnPipes says of what is unsure that its client talks to it over pipes, and that
	// nothing else is known.
	OnPipes bool `json:"on_pipes"`
	// Restart is what becomes of its clients when it is restarted: "kept" or "lost"; null:
	// it cannot be.
	Restart *string `json:"restart"`
	Entry   *Entry  `json:"entry"` // of its client's settings, null when none is known
	Words   Words   `json:"words"` // their text may change in any release

	uncalled bool // it is known to have had no call
}

// Problem is what is wrong with a server that answers, or is only to be mentioned: then
// the server has no cause.
type Problem struct {
	Kind     *string    `json:"kind"`     // of the cause language_server, and "ended", "starting", "suspended"
	Language *string    `json:"language"` // of the language server
	Evidence []string   `json:"evidence"` // records of its log, or names of its calls
	Since    *time.Time `json:"since"`
	Order    *string    `json:"order"` // that helps: "restart_language_server" or "restart"
}

// Entry is the entry of a client's settings from which a server was started.
type Entry struct {
	Name   string  `json:"name"`
	Client string  `json:"client"`
	File   string  `json:"file"`
	Scope  string  `json:"scope"`  // "user" or "project"
	Plugin *string `json:"plugin"` // that has brought it
}

// Client is a client of an instance: the program that started it, or one that has
// it through us.
type Client struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

// Sent are servers as they go out; now is the moment of the answer.
func Sent(list []*Server, now time.Time) []*Server {
	sent := make([]*Server, len(list))
	for i, w := range list {
		sent[i] = w.Sent(now)
	}
	return sent
}

// All are the servers of a snapshot as they are shown.
func All(s *monitor.Snapshot) []*Server { return new(Rows).Of(s) }

// Rows makes the servers of one snapshot after the other. A server that looks as before is
// the same pointer as before, so that neither it nor a list must be changed. It is safe for
// concurrent use. The zero value works; nil remembers nothing.
type Rows struct {
	mu   sync.Mutex
	of   *monitor.Snapshot // the last one
	list []*Server
	made map[*monitor.Instance]*Server
}

// Of are the servers of a snapshot as they are shown.
func (r *Rows) Of(s *monitor.Snapshot) []*Server {
	if r == nil {
		return All(s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == s {
		return r.list
	}
	list, before := make([]*Server, len(s.Instances)), r.made
	r.made = make(map[*monitor.Instance]*Server, len(list))
	for i, in := range s.Instances {
		if list[i] = before[in]; list[i] == nil {
			list[i] = Of(in)
		}
	}
	apart, projects := tellApart(list), tellProjects(s.Instances)
	for i, in := range s.Instances {
		if w := &list[i].Words; w.Apart != apart[i] || w.Project != projects[i] {
			beside := *list[i]
			beside.Words.Apart, beside.Words.Project = apart[i], projects[i]
			list[i] = &beside
		}
		r.made[in] = list[i]
	}
	r.of, r.list = s, list
	return list
}

// Of is an instance as it is shown, the same for as long as the instance is.
func Of(in *monitor.Instance) *Server {
	w := &Server{
		ID:             ID(in.ID()),
		Port:           Known(in.Port),
		Kind:           in.Kind,
		Label:          in.Label(),
		ProjectName:    Known(in.ProjectName),
		ProjectRoot:    Known(in.ProjectRoot),
		Context:        Known(in.Context),
		Modes:          append([]string{}, in.Modes...),
		Version:        Known(in.Version),
		State:          in.State,
		Cause:          Known(string(in.Cause)),
		Reason:         Known(in.Reason),
		Command:        Known(in.Command),
		Directory:      Known(in.Directory),
		StartedAt:      Moment(in.StartedAt),
		LastHeartbeat:  Moment(in.LastHeartbeat),
		LastActivity:   Moment(in.LastActivity),
		Busy:           in.Busy,
		IdleSince:      Moment(in.Evidence.IdleSince),
		ShutdownAt:     Moment(in.Plan.ShutdownAt),
		ShutdownReason: Known(in.Plan.Reason),
		KeptUntil:      Moment(in.Plan.KeptUntil),
		GivenUpSince:   Moment(in.Plan.GivenUpSince),
		ToolCalls:      in.ToolCalls,
		RSSBytes:       Known(in.RSSBytes),
		CPUPercent:     Number(in.CPUPercent),
		Processes:      Known(in.Processes),
		Transport:      Known(in.Evidence.Transport),
		ClientGone:     in.Evidence.ClientGone,
		Orphaned:       in.Evidence.Orphaned,
		AloneSince:     Moment(in.Evidence.AloneSince),
		DashboardURL:   Known(in.DashboardURL),
		MCPURL:         Known(in.MCPURL),
		Managed:        in.Managed,
		Clients:        []Client{},
		Pinned:         in.Pinned,
		Certainty:      in.Certainty(),
		OnPipes:        in.OnPipes,
	}
	if p := in.Problem; p != nil {
		w.Problem = &Problem{
			Kind: Known(string(p.Kind)), Language: Known(monitor.Clean(p.Language)), Evidence: append([]string{}, p.Evidence...), Since: Moment(p.Since),
			Order: Known(string(in.Remedy())),
		}
	}
	if s := in.Sharing; s != nil {
		w.Waiting, w.AloneBecause, w.SavedBytes, w.Clients = &s.Waiting, Known(s.Alone), Known(s.SavedBytes), clientsOf(s)
	}
	if in.IsShared() {
		w.SharedBy = new(len(w.Clients))
	}
	if in.State != monitor.StateParked {
		w.PID = Known(in.Identity.PID)
	}
	if e := in.Entry; e != nil {
		w.Entry = &Entry{Name: monitor.Clean(e.Name), Client: e.Client, File: monitor.Clean(e.File), Scope: e.Scope, Plugin: Known(monitor.Clean(e.Plugin))}
	}
	if in.Client != nil {
		w.Client = &Client{PID: in.Client.PID, Name: monitor.Clean(in.Client.Name)}
	}
	w.Restart = w.restart(in)
	if w.uncalled = in.Uncalled(); w.uncalled {
		w.LastActivity = nil
	}
	w.Words = w.words(in)
	return w
}

// The values of Server.Restart.
const (
	ClientsKept = "kept"
	ClientsLost = "lost"
)

// restart tells what Lamplighter can start again, and what only its client can.
func (w *Server) restart(in *monitor.Instance) *string {
	switch {
	case !w.CanStop() || in.State == monitor.StateStarting:
		return nil
	case w.SharedBy != nil:
		return new(ClientsKept)
	case w.Managed || w.clientName() == "" || w.ClientGone:
		return nil
	}
	return new(ClientsLost)
}

// Sent is the server as it goes out: the one field that ages is filled in.
func (w *Server) Sent(now time.Time) *Server {
	sent := *w
	if idle, known := w.IdleFor(now); known {
		sent.IdleSeconds = new(int64(idle / time.Second))
	}
	return &sent
}

// IdleFrom is when its last call was, or its start where it had none; nil: not known.
func (w *Server) IdleFrom() *time.Time {
	if w.uncalled || w.LastActivity == nil && w.IdleSeconds != nil && !Value(w.Busy) { // as it was sent
		return w.StartedAt
	}
	return w.LastActivity
}

// IdleFor is the time since the last call, or since the start where there was none, and
// whether it is known at all.
func (w *Server) IdleFor(now time.Time) (time.Duration, bool) {
	switch {
	case Value(w.Busy):
		return 0, true
	case w.IdleFrom() == nil:
		return 0, false
	}
	return max(now.Sub(*w.IdleFrom()), 0), true
}

// clientsOf are the clients that have a server through us.
func clientsOf(s *monitor.Sharing) []Client {
	list := []Client{}
	for _, c := range s.Clients {
		list = append(list, Client{PID: c.PID, Name: monitor.Clean(c.Name)})
	}
	return list
}

// Known is nil for a zero value: in the model, zero means unknown.
func Known[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Value is the zero value for nil: the inverse of Known.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Moment is nil for a time that is unknown or that RFC 3339 cannot express.
func Moment(t time.Time) *time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return nil
	}
	return &t
}

// Number is nil for what JSON cannot express.
func Number(f *float64) *float64 {
	if f == nil || math.IsNaN(*f) || math.IsInf(*f, 0) {
		return nil
	}
	return f
}
