package daemon

import (
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/statefile"
)

// proofs remember over a restart what was seen of servers that others started. They hold
// for one boot.
type proofs struct {
	file  statefile.File[savedProofs]
	boot  string
	log   *slog.Logger
	saved map[string]monitor.Proof   // what the file holds
	noted map[*monitor.Instance]bool // whose proofs it holds, if they have some
}

// savedProofs is what proofs.json holds.
type savedProofs struct {
	Boot   string                   `json:"boot"`
	Proofs map[string]monitor.Proof `json:"proofs"` // by the id of the instance
}

// proofOf is what is to be remembered of an instance: who started it, by what entry, and its
// ends of the conversation; false means nothing. Since when it is alone or idle is not: an
// instant from a file would let a step of the clock shorten a grace period.
func proofOf(in *monitor.Instance) (monitor.Proof, bool) {
	if in.Managed || !in.Recognised || in.State == monitor.StateParked || in.Client == nil {
		return monitor.Proof{}, false
	}
	p := monitor.Proof{Client: in.Client, Entry: in.Entry}
	if pipe := in.Evidence.Pipe; pipe != (monitor.Pipe{}) {
		p.Pipe = &pipe // a copy, so that no old instance is kept
	}
	return p, true
}

// openProofs returns nil where nothing can be remembered.
func openProofs(stateDir string, log *slog.Logger) *proofs {
	boot, err := process.BootID()
	if stateDir == "" || err != nil {
		return nil
	}
	return &proofs{
		file: statefile.File[savedProofs]{Path: filepath.Join(stateDir, "proofs.json"), Limit: 4 << 20, Broken: errors.New("it holds no proofs")},
		boot: boot, log: log,
	}
}

// restore tells a watch that has not begun yet what was seen before.
func (p *proofs) restore(tell func(monitor.Identity, monitor.Proof)) {
	saved, err := p.file.Read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		p.log.Warn("what was seen of servers before cannot be read, and is written anew", "error", err)
		return
	case saved.Boot != p.boot:
		return
	}
	p.saved = saved.Proofs
	for text, proof := range saved.Proofs {
		if id, err := monitor.ParseIdentity(text); err == nil {
			tell(id, monitor.Proof{Client: proof.Client, Pipe: proof.Pipe, Entry: proof.Entry})
		}
	}
}

// note writes what has changed. A server that has ended needs no proof any more: it is left
// out of what is written next.
func (p *proofs) note(s *monitor.Snapshot) {
	if !slices.ContainsFunc(s.Instances, func(in *monitor.Instance) bool { return !p.noted[in] }) {
		return
	}
	now := make(map[string]monitor.Proof)
	p.noted = make(map[*monitor.Instance]bool)
	for _, in := range s.Instances {
		p.noted[in] = true
		if proof, ok := proofOf(in); ok {
			now[in.ID()] = proof
		}
	}
	if len(now) == 0 && len(p.saved) == 0 || reflect.DeepEqual(now, p.saved) {
		return
	}
	if err := p.file.Write(savedProofs{p.boot, now}); err != nil {
		p.log.Warn("what was seen of servers cannot be remembered", "error", err)
	}
	p.saved = now // also after an error, which is told once for each change
}
