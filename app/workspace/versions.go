package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// What is in the directory of a workspace's versions, and in that of each: N/tree,
// N/version.json and N/modes.
const (
	versionsDir = "versions"
	versionTree = "tree"
	versionFile = "version.json" // a version counts when it is there
	versionLast = "last-version" // beside them: the highest number that was ever given
	partPrefix  = ".part-"       // of a version that is being made
)

const (
	// longestMessage is how many characters the message of a version may have.
	longestMessage = 10_000
	// versionLimit bounds what is read of a version's file: a character of the
	// message takes six bytes at most.
	versionLimit = 1 << 17
)

// Keep makes a version of the tree as it is. The error Is ErrState for a temp one.
// Processes may work in the tree meanwhile: each file is kept as it was at one
// moment.
func (m *Manager) Keep(ctx context.Context, id, message string, progress func(Progress)) (Version, error) {
	if err := checkMessage(message); err != nil {
		return Version{}, err
	}
	found, err := m.find(id)
	if err != nil {
		return Version{}, err
	}
	var v Version
	err = m.change(ctx, found.ID, func(r *record) error {
		tell, end := m.telling(r.Workspace, progress)
		defer end()
		var err error
		v, err = m.keep(ctx, r, message, tell)
		return err
	})
	return v, err
}

// checkMessage refuses a message that says nothing, or too much.
func checkMessage(message string) error {
	switch {
	case !utf8.ValidString(message):
		return fmt.Errorf("keeping a version: %w: its message is not UTF-8", ErrBadRequest)
	case utf8.RuneCountInString(message) > longestMessage:
		return fmt.Errorf("keeping a version: %w: its message is longer than %d characters", ErrBadRequest, longestMessage)
	case monitor.Clean(message) == "":
		return fmt.Errorf("keeping a version: %w: it needs a message that says what is kept", ErrBadRequest)
	}
	return nil
}

// keep is Keep of a record whose lock the caller holds, and which the caller
// writes.
func (m *Manager) keep(ctx context.Context, r *record, message string, tell func(Progress)) (_ Version, err error) {
	if r.Kind == Temp {
		return Version{}, fmt.Errorf("keeping a version of %s: %w: a temporary workspace has no versions; make a hybrid or a persistent one, or copy out what is to stay", r.Name, ErrState)
	}
	if err := m.atTree(r); err != nil {
		return Version{}, fmt.Errorf("keeping a version of %s: %w", r.Name, err)
	}
	v, err := m.makeVersion(ctx, r, message, tell)
	if err != nil {
		return Version{}, fmt.Errorf("keeping a version of %s: %w%s; nothing has changed", r.Name, err, advice(err))
	}
	completed := factsOf(r, m.limits()).completed()
	m.touch(r)
	if completed { // a version of what a job has left does not begin another one
		done := r.Used
		r.Done = &done
	}
	m.noteVersion(r, v)
	r.Step = nil
	return v.Version, nil
}

// noteVersion writes into the history of a record that a version was kept.
func (m *Manager) noteVersion(r *record, v filled) {
	detail := fmt.Sprintf("version %d: %s", v.Number, monitor.Shorten(v.Message, 200))
	if v.Left > 0 {
		detail += fmt.Sprintf(" (%d were left out or changed all the while: %s)", v.Left, monitor.Clean(v.why))
	}
	r.note(v.At, "kept", detail)
}

// makeVersion makes a version beside the others, and renames it when it is whole.
func (m *Manager) makeVersion(ctx context.Context, r *record, message string, tell func(Progress)) (v filled, err error) {
	dir := m.versionsPath(r.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return v, err
	}
	before, err := m.versions(r.ID)
	if err != nil {
		return v, err
	}
	number, err := m.nextVersion(r.ID)
	if err != nil {
		return v, err
	}
	r.Step = &step{Verb: stepKeep, By: m.o.By, Version: number}
	if err := m.store.write(r); err != nil {
		r.Step = nil
		return v, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.undoKeep(context.WithoutCancel(ctx), r))
		}
	}()
	m.at("keep: step")
	part, err := os.MkdirTemp(dir, partPrefix+"*") // 0700
	if err != nil {
		return v, err
	}
	m.at("keep: directory made")
	base := ""
	if len(before) > 0 {
		base = before[len(before)-1].Path
	}
	if v, err = m.fillVersion(ctx, r, part, base, tell); err != nil {
		return v, err
	}
	v.Number, v.Message, v.At = number, message, m.o.Clock().Wall.UTC()
	if err := writeVersion(part, v); err != nil {
		return v, err
	}
	if err := flush(part); err != nil {
		return v, err
	}
	m.at("keep: written")
	whole := filepath.Join(dir, strconv.Itoa(number))
	if err := os.Rename(part, whole); err != nil {
		return v, err
	}
	m.at("keep: in place")
	for _, err := range []error{statefile.SyncDir(dir), m.noteNumber(r.ID, number)} {
		if err != nil { // it is there nevertheless
			m.o.Log.Warn("writing down a version", "workspace", r.Name, "version", number, "error", err)
		}
	}
	m.at("keep: numbered")
	v.Message, v.Path = monitor.Clean(message), filepath.Join(whole, versionTree)
	return v, nil
}

// stepKeep is the step of making a version.
const stepKeep verb = "keep"

// undoKeep removes a version that is not whole.
func (m *Manager) undoKeep(ctx context.Context, r *record) error {
	if err := m.sweepParts(ctx, r.ID); err != nil {
		return fmt.Errorf("removing a version that is not whole: %w; this is tried again", err)
	}
	r.Step = nil
	return m.store.write(r)
}

// recoverKeep removes a version that was not whole, and writes into the history
// that one was kept that is.
func (m *Manager) recoverKeep(ctx context.Context, r *record) error {
	number := r.Step.Version
	dir := filepath.Join(m.versionsPath(r.ID), strconv.Itoa(number))
	if v, err := readVersion(dir, number); err == nil {
		m.noteVersion(r, filled{Version: v})
		if err := m.noteNumber(r.ID, number); err != nil {
			return err
		}
	}
	return m.undoKeep(ctx, r)
}

// filled is a version that was copied, with what was left out of it.
type filled struct {
	Version
	why string // the first of Left was
}

// fillVersion copies the tree of a record into a version that is being made.
func (m *Manager) fillVersion(ctx context.Context, r *record, part, base string, tell func(Progress)) (filled, error) {
	to := filepath.Join(part, versionTree)
	if err := os.Mkdir(to, 0o700); err != nil {
		return filled{}, err
	}
	skip := m.skipped(r)
	tell(Progress{Phase: Counting, FilesTotal: -1, BytesTotal: -1, Percent: -1, Left: -1})
	total, err := tree.Measure(ctx, r.Path, skip)
	if err != nil {
		return filled{}, err
	}
	copied, err := tree.Copy(ctx, r.Path, to, tree.Options{
		Skip: skip, Base: base, ReadOnly: true, Progress: pace(tell, Copying, total),
	})
	if err != nil {
		return filled{}, err
	}
	m.at("keep: copied")
	modes, err := modesOf(r.Path, to)
	if err != nil {
		return filled{}, err
	}
	if err := writeModes(part, modes); err != nil {
		return filled{}, err
	}
	f := filled{Version: Version{Files: int(copied.Files), Bytes: copied.Bytes, Left: len(copied.Left)}}
	if f.Left > 0 {
		f.why = copied.Left[0]
	}
	return f, nil
}

// skipped tells what belongs to no version: the link to git at the top of a
// worktree, and the links to what is shared. What a job has put in the place of one
// is its own.
func (m *Manager) skipped(r *record) func(string) bool {
	links := r.ownShares()
	for _, s := range r.Shares {
		if absent(filepath.Join(r.Path, filepath.FromSlash(s.To))) {
			links = append(links, s.To)
		}
	}
	return func(path string) bool {
		return r.Source.Kind == FromGit && path == gitLink || slices.Contains(links, path)
	}
}

// gitLink is the file at the top of a worktree that leads to its repository.
const gitLink = ".git"

// atTree makes sure that a workspace has its tree, that what lies at its path is
// that, and that its link to git is none of somebody else's. The error Is
// ErrState.
func (m *Manager) atTree(r *record) error {
	if r.State != Ready {
		return fmt.Errorf("%w: it is %s and has no tree; `lamplighter workspace restore %s` brings it back", ErrState, r.State, r.ID)
	}
	identity, err := tree.Identity(r.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: its tree is not at %s any more; put it back, or remove the workspace", ErrState, monitor.Clean(r.Path))
	case err != nil:
		return fmt.Errorf("%w: its tree cannot be looked at: %w", ErrState, err)
	case identity != r.Root:
		return fmt.Errorf("%w: what lies at %s is not the directory that was made for it; put that back, or remove the workspace", ErrState, monitor.Clean(r.Path))
	}
	if r.Source.Kind != FromGit {
		return nil
	}
	info, err := os.Lstat(filepath.Join(r.Path, gitLink))
	if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is not the file that git made there; move away what is", ErrState, monitor.Clean(filepath.Join(r.Path, gitLink)))
	}
	return nil
}

func (m *Manager) versionsPath(id string) string { return m.store.path(dataDir, id, versionsDir) }

// ownData makes sure that the versions of a workspace lie where they were made: a
// link there leads to something that is not ours. It is no error that there are none.
// The error Is ErrState.
func (m *Manager) ownData(id string) error {
	for _, dir := range []string{m.store.data(id), m.versionsPath(id)} {
		if !absent(dir) && !isDir(dir) {
			return fmt.Errorf("%w: %s is not the directory that was made there any more; put that back", ErrState, monitor.Clean(dir))
		}
	}
	return nil
}

// sweepParts removes what a Keep that was interrupted has left. The caller holds
// the workspace's lock.
func (m *Manager) sweepParts(ctx context.Context, id string) error {
	if err := m.ownData(id); err != nil {
		return err
	}
	dir := m.versionsPath(id)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var failed []error
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), partPrefix) {
			failed = append(failed, tree.Remove(ctx, filepath.Join(dir, entry.Name()), "", nil))
		}
	}
	return errors.Join(failed...)
}

// changed reports whether the tree differs from its last version, and true when
// there is none.
func (m *Manager) changed(ctx context.Context, r *record) (bool, error) {
	versions, err := m.versions(r.ID)
	if err != nil {
		return false, err
	}
	if len(versions) == 0 {
		return true, nil
	}
	if err := m.atTree(r); err != nil {
		return false, err
	}
	last := versions[len(versions)-1]
	differences, err := tree.Compare(ctx, last.Path, r.Path, m.skipped(r), 1)
	if err != nil {
		return false, fmt.Errorf("comparing %s with its version %d: %w", r.Name, last.Number, err)
	}
	return len(differences) > 0, nil
}
