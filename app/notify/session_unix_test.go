//go:build !windows && !darwin

package notify

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lamplighter/app/apptest"

	"github.com/godbus/dbus/v5"
)

var everything = []string{"actions", "body", "body-markup"}

func TestButtons(t *testing.T) {
	address, _ := bus(t)
	s := newService(t, address, everything...).appear(t)
	n := serve(t)
	n.Show(Notification{ID: "alpha", Summary: "24284 - <alpha>", Body: "a & b", Actions: buttons, Urgent: true})
	want := notice{
		id: 1, icon: "file:///usr/share/a%20b.png", summary: "24284 - <alpha>", body: "a &amp; b",
		actions: []string{"keep", "Keep for 1 h", "stop", "Stop now"}, urgency: urgencyCritical,
	}
	if got := s.told(t, 0); !reflect.DeepEqual(got, want) {
		t.Errorf("told %+v, want %+v", got, want)
	}
	n.settle(t, s)
	// Somebody else, a number that is not ours, a key that was not offered.
	newService(t, address).pretend(t, s.client, 1, "stop")
	s.emit(t, pressed, uint32(7), "stop")
	s.emit(t, pressed, uint32(1), "default")
	s.emit(t, pressed, "not a number")
	s.emit(t, pressed, uint32(1), "keep")
	s.emit(t, pressed, uint32(1), "stop") // it was chosen before
	n.chooses(t, "alpha keep")
	if got := s.told(t, 3); !got.withdrawn || got.id != 1 {
		t.Errorf("after the choice: %+v", got)
	}
	n.Show(Notification{ID: "alpha", Summary: "again"})
	if got := s.told(t, 4); got.replaces != 0 || got.id != 3 || got.urgency != urgencyNormal {
		t.Errorf("a new one: %+v", got)
	}
	if len(n.chosen) != 0 {
		t.Errorf("also chosen: %s", <-n.chosen)
	}
}

// What has left the screen is in a list, where its buttons work.
func TestButtonsOfAnExpiredOne(t *testing.T) {
	address, _ := bus(t)
	s := newService(t, address, everything...).appear(t)
	n := serve(t)
	for i, id := range []string{"alpha", "beta"} {
		n.Show(Notification{ID: id, Actions: buttons})
		s.told(t, i)
	}
	n.settle(t, s)
	const dismissed = uint32(2)
	s.emit(t, closed, uint32(1), reasonExpired)
	s.emit(t, closed, uint32(2), dismissed)
	s.emit(t, pressed, uint32(2), "stop")
	s.emit(t, pressed, uint32(1), "stop")
	n.chooses(t, "alpha stop")
	n.Show(Notification{ID: "beta"})
	if got := s.told(t, 5); got.replaces != 0 {
		t.Errorf("the user has closed what it replaces: %+v", got)
	}
	if len(n.chosen) != 0 {
		t.Errorf("also chosen: %s", <-n.chosen)
	}
}

// While the service thinks about one, only the newest about each subject waits.
func TestNewestReplaces(t *testing.T) {
	address, _ := bus(t)
	s := newService(t, address, everything...).appear(t)
	hold := make(chan struct{})
	s.set(func() { s.hold = hold })
	n := serve(t)
	n.Show(Notification{ID: "alpha", Summary: "1"})
	s.told(t, 0)
	n.Show(Notification{ID: "alpha", Summary: "2"})
	n.Show(Notification{ID: "beta", Summary: "b"})
	n.Show(Notification{ID: "gamma", Summary: "c"})
	n.Show(Notification{ID: "alpha", Summary: "3"})
	n.Withdraw("gamma")
	close(hold)
	if got := s.told(t, 1); got.summary != "3" || got.replaces != 1 {
		t.Errorf("%+v", got)
	}
	if got := s.told(t, 2); got.summary != "b" || got.replaces != 0 {
		t.Errorf("%+v", got)
	}
	n.Withdraw("beta")
	n.Withdraw("nobody")
	n.Withdraw("alpha")
	// The bus keeps their order, the service here does not.
	if one, other := s.told(t, 3), s.told(t, 4); !one.withdrawn || !other.withdrawn || one.id+other.id != 1+2 {
		t.Errorf("%+v, %+v", one, other)
	}
}

// A service that was restarted counts anew and may be another program.
func TestServiceRestarts(t *testing.T) {
	address, _ := bus(t)
	s := newService(t, address, everything...).appear(t)
	n := serve(t)
	n.Show(Notification{ID: "alpha", Actions: buttons})
	s.told(t, 0)
	n.settle(t, s)
	s.conn.Close()
	next := newService(t, address, "body").appear(t)
	next.emit(t, pressed, uint32(1), "stop") // of somebody else
	n.Show(Notification{ID: "alpha", Body: "<b>", Actions: buttons})
	if got := next.told(t, 0); got.replaces != 0 || len(got.actions) != 0 || got.body != "<b>\nIn the menu or on the page of Lamplighter: Keep for 1 h, Stop now." {
		t.Errorf("%+v", got)
	}
	if len(n.chosen) != 0 {
		t.Errorf("chosen: %s", <-n.chosen)
	}
}

// What comes before the service does is shown when it does.
func TestNoService(t *testing.T) {
	address, _ := bus(t)
	n := serve(t)
	const said = "notifications are not shown: there is no notification service"
	n.Show(Notification{ID: "alpha"})
	apptest.Eventually(t, "it is logged", func() bool { return strings.Contains(n.log.String(), said) })
	n.Show(Notification{ID: "beta"})
	n.Withdraw("gamma")
	s := newService(t, address, everything...).appear(t)
	s.told(t, 1)
	apptest.Eventually(t, "that they are shown is logged", func() bool { return strings.Contains(n.log.String(), "notifications are shown again") })
	if log := n.log.String(); strings.Count(log, "\n") != 2 || s.asked != 1 {
		t.Errorf("asked %d times, logged:\n%s", s.asked, log)
	}
}

// A question that nobody can be asked is not shown, and whoever asks hears of it.
func TestUnheard(t *testing.T) {
	address, _ := bus(t)
	n := serve(t)
	unheard := make(chan string, 2)
	question := func(id string) {
		n.Show(Notification{ID: id, Actions: buttons, Unheard: func() { unheard <- id }})
		if got := <-unheard; got != id {
			t.Error(got)
		}
	}
	question("without a service")
	s := newService(t, address, "body").appear(t)
	question("without buttons")
	n.Show(Notification{ID: "alpha", Summary: "alpha"})
	if got := s.told(t, 0); got.summary != "alpha" {
		t.Errorf("%+v", got)
	}
}

// A notification that the service ends over comes once more, and no more.
func TestServiceEndsOverOne(t *testing.T) {
	address, _ := bus(t)
	n := serve(t)
	for i := range 2 {
		s := newService(t, address, everything...)
		hold := make(chan struct{})
		s.set(func() { s.hold = hold })
		s.appear(t)
		if i == 0 {
			n.Show(Notification{ID: "poison"})
		}
		if got := s.told(t, 0); i == 1 && got.replaces != 0 {
			t.Errorf("%+v", got)
		}
		s.conn.Close()
		close(hold)
	}
	apptest.Eventually(t, "it is logged", func() bool { return strings.Contains(n.log.String(), "the notification service ends over one") })
	s := newService(t, address, everything...).appear(t)
	n.Show(Notification{ID: "alpha", Summary: "alpha"})
	if got := s.told(t, 0); got.summary != "alpha" {
		t.Errorf("%+v", got)
	}
}

func TestServiceRefuses(t *testing.T) {
	address, _ := bus(t)
	s := newService(t, address, everything...).appear(t)
	s.set(func() {
		s.refuses = dbus.NewError("org.freedesktop.Notifications.Error.ExcessNotificationGeneration", nil)
	})
	n := serve(t)
	n.Show(Notification{ID: "alpha"})
	n.Show(Notification{ID: "beta"})
	s.told(t, 1)
	s.set(func() { s.refuses = nil })
	n.Show(Notification{ID: "gamma"})
	s.told(t, 2)
	apptest.Eventually(t, "both are logged", func() bool { return strings.Contains(n.log.String(), "shown again") })
	if log := n.log.String(); strings.Count(log, "\n") != 2 || !strings.Contains(log, "refuses") {
		t.Errorf("logged:\n%s", log)
	}
}

// At the end only those with buttons go.
func TestButtonsGoAtTheEnd(t *testing.T) {
	address, _ := bus(t)
	s := newService(t, address, everything...).appear(t)
	n := serve(t)
	n.Show(Notification{ID: "ended"})
	n.Show(Notification{ID: "ends", Actions: buttons})
	s.told(t, 1)
	n.Show(Notification{ID: "last"})
	s.told(t, 2) // so that the number of the one before is known
	n.end()
	if got := s.told(t, 3); !got.withdrawn || got.id != 2 {
		t.Errorf("%+v", got)
	}
}

func TestNoBus(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	n := serve(t)
	const said = "notifications are not shown: no session bus"
	n.Show(Notification{ID: "alpha"})
	apptest.Eventually(t, "it is logged", func() bool { return strings.Contains(n.log.String(), said) })
	n.Show(Notification{ID: "beta"})
	address, kill := bus(t)
	s := newService(t, address, everything...).appear(t)
	n.Show(Notification{ID: "gamma"})
	s.told(t, 2)
	kill()
	apptest.Eventually(t, "the end of the bus is logged", func() bool { return strings.Contains(n.log.String(), "the session bus is gone") })
	if log := n.log.String(); strings.Count(log, said) != 1 {
		t.Errorf("logged:\n%s", log)
	}
}

// A bus that takes connections and says nothing does not keep us from ending.
func TestMuteBus(t *testing.T) {
	dir, err := os.MkdirTemp("", "bus") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+path)
	n := serve(t)
	n.Show(Notification{ID: "alpha"})
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	n.end()
}

// Whoever has nothing to show does not come to the bus.
func TestQuietIsSilent(t *testing.T) {
	address, _ := bus(t)
	s := newService(t, address, everything...).appear(t)
	comers := make(chan *dbus.Signal, 16)
	s.conn.Signal(comers)
	if err := s.conn.AddMatchSignal(dbus.WithMatchSender(busIface), dbus.WithMatchMember("NameOwnerChanged")); err != nil {
		t.Fatal(err)
	}
	n := serve(t)
	n.Withdraw("alpha")
	apptest.Eventually(t, "it is looked at", func() bool { return len(n.queue.wake) == 0 })
	n.end()
	if err := s.conn.BusObject().Call(busIface+".GetId", 0).Err; err != nil { // what came before has been told
		t.Fatal(err)
	}
	if len(comers) != 0 {
		t.Errorf("on the bus: %v", (<-comers).Body)
	}
}

// A number of a service that has gone is never taken for one of the next.
func TestServiceFlaps(t *testing.T) {
	address, _ := bus(t)
	n := serve(t)
	for range 50 {
		s := newService(t, address, everything...).appear(t)
		n.Show(Notification{ID: "alpha", Actions: buttons})
		if got := s.told(t, 0); got.replaces != 0 {
			t.Fatalf("%+v", got)
		}
		s.conn.Close()
	}
}

// What came before the answer counts before it, although it comes another way.
func TestSignalsAndAnswersAreInOrder(t *testing.T) {
	dismissed := func(at dbus.Sequence) *dbus.Signal {
		return &dbus.Signal{Sender: ":1.2", Name: closed, Body: []any{uint32(1), uint32(2)}, Sequence: at}
	}
	becomes := func(before, now string, at dbus.Sequence) *dbus.Signal {
		return &dbus.Signal{Sender: busIface, Name: ownerEvent, Body: []any{serviceName, before, now}, Sequence: at}
	}
	for name, test := range map[string]struct {
		signals []*dbus.Signal
		want    uint32
	}{
		"none":                     {nil, 1},
		"another one has begun":    {[]*dbus.Signal{becomes(":1.1", ":1.2", 4)}, 1},
		"it ended after that":      {[]*dbus.Signal{becomes(":1.2", "", 6)}, 0},
		"closed after that":        {[]*dbus.Signal{dismissed(6)}, 0},
		"an older one was closed":  {[]*dbus.Signal{dismissed(4)}, 1},
		"begun, closed after that": {[]*dbus.Signal{becomes(":1.1", ":1.2", 3), dismissed(4), dismissed(6)}, 0},
	} {
		for _, signalFirst := range []bool{false, true} {
			s := newSession(New(Options{}), nil)
			s.owner = ":1.2"
			s.calling, s.sent = true, entry{Notification: Notification{ID: "alpha"}}
			for _, sig := range test.signals {
				s.signals <- sig
			}
			call := &dbus.Call{Body: []any{uint32(1)}, ResponseSequence: 5}
			if signalFirst && len(test.signals) > 0 {
				s.answers <- call
				s.signalled(<-s.signals)
			} else {
				s.inOrder(call)
			}
			if got := s.screen.of("alpha"); got != test.want || s.calling {
				t.Errorf("%s, a signal first: %v: %d, want %d", name, signalFirst, got, test.want)
			}
		}
	}
}

// Whoever has waited for a service does not wait for an order as well.
func TestAnotherOwnerIsTried(t *testing.T) {
	s := newSession(New(Options{}), nil)
	s.away, s.can = true, &abilities{}
	s.heard(&dbus.Signal{Sender: busIface, Name: ownerEvent, Body: []any{"org.example", "", ":1.2"}})
	if !s.away || s.owner != "" {
		t.Error("another name is taken for the service")
	}
	s.heard(&dbus.Signal{Sender: busIface, Name: ownerEvent, Body: []any{serviceName, "", ":1.2"}})
	if s.away || s.owner != ":1.2" || s.can != nil {
		t.Errorf("%+v", s)
	}
}

func TestNobody(t *testing.T) {
	for name, want := range map[string]bool{
		"org.freedesktop.DBus.Error.ServiceUnknown":    true,
		"org.freedesktop.DBus.Error.NoReply":           true,
		"org.freedesktop.DBus.Error.Spawn.ChildExited": true,
		"org.freedesktop.DBus.Error.LimitsExceeded":    false,
		"org.freedesktop.DBus.Error.InvalidArgs":       false,
	} {
		if got := nobody(dbus.Error{Name: name}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if nobody(nil) || nobody(context.Canceled) || nobody(errors.New("org.freedesktop.DBus.Error.NoReply")) {
		t.Error("an error of another kind is taken for one of the bus")
	}
}
