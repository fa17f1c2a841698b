package daemon

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/pins"
)

// OpenPins opens what is pinned, as the state directory remembers it; without
// one nothing is remembered. A nil log is silent.
func OpenPins(stateDir string, log *slog.Logger) *pins.Store {
	path := ""
	if stateDir != "" {
		path = filepath.Join(stateDir, "pins.json")
	}
	return pins.Open(path, log)
}

// PinsProblem says that it is not known who is pinned.
func PinsProblem(err error) string {
	return monitor.Clean(fmt.Sprintf("which servers are pinned cannot be read (%v); until that file is mended or removed, nothing is ended unless forced", err))
}

// pinner pins instances in the background process, and tells of it.
type pinner struct {
	store interface {
		Pinned(id monitor.Identity) bool
		Set(id monitor.Identity, pinned bool) error
		Err() error
	}
	model interface {
		PinsChanged()
		Record(e monitor.Event)
	}
	notices *notices
}

// Pin pins an instance, or takes that back; by says who asked for it. What was so before is no news.
func (p pinner) Pin(in monitor.Instance, pinned bool, by string) error {
	before := p.store.Pinned(in.Identity)
	if err := p.store.Set(in.Identity, pinned); err != nil {
		return err
	}
	p.notices.set(aboutPins)
	if before != pinned {
		p.model.PinsChanged()
		p.model.Record(monitor.PinEvent(&in, pinned, by, time.Now()))
	}
	return nil
}

// unknown is why it is not known who is pinned, nil when it is. Every view then
// shows that, or shows it no more.
func (p pinner) unknown() error {
	err := p.store.Err()
	if err != nil {
		p.notices.set(aboutPins, PinsProblem(err))
		return err
	}
	if p.notices.set(aboutPins) {
		p.model.PinsChanged() // the file can be read by now
	}
	return nil
}
