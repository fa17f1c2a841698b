//go:build real && linux

package notify

import (
	"bufio"
	"bytes"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/tray/traytest"
)

// desktop is a display of its own with a real notification service, that of
// Xfce, and somebody with a mouse.
type desktop struct {
	env     []string
	program string // the service
	dir     string // of the pictures
}

// startDesktop makes its bus that of this process. The bus starts the service
// when somebody wants it.
func startDesktop(t *testing.T) *desktop {
	t.Helper()
	programs, _ := filepath.Glob("/usr/lib/*/xfce4/notifyd/xfce4-notifyd")
	if len(programs) == 0 {
		t.Fatal("xfce4-notifyd is missing; install the Debian package of that name, or run ./build.sh test once")
	}
	home, err := os.MkdirTemp("", "desktop")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// What the bus started writes its settings when the bus is gone.
		apptest.Eventually(t, "an end of the session", func() bool { return os.RemoveAll(home) == nil })
	})
	// Xvfb chooses a free display and writes its number. Locks and sockets that
	// are files would be shared with tests in other namespaces, where a pid means
	// something else. It goes on when the service, its only lasting client, ends.
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1024x768x24", "-noreset", "-nolock", "-nolisten", "tcp", "-nolisten", "unix")
	x.ExtraFiles = []*os.File{write}
	launch(t, x)
	write.Close()
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	d := &desktop{program: programs[0], dir: os.Getenv("LAMPLIGHTER_TEST_SCREENSHOTS")}
	if d.dir == "" {
		d.dir = t.TempDir()
	}
	env := []string{
		"DISPLAY=:" + strings.TrimSpace(number), "NO_AT_BRIDGE=1", "HOME=" + home, "XDG_RUNTIME_DIR=" + home,
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
	}
	address, _ := traytest.StartBus(t, env...)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	d.env = append(append(os.Environ(), env...), "DBUS_SESSION_BUS_ADDRESS="+address)
	return d
}

// launch starts a program that ends with the test.
func launch(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func (d *desktop) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = d.env
	return cmd
}

func (d *desktop) run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := d.command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return out
}

// serves starts the service ourselves, before the bus does.
func (d *desktop) serves(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := launch(t, d.command(d.program))
	apptest.Eventually(t, "the service is there", func() bool {
		return strings.Contains(string(d.run(t, "gdbus", "call", "--session", "-d", "org.freedesktop.DBus", "-o", "/org/freedesktop/DBus",
			"-m", "org.freedesktop.DBus.NameHasOwner", serviceName)), "true")
	})
	return cmd
}

// bubbles are where notifications are on the screen.
func (d *desktop) bubbles(t *testing.T) []image.Rectangle {
	t.Helper()
	// It fails when there are none.
	out, _ := d.command("xdotool", "search", "--onlyvisible", "--class", "xfce4-notifyd", "getwindowgeometry", "--shell", "%@").Output()
	var all []image.Rectangle
	var x, y, w int
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "X":
			x = n
		case "Y":
			y = n
		case "WIDTH":
			w = n
		case "HEIGHT":
			if w > 100 && n > 20 { // the service has windows that nobody sees, too
				all = append(all, image.Rect(x, y, x+w, y+n))
			}
		}
	}
	return all
}

// shows waits until there are n notifications on the screen, at rest.
func (d *desktop) shows(t *testing.T, n int, name string) (bubbles []image.Rectangle, screen image.Image) {
	t.Helper()
	var last []byte
	defer func() {
		if t.Failed() {
			os.WriteFile(filepath.Join(d.dir, name+"-not.png"), last, 0o644)
			t.Logf("on the screen: %v", bubbles)
		}
	}()
	apptest.Eventually(t, strconv.Itoa(n)+" notifications", func() bool {
		bubbles = d.bubbles(t)
		data, err := d.command("import", "-window", "root", "png:-").Output() // fails while windows come and go
		same := err == nil && len(bubbles) == n && bytes.Equal(last, data)
		last = data
		return same
	})
	if err := os.WriteFile(filepath.Join(d.dir, name+".png"), last, 0o644); err != nil {
		t.Fatal(err)
	}
	screen, err := png.Decode(bytes.NewReader(last))
	if err != nil {
		t.Fatal(err)
	}
	return bubbles, screen
}

// picture is what shows has kept under that name.
func (d *desktop) picture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	return data
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

// press presses a button of the only notification.
func (d *desktop) press(t *testing.T, n int, name string) {
	t.Helper()
	bubbles, screen := d.shows(t, 1, name)
	all := buttonsIn(screen, bubbles[0])
	if len(all) != len(buttons) {
		t.Fatalf("%d buttons in %s", len(all), filepath.Join(d.dir, name+".png"))
	}
	d.run(t, "xdotool", "mousemove", strconv.Itoa(all[n].X), strconv.Itoa(all[n].Y), "click", "1")
}

func announcement(id, project string) Notification {
	return Notification{
		ID: id, Summary: "24284 - " + project + " ends in 5 min", Body: "No call since 14:02 at least, in " + project + ".\nIt uses 640 MB.",
		Actions: buttons, Urgent: true,
	}
}

func TestXfceButtons(t *testing.T) {
	d := startDesktop(t)
	n := serve(t)
	n.Show(announcement("alpha", "alpha"))
	d.press(t, 0, "keep")
	n.chooses(t, "alpha keep")
	d.shows(t, 0, "kept")

	// A newer one about the same takes its place. Its name tries to be more.
	n.Show(announcement("beta", "beta"))
	d.shows(t, 1, "older")
	n.Show(announcement("beta", "<b>beta</b> & \x1b[1m<img src='/etc/hostname'/>"))
	apptest.Eventually(t, "the newer one", func() bool {
		d.shows(t, 1, "newer")
		return !bytes.Equal(d.picture(t, "older"), d.picture(t, "newer"))
	})
	d.press(t, 1, "stop")
	n.chooses(t, "beta stop")
	d.shows(t, 0, "stopped")

	n.Show(announcement("gamma", "gamma"))
	n.Show(announcement("delta", "delta"))
	d.shows(t, 2, "two")
	n.Withdraw("gamma")
	d.shows(t, 1, "withdrawn")
	n.end()
	d.shows(t, 0, "end")
	if len(n.chosen) != 0 || n.log.String() != "" {
		t.Errorf("chosen: %d more; logged: %s", len(n.chosen), n.log.String())
	}
}

// The service crashes; the bus starts another one.
func TestXfceServiceCrashes(t *testing.T) {
	d := startDesktop(t)
	service := d.serves(t)
	n := serve(t)
	n.Show(announcement("alpha", "alpha"))
	d.shows(t, 1, "before")
	service.Process.Kill()
	service.Wait()
	d.shows(t, 0, "crashed")
	n.Show(announcement("alpha", "alpha"))
	d.press(t, 1, "after")
	n.chooses(t, "alpha stop")
}

// The buttons of one that the service has shown late work too.
func TestXfceServiceHangs(t *testing.T) {
	d := startDesktop(t)
	service := d.serves(t)
	n := serve(t)
	if err := service.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	n.Show(announcement("alpha", "alpha"))
	apptest.Eventually(t, "it is logged", func() bool { return strings.Contains(n.log.String(), "does not answer") })
	if err := service.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.press(t, 0, "late")
	n.chooses(t, "alpha keep")
}
