//go:build unix

package main

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

// Changed settings count at once, and a broken file costs nothing that held.
func TestSettingsAreReloaded(t *testing.T) {
	h := newHome(t)
	h.write(t, "import time; print(flush=True); time.sleep(600)\n", "acme-server.py")
	p := h.background(t, "run")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(python, "-u", h.path("acme-server.py"), "--serve")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	label := "pid " + strconv.Itoa(server.Process.Pid) + " - acme"
	status := func() string {
		_, out, errs := h.does(t, "status")
		return out + errs
	}

	rule := "servers:\n  - name: acme\n    program: python\n    arguments: [acme-server.py, --serve]\n"
	if strings.Contains(status(), label) {
		t.Fatal("it is known without a rule")
	}
	h.write(t, "", ".config", "lamplighter", "config.yaml")
	h.write(t, rule, ".config", "lamplighter", "config.yaml")
	apptest.Eventually(t, "the rule counts", func() bool { return strings.Contains(status(), label) })

	h.write(t, rule+"tray_icn: dark\n", ".config", "lamplighter", "config.yaml")
	apptest.Eventually(t, "the fault is shown", func() bool { return strings.Contains(status(), `did you mean "tray_icon"`) })
	if !strings.Contains(status(), label) {
		t.Error("a broken file has taken the rule away")
	}
	h.write(t, "tray_icon: hidden\n", ".config", "lamplighter", "config.yaml")
	apptest.Eventually(t, "the rule has gone, and what needs a restart says so", func() bool {
		text := status()
		return !strings.Contains(text, label) && strings.Contains(text, "tray_icon counts from the next start") && !strings.Contains(text, "did you mean")
	})
	p.signal(t, syscall.SIGTERM)
	if got := p.status(t); got != 0 {
		t.Errorf("exit status %d", got)
	}
}
