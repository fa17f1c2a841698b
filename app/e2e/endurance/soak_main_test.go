//go:build real && soak && linux

package endurance

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor"
	"lamplighter/monitor/events"
	"lamplighter/monitor/view"
	"lamplighter/tray/traytest"
)

// soakSettings let the policies act within seconds. A time of three seconds is the
// shortest that still has a grace.
const soakSettings = `orphan_grace_minutes: 0.05
idle_shutdown_minutes: 0.2
zombie_prune_minutes: 0.2
log_level: debug
policies:
  - project: sanctuary
    never: true
`

// soak is a lamplighter on a desktop of its own, and all that is done to it.
type soak struct {
	*e2e.Manager
	tools  string // a directory for what the soak makes; it goes with the test
	seed   uint64
	over   context.Context // done when the load ends
	ledger *ledger
	panel  *traytest.Host
	bus    string // its address
	sender string

	projects []string     // that clients work on
	killed   atomic.Int64 // when a server that they share was killed last, in Unix nanoseconds

	heap [2]float64 // of the page: bytes at the beginning and at the end

	mu   sync.Mutex
	now  map[string]view.Server // what lamplighter lists, by id
	seen map[string]bool        // what it ever listed
}

// TestSoak lets servers come, go, hang, crash and change for a while, and looks
// afterwards whether anything is left of it. LAMPLIGHTER_TEST_SOAK is how long,
// LAMPLIGHTER_TEST_SEED the seed of a run that is to be repeated.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("LAMPLIGHTER_TEST_SOAK"))
	if err != nil {
		t.Fatalf("LAMPLIGHTER_TEST_SOAK is how long to go on, such as 5m: %v", err)
	}
	s := newSoak(t)
	r := &soakReport{}
	defer r.print(os.Stdout)
	r.add("seed", "%d", s.seed)

	// A first lamplighter does a little of everything, and shows what one that has
	// been at work holds when nothing is left to do.
	s.light(t)
	over, stop := context.WithCancel(t.Context())
	s.over = over
	unwatch := s.watch(t)
	s.warmUp(t)
	s.settle(t, unwatch)
	before := s.holdings(t)
	quiet := s.dump(t)
	stop()

	s.light(t)
	unwatch = s.watch(t)

	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	s.over = ctx
	began, cpu := time.Now(), s.cpu(t)
	samples := s.sample()
	s.load(t)
	r.add("minutes", "%.1f", time.Since(began).Minutes())
	r.add("CPU", "%.1f %% of a core", 100*(s.cpu(t)-cpu).Seconds()/time.Since(began).Seconds())

	s.settle(t, unwatch)
	after := s.holdings(t)
	samples.finish(t)
	s.onlyOurs(t)
	busy := s.dump(t)

	happened := s.happened(t)
	s.ledger.compare(happened)
	s.ledger.workspaces(happened)
	r.counts(s.ledger, happened)
	r.memory(t, samples)
	r.add("heap of the page, first and last", "%.1f MB %.1f MB", s.heap[0]/1e6, s.heap[1]/1e6)
	r.holdings(t, before, after)
	r.goroutines(t, quiet, busy)

	// Another one cleans up what the one that was killed has left.
	s.light(t)
	s.Ends(t, syscall.SIGTERM)
	s.nothingLeftBehind(t)
	faults := s.ledger.judge(t)
	r.add("faults against the ledger", "%d", faults)
	r.result(t)
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	s := &soak{Manager: e2e.SerenaHome(t), tools: t.TempDir(), ledger: newLedger(), now: map[string]view.Server{}, seen: map[string]bool{}}
	s.seed = apptest.Seed(t)
	s.Initialised(t)
	s.makeProjects(t)
	s.Set(t, soakSettings+e2e.AcmeSettings(t))
	address, _ := traytest.StartBus(t)
	s.bus = address
	s.panel = traytest.NewHost(t, address)
	s.panel.Appear(t)
	startNotifier(t, address)
	if err := os.Mkdir(s.Path("tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "TMPDIR="+s.Path("tmp"))
	return s
}

// notifier takes what people are told, as a desktop does. Without it the bus would
// start the one of the machine.
type notifier struct{ id atomic.Uint32 }

func startNotifier(t *testing.T, address string) {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	const name = "org.freedesktop.Notifications"
	if err := conn.Export(&notifier{}, "/org/freedesktop/Notifications", name); err != nil {
		t.Fatal(err)
	}
	if r, err := conn.RequestName(name, dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(r, err)
	}
}

// Notify takes a notification.
func (n *notifier) Notify(_ string, replaces uint32, _, _, _ string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	if replaces != 0 {
		return replaces, nil
	}
	return n.id.Add(1), nil
}

// CloseNotification takes one back.
func (*notifier) CloseNotification(uint32) *dbus.Error { return nil }

// GetCapabilities says that it shows buttons.
func (*notifier) GetCapabilities() ([]string, *dbus.Error) { return []string{"actions", "body"}, nil }

// GetServerInformation says who it is.
func (*notifier) GetServerInformation() (name, vendor, version, spec string, err *dbus.Error) {
	return "soak", "test", "1", "1.2", nil
}

// rand is a source of the randomness of one player.
func (s *soak) rand(player uint64) *rand.Rand { return rand.New(rand.NewPCG(s.seed, player)) }

// pause waits; false: the load is over.
func (s *soak) pause(d time.Duration) bool {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
		return s.over.Err() == nil
	case <-s.over.Done():
		return false
	}
}

// light starts lamplighter, with its icon on the panel.
func (s *soak) light(t *testing.T) {
	t.Helper()
	clients := s.Env
	// Servers are parked soon.
	s.Env = append(clients[:len(clients):len(clients)], "DBUS_SESSION_BUS_ADDRESS="+s.bus, "LAMPLIGHTER_IDLE_SHUTDOWN_SECS=4")
	s.Begin(t)
	s.Env = clients
	s.sender = s.panel.AwaitItem(t)
	e2e.Serves(t, e2e.PageAt(s.Page))
}

// watch follows what lamplighter lists, as a client of its control socket. The
// function that it returns ends that.
func (s *soak) watch(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	client, _, err := api.Dial(ctx, s.Socket())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := client.Stream(ctx, func(list api.Instances) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			clear(s.now)
			for _, in := range list.Instances {
				s.now[string(in.ID)], s.seen[string(in.ID)] = *in, true
			}
			return nil
		})
		if ctx.Err() == nil {
			s.ledger.fault("the stream of the control socket has ended: %v", err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-ended; client.Close() })
	t.Cleanup(stop)
	return stop
}

// lists is what lamplighter says of a server.
func (s *soak) lists(id monitor.Identity) (view.Server, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, ok := s.now[id.String()]
	return in, ok
}

// listed are the ids of what lamplighter lists, sorted.
func (s *soak) listed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.now))
}

// seenWith tells that lamplighter lists a server with its client.
func (s *soak) seenWith(p *lamp) bool {
	in, ok := s.lists(p.id)
	return ok && in.Client != nil && in.Client.PID == p.client.PID && in.State != monitor.StateStarting
}

// load plays all the parts at once until the time is over. Each is a subtest with
// a goroutine of its own, so that it may fail.
func (s *soak) load(t *testing.T) {
	parts := map[string]func(*testing.T){
		"synthetic": s.playSynthetics, "ledger": s.playLedger, "panel": s.playPanel, "chaos": s.playChaos, "page": s.playPage,
		"sessions": s.playSessions, "workspaces": s.playWorkspaces,
	}
	for i := range realAtOnce {
		parts[fmt.Sprint("real ", i)] = s.playSerena(uint64(100 + i))
	}
	for i := range sharersAtOnce {
		parts[fmt.Sprint("clients ", i)] = s.playClients(uint64(200 + i))
	}
	var all sync.WaitGroup
	for name, play := range parts {
		all.Go(func() { t.Run(name, play) })
	}
	all.Wait()
}

// playLedger looks all the time who has ended.
func (s *soak) playLedger(*testing.T) {
	for s.pause(300 * time.Millisecond) {
		s.adopt()
		s.ledger.sweep()
	}
}

// playPanel reads the menu as a panel does, again and again.
func (s *soak) playPanel(t *testing.T) {
	for s.pause(time.Second) {
		if text := s.panel.Labels(t, s.sender); !strings.Contains(text, "Quit") {
			t.Errorf("the menu is\n%s", text)
		}
		s.ledger.count("menus read")
	}
}

// warmUp does a little of everything once, with an orphan, of which people are
// told, and which a policy ends.
func (s *soak) warmUp(t *testing.T) {
	t.Helper()
	c := s.newSynthetics(t)
	p := c.start(t, true, "alpha")
	if p == nil {
		t.FailNow()
	}
	apptest.Eventually(t, "it is listed", func() bool { return s.seenWith(p) })
	s.panel.Labels(t, s.sender)
	e2e.Fetch(t, e2e.PageAt(s.Page)+"instances")
	apptest.Eventually(t, "its client was killed", func() bool { c.orphan(t); return p.mustEnd })
	apptest.Eventually(t, "its end was told", func() bool { return !runs(p.id) })
	c.waits.Wait()
}

// settle waits until all that is to end has ended, and lamplighter lists nothing;
// then nobody follows any more what it lists.
func (s *soak) settle(t *testing.T, unwatch func()) {
	t.Helper()
	deadline := time.Now().Add(100 * time.Second)
	for {
		s.adopt() // a client that is still there may have woken one as the load ended
		s.ledger.sweep()
		s.mu.Lock()
		listed := len(s.now)
		s.mu.Unlock()
		left := 0
		for _, p := range s.ledger.all() {
			if !p.gone {
				left++
			}
		}
		if listed == 0 && left == 0 {
			break
		}
		if time.Now().After(deadline) {
			_, out, _ := s.Does(t, "status")
			for _, p := range s.ledger.all() {
				if !p.gone {
					s.ledger.fault("%s (%s, %s) still runs", p.id, p.what, p.mayEnd)
					kill(p.id, syscall.SIGKILL)
				}
			}
			t.Errorf("it has not settled: %d are listed, %d run:\n%s", listed, left, out)
			break
		}
		<-time.After(200 * time.Millisecond) // no event says that nothing more comes
	}
	apptest.Eventually(t, "the menu is empty", func() bool { return strings.Contains(s.panel.Labels(t, s.sender), "No servers yet") })
	unwatch()
	// Connections that are kept for the next request are closed after seconds.
	<-time.After(soakRest)
}

// soakRest is how long lamplighter gets to come to rest.
const soakRest = 12 * time.Second

// happened are all events so far.
func (s *soak) happened(t *testing.T) []monitor.Event {
	t.Helper()
	list, err := events.Read(s.State(), events.Query{})
	if err != nil || list.Skipped > 0 {
		t.Errorf("reading the events: %v, %d lines are broken", err, list.Skipped)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.ledger.all() {
		p.shown = s.seen[p.id.String()]
	}
	return list.Events
}
