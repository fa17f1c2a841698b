package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Options say how to copy.
type Options struct {
	// Skip leaves out a path below the root, with slashes, and all below it. It is
	// called by several goroutines.
	Skip func(path string) bool
	// Base is a directory with an older copy: what is the same there (content and
	// mode) becomes a hard link to it where it cannot be cloned; its times are those of the
	// older copy then. Each file there is linked to once at most. "" is none.
	Base string
	// Progress is told of what has been copied, 10 times a second at most, and at
	// the end. It is called by one goroutine at a time.
	Progress func(done Count)
	// ReadOnly takes the permission to write from files, not from directories.
	ReadOnly bool
}

// perm is what a copy of a file is allowed.
func (o *Options) perm(m meta) fs.FileMode {
	if o.ReadOnly {
		return m.perm &^ 0o222
	}
	return m.perm
}

func (o *Options) skips(path string) bool { return o.Skip != nil && o.Skip(path) }

// Copied is what came of a copy.
type Copied struct {
	Count
	cloned int64 // files that share their blocks with the source
	linked int64 // files that are hard links to Base
	// Left are what was left out because it is neither file, directory nor link, or
	// because it was gone while it was read; and files that were written to
	// all the time while they were read, which are copied: "path: why", the first 20.
	Left []string
}

// batch is how many entries of a directory one task copies.
const batch = 64

// Copy copies what is in the directory from into the directory to, which is there
// and empty. Modes without the bits beyond permissions, times, links and holes are
// kept, hard links among the files too; owners and extended attributes are not.
// Blocks are shared where the file system can do that (FICLONE, clonefile; not on
// Windows). A source that changes meanwhile gives each file as it was at some moment.
// What cannot be read is an error. When it fails, also because the disk is full or ctx
// ends, what is in to is the caller's to remove.
func Copy(ctx context.Context, from, to string, o Options) (Copied, error) {
	c := &copier{o: o, never: map[uint64]bool{}, linked: map[fileID]*original{}, claimed: map[fileID]bool{}}
	c.tally.tell = o.Progress
	root, err := c.begin(from, to)
	if err != nil {
		return Copied{}, fmt.Errorf("copying %s to %s: %w", from, to, err)
	}
	defer c.links.Close()
	err = run(ctx, func(p *pool) {
		c.pool = p
		c.directory(root)
	})
	if err == nil {
		err = c.finish()
	}
	if err != nil {
		err = fmt.Errorf("copying %s to %s: %w", from, to, err)
	}
	return Copied{Count: c.tally.end(), cloned: c.cloned.Load(), linked: c.fromBase.Load(), Left: c.left.list}, err
}

// leftOut collects what is told of what was left out.
type leftOut struct {
	mu   sync.Mutex
	list []string // guarded by mu
}

func (l *leftOut) note(path string, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) < mostLeft {
		l.list = append(l.list, path+": "+why.Error())
	}
}

// original is the first of the names that a file has in the source.
type original struct {
	mu   sync.Mutex // held while it is copied
	path string     // guarded by mu; "" when it could not be copied
}

// late is a directory that gets its permissions last, because they would hinder us.
type late struct {
	path string
	perm fs.FileMode
}

type copier struct {
	o      Options
	pool   *pool
	target fileID   // the root of the copy, which is not copied itself
	links  *os.Root // likewise, to find originals in it

	tally            tally
	cloned, fromBase atomic.Int64
	left             leftOut

	mu     sync.Mutex
	never  map[uint64]bool      // guarded by mu; file systems of which nothing can be cloned to the copy's
	linked map[fileID]*original // likewise
	// claimed are files of the base that are linked to; guarded by mu.
	claimed map[fileID]bool
	late    []late // likewise
}

// node is a directory that is being copied.
type node struct {
	parent         *node
	name           string
	from, to, base *dir // base may be nil
	meta           meta
	users          atomic.Int32 // tasks that need the directories open
}

// path is where a directory lies below the root.
func (n *node) path() string {
	var names []string
	for ; n.parent != nil; n = n.parent {
		names = append(names, n.name)
	}
	slices.Reverse(names)
	return strings.Join(names, "/")
}

// begin opens the roots.
func (c *copier) begin(from, to string) (_ *node, err error) {
	n := &node{}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	if n.from, err = openDir(from); err != nil {
		return nil, err
	}
	if n.to, err = openDir(to); err != nil {
		return nil, err
	}
	there, err := n.to.entries()
	if err != nil {
		return nil, err
	}
	if len(there) > 0 {
		return nil, fmt.Errorf("%s is not empty; name a directory that is", to)
	}
	if n.meta, err = n.from.stat(); err != nil {
		return nil, err
	}
	target, err := n.to.stat()
	if err != nil {
		return nil, err
	}
	c.target = target.id
	if c.o.Base != "" {
		if n.base, err = openDir(c.o.Base); err != nil {
			return nil, err
		}
	}
	if c.links, err = os.OpenRoot(to); err != nil {
		return nil, err
	}
	if id, err := idOf(c.links); err != nil || id != c.target {
		return nil, errors.Join(errChanged, err, c.links.Close())
	}
	return n, nil
}

func (n *node) close() {
	n.from.close()
	n.to.close()
	n.base.close()
}

// fail gives up because of a path.
func (c *copier) fail(path string, err error) {
	c.pool.fail(fmt.Errorf("%s: %w", shown(path), err))
}

// directory copies what is in a directory that has been opened.
func (c *copier) directory(n *node) {
	n.users.Store(1)
	defer c.release(n)
	if c.pool.over() {
		return
	}
	if n.meta.id == c.target {
		c.fail(n.path(), errors.New("the copy would lie in what is copied; name another place for it"))
		return
	}
	entries, err := n.from.entries()
	if err != nil {
		if n.parent != nil && vanished(err) {
			c.left.note(n.path(), err)
			return
		}
		c.fail(n.path(), err)
		return
	}
	var files []entry
	for _, e := range entries {
		if c.o.Skip != nil && c.o.Skip(join(n.path(), e.name)) {
			continue
		}
		if e.kind == unknown {
			m, err := n.from.lstat(e.name)
			if err != nil {
				c.trouble(n, e.name, err)
				continue
			}
			e.kind = m.kind
		}
		if e.kind != directory {
			files = append(files, e)
			continue
		}
		n.users.Add(1)
		c.pool.add(func() { c.child(n, e.name) })
	}
	for len(files) > batch {
		part := files[:batch]
		files = files[batch:]
		n.users.Add(1)
		c.pool.add(func() {
			defer c.release(n)
			c.files(n, part)
		})
	}
	c.files(n, files)
}

// trouble is what to do when something in a directory cannot be copied.
func (c *copier) trouble(n *node, name string, err error) {
	if vanished(err) {
		c.left.note(join(n.path(), name), err)
		return
	}
	c.fail(join(n.path(), name), err)
}

// child makes a directory and opens it, and goes on in it.
func (c *copier) child(n *node, name string) {
	child, err := c.enter(n, name)
	c.release(n)
	if err != nil {
		c.trouble(n, name, err)
		return
	}
	if child != nil {
		c.directory(child)
	}
}

// enter opens a directory below n, and makes it in the copy.
func (c *copier) enter(n *node, name string) (*node, error) {
	if c.pool.over() {
		return nil, nil
	}
	child := &node{parent: n, name: name}
	var err error
	if child.from, err = n.from.sub(name); err != nil {
		return nil, err
	}
	if child.meta, err = child.from.stat(); err == nil {
		if err = n.to.mkdir(name); err == nil {
			child.to, err = n.to.sub(name)
		}
		if err != nil {
			err = ours(err)
		}
	}
	if err != nil {
		child.close()
		return nil, err
	}
	if n.base != nil {
		child.base, _ = n.base.sub(name) // without it all is copied
	}
	c.tally.add(1, 0)
	return child, nil
}

// damaged is an error in the copy, which is never excused as the source's.
type damaged struct{ error }

func ours(err error) error {
	switch {
	case isFull(err):
		return damaged{fmt.Errorf("making the copy: %w; make room on that disk, then try again", err)}
	case errors.Is(err, fs.ErrExist):
		return damaged{fmt.Errorf("making the copy: %w; two names of the source are one there, as where capitals are no others", err)}
	}
	return damaged{fmt.Errorf("making the copy: %w", err)}
}

// Unwrap is what is wrong.
func (d damaged) Unwrap() error { return d.error }

// release lets go of a directory. Whoever is the last gives it its times and
// closes it: nothing is made in it any more.
func (c *copier) release(n *node) {
	if n.users.Add(-1) > 0 {
		return
	}
	defer n.close()
	if c.pool.over() {
		return
	}
	if err := n.to.setOwnTimes(n.meta); err != nil {
		c.fail(n.path(), ours(err))
		return
	}
	if n.parent == nil { // its permissions are the caller's
		return
	}
	if n.meta.perm&0o700 != 0o700 { // originals of hard links are found by their paths
		c.mu.Lock()
		defer c.mu.Unlock()
		c.late = append(c.late, late{n.path(), n.meta.perm})
		return
	}
	if err := n.to.setOwnMode(n.meta.perm); err != nil {
		c.fail(n.path(), ours(err))
	}
}

// finish gives directories the permissions that would have been in the way.
func (c *copier) finish() error {
	slices.SortFunc(c.late, func(a, b late) int { return strings.Count(b.path, "/") - strings.Count(a.path, "/") })
	for _, l := range c.late {
		if err := c.links.Chmod(filepath.FromSlash(l.path), l.perm); err != nil {
			return fmt.Errorf("%s: %w", shown(l.path), ours(err))
		}
	}
	return nil
}
