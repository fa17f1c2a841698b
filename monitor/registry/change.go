package registry

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"lamplighter/monitor"
)

// The limits by which an entry is judged.
const (
	// heartbeatOld is how old the heartbeat of somebody else's entry must be
	// before the entry may go, besides that its process is gone. Containers
	// share the directory and have pids of their own, so a pid that does not exist
	// here proves nothing.
	heartbeatOld = 10 * time.Minute
	// heartbeatAhead is how far in the future a heartbeat may lie and still
	// count as new: clocks are set back by an hour, and zones are mistaken.
	heartbeatAhead = 24 * time.Hour
	// startMargin is by how much a process must have started later than its
	// entry says before it is taken for another process. Instances register
	// after they started, never before; the rest is for clocks.
	startMargin = 2 * time.Minute
	// touchAfter is how much newer a heartbeat must be to be written. A program
	// that touches its own entry is faster, and we write nothing.
	touchAfter = 30 * time.Second
)

// registration is an instance that runs, and what its entry should say. The
// entry's StartedAt is the start of the process.
type registration struct {
	id monitor.Identity
	Entry
}

// note is what we remember about an entry of a process that we knew while it
// lived. Without it an entry is somebody else's.
type note struct {
	Start   uint64 // with the pid, the process's identity
	Entry   int64  // when the entry says that it started, in microseconds, which tells it from a later one under the same pid
	Created bool   // the entry was written by us
	Present bool   // we have seen the process alive since we began
}

// of tells whether the note is about this entry.
func (n note) of(e Entry) bool { return n.Entry == e.StartedAt.UnixMicro() }

// notes are by pid.
type notes map[int]note

// fresh tells whether an entry's heartbeat says that somebody keeps it.
func fresh(e Entry, now time.Time) bool {
	beat := e.LastHeartbeat
	if beat.IsZero() {
		beat = e.StartedAt
	}
	// A record that gives no time at all cannot be called old.
	return beat.IsZero() || (now.Sub(beat) < heartbeatOld && beat.Sub(now) <= heartbeatAhead)
}

// born tells whether a process that started then can be the one that wrote e.
func born(started time.Time, e Entry) bool {
	return started.IsZero() || e.StartedAt.IsZero() || !started.After(e.StartedAt.Add(startMargin))
}

// outcome is what register found.
type outcome int

const (
	unchanged outcome = iota
	added
	corrected
	replaced // a record of an earlier process gave way
	taken    // somebody else keeps a record under this pid: left alone
)

// register puts an instance into the document, or corrects what its record
// says. A record that was written by the instance itself is changed only where
// it is wrong, and keeps its fields that we do not know.
//
// The record under the pid is the instance's when it is noted so, or when it
// names its port and was not written before it started. Otherwise it is the
// record of an earlier process under the same pid, and gives way, unless its
// heartbeat is fresh: then it may be that of a process in a container.
func (d *document) register(r registration, known notes, now time.Time) (outcome, Entry) {
	i := d.find(r.PID)
	if i < 0 {
		d.add(r.Entry)
		return added, Entry{}
	}
	have := d.slots[i].entry
	n, noted := known[r.PID]
	noted = noted && n.of(have)
	switch {
	case noted && n.Start == r.id.Start,
		!noted && (have.Port == r.Port || have.Port == 0) && born(r.StartedAt, have):
		if d.correct(i, r.Entry, noted && n.Created, now) {
			return corrected, have
		}
		return unchanged, have
	case !noted && fresh(have, now):
		return taken, have
	}
	d.slots[i].value, d.slots[i].entry = r.record(), r.Entry
	return replaced, have
}

// correct makes a record say what want says and tells whether it changed. Of a
// record that somebody else wrote, context and modes are its own.
func (d *document) correct(i int, want Entry, created bool, now time.Time) bool {
	have := d.slots[i].entry
	e := d.edit(i)
	if have.Port != want.Port {
		e.set(fieldPort, literal(want.Port))
	}
	if have.State != want.State {
		e.set(fieldState, literal(string(want.State)))
		e.heal(want.State)
	}
	e.project(have, want.ProjectName, want.ProjectRoot)
	if want.Context != "" && have.Context != want.Context && (created || have.Context == "") {
		e.set(fieldContext, literal(want.Context))
	}
	if len(want.Modes) > 0 && !slices.Equal(have.Modes, want.Modes) && (created || len(have.Modes) == 0) {
		e.set(fieldModes, literal(want.Modes))
	}
	newer := want.LastHeartbeat.Sub(have.LastHeartbeat)
	if newer >= touchAfter || (newer <= -touchAfter && have.LastHeartbeat.Sub(now) >= touchAfter) {
		e.set(fieldHeartbeat, literal(seconds(want.LastHeartbeat)))
	}
	return e.done()
}

// edit is a change to one record.
type edit struct {
	slot    *slot
	object  object
	changed bool
}

func (d *document) edit(i int) *edit {
	o, err := parseObject(d.slots[i].value)
	if err != nil {
		o = nil // it cannot happen: the record was understood
	}
	return &edit{slot: &d.slots[i], object: o}
}

func (e *edit) set(field string, value json.RawMessage) {
	e.object.set(field, value)
	e.changed = true
}

func (e *edit) project(have Entry, name, root string) {
	if have.ProjectName != name {
		e.set(fieldProjectName, orNull(name))
	}
	if have.ProjectRoot != root && (root == "" || have.ProjectRoot == "" || filepath.Clean(have.ProjectRoot) != filepath.Clean(root)) {
		e.set(fieldProjectRoot, orNull(root))
	}
}

// heal takes back the time since when a program called the instance a zombie:
// with an old time it would be thrown out as soon as it is called so again.
func (e *edit) heal(state monitor.State) {
	if since := e.object.get(fieldZombieSince); state != monitor.StateZombie && since != nil && string(since) != "null" {
		e.set(fieldZombieSince, json.RawMessage("null"))
	}
}

// done writes the record back when it changed.
func (e *edit) done() bool {
	if e.changed {
		e.slot.value = e.object.json()
		e.slot.entry, e.slot.ok = parseEntry(e.slot.value, e.slot.entry.PID)
	}
	return e.changed
}

// alive is what is known about a process that has a pid now.
type alive struct {
	start uint64    // see monitor.Identity; 0: not known
	began time.Time // zero: not known
}

// reason says why an entry was taken out. The empty one says that it stays.
type reason string

const (
	stays    reason = ""
	ended    reason = "its process has ended"
	vanished reason = "its process is gone and it has had no heartbeat for more than ten minutes"
	reused   reason = "its pid belongs to another process and it has had no heartbeat for more than ten minutes"
)

// judge decides whether an entry that belongs to no instance we see may stay.
// What we knew goes as soon as its process is gone. Somebody else's goes when
// its process is gone or another one clearly has its pid, and nobody has
// touched it for a time: the start of a process is known by the clock alone,
// and the clock may have been set.
func judge(e Entry, n note, noted bool, p alive, lives bool, now time.Time) reason {
	switch {
	case noted && n.of(e):
		if lives && (p.start == n.Start || p.start == 0) {
			return stays
		}
		return ended
	case fresh(e, now):
		return stays
	case !lives:
		return vanished
	case !born(p.began, e):
		return reused
	}
	return stays
}

// remove takes out the records for which why gives a reason.
func (d *document) remove(why func(Entry) reason) (removed []Entry, reasons []reason) {
	d.slots = slices.DeleteFunc(d.slots, func(s slot) bool {
		if !s.ok {
			return false
		}
		r := why(s.entry)
		if r == stays {
			return false
		}
		removed, reasons = append(removed, s.entry), append(reasons, r)
		return true
	})
	return removed, reasons
}
