package tray

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/monitor"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(runChild())
	}
	goleak.VerifyTestMain(m)
}

// canvas is a painter that records.
type canvas struct {
	mu    sync.Mutex
	shown []menuSlot
	ops   []slotOp
	icons []string // style and worst state
	tips  []string
	fail  error
}

func (c *canvas) slots() []menuSlot {
	c.shown = hiddenSlots()
	return slices.Clone(c.shown)
}

func (c *canvas) do(ops []slotOp) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = apply(c.shown, ops)
	c.ops = append(c.ops, ops...)
	return c.fail
}

func (c *canvas) icon(style string, worst monitor.State) error {
	c.icons = append(c.icons, style+" "+string(worst))
	return nil
}

func (c *canvas) tooltip(text string) error { c.tips = append(c.tips, text); return nil }

// titles are those from the top to the dashboard.
func (c *canvas) titles() string { return c.between(0, slotGlobal) }

// under are the titles in a submenu.
func (c *canvas) under(slot int) string {
	first := slotTop
	for slotAbove(first) != slot {
		first++
	}
	end := first
	for end < slotCount && slotAbove(end) == slot {
		end++
	}
	return c.between(first, end)
}

func (c *canvas) between(first, end int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var t []string
	for _, s := range seen(c.shown[first:end]) {
		t = append(t, s.Title)
	}
	return strings.Join(t, " | ")
}

// clicked records what the menu orders.
type clicked chan string

func (c clicked) OpenInstance(id string) { c <- "open " + id }
func (c clicked) OpenGlobal()            { c <- "global" }
func (c clicked) Quit()                  { c <- "quit" }
func (c clicked) StopInstance(id string) { c <- "stop " + id }

func (c clicked) StopAll(what string)         { c <- "stop all " + what }
func (c clicked) Keep(id string)              { c <- "keep " + id }
func (c clicked) Pin(id string, pinned bool)  { c <- fmt.Sprint("pin ", id, " ", pinned) }
func (c clicked) Pause(until time.Time)       { c <- "pause " + until.Format(time.RFC3339) }
func (c clicked) Resume()                     { c <- "resume" }
func (c clicked) Switch(rule string, on bool) { c <- fmt.Sprint("switch ", rule, " ", on) }

// drawer is an owner on a canvas, driven without its loop.
func drawer(t *testing.T) (*owner, *canvas, *time.Time) {
	t.Helper()
	now := noon
	c := &canvas{}
	orders := make(clicked, 8)
	o := &owner{paint: c, actions: orders, stopper: orders, now: func() time.Time { return now }}
	if err := o.first(); err != nil {
		t.Fatal(err)
	}
	return o, c, &now
}

func (o *owner) see(t *testing.T, snap *monitor.Snapshot) {
	t.Helper()
	o.snap = snap
	if err := o.draw(); err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsDrawnTwice(t *testing.T) {
	o, c, now := drawer(t)
	o.see(t, snapshot(serena(1, "alpha", 0, 100), serena(2, "beta", 0, 100)))
	c.ops, c.icons, c.tips = nil, nil, nil
	for i := range 10 {
		*now = now.Add(20 * time.Second)
		o.see(t, snapshot(serena(1, "alpha", 0, 100+uint64(i)), serena(2, "beta", 0, 100-uint64(i))))
	}
	if len(c.ops)+len(c.icons)+len(c.tips) != 0 {
		t.Errorf("drawn for nothing: %v %v %v", c.ops, c.icons, c.tips)
	}
}

func TestOpenMenuKeepsItsLines(t *testing.T) {
	o, c, now := drawer(t)
	alpha, beta := serena(1, "alpha", 0, 0), serena(2, "beta", 0, 0)
	red := with(beta, func(in *monitor.Instance) { in.State, in.Cause = monitor.StateZombie, monitor.CauseSuspended })
	gamma := serena(3, "gamma", 0, 0)
	check := func(when, want string) {
		t.Helper()
		if got := c.titles(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", when, got, want)
		}
	}
	event := func(e menuEvent) {
		t.Helper()
		if err := o.menuEvent(e); err != nil {
			t.Fatal(err)
		}
	}
	o.see(t, snapshot(alpha, beta))
	event(menuOpened)
	o.see(t, snapshot(red, gamma))
	check("open", "2 servers, 1 needs attention | 1 - alpha · ended | 2 - beta · suspended")
	event(menuClosed)
	check("closed, a click may follow", "2 servers, 1 needs attention | 1 - alpha · ended | 2 - beta · suspended")
	if d := o.sleep(); d != clickComes {
		t.Errorf("waits %v, want %v", d, clickComes)
	}
	event(menuClicked)
	check("clicked", "2 servers, 1 needs attention | 2 - beta · suspended | 3 - gamma")

	event(menuOpened)
	o.see(t, snapshot(gamma, red))
	event(menuClosed)
	*now = now.Add(clickComes)
	o.see(t, snapshot(red, gamma))
	check("closed", "2 servers, 1 needs attention | 2 - beta · suspended | 3 - gamma")

	event(menuOpened)
	o.see(t, snapshot(gamma))
	event(menuOpened)
	check("told of the same opening twice", "1 server | 2 - beta · ended | 3 - gamma")
	*now = now.Add(2 * sameOpening)
	event(menuOpened)
	check("opened again", "1 server | 3 - gamma")

	o.see(t, snapshot(gamma, alpha))
	check("open", "2 servers | 3 - gamma")
	if d := o.sleep(); d != openLimit {
		t.Errorf("waits %v, want %v", d, openLimit)
	}
	*now = now.Add(openLimit)
	o.see(t, o.snap)
	check("after the limit", "2 servers | 1 - alpha | 3 - gamma")
	if o.waiting {
		t.Error("still waiting")
	}
}

func TestSetStyle(t *testing.T) {
	tray := New(Options{})
	tray.SetStyle("light")
	tray.SetStyle("dark") // does not wait
	if got := <-tray.styles; got != "dark" {
		t.Errorf("got %q", got)
	}
}

func TestIconFollowsTheWorstStateAndTheStyle(t *testing.T) {
	o, c, _ := drawer(t)
	green := serena(1, "alpha", 0, 0)
	red := with(green, func(in *monitor.Instance) { in.State = monitor.StateZombie })
	for _, s := range []*monitor.Snapshot{snapshot(), snapshot(green), snapshot(green), snapshot(red), snapshot(green)} {
		o.see(t, s)
	}
	o.style = "dark"
	o.see(t, o.snap)
	o.see(t, o.snap)
	want := []string{" ", " live_with_project", " zombie", " live_with_project", "dark live_with_project"}
	if !slices.Equal(c.icons, want) {
		t.Errorf("icons %q, want %q", c.icons, want)
	}
}

func TestSleep(t *testing.T) {
	o, _, _ := drawer(t)
	for _, c := range []struct {
		idle time.Duration
		want time.Duration
	}{{0, 5 * time.Minute}, {7 * time.Minute, 3 * time.Minute}, {5*time.Minute - time.Second, sleepStep}, {90 * time.Minute, 30 * time.Minute}} {
		o.see(t, snapshot(serena(1, "alpha", c.idle, 0)))
		if got := o.sleep(); got != c.want {
			t.Errorf("idle %v: sleeps %v, want %v", c.idle, got, c.want)
		}
	}
}

func TestSleepsToTheFullMinute(t *testing.T) {
	o, _, now := drawer(t)
	*now = noon.Add(50 * time.Second)
	in := serena(1, "alpha", 0, 0)
	in.Plan.ShutdownAt = noon.Add(4*time.Minute + 10*time.Second)
	o.see(t, snapshot(in))
	if got := o.sleep(); got != 10*time.Second {
		t.Errorf("sleeps %v to the next minute", got)
	}
	in.Plan = monitor.Plan{KeptUntil: noon.Add(time.Minute + time.Second)}
	o.see(t, snapshot(in))
	if got := o.sleep(); got != time.Minute+10*time.Second {
		t.Errorf("sleeps %v to the minute after", got)
	}
}

func TestLoopHandsOutClicksAndEnds(t *testing.T) {
	snaps, clicks, orders := make(chan *monitor.Snapshot, 1), make(chan int), make(clicked, 8)
	c := &canvas{}
	o := &owner{paint: c, actions: orders, now: time.Now, snapshots: snaps, clicks: clicks}
	snaps <- snapshot(serena(1, "alpha", 0, 0))
	if err := o.first(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.loop(ctx) }()
	slot := slotFirst + slices.Index(place(make([]string, poolSize), []string{"x"}), "x")
	for _, c := range []struct {
		slot int
		want string
	}{{slot, "open 2-7"}, {slotHead, "global"}, {slotGlobal, "global"}, {slotMore, "global"}, {slotQuit, "quit"}} {
		clicks <- c.slot
		if got := <-orders; got != c.want {
			t.Errorf("slot %d: %s, want %s", c.slot, got, c.want)
		}
		if len(orders) != 0 {
			t.Errorf("slot %d ordered more: %s", c.slot, <-orders)
		}
	}
	clicks <- slot + 1 // hidden
	clicks <- slotRecentFirst
	clicks <- slotStopFirst
	clicks <- slotHint
	clicks <- slotAbout
	close(snaps) // a source that ends does not end the tray
	clicks <- slotQuit
	if got := <-orders; got != "quit" {
		t.Errorf("a line without meaning ordered %q", got)
	}
	if len(orders) != 0 {
		t.Errorf("one click ordered more: %q", <-orders)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestLoopEndsWithTheBus(t *testing.T) {
	lost := make(chan struct{})
	close(lost)
	o := &owner{paint: &canvas{}, now: time.Now, lost: lost}
	if err := o.first(); err != nil {
		t.Fatal(err)
	}
	if err := o.loop(context.Background()); !errors.Is(err, ErrBusLost) {
		t.Errorf("got %v", err)
	}
	snaps := make(chan *monitor.Snapshot, 1)
	snaps <- snapshot()
	o = &owner{paint: &canvas{}, now: time.Now}
	if err := o.first(); err != nil {
		t.Fatal(err)
	}
	o.snapshots = snaps
	o.paint.(*canvas).fail = ErrBusLost
	if err := o.loop(context.Background()); !errors.Is(err, ErrBusLost) {
		t.Errorf("got %v", err)
	}
}
