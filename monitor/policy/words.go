package policy

import (
	"strconv"
	"strings"

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
	givenUp      = "its process goes on until you stop it, so it is only left out of the lists"
	unknownUsers = "whether somebody is connected cannot be told"
)

// But puts a reason and what stands against it into one line.
func But(reason, because string) string {
	if because == "" {
		return reason
	}
	return strings.TrimPrefix(reason+", but "+because, ", but ")
}

// reason says in words why a rule applies to the instance. It stays the same while
// the rule and its limit do.
func (c *look) reason(rule Rule) string {
	switch rule {
	case Idle:
		return "no call for " + monitor.Span(c.r.IdleAfter)
	case Zombies:
		return "it has needed attention for " + monitor.Span(c.r.ZombieAfter)
	case Memory:
		return "it uses more than " + monitor.Memory(c.r.MemoryOver)
	case Duplicates:
		return client(c.in) + " runs it more than once"
	}
	return ""
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
