package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lamplighter/monitor"
)

// How long checks may take. A check that asks nothing but files and the kernel
// is quick unless a network drive hangs.
const (
	quick   = 8 * time.Second
	bus     = 8 * time.Second
	shell   = 15 * time.Second // launch gives the login shell 5 s
	patient = 80 * time.Second // each candidate has its own limit
)

// check is one area. run need not heed its context: it is left alone when its
// time is over, because nothing can interrupt a look at a network drive.
type check struct {
	area  Area
	what  string // it looks at, for the line that says that this hangs
	limit time.Duration
	run   func(ctx context.Context) []Line
}

// sideBySide runs all checks at once and returns their lines in the order of
// the checks.
func sideBySide(ctx context.Context, checks []check) []Line {
	found := make([][]Line, len(checks))
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() {
			lines, err := within(ctx, c.limit, c.run)
			if err != nil {
				lines = []Line{failed(c, err)}
			}
			found[i] = finish(c.area, lines)
		})
	}
	all.Wait()
	var lines []Line
	for _, l := range found {
		lines = append(lines, l...)
	}
	return lines
}

// finish fills in the area, and makes foreign text safe to show.
func finish(area Area, lines []Line) []Line {
	for i := range lines {
		l := &lines[i]
		l.Area = area
		l.Text, l.Means, l.Do = monitor.Clean(l.Text), monitor.Clean(l.Means), monitor.Clean(l.Do)
		for j, fact := range l.Facts {
			l.Facts[j] = monitor.Clean(fact)
		}
		for j := range l.Files {
			file := &l.Files[j]
			file.Path = monitor.Clean(file.Path)
			for k := range file.Entries {
				file.Entries[k].Name = monitor.Clean(file.Entries[k].Name)
			}
		}
	}
	return lines
}

// errSlow says that something did not come to its end in its time.
var errSlow = errors.New("it did not answer in time")

// within waits for fn until its time is over, or until outer ends. Its goroutine
// then goes on alone until fn returns.
func within[T any](outer context.Context, limit time.Duration, fn func(context.Context) T) (T, error) {
	type result struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeout(outer, limit)
	done := make(chan result, 1)
	go func() {
		defer cancel()
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("it failed inside (%v); please report that", p)
			}
			done <- r
		}()
		r.value = fn(ctx)
	}()
	// What heeds the context gets a moment to say so in its own words.
	late := time.NewTimer(limit + time.Second)
	defer late.Stop()
	var none T
	select {
	case r := <-done:
		return r.value, r.err
	case <-outer.Done():
		return none, outer.Err()
	case <-late.C:
		return none, errSlow
	}
}

func failed(c check, err error) Line {
	if errors.Is(err, errSlow) {
		return Line{
			Mark: Warn, Text: fmt.Sprintf("%s: no answer within %s", c.what, monitor.Span(c.limit)),
			Means: "Something it asks hangs: a network drive, the session bus or a login shell.",
			Do:    "See what hangs (df and ls also do then), then run lamplighter doctor again.",
		}
	}
	return Line{Mark: Warn, Text: fmt.Sprintf("%s: %v", c.what, err)}
}
