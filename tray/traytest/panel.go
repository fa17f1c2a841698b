//go:build !windows && !darwin

// Package traytest is for tests of the tray on a real session bus: a private
// bus, and the part of a panel that reads an item and its menu from it.
//
// It knows nothing of what the tray is to show. Only tests import it.
package traytest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
)

// patience is how long a test waits for what must come.
const patience = 2 * time.Minute

// Names of the protocol: StatusNotifierItem and com.canonical.dbusmenu.
const (
	HostName  = "org.kde.StatusNotifierWatcher"
	HostPath  = "/StatusNotifierWatcher"
	ItemPath  = "/StatusNotifierItem"
	MenuPath  = "/StatusNotifierItem/menu"
	MenuIface = "com.canonical.dbusmenu"
)

// StartBus starts a private session bus and returns its address and a
// function that kills it.
func StartBus(t testing.TB, env ...string) (address string, kill func()) {
	t.Helper()
	// The path of a socket may be 107 bytes at most: t.TempDir can be longer.
	dir, err := os.MkdirTemp("", "bus")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1", "--address=unix:path="+filepath.Join(dir, "s"))
	cmd.Env = append(os.Environ(), env...) // of what the bus starts, too
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start dbus-daemon, which these tests need: %v", err)
	}
	kill = sync.OnceFunc(func() { cmd.Process.Kill(); cmd.Wait(); os.RemoveAll(dir) })
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n') // when the bus is ready
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), kill
}

// Host stands for the panel: it is the watcher that items register with, and
// it reads their menus.
type Host struct {
	Conn  *dbus.Conn
	props *prop.Properties

	registered chan string // senders
	mu         sync.Mutex
	forgets    int // registrations to come
	items      []string
}

// NewHost returns a panel that is on the bus but does not own its name yet.
func NewHost(t testing.TB, address string) *Host {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	h := &Host{Conn: conn, registered: make(chan string, 16)}
	h.props, err = prop.Export(conn, HostPath, prop.Map{HostName: {
		"RegisteredStatusNotifierItems": {Value: []string{}, Emit: prop.EmitFalse},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Export(h, HostPath, HostName); err != nil { // from here on calls come in
		t.Fatal(err)
	}
	return h
}

// Forget makes the panel forget the next registration.
func (h *Host) Forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forgets++
}

// RegisterStatusNotifierItem is called by items over the bus.
func (h *Host) RegisterStatusNotifierItem(sender dbus.Sender, path string) *dbus.Error {
	h.mu.Lock()
	if h.forgets > 0 {
		h.forgets--
	} else {
		h.items = append(h.items, string(sender)+path)
		h.props.SetMust(HostName, "RegisteredStatusNotifierItems", h.items)
	}
	h.mu.Unlock()
	h.registered <- string(sender)
	return nil
}

// Appear makes it the panel that items register with.
func (h *Host) Appear(t testing.TB) {
	t.Helper()
	if r, err := h.Conn.RequestName(HostName, dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(r, err)
	}
}

// Vanish is what a crash of the panel is to its items.
func (h *Host) Vanish(t testing.TB) {
	t.Helper()
	if _, err := h.Conn.ReleaseName(HostName); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.items = nil // one that restarts knows nobody
	h.props.SetMust(HostName, "RegisteredStatusNotifierItems", []string{})
}

// AwaitItem waits until an item registers and returns its sender.
func (h *Host) AwaitItem(t testing.TB) string {
	t.Helper()
	select {
	case sender := <-h.registered:
		return sender
	case <-time.After(patience):
		t.Fatal("no item was registered")
		return ""
	}
}

// Line is one visible line of a menu, as a panel reads it.
type Line struct {
	ID        int32
	Label     string
	Enabled   bool
	Icon      string // the bytes of its picture
	Separator bool
	Checkable bool
	Checked   bool
	Submenu   bool   // it opens one
	Lines     []Line // the visible lines of its submenu
}

// node is a line as GetLayout gives it.
type node struct {
	ID    int32
	Props map[string]dbus.Variant
	Kids  []dbus.Variant
}

// Lines reads the whole menu; hidden lines are left out, as a panel does. What
// is in submenus is left out until a while after the first time.
func (h *Host) Lines(t testing.TB, sender string) []Line {
	t.Helper()
	var revision uint32
	var root node
	call := h.Conn.Object(sender, MenuPath).Call(MenuIface+".GetLayout", 0, int32(0), int32(-1), []string{})
	if err := call.Store(&revision, &root); err != nil {
		t.Fatal(err)
	}
	return linesOf(t, root.Kids)
}

func linesOf(t testing.TB, kids []dbus.Variant) []Line {
	t.Helper()
	var all []Line
	for _, kid := range kids {
		var n node
		if err := dbus.Store([]any{kid.Value()}, &n); err != nil {
			t.Fatal(err)
		}
		if n.Props["visible"].Value() == false {
			continue
		}
		label, _ := n.Props["label"].Value().(string)
		icon, _ := n.Props["icon-data"].Value().([]byte)
		all = append(all, Line{
			ID: n.ID, Label: label, Icon: string(icon), Enabled: n.Props["enabled"].Value() == true,
			Separator: n.Props["type"].Value() == "separator", Submenu: n.Props["children-display"].Value() == "submenu",
			Checkable: n.Props["toggle-type"].Value() == "checkmark", Checked: n.Props["toggle-state"].Value() == int32(1),
			Lines: linesOf(t, n.Kids),
		})
	}
	return all
}

// Labels is the menu in one string, "-" for a separator, without submenus.
func (h *Host) Labels(t testing.TB, sender string) string {
	t.Helper()
	return labels(h.Lines(t, sender))
}

// Under is the submenu of the line with that label in one string, empty when
// there is no such line.
func (h *Host) Under(t testing.TB, sender, label string) string {
	t.Helper()
	for _, l := range h.Lines(t, sender) {
		if l.Label == label {
			return labels(l.Lines)
		}
	}
	return ""
}

func labels(lines []Line) string {
	var all []string
	for _, l := range lines {
		if l.Separator {
			l.Label = "-"
		}
		all = append(all, l.Label)
	}
	return strings.Join(all, "\n")
}

// Find returns the first line whose label begins with prefix.
func (h *Host) Find(t testing.TB, sender, prefix string) Line {
	t.Helper()
	for _, l := range h.Lines(t, sender) {
		if strings.HasPrefix(l.Label, prefix) {
			return l
		}
	}
	t.Fatalf("no line %q in\n%s", prefix, h.Labels(t, sender))
	return Line{}
}

// Event tells the item what happened to a line: "clicked", "opened", "closed".
func (h *Host) Event(t testing.TB, sender string, id int32, what string) {
	t.Helper()
	call := h.Conn.Object(sender, MenuPath).Call(MenuIface+".Event", 0, id, what, dbus.MakeVariant(int32(0)), uint32(0))
	if call.Err != nil {
		t.Fatal(call.Err)
	}
}

// Property reads a property of the item.
func (h *Host) Property(t testing.TB, sender, name string) dbus.Variant {
	t.Helper()
	v, err := h.Conn.Object(sender, ItemPath).GetProperty("org.kde.StatusNotifierItem." + name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
