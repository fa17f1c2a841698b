package installer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// The endings of names beside a file while it is replaced.
const (
	stagedSuffix = ".lamplighter-new"
	asideSuffix  = ".lamplighter-old"
)

// beside is a name for what belongs to path and is not to be taken for it: a
// hidden one with another ending.
func beside(path, suffix string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+suffix)
}

// prepare looks what lies where something is to be put, and changes nothing but
// that it removes what an old installation has left to be removed.
func (t *transaction) prepare() error {
	t.j = &journal{Form: journalForm, Home: t.i.o.Home, Forget: t.plan.forget}
	var dirs []string
	for n, c := range t.plan.Changes {
		t.j.Words = append(t.j.Words, c.String())
		if c.Path == t.i.receiptPath() && c.Op != OpRemoveTree {
			continue // written with the rest of what is remembered
		}
		s := step{Change: n, Op: c.Op, Path: c.Path, Name: c.Name}
		switch c.Op {
		case OpWrite, OpCopy, OpLink, OpRemove:
			ok, err := s.look(c, !t.i.unreadable())
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if c.Op != OpRemove {
				missing := missingDirs(filepath.Dir(c.Path))
				dirs = append(dirs, missing...)
			}
		case OpSetValue, OpDeleteValue:
			if err := t.i.lookValue(&s, c); err != nil {
				return err
			}
		case OpRemoveTree:
			tr := tree{Path: c.Path, Keep: c.Keep, Known: c.Known}
			if err := t.i.mountedIn(tr); err != nil {
				return err
			}
			t.trees = append(t.trees, tr)
			continue
		default:
			continue
		}
		t.j.Steps = append(t.j.Steps, s)
	}
	slices.Sort(dirs) // so that a directory comes before what is in it
	t.j.Folders = slices.Compact(dirs)
	t.remember()
	return nil
}

// remember fills in what is to be remembered at the end.
func (t *transaction) remember() {
	made := deepestFirst(append(slices.Clone(t.j.Folders), t.made...))
	if t.before != nil {
		made = deepestFirst(append(made, t.before.Folders...))
	}
	if t.plan.forget {
		t.j.Gone = made
		return
	}
	r := t.plan.receipt
	if r == nil {
		r = t.before
	}
	if r == nil {
		return
	}
	whole := *r
	whole.Files = slices.Clone(r.Files)
	whole.Folders = made
	t.j.Receipt = &whole
}

// look notes what lies at the path, and what that would be called aside. It
// tells whether there is something to do. sweep removes what was set aside earlier.
func (s *step) look(c Change, sweep bool) (bool, error) {
	info, err := os.Lstat(c.Path)
	switch {
	case isGone(err) && c.Op == OpRemove:
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, failure("it cannot be told what lies at", c.Path, err)
	case info.IsDir():
		return false, fmt.Errorf("%s is a directory, and a file is to be there; move it away", shown(c.Path))
	default:
		s.Existed = true
	}
	s.Was, _ = found(c.Path) // what cannot be read is not known
	if c.was != "" && s.Was != "" && s.Was != c.was {
		return false, changed(c.Path)
	}
	if s.Existed {
		s.Backup = c.Backup
		if s.Aside, err = freeName(c.Path, c.Backup, sweep); err != nil {
			return false, err
		}
	}
	if c.Op == OpRemove {
		return true, nil
	}
	s.Staged = beside(c.Path, stagedSuffix)
	if info, err := os.Lstat(s.Staged); err == nil && info.IsDir() {
		return false, fmt.Errorf("%s is a directory, and a file is to be there for a moment; move it away", shown(s.Staged))
	}
	return true, nil
}

// freeName is one that nothing has for what lies at path.
func freeName(path string, backup, sweep bool) (string, error) {
	if backup {
		return firstFree(path + BackupSuffix)
	}
	first := beside(path, asideSuffix)
	if !sweep {
		return firstFree(first)
	}
	free := ""
	for n := range 1000 {
		name := numbered(first, n)
		info, err := os.Lstat(name)
		none := errors.Is(err, fs.ErrNotExist)
		// What was set aside and could not be removed, as it still ran, can be
		// by now.
		gone := none || err == nil && !info.IsDir() && discard(name) == nil
		if gone && free == "" {
			free = name
		}
		if none {
			return free, nil
		}
	}
	return "", errNoName(first)
}

// firstFree is the first of the names that begin with first which nothing has.
func firstFree(first string) (string, error) {
	for n := range 1000 {
		if name := numbered(first, n); !there(name) {
			return name, nil
		}
	}
	return "", errNoName(first)
}

func numbered(first string, n int) string {
	if n == 0 {
		return first
	}
	return first + "-" + strconv.Itoa(n+1)
}

func errNoName(first string) error {
	return fmt.Errorf("there is no free name like %s; remove some of those", shown(first))
}

func (i *Installer) lookValue(s *step, c Change) error {
	before, err := i.values.get(c.Path, c.Name)
	if err != nil {
		return fmt.Errorf("the value %s of %s cannot be read: %w", c.Name, c.Path, err)
	}
	s.Before = before
	if c.Op == OpSetValue {
		if s.After, err = i.values.text(string(c.Content)); err != nil {
			return fmt.Errorf("%s cannot be a value of %s: %w", shown(string(c.Content)), c.Path, err)
		}
	}
	return nil
}

// stage writes all that is to be put somewhere beside its place, and to the disk.
func (t *transaction) stage(ctx context.Context) error {
	for _, dir := range t.j.Folders {
		if err := t.i.at("make " + dir); err != nil {
			return err
		}
		if _, err := makeDirs([]string{dir}, 0o755); err != nil {
			return err
		}
	}
	for n := range t.j.Steps {
		s := &t.j.Steps[n]
		if s.Staged == "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.i.at("stage " + s.Path); err != nil {
			return err
		}
		if err := s.stage(ctx, t.plan.Changes[s.Change]); err != nil {
			return err
		}
		if f := t.j.Receipt.file(s.Path); f != nil {
			f.SHA256, f.Link = s.SHA256, s.Link
		}
	}
	return nil
}

func (s *step) stage(ctx context.Context, c Change) error {
	if err := os.Remove(s.Staged); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure("what was left by an old installation cannot be removed:", s.Staged, err)
	}
	if c.Op == OpLink {
		s.Link = c.From
		return failure("the link cannot be made:", c.Path, os.Symlink(c.From, s.Staged))
	}
	var err error
	s.SHA256, err = writeNew(ctx, s.Staged, c)
	if err != nil {
		return err
	}
	return nil
}

// writeNew writes what a change puts somewhere into a new file, and returns its
// digest.
func writeNew(ctx context.Context, path string, c Change) (digest string, err error) {
	mode := c.Mode
	if mode == 0 {
		mode = 0o644
	}
	source, err := c.open()
	if err != nil {
		return "", failure("the program cannot be read:", c.From, err)
	}
	defer source.Close()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", failure("it cannot be written:", c.Path, err)
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(file, hash), &reader{ctx: ctx, Reader: source})
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", failure("it cannot be written:", c.Path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// reader ends with a context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
