package launch

import (
	"context"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"lamplighter/app/project"
	"lamplighter/monitor"
	"lamplighter/monitor/serena"
)

// FinderOptions say where a Finder looks. The zero value looks as this process
// sees the machine, and remembers nothing on disk.
type FinderOptions struct {
	Environ  []string // default: that of this process
	Home     string   // default: the user's
	StateDir string   // where verdicts are kept, when it is there; empty: in memory only
	GOOS     string   // default: that of this program; another one is for tests
	Log      *slog.Logger

	Limits Limits

	Passwd string           // where shells of users are listed; default /etc/passwd
	Now    func() time.Time // default time.Now
}

// Finder finds commands. It is safe for concurrent use.
type Finder struct {
	o        FinderOptions
	looks    project.Looks
	verdicts *verdicts
	login    once[string]
	pythons  once[[]string]
}

// NewFinder returns a Finder. It asks nothing yet.
func NewFinder(o FinderOptions) *Finder {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.GOOS == "" {
		o.GOOS = runtime.GOOS
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // nothing is looked for below an unknown home
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Limits = o.Limits.orDefault()
	if o.Passwd == "" {
		o.Passwd = "/etc/passwd"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	path := ""
	if o.StateDir != "" {
		path = filepath.Join(o.StateDir, verdictsName)
	}
	return &Finder{o: o, looks: project.Looks{Limit: o.Limits.Look}, verdicts: newVerdicts(path, o.Now)}
}

// NotFoundError says that no candidate works.
type NotFoundError struct {
	Wanted Wanted
	Tried  []Verdict
}

// mostDetail bounds, in columns, what one line says of each candidate.
const mostDetail = 200

// Error names every candidate and why it does not work, in one line.
func (e *NotFoundError) Error() string {
	what := "Serena"
	if len(e.Wanted.Command) > 0 {
		what = monitor.Quoted(e.Wanted.Command)
	}
	tried := make([]string, 0, len(e.Tried))
	for _, v := range e.Tried {
		tried = append(tried, monitor.Quoted(v.Command[:1])+" ("+v.Source+"): "+monitor.Shorten(v.Detail, mostDetail))
	}
	return "found no way to start " + what + " (run: lamplighter doctor). Tried: " + strings.Join(tried, " | ")
}

// candidates is the ordered list of what could start the command.
func (f *Finder) candidates(ctx context.Context, w Wanted) iter.Seq[Candidate] {
	return candidatesFor(f.gather(ctx, w), w, f.serena(w))
}

func (f *Finder) serena(w Wanted) bool {
	return w.Serena || len(w.Command) == 0 || serena.Runs(w.Command)
}

// Resolve checks one candidate after the other and returns the first that
// works. The error is a *NotFoundError, or that of the context. A Serena that
// the settings give and that does not work is followed by all others: they are
// in Tried and Chosen, for the caller to say so.
func (f *Finder) Resolve(ctx context.Context, w Wanted) (Resolution, error) {
	var r Resolution
	for c := range f.candidates(ctx, w) {
		v, err := f.check(ctx, c, f.serena(w), false)
		if err != nil {
			return r, err
		}
		if v.OK {
			r.Chosen = v
			return r, nil
		}
		r.Tried = append(r.Tried, v)
	}
	if err := ctx.Err(); err != nil {
		return r, err
	}
	return r, &NotFoundError{Wanted: w, Tried: r.Tried}
}

// CheckAll checks every candidate, for the doctor, at most 4 at the same time.
// Nothing is downloaded for it.
func (f *Finder) CheckAll(ctx context.Context, w Wanted) []Verdict {
	return f.checkAll(ctx, slices.Collect(f.candidates(ctx, w)), f.serena(w))
}

// Environment returns the environment of what we start: this process's without
// what speaks of this process alone, PATH continued by what the login shell's
// has besides, because language servers lie there, and extra over all of it.
func (f *Finder) Environment(ctx context.Context, extra ...string) []string {
	login, _ := f.LoginPath(ctx) // then there is nothing to add
	return environment(f.o.GOOS, f.o.Environ, login, extra)
}

// LoginPath returns the PATH of the login shell, or on Windows that of a new
// session. It is asked once, within 5 s; the answer, also a failure, stays.
func (f *Finder) LoginPath(ctx context.Context) (string, error) {
	return f.login.do(ctx, func() (string, error) {
		path, err := f.askLogin(ctx)
		if err != nil && ctx.Err() == nil {
			f.o.Log.Warn("the PATH of the login shell is not known; programs that only it finds are not found", "error", err)
		}
		return path, err
	})
}

// once is a value that is found once, by the first who wants it, while others
// wait. What was given up because a context ended is found again. The zero value
// has none yet.
type once[T any] struct {
	mu    sync.Mutex
	busy  chan struct{} // closed when whoever finds it is done; nil when nobody does
	found bool
	value T
	err   error
}

func (o *once[T]) do(ctx context.Context, find func() (T, error)) (T, error) {
	for {
		o.mu.Lock()
		if o.found {
			defer o.mu.Unlock()
			return o.value, o.err
		}
		if o.busy == nil {
			break
		}
		busy := o.busy
		o.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
	}
	done := make(chan struct{})
	o.busy = done
	o.mu.Unlock()
	value, err := find()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.busy = nil
	close(done)
	if ctx.Err() == nil || err == nil {
		o.value, o.err, o.found = value, err, true
	}
	return value, err
}
