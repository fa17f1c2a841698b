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
	until, isKept := c.keptUntil()
	facts := make([]string, 0, 8)
	for _, f := range [...]struct {
		holds bool
		words string
	}{
		{!c.in.Recognised, "no rule knows it for a server"},
		{c.unidentified(), unidentified},
		{c.in.Pinned, pinned},
		{c.never != "", c.never},
		{c.in.Managed && c.ofSession(), ofSession},
		{c.in.Managed && !c.ofSession(), "it was started to be shared"},
		{c.in.IsShared(), strings.Join(view.SharingWords(c.in.Sharing), "; ")},
		{c.in.IsShared() && len(c.in.Sharing.Clients) > 0, "its clients stay attached when it is ended, and the next request starts it again"},
	} {
		if f.holds {
			facts = append(facts, f.words)
		}
	}
	if isKept {
		facts = append(facts, "it is kept until "+monitor.Clock(until, c.now))
	}
	facts = append(facts, c.link(), c.work())
	if c.knownIdle() {
		facts = append(facts, "idle since "+monitor.Clock(c.in.Evidence.IdleSince, c.now)+" at least")
	}
	switch last := c.in.LastActivity; {
	case last.IsZero():
	case c.in.Uncalled():
		facts = append(facts, "it has had no call")
	default:
		facts = append(facts, "its last call was at "+monitor.Clock(last, c.now))
	}
	if k := c.in.Evidence.KeepsState; k != nil && *k {
		facts = append(facts, "it keeps variables of its clients")
	}
	if c.in.State == monitor.StateZombie {
		facts = append(facts, c.attention())
	}
	if c.in.RSSBytes > 0 {
		facts = append(facts, "it uses "+monitor.Memory(c.in.RSSBytes)+" in "+monitor.Plural(c.in.Processes, "process", "processes"))
	}
	if awake := c.awake; !awake.IsZero() && (within(awake, c.in.Evidence.IdleSince) || within(awake, c.in.Evidence.AloneSince)) {
		facts = append(facts, "the machine woke or its clock was set at "+monitor.Clock(awake, c.now)+": times count from then")
	}
	return facts
}

// within tells that a moment lies after the known beginning of a span.
func within(moment, since time.Time) bool { return !since.IsZero() && moment.After(since) }

// link tells who is connected, as far as that is known.
func (c *look) link() string {
	e := &c.in.Evidence
	since := ""
	if !e.AloneSince.IsZero() {
		since = ", found at " + monitor.Clock(e.AloneSince, c.now)
	}
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

// attention tells why it is red.
func (c *look) attention() string {
	since := ""
	if t := c.in.Evidence.RedSince; !t.IsZero() {
		since = " since " + monitor.Clock(t, c.now)
	}
	return "it has needed attention" + since + ": " + string(c.in.Cause)
}
