package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

const (
	soon      = time.Second            // from a change to writing it, so that several are one
	lookEvery = 10 * time.Second       // for what others have written, and after a failure
	beatEvery = time.Minute            // from one heartbeat to the next
	lockLimit = 2 * time.Second        // for the lock: others hold it for milliseconds
	lockEvery = 10 * time.Millisecond  // how often it is tried
	endLimit  = 200 * time.Millisecond // for the lock at the end, when the process has little time left
	asideFor  = time.Hour              // how long the user is told that a file was set aside
)

// errLocked says that another program holds the lock for too long.
var errLocked = errors.New("another program holds its lock")

// Options are what a Mirror needs. The functions are called on the goroutine of
// Serve and should return soon.
type Options struct {
	Dir string // of Serena (SERENA_HOME); it need not exist
	// Subscribe returns a channel of capacity 1 that holds the newest snapshot
	// not yet read. cancel ends the subscription.
	Subscribe func() (snapshots <-chan *monitor.Snapshot, cancel func())
	// Found is told of entries of others, each time they have changed the file.
	// What an entry says is a claim.
	Found func(pid, port int)
	// Event is told of each dead entry of others that was taken out.
	Event func(monitor.Event)
	// Warn is told what the user should know, one sentence each, after each look, so
	// mostly what it knows; none says that all is well.
	Warn func(sentences ...string)
}

// Mirror keeps the registry in step with snapshots. A change of an instance is
// written within about a second, heartbeats once a minute at most. Nothing is made
// while nothing runs.
type Mirror struct {
	o    Options
	look func(pid int) (running, bool)

	want    []registration // by the newest snapshot
	known   map[int]note
	pending bool        // the file is not in step
	at      time.Time   // when it was brought in step last
	entries int         // that it has had then
	seen    fs.FileInfo // of the file then; nil for none

	aside      string // where a broken file was moved to
	asideUntil time.Time
}

// NewMirror returns a Mirror that does nothing until Serve runs.
func NewMirror(o Options) *Mirror {
	return &Mirror{o: o, look: look, known: map[int]note{}}
}

// Serve keeps the registry until ctx ends. Entries of instances that go on
// running stay: they are true. It may be called again after it returned.
func (m *Mirror) Serve(ctx context.Context) error {
	snapshots, cancel := m.o.Subscribe()
	defer cancel()
	write := time.NewTimer(0)
	defer write.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if m.pending {
				last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
				defer cancel()
				m.sync(last)
			}
			return ctx.Err()
		case s := <-snapshots:
			before := m.want
			if m.want = wanted(s); differ(before, m.want) && !m.pending {
				m.pending = true
				write.Reset(soon)
			}
		case <-write.C:
			m.sync(ctx)
		case now := <-tick.C:
			info, _ := os.Stat(filepath.Join(m.o.Dir, FileName))
			if m.pending || !same(info, m.seen) || now.Sub(m.at) >= beatEvery && len(m.want)+m.entries > 0 {
				m.sync(ctx)
			}
		}
	}
}

// same reports whether a file is as it was; nil is none.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// sync brings the file in step, and tells whom it concerns.
func (m *Mirror) sync(ctx context.Context) {
	now := time.Now()
	err := m.write(ctx, now)
	m.pending = err != nil
	var sentences []string
	if err != nil {
		text := fmt.Sprintf("The registry %s cannot be kept, so other programs may not see all servers (%v); it is tried again.", filepath.Join(m.o.Dir, FileName), err)
		sentences = append(sentences, monitor.Clean(text))
	}
	if now.Before(m.asideUntil) {
		sentences = append(sentences, monitor.Clean("The registry could not be read; a new one was made and the old one is kept as "+m.aside+"."))
	}
	m.o.Warn(sentences...)
}

// write reads the file, and writes it if it is not in step.
func (m *Mirror) write(ctx context.Context, now time.Time) error {
	path, err := target(m.o.Dir)
	if errors.Is(err, ErrOff) {
		return nil
	}
	if err != nil {
		return err
	}
	seen, _ := os.Stat(path)
	if seen == nil && len(m.want) == 0 {
		m.seen, m.entries = nil, 0
		return nil
	}
	if err := os.MkdirAll(m.o.Dir, 0o700); err != nil { // the server will want it, too
		return statefile.Error(err, m.o.Dir)
	}
	// The lock that every writer takes, Python's filelock.FileLock among them:
	// flock(2) where there is one; on Windows the first byte of the file, by
	// LockFileEx here and by msvcrt.locking there. filelock removes the file when
	// it lets go.
	limited, cancel := context.WithTimeoutCause(ctx, lockLimit, errLocked)
	defer cancel()
	lock, err := statefile.Lock(limited, filepath.Join(m.o.Dir, LockName), lockEvery)
	if err != nil {
		return err
	}
	defer lock.Close()
	seen, _ = os.Stat(path) // before it is read, because not everybody takes the lock
	f := file(path)
	if seen != nil {
		f.Mode = seen.Mode().Perm() // programs of other users may read it, as in a container
	}
	d, err := f.Read()
	broken := errors.Is(err, ErrBroken)
	if broken {
		d = document{}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known := maps.Clone(m.known)
	changed, pruned := d.update(m.want, known, m.look, now)
	theirs := !same(seen, m.seen)
	if changed {
		replace := func() error { return f.Write(d) }
		switch {
		case !broken:
			err = replace()
		case now.Before(m.asideUntil):
			return err // somebody breaks it again and again
		default:
			if m.aside, err = statefile.Quarantine(path, now, replace); err == nil {
				m.asideUntil = now.Add(asideFor)
			}
		}
		if err != nil {
			return err
		}
		seen, _ = os.Stat(path)
	}
	m.known, m.at, m.seen, m.entries = known, now, seen, len(d.all)
	for _, e := range pruned {
		m.o.Event(e)
	}
	for _, e := range d.entries() {
		if _, ours := known[e.PID]; theirs && !ours && e.Port != 0 {
			m.o.Found(e.PID, e.Port)
		}
	}
	return nil
}
