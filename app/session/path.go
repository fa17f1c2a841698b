package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lamplighter/monitor"
)

// The bounds of a look at a path. One on a network that has gone may never end;
// then its thread is lost, so it is asked about once, however often it comes.
const (
	longestPath = 4096 // bytes
	lookTime    = 5 * time.Second
	mostLooks   = 256
)

// paths looks at the paths of projects. The zero value is ready to use.
type paths struct {
	mu    sync.Mutex
	looks map[string]*look // that are not at their end

	see func(path string) error // readable, unless a test says otherwise
	// limit is lookTime, unless a test says otherwise.
	limit time.Duration
}

// look is one look at a path. Who waits for done may read the error.
type look struct {
	done chan struct{}
	err  error
}

// CheckPath is what a Manager makes of the path of a project, or has against it.
func CheckPath(ctx context.Context, path string) (string, error) {
	var p paths
	return p.check(ctx, path)
}

// check returns the path of a project as servers are to be given it: absolute,
// in the plain spelling, with its symbolic links. The error Is ErrBadPath.
func (p *paths) check(ctx context.Context, path string) (string, error) {
	dir, err := plain(path)
	if err != nil {
		return "", bad(err)
	}
	l, err := p.look(path)
	if err != nil {
		return "", bad(err)
	}
	limit := p.limit
	if limit == 0 {
		limit = lookTime
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-l.done:
		if l.err != nil {
			return "", bad(l.err)
		}
		return dir, nil
	case <-timer.C:
		return "", bad(fmt.Errorf("%q does not answer within %s", path, monitor.Span(limit)))
	case <-ctx.Done():
		return "", ErrNotWanted
	}
}

func bad(err error) error { return fmt.Errorf("%w: %w", ErrBadPath, err) }

// look begins to look at a path, or joins who does.
func (p *paths) look(path string) (*look, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.looks[path]; l != nil {
		return l, nil
	}
	if len(p.looks) >= mostLooks {
		return nil, fmt.Errorf("%d other paths do not answer", len(p.looks))
	}
	if p.looks == nil {
		p.looks = map[string]*look{}
	}
	see := p.see
	if see == nil {
		see = readable
	}
	l := &look{done: make(chan struct{})}
	p.looks[path] = l
	go func() {
		l.err = see(path)
		p.mu.Lock()
		delete(p.looks, path)
		p.mu.Unlock()
		close(l.done)
	}()
	return l, nil
}

// plain is an absolute path in its plain spelling.
func plain(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("it is empty")
	case len(path) > longestPath:
		return "", fmt.Errorf("it is longer than %d bytes", longestPath)
	case strings.ContainsRune(path, 0):
		return "", errors.New("it contains a zero byte")
	case !filepath.IsAbs(path):
		return "", fmt.Errorf("%q is not absolute", path)
	}
	return filepath.Clean(path), nil
}

// readable says what is wrong with the directory at a path.
func readable(path string) error {
	info, err := os.Stat(path) // opening another thing may block, or do something
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%q is no directory", path)
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if _, err := dir.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	// To read names is one permission, to reach what has them another one.
	if _, err := os.Stat(path + string(filepath.Separator) + "."); err != nil {
		return err
	}
	// Where ".." follows a symbolic link, the plain spelling is another place.
	if clean := filepath.Clean(path); clean != path {
		same, err := os.Stat(clean)
		if err != nil {
			return err
		}
		if !os.SameFile(info, same) {
			return fmt.Errorf("%q is not what %q leads to", clean, path)
		}
	}
	return nil
}
