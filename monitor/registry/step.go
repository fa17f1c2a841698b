package registry

import (
	"context"
	"time"

	"lamplighter/monitor"
)

// register registers one instance and remembers that its entry is known.
func (c *change) register(d *document, r registration, known notes, now time.Time) outcome {
	before := known[r.PID]
	out, had := d.register(r, known, now)
	if out == taken {
		delete(known, r.PID)
		return out
	}
	e := d.slots[d.find(r.PID)].entry
	created := out == added || out == replaced || (before.of(e) && before.Created)
	known[r.PID] = note{Start: r.id.Start, Entry: e.StartedAt.UnixMicro(), Created: created, Present: true}
	c.changed = c.changed || out != unchanged
	if out == replaced {
		c.pruned(had, monitor.Identity{}, "its pid belongs to another server now", now)
	}
	return out
}

// pruned adds the event of an entry that was taken out.
func (c *change) pruned(e Entry, id monitor.Identity, why reason, now time.Time) {
	event := monitor.Event{At: now, Kind: monitor.EventPruned, PID: e.PID, Label: e.label(), Detail: "from the registry: " + string(why)}
	if id.PID != 0 {
		event.ID = id.String()
	}
	c.events = append(c.events, event)
}

// sync brings the document in step: every instance that is wanted has a right
// record, those of dead processes are gone. The records of live instances that
// are not wanted, such as one that has only just started, are left alone.
func (d *document) sync(want []registration, live map[int]bool, known notes, look func(int) (alive, bool), now time.Time) change {
	var c change
	for _, r := range want {
		c.register(d, r, known, now)
	}
	removed, reasons := d.remove(func(e Entry) reason {
		if live[e.PID] {
			return stays
		}
		n, noted := known[e.PID]
		p, lives := look(e.PID)
		return judge(e, n, noted, p, lives, now)
	})
	c.changed = c.changed || len(removed) > 0
	for i, e := range removed {
		n, noted := known[e.PID]
		switch {
		case !noted || !n.of(e):
			c.pruned(e, monitor.Identity{}, reasons[i], now)
		case !n.Present:
			c.pruned(e, monitor.Identity{PID: e.PID, Start: n.Start}, reasons[i], now)
		default:
			// Its end was seen and told.
		}
	}
	for pid, n := range known {
		if live[pid] {
			continue
		}
		if p, lives := look(pid); !lives || (p.start != n.Start && p.start != 0) {
			delete(known, pid)
		}
	}
	return c
}

// sync brings the file in step with the instances that run; see document.sync.
func (f *File) sync(ctx context.Context, want []registration, live map[int]bool) (found, error) {
	return f.change(ctx, len(want) > 0, func(d *document, known notes, now time.Time) change {
		return d.sync(want, live, known, f.look, now)
	})
}

// remembers tells whether there may be entries of ours to take out: those of
// processes that are not among the live ones.
func (f *File) remembers(live map[int]bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loadNotes()
	for pid := range f.notes {
		if !live[pid] {
			return true
		}
	}
	return false
}
