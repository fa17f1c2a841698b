//go:build real && linux

package desktop

import (
	"bufio"
	"bytes"
	"errors"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/tray/traytest"
)

// panelSettings is one panel at the top, 32 px high, with a tray and nothing
// else.
const panelSettings = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
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

// The parts of the screen: the icon stands in the left corner of the panel, the
// menu opens below it, and notifications come at the right.
var (
	iconPart  = image.Rect(2, 4, 100, 28)
	belowPart = image.Rect(0, 33, 1024, 768)
)

// display is a session of Xfce on a display of its own, with its real panel and
// notification service, and somebody with a mouse.
type display struct {
	t       *testing.T
	address string // of its bus
	endBus  func() // as a crash of it does
	server  *exec.Cmd
	display string // its name, as an environment variable
	env     []string
	panel   *exec.Cmd
	dir     string // of the pictures
}

func startDisplay(t *testing.T) *display {
	t.Helper()
	home, err := os.MkdirTemp("", "desktop")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// What the bus started writes its settings when the bus is gone.
		apptest.Eventually(t, "the end of the session", func() bool { return os.RemoveAll(home) == nil })
	})
	config := filepath.Join(home, ".config")
	settings := filepath.Join(config, "xfce4", "xfconf", "xfce-perchannel-xml", "xfce4-panel.xml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(settings), 0o700), os.WriteFile(settings, []byte(panelSettings), 0o600)); err != nil {
		t.Fatal(err)
	}
	d := &display{t: t, dir: os.Getenv("LAMPLIGHTER_TEST_SCREENSHOTS")}
	if d.dir == "" {
		d.dir = t.TempDir()
	}
	// Xvfb chooses a free display and writes its number. Locks and sockets that
	// are files would be shared with tests in other namespaces, where a pid means
	// something else.
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1024x768x24", "-noreset", "-nolock", "-nolisten", "tcp", "-nolisten", "unix")
	x.ExtraFiles = []*os.File{write}
	d.launch(x)
	write.Close()
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	d.display = "DISPLAY=:" + strings.TrimSpace(number)
	env := []string{d.display, "NO_AT_BRIDGE=1", "HOME=" + home, "XDG_RUNTIME_DIR=" + home,
		"XDG_CONFIG_HOME=" + config, "XDG_CACHE_HOME=" + filepath.Join(home, ".cache")}
	// The bus starts the notification service, and what keeps the panel's settings.
	d.server = x
	d.address, d.endBus = traytest.StartBus(t, env...)
	d.env = append(append(os.Environ(), env...), "DBUS_SESSION_BUS_ADDRESS="+d.address)
	d.launch(d.command("xfwm4", "--compositor=off"))
	d.startPanel()
	t.Cleanup(func() {
		if t.Failed() {
			_ = d.command("import", "-window", "root", filepath.Join(d.dir, "failed.png")).Run() // only to help
		}
	})
	return d
}

// launch starts a program that ends with the test.
func (d *display) launch(cmd *exec.Cmd) {
	d.t.Helper()
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
}

func (d *display) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = d.env
	return cmd
}

func (d *display) startPanel() {
	d.t.Helper()
	d.panel = d.command("xfce4-panel", "--disable-wm-check")
	d.launch(d.panel)
}

// logout ends the display, after the bus, as the end of a session does.
func (d *display) logout() {
	d.server.Process.Kill()
	d.server.Wait()
}

// endPanel ends the panel as a crash does.
func (d *display) endPanel() {
	d.t.Helper()
	d.panel.Process.Kill()
	d.panel.Wait()
	apptest.Eventually(d.t, "a desktop without a panel", func() bool { return ink(d.screen(), iconPart) == 0 })
}

// hasIcon waits for the icon on the panel.
func (d *display) hasIcon() {
	d.t.Helper()
	apptest.Eventually(d.t, "the icon on the panel", func() bool { return ink(d.screen(), iconPart) > 50 })
}

// pointer is what the user does with mouse and keys, as xdotool names it.
func (d *display) pointer(args ...string) {
	d.t.Helper()
	if out, err := d.command("xdotool", args...).CombinedOutput(); err != nil {
		d.t.Fatalf("xdotool %v: %v %s", args, err, out)
	}
}

// screen is a picture of the screen.
func (d *display) screen() (img image.Image) {
	d.t.Helper()
	apptest.Eventually(d.t, "a picture of the screen", func() bool { // it fails while windows come and go
		data, err := d.command("import", "-window", "root", "png:-").Output()
		if err == nil {
			img, err = png.Decode(bytes.NewReader(data))
		}
		return err == nil
	})
	return img
}

// atRest takes pictures until two in a row are the same, and keeps the last one
// as a file.
func (d *display) atRest(name string) (now image.Image) {
	d.t.Helper()
	var last image.Image
	apptest.Eventually(d.t, "a screen at rest", func() bool {
		last, now = now, d.screen()
		return last != nil && changed(last, now).Empty()
	})
	var data bytes.Buffer
	if err := errors.Join(png.Encode(&data, now), os.WriteFile(filepath.Join(d.dir, name+".png"), data.Bytes(), 0o600)); err != nil {
		d.t.Fatal(err)
	}
	return now
}

// openMenu opens the menu of the icon, and returns where it is.
func (d *display) openMenu(empty image.Image, name string) image.Rectangle {
	d.t.Helper()
	d.pointer("mousemove", "16", "16", "click", "1")
	apptest.Eventually(d.t, "the open menu", func() bool { return changed(empty, d.screen()).Dy() > 100 })
	return changed(empty, d.atRest(name))
}

// closeMenu takes the pointer away, too, or a tooltip shows.
func (d *display) closeMenu(empty image.Image) {
	d.t.Helper()
	d.pointer("mousemove", "900", "700", "key", "Escape", "Escape")
	apptest.Eventually(d.t, "the closed menu", func() bool { return changed(empty, d.screen()).Empty() })
}

// openSubmenu opens the menu and the submenu that so many lines from the end lead
// to. A submenu without lines is a box of some 50 px. A change may reach the panel
// later than the keys do, which then lead elsewhere: it is tried once more.
func (d *display) openSubmenu(empty image.Image, name string, up int) {
	d.t.Helper()
	apptest.Eventually(d.t, "a submenu with lines: "+name, func() bool {
		menu := d.openMenu(empty, name)
		d.pointer(append([]string{"key"}, strings.Fields(strings.Repeat("Up ", up)+"Right")...)...)
		opened := changed(empty, d.atRest(name))
		d.closeMenu(empty)
		return opened.Max.X > menu.Max.X+100
	})
}

// bubbles are where notifications are on the screen.
func (d *display) bubbles() []image.Rectangle {
	// It fails when there are none.
	out, _ := d.command("xdotool", "search", "--onlyvisible", "--class", "xfce4-notifyd", "getwindowgeometry", "--shell", "%@").Output()
	return windows(string(out))
}

// press presses a button of the only notification, of which there are so many, and waits
// until that is gone.
func (d *display) press(name string, which, of int) {
	d.t.Helper()
	var button image.Point
	apptest.Eventually(d.t, "a notification with a button", func() bool {
		for _, place := range d.bubbles() {
			if all := buttonsIn(d.atRest(name), place); len(all) == of {
				button = all[which]
				return true
			}
		}
		return false
	})
	d.pointer("mousemove", strconv.Itoa(button.X), strconv.Itoa(button.Y), "click", "1", "mousemove", "900", "700")
	apptest.Eventually(d.t, "the notification goes", func() bool { return len(d.bubbles()) == 0 })
}

// windows are the places that xdotool prints. The notification service has small
// ones that nobody sees, too.
func windows(text string) (all []image.Rectangle) {
	at := map[string]int{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		at[name], _ = strconv.Atoi(value)
		if name == "HEIGHT" && at["WIDTH"] > 100 && at["HEIGHT"] > 20 {
			all = append(all, image.Rect(at["X"], at["Y"], at["X"]+at["WIDTH"], at["Y"]+at["HEIGHT"]))
		}
	}
	return all
}

// buttonsIn finds the buttons of a notification, from left to right: the lowest
// line of pixels in which there are long pieces that are not its ground is that
// of their lower edges.
func buttonsIn(screen image.Image, bubble image.Rectangle) []image.Point {
	inner := bubble.Inset(5)
	ground := screen.At(inner.Min.X, inner.Max.Y-1)
	for y := inner.Max.Y - 1; y > inner.Min.Y; y-- {
		var found []image.Point
		from := -1
		for x := inner.Min.X; x <= inner.Max.X; x++ {
			if x < inner.Max.X && screen.At(x, y) != ground {
				if from < 0 {
					from = x
				}
				continue
			}
			if from >= 0 && x-from > 40 {
				found = append(found, image.Pt((from+x)/2, y-10))
			}
			from = -1
		}
		if found != nil {
			return found
		}
	}
	return nil
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

// changed is the smallest rectangle around what differs below the panel.
func changed(before, after image.Image) (box image.Rectangle) {
	for y := belowPart.Min.Y; y < belowPart.Max.Y; y++ {
		for x := range belowPart.Max.X {
			if before.At(x, y) != after.At(x, y) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}
