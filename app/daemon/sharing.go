package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/app/share"
	"lamplighter/app/share/proxy"
	"lamplighter/app/socket"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
)

// sharedStart is what a shared server gets to start at least. Its clients have
// limits of their own, of half a minute and more (Codex, Claude Code), and would
// not end one that they had started themselves.
const sharedStart = time.Minute

// startSharing makes the parts through which clients share servers, after those that start
// servers; orders end those that hang.
func (b *background) startSharing(ctx context.Context, unknownPins func() error, orders api.Stopper) {
	b.sharingChanged = monitor.NewBell()
	settings := func() config.Sharing { return b.layers.now.Load().sharing } // that hold now
	b.planner = share.NewPlanner(ctx, share.PlannerOptions{
		Finder: b.finder, Environment: b.finder.Environment, OthersLoggedIn: share.LoggedIn,
		Allowed: func() bool { return settings().WithOtherUsers },
	})
	b.broker = share.New(share.Options{
		Launch: share.With(b.launcher),
		Idle:   func() time.Duration { return settings().ParkAfter },
		Limit:  func() time.Duration { return max(b.layers.now.Load().sessions.StartLimit, sharedStart) },
		// Beside the socket, so that whoever serves that has the same ones.
		LockDir: keyLocks(b.places),
		Spare: func(_ context.Context, l share.Look) (string, error) {
			if unknownPins() != nil {
				return "it is not known which servers are pinned", nil
			}
			return spared(b.model.Snapshot(), l.Server.Identity(), time.Now()), nil
		},
		// Whoever logs in later could use what runs as well.
		Forbid: b.planner.Forbids,
		Show: func(list []monitor.Shared) {
			b.model.SetShared(list)
			b.sharingChanged.Ring()
		},
		Below:     b.worksBelow,
		HangLimit: func() time.Duration { return settings().HangLimit },
		EndHung: func(ctx context.Context, server share.Server) error {
			return endHung(ctx, b.model.Snapshot(), server.Identity(), orders)
		},
		Record: b.model.Record,
		Log:    b.log,
	})
	b.shareServer = proxy.New(proxy.Options{
		Broker: b.broker, Ask: b.planner, Flags: b.clientFlags, Usual: b.usualSerena, Log: b.log, Limits: b.Limits.Share,
	})
}

// serveShare serves the share socket. Where it cannot be made that is shown, and
// tried again: whoever has it may go.
func (b *background) serveShare(lockHeld bool) func(context.Context) error {
	place := socket.Options{
		Place: socket.Share(b.places.ShareSocket), LockHeld: lockHeld, First: b.passed, Log: b.log, CheckEvery: b.Limits.ShareCheck,
	}
	return func(ctx context.Context) error {
		for {
			listener, err := socket.Stand(place)
			if err == nil {
				b.current(aboutShareSocket)
				return b.shareServer.Serve(ctx, listener)
			}
			b.current(aboutShareSocket, monitor.Clean(fmt.Sprintf("%v; until then no client can share a server", err)))
			if err := Pause(ctx, b.Limits.ShareRetry); err != nil {
				return err
			}
		}
	}
}

// keyLocks is the directory for the locks that keep two lamplighters from starting
// two servers for the same.
func keyLocks(places config.Places) string {
	const name = "keys"
	switch {
	case runtime.GOOS != "windows" && filepath.IsAbs(places.ShareSocket):
		return filepath.Join(filepath.Dir(places.ShareSocket), name)
	case places.StateDir != "":
		return filepath.Join(places.StateDir, name)
	}
	return ""
}

// spared says why a server is not parked although nobody asks it anything, as a
// part of a sentence; "" when nothing is against it.
func spared(s *monitor.Snapshot, id monitor.Identity, now time.Time) string {
	if s.Policy.Paused {
		return "the policies are paused"
	}
	switch in := s.Instance(id); {
	case in == nil:
		return ""
	case in.Pinned:
		return "it is pinned"
	case in.Plan.KeptUntil.After(now):
		return "it is kept until " + monitor.Clock(in.Plan.KeptUntil, now)
	}
	return ""
}

// restarter restarts servers that clients share.
type restarter struct {
	broker *share.Broker
	record func(monitor.Event)
}

// Restart is that of the broker, whose refusals are those of an order.
func (r restarter) Restart(ctx context.Context, in *monitor.Instance, force bool, end func(context.Context) error) (monitor.Identity, error) {
	next, err := r.broker.Restart(ctx, in.Identity, force, end)
	refusal := &stop.Refusal{Label: in.Label()}
	switch {
	case errors.Is(err, share.ErrAtWork):
		refusal.Kind, refusal.Why = stop.ErrBusy, "it works on requests. Wait for their end, or force it: they get an error then."
	case errors.Is(err, share.ErrNotShared):
		refusal.Kind, refusal.Why = stop.ErrChanged, "no client shares it any more, or it is being ended already."
	default:
		return next, err
	}
	r.record(in.Event(monitor.EventStopRefused, time.Now(), refusal.Why))
	return next, refusal
}

// hungIn are the shared servers that do not answer whether they live.
func hungIn(s *monitor.Snapshot) (hung []monitor.Identity) {
	for _, in := range s.Instances {
		if in.Lifetime == monitor.LifetimeShared && (in.Cause == monitor.CauseSuspended || in.Cause == monitor.CauseUnreachable) {
			hung = append(hung, in.Identity)
		}
	}
	return hung
}

// endHung ends a server that hangs and was replaced, by the order of those who wait for
// it no more. While something speaks against that it only looks.
func endHung(ctx context.Context, s *monitor.Snapshot, id monitor.Identity, orders api.Stopper) error {
	in := s.Instance(id)
	if in == nil {
		return nil // it has ended
	}
	order := stop.Order{By: "its clients, who have another server", DryRun: true}
	_, err := orders.Stop(ctx, *in, order)
	if err == nil {
		order.DryRun = false
		_, err = orders.Stop(ctx, *in, order)
	}
	var refusal *stop.Refusal
	switch {
	case errors.Is(err, process.ErrGone):
		return nil
	case errors.As(err, &refusal):
		return errors.New(refusal.Why)
	}
	return err
}

// worksBelow asks whether something has worked below a server that would be parked, after
// a look at it.
func (b *background) worksBelow(ctx context.Context, l share.Look) (why string, err error) {
	s, err := b.model.Fresh(ctx, l.Server.Identity())
	if err != nil {
		return "", err
	}
	switch in := s.Instance(l.Server.Identity()); {
	case in == nil || in.Evidence.QuietSince.IsZero():
		return "", errors.New("it was not found there")
	case time.Since(in.Evidence.QuietSince) < b.layers.now.Load().sharing.ParkAfter:
		return "something works below it", nil
	}
	return "", nil
}

// record tells the model of an event, and before that the broker, which has to
// know who had a server of its ended. Not within the model: the broker records
// what it does while it holds its own lock.
func (b *background) record(e monitor.Event) {
	b.broker.Note(e)
	b.model.Record(e)
}

// quitByUser ends us on the word of the user: unlike any other end, it is not
// known to be followed by a start, so that nothing is left running for one.
func (b *background) quitByUser(ctx context.Context, quit func()) {
	defer quit()
	if err := b.StopSocket(ctx); err != nil {
		b.log.Warn("the next client starts lamplighter again", "error", err)
	}
	running := 0
	for _, s := range b.broker.Shared() {
		if s.Alone == "" && !s.Parked && !s.Starting {
			running++
		}
	}
	if running > 0 {
		are := monitor.Plural(running, "shared server is", "shared servers are")
		b.tell("ending; %s parked, and the next request of a client wakes one when lamplighter runs again", are)
	}
	ctx, cancel := context.WithTimeout(ctx, b.Limits.Park)
	defer cancel()
	b.broker.ParkAll(ctx) // one may start, or not be found yet
}

// endingWords say what becomes of clients when we end without having been asked to
// quit: so many sessions, and what is shared. "" when there is nobody.
func endingWords(list []monitor.Shared, sessions int) string {
	clients, running := 0, 0
	for i := range list {
		s := &list[i]
		if s.Alone != "" { // it never was behind us
			continue
		}
		clients += len(s.Clients)
		if !s.Parked && !s.Starting {
			running++
		}
	}
	var parts []string
	if clients > 0 {
		parts = append(parts, monitor.Plural(clients, "client stays", "clients stay")+" attached")
	}
	switch {
	case running > 0: // as long as their keepers wait
		parts = append(parts, monitor.Plural(running, "shared server goes", "shared servers go")+" on for two minutes, for a lamplighter that starts by then")
	case clients > 0:
		parts = append(parts, "a request waits for a minute until lamplighter runs again")
	}
	if sessions > 0 {
		parts = append(parts, monitor.Plural(sessions, "session ends", "sessions end"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "ending; " + strings.Join(parts, "; ")
}

// ending ends us when another program asks for it. It does not wait for the end.
func (b *background) ending(ctx context.Context, quit func()) func(restart bool) {
	return func(restart bool) {
		if restart {
			quit() // the next one takes over what is shared
			return
		}
		go b.quitByUser(ctx, quit)
	}
}

// unused waits until nobody needs us.
type unused struct {
	limit   func() time.Duration // for how long; 0: never
	idle    func() bool          // nobody has or shares a server
	live    func() bool          // something else needs us
	changed <-chan struct{}      // told when idle may answer otherwise
}

// wait returns true when nobody has needed us for the limit, and false when ctx
// ends.
func (u unused) wait(ctx context.Context) bool {
	var since time.Time // when nobody was found to need us; zero while somebody does
	for {
		var again <-chan time.Time
		idle, limit := u.idle(), u.limit()
		switch {
		case !idle:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		}
		if idle && limit > 0 {
			left := limit - time.Since(since)
			switch {
			case left > 0:
			case u.live():
				left = limit // what ends is not told
			default:
				return true
			}
			again = time.After(left)
		}
		select {
		case <-again:
		case <-u.changed:
		case <-ctx.Done():
			return false
		}
	}
}

// endUnused is a part that quits when nobody needs a lamplighter that the first
// client has started, from when nobody can see it.
func (b *background) endUnused(unseen <-chan struct{}, quit func()) func(context.Context) error {
	u := unused{
		limit: func() time.Duration { return b.layers.now.Load().sharing.ParkAfter },
		idle:  func() bool { return len(b.broker.Shared()) == 0 }, changed: b.sharingChanged,
		// What a client will share may be looked for longer than that.
		live: func() bool { return len(b.sessions.List()) > 0 || b.shareServer.Attends() },
	}
	return func(ctx context.Context) error {
		select {
		case <-unseen:
		case <-ctx.Done():
			return ctx.Err()
		}
		if u.wait(ctx) {
			b.log.Info("ending: nobody has shared a server for a while; the next client starts lamplighter again")
			quit()
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

// DesktopIn reports whether there is a desktop on which somebody could see us. A
// session bus alone is none: each login has one.
func DesktopIn(goos string, getenv func(string) string) bool {
	return goos == "windows" || goos == "darwin" || getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
}
