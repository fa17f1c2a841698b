package windows

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

func pidOf(p *process) string { return "(pid " + strconv.Itoa(p.pid) + ")" }

func TestVersionIsTheLinkers(t *testing.T) {
	if status, out, _ := newHome(t).does(t, "version"); status != 0 || !strings.HasPrefix(out, "lamplighter 1.2.3-test (go") || !strings.Contains(out, "windows/") {
		t.Errorf("%d, %q", status, out)
	}
}

func TestStatusWithoutABackground(t *testing.T) {
	h := newHome(t)
	status, out, said := h.does(t, "status", "--json")
	var list struct{ Instances []any }
	if err := json.Unmarshal([]byte(out), &list); err != nil || status != 0 || list.Instances == nil || said != "" {
		t.Errorf("%d, %q, %q, %v", status, out, said, err)
	}
}

// Of the two programs either can be in the background, and the other verbs
// reach it through the pipe.
func TestRun(t *testing.T) {
	for name, run := range map[string]func(h *home) *process{
		"console": func(h *home) *process { return h.start(t, console, "run") },
		"tray":    func(h *home) *process { return h.startBare(t, gui) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			first := h.served(t, run(h))
			status, out, said := h.does(t, "status", "--json")
			var list struct{ Instances []any }
			if err := json.Unmarshal([]byte(out), &list); err != nil || status != 0 || list.Instances == nil || said != "" {
				t.Errorf("%d, %q, %q, %v", status, out, said, err)
			}
			status, _, said = h.does(t, "run")
			if status != 0 || !strings.Contains(said, "it already runs "+pidOf(first)) {
				t.Errorf("a second one: %d, %q", status, said)
			}
			if second := h.startBare(t, gui, "run"); second.status(t) != 0 {
				t.Errorf("a second one from Explorer: %d", second.status(t))
			}
			apptest.Eventually(t, "its icon is in the tray", func() bool { return len(icons(t)) > 0 })
			first.end(t)
			if status := first.status(t); status != 0 {
				t.Errorf("exit status %d: %s", status, first.err.String())
			}
			apptest.Contains(t, h.log(t), "msg=started version=1.2.3-test", "ending with the desktop session", "msg=stopped")
			if strings.Contains(h.log(t), "in time") {
				t.Error(h.log(t))
			}
			apptest.Eventually(t, "its icon has gone", func() bool { return len(icons(t)) == 0 })
			if status, _, said := h.does(t, "status"); status != 0 || said != "" {
				t.Errorf("after its end: %d, %q", status, said)
			}
		})
	}
}

// The lock of a process that was killed is free at once.
func TestRunAfterKill(t *testing.T) {
	h := newHome(t)
	first := h.served(t, h.startBare(t, gui))
	first.kill(t)
	h.served(t, h.startBare(t, gui))
}

// Who starts the program for the tray from Explorer has no console to read
// from: what keeps it from running is shown in a window.
func TestFailureIsShown(t *testing.T) {
	h := newHome(t)
	p := h.startBare(t, gui, "rnu")
	var box uintptr
	apptest.Eventually(t, "a message", func() bool {
		box = windowOf(t, p.pid, "#32770")
		return box != 0
	})
	if title := textOf(box); title != "Lamplighter" {
		t.Errorf("its title is %q", title)
	}
	var words string
	for _, part := range children(box, "Static") {
		words += textOf(part)
	}
	apptest.Contains(t, words, `there is no verb "rnu"`, "run")
	post(box, messageClose, 0, 0)
	if status := p.status(t); status != 2 {
		t.Errorf("exit status %d", status)
	}
}

// The last line of the menu, reached by keys as a user does. A window and an icon are
// there before the menu is complete, and the icon of a program that was killed stays for
// a while: what is chosen too early is another line, or none, so it is chosen again.
func TestQuitInTheMenu(t *testing.T) {
	h := newHome(t)
	p := h.served(t, h.startBare(t, gui))
	apptest.Eventually(t, "Quit has ended it", func() bool {
		owner := windowOf(t, p.pid, "SystrayClass")
		if windowOf(t, p.pid, "#32768") == 0 {
			post(owner, trayMessage, 0, rightButtonUp)
		} else {
			post(owner, keyDown, keyUp, 0)
			post(owner, keyDown, keyReturn, 0)
		}
		return !p.running()
	})
	if status := p.status(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
	apptest.Contains(t, h.log(t), "msg=stopped")
}
