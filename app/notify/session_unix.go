//go:build !windows && !darwin

package notify

import (
	"context"
	"slices"
	"time"

	"github.com/godbus/dbus/v5"
)

// answerLimit is how long the service may take before that is logged. It is
// waited for nevertheless: a notification whose number we do not know would
// have buttons that nobody hears.
const answerLimit = 10 * time.Second

// Urgencies, and the reason of a notification that has left the screen by
// itself.
const (
	urgencyNormal   = byte(1)
	urgencyCritical = byte(2)
	reasonExpired   = uint32(1)
)

// session is our time on one bus. It belongs to one goroutine, and at most one
// call is under way.
type session struct {
	*Notifier
	conn    *dbus.Conn
	signals chan *dbus.Signal
	answers chan *dbus.Call
	late    *time.Timer // runs while a call does

	owner  string     // the connection that shows notifications, "" for none now
	can    *abilities // of the owner, nil when it was not asked yet
	away   bool       // nobody can show anything; waits for another owner or an order
	screen screen

	calling, asking bool     // a call is under way; it asks for abilities
	called          string   // the owner then
	sent            entry    // what the call is to show
	offered         []string // keys, with what was sent
	lost            entry    // what the service ended over last
}

func newSession(n *Notifier, conn *dbus.Conn) *session {
	s := &session{
		Notifier: n, conn: conn,
		signals: make(chan *dbus.Signal, 64), answers: make(chan *dbus.Call, 1),
		late: time.NewTimer(answerLimit),
	}
	s.late.Stop()
	return s
}

// run shows what is in the queue until ctx ends, which is nil, or the bus goes
// away.
func (s *session) run(ctx context.Context) error {
	defer s.late.Stop()
	defer s.conn.Close()
	for {
		s.work()
		select {
		case <-ctx.Done():
			for _, id := range s.screen.withButtons() {
				s.take(id)
			}
			return nil
		case <-s.conn.Context().Done():
			return errBusLost
		case sig, ok := <-s.signals:
			if !ok {
				return errBusLost
			}
			s.signalled(sig)
		case call := <-s.answers:
			if s.conn.Context().Err() != nil {
				return errBusLost // which the answer says in other words
			}
			s.inOrder(call)
		case <-s.late.C:
			s.complain("the notification service does not answer", context.DeadlineExceeded)
		case <-s.queue.wake:
			s.away = false
		}
	}
}

// work does what waits, up to the next thing that needs an answer.
func (s *session) work() {
	for !s.calling && !s.away {
		e, ok := s.queue.next(time.Now())
		switch {
		case !ok:
			return
		case e.withdraw:
			if id := s.screen.of(e.ID); id != 0 {
				s.screen.forget(id)
				s.take(id)
			}
		case s.can == nil:
			s.queue.back(e)
			s.asking = true
			s.call("GetCapabilities")
		default:
			s.send(e)
		}
	}
}

// send shows a notification.
func (s *session) send(e entry) {
	can := *s.can
	can.actions = can.actions && e.Chosen != nil
	if e.Unheard != nil && !can.actions {
		go e.Unheard()
		return
	}
	m := compose(e.Notification, can, s.opts.App)
	s.offered = nil
	actions := []string{}
	for _, a := range m.actions {
		s.offered = append(s.offered, a.Key)
		actions = append(actions, a.Key, a.Words)
	}
	urgency := urgencyNormal
	if e.Urgent {
		urgency = urgencyCritical
	}
	const asServiceLikes = int32(-1) // when it goes from the screen
	s.sent = e
	s.call("Notify", s.opts.App, s.screen.of(e.ID), iconOf(s.opts.Icon), m.summary, m.body, actions,
		map[string]dbus.Variant{"urgency": dbus.MakeVariant(urgency)}, asServiceLikes)
}

// service is who is called: the owner itself, because our numbers mean nothing
// to the next one, or whoever the bus starts.
func (s *session) service() dbus.BusObject {
	if s.owner == "" {
		return s.conn.Object(serviceName, servicePath)
	}
	return s.conn.Object(s.owner, servicePath)
}

// take takes a notification from the screen.
func (s *session) take(id uint32) {
	s.service().Go(serviceName+".CloseNotification", dbus.FlagNoReplyExpected|dbus.FlagNoAutoStart, nil, id)
}

func (s *session) call(method string, args ...any) {
	s.calling, s.called = true, s.owner
	s.late.Reset(answerLimit)
	s.service().Go(serviceName+"."+method, 0, s.answers, args...)
}

// signalled takes a signal, after the answer that came before it.
func (s *session) signalled(sig *dbus.Signal) {
	select {
	case call := <-s.answers:
		s.inOrder(call, sig)
	default:
		s.heard(sig)
	}
}

// inOrder takes an answer and the signals around it, those that were read
// already and those that wait. They come on another channel, and what a number
// means changes with its owner.
func (s *session) inOrder(call *dbus.Call, signals ...*dbus.Signal) {
	for more := true; more; {
		select {
		case sig := <-s.signals:
			if more = sig != nil; more { // nil when the connection was closed
				signals = append(signals, sig)
			}
		default:
			more = false
		}
	}
	after := slices.IndexFunc(signals, func(sig *dbus.Signal) bool { return sig.Sequence > call.ResponseSequence })
	if after < 0 {
		after = len(signals)
	}
	for _, sig := range signals[:after] {
		s.heard(sig)
	}
	s.answered(call)
	for _, sig := range signals[after:] {
		s.heard(sig)
	}
}

// answered takes the answer to the call that is under way.
func (s *session) answered(call *dbus.Call) {
	e, asked := s.sent, s.asking
	s.calling, s.asking = false, false
	s.late.Stop()
	var err error
	if asked {
		var names []string
		if err = call.Store(&names); err == nil {
			s.can = abilitiesOf(names)
			return
		}
	} else {
		var id uint32
		if err = call.Store(&id); err == nil {
			s.screen.put(card{id: id, subject: e.ID, keys: s.offered, chosen: e.Chosen})
			s.shown()
			return
		}
	}
	switch {
	case nobody(err):
		switch {
		case asked:
		case s.lost.ID == e.ID && s.lost.since.Equal(e.since):
			s.complain("the notification service ends over one", err)
		default:
			s.lost = e
			s.queue.back(e)
		}
		if s.owner == s.called { // otherwise there may be another one
			s.away = true
			s.complain("there is no notification service", err)
		}
	case asked:
		// One that does not say what it can is given what any can show.
		s.can = &abilities{body: true}
	default:
		s.complain("the notification service refuses them", err)
	}
}

func abilitiesOf(names []string) *abilities {
	return &abilities{
		body:    slices.Contains(names, "body"),
		markup:  slices.Contains(names, "body-markup"),
		actions: slices.Contains(names, "actions"),
	}
}

// heard takes a signal. Only the bus and the service are believed.
func (s *session) heard(sig *dbus.Signal) {
	switch {
	case sig.Name == ownerEvent && sig.Sender == busIface:
		var name, before, now string
		if dbus.Store(sig.Body, &name, &before, &now) == nil && name == serviceName {
			s.changed(before, now)
		}
	case sig.Name == pressed && sig.Sender == s.owner:
		var id uint32
		var key string
		if dbus.Store(sig.Body, &id, &key) != nil {
			return
		}
		if c, ours := s.screen.choose(id, key); ours {
			s.take(id) // not every service does that by itself
			go c.chosen(key)
		}
	case sig.Name == closed && sig.Sender == s.owner:
		var id, reason uint32
		if dbus.Store(sig.Body, &id, &reason) == nil && reason != reasonExpired {
			s.screen.forget(id)
		}
	}
}

// changed takes note of another owner. One that ends takes its notifications
// with it, and the next one counts anew.
func (s *session) changed(before, now string) {
	s.owner, s.can, s.away = now, nil, false
	if before != "" {
		s.screen = screen{}
	}
}
