//go:build real && linux

package tray

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/tray/traytest"
)

// panelSettings is one panel at the top, 32 px high, with a tray and nothing
// else.
const panelSettings = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="dark-mode" type="bool" value="DARK"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="32"/>
      <property name="plugin-ids" type="array"><value type="int" value="1"/></property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="systray"><property name="square-icons" type="bool" value="true"/></property>
  </property>
</channel>`

// desktopSession is a real xfce panel on a display of its own.
type desktopSession struct {
	t     *testing.T
	env   []string
	dir   string    // of the screenshots
	panel *exec.Cmd // nil while there is none
}

func startDesktop(t *testing.T, dark bool) (d *desktopSession, address string) {
	t.Helper()
	home, err := os.MkdirTemp("", "desktop")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// What the bus started writes its settings when the bus is gone, so
		// the directory is removed until it stays away.
		away := 0
		waitFor(t, "an end of the session", func() bool {
			away++
			if _, err := os.Stat(home); err == nil {
				away = 0
				os.RemoveAll(home)
			}
			return away > 50
		})
	})
	// The bus starts the program that keeps the panel's settings.
	address, _ = traytest.StartBus(t, "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"))
	settings := filepath.Join(home, ".config/xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	xml := strings.ReplaceAll(panelSettings, "DARK", strconv.FormatBool(dark))
	if err := os.WriteFile(settings, []byte(xml), 0o600); err != nil {
		t.Fatal(err)
	}
	// Xvfb chooses a free display and writes its number.
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1024x768x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{write}
	run(t, x)
	write.Close()
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	d = &desktopSession{t: t, dir: os.Getenv("LAMPLIGHTER_TEST_SCREENSHOTS")}
	if d.dir == "" {
		d.dir = t.TempDir()
	}
	d.env = append(os.Environ(), "DISPLAY=:"+strings.TrimSpace(number), "DBUS_SESSION_BUS_ADDRESS="+address,
		"HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "XDG_CACHE_HOME="+filepath.Join(home, ".cache"), "XDG_RUNTIME_DIR="+home)
	if dark {
		d.env = append(d.env, "GTK_THEME=Adwaita:dark")
	}
	run(t, d.command("xfwm4", "--compositor=off"))
	d.startPanel()
	return d, address
}

func (d *desktopSession) startPanel() {
	d.t.Helper()
	d.panel = d.command("xfce4-panel", "--disable-wm-check")
	run(d.t, d.panel)
}

// endPanel ends the panel as a crash does.
func (d *desktopSession) endPanel() {
	d.t.Helper()
	d.panel.Process.Kill()
	d.panel.Wait()
	waitFor(d.t, "a desktop without a panel", func() bool { return ink(d.screen(""), iconPart) == 0 })
}

// hasIcon waits for the icon on the panel.
func (d *desktopSession) hasIcon() {
	d.t.Helper()
	waitFor(d.t, "the icon on the panel", func() bool { return ink(d.screen(""), iconPart) > 50 })
}

// run starts a program that ends with the test.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
}

func (d *desktopSession) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = d.env
	return cmd
}

func (d *desktopSession) pointer(args ...string) {
	d.t.Helper()
	if out, err := d.command("xdotool", args...).CombinedOutput(); err != nil {
		d.t.Fatalf("xdotool %v: %v %s", args, err, out)
	}
}

// screen takes a picture of the screen; a name keeps it as a file.
func (d *desktopSession) screen(name string) image.Image {
	d.t.Helper()
	data, err := d.command("import", "-window", "root", "png:-").Output()
	if err != nil {
		d.t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		d.t.Fatal(err)
	}
	if name != "" {
		if err := os.WriteFile(filepath.Join(d.dir, name+".png"), data, 0o644); err != nil {
			d.t.Fatal(err)
		}
	}
	return img
}

// atRest takes pictures until two in a row are the same.
func (d *desktopSession) atRest(name string) image.Image {
	d.t.Helper()
	var last, now image.Image
	waitFor(d.t, "a screen at rest", func() bool {
		last, now = now, d.screen(name)
		return last != nil && same(last, now)
	})
	return now
}

// ink counts the pixels of a part of the screen that differ from its corner.
func ink(img image.Image, part image.Rectangle) (n int) {
	ground := img.At(part.Max.X-1, part.Min.Y)
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			if img.At(x, y) != ground {
				n++
			}
		}
	}
	return n
}

// The parts of the screen: the icon stands in the left corner of the panel,
// the menu opens below it.
var (
	iconPart = image.Rect(2, 4, 100, 28)
	menuPart = image.Rect(0, 33, 400, 400)
)

func TestXfcePanel(t *testing.T) {
	for _, theme := range []string{"light", "dark"} {
		t.Run(theme, func(t *testing.T) { testXfcePanel(t, theme) })
	}
}

func testXfcePanel(t *testing.T, theme string) {
	d, address := startDesktop(t, theme == "dark")
	c := startChild(t, address, snapshot(), "DISPLAY=")
	d.hasIcon()
	snap := states()
	c.send(t, snap)
	before := d.screen("")
	height := func(img image.Image) int { // of the menu, down to its last line
		last := 0
		for y := menuPart.Min.Y; y < menuPart.Max.Y; y++ {
			if img.At(40, y) != img.At(700, y) {
				last = y
			}
		}
		return last
	}
	open := func() {
		d.pointer("mousemove", "16", "16", "click", "1")
		waitFor(t, "the open menu", func() bool { return height(d.screen("")) > 100 })
	}
	open()
	d.pointer("mousemove", "60", "90")
	opened := d.atRest("menu-" + theme)
	if ink(before, menuPart) > 0 {
		t.Error("the screen was not empty before")
	}

	// One goes, one comes, one changes its colour: nothing may move.
	red := snap.Instances[1]
	red.State, red.Cause = monitor.StateZombie, monitor.CauseUnreachable
	c.send(t, snapshot(snap.Instances[0], red, snap.Instances[3], snap.Instances[4], liveNow(24290, "new")))
	waitFor(t, "the change in the open menu", func() bool { return !same(opened, d.screen("")) })
	changed := d.atRest("menu-" + theme + "-changed-while-open")
	if height(changed) != height(opened) {
		t.Errorf("the open menu is %d px high, was %d", height(changed), height(opened))
	}

	// A click closes the menu, so that the next one is of the right size.
	d.pointer("mousemove", "100", "200", "click", "1")
	waitFor(t, "the closed menu", func() bool { return height(d.screen("")) == 0 })
	waitFor(t, "the click", func() bool { return strings.Contains(c.said(), "global\n") })
	d.pointer("mousemove", "600", "400")
	lit := d.atRest("")
	c.send(t, snapshot())
	waitFor(t, "the unlit lantern", func() bool { return !same(d.screen(""), lit) })
	open()
	d.atRest("menu-" + theme + "-empty")
	d.pointer("key", "Escape")
}

// drawn is the smallest rectangle around what differs from an empty screen.
func drawn(empty, img image.Image) (box image.Rectangle) {
	for y := menuPart.Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := range img.Bounds().Max.X {
			if img.At(x, y) != empty.At(x, y) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// submenu opens the menu, and the submenu that keys lead to, which is wider than
// the menu by more than some pixels. A change may reach the panel later than the
// keys do, which then lead elsewhere: the menu is closed, and opened once more.
func (d *desktopSession) submenu(empty image.Image, name string, wider int, keys ...string) (menu image.Rectangle, opened image.Image) {
	d.t.Helper()
	waitFor(d.t, "the submenu", func() bool {
		d.pointer("mousemove", "16", "16", "click", "1")
		waitFor(d.t, "the open menu", func() bool { return drawn(empty, d.screen("")).Dy() > 100 })
		menu = drawn(empty, d.atRest(""))
		d.pointer(append([]string{"key"}, keys...)...)
		if opened = d.atRest(name); drawn(empty, opened).Max.X > menu.Max.X+wider {
			return true
		}
		d.closeMenu(empty)
		return false
	})
	return menu, opened
}

// closeMenu takes the pointer away, too, or a tooltip shows.
func (d *desktopSession) closeMenu(empty image.Image) {
	d.t.Helper()
	d.pointer("mousemove", "900", "700", "key", "Escape", "Escape")
	waitFor(d.t, "the closed menu", func() bool { return drawn(empty, d.screen("")).Empty() })
}

func TestXfceSubmenus(t *testing.T) {
	for _, theme := range []string{"light", "dark"} {
		t.Run(theme, func(t *testing.T) { testXfceSubmenus(t, theme) })
	}
}

func testXfceSubmenus(t *testing.T, theme string) {
	d, address := startDesktop(t, theme == "dark")
	c := startChild(t, address, snapshot(), "DISPLAY=")
	d.hasIcon()
	snap := states()
	generic("GitHub", 0)(&snap.Instances[4])
	event := func(k monitor.EventKind, i int, detail string) monitor.Event {
		in := &snap.Instances[i]
		return monitor.Event{At: time.Date(2026, 11, 20, 10, 42, i, 0, time.Local), Kind: k, ID: in.ID(), Label: in.Label(), Detail: detail}
	}
	snap.Recent = []monitor.Event{
		event(monitor.EventStopRefused, 1, "it answered a call 2 min ago"),
		event(monitor.EventZombieDetected, 0, "suspended: it was stopped by a signal"),
		event(monitor.EventProjectActivated, 1, "/home/u/alpha"),
		event(monitor.EventStarted, 4, "by Claude Code"),
	}
	snap.Recent[0].At = time.Now()
	empty := d.atRest("")
	c.send(t, snap)
	open := func(name string, keys ...string) image.Image {
		t.Helper()
		_, opened := d.submenu(empty, name, 50, keys...)
		return opened
	}
	// Quit, then About, which is passed over, then Stop.
	opened := open("stop-"+theme, "Up", "Up", "Right")
	red := snap.Instances[1]
	red.State, red.Cause = monitor.StateZombie, monitor.CauseUnreachable
	next := snapshot(snap.Instances[0], red, snap.Instances[2], liveNow(24290, "new"))
	next.Recent = append([]monitor.Event{event(monitor.EventStopped, 4, "")}, snap.Recent...)
	c.send(t, next)
	waitFor(t, "the change in the open submenu", func() bool { return !same(opened, d.screen("")) })
	changed := d.atRest("stop-" + theme + "-changed-while-open")
	// A toolkit may shade one column more or less.
	if before, after := drawn(empty, opened), drawn(empty, changed); !after.In(before.Inset(-1)) || !before.In(after.Inset(-1)) {
		t.Errorf("the open submenu takes %v, was %v", after, before)
	}
	closed := func() { waitFor(t, "the closed menu", func() bool { return drawn(empty, d.screen("")).Empty() }) }
	d.pointer("key", "Escape", "Escape")
	closed()
	c.send(t, snap)
	// A menu that changes under the keys forgets which of its lines was chosen.
	h, item := traytest.NewHost(t, address), fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", c.cmd.Process.Pid)
	waitFor(t, "the lines as they were", func() bool { return strings.Contains(h.Under(t, item, "Stop"), "24284 - alpha · client") })
	waitFor(t, "the order", func() bool { // once the lines have settled
		open("", "Up", "Up", "Right")
		d.pointer("key", "Down", "Return") // the second line
		closed()
		return strings.Contains(c.said(), "stop "+snap.Instances[1].ID()+"\n")
	})

	open("recent-"+theme, "Up", "Up", "Up", "Up", "Right") // over the refusal
	d.pointer("key", "Down", "Down", "Return")             // the third line
	waitFor(t, "the dashboard", func() bool { return strings.Contains(c.said(), "open "+snap.Instances[1].ID()+"\n") })
	closed()
	if n := strings.Count(c.said(), "stop "); n != 1 {
		t.Errorf("%d orders to stop", n)
	}
}

func same(a, b image.Image) bool {
	x, okX := a.(*image.RGBA)
	y, okY := b.(*image.RGBA)
	if okX && okY {
		return bytes.Equal(x.Pix, y.Pix)
	}
	bounds := a.Bounds()
	for py := bounds.Min.Y; py < bounds.Max.Y; py++ {
		for px := bounds.Min.X; px < bounds.Max.X; px++ {
			if a.At(px, py) != b.At(px, py) {
				return false
			}
		}
	}
	return true
}
