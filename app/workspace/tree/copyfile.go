package tree

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
)

// mostTries is how often a file is read that is written to meanwhile.
const mostTries = 3

var errTorn = errors.New("it was written to all the while; its copy may be of several moments")

// clonable reports whether it may work to clone what is on a device.
func (c *copier) clonable(dev uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.never[dev]
}

func (c *copier) neverFrom(dev uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.never[dev] = true
}

func (c *copier) files(n *node, entries []entry) {
	for _, e := range entries {
		if c.pool.over() {
			return
		}
		var err error
		switch e.kind {
		case regular:
			err = c.file(n, e.name)
		case link:
			err = c.symlink(n, e.name)
		default:
			m, lerr := n.from.lstat(e.name)
			if err = lerr; err == nil {
				c.left.note(join(n.path(), e.name), fmt.Errorf("it is a %s", m.word()))
			}
		}
		if err != nil {
			c.trouble(n, e.name, err)
		}
	}
}

func (c *copier) symlink(n *node, name string) error {
	m, err := n.from.lstat(name)
	if err != nil {
		return err
	}
	target, err := n.from.readlink(name)
	if err != nil {
		return err
	}
	if err := n.to.symlink(target, name); err != nil {
		return ours(err)
	}
	if err := n.to.setTimes(name, m); err != nil {
		return ours(err)
	}
	c.tally.add(1, 0)
	return nil
}

func (c *copier) file(n *node, name string) error {
	from, m, err := n.from.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = from.close() }()
	if m.links < 2 {
		return c.content(n, name, from, m)
	}

	c.mu.Lock()
	o := c.linked[m.id]
	if o == nil {
		o = &original{}
		c.linked[m.id] = o
	}
	c.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if path := join(n.path(), name); o.path == "" {
		if err = c.content(n, name, from, m); err == nil {
			o.path = path
		}
		return err
	} else if c.links.Link(filepath.FromSlash(o.path), filepath.FromSlash(path)) == nil {
		c.tally.add(1, m.size)
		return nil
	}
	return c.content(n, name, from, m) // a file cannot have so many names there, or only one
}

// content makes the copy of one file.
func (c *copier) content(n *node, name string, from *file, m meta) (err error) {
	perm := c.o.perm(m)
	var to *file
	cloned := false
	if m.size > 0 && c.clonable(m.id.dev) {
		var never bool
		if to, cloned, never, err = n.to.clone(name, from); err != nil {
			return ours(err)
		}
		if never {
			c.neverFrom(m.id.dev)
		}
	}
	defer func() {
		if to != nil {
			_ = to.close()
		}
	}()
	if !cloned && n.base != nil {
		if linked, err := c.link(n, name, from, to, m, perm); linked || err != nil {
			return err
		}
	}
	if !cloned {
		if to == nil {
			if to, err = n.to.create(name); err != nil {
				return ours(err)
			}
		}
		if m, err = c.bytes(n, name, from, to, m); err != nil {
			return err
		}
	}
	if err := n.to.settle(name, to, perm, m); err != nil {
		return ours(err)
	}
	if cloned {
		c.cloned.Add(1)
		c.tally.add(1, m.size)
	} else {
		c.tally.add(1, 0)
	}
	return nil
}

// link makes a link to the file of the base with that content and those
// permissions; false says that there is none. An empty file that was made before is
// nil, or gives way to it.
func (c *copier) link(n *node, name string, from, to *file, m meta, perm fs.FileMode) (bool, error) {
	old, om, err := n.base.open(name)
	if err != nil {
		return false, nil // it is new
	}
	defer func() { _ = old.close() }()
	if om.size != m.size || om.perm != perm {
		return false, nil
	}
	equal, err := sameFiles(c.pool.ctx, from, old, m, om)
	if err != nil {
		return false, err
	}
	if err := from.seek(0); err != nil || !equal {
		return false, err
	}
	if !c.claim(om.id) {
		return false, nil
	}
	as := name
	if to != nil {
		as = ".lamplighter-" + rand.Text() // nobody has chosen that
	}
	if n.base.link(name, n.to, as) != nil {
		return false, nil // a file cannot have so many names, or lies elsewhere
	}
	got, gm, err := n.to.open(as)
	if err == nil {
		_ = got.close()
		if gm.id != om.id { // somebody has put another file there
			return false, asOurs(n.to.remove(as))
		}
	}
	if err == nil && to != nil {
		err = n.to.move(as, n.to, name)
	}
	if err != nil {
		return false, ours(err)
	}
	c.fromBase.Add(1)
	c.tally.add(1, m.size)
	return true, nil
}

// claim takes a file of the base to link to. Each is taken once: two files of the
// source that are not one must not become one in the copy, where writing to one
// would change the other.
func (c *copier) claim(id fileID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.claimed[id] {
		return false
	}
	c.claimed[id] = true
	return true
}

// bytes copies by reading and writing, again while the file changes, and returns
// what is true of what was copied.
func (c *copier) bytes(n *node, name string, from, to *file, m meta) (meta, error) {
	for try := 1; ; try++ {
		before := m
		if err := transfer(c.pool.ctx, from, to, m, func(n int64) { c.tally.add(0, n) }); err != nil {
			return m, err
		}
		after, err := from.stat()
		if err != nil {
			return m, err
		}
		if after.mtime == before.mtime && after.size == before.size && after.ctime == before.ctime {
			return m, nil
		}
		m = after
		if try == mostTries {
			c.left.note(join(n.path(), name), errTorn)
			return m, nil
		}
		if err := from.seek(0); err != nil {
			return m, err
		}
		if err := to.truncate(0); err != nil {
			return m, ours(err)
		}
		if err := to.seek(0); err != nil {
			return m, ours(err)
		}
		c.tally.add(0, -before.size)
	}
}

// Sizes of what is copied at once.
const (
	bufferSize = 128 << 10
	chunkSize  = 8 << 20 // by the kernel, between two looks at whether to go on
)

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// transfer copies the content of a file that is m to an empty one, without its
// holes, and tells of all bytes, of holes too.
func transfer(ctx context.Context, from, to *file, m meta, tell func(int64)) error {
	told := int64(0)
	part := func(begin, end int64) error {
		if begin > told {
			tell(begin - told)
			told = begin
		}
		if m.taken < m.size { // the search for holes has moved on
			if err := from.seek(begin); err != nil {
				return err
			}
			if err := to.seek(begin); err != nil {
				return ours(err)
			}
		}
		return between(ctx, from, to, begin, end, func(n int64) {
			told += n
			tell(n)
		})
	}
	var err error
	switch {
	case m.size == 0:
		// What says that it is empty and is not lies in /proc or in FUSE.
		err = between(ctx, from, to, 0, 1<<62, func(int64) {})
	case m.taken < m.size:
		if err = from.ranges(m.size, part); err == nil {
			err = asOurs(to.truncate(m.size))
		}
	default:
		err = part(0, m.size)
	}
	if err == nil && told < m.size {
		tell(m.size - told)
	}
	return err
}

func asOurs(err error) error {
	if err == nil {
		return nil
	}
	return ours(err)
}

// between copies a part that both files stand at; less where the file ends before.
func between(ctx context.Context, from, to *file, begin, end int64, tell func(int64)) error {
	at := begin
	for byKernel := end-begin >= chunkSize && end < 1<<62; byKernel && at < end; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		n, err := copyRange(from, to, at, min(chunkSize, end-at))
		if err != nil || n == 0 {
			byKernel = false // what is wrong is told by reading and writing
			break
		}
		at += n
		tell(n)
	}
	if at == end {
		return nil
	}
	if at != begin { // the kernel has not moved the offsets
		if err := from.seek(at); err != nil {
			return err
		}
		if err := to.seek(at); err != nil {
			return ours(err)
		}
	}
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	for at < end {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		n, err := from.Read(buf[:min(bufferSize, end-at)])
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return ours(err)
			}
			at += int64(n)
			tell(int64(n))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
