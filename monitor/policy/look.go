package policy

import (
	"time"

	"lamplighter/monitor"
)

// look is one instance as the rules see it at one moment.
type look struct {
	in    *monitor.Instance
	r     Rules // as they are set for it
	now   time.Time
	awake time.Time // a span that contains this moment says nothing, so that spans begin there
	// repeated are the servers that clients have started several times, see repeatedSince.
	repeated map[monitor.Identity]time.Time
	// forbidden says what no rule overrides, "" if there is nothing of the kind.
	// The user wants to hear nothing of such an instance either: who keeps it has
	// answered already, and who pinned it will not end it.
	forbidden string
	ordered   bool // by the user
	givesUp   bool // it is dead to everybody, for long enough
}

func newLook(in *monitor.Instance, r *Rules, s *monitor.Snapshot) look {
	c := look{in: in, r: r.rulesFor(in), now: s.At, awake: s.AwakeSince}
	switch _, isKept := r.KeptAt(in.Identity, s.At); {
	case c.unidentified():
		c.forbidden = unidentified
	case in.Pinned:
		c.forbidden = pinned
	case isKept:
		c.forbidden = kept
	default:
		c.forbidden = r.spares(in)
	}
	return c
}

// due is when a span of that length is over, counted from the moment at which it
// began or, if that is later, at which the machine woke. It is zero when nobody
// knows when it began.
func (c *look) due(since time.Time, span time.Duration) time.Time {
	if since.IsZero() {
		return time.Time{}
	}
	if c.awake.After(since) {
		since = c.awake
	}
	return since.Add(span)
}

// unidentified tells that the process might be taken for another one, or that
// the instance is our own keeper.
func (c *look) unidentified() bool {
	id := c.in.Identity
	return id.PID <= 0 || id.Start == 0 || id == c.in.Keeper
}

// busy tells that a call runs.
func (c *look) busy() bool { return c.in.Busy != nil && *c.in.Busy }

// knownIdle tells that the instance itself said that it has nothing to do.
// Nothing else counts: what is not known counts as busy.
func (c *look) knownIdle() bool {
	return c.in.Busy != nil && !*c.in.Busy && !c.in.Evidence.IdleSince.IsZero()
}

// provenOrphan tells that its client is gone and nobody else can take its place.
func (c *look) provenOrphan() bool {
	e := &c.in.Evidence
	return e.Orphaned && e.ClientGone && !overHTTP(e.Transport)
}

// needed says whose an idle instance is although it is idle, "" if it may end for
// its idleness.
func (c *look) needed() string {
	switch e := &c.in.Evidence; {
	case c.ofSession():
		return ofSession
	case !overHTTP(e.Transport) && !c.provenOrphan() && !c.r.IdleAttached:
		return c.holder()
	case c.provenOrphan() || c.r.IdleREPL: // nobody can reach its variables any more, or they do not count
		return ""
	case e.KeepsState == nil:
		return "whether it keeps variables of its clients is not known"
	case *e.KeepsState:
		return "it keeps variables of its clients, which would be lost"
	}
	return ""
}

// holder tells whose the instance is by its pipes. Unless it is known to be reached over
// HTTP, its client is whoever holds them, and cannot start it anew.
func (c *look) holder() string {
	if e := &c.in.Evidence; e.Suspected || e.Orphaned || e.ClientGone || c.in.Client == nil {
		return unknownUsers
	}
	return client(c.in) + " is connected"
}

// ofSession tells that whoever asked us for the server releases it. What we
// started and know nothing more about counts as such.
func (c *look) ofSession() bool {
	return c.in.Managed && c.in.Lifetime != monitor.LifetimeShared
}

// shared says what becomes of a server that clients have through us, in place of what a
// rule would do, "" if none has: it is parked when none of them needs it. The user may
// end it, as the next request starts it again.
func (c *look) shared() string {
	switch {
	case !c.in.IsShared() || c.ordered:
		return ""
	case len(c.in.Sharing.Clients) == 0:
		return isLingering
	}
	return isShared
}

// overHTTP tells that clients come and go while the server runs.
func overHTTP(transport string) bool {
	return transport == "http" || transport == "sse" || transport == "streamable-http"
}
