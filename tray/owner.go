package tray

import (
	"context"
	"fmt"
	"time"

	"lamplighter/monitor"
)

// painter is what the owner draws on.
type painter interface {
	// build shows a menu for the first time.
	build(m menu)
	// show changes lines, in that order.
	show(changes []change) error
}

// owner is the one goroutine that touches the desktop.
type owner struct {
	opts  Options
	paint painter
	now   func() time.Time

	snapshots  <-chan *monitor.Snapshot
	redraws    <-chan struct{}
	clicks     <-chan int // lines
	menuEvents <-chan menuEvent
	lost       <-chan struct{} // closed when the bus is gone

	snap    *monitor.Snapshot
	open    opening
	waiting bool // for the menu to close

	shown   menu
	figures figures
	places  map[string]place
}

// first makes the menu and shows what is known so far.
func (o *owner) first() {
	select {
	case o.snap = <-o.snapshots:
	default:
	}
	_ = o.draw() // which only fails to change what is shown
}

// loop draws every snapshot, and hands out clicks, until ctx ends.
func (o *owner) loop(ctx context.Context) error {
	wake := time.NewTimer(0)
	defer wake.Stop()
	for {
		wake.Reset(o.sleep())
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-o.lost:
			err = fmt.Errorf("show the tray: %w", ErrBusLost)
		case o.snap = <-o.snapshots:
			err = o.draw()
		case <-o.redraws:
			err = o.draw()
		case id := <-o.clicks:
			o.click(id)
			err = o.menuEvent(menuClicked)
		case e := <-o.menuEvents:
			err = o.menuEvent(e)
		case <-wake.C:
			err = o.draw()
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// sleep is how long the menu stays as it is unless something happens. Times in it
// are told so that they change at full minutes, if they do.
func (o *owner) sleep() time.Duration {
	now := o.now()
	if o.waiting {
		return max(o.open.until.Sub(now), 0)
	}
	return now.Truncate(time.Minute).Add(time.Minute).Sub(now)
}

func (o *owner) menuEvent(e menuEvent) error {
	now := o.now()
	if e == menuOpened {
		o.opts.Extras() // so that who answers from memory looks whether it still holds
	}
	next, renew := o.open.after(e, now)
	o.open = next
	if !renew || !o.waiting {
		return nil
	}
	return o.drawAs(now, false)
}

func (o *owner) draw() error {
	now := o.now()
	return o.drawAs(now, o.open.open(now))
}

// drawAs shows the snapshot as it reads now; held keeps every line in place.
func (o *owner) drawAs(now time.Time, held bool) error {
	next, figures := menuOf(o.snap, now, o.opts.Extras(), o.opts.Rows, o.figures)
	o.figures = figures
	m := next
	if held {
		m = hold(o.shown, next, running(o.snap))
	}
	o.waiting = !sameLines(m, next)
	o.places = placesOf(m, o.places, now)
	shown := o.shown
	o.shown = m
	if shown == nil {
		o.paint.build(m)
	} else if changes := diff(shown, m); len(changes) > 0 {
		return o.paint.show(changes)
	}
	return nil
}

// settleTime is how long lines that end or keep something must have been in
// their places before a click on one is an order, unless they have not moved
// since the menu opened. Not every desktop tells that its menu is open (see
// opened.go), so lines may move just before a click, and this click must not end
// another server than the one that was aimed at.
const settleTime = time.Second

// aimed reports whether a click on a line was aimed at what it is now.
func (o *owner) aimed(l line) bool {
	since := o.places[l.Key].since
	return !l.Action.settles() || !since.After(o.open.since) || o.now().Sub(since) >= settleTime
}

// click carries out what a line stands for.
func (o *owner) click(id int) {
	l := o.shown[id]
	if l.hidden() || l.Disabled || !o.aimed(l) {
		return
	}
	order := l.Action.Order
	switch l.Action.For {
	case forAnHour:
		order.Until = o.now().Add(time.Hour)
	case forToday:
		order.Until = dayEnd(o.now())
	}
	if order.Verb != "" {
		go o.opts.Orders.Do(order)
	}
}
