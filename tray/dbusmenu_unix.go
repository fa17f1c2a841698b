//go:build !windows && !darwin

package tray

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"lamplighter/icons"
)

// dbusMenu is the menu as panels read it from the session bus. It takes the
// place of the library's, for three reasons.
//
// Panels of GTK (libdbusmenu) lose the lines of a submenu for good when the
// answer about a line comes before the one about the line that opens its
// submenu, and both this bus library and the tray library answer calls beside
// each other, so in any order. Therefore every panel sees the submenus only
// once it has had time to make what opens them. The tray library does so for
// the first panel of its life only: after a restart of the panel about every
// second one showed an empty box.
//
// The library announces every field of every line with three signals, each of
// which makes panels read the whole menu; here one draw makes two, and nobody
// sees half of it.
//
// And panels tell here that they open the menu, which the library does not
// pass on.
//
// Source of the protocol: com.canonical.dbusmenu, version 3 (dbus-menu.xml of
// libdbusmenu). Its methods are called on any goroutine.
type dbusMenu struct {
	conn   *dbus.Conn
	ended  <-chan struct{} // closed when nobody receives the following
	clicks chan<- int      // slots
	events chan<- menuEvent

	mu       sync.Mutex
	served   bool // it is on the bus
	slots    []menuSlot
	revision uint32
	// readers are the panels that have asked for the menu: what is to come
	// before they see the submenus, nil when they do.
	readers map[dbus.Sender]*time.Timer
}

const (
	// readerSettles is how long after its last question a panel that is new
	// sees the submenus. The answers go out within milliseconds.
	readerSettles = 150 * time.Millisecond
	// maxReaders bounds what is remembered of a bus on which somebody asks
	// again and again under new names. Further ones see everything at once.
	maxReaders = 1000
)

// menuLine is a line of the menu with those in its submenu, as GetLayout gives it.
type menuLine struct {
	ID    int32
	Props map[string]dbus.Variant
	Kids  []dbus.Variant // of menuLine
}

// lineProperties are those of one line, or some of them.
type lineProperties struct {
	ID    int32
	Props map[string]dbus.Variant
}

// lineEvent is what happened to a line.
type lineEvent struct {
	ID   int32
	What string
	Data dbus.Variant
	At   uint32
}

func newDBusMenu(conn *dbus.Conn, ended <-chan struct{}, clicks chan<- int, events chan<- menuEvent) *dbusMenu {
	return &dbusMenu{
		conn: conn, ended: ended, clicks: clicks, events: events,
		slots: hiddenSlots(), revision: 1, readers: map[dbus.Sender]*time.Timer{},
	}
}

// serve takes the place of the library's menu.
func (m *dbusMenu) serve() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.conn.ExportMethodTable(map[string]any{
		"GetLayout": m.getLayout, "GetGroupProperties": m.getGroupProperties, "GetProperty": m.getProperty,
		"Event": m.event, "EventGroup": m.eventGroup, "AboutToShow": m.aboutToShow, "AboutToShowGroup": m.aboutToShowGroup,
	}, menuPath, menuIface)
	if err != nil {
		return err
	}
	_, err = prop.Export(m.conn, menuPath, prop.Map{menuIface: {
		"Version":       {Value: uint32(3), Emit: prop.EmitFalse},
		"TextDirection": {Value: "ltr", Emit: prop.EmitFalse},
		"Status":        {Value: "normal", Emit: prop.EmitFalse},
		"IconThemePath": {Value: []string{}, Emit: prop.EmitFalse},
	}})
	if err != nil {
		return err
	}
	m.served = true
	return m.layoutUpdated() // for who has read the library's
}

// do makes changes, which are seen together. Each is announced by itself and
// then as a new layout, because an answer that was made before may arrive
// after the announcement.
func (m *dbusMenu) do(ops []slotOp) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slots = apply(m.slots, ops)
	if !m.served {
		return nil
	}
	type removed struct {
		ID    int32
		Names []string
	}
	if changed := changes(ops); len(changed) > 0 {
		if err := m.conn.Emit(menuPath, menuIface+".ItemsPropertiesUpdated", changed, []removed{}); err != nil {
			return err
		}
		return m.layoutUpdated()
	}
	return nil
}

// layoutUpdated makes panels read the menu again. mu is held.
func (m *dbusMenu) layoutUpdated() error {
	m.revision++
	return m.conn.Emit(menuPath, menuIface+".LayoutUpdated", m.revision, int32(0))
}

// changes are the properties that ops change, line by line.
func changes(ops []slotOp) []lineProperties {
	var all []lineProperties
	for _, op := range ops {
		name, value := "", any(nil)
		switch op.Kind {
		case opTitle:
			name, value = "label", escape(runtime.GOOS, op.Text)
		case opIcon:
			name, value = "icon-data", picture(op.Mark)
		case opEnable, opDisable:
			name, value = "enabled", op.Kind == opEnable
		case opShow, opHide:
			name, value = "visible", op.Kind == opShow
		case opCheck, opUncheck:
			name, value = "toggle-state", toggle(op.Kind == opCheck)
		case opTooltip: // panels show none
			continue
		}
		id := idOf(op.Slot)
		i := slices.IndexFunc(all, func(p lineProperties) bool { return p.ID == id })
		if i < 0 {
			i = len(all)
			all = append(all, lineProperties{id, map[string]dbus.Variant{}})
		}
		all[i].Props[name] = dbus.MakeVariant(value)
	}
	return all
}

// toggle is the state of a check mark.
func toggle(checked bool) int32 {
	if checked {
		return 1
	}
	return 0
}

func picture(mark icons.Mark) []byte {
	if mark == icons.None {
		return []byte{}
	}
	return icons.Item(string(mark))
}

// The menu itself is line 0, the slots follow, then the separators, which are
// numbered by the slot that each stands before.
func idOf(slot int) int32        { return int32(slot) + 1 }
func separatorOf(slot int) int32 { return int32(slotCount+slot) + 1 }

// slotOf is false for the menu itself, a separator, and what does not exist.
func slotOf(id int32) (slot int, ok bool) {
	return int(id) - 1, id > 0 && id <= slotCount
}

// propertiesOf gives those of a line that are asked for by names, all for no
// names; false when there is no such line. mu is held.
func (m *dbusMenu) propertiesOf(id int32, names []string) (map[string]dbus.Variant, bool) {
	props := map[string]dbus.Variant{}
	set := func(name string, value any) {
		if len(names) == 0 || slices.Contains(names, name) {
			props[name] = dbus.MakeVariant(value)
		}
	}
	slot, ok := slotOf(id)
	switch before := int(id) - 1 - slotCount; {
	case ok:
		s := m.slots[slot]
		set("label", escape(runtime.GOOS, s.Title))
		set("enabled", s.Enabled)
		set("visible", s.Visible)
		if s.Mark != icons.None {
			set("icon-data", picture(s.Mark))
		}
		if checkable(slot) {
			set("toggle-type", "checkmark")
			set("toggle-state", toggle(s.Checked))
		}
		if opensSubmenu(slot) {
			set("children-display", "submenu")
		}
	case id == 0:
		set("children-display", "submenu")
	case before >= 0 && before < slotCount && separated(before):
		set("type", "separator")
	default:
		return nil, false
	}
	return props, true
}

// lineOf gives a line with depth levels of those below it, all for a negative
// depth. mu is held.
func (m *dbusMenu) lineOf(id, depth int32, names []string) (menuLine, bool) {
	props, ok := m.propertiesOf(id, names)
	l := menuLine{ID: id, Props: props, Kids: []dbus.Variant{}}
	if ok && depth != 0 {
		for _, kid := range below(id) {
			k, _ := m.lineOf(kid, depth-1, names)
			l.Kids = append(l.Kids, dbus.MakeVariant(k))
		}
	}
	return l, ok
}

// below are the lines in the submenu of a line.
func below(id int32) []int32 {
	var ids []int32
	for slot := range slotCount {
		if above := slotAbove(slot); idOf(above) != id { // -1 is the menu itself
			continue
		}
		if separated(slot) {
			ids = append(ids, separatorOf(slot))
		}
		ids = append(ids, idOf(slot))
	}
	return ids
}

func noLine(id int32) *dbus.Error {
	return dbus.NewError(menuIface+".Error", []any{fmt.Sprintf("the menu has no line %d", id)})
}

func (m *dbusMenu) getLayout(sender dbus.Sender, id, depth int32, names []string) (uint32, menuLine, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id == 0 && (depth < 0 || depth > 1) && !m.mayReadAll(sender) {
		depth = 1
	}
	l, ok := m.lineOf(id, depth, names)
	if !ok {
		return 0, menuLine{}, noLine(id)
	}
	return m.revision, l, nil
}

// mayReadAll tells whether a panel may see the submenus. mu is held.
func (m *dbusMenu) mayReadAll(sender dbus.Sender) bool {
	wait, known := m.readers[sender]
	switch {
	case known:
		return wait == nil
	case len(m.readers) >= maxReaders:
		return true
	}
	m.readers[sender] = time.AfterFunc(readerSettles, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.readers[sender] = nil
		m.layoutUpdated() // on a dead bus nobody reads
	})
	return false
}

func (m *dbusMenu) getGroupProperties(sender dbus.Sender, ids []int32, names []string) ([]lineProperties, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if wait := m.readers[sender]; wait != nil {
		wait.Reset(readerSettles)
	}
	if len(ids) == 0 {
		for slot := range slotCount {
			ids = append(ids, idOf(slot))
		}
	}
	all := []lineProperties{}
	for _, id := range ids {
		if props, ok := m.propertiesOf(id, names); ok {
			all = append(all, lineProperties{id, props})
		}
	}
	return all, nil
}

func (m *dbusMenu) getProperty(id int32, name string) (dbus.Variant, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	props, ok := m.propertiesOf(id, []string{name})
	if !ok {
		return dbus.Variant{}, noLine(id)
	}
	value, ok := props[name]
	if !ok {
		return dbus.Variant{}, dbus.NewError(menuIface+".Error", []any{fmt.Sprintf("line %d has no property %q", id, name)})
	}
	return value, nil
}

func (m *dbusMenu) event(id int32, what string, _ dbus.Variant, _ uint32) *dbus.Error {
	if what == "clicked" {
		// A click on what opens a submenu is no order.
		if slot, ok := slotOf(id); ok && !opensSubmenu(slot) {
			select {
			case <-m.ended:
			case m.clicks <- slot:
			}
		}
		return nil
	}
	m.tell(menuEventOf(id, what))
	return nil
}

func (m *dbusMenu) eventGroup(events []lineEvent) ([]int32, *dbus.Error) {
	for _, e := range events {
		m.event(e.ID, e.What, e.Data, e.At)
	}
	return []int32{}, nil
}

// aboutToShow never asks for another reading: what changed was announced.
func (m *dbusMenu) aboutToShow(id int32) (bool, *dbus.Error) {
	m.tell(shows(id))
	return false, nil
}

func (m *dbusMenu) aboutToShowGroup(ids []int32) (updates, unknown []int32, err *dbus.Error) {
	if len(ids) > 0 {
		m.tell(shows(slices.Min(ids))) // the menu itself before its submenus
	}
	return []int32{}, []int32{}, nil
}

func (m *dbusMenu) tell(e menuEvent) {
	if e == menuNothing {
		return
	}
	select {
	case <-m.ended:
	case m.events <- e:
	}
}

// menuEventOf tells what an event means that a panel tells of a line; 0 is the
// menu itself.
func menuEventOf(id int32, what string) menuEvent {
	switch {
	case what == "opened":
		return shows(id)
	case what == "closed" && id == 0:
		return menuClosed
	}
	return menuNothing
}

// shows tells what it means that a menu is opened.
func shows(id int32) menuEvent {
	if id == 0 {
		return menuOpened
	}
	return menuUsed
}

// checkable tells whether a slot has a check mark, or room for one.
func checkable(slot int) bool {
	return slot == slotLogin || slot >= slotPinFirst && slot < slotPinFirst+keepSize || slot >= slotRuleFirst && slot < slotRuleFirst+ruleLines
}
