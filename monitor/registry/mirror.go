package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"time"

	"lamplighter/monitor"
)

// Source is where snapshots come from.
type Source interface {
	// Subscribe returns a channel of capacity 1 that holds the newest snapshot
	// not yet read. cancel ends the subscription.
	Subscribe() (snapshots <-chan *monitor.Snapshot, cancel func())
}

// MirrorOptions are what a Mirror needs. File and Source are required. The
// functions are called on the goroutine of Serve and should return soon.
type MirrorOptions struct {
	File   *File
	Source Source
	// Found is told of each entry that another program has made or changed,
	// once, while a process has its pid. What it says is a claim: whether the
	// pid owns the port has not been looked at.
	Found func(pid, port int, project string)
	// Warn is told what the user should know, one sentence each, whenever that
	// changes; an empty list says that all is well again.
	Warn func(sentences []string)
	Log  *slog.Logger // nil: silent
}

// Mirror keeps the registry in step with snapshots. A change of an instance is
// written within about a second, heartbeats once a minute at most, and while
// nothing runs nothing is opened.
type Mirror struct {
	o     MirrorOptions
	times times
}

// times are the delays of a Mirror.
type times struct {
	soon  time.Duration   // from a change to writing it, so that several are one
	read  time.Duration   // from a change by others to reading it
	every time.Duration   // between two heartbeats, and looks at what cannot be watched
	again []time.Duration // after failures, the last one from then on
	aside time.Duration   // how long the user is told that a file was set aside
	end   time.Duration   // for the lock at the end, when the process has little time left
}

// NewMirror makes a Mirror that does nothing until Serve runs.
func NewMirror(o MirrorOptions) *Mirror {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Found == nil {
		o.Found = func(int, int, string) {}
	}
	if o.Warn == nil {
		o.Warn = func([]string) {}
	}
	return &Mirror{o, times{
		soon: time.Second, read: time.Second, every: time.Minute, aside: time.Hour, end: 200 * time.Millisecond,
		again: []time.Duration{5 * time.Second, 15 * time.Second, time.Minute},
	}}
}

// Serve keeps the registry until ctx ends and returns its error then. Entries
// of instances that go on running stay behind: they are true. It may be called
// again after it returned, not twice at once.
func (m *Mirror) Serve(ctx context.Context) error {
	snapshots, cancel := m.o.Source.Subscribe()
	defer cancel()
	s := &session{Mirror: m, watcher: watcher{file: m.o.File, log: m.o.Log}, readAt: time.Now()}
	defer s.watcher.close()
	s.look(time.Now())

	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			s.end(ctx)
			return ctx.Err()
		case snapshot := <-snapshots:
			s.take(snapshot, time.Now())
		case e := <-s.watcher.events():
			registry, moved := s.watcher.concerns(e)
			if moved {
				s.look(time.Now())
			}
			if registry {
				s.readAt = earlier(s.readAt, time.Now().Add(m.times.read))
			}
		case <-s.watcher.errors(): // something was missed
			s.readAt = earlier(s.readAt, time.Now().Add(m.times.read))
		case <-timer.C:
		}
		s.act(ctx)
		if next := earlier(s.writeAt, earlier(s.readAt, s.lookAt)); next.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(time.Until(next))
		}
	}
}

// earlier is the earlier of two times, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// session is the state of one Serve. Only its goroutine touches it.
type session struct {
	*Mirror
	watcher watcher

	want   []registration // by the newest snapshot
	live   map[int]bool
	synced []registration // what was wanted when the file was brought in step
	lastAt time.Time      // when that was

	writeAt, readAt, lookAt time.Time // when to do what next; zero: not before something happens

	tries      int // failed since it worked last
	failures   repeated
	unreadable repeated
	problem    string // for the user
	aside      string // likewise
	asideAt    time.Time
	warned     []string

	seen fs.FileInfo // of the file when it was read or written last
	told map[claim]bool
}

// claim is what an entry says about a process.
type claim struct {
	pid, port int
	project   string
	started   int64
}

// take decides what a new snapshot asks for.
func (s *session) take(snapshot *monitor.Snapshot, now time.Time) {
	s.want, s.live = wanted(snapshot)
	switch {
	case s.tries > 0: // it is tried again in any case
	case news(s.want, s.synced) || (s.lastAt.IsZero() && s.o.File.remembers(s.live)):
		s.writeAt = earlier(s.writeAt, now.Add(s.times.soon))
	case now.Sub(s.lastAt) >= s.times.every && beats(s.synced, s.want):
		s.writeAt = earlier(s.writeAt, now)
	}
}

// act does what is due.
func (s *session) act(ctx context.Context) {
	due := func(at time.Time) bool { return !at.IsZero() && !at.After(time.Now()) }
	if due(s.lookAt) {
		s.look(time.Now())
		s.readAt = time.Now()
	}
	if due(s.writeAt) {
		s.write(ctx)
	}
	if due(s.readAt) {
		s.read(ctx)
	}
}

// look watches what can be watched; what cannot is looked at once a minute.
func (s *session) look(now time.Time) {
	s.lookAt = time.Time{}
	if !s.watcher.look() {
		s.lookAt = now.Add(s.times.every)
	}
}

// write brings the file in step.
func (s *session) write(ctx context.Context) {
	s.writeAt = time.Time{}
	want := s.want
	if len(want) == 0 && !s.o.File.remembers(s.live) {
		s.synced, s.tries, s.problem = want, 0, "" // also where it could not be kept
		s.warn()
		return
	}
	result, err := s.o.File.sync(ctx, want, s.live)
	if err != nil && ctx.Err() != nil {
		s.writeAt = time.Now() // it is pending still
		return
	}
	now := time.Now()
	s.note(err)
	switch {
	case result.aside != "":
		s.aside, s.asideAt = result.aside, now
	case now.Sub(s.asideAt) >= s.times.aside:
		s.aside = ""
	}
	if err != nil {
		s.writeAt = now.Add(s.times.again[min(s.tries, len(s.times.again))-1])
		s.warn()
		return
	}
	s.synced, s.lastAt = want, now
	if s.o.File.remembers(s.live) {
		s.writeAt = now.Add(s.times.every) // a process that has left the snapshot, but still runs
	}
	if result.info != nil {
		s.seen = result.info
		s.tell(result.entries)
	}
	if !s.lookAt.IsZero() {
		s.look(now) // we may have made the directory
	}
	s.warn()
}

// note takes down whether the file could be kept.
func (s *session) note(err error) {
	s.failures.note(s.o.Log, "cannot keep the registry; other programs do not see all servers", err)
	switch {
	case err == nil:
		s.tries, s.problem = 0, ""
	case errors.Is(err, errNotRegular): // as the user wants it
		s.tries, s.problem = len(s.times.again), ""
	default:
		s.tries++
		s.problem = fmt.Sprintf("The registry %s cannot be kept, so other programs may not see all servers (%v); it is tried again.", s.o.File.path, err)
	}
}

// warn tells the user what has changed.
func (s *session) warn() {
	var list []string
	if s.problem != "" {
		list = append(list, monitor.Clean(s.problem))
	}
	if s.aside != "" {
		list = append(list, monitor.Clean("The registry could not be read; a new one was made and the old one is kept as "+s.aside+"."))
	}
	if !slices.Equal(list, s.warned) {
		s.warned = list
		s.o.Warn(slices.Clone(list))
	}
}

// read looks at what others have written.
func (s *session) read(ctx context.Context) {
	s.readAt = time.Time{}
	info, err := os.Stat(s.o.File.path)
	if err != nil || (s.seen != nil && os.SameFile(info, s.seen) && info.ModTime().Equal(s.seen.ModTime()) && info.Size() == s.seen.Size()) {
		return
	}
	entries, err := s.o.File.List(ctx)
	now := time.Now()
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(err, ErrLocked):
		s.readAt = now.Add(s.times.again[0])
	case errors.Is(err, errCorrupt) && len(s.want) > 0 && s.tries == 0 && now.Sub(s.asideAt) >= s.times.every:
		s.writeAt = earlier(s.writeAt, now.Add(s.times.soon)) // which sets it aside
	}
	s.unreadable.note(s.o.Log, "cannot read the registry; what others write there is not seen", err)
	if err == nil {
		s.seen = info
		s.tell(entries)
	}
}

// tell hands on what others say that we do not know.
func (s *session) tell(entries []Entry) {
	told := make(map[claim]bool, len(entries))
	for _, e := range entries {
		c := claim{e.PID, e.Port, e.ProjectName, e.StartedAt.UnixMicro()}
		if s.told[c] {
			told[c] = true
			continue
		}
		if e.Port == 0 || s.knows(e) {
			continue
		}
		if p, lives := s.o.File.look(e.PID); !lives || !born(p.began, e) {
			continue
		}
		told[c] = true
		s.o.Found(e.PID, e.Port, e.ProjectName)
	}
	s.told = told
}

// knows tells whether a snapshot has shown the instance with that port.
func (s *session) knows(e Entry) bool {
	return slices.ContainsFunc(s.want, func(r registration) bool { return r.PID == e.PID && r.Port == e.Port })
}

// end takes out the entries of those that have gone meanwhile, unless somebody
// holds the lock: they are true enough until the next start.
func (s *session) end(ctx context.Context) {
	if s.writeAt.IsZero() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.times.end)
	defer cancel()
	_, err := s.o.File.sync(ctx, s.want, s.live)
	s.failures.note(s.o.Log, "cannot keep the registry; other programs do not see all servers", err)
}
