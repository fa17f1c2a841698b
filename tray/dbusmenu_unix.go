//go:build !windows && !darwin

package tray

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

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
// Source of the protocol: com.canonical.dbusmenu (dbus-menu.xml of libdbusmenu), without
// what no panel asks: a single property, which by that is for people who look for a
// fault, and the properties of all lines at once, which the tray library does not give
// either. Its methods are called on any goroutine.
type dbusMenu struct {
	conn   *dbus.Conn
	ended  <-chan struct{} // closed when nobody receives the following
	clicks chan<- int      // lines
	events chan<- menuEvent

	mu       sync.Mutex
	lines    menu
	revision uint32 // the library's has 1, and panels take a later one only
	// readers are the panels that have asked for the menu: what is to come
	// before they see the submenus, nil when they do.
	readers map[dbus.Sender]*time.Timer
}

// readerSettles is how long after its last question a panel that is new
// sees the submenus. The answers go out within milliseconds.
const readerSettles = 150 * time.Millisecond

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

// serve takes the place of the library's menu, which is on the bus, and whose properties stay: by them it is of
// version 1, so that panels of GTK tell of each line by itself. To export fails for a bad
// path only, and a dead bus is for the owner to say.
func (m *dbusMenu) serve() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conn.ExportMethodTable(map[string]any{
		"GetLayout": m.getLayout, "GetGroupProperties": m.getGroupProperties, "Event": m.event, "AboutToShow": m.aboutToShow,
	}, menuPath, menuIface)
	m.layoutUpdated() // for who has read the library's
}

func (m *dbusMenu) build(lines menu) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = slices.Clone(lines)
}

// show makes changes, which are seen together. Each is announced by itself and
// then as a new layout, because an answer that was made before may arrive
// after the announcement.
func (m *dbusMenu) show(changes []change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var changed []lineProperties
	for _, c := range changes {
		m.lines[c.ID] = c.Now
		if props := changedProperties(c); len(props) > 0 {
			changed = append(changed, lineProperties{int32(c.ID), props})
		}
	}
	if len(changed) == 0 {
		return nil
	}
	type removed struct {
		ID    int32
		Names []string
	}
	if err := m.conn.Emit(menuPath, menuIface+".ItemsPropertiesUpdated", changed, []removed{}); err != nil {
		return err
	}
	return m.layoutUpdated()
}

// layoutUpdated makes panels read the menu again. mu is held.
func (m *dbusMenu) layoutUpdated() error {
	m.revision++
	return m.conn.Emit(menuPath, menuIface+".LayoutUpdated", m.revision, int32(0))
}

// properties are those of a line. One that had an icon once always has one. What
// the panel shows of the menu itself are properties of the item.
func properties(l line) map[string]dbus.Variant {
	props := map[string]dbus.Variant{}
	set := func(name string, value any) { props[name] = dbus.MakeVariant(value) }
	if l.Opens {
		set("children-display", "submenu")
	}
	switch {
	case l.Separator:
		set("type", "separator")
		return props
	case l.Key == iconKey:
		return props
	}
	set("label", escape(runtime.GOOS, l.Title))
	set("enabled", !l.Disabled)
	set("visible", !l.hidden())
	if l.Mark != icons.None {
		set("icon-data", icons.Item(l.Mark))
	}
	if l.Checkable {
		state := int32(0)
		if l.Checked {
			state = 1
		}
		set("toggle-type", "checkmark")
		set("toggle-state", state)
	}
	return props
}

// changedProperties are those that a change changes.
func changedProperties(c change) map[string]dbus.Variant {
	was, now := properties(c.Was), properties(c.Now)
	maps.DeleteFunc(now, func(name string, value dbus.Variant) bool { return reflect.DeepEqual(value, was[name]) })
	return now
}

// named keeps the properties with these names, all for no names.
func named(props map[string]dbus.Variant, names []string) map[string]dbus.Variant {
	if len(names) > 0 {
		maps.DeleteFunc(props, func(name string, _ dbus.Variant) bool { return !slices.Contains(names, name) })
	}
	return props
}

// has reports whether there is such a line. The menu itself is line 0. mu is held.
func (m *dbusMenu) has(id int32) bool { return id >= 0 && int(id) < len(m.lines) }

// layout gives a line with depth levels of those below it, all for a negative
// depth. mu is held.
func (m *dbusMenu) layout(id, depth int32, names []string) menuLine {
	l := menuLine{ID: id, Props: named(properties(m.lines[id]), names), Kids: []dbus.Variant{}}
	if depth == 0 || !m.lines[id].Opens {
		return l
	}
	for below := id + 1; m.has(below); below++ {
		if m.lines[below].Above == int(id) {
			l.Kids = append(l.Kids, dbus.MakeVariant(m.layout(below, depth-1, names)))
		}
	}
	return l
}

func (m *dbusMenu) getLayout(sender dbus.Sender, id, depth int32, names []string) (uint32, menuLine, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.has(id) {
		return 0, menuLine{}, dbus.NewError(menuIface+".Error", []any{fmt.Sprintf("the menu has no line %d", id)})
	}
	if id == 0 && (depth < 0 || depth > 1) && !m.mayReadAll(sender) {
		depth = 1
	}
	return m.revision, m.layout(id, depth, names), nil
}

// mayReadAll reports whether a panel may see the submenus. mu is held.
func (m *dbusMenu) mayReadAll(sender dbus.Sender) bool {
	if wait, known := m.readers[sender]; known {
		return wait == nil
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
	all := []lineProperties{}
	for _, id := range ids {
		if m.has(id) {
			all = append(all, lineProperties{id, named(properties(m.lines[id]), names)})
		}
	}
	return all, nil
}

// event hands on what a panel tells of a line; 0 is the menu itself.
func (m *dbusMenu) event(id int32, what string, _ dbus.Variant, _ uint32) *dbus.Error {
	switch {
	case what == "opened":
		offer(m.ended, m.events, shows(id))
	case what == "closed" && id == 0:
		offer(m.ended, m.events, menuClosed)
	case what == "clicked":
		m.mu.Lock()
		order := m.has(id) && !m.lines[id].Opens // a click on what opens a submenu is none
		m.mu.Unlock()
		if order {
			offer(m.ended, m.clicks, int(id))
		}
	}
	return nil
}

// aboutToShow never asks for another reading: what changed was announced.
func (m *dbusMenu) aboutToShow(id int32) (bool, *dbus.Error) {
	offer(m.ended, m.events, shows(id))
	return false, nil
}

// shows tells what it means that a menu is opened.
func shows(id int32) menuEvent {
	if id == 0 {
		return menuOpened
	}
	return menuUsed
}
