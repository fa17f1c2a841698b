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
	until, isKept := c.r.KeptAt(in.Identity, c.now)
	never := c.r.spares(in)
	facts := make([]string, 0, 8)
	for _, f := range [...]struct {
		holds bool
		words string
	}{
		{c.unidentified(), unidentified},
		{in.Pinned, pinned},
		{isKept, "it is kept until " + monitor.Clock(until, c.now)},
		{never != "", never},
		{c.ofSession(), ofSession},
		{in.IsShared(), strings.Join(view.SharingWords(in.Sharing), "; ")},
		{in.IsShared() && len(in.Sharing.Clients) > 0, "its clients stay attached when it is ended, and the next request starts it again"},
		{true, c.link()},
		{!e.AloneSince.IsZero(), "nobody seems to be connected since " + monitor.Clock(e.AloneSince, c.now)},
		{c.busy(), "asked: a call runs or waits"},
		{in.Busy != nil && !c.busy(), "asked: no call runs"},
		{in.Busy == nil, "whether it is at work is not known, which counts as busy"},
		{c.knownIdle(), "idle since " + monitor.Clock(e.IdleSince, c.now) + " at least"},
		{in.Uncalled(), "it has had no call"},
		{!in.LastActivity.IsZero() && !in.Uncalled(), "its last call was at " + monitor.Clock(in.LastActivity, c.now)},
		{e.KeepsState != nil && *e.KeepsState, "it keeps variables of its clients"},
		{!e.RedSince.IsZero(), "it has needed attention since " + monitor.Clock(e.RedSince, c.now) + ": " + string(in.Cause)},
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

// link tells who is connected, as the rules see it.
func (c *look) link() string {
	switch e := &c.in.Evidence; {
	case e.NoUsers:
		return "nobody is connected to its ports"
	case overHTTP(e.Transport):
		return "it is reached over HTTP"
	case e.Orphaned || e.Suspected:
		found := c.alone()
		return But(found.Reason, found.Because)
	case e.ClientGone:
		return client(c.in) + " has ended"
	case e.Transport == "":
		return "how it is reached is not known"
	}
	return c.holder()
}
