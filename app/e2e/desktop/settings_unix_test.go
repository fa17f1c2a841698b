//go:build unix

package desktop

import (
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
)

// Changed settings count at once, and a broken file costs nothing that held.
func TestSettingsAreReloaded(t *testing.T) {
	h := e2e.NewHome(t)
	p := h.Background(t, "run")
	label := h.Acme(t)
	status := func() string {
		_, out, errs := h.Does(t, "status")
		return out + errs
	}

	if strings.Contains(status(), label) {
		t.Fatal("it is known without a rule")
	}
	h.Write(t, "", ".config", "lamplighter", "config.yaml")
	h.Write(t, e2e.AcmeRule, ".config", "lamplighter", "config.yaml")
	apptest.Eventually(t, "the rule counts", func() bool { return strings.Contains(status(), label) })

	h.Write(t, e2e.AcmeRule+"tray_icn: dark\n", ".config", "lamplighter", "config.yaml")
	apptest.Eventually(t, "the fault is shown", func() bool { return strings.Contains(status(), `did you mean "tray_icon"`) })
	if !strings.Contains(status(), label) {
		t.Error("a broken file has taken the rule away")
	}
	h.Write(t, "tray_icon: hidden\n", ".config", "lamplighter", "config.yaml")
	apptest.Eventually(t, "the rule has gone, and what needs a restart says so", func() bool {
		text := status()
		return !strings.Contains(text, label) && strings.Contains(text, "tray_icon counts from the next start") && !strings.Contains(text, "did you mean")
	})
	endsCleanly(t, h, p, syscall.SIGTERM)
}
