package workspace

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// toldFile remembers what was told, so that it is told once, also what happens
// while no background process runs.
const toldFile = "told.json"

// toldLimit bounds what is read of it.
const toldLimit = 8 << 20

// Chronicle is what Serve has to know of where it tells what happens, so that
// nothing goes lost and nothing is told twice when the process is killed. Each may
// be nil: then that is not known.
type Chronicle struct {
	// Flush returns when all that was told is written down, or why it is not.
	Flush func() error
	// Written returns what of since then is written down.
	Written func(since time.Time) ([]monitor.Event, error)
}

// teller makes events of the histories of workspaces.
type teller struct {
	m       *Manager
	record  func(monitor.Event)
	told    map[string]happening // the last line that was told, by id
	checked bool                 // that what an earlier process has told is left out
	unsaved bool                 // that told is not in its file yet
}

// saveAgain is when writing down what was told is tried again after it failed, as
// on a full disk.
const saveAgain = time.Minute

// toldLines is the content of toldFile.
type toldLines struct {
	Told map[string]happening `json:"told"`
}

func (m *Manager) toldFile() statefile.File[toldLines] {
	return statefile.File[toldLines]{Path: m.store.path(toldFile), Limit: toldLimit, Broken: errors.New("it does not say what was told")}
}

func (m *Manager) newTeller(record func(monitor.Event)) *teller {
	t := &teller{m: m, record: record, told: map[string]happening{}}
	lines, err := m.toldFile().Read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.o.Log.Warn("what was told of workspaces cannot be read; it is told again", "error", err)
	}
	if err == nil && lines.Told != nil {
		t.told = lines.Told
	}
	return t
}

// serve tells whenever the bell rings.
func (t *teller) serve(ctx context.Context, happened monitor.Bell) error {
	for {
		var limit time.Duration // none
		if t.unsaved {
			limit = saveAgain
		}
		if err := await(ctx, happened, limit); err != nil {
			return err
		}
		t.all()
		if err := rest(ctx, viewPause); err != nil {
			return err
		}
	}
}

// all tells what has not been told yet, in the order in which it happened, and
// writes down that it was.
func (t *teller) all() {
	records, err := t.m.store.all()
	if err != nil {
		t.m.o.Log.Debug("reading what happened to workspaces", "error", err) // the others are told
	}
	before := maps.Clone(t.told)
	var events []monitor.Event
	known := map[string]bool{}
	for _, r := range records {
		known[r.ID] = true
		last, any := t.told[r.ID]
		for _, h := range untold(r.History, last, any) {
			events = append(events, monitor.Event{
				At: h.At, Kind: monitor.EventKind(monitor.EventWorkspace + h.What), ID: r.ID, Label: monitor.Clean(r.Name), Detail: monitor.Clean(h.Detail),
			})
			t.told[r.ID] = h
		}
	}
	if err == nil {
		maps.DeleteFunc(t.told, func(id string, _ happening) bool { return !known[id] })
	}
	slices.SortStableFunc(events, func(a, b monitor.Event) int { return a.At.Compare(b.At) })
	for _, e := range t.unwritten(events) {
		t.record(e)
	}
	if !maps.EqualFunc(before, t.told, happening.equal) {
		t.unsaved = true
	}
	if !t.unsaved {
		return
	}
	if flush := t.m.o.Chronicle.Flush; flush != nil && flush() != nil {
		return // it is told again after a crash, unless it comes to be written
	}
	if err := t.m.toldFile().Write(toldLines{Told: t.told}); err != nil {
		t.m.o.Log.Warn("writing down what was told of workspaces", "error", err)
		return
	}
	t.unsaved = false
}

// unwritten leaves out what a process has told that was killed before it could
// write down that it had. The events are in their order; this process tells none
// twice, so that only the first ones are looked up.
func (t *teller) unwritten(events []monitor.Event) []monitor.Event {
	written := t.m.o.Chronicle.Written
	if t.checked || len(events) == 0 || written == nil {
		return events
	}
	t.checked = true
	// What is written down is in milliseconds.
	list, err := written(events[0].At.Truncate(time.Millisecond))
	if err != nil {
		t.m.o.Log.Debug("reading what was told of workspaces; some of it may be told again", "error", err)
	}
	type line struct {
		at               int64
		kind             monitor.EventKind
		id, label, words string
	}
	lineOf := func(e *monitor.Event) line { return line{e.At.UnixMilli(), e.Kind, e.ID, e.Label, e.Detail} }
	known := make(map[line]bool, len(list))
	for i := range list {
		known[lineOf(&list[i])] = true
	}
	return slices.DeleteFunc(events, func(e monitor.Event) bool { return known[lineOf(&e)] })
}

func (h happening) equal(other happening) bool {
	return h.At.Equal(other.At) && h.What == other.What && h.Detail == other.Detail
}

// untold are the lines of a history after the last one that was told. When that is
// no longer in it, because a history is bounded, all of it is news.
func untold(history []happening, last happening, any bool) []happening {
	if !any {
		return history
	}
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].equal(last) {
			return history[i+1:]
		}
	}
	return history
}

// same reports whether two views show the same.
func same(a, b View) bool { return reflect.DeepEqual(a, b) }
