package tray

import (
	"slices"
	"time"
)

// settleTime is how long lines that end or keep something must have been in
// their places before a click on one is an order, unless they have not moved
// since the menu opened. Not every desktop tells that its menu is open (see
// opened.go), so lines may move just before a click, and this click must not end
// another server than the one that was aimed at.
const settleTime = time.Second

// moved is when lines last came, went or changed places.
type moved struct {
	stops  time.Time // under Stop
	groups time.Time // or when an order for all of a kind meant another number of them
	keeps  time.Time // under Keep
}

// after is what has moved once the menu before is replaced by next at now.
func (m moved) after(before, next menu, was, is places, now time.Time) moved {
	if !slices.Equal(was.stops, is.stops) || !sameGroups(before.StopAll, next.StopAll) {
		m.stops = now
	}
	if !slices.Equal(before.StopAll, next.StopAll) {
		m.groups = now
	}
	if !slices.Equal(was.keeps, is.keeps) || !slices.Equal(was.pins, is.pins) {
		m.keeps = now
	}
	return m
}

// sameGroups tells whether both have the same lines.
func sameGroups(a, b []stopGroup) bool {
	return slices.EqualFunc(a, b, func(a, b stopGroup) bool { return a.What == b.What })
}

// aimed tells whether a click on lines that moved at some time was aimed at
// what they are now.
func (o *owner) aimed(moved time.Time) bool {
	return !moved.After(o.open.since) || o.now().Sub(moved) >= settleTime
}

// click carries out what the line in a slot stands for.
func (o *owner) click(slot int) {
	within := func(first, size int) bool { return slot >= first && slot < first+size }
	usable := o.shown.slots[slot].Visible && o.shown.slots[slot].Enabled
	switch {
	case slot == slotHead || slot == slotGlobal || slot == slotMore || slot == slotGiven || slot == slotKeepMore || within(slotWorkspaceFirst, workspaceLines+1):
		go o.actions.OpenGlobal()
	case slot == slotQuit:
		go o.actions.Quit()
	case slot == slotLogin:
		if o.login != nil && usable {
			go o.login.SetAtLogin(!o.shown.slots[slot].Checked)
		}
	case within(slotFirst, poolSize):
		if id := o.shown.placed.instances[slot-slotFirst]; id != "" {
			go o.actions.OpenInstance(id)
		}
	case within(slotRecentFirst, recentLines):
		if i := slot - slotRecentFirst; i < len(o.shown.menu.Recent) && o.shown.menu.Recent[i].Open != "" {
			go o.actions.OpenInstance(o.shown.menu.Recent[i].Open)
		}
	case within(slotStopFirst, stopSize):
		if id := o.shown.placed.stops[slot-slotStopFirst]; id != "" && usable && o.aimed(o.moved.stops) {
			go o.stopper.StopInstance(id)
		}
	case o.policies != nil && usable:
		o.clickPolicies(slot)
	}
}

// clickPolicies carries out what a line that can be clicked says to the policies.
func (o *owner) clickPolicies(slot int) {
	placed := &o.shown.placed
	switch {
	case slot == slotStopOrphans || slot == slotStopIdle:
		what := whatIdle
		if slot == slotStopOrphans {
			what = whatOrphans
		}
		if o.aimed(o.moved.groups) {
			go o.policies.StopAll(what)
		}
	case slot >= slotKeepFirst && slot < slotPinHead:
		if id := placed.keeps[slot-slotKeepFirst]; o.aimed(o.moved.keeps) {
			go o.policies.Keep(id)
		}
	case slot >= slotPinFirst && slot < slotKeepMore:
		if id := placed.pins[slot-slotPinFirst]; o.aimed(o.moved.keeps) {
			go o.policies.Pin(id, !o.shown.slots[slot].Checked)
		}
	case slot == slotPauseShort:
		go o.policies.Pause(o.now().Add(shortPause))
	case slot == slotPauseToday:
		go o.policies.Pause(dayEnd(o.now()))
	case slot == slotPauseOpen:
		go o.policies.Pause(time.Time{})
	case slot == slotResume:
		go o.policies.Resume()
	case slot >= slotRuleFirst && slot < slotStopOrphans:
		r := o.shown.menu.Policies.Rules[slot-slotRuleFirst]
		go o.policies.Switch(r.Name, !r.On)
	}
}
