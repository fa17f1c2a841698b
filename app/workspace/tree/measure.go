package tree

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Measure counts what is below dir; files with several links in it once, with the
// bytes that they take on the disk as Bytes. Blocks that several files share are
// counted with each. What goes meanwhile is not counted. What cannot be read is told by the error,
// and the count of the rest is returned with it.
func Measure(ctx context.Context, dir string, skip func(path string) bool) (Count, error) {
	root, err := openDir(dir)
	if err != nil {
		return Count{}, fmt.Errorf("measuring %s: %w", dir, err)
	}
	w := &measurer{o: Options{Skip: skip}, seen: map[fileID]bool{}}
	err = run(ctx, func(p *pool) {
		w.pool = p
		w.directory(&walked{dir: root})
	})
	if err == nil {
		err = w.problem
	}
	if err != nil {
		err = fmt.Errorf("measuring %s: %w", dir, err)
	}
	return w.tally.count(), err
}

type measurer struct {
	o     Options
	pool  *pool
	tally tally

	mu      sync.Mutex
	seen    map[fileID]bool // guarded by mu; files with several names
	problem error           // likewise; the first
}

// walked is a directory that is open until all of those below it are.
type walked struct {
	dir   *dir
	path  string
	users atomic.Int32
}

func (w *walked) release() {
	if w.users.Add(-1) == 0 {
		w.dir.close()
	}
}

func (w *measurer) trouble(path string, err error) {
	if vanished(err) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.problem == nil {
		w.problem = fmt.Errorf("%s: %w", shown(path), err)
	}
}

func (w *measurer) directory(n *walked) {
	n.users.Store(1)
	defer n.release()
	if w.pool.over() {
		return
	}
	entries, err := n.dir.entries()
	if err != nil {
		w.trouble(n.path, err)
		return
	}
	for _, e := range entries {
		if w.pool.over() {
			return
		}
		path := join(n.path, e.name)
		if w.o.skips(path) {
			continue
		}
		m, err := n.dir.lstat(e.name)
		if err != nil {
			w.trouble(path, err)
			continue
		}
		w.count(m)
		if m.kind != directory {
			continue
		}
		n.users.Add(1)
		w.pool.add(func() { w.child(n, e.name, path) })
	}
}

func (w *measurer) child(n *walked, name, path string) {
	sub, err := n.dir.sub(name)
	n.release()
	if err != nil {
		w.trouble(path, err)
		return
	}
	w.directory(&walked{dir: sub, path: path})
}

func (w *measurer) count(m meta) {
	if m.kind != directory && m.links > 1 {
		w.mu.Lock()
		seen := w.seen[m.id]
		w.seen[m.id] = true
		w.mu.Unlock()
		if seen {
			return
		}
	}
	w.tally.add(1, m.taken)
}
