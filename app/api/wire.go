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
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/view"
)

// Instances is the body of GET /global-dashboard/instances and of each event
// of the stream.
type Instances struct {
	Instances []*view.Server  `json:"instances"`
	Children  []view.Children `json:"children"` // of clients, and on their pipes; each is among the instances too
	Repeated  []view.Repeated `json:"repeated"` // servers that one client has started several times
	GivenUp   *view.GivenUp   `json:"given_up"` // that no list shows any more, null for none
}

// InstancesOf is the body about a snapshot; now is the moment of the answer.
func InstancesOf(s *monitor.Snapshot, now time.Time) Instances {
	list := view.All(s)
	return instancesOf(s, list, view.Sent(list, now))
}

func instancesOf(s *monitor.Snapshot, list, sent []*view.Server) Instances {
	_, children := view.Divide(list)
	return Instances{sent, children, view.RepeatedIn(s), view.GivenUpIn(s)}
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

// IsProgram reports whether an executable is self, under whatever name, or bears the name
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
	Events []view.Event `json:"events"`
}

// KillOrder is the body of POST /global-dashboard/instance/ID/kill; without a
// body it is the zero value.
type KillOrder struct {
	Force   bool  `json:"force"`   // refuse only what can never be ended
	DryRun  bool  `json:"dry_run"` // say what would be done
	Protect []int `json:"protect"` // pids that must not be ended, nor their ancestors
	// Rule says what the order is for, idle or orphans: a server that is not just
	// before its end is left alone, also with Force. "" is for this server.
	Rule policy.Rule `json:"rule,omitempty"`
}

// Killed is the answer to a KillOrder, whatever came of it: with status 200
// when the instance has ended or a dry run met no objection, 409 when that was
// refused, 404 when there is no such instance, 502 when something of it still
// runs, 500 when nothing could be done.
type Killed struct {
	Error       string `json:"error,omitempty"` // not with status 200
	stop.Result        // whose Steps are never null
	Forceable   bool   `json:"forceable,omitempty"` // refused, but the user may insist
}

// Failure is the body of every answer that is not a success.
type Failure struct {
	Error string `json:"error"`
}
