package daemon

import (
	"cmp"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/dashboard"
	"lamplighter/app/launch"
	"lamplighter/app/payload"
	"lamplighter/app/share/proxy"
	"lamplighter/app/share/wire"
	"lamplighter/monitor/stop"
)

// Limits are how long the background process, and who asks it, waits, and the limits
// of the parts that it is made of. A zero field means the default: of a part, that of
// its package. They are set nowhere else.
type Limits struct {
	Glance time.Duration // what a completion gives the background process to answer
	Rival  time.Duration // what another background process gets before it counts as silent; its end alone takes Exit

	LastLook time.Duration // after the order to end, to see who has the servers
	Parts    time.Duration // then, for all parts to stop; whatever is left of servers that end with us, their keepers end
	Exit     time.Duration // for the whole process: nothing that hangs holds the end up
	Park     time.Duration // for all shared servers to end before that, when the user quits; the same goes for what is left

	ShareRetry time.Duration // until the share socket is tried again where it could not be made
	ShareCheck time.Duration // how often it is looked whether it is still there: a client gives up within seconds

	Display time.Duration // how often it is looked whether the desktop lives on without its session bus

	Bodies int64 // bytes of all bodies of requests that are in flight: one of the longest, and short ones

	API       api.Limits
	Dashboard dashboard.Limits
	Launch    launch.Limits
	Share     proxy.Limits
	Stop      stop.Limits
}

// OrDefault has the defaults in place of what is zero.
func (l Limits) OrDefault() Limits {
	l.Glance = cmp.Or(l.Glance, 500*time.Millisecond)
	l.Rival = cmp.Or(l.Rival, 10*time.Second)
	l.LastLook = cmp.Or(l.LastLook, 2*time.Second)
	l.Parts = cmp.Or(l.Parts, 4*time.Second)
	l.Exit = cmp.Or(l.Exit, 6*time.Second)
	l.Park = cmp.Or(l.Park, 10*time.Second)
	l.ShareRetry = cmp.Or(l.ShareRetry, 15*time.Second)
	l.ShareCheck = cmp.Or(l.ShareCheck, 5*time.Second)
	l.Display = cmp.Or(l.Display, 5*time.Second)
	l.Bodies = cmp.Or(l.Bodies, wire.MaxLine+payload.Kept)
	return l
}
