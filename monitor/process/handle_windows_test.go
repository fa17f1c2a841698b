package process

import (
	"errors"
	"testing"

	"lamplighter/monitor"
)

func holding(t *testing.T, id monitor.Identity) *Handle {
	t.Helper()
	h, err := Hold(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

func TestHoldAndKill(t *testing.T) {
	for name, end := range map[string]func(*Handle) error{"kill": (*Handle).Kill, "terminate": (*Handle).Terminate} {
		p := start(t, "idle")
		h := holding(t, p.Identity)
		if err := h.Suspend(); !errors.Is(err, errors.ErrUnsupported) || h.Ended() {
			t.Errorf("%s: Suspend: %v, ended %v", name, err, h.Ended())
		}
		if err := errors.Join(h.Continue(), end(h)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := h.Wait(t.Context()); err != nil || !h.Ended() {
			t.Errorf("%s: %v, ended %v", name, err, h.Ended())
		}
		if err := end(h); !errors.Is(err, ErrGone) {
			t.Errorf("%s again: %v", name, err)
		}
		_ = p.cmd.Wait() // that it failed is what was ordered
		if code := p.cmd.ProcessState.ExitCode(); code != 1 /* as of what Task Manager ends */ {
			t.Errorf("%s: exit status %d", name, code)
		}
		h.Close()
		h.Close()
		if err := end(h); err == nil {
			t.Errorf("%s after Close: %v", name, err)
		}
		if !h.Ended() {
			t.Errorf("%s: lives again after Close", name)
		}
	}
}
