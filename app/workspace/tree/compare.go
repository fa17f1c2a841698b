package tree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Difference is one path that differs.
type Difference struct {
	Path string // below the roots, with slashes
	What string // added, removed, changed, mode
}

// Compare tells what differs from directory a to directory b: content, kind, link
// target, and permissions other than to write; not times, nor what Copy leaves out because of
// its kind. What is below a directory that is added or removed is told too. Differences
// are sorted by path. Up to most are returned, whichever were found first; 0 is all. What goes
// while it is looked at is not there. What cannot be read is an error.
func Compare(ctx context.Context, a, b string, skip func(path string) bool, most int) ([]Difference, error) {
	c := &comparer{o: Options{Skip: skip}, most: most}
	pair := &both{}
	var err error
	if pair.a, err = openDir(a); err == nil {
		pair.b, err = openDir(b)
	}
	if err != nil {
		pair.close()
		return nil, fmt.Errorf("comparing %s with %s: %w", a, b, err)
	}
	err = run(ctx, func(p *pool) {
		c.pool = p
		c.directory(pair)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("comparing %s with %s: %w", a, b, err)
	}
	slices.SortFunc(c.found, func(x, y Difference) int { return strings.Compare(x.Path, y.Path) })
	return c.found, nil
}

var errEnough = errors.New("there are enough differences")

type comparer struct {
	o    Options
	most int
	pool *pool

	mu    sync.Mutex
	found []Difference // guarded by mu
}

// both is a directory on both sides, or on one of them: the other is nil.
type both struct {
	a, b  *dir
	path  string
	users atomic.Int32
}

func (p *both) close() {
	p.a.close()
	p.b.close()
}

func (p *both) release() {
	if p.users.Add(-1) == 0 {
		p.close()
	}
}

// differs notes a difference.
func (c *comparer) differs(path, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.most > 0 && len(c.found) >= c.most {
		return
	}
	if c.found = append(c.found, Difference{path, what}); len(c.found) == c.most {
		c.pool.fail(errEnough)
	}
}

func (c *comparer) fail(path string, err error) { c.pool.fail(fmt.Errorf("%s: %w", shown(path), err)) }

// look reads what is in a directory; nil is empty.
func (c *comparer) look(d *dir, path string) (map[string]meta, error) {
	if d == nil {
		return nil, nil
	}
	entries, err := d.entries()
	if vanished(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := make(map[string]meta, len(entries))
	for _, e := range entries {
		if c.o.skips(join(path, e.name)) {
			continue
		}
		m, err := d.lstat(e.name)
		if vanished(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m.kind != other {
			found[e.name] = m
		}
	}
	return found, nil
}

func (c *comparer) directory(p *both) {
	p.users.Store(1)
	defer p.release()
	if c.pool.over() {
		return
	}
	inA, err := c.look(p.a, p.path)
	if err != nil {
		c.fail(p.path, err)
		return
	}
	inB, err := c.look(p.b, p.path)
	if err != nil {
		c.fail(p.path, err)
		return
	}
	for name, m := range inA {
		if c.pool.over() {
			return
		}
		path := join(p.path, name)
		now, there := inB[name]
		switch {
		case !there:
			c.differs(path, "removed")
			if m.kind == directory {
				c.below(p, name, true, false)
			}
		case m.kind != now.kind:
			c.differs(path, "changed")
			if m.kind == directory || now.kind == directory {
				c.below(p, name, m.kind == directory, now.kind == directory)
			}
		case m.kind == directory:
			if modeDiffers(m, now) {
				c.differs(path, "mode")
			}
			c.below(p, name, true, true)
		default:
			c.file(p, name, m, now)
		}
	}
	for name, m := range inB {
		if _, there := inA[name]; !there {
			c.differs(join(p.path, name), "added")
			if m.kind == directory {
				c.below(p, name, false, true)
			}
		}
	}
}

func modeDiffers(a, b meta) bool { return a.perm&^0o222 != b.perm&^0o222 }

// below goes on in a directory, on the sides that have it.
func (c *comparer) below(p *both, name string, inA, inB bool) {
	p.users.Add(1)
	c.pool.add(func() {
		if c.pool.over() {
			p.release()
			return
		}
		sub := &both{path: join(p.path, name)}
		var errA, errB error
		if inA {
			sub.a, errA = p.a.sub(name)
		}
		if inB {
			sub.b, errB = p.b.sub(name)
		}
		p.release()
		for _, err := range []error{errA, errB} {
			if err != nil && !vanished(err) {
				c.fail(sub.path, err)
			}
		}
		c.directory(sub)
	})
}

// file compares two files, or two links.
func (c *comparer) file(p *both, name string, a, b meta) {
	path := join(p.path, name)
	equal, err := c.equal(p, name, a, b)
	switch {
	case vanished(err):
		c.differs(path, "changed")
	case err != nil:
		c.fail(path, err)
	case !equal:
		c.differs(path, "changed")
	case a.kind == regular && modeDiffers(a, b):
		c.differs(path, "mode")
	}
}

func (c *comparer) equal(p *both, name string, a, b meta) (bool, error) {
	if a.kind == link {
		one, err := p.a.readlink(name)
		if err != nil {
			return false, err
		}
		two, err := p.b.readlink(name)
		return one == two, err
	}
	if a.size != b.size {
		return false, nil
	}
	if a.id == b.id && a.id != (fileID{}) { // one file with two names
		return true, nil
	}
	one, _, err := p.a.open(name)
	if err != nil {
		return false, err
	}
	defer func() { _ = one.close() }()
	two, _, err := p.b.open(name)
	if err != nil {
		return false, err
	}
	defer func() { _ = two.close() }()
	return sameFiles(c.pool.ctx, one, two, a, b)
}
