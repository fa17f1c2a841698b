package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
)

// pinned is a model that tells what it was told.
type pinned struct {
	events []monitor.EventKind
	by     []string // details
	looks  int
}

func (p *pinned) PinsChanged() { p.looks++ }

func (p *pinned) Record(e monitor.Event) {
	p.events, p.by = append(p.events, e.Kind), append(p.by, e.Detail)
}

// A pin is told once, and the next process knows it.
func TestPinner(t *testing.T) {
	stat, err := process.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	in := daemontest.SerenaAt(1, 24282, "alpha")
	in.Identity = stat.Identity
	dir, model := t.TempDir(), &pinned{}
	p := pinner{OpenPins(dir, nil), model, &notices{}}
	for _, wish := range []bool{true, true, false, false, true} {
		if err := p.Pin(in, wish, "a request"); err != nil {
			t.Fatal(err)
		}
	}
	if want := []monitor.EventKind{monitor.EventPinned, monitor.EventUnpinned, monitor.EventPinned}; !slices.Equal(model.events, want) || model.looks != 3 {
		t.Errorf("told %q in %d looks, want %q", model.events, model.looks, want)
	}
	if want := []string{"by a request", "by a request", "by a request"}; !slices.Equal(model.by, want) {
		t.Errorf("told of %q", model.by)
	}
	if !OpenPins(dir, nil).Pinned(in.Identity) || OpenPins("", nil).Pinned(in.Identity) {
		t.Error("the next process does not know it, or one without a state directory does")
	}
	gone := in
	gone.Identity.Start++
	if err := p.Pin(gone, true, "a request"); err == nil || len(model.events) != 3 {
		t.Errorf("%v, told %q", err, model.events)
	}
}

// What cannot be read is a notice until it can be, and until then a pin or the
// order to end something does not go by it.
func TestPinsThatCannotBeRead(t *testing.T) {
	stat, err := process.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	in := daemontest.SerenaAt(1, 24282, "alpha")
	in.Identity = stat.Identity
	dir := t.TempDir()
	file := filepath.Join(dir, "pins.json")
	lay := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lay("{")
	var shown []string
	model, said := &pinned{}, &notices{}
	said.show(func(all []string) { shown = all })
	p := pinner{OpenPins(dir, nil), model, said}

	refusal := stop.Check(stop.Facts{Label: in.Label(), Recognised: true, PinsUnknown: p.unknown()}, stop.Order{})
	if refusal == nil || !refusal.Forceable() {
		t.Fatalf("refused by %v", refusal)
	}
	apptest.Contains(t, refusal.Error(), " - alpha may be pinned", file+": it is not a list of pins", "force it.")
	if len(shown) != 1 || !strings.Contains(shown[0], "which servers are pinned cannot be read ("+file+": it is not a list of pins") {
		t.Errorf("shown %q", shown)
	}

	lay("{}")
	if err := p.unknown(); err != nil || len(shown) > 0 || model.looks != 1 {
		t.Errorf("mended: %v; shown %q, %d looks", err, shown, model.looks)
	}

	lay("{")
	p.store = OpenPins(dir, nil)
	if p.unknown() == nil || len(shown) != 1 {
		t.Errorf("shown %q", shown)
	}
	if err := p.Pin(in, true, "a request"); err == nil || len(shown) != 1 || p.unknown() == nil {
		t.Errorf("pinned where others may be: %v, shown %q", err, shown)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := p.Pin(in, true, "a request"); err != nil || len(shown) > 0 || p.unknown() != nil {
		t.Errorf("pinned anew: %v, shown %q", err, shown)
	}
}
