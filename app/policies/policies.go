// Package policies carries out what monitor/policy decides: it announces that an
// instance will be ended, has the stop ladder end it when the time has come,
// tells of both, and keeps what the user has said about it (kept instances,
// pauses, switches).
//
// It decides nothing itself about an instance. The ladder looks at everything
// once more before it does anything, and what it refuses is tried again later.
// When the process dies on the way nothing is resumed: the next one decides anew.
package policies

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/process"
	"lamplighter/monitor/statefile"
	"lamplighter/monitor/stop"
)

// Stopper ends instances: monitor/stop.
type Stopper interface {
	Stop(ctx context.Context, in monitor.Instance, o stop.Order) (stop.Result, error)
}

// Options say what an Engine works with. All are needed, but Path and Log.
type Options struct {
	Source monitor.Source
	Stop   Stopper
	// Fresh looks at an instance now, see watch.Watch.
	Fresh  func(context.Context, monitor.Identity) (*monitor.Snapshot, error)
	Record func(monitor.Event) // is told of each decision
	// Tell shows something to the user. It must not block.
	Tell func(Notice)
	// Withdraw takes back a notice that is not true any more. It must not block.
	Withdraw func(subject string)
	// Path is the file that remembers what the user has said, policy.json in the
	// state directory; "" remembers nothing beyond this process.
	Path string
	// Changed is called when Plan has something else to say of the same snapshot. It
	// must not block.
	Changed func()
	// Active says that this process holds the lock. Only then anything is done or
	// told: of two lamplighters one acts.
	Active bool
	Log    *slog.Logger // nil: silent
}

// Notice is something to show to the user. Summary and Body are safe to show.
type Notice struct {
	Subject string // what it is about: a newer one replaces it
	Summary string
	Body    string
	IDs     []monitor.Identity // the instances that it is about
	// Asks says that it is to offer to keep them for an hour, and to end them now.
	// Engine.Chosen takes what the user answers.
	Asks bool

	grounds map[monitor.Identity][]ground // why it offers to end them
}

// ground is what a notice says of an instance, as far as it may change.
type ground struct {
	rule policy.Rule
	idle time.Time // since when the instance is idle
}

// Engine carries out what the policies decide. Make one with New. All methods
// are safe for concurrent use, Serve not twice at once.
type Engine struct {
	o       Options
	now     func() time.Time
	file    statefile.File[policy.Wishes]
	bootErr error // why it is not known which boot this is

	changing sync.Mutex // held while what the user says is written

	mu       sync.Mutex
	settings policy.Rules
	wishes   policy.Wishes
	problem  *Notice                   // with the file, until it is told
	inbox    []func(*monitor.Snapshot) // for Plan to take in

	starts chan start // for Serve; has room for all that the book lets begin
	book   book       // of whoever calls Plan
}

// New makes an engine with the rules that hold where the settings say nothing
// else, see SetRules, and reads what the user has said before. What cannot be
// read is logged and told once; then the policies are paused, for that is what it
// may have said.
func New(o Options) *Engine { return newEngine(o, time.Now, process.BootID) }

func newEngine(o Options, now func() time.Time, boot func() (string, error)) *Engine {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	id, err := boot()
	e := &Engine{o: o, now: now, file: fileAt(o.Path, id), bootErr: err, starts: make(chan start, mostAtOnce), book: newBook(o.Record)}
	e.load()
	return e
}

// SetRules replaces what the settings say. The wishes of the user
// are kept here, and not looked at in r.
func (e *Engine) SetRules(r policy.Rules) {
	e.mu.Lock()
	e.settings = r
	e.mu.Unlock()
	e.o.Changed()
}

// rules are those of now.
func (e *Engine) rules() policy.Rules {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.settings
	r.Wishes = e.wishes
	return r
}
