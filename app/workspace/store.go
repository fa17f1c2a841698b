package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"lamplighter/monitor/statefile"
)

// What is in the directory of a store.
const (
	recordsDir  = "records"  // ID.json each
	locksDir    = "locks"    // ID.lock each, and "store.lock"
	dataDir     = "data"     // ID/: tmp, env, versions
	treesDir    = "trees"    // the usual place of trees
	archivesDir = "archives" // NAME.tar.zst
	makingDir   = "making"   // ID.json: how far something has come
)

// recordLimit bounds what is read of a record.
const recordLimit = 1 << 20

// verb is a step that takes time, and that a crash may interrupt.
type verb string

const (
	stepCreate  verb = "create"
	stepArchive verb = "archive"
	stepRestore verb = "restore"
	stepRemove  verb = "remove"
	stepEnd     verb = "end" // the tree alone goes
)

// step is what was about to be done. Whoever holds the workspace's lock and finds
// one finishes or undoes it.
type step struct {
	Verb    verb   `json:"verb"`
	By      string `json:"by"`
	Staging string `json:"staging,omitempty"` // absolute: is to become something, and may be removed
	Made    string `json:"made,omitempty"`    // of restore: identity of the directory that was made at Staging
	Trash   string `json:"trash,omitempty"`   // absolute: what was there, and is to go once the step is done
	Was     string `json:"was,omitempty"`     // of restore: identity of the tree that is to go to Trash
	Version int    `json:"version,omitempty"` // of restore
	Force   bool   `json:"force,omitempty"`
	Print   string `json:"print,omitempty"` // of a removal: what the tree was when it was looked what would be lost; "" does not matter
}

// happening is one line of a workspace's history.
type happening struct {
	At     time.Time `json:"at"`
	What   string    `json:"what"` // an event's kind without monitor.EventWorkspace
	Detail string    `json:"detail"`
}

// What bounds the history of one workspace, so that its record can be read.
const (
	mostHappenings = 100
	mostDetail     = 1000 // bytes
)

// record is what is remembered of a workspace. What is told of it, such as when
// it ends, is worked out.
type record struct {
	Workspace
	Schema           int         `json:"schema"` // 1
	RetentionSeconds int64       `json:"retention_seconds"`
	Used             Stamp       `json:"used"` // when UsedAt was, by other clocks too
	Done             *Stamp      `json:"done"`
	Root             string      `json:"root"`             // identity of the tree's directory, see tree.Identity; "" before it is made
	Around           string      `json:"around,omitempty"` // identity of the directory around it when it was made; "" where that is not known
	Step             *step       `json:"step"`
	History          []happening `json:"history"`
}

// note writes a line into the history; the record is not written by it.
func (r *record) note(at time.Time, what, detail string) {
	if len(detail) > mostDetail {
		detail = strings.ToValidUTF8(detail[:mostDetail], "") + "…"
	}
	r.History = append(r.History, happening{At: at.UTC(), What: what, Detail: detail})
	if over := len(r.History) - mostHappenings; over > 0 {
		r.History = slices.Delete(r.History, 0, over)
	}
}

// store keeps records as files. Its methods are safe for concurrent use, also by
// several processes; who changes a record holds its lock.
type store struct{ dir string }

func (s store) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

func (s store) recordPath(id string) string { return s.path(recordsDir, id+".json") }

// data is the directory for what belongs to a workspace besides its tree.
func (s store) data(id string) string { return s.path(dataDir, id) }

// prepare makes the directories.
func (s store) prepare() error {
	for _, name := range []string{"", recordsDir, locksDir, dataDir, treesDir, archivesDir, makingDir} {
		if err := os.MkdirAll(s.path(name), 0o700); err != nil {
			return fmt.Errorf("making a directory for workspaces: %w", err)
		}
	}
	return nil
}

// read reads a record. The error Is fs.ErrNotExist when there is none.
func (s store) read(id string) (*record, error) {
	if err := uuid.Validate(id); err != nil || strings.ToLower(id) != id {
		return nil, fmt.Errorf("%q is no id: %w", id, fs.ErrNotExist)
	}
	r, err := s.file(id).Read()
	if errors.Is(err, errRecord) {
		return nil, fmt.Errorf("reading %w; nothing is done with this workspace. Mend that file, or remove it: then Lamplighter has forgotten the workspace, and its directory, whose name ends with %s, is yours to remove", err, id[len(id)-shortest:])
	}
	return r, err
}

// errRecord says that a file cannot be a record.
var errRecord = errors.New("it is not the record of a workspace")

func (s store) file(id string) statefile.File[*record] {
	return statefile.File[*record]{
		Path: s.recordPath(id), Limit: recordLimit, Broken: errRecord,
		Parse: func(data []byte) (*record, error) { return parseRecord(data, id) },
	}
}

func parseRecord(data []byte, id string) (*record, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	if r.ID != id || !filepath.IsAbs(r.Path) || filepath.Clean(r.Path) != r.Path || filepath.Dir(r.Path) == r.Path || filepath.Base(r.Path) != r.Name {
		return nil, errors.New("its id or its path is none")
	}
	if r.RetentionSeconds < 0 || r.RetentionSeconds > int64(math.MaxInt64/time.Second) {
		// It would be over at once.
		return nil, fmt.Errorf("a retention of %d s is none", r.RetentionSeconds)
	}
	r.Retention = time.Duration(r.RetentionSeconds) * time.Second
	return &r, nil
}

// write replaces a record. The caller holds its lock.
func (s store) write(r *record) error {
	r.Schema, r.RetentionSeconds = 1, int64(r.Retention/time.Second)
	if err := s.file(r.ID).Write(r); err != nil {
		return fmt.Errorf("writing down a workspace: %w", err)
	}
	return nil
}

// drop removes a record, and what writing it may have left. The caller holds its
// lock.
func (s store) drop(id string) error {
	if err := s.sweep(id); err != nil {
		return err
	}
	if err := os.Remove(s.recordPath(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the record of a workspace: %w", err)
	}
	return nil
}

// sweep removes what processes have left that were killed while they wrote a
// record, or how far something had come. The caller holds its lock.
func (s store) sweep(id string) error {
	return errors.Join(statefile.Sweep(s.recordPath(id), 0), statefile.Sweep(s.makingPath(id), 0))
}

// mostReaders is how many records are read at once: a page shows a thousand of
// them.
const mostReaders = 4

// all are the records, in the order in which they were made. What cannot be read
// is left out, and the error is an *unreadable then.
func (s store) all() ([]*record, error) {
	entries, err := os.ReadDir(s.path(recordsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the workspaces: %w", err)
	}
	var ids []string
	for _, entry := range entries {
		if id, ok := strings.CutSuffix(entry.Name(), ".json"); ok && uuid.Validate(id) == nil {
			ids = append(ids, id)
		}
	}
	records, failed := make([]*record, len(ids)), make([]error, len(ids))
	readers := min(mostReaders, len(ids))
	var all sync.WaitGroup
	for first := range readers {
		all.Go(func() {
			for i := first; i < len(ids); i += readers {
				records[i], failed[i] = s.read(ids[i])
			}
		})
	}
	all.Wait()
	var list []*record
	bad := &unreadable{}
	for i, r := range records {
		switch err := failed[i]; {
		case err == nil:
			list = append(list, r)
		case !errors.Is(err, fs.ErrNotExist): // else it has gone since
			bad.ids, bad.errs = append(bad.ids, ids[i]), append(bad.errs, err)
		}
	}
	slices.SortFunc(list, func(a, b *record) int { return strings.Compare(a.ID, b.ID) }) // version 7 sorts by time
	if len(bad.ids) > 0 {
		return list, bad
	}
	return list, nil
}

// lockPause is between two tries for a lock that another process holds.
const lockPause = 20 * time.Millisecond

// reserve takes the lock of the whole store, which is held for moments only: to
// count, and to take a name.
func (s store) reserve(ctx context.Context) (release func(), err error) {
	return s.take(ctx, "store.lock")
}

// hold takes the lock of one workspace, and waits for it until ctx ends; the
// error Is ErrBusy then. Steps of a minute are taken under it.
//
// With an id that has no record when the lock is released goes the lock's file:
// nobody knows such an id. Where it cannot be removed while it is open it stays, and
// does no harm.
func (s store) hold(ctx context.Context, id string) (release func(), err error) {
	name := id + ".lock"
	free, err := s.take(ctx, name)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return nil, fmt.Errorf("%w; wait until that is done", ErrBusy)
	}
	if err != nil {
		return nil, err
	}
	return func() {
		if _, err := os.Lstat(s.recordPath(id)); errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(s.path(locksDir, name))
		}
		free()
	}, nil
}

// try is hold that does not wait.
func (s store) try(id string) (release func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return s.hold(ctx, id)
}

func (s store) take(ctx context.Context, name string) (func(), error) {
	lock, err := statefile.Lock(ctx, s.path(locksDir, name), lockPause)
	if err != nil {
		return nil, fmt.Errorf("taking the lock of a workspace: %w", err)
	}
	return func() { unlock(lock) }, nil
}

// unlock lets go of a lock. Its file stays: whoever waits for it has it open.
func unlock(lock *flock.Flock) { _ = lock.Close() }
