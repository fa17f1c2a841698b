package tray

import (
	"lamplighter/icons"
)

// menuSlot is one line of the menu on the desktop. There is a fixed number of
// them, made once and never removed: desktops cannot insert or reorder lines,
// and a menu that is rebuilt closes under the pointer.
type menuSlot struct {
	Visible bool
	Enabled bool
	Title   string
	Tooltip string
	Mark    icons.Mark // None for no icon
	Checked bool       // only of one that can be, see checkable
}

// The numbers of slots for instances: enough for more than one free slot
// between two lines, so that one that comes moves no other.
const (
	poolSize = listLines * 5 / 2
	stopSize = poolSize          // under Stop
	keepSize = keepLines * 3 / 2 // for each list under Keep, where a wrong click costs less
)

// The slots from top to bottom, then those of the submenus. A separator stands
// before slotGlobal and before slotStop, so that what ends something is apart
// from what opens something, and before the rules of the policies.
const (
	slotHead       = 0
	slotHint       = 1
	slotFirst      = 2 // of the instances
	slotMore       = slotFirst + poolSize
	slotGlobal     = slotMore + 1
	slotRecent     = slotGlobal + 1     // a submenu
	slotWorkspaces = slotRecent + 1     // a submenu
	slotKeep       = slotWorkspaces + 1 // a submenu
	slotPolicies   = slotKeep + 1       // a submenu
	slotGiven      = slotPolicies + 1
	slotWarning    = slotGiven + 1              // the first of warningLines
	slotStop       = slotWarning + warningLines // a submenu
	slotLogin      = slotStop + 1
	slotAbout      = slotLogin + 1
	slotQuit       = slotAbout + 1
	slotTop        = slotQuit + 1 // the number of slots that are in no submenu

	slotRecentFirst = slotTop // of recentLines under slotRecent

	slotWorkspaceFirst = slotRecentFirst + recentLines // of workspaceLines under slotWorkspaces
	slotWorkspaceMore  = slotWorkspaceFirst + workspaceLines

	slotKeepHead  = slotWorkspaceMore + 1 // what the lines below it are for
	slotKeepFirst = slotKeepHead + 1      // of keepSize under slotKeep
	slotPinHead   = slotKeepFirst + keepSize
	slotPinFirst  = slotPinHead + 1 // of keepSize
	slotKeepMore  = slotPinFirst + keepSize

	slotPauseShort = slotKeepMore + 1 // under slotPolicies
	slotPauseToday = slotPauseShort + 1
	slotPauseOpen  = slotPauseToday + 1
	slotResume     = slotPauseOpen + 1
	slotRuleFirst  = slotResume + 1 // of ruleLines

	slotStopOrphans = slotRuleFirst + ruleLines // under slotStop
	slotStopIdle    = slotStopOrphans + 1
	slotStopFirst   = slotStopIdle + 1 // of stopSize
	slotStopMore    = slotStopFirst + stopSize
	slotCount       = slotStopMore + 1
)

// slotAbove is the slot that opens the submenu in which slot is, -1 for none.
func slotAbove(slot int) int {
	switch {
	case slot < slotTop:
		return -1
	case slot < slotWorkspaceFirst:
		return slotRecent
	case slot < slotKeepHead:
		return slotWorkspaces
	case slot < slotPauseShort:
		return slotKeep
	case slot < slotStopOrphans:
		return slotPolicies
	}
	return slotStop
}

// opensSubmenu tells whether a slot opens a submenu.
func opensSubmenu(slot int) bool {
	return slot == slotRecent || slot == slotWorkspaces || slot == slotKeep || slot == slotPolicies || slot == slotStop
}

// separated tells whether a separator stands before a slot.
func separated(slot int) bool {
	return slot == slotGlobal || slot == slotStop || slot == slotRuleFirst
}

// hiddenSlots is a menu before anything is shown.
func hiddenSlots() []menuSlot {
	slots := make([]menuSlot, slotCount)
	for i := range slots {
		slots[i].Enabled = true
	}
	return slots
}

// warningLines is how many warnings are shown; the page has them all.
const warningLines = 2

// slotsOf spreads a menu over the slots, as placed for the same menu.
func slotsOf(m menu, placed places) []menuSlot {
	slots := make([]menuSlot, slotCount)
	line := func(i int, title, tooltip string, enabled bool) {
		slots[i] = menuSlot{Visible: title != "", Enabled: enabled, Title: title, Tooltip: tooltip}
	}
	// Enabled, because panels grey the text of a line that is not, and this one
	// is meant to be read.
	line(slotHead, m.Head, "", true)
	line(slotHint, m.Hint, "", false)
	pool := func(first int, ids []string, entries []menuEntry) {
		next := 0
		for i, id := range ids {
			if id == "" {
				continue
			}
			e := entries[next]
			next++
			slots[first+i] = menuSlot{Visible: true, Enabled: !e.Ended, Title: e.Title, Tooltip: e.Tooltip, Mark: e.Mark, Checked: e.Checked}
		}
	}
	pool(slotFirst, placed.instances, m.Instances)
	line(slotMore, m.More, "", true)
	line(slotGlobal, "Open global dashboard", "", true)
	if len(m.Recent) > 0 {
		line(slotRecent, "Recent", "", true)
	}
	for i, l := range m.Recent {
		line(slotRecentFirst+i, l.Title, "", true) // to be read, also where a click does nothing
	}
	line(slotWorkspaces, m.Workspaces.Title, "", true)
	for i, title := range m.Workspaces.Lines {
		line(slotWorkspaceFirst+i, title, "", true)
	}
	line(slotWorkspaceMore, m.Workspaces.More, "", true)
	if len(m.Keep)+len(m.Pins) > 0 {
		line(slotKeep, "Keep", "", true)
	}
	if len(m.Keep) > 0 {
		line(slotKeepHead, "For 1 h:", "", false)
	}
	pool(slotKeepFirst, placed.keeps, m.Keep)
	if len(m.Pins) > 0 {
		line(slotPinHead, "Until unpinned:", "", false)
	}
	pool(slotPinFirst, placed.pins, m.Pins)
	line(slotKeepMore, m.KeepMore, "", true)
	policySlots(m.Policies, line, slots)
	line(slotGiven, m.GivenBack, "", true) // to be read
	if len(m.Stop)+len(m.StopAll) > 0 {
		line(slotStop, "Stop", "", true)
	}
	for _, g := range m.StopAll {
		line(slotOfGroup(g.What), g.Title, "", !g.Ended)
	}
	pool(slotStopFirst, placed.stops, m.Stop)
	line(slotStopMore, m.StopMore, "", false)
	for i, w := range m.Warnings {
		line(slotWarning+i, w, "", true) // to be read
	}
	slots[slotLogin] = m.Login.slot()
	line(slotAbout, m.About, "", false)
	line(slotQuit, m.Quit, "Servers that others started go on running.", true)
	return slots
}

// slotOfGroup is where an order for all of a kind stands.
func slotOfGroup(what string) int {
	if what == whatOrphans {
		return slotStopOrphans
	}
	return slotStopIdle
}

// policySlots spreads the lines of the policies over their slots.
func policySlots(l policyMenu, line func(i int, title, tooltip string, enabled bool), slots []menuSlot) {
	if l.Title == "" {
		return
	}
	line(slotPolicies, l.Title, "", true)
	if l.Paused {
		line(slotResume, "Resume", "", true)
	} else {
		line(slotPauseShort, "Pause for 1 h", "", true)
		line(slotPauseToday, "Pause for today", "", true)
		line(slotPauseOpen, "Pause until resumed", "", true)
	}
	for i, r := range l.Rules {
		line(slotRuleFirst+i, r.Title, "", r.Set)
		slots[slotRuleFirst+i].Checked = r.On
	}
}

// opKind is what a slotOp does.
type opKind int

// The operations on a slot.
const (
	opTitle opKind = iota
	opTooltip
	opIcon
	opEnable
	opDisable
	opCheck
	opUncheck
	opShow
	opHide
)

// slotOp is one change of one slot.
type slotOp struct {
	Slot int
	Kind opKind
	Text string     // of opTitle and opTooltip
	Mark icons.Mark // of opIcon
}

// diff lists what has to be done so that slots that show one thing show
// another. What is equal is not touched, and neither is a hidden slot: its
// fields are set when it is shown again, before it is shown. Both lists have
// the same length.
func diff(shown, want []menuSlot) []slotOp {
	var ops []slotOp
	for i, w := range want {
		s := shown[i]
		if !w.Visible {
			if s.Visible {
				ops = append(ops, slotOp{Slot: i, Kind: opHide})
			}
			continue
		}
		if s.Title != w.Title {
			ops = append(ops, slotOp{Slot: i, Kind: opTitle, Text: w.Title})
		}
		if s.Tooltip != w.Tooltip {
			ops = append(ops, slotOp{Slot: i, Kind: opTooltip, Text: w.Tooltip})
		}
		if s.Mark != w.Mark {
			ops = append(ops, slotOp{Slot: i, Kind: opIcon, Mark: w.Mark})
		}
		if s.Enabled != w.Enabled {
			kind := opEnable
			if !w.Enabled {
				kind = opDisable
			}
			ops = append(ops, slotOp{Slot: i, Kind: kind})
		}
		if s.Checked != w.Checked {
			kind := opCheck
			if !w.Checked {
				kind = opUncheck
			}
			ops = append(ops, slotOp{Slot: i, Kind: kind})
		}
		if !s.Visible {
			ops = append(ops, slotOp{Slot: i, Kind: opShow})
		}
	}
	return ops
}

// apply gives the slots after ops; shown stays as it is.
func apply(shown []menuSlot, ops []slotOp) []menuSlot {
	slots := append([]menuSlot(nil), shown...)
	for _, op := range ops {
		s := &slots[op.Slot]
		switch op.Kind {
		case opTitle:
			s.Title = op.Text
		case opTooltip:
			s.Tooltip = op.Text
		case opIcon:
			s.Mark = op.Mark
		case opEnable:
			s.Enabled = true
		case opDisable:
			s.Enabled = false
		case opCheck:
			s.Checked = true
		case opUncheck:
			s.Checked = false
		case opShow:
			s.Visible = true
		case opHide:
			s.Visible = false
		}
	}
	return slots
}
