package monitor

import "time"

// EventKind names something that happened to an instance.
type EventKind string

// What the watch sees by itself.
const (
	EventFound             EventKind = "found" // it ran already when the watch began
	EventStarted           EventKind = "started"
	EventStopped           EventKind = "stopped"
	EventForgotten         EventKind = "forgotten" // it runs on, but is no server by the rules of now
	EventProjectActivated  EventKind = "project_activated"
	EventZombieDetected    EventKind = "zombie_detected"
	EventHeartbeatRestored EventKind = "heartbeat_restored"
	EventPruned            EventKind = "pruned" // a dead entry was taken out of the registry, or a dead server out of all lists
)

// What a user decides about an instance.
const (
	EventPinned   EventKind = "pinned"   // it is not to be ended without force
	EventUnpinned EventKind = "unpinned" // it is like any other again
)

// EventLanguageServer: language servers were ended so that they start again, by whom
// and which stands in the detail.
const EventLanguageServer EventKind = "language_server_restarted"

// What becomes of a server that clients share while they stay.
const (
	EventParked EventKind = "parked" // it has ended, and why; the next request starts it again
	EventWoken  EventKind = "woken"  // it was started again
)

// What policies do, see monitor/policy.
const (
	EventShutdownPlanned EventKind = "shutdown_planned" // when and why stand in the detail
	EventPlanDropped     EventKind = "plan_dropped"     // and why
	EventPolicyRefused   EventKind = "policy_refused"   // a rule applies, but something stands against it
	EventNotified        EventKind = "notified"         // the user was told of something to decide
	EventKept            EventKind = "kept"             // by whom and until when
	EventPoliciesPaused  EventKind = "policies_paused"
	EventPoliciesResumed EventKind = "policies_resumed"
	EventRuleSwitched    EventKind = "rule_switched" // on or off, by whom
)

// EventWorkspace is how the kinds begin that tell what becomes of a workspace. The rest of
// them is in its history, see app/workspace: created, kept (which version), completed (its
// job has ended), archived, restored, tree_ended (its versions stay), removed, and left (it
// was due, and why it stays). ID is its UUID, and PID 0.
const EventWorkspace = "workspace_"

// The rungs of the stop ladder.
const (
	EventStopOrdered EventKind = "stop_ordered" // by whom stands in the detail
	EventStopRefused EventKind = "stop_refused"
	EventAsked       EventKind = "asked"      // to end by itself
	EventTerminated  EventKind = "terminated" // sent SIGTERM, or what the system has for it
	EventForceKilled EventKind = "force_killed"
	EventStopFailed  EventKind = "stop_failed" // something of it still runs
	EventEnded       EventKind = "ended"       // all of it is gone, as the ladder verified
)

// Event is one line of the lifecycle log. Label and Detail may hold foreign
// text that has been through Clean.
type Event struct {
	At     time.Time `json:"at"` // RFC 3339
	Kind   EventKind `json:"kind"`
	ID     string    `json:"id"` // of the instance
	PID    int       `json:"pid"`
	Label  string    `json:"label"`
	Detail string    `json:"detail"` // in words
	// FreedBytes is the resident memory that an ended one had, its whole tree;
	// 0 with every other kind, and in what older versions wrote.
	FreedBytes uint64 `json:"freed_bytes,omitempty"`
	// Unused says of an ended one that it was ended because nobody used it: by a rule,
	// or by an order for such servers.
	Unused bool `json:"unused,omitempty"`
	// Order is the same for all steps of one order to end an instance, "" for other events.
	Order string `json:"order,omitempty"`
}

// Event is something that happened to the instance, with a detail that is cleaned.
func (in *Instance) Event(kind EventKind, at time.Time, detail string) Event {
	return Event{At: at, Kind: kind, ID: in.ID(), PID: in.Identity.PID, Label: in.Label(), Detail: Clean(detail)}
}

// PinEvent is the event for whoever has pinned or unpinned an instance. By says
// in words who asked for it: "the command line"; it is cleaned.
func PinEvent(in *Instance, pinned bool, by string, at time.Time) Event {
	e := in.Event(EventUnpinned, at, "")
	if pinned {
		e.Kind = EventPinned
	}
	if by = Clean(by); by != "" {
		e.Detail = "by " + by
	}
	return e
}

// RecentEvents is how many events a snapshot carries at most.
const RecentEvents = 10
