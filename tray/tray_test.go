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
	"lamplighter/monitor/view"

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
	shown menu
	drawn []change
	icons []string // style and worst state
	fail  error
}

func (c *canvas) build(m menu) {
	c.shown = slices.Clone(m)
	c.icons = append(c.icons, m[0].Style+" "+string(m[0].Mark))
}

func (c *canvas) show(changes []change) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = apply(c.shown, changes)
	c.drawn = append(c.drawn, changes...)
	if icon := changes[0]; icon.ID == 0 && (icon.Was.Style != icon.Now.Style || icon.Was.Mark != icon.Now.Mark) {
		c.icons = append(c.icons, icon.Now.Style+" "+string(icon.Now.Mark))
	}
	return c.fail
}

// plain are the extras of most tests.
func plain() Extras { return Extras{} }

// titles are those of the instances, after the first line.
func (c *canvas) titles() string {
	return titles(append(menu{c.shown[1]}, c.shown.of(view.Open)...))
}

// under are the titles in a submenu.
func (c *canvas) under(key string) string { return titles(c.shown.under(key)) }

// clicked records what the menu orders.
type clicked chan string

func (c clicked) Do(o view.Order) { c <- orderText(o) }

// orderText is an order in one line.
func orderText(o view.Order) string {
	switch o.Verb {
	case view.OpenPage:
		return "global"
	case view.Login:
		return fmt.Sprint("at login ", o.On)
	case view.Pause:
		return "pause " + o.Until.Format(time.RFC3339)
	case view.Pin:
		return fmt.Sprint("pin ", o.ID, " ", o.On)
	case view.Switch:
		return fmt.Sprint("switch ", o.What, " ", o.On)
	}
	return strings.TrimSpace(string(o.Verb) + " " + string(o.ID) + o.What)
}

// drawer is an owner on a canvas, driven without its loop.
func drawer(t *testing.T) (*owner, *canvas, *time.Time) {
	t.Helper()
	now := noon
	c := &canvas{}
	orders := make(clicked, 8)
	o := &owner{paint: c, opts: Options{Orders: orders, Extras: plain}, now: func() time.Time { return now }}
	o.first()
	return o, c, &now
}

// id is the index of the line with that key.
func (o *owner) id(key string) int {
	return slices.IndexFunc(o.shown, func(l line) bool { return l.Key == key })
}

func (o *owner) see(t *testing.T, snap *monitor.Snapshot) {
	t.Helper()
	o.snap = snap
	if err := o.draw(); err != nil {
		t.Fatal(err)
	}
}

// tell takes in what the desktop tells about the menu.
func (o *owner) tell(t *testing.T, e menuEvent) {
	t.Helper()
	if err := o.menuEvent(e); err != nil {
		t.Fatal(err)
	}
}

// press clicks on the line with that key, if there is one, and checks what is ordered,
// empty for nothing.
func (o *owner) press(t *testing.T, when, key, want string) {
	t.Helper()
	if id := o.id(key); id >= 0 {
		o.click(id)
	}
	if want == "" {
		o.click(o.id("quit")) // so that there is something to wait for
		want = "quit"
	}
	orders := o.opts.Orders.(clicked)
	if got := <-orders; got != want {
		t.Errorf("%s: ordered %q, want %q", when, got, want)
	}
	if len(orders) > 0 {
		t.Errorf("%s: ordered more: %q", when, <-orders)
	}
}

func TestNothingIsDrawnTwice(t *testing.T) {
	o, c, now := drawer(t)
	o.see(t, snapshot(serena(2, "alpha", 0, 100), serena(3, "beta", 0, 100)))
	c.drawn = nil
	for i := range 10 {
		*now = now.Add(20 * time.Second)
		o.see(t, snapshot(serena(2, "alpha", 0, 100+uint64(i)), serena(3, "beta", 0, 100-uint64(i))))
	}
	if len(c.drawn) != 0 {
		t.Errorf("drawn for nothing: %v", c.drawn)
	}
}

func TestOpenMenuKeepsItsLines(t *testing.T) {
	o, c, now := drawer(t)
	alpha, beta := serena(2, "alpha", 0, 0), serena(3, "beta", 0, 0)
	red := with(beta, func(in *monitor.Instance) { in.State, in.Cause = monitor.StateZombie, monitor.CauseSuspended })
	gamma := serena(4, "gamma", 0, 0)
	check := func(when, want string) {
		t.Helper()
		if got := c.titles(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", when, got, want)
		}
	}
	o.see(t, snapshot(alpha, beta))
	o.tell(t, menuOpened)
	o.see(t, snapshot(red, gamma))
	check("open", "2 servers, 1 needs attention | 2 - alpha · ended | 3 - beta · Claude Code · suspended")
	o.tell(t, menuClosed)
	check("closed, a click may follow", "2 servers, 1 needs attention | 2 - alpha · ended | 3 - beta · Claude Code · suspended")
	if d := o.sleep(); d != clickComes {
		t.Errorf("waits %v, want %v", d, clickComes)
	}
	o.tell(t, menuClicked)
	check("clicked", "2 servers, 1 needs attention | 3 - beta · Claude Code · suspended | 4 - gamma · Claude Code")

	o.tell(t, menuOpened)
	o.see(t, snapshot(gamma, red))
	o.tell(t, menuClosed)
	*now = now.Add(clickComes)
	o.see(t, snapshot(red, gamma))
	check("closed", "2 servers, 1 needs attention | 3 - beta · Claude Code · suspended | 4 - gamma · Claude Code")

	o.tell(t, menuOpened)
	o.see(t, snapshot(gamma))
	o.tell(t, menuOpened)
	check("told of the same opening twice", "1 server | 3 - beta · ended | 4 - gamma · Claude Code")
	*now = now.Add(2 * sameOpening)
	o.tell(t, menuOpened)
	check("opened again", "1 server | 4 - gamma · Claude Code")

	o.see(t, snapshot(gamma, alpha))
	check("open", "2 servers | 4 - gamma · Claude Code")
	if d := o.sleep(); d != openLimit {
		t.Errorf("waits %v, want %v", d, openLimit)
	}
	*now = now.Add(openLimit)
	o.see(t, o.snap)
	check("after the limit", "2 servers | 2 - alpha · Claude Code | 4 - gamma · Claude Code")
	if o.waiting {
		t.Error("still waiting")
	}
}

func TestIconFollowsTheWorstStateAndTheStyle(t *testing.T) {
	o, c, _ := drawer(t)
	green := serena(2, "alpha", 0, 0)
	red := with(green, func(in *monitor.Instance) { in.State = monitor.StateZombie })
	for _, s := range []*monitor.Snapshot{snapshot(), snapshot(green), snapshot(green), snapshot(red), snapshot(green)} {
		o.see(t, s)
	}
	o.opts.Extras = func() Extras { return Extras{Style: "dark"} }
	o.see(t, o.snap)
	o.see(t, o.snap)
	want := []string{" ", " live_with_project", " zombie", " live_with_project", "dark live_with_project"}
	if !slices.Equal(c.icons, want) {
		t.Errorf("icons %q, want %q", c.icons, want)
	}
}

// Time alone changes the menu at full minutes.
func TestDrawsOnTheMinute(t *testing.T) {
	o, _, now := drawer(t)
	for after, want := range map[time.Duration]time.Duration{0: time.Minute, time.Second: 59 * time.Second, 50 * time.Second: 10 * time.Second} {
		*now = noon.Add(after)
		if got := o.sleep(); got != want {
			t.Errorf("%v after a full minute: sleeps %v, want %v", after, got, want)
		}
	}
}

func TestLoopHandsOutClicksAndEnds(t *testing.T) {
	snaps, clicks, orders := make(chan *monitor.Snapshot, 1), make(chan int), make(clicked, 8)
	c := &canvas{}
	o := &owner{paint: c, opts: Options{Orders: orders, Extras: plain}, now: time.Now, snapshots: snaps, clicks: clicks}
	snaps <- snapshot(serena(2, "alpha", 0, 0))
	o.first()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.loop(ctx) }()
	entry := o.id("open 2-7")
	for _, c := range []struct {
		id   int
		want string
	}{{entry, "open 2-7"}, {o.id("head"), "global"}, {o.id("global"), "global"}, {o.id("quit"), "quit"}} {
		clicks <- c.id
		if got := <-orders; got != c.want {
			t.Errorf("line %d: %s, want %s", c.id, got, c.want)
		}
		if len(orders) != 0 {
			t.Errorf("line %d ordered more: %s", c.id, <-orders)
		}
	}
	for _, id := range []int{0, entry + 1, o.id("hint"), o.id("about")} {
		clicks <- id
	}
	clicks <- o.id("quit")
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
	o := &owner{paint: &canvas{}, opts: Options{Extras: plain}, now: time.Now, lost: lost}
	o.first()
	if err := o.loop(context.Background()); !errors.Is(err, ErrBusLost) {
		t.Errorf("got %v", err)
	}
	snaps := make(chan *monitor.Snapshot, 1)
	snaps <- snapshot()
	o = &owner{paint: &canvas{}, opts: Options{Extras: plain}, now: time.Now}
	o.first()
	o.snapshots = snaps
	o.paint.(*canvas).fail = ErrBusLost
	if err := o.loop(context.Background()); !errors.Is(err, ErrBusLost) {
		t.Errorf("got %v", err)
	}
}
