package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// ErrReplaced says that a directory is not the one that was meant.
var ErrReplaced = errors.New("it is not the directory that was meant; look what it is now")

// ErrMounted says that another file system is mounted in a directory.
var ErrMounted = errors.New("a file system is mounted in it; unmount that first")

// Remove removes dir and all below it, also where it holds directories without
// permissions and files that are read-only, when its Identity is identity, else the
// error Is ErrReplaced; "" is any. It is not followed where it is a link. No other file system that
// is mounted below it is touched: then the error Is ErrMounted, before
// anything is removed where the system tells of mounts. It is no error when dir is not there. What cannot
// be removed is left with the directories that lead to it, and told; the rest is
// removed. Progress is called as that of Options is.
func Remove(ctx context.Context, dir, identity string, progress func(Count)) error {
	done := tally{tell: progress}
	for tries := 1; ; tries++ {
		err := remove(ctx, dir, identity, &done)
		if err == nil {
			return nil
		}
		// A directory in which somebody has made something after it was read.
		if !errors.Is(err, fs.ErrExist) || tries == removeTries || ctx.Err() != nil {
			return fmt.Errorf("removing %s: %w", dir, err)
		}
	}
}

// removeTries is how often what others write to meanwhile is removed.
const removeTries = 5

func remove(ctx context.Context, path, identity string, done *tally) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	parent, err := openParent(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.close()
	name := filepath.Base(path)
	m, err := parent.lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if m.kind != directory {
		return fmt.Errorf("it is a %s; %w", m.word(), ErrReplaced)
	}
	top, err := enterHere(parent, name, m.id.dev)
	if err != nil {
		return err
	}
	is, err := top.identity()
	if err == nil && identity != "" && is != identity {
		err = ErrReplaced
		// Where it was opened to us it is not ours to change.
		if now, serr := top.stat(); serr == nil && now.id == m.id && now.perm != m.perm {
			err = errors.Join(err, top.setOwnMode(m.perm))
		}
	}
	if err == nil {
		err = mountedBelow(top)
	}
	if err != nil {
		top.close()
		return err
	}
	r := &remover{dev: m.id.dev, tally: done, top: &doomed{dir: top, name: name, parent: &doomed{dir: parent}}}
	err = run(ctx, func(p *pool) {
		r.pool = p
		r.directory(r.top)
	})
	r.tally.end()
	return errors.Join(err, r.problem())
}

// openParent opens the directory that a tree lies in, which may be reached
// through links.
func openParent(path string) (*dir, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	return openDir(real)
}

// enterHere opens a directory of this file system, also one without permissions
// for us.
func enterHere(in *dir, name string, dev uint64) (*dir, error) {
	d, err := in.subHere(name, dev)
	if errors.Is(err, fs.ErrPermission) && in.unlock(name) == nil {
		d, err = in.subHere(name, dev)
	}
	if isMounted(err) {
		return nil, ErrMounted
	}
	return d, err
}

// deepest is how far down directories are removed where they are. What lies
// deeper is moved up first, so that few of them are open at a time, however deep a tree is.
const deepest = 200

// mostProblems bounds what is told of what could not be removed.
const mostProblems = 5

type remover struct {
	pool  *pool
	dev   uint64
	top   *doomed
	moved atomic.Int64 // directories that were moved up
	tally *tally

	mu       sync.Mutex
	problems []error // guarded by mu, the first
	more     int     // likewise, how many beyond those
}

// doomed is a directory that is being removed.
type doomed struct {
	dir    *dir
	parent *doomed
	name   string
	depth  int
	left   atomic.Int32 // tasks that remove what is in it
	stays  atomic.Bool  // something in it could not be removed
}

func (n *doomed) path() string {
	if n.depth == 0 {
		return ""
	}
	return join(n.parent.path(), n.name)
}

// problem is all that could not be removed, in one error.
func (r *remover) problem() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.more > 0 {
		return errors.Join(append(r.problems, fmt.Errorf("and %d more", r.more))...)
	}
	return errors.Join(r.problems...)
}

func (r *remover) trouble(n *doomed, name string, err error) {
	n.stays.Store(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.problems) < mostProblems {
		r.problems = append(r.problems, fmt.Errorf("%s: %w", shown(join(n.path(), name)), err))
	} else {
		r.more++
	}
}

// directory removes what is in a directory that has been opened.
func (r *remover) directory(n *doomed) {
	n.left.Store(1)
	defer r.release(n)
	if r.pool.over() {
		n.stays.Store(true)
		return
	}
	entries, err := n.dir.entries()
	if err != nil && !vanished(err) {
		r.trouble(n, "", err)
		return
	}
	var files []entry
	for _, e := range entries {
		if e.kind == unknown {
			m, err := n.dir.lstat(e.name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				r.trouble(n, e.name, err)
				continue
			}
			e.kind = m.kind
		}
		if e.kind != directory {
			files = append(files, e)
			continue
		}
		n.left.Add(1)
		r.pool.add(func() {
			defer r.release(n)
			r.child(n, e.name)
		})
	}
	// One worker is enough for a directory: the system removes one name of it at a time.
	r.files(n, files)
}

func (r *remover) files(n *doomed, entries []entry) {
	for _, e := range entries {
		if r.pool.over() {
			n.stays.Store(true)
			return
		}
		err := n.dir.remove(e.name)
		if errors.Is(err, fs.ErrPermission) && r.unlocked(n, e.name) {
			err = n.dir.remove(e.name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.trouble(n, e.name, err)
			continue
		}
		r.tally.add(1, 0)
	}
}

// unlocked takes away what may forbid to remove an entry.
func (r *remover) unlocked(n *doomed, name string) bool {
	return n.dir.setOwnMode(0o700) == nil && n.dir.allow(name) == nil
}

// child opens a directory below n and removes it.
func (r *remover) child(n *doomed, name string) {
	if r.pool.over() {
		n.stays.Store(true)
		return
	}
	in := n
	if n.depth >= deepest {
		// Nobody else uses such a name, and moving fails where one is there that is not empty.
		up := fmt.Sprintf(".lamplighter-removed-%d", r.moved.Add(1))
		if n.dir.move(name, r.top.dir, up) == nil {
			in, name = r.top, up
		}
	}
	sub, err := enterHere(in.dir, name, r.dev)
	if errors.Is(err, fs.ErrPermission) && in.dir.setOwnMode(0o700) == nil {
		sub, err = enterHere(in.dir, name, r.dev)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if errors.Is(err, errChanged) { // it is no directory any more
		r.files(in, []entry{{name: name}})
		return
	}
	if err != nil {
		r.trouble(in, name, err)
		return
	}
	in.left.Add(1)
	r.directory(&doomed{dir: sub, parent: in, name: name, depth: in.depth + 1})
}

// release notes that a task in a directory has ended. With the last one the
// directory goes.
func (r *remover) release(n *doomed) {
	if n.left.Add(-1) > 0 {
		return
	}
	n.dir.close()
	if !n.stays.Load() {
		err := n.parent.dir.rmdir(n.name)
		if errors.Is(err, fs.ErrPermission) && n.depth > 0 && r.unlocked(n.parent, n.name) {
			err = n.parent.dir.rmdir(n.name)
		}
		switch {
		case err == nil:
			r.tally.add(1, 0)
		case errors.Is(err, fs.ErrNotExist):
		default:
			r.trouble(n.parent, n.name, err)
			n.stays.Store(true)
		}
	}
	if n.stays.Load() {
		n.parent.stays.Store(true)
	}
	if n.depth > 0 {
		r.release(n.parent)
	}
}
