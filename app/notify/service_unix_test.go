//go:build !windows && !darwin

package notify

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/tray/traytest"

	"github.com/godbus/dbus/v5"
)

// notice is what the service was told.
type notice struct {
	id, replaces        uint32
	icon, summary, body string
	actions             []string
	urgency             byte
	withdrawn           bool
}

// service stands for the notification service where it is to fail. It counts
// from 1, as a service that has just started does.
type service struct {
	conn *dbus.Conn

	mu      sync.Mutex
	can     []string
	count   uint32
	asked   int
	all     []notice
	client  dbus.Sender // who notified last
	refuses *dbus.Error
	hold    chan struct{} // a notification is answered when it is closed
}

func newService(t *testing.T, address string, can ...string) *service {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &service{conn: conn, can: can}
	if err := conn.Export(s, servicePath, serviceName); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *service) appear(t *testing.T) *service {
	t.Helper()
	if r, err := s.conn.RequestName(serviceName, dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(r, err)
	}
	return s
}

func (s *service) GetCapabilities() ([]string, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.can, nil
}

func (s *service) Notify(client dbus.Sender, app string, replaces uint32, icon, summary, body string, actions []string, hints map[string]dbus.Variant, timeout int32) (uint32, *dbus.Error) {
	s.mu.Lock()
	id := replaces
	if id == 0 {
		s.count++
		id = s.count
	}
	n := notice{id: id, replaces: replaces, icon: icon, summary: summary, body: body, actions: actions}
	n.urgency, _ = hints["urgency"].Value().(byte)
	s.all = append(s.all, n)
	s.client = client
	refuses, hold := s.refuses, s.hold
	s.mu.Unlock()
	if hold != nil {
		<-hold
	}
	return id, refuses
}

func (s *service) CloseNotification(id uint32) *dbus.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, notice{id: id, withdrawn: true})
	return nil
}

// told waits for the notice with that number, counted from 0.
func (s *service) told(t *testing.T, n int) notice {
	t.Helper()
	apptest.Eventually(t, fmt.Sprint("notice ", n), func() bool { return len(s.notices()) > n })
	return s.notices()[n]
}

func (s *service) notices() []notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

func (s *service) emit(t *testing.T, name string, args ...any) {
	t.Helper()
	if err := s.conn.Emit(servicePath, name, args...); err != nil {
		t.Fatal(err)
	}
}

// pretend tells a client that a button was pressed, and nobody else.
func (s *service) pretend(t *testing.T, client dbus.Sender, id uint32, key string) {
	t.Helper()
	v := dbus.MakeVariant
	call := s.conn.Send(&dbus.Message{
		Type: dbus.TypeSignal, Body: []any{id, key},
		Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldDestination: v(string(client)), dbus.FieldPath: v(dbus.ObjectPath(servicePath)),
			dbus.FieldInterface: v(serviceName), dbus.FieldMember: v("ActionInvoked"),
			dbus.FieldSignature: v(dbus.SignatureOf(id, key)),
		},
	}, nil)
	if call.Err != nil {
		t.Fatal(call.Err)
	}
	if err := s.conn.BusObject().Call(busIface+".GetId", 0).Err; err != nil { // the bus has it now
		t.Fatal(err)
	}
}

func (s *service) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// bus starts a private bus that cannot start a notification service, even where
// one is installed, and makes it that of this process.
func bus(t *testing.T) (address string, kill func()) {
	t.Helper()
	data := t.TempDir()
	services := filepath.Join(data, "dbus-1", "services")
	if err := os.MkdirAll(services, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "[D-BUS Service]\nName=" + serviceName + "\nExec=/bin/false\n"
	if err := os.WriteFile(filepath.Join(services, serviceName+".service"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address, kill = traytest.StartBus(t, "XDG_DATA_HOME="+data)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	return address, kill
}

// served is a notifier that is served until the test ends or end is called.
type served struct {
	*Notifier
	chosen chan string
	log    *apptest.Buffer
	end    func()
}

func serve(t *testing.T) served {
	t.Helper()
	chosen := make(chan string, 16)
	log := &apptest.Buffer{}
	n := New(Options{
		App: "Lamplighter", Icon: "/usr/share/a b.png",
		Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Serve(ctx) }()
	end := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("the log:\n" + log.String())
		}
	})
	return served{n, chosen, log, end}
}

// Show shows a notification, and hears its buttons.
func (s served) Show(what Notification) {
	what.Chosen = func(key string) { s.chosen <- what.ID + " " + key }
	s.Notifier.Show(what)
}

// settle waits until it knows the number of all that the service has been told of,
// which answers after that: what a service says of a number, or that it has ended,
// may come before the answer. The service is told of one more, and to withdraw that.
func (s served) settle(t *testing.T, by *service) {
	t.Helper()
	before := len(by.notices())
	s.Show(Notification{ID: "settled"})
	by.told(t, before)
	s.Withdraw("settled")
	if got := by.told(t, before+1); !got.withdrawn {
		t.Fatalf("not settled: %+v", got)
	}
}

// chooses waits for a choice.
func (s served) chooses(t *testing.T, want string) {
	t.Helper()
	apptest.Eventually(t, "a choice", func() bool { return len(s.chosen) > 0 })
	if got := <-s.chosen; got != want {
		t.Errorf("chosen: %s, want %s", got, want)
	}
}
