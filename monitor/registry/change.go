package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// The limits by which an entry is judged.
const (
	// heartbeatOld is how old the heartbeat of somebody else's entry must be
	// before the entry may go, besides that its process is gone. Containers
	// share the directory and have pids of their own, so a pid that does not exist
	// here proves nothing.
	heartbeatOld = 10 * time.Minute
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
	givenUp bool // it is to have none
}

// wanted is what the registry should say of a snapshot: an entry for each
// Serena whose port is known and whose state is one of the registry's three.
func wanted(s *monitor.Snapshot) []registration {
	var want []registration
	for _, in := range s.Instances {
		if in.Kind != monitor.KindSerena || in.Identity.PID <= 0 || in.Port == 0 || in.Cause == monitor.CauseDefunct {
			continue
		}
		if in.State != monitor.StateProject && in.State != monitor.StateNoProject && in.State != monitor.StateZombie {
			continue
		}
		started := cmp.Or(secondsOf(in.StartedAt), secondsOf(s.At))
		want = append(want, registration{in.Identity, Entry{
			PID: in.Identity.PID, Port: in.Port, StartedAt: started, LastHeartbeat: cmp.Or(secondsOf(in.LastHeartbeat), started),
			Context: text(in.Context), Modes: append([]string{}, in.Modes...),
			ProjectName: text(in.ProjectName), ProjectRoot: text(in.ProjectRoot), State: in.State,
		}, !in.Plan.GivenUpSince.IsZero()})
	}
	// The order of a snapshot is for people and changes with names.
	slices.SortFunc(want, func(a, b registration) int { return a.PID - b.PID })
	return want
}

// differ reports whether two lists differ in more than heartbeats.
func differ(a, b []registration) bool {
	return !slices.EqualFunc(a, b, func(x, y registration) bool {
		x.LastHeartbeat, y.LastHeartbeat = 0, 0
		return reflect.DeepEqual(x, y)
	})
}

// note is what we remember about the entry of an instance while we run. Without
// it an entry is somebody else's.
type note struct {
	start uint64  // of the process, see monitor.Identity
	entry seconds // when the entry says that it started, which tells it from a later one under the same pid
	made  bool    // we have written the entry, so that all of it is ours to correct
}

// running is what is known about a process that has a pid now.
type running struct {
	start uint64  // see monitor.Identity; 0: not known
	began seconds // 0: not known
}

// look asks the system who has a pid. What has ended without being reaped lives
// no more; what is hidden from us does.
func look(pid int) (p running, lives bool) {
	stat, err := process.ReadStat(pid)
	switch {
	case errors.Is(err, process.ErrGone), err == nil && stat.State == process.Unreaped:
		return running{}, false
	case err != nil:
		return running{}, true
	}
	return running{stat.Start, secondsOf(process.StartedAt(stat.Identity))}, true
}

// update brings the document in step: every instance that is wanted has a right
// record unless it is given up, those of dead processes are gone. It changes known, and returns the events
// of somebody else's entries that were taken out; that one of ours has ended was
// told by who saw it.
func (d *document) update(want []registration, known map[int]note, look func(pid int) (running, bool), now time.Time) (changed bool, pruned []monitor.Event) {
	givenUp := map[int]bool{}
	for _, r := range want {
		if givenUp[r.PID] = r.givenUp; r.givenUp {
			continue
		}
		if d.register(r, known, now) {
			changed = true
		}
	}
	d.all = slices.DeleteFunc(d.all, func(r record) bool {
		e := r.entry
		if e.PID <= 0 {
			return false
		}
		n, noted := known[e.PID]
		noted = noted && n.entry == e.StartedAt
		p, lives := look(e.PID)
		why := judge(e, n, noted, p, lives, now)
		if why == "" && !(noted && givenUp[e.PID]) {
			return false
		}
		if changed = true; !noted {
			in := monitor.Instance{Identity: monitor.Identity{PID: e.PID}, Kind: monitor.KindSerena, ProjectName: string(e.ProjectName)}
			pruned = append(pruned, monitor.Event{At: now, Kind: monitor.EventPruned, PID: e.PID, Label: in.Label(), Detail: "from the registry: " + why})
		}
		return true
	})
	maps.DeleteFunc(known, func(pid int, _ note) bool { return d.find(pid) < 0 })
	return changed, pruned
}

// register puts an instance into the document, or corrects what its record
// says, and reports whether it did. The record under the pid is the instance's when
// it is noted so, or when it names its port and was not written before it started.
// Otherwise it is the record of an earlier process under the same pid, and gives
// way, unless its heartbeat is fresh: then it may be that of a process in a container.
func (d *document) register(r registration, known map[int]note, now time.Time) bool {
	i := d.find(r.PID)
	if i >= 0 {
		have := d.all[i].entry
		n, noted := known[r.PID]
		noted = noted && n.start == r.id.Start && n.entry == have.StartedAt
		if noted || (have.Port == r.Port || have.Port == 0) && born(r.StartedAt, have) {
			known[r.PID] = note{r.id.Start, have.StartedAt, noted && n.made}
			return d.all[i].correct(r.Entry, noted && n.made)
		}
		if fresh(have, now) {
			return false
		}
	} else {
		i = len(d.all)
		d.all = append(d.all, record{})
		if !d.list {
			d.all[i].key = strconv.Itoa(r.PID)
		}
	}
	// With the nine agreed fields and no other: there are readers that fail as a
	// whole on a tenth.
	d.all[i].raw, _ = json.Marshal(r.Entry)
	d.all[i].entry = r.Entry
	known[r.PID] = note{r.id.Start, r.StartedAt, true}
	return true
}

// correct makes a record say what want says, keeps the fields that we do not know,
// and reports whether it changed. What somebody else has written as context and modes
// stays: a server may know them better, and would write them again.
func (r *record) correct(want Entry, made bool) (changed bool) {
	have, fields := r.entry, map[string]json.RawMessage{}
	_ = json.Unmarshal(r.raw, &fields) // it was understood before
	set := func(when bool, name string, value any) {
		if when {
			fields[name], _ = json.Marshal(value)
			changed = true
		}
	}
	set(have.Port != want.Port, "port", want.Port)
	set(have.State != want.State, "state", want.State)
	// With an old time it would be thrown out as soon as a program calls it a zombie again.
	since := fields["zombie_detected_at"]
	set(want.State != monitor.StateZombie && since != nil && string(since) != "null", "zombie_detected_at", nil)
	set(have.ProjectName != want.ProjectName, "project_name", want.ProjectName)
	set(filepath.Clean(string(have.ProjectRoot)) != filepath.Clean(string(want.ProjectRoot)), "project_root", want.ProjectRoot)
	set(want.Context != "" && (have.Context == "" || made && have.Context != want.Context), "context", want.Context)
	set(len(want.Modes) > 0 && (len(have.Modes) == 0 || made && !slices.Equal(have.Modes, want.Modes)), "modes", want.Modes)
	set(want.LastHeartbeat-have.LastHeartbeat >= seconds(touchAfter.Seconds()), "last_heartbeat", want.LastHeartbeat)
	if changed {
		raw, _ := json.Marshal(fields)
		*r = parseRecord(r.key, raw)
	}
	return changed
}

// fresh reports whether an entry's heartbeat says that somebody keeps it. An
// entry that gives no time at all cannot be called old; one of a day to come, such
// as of a program that writes milliseconds, says nothing.
func fresh(e Entry, now time.Time) bool {
	beat := max(e.LastHeartbeat, e.StartedAt)
	return beat == 0 || secondsOf(now.Add(-heartbeatOld)) < beat && beat < secondsOf(now.Add(24*time.Hour))
}

// born reports whether a process that started then can be the one of e.
func born(started seconds, e Entry) bool {
	return started == 0 || e.StartedAt == 0 || started <= e.StartedAt+seconds(startMargin.Seconds())
}

// judge says why an entry is to be taken out, "" when it may stay. What we knew
// goes as soon as its process is gone. Somebody else's goes when its process is gone
// or another one clearly has its pid, and nobody has touched it for a time: the start
// of a process is known by the clock alone, and the clock may have been set.
func judge(e Entry, n note, noted bool, p running, lives bool, now time.Time) (why string) {
	switch {
	case noted && lives && (p.start == n.start || p.start == 0):
		return ""
	case noted:
		return "its process has ended"
	case fresh(e, now):
		return ""
	case !lives:
		return "its process is gone and it has had no heartbeat for more than ten minutes"
	case !born(p.began, e):
		return "its pid belongs to another process and it has had no heartbeat for more than ten minutes"
	}
	return ""
}
