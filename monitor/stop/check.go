package stop

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The kinds of refusal, for errors.Is.
var (
	// These stand, whoever insists.
	ErrNotRecognised = errors.New("not recognised as an MCP server")
	ErrOurs          = errors.New("it holds a process of ours")
	ErrAncestor      = errors.New("it holds an ancestor of ours")
	ErrOtherUser     = errors.New("it holds a process of another user")

	// These yield to force.
	ErrService   = errors.New("managed by a service manager")
	ErrContained = errors.New("in a container or a sandbox")
	ErrPinned    = errors.New("pinned")
	ErrInUse     = errors.New("in use")
	ErrBusy      = errors.New("busy")
	ErrUnknown   = errors.New("not certain")

	// This one is about whoever ordered it: see Order.Confirm.
	ErrChanged = errors.New("no longer as it was when this was decided")
)

// Refusal is why an instance is not ended.
type Refusal struct {
	Label string
	Kind  error  // one of the above
	Why   string // a clause, "it is pinned.", and after it what to do
}

// Forceable reports whether the user may insist.
func (r *Refusal) Forceable() bool {
	return slices.Contains([]error{ErrService, ErrContained, ErrPinned, ErrInUse, ErrBusy, ErrUnknown}, r.Kind)
}

// Error is a sentence for people: "Not ended: 4711 - alpha is pinned. Unpin it
// first, or force it."
func (r *Refusal) Error() string {
	if clause, ok := strings.CutPrefix(r.Why, "it "); ok && r.Kind != ErrChanged { // whose Why may be about anything
		return "Not ended: " + r.Label + " " + clause
	}
	return "Not ended: " + r.Label + ": " + r.Why
}

// Unwrap makes the kind known to errors.Is.
func (r *Refusal) Unwrap() error { return r.Kind }

// Process names a process for people.
type Process struct {
	PID  int    // 0 = unknown
	Name string // safe to show
}

func (p Process) String() string {
	switch {
	case p.PID == 0:
		return "a program that could not be found out"
	case p.Name == "":
		return fmt.Sprintf("process %d", p.PID)
	}
	return fmt.Sprintf("%s (%d)", p.Name, p.PID)
}

// Work is what a server says about its calls.
type Work int

// The zero value is the kind of server that has no way to tell.
const (
	CannotTell Work = iota // no dashboard, an old version, or suspended
	Idle
	Busy
	Silent // it should have told, and did not
)

// Facts are what Check decides on, fresh at the moment of the order.
type Facts struct {
	Label      string
	Recognised bool
	Pinned     bool
	// PinsUnknown is why nobody can say who is pinned, nil when it is known.
	PinsUnknown error

	// Of the processes of its tree.
	Ours    []Process // this program, or who asks
	Above   []Process // ancestors of those
	Foreign []Process // another user's, or nobody could tell whose

	Service   string    // the unit that manages it, "" = none
	Contained bool      // it runs in a container or a sandbox
	Users     []Process // connected to its MCP port, ourselves and its own processes left out
	Work      Work
	Call      string // with Busy: what it does, safe to show, "" = unknown
	Red       bool   // it was found to be hung, suspended or orphaned
	Orphaned  bool   // proven: its recorded link is closed, and its client was seen to end
	Uncertain error  // Service or Users could not be found out
}

// Check decides whether an instance may be ended: nil, or why not.
//
// "Unknown means busy" is a rule for idleness; here a user gives the word. So
// what cannot tell by its nature (no dashboard, suspended) may be ended, and so
// may what is red already, hung above all: that is what the order is for. What
// seems well but does not say whether it is at work is refused until the user
// insists: there may be work in it that would be lost.
//
// An automatic order is nobody's word. What does not say that it is idle is then
// left alone, unless it is a proven orphan: nobody waits for the work of that.
func Check(f Facts, o Order) *Refusal {
	refuse := func(kind error, format string, args ...any) *Refusal {
		return &Refusal{Label: f.Label, Kind: kind, Why: "it " + fmt.Sprintf(format, args...)}
	}
	switch {
	case !f.Recognised:
		return refuse(ErrNotRecognised, "is not known to be an MCP server. Add a rule for it to the settings if it is one.")
	case len(f.Ours) > 0:
		return refuse(ErrOurs, "runs %s, which is part of this program or asks for this.", list(f.Ours))
	case len(f.Above) > 0:
		return refuse(ErrAncestor, "runs %s, which this program or whoever asks was started by. Ask from elsewhere.", list(f.Above))
	case len(f.Foreign) > 0:
		return refuse(ErrOtherUser, "has a process of another user: %s. That user has to end it first.", list(f.Foreign))
	case o.forced():
		return nil
	case f.PinsUnknown != nil:
		return refuse(ErrUnknown, "may be pinned: which servers are cannot be read (%v). Mend or remove that file, or force it.", f.PinsUnknown)
	case f.Pinned:
		return refuse(ErrPinned, "is pinned. Unpin it first, or force it.")
	case f.Service != "":
		return refuse(ErrService, "is managed by the service %s, which may start it again. Stop the service, or force it.", f.Service)
	case f.Contained:
		return refuse(ErrContained, "runs in a container or a sandbox. End it there, or force it.")
	case len(f.Users) > 0:
		return refuse(ErrInUse, "is in use by %s. End that first, or force it.", list(f.Users))
	case f.Work == Busy && f.Call != "":
		return refuse(ErrBusy, "is at work on %s. Wait until it is done, or force it.", f.Call)
	case f.Work == Busy:
		return refuse(ErrBusy, "is at work. Wait until it is done, or force it.")
	case f.Uncertain != nil:
		return refuse(ErrUnknown, "may be in use: %v. Force it if you know better.", f.Uncertain)
	case f.Work == Silent && (o.Automatic && !f.Orphaned || !o.Automatic && !f.Red):
		return refuse(ErrUnknown, "does not say whether it is at work. Try again, or force it.")
	case f.Work == CannotTell && o.Automatic && !f.Orphaned:
		return refuse(ErrUnknown, "cannot say whether it is at work. End it yourself if nobody needs it, or force it.")
	}
	return nil
}

// list names processes as most sentences do.
func list(processes []Process) string { return listed(processes, 6) }

// listed names processes, some of them only: "uvx (1), python (2) and 3 more".
func listed(processes []Process, most int) string {
	var names []string
	for _, p := range processes[:min(most, len(processes))] {
		names = append(names, p.String())
	}
	text := strings.Join(names, ", ")
	if more := len(processes) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
