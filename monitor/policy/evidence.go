package policy

import (
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// evidence tells what is known about the use of the instance, one fact each, for
// people. Times of day are in the zone of now. All of it is safe to show.
func (c *look) evidence() []string {
	in, e := c.in, &c.in.Evidence
	until, isKept := c.keptUntil()
	facts := make([]string, 0, 8)
	for _, f := range [...]struct {
		holds bool
		words string
	}{
		{c.unidentified(), unidentified},
		{in.Pinned, pinned},
		{c.never != "", c.never},
		{in.Managed && c.ofSession(), ofSession},
		{in.Managed && !c.ofSession(), "it was started to be shared"},
		{in.IsShared(), strings.Join(view.SharingWords(in.Sharing), "; ")},
		{in.IsShared() && len(in.Sharing.Clients) > 0, "its clients stay attached when it is ended, and the next request starts it again"},
		{isKept, "it is kept until " + monitor.Clock(until, c.now)},
		{true, c.link()},
		{true, c.work()},
		{c.knownIdle(), "idle since " + monitor.Clock(e.IdleSince, c.now) + " at least"},
		{in.Uncalled(), "it has had no call"},
		{!in.LastActivity.IsZero() && !in.Uncalled(), "its last call was at " + monitor.Clock(in.LastActivity, c.now)},
		{e.KeepsState != nil && *e.KeepsState, "it keeps variables of its clients"},
		{in.State == monitor.StateZombie, "it has needed attention" + c.since(" since ", e.RedSince) + ": " + string(in.Cause)},
		{in.RSSBytes > 0, "it uses " + monitor.Memory(in.RSSBytes) + " in " + monitor.Plural(in.Processes, "process", "processes")},
		{within(c.awake, e.IdleSince) || within(c.awake, e.AloneSince), "the machine woke or its clock was set at " + monitor.Clock(c.awake, c.now) + ": times count from then"},
	} {
		if f.holds {
			facts = append(facts, f.words)
		}
	}
	return facts
}

// within tells that a moment lies after the known beginning of a span.
func within(moment, since time.Time) bool { return !since.IsZero() && moment.After(since) }

// link tells who is connected, as far as that is known.
func (c *look) link() string {
	e := &c.in.Evidence
	since := c.since(", found at ", e.AloneSince)
	switch {
	case e.NoUsers:
		return "nobody is connected to its ports"
	case overHTTP(e.Transport):
		return "it is reached over HTTP"
	case e.Orphaned && e.ClientGone:
		return client(c.in) + " has closed the connection and has ended" + since
	case e.Orphaned:
		return client(c.in) + " has closed the connection" + since
	case e.Suspected && e.ClientGone:
		return client(c.in) + " has ended; whether somebody else is connected cannot be told" + since
	case e.Suspected:
		return "nobody seems to be connected, but its client was never seen" + since
	case e.ClientGone:
		return client(c.in) + " has ended"
	case e.Transport == "":
		return "how it is reached is not known"
	case c.in.Client == nil:
		return "its client is not known"
	}
	return client(c.in) + " is connected"
}

// work tells what is known about its calls.
func (c *look) work() string {
	switch {
	case c.busy():
		return "asked: a call runs or waits"
	case c.in.Busy != nil:
		return "asked: no call runs"
	}
	return "whether it is at work is not known, which counts as busy"
}

// since tells since when something is so, "" when that is not known.
func (c *look) since(words string, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return words + monitor.Clock(at, c.now)
}
