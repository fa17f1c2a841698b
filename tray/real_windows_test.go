//go:build real

package tray

import (
	"bytes"
	"context"
	"log"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"lamplighter/monitor"

	"golang.org/x/sys/windows"
)

// What a person does to the tray and sees of it, by the window that the
// library makes. The menu is read from the screen, where it opens.
// Source: winuser.h.
const (
	wmCommand      = 0x0111
	wmLeftButtonUp = 0x0202
	wmTray         = 0x0400 + 1 // the library's own, from the taskbar
	wmCancelMode   = 0x001f
	mnGetMenu      = 0x01e1
	byPosition     = 0x0400
	isGrayed       = 0x0003 // MF_GRAYED and MF_DISABLED
	isChecked      = 0x0008
)

var (
	user32        = windows.NewLazySystemDLL("user32.dll")
	findWindow    = user32.NewProc("FindWindowW")
	postMessage   = user32.NewProc("PostMessageW")
	sendMessage   = user32.NewProc("SendMessageW")
	menuItemCount = user32.NewProc("GetMenuItemCount")
	menuItemID    = user32.NewProc("GetMenuItemID")
	menuString    = user32.NewProc("GetMenuStringW")
	menuState     = user32.NewProc("GetMenuState")
	subMenu       = user32.NewProc("GetSubMenu")
)

// window finds the first window of a class, 0 for none.
func window(class string) uintptr {
	name, err := windows.UTF16PtrFromString(class)
	if err != nil {
		return 0
	}
	w, _, _ := findWindow.Call(uintptr(unsafe.Pointer(name)), 0)
	return w
}

func trayWindow() uintptr  { return window("SystrayClass") } // the library's name for it
func popupWindow() uintptr { return window("#32768") }       // an open menu

// winLine is a line of a menu.
type winLine struct {
	title string
	state uintptr
	id    uintptr
	lines []winLine
}

func readMenu(menu uintptr) (lines []winLine) {
	n, _, _ := menuItemCount.Call(menu)
	for i := range n {
		var text [256]uint16
		menuString.Call(menu, i, uintptr(unsafe.Pointer(&text)), uintptr(len(text)), byPosition)
		l := winLine{title: windows.UTF16ToString(text[:])}
		l.id, _, _ = menuItemID.Call(menu, i)
		l.state, _, _ = menuState.Call(menu, i, byPosition)
		if sub, _, _ := subMenu.Call(menu, i); sub != 0 {
			l.lines = readMenu(sub)
		}
		lines = append(lines, l)
	}
	return lines
}

func titlesOf(lines []winLine) string {
	var all []string
	for _, l := range lines {
		t := l.title
		if len(l.lines) > 0 {
			t += " [" + titlesOf(l.lines) + "]"
		}
		all = append(all, t)
	}
	return strings.Join(all, " | ")
}

func TestMenuOnWindows(t *testing.T) {
	var mu sync.Mutex
	var logged bytes.Buffer
	log.SetOutput(writer(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return logged.Write(p)
	}))
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	snaps, orders := new(childSource), make(clicked, 8)
	tray := New(Options{Source: snaps, Orders: orders, Extras: func() Extras { return Extras{Version: "1.2.3"} }})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	alpha := serena(24284, "alpha", 0, 0)
	alpha.LastActivity = time.Now()
	started := monitor.Event{At: time.Now(), Kind: monitor.EventStarted, ID: alpha.ID(), Label: alpha.Label()}
	snaps.feed.Publish(snapshot())
	go func() { done <- tray.Serve(ctx) }()
	wait := func(what string, f func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("waited in vain: %s", what)
			}
		}
	}
	// menu opens the menu, reads it and closes it.
	menu := func() []winLine {
		t.Helper()
		postMessage.Call(trayWindow(), wmTray, 0, wmLeftButtonUp)
		wait("the open menu", func() bool { return popupWindow() != 0 })
		handle, _, _ := sendMessage.Call(popupWindow(), mnGetMenu, 0, 0)
		lines := readMenu(handle)
		sendMessage.Call(trayWindow(), wmCancelMode, 0, 0)
		wait("the closed menu", func() bool { return popupWindow() == 0 })
		return lines
	}
	shows := func(want string) (lines []winLine) {
		t.Helper()
		wait(want, func() bool {
			lines = menu()
			return titlesOf(lines) == want
		})
		return lines
	}
	const empty = "No servers yet | Start your assistant, and its servers appear here |  | Open global dashboard |  | " +
		"Start at login | About Lamplighter 1.2.3 | Quit Lamplighter (servers go on)"
	wait("the tray", func() bool { return trayWindow() != 0 })
	shows(empty)
	one := snapshot(alpha)
	one.Recent = []monitor.Event{started}
	snaps.feed.Publish(one)
	now := started.At.Format("15:04")
	first := shows("1 server | 24284 - alpha · Claude Code |  | Open global dashboard | Recent [" + now + " started: 24284 - alpha] | " +
		"Keep [For 1 h: | 24284 - alpha · Claude Code | Until unpinned: | 24284 - alpha · Claude Code] |  | " +
		"Stop [24284 - alpha · client Claude Code] | Start at login | About Lamplighter 1.2.3 | Quit Lamplighter (servers go on)")
	click := func(l winLine) { postMessage.Call(trayWindow(), wmCommand, l.id, 0) }
	click(first[4].lines[0])
	if got := <-orders; got != "open 24284-7" {
		t.Errorf("ordered %q", got)
	}
	wait("the order to stop", func() bool { // once the lines have settled
		click(first[7].lines[0])
		select {
		case got := <-orders:
			if got != "stop 24284-7" {
				t.Errorf("ordered %q", got)
			}
			return true
		default:
			return false
		}
	})
	policed := snapshot(with(alpha, func(in *monitor.Instance) { in.Pinned = true }))
	policed.Policy = monitor.Policy{Active: true, Rules: rules(), Idle: 2}
	snaps.feed.Publish(policed)
	lines := shows("1 server | 24284 - alpha · Claude Code |  | Open global dashboard | " +
		"Keep [For 1 h: | 24284 - alpha · Claude Code · pinned | Until unpinned: | 24284 - alpha · Claude Code] | " +
		"Policies [Pause for 1 h | Pause for today | Pause until resumed |  | End orphaned servers after 10 min | End idle servers | Tell of servers over 2 GB | Idle servers: never end | Idle servers: end after 10 min | Idle servers: end after 30 min | Idle servers: end after 1 h | Idle servers: also with a client connected] |  | " +
		"Stop [Stop 2 idle | 24284 - alpha · pinned · client Claude Code] | Start at login | About Lamplighter 1.2.3 | Quit Lamplighter (servers go on)")
	keep, policies := lines[4].lines, lines[5].lines
	for _, c := range []struct {
		line            winLine
		checked, grayed bool
	}{{keep[0], false, true}, {keep[3], true, false}, {policies[4], true, false}, {policies[5], false, true}, {policies[6], false, false}} {
		if checked, grayed := c.line.state&isChecked != 0, c.line.state&isGrayed != 0; checked != c.checked || grayed != c.grayed {
			t.Errorf("%q: checked %v, grayed %v", c.line.title, checked, grayed)
		}
	}
	click(policies[6])
	if got := <-orders; got != "switch memory true" {
		t.Errorf("ordered %q", got)
	}
	snaps.feed.Publish(snapshot())
	shows(empty)
	snaps.feed.Publish(one)
	shows(titlesOf(first))
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if logged.Len() > 0 {
		t.Errorf("the library says:\n%s", logged.String())
	}
}

// writer makes a function an io.Writer.
type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
