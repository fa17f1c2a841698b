package policy

import (
	"fmt"
	"strconv"
	"time"

	"lamplighter/monitor"
)

// What stands against ending an instance. None of it holds a time or a number
// that changes, so that whoever tells of it once can tell that it is the same.
const (
	unidentified = "it cannot be told for certain from other processes"
	pinned       = "it is pinned"
	kept         = "it is kept"
	never        = "the settings say that no policy ends it"
	perhapsNever = "the settings spare a project or a client, and whether it is of those is not known"
	ofSession    = "it ends when its session is released"
	isShared     = "it is shared by its clients, and parked when idle"
	isLingering  = "it is shared, and ended when no client comes back to it"
	atWork       = "it is at work"
	silent       = "whether it is at work cannot be told"
	unknownUsers = "whether somebody is connected cannot be told"
)

// reason says in words why a rule applies to the instance. It stays the same while
// the rule and its limit do.
func (c *look) reason(rule Rule) string {
	switch rule {
	case Orphans:
		return c.reasonAlone()
	case Idle:
		return "no call for " + span(c.limits.idleAfter)
	case Zombies:
		return "it has needed attention for " + span(c.limits.zombieAfter)
	case Memory:
		return "it uses more than " + monitor.Memory(c.limits.memoryOver)
	case Duplicates:
		return client(c.in) + " has a newer one for the same project"
	}
	return ""
}

func (c *look) reasonAlone() string {
	switch e := &c.in.Evidence; {
	case overHTTP(e.Transport):
		return client(c.in) + " seems to be gone"
	case e.ClientGone:
		return client(c.in) + " has ended"
	case e.Orphaned:
		return client(c.in) + " has closed the connection"
	}
	return "its client seems to be gone"
}

// client names the client of an instance in a sentence. It is safe to show.
func client(in *monitor.Instance) string {
	text := "its client"
	if in.Client == nil {
		return text
	}
	if name := monitor.Clean(in.Client.Name); name != "" {
		text += " " + name
	}
	if in.Client.PID != 0 {
		text += " (" + strconv.Itoa(in.Client.PID) + ")"
	}
	return text
}

// clock tells a time of day in the zone of now, with as much of the date as
// differs from that of now.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	switch {
	case t.Year() != now.Year():
		return t.Format("2 Jan 2006 15:04")
	case t.YearDay() != now.YearDay():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("15:04")
}

// span tells a time in its two largest units: "30 min", "1 h 30 min", "45 s".
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'g', 3, 64) + " s"
	case d < time.Hour:
		return units(d, time.Minute, "min", time.Second, "s")
	case d < 48*time.Hour:
		return units(d, time.Hour, "h", time.Minute, "min")
	}
	return units(d, 24*time.Hour, "days", time.Hour, "h")
}

func units(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := fmt.Sprintf("%d %s", d/large, largeName)
	if rest := d % large / small; rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, smallName)
	}
	return text
}
