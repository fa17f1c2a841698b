// Package notify shows notifications on the desktop and hears which of their
// buttons was pressed.
//
// What is to be shown waits in a room that is never full and never blocks
// (queue.go); a text is made for what the desktop can show (words.go, pure).
// On a freedesktop it goes to the notification service on the session bus
// (bus_unix.go, session_unix.go, screen.go), where there are buttons; on Windows
// and macOS to the system (system.go), where there are none.
//
// What is worth a notification, and how often, is not decided here.
package notify

import (
	"context"
	"log/slog"
	"time"
)

// Notification is what the user is told. Its texts may hold foreign names: they
// are cleaned, cut to a size that desktops show, and never taken for markup.
type Notification struct {
	// ID is the subject. A newer notification about it takes the place of the
	// one before, on the screen too where the desktop can do that.
	ID      string
	Summary string // one line
	Body    string // one or a few lines
	// Actions are the buttons, from left to right. Where the desktop has no
	// buttons, the body says what could be done and where instead.
	Actions []Action
	// Chosen is called with the key of the button that was pressed, at most once and on
	// a goroutine of its own, where it may take its time. It may come late, because
	// desktops keep old notifications in a list. nil: there are no buttons.
	Chosen func(key string)
	Urgent bool // stays until the user closes it, where the desktop can do that
	// Unheard is called in place of showing a question where nobody can press its
	// buttons, on a goroutine of its own; nil: it is shown without them.
	Unheard func()
}

// Action is a button.
type Action struct {
	Key   string // what Notification.Chosen is called with; one of each in a notification
	Words string // on the button
}

// Options are what a notifier needs.
type Options struct {
	App  string       // the program's name as people read it
	Icon string       // an absolute path of a PNG file, or on a freedesktop the name of an icon; "" for none
	Log  *slog.Logger // nil for none
}

// Notifier shows notifications while it is served. Make it with New.
type Notifier struct {
	opts  Options
	queue *queue
	// complaint is what was last logged as being in the way, "" for nothing.
	// It belongs to Serve.
	complaint string
}

// New makes a notifier.
func New(opts Options) *Notifier {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Notifier{opts: opts, queue: newQueue()}
}

// Show shows a notification soon. It never blocks and may be called on any
// goroutine, before Serve too. Of several about one subject that cannot be shown
// at once only the newest is. One that cannot be shown within a minute is
// dropped: what it says may no longer hold.
func (n *Notifier) Show(what Notification) { n.queue.show(what, time.Now()) }

// Withdraw takes the notification about a subject away, where the desktop can
// do that, or does not show it at all. It never blocks and may be called on any
// goroutine.
func (n *Notifier) Withdraw(id string) { n.queue.withdraw(id) }

// Serve shows notifications until ctx ends and then returns nil. That nobody
// can show them is no error: it is logged once, and it is tried again with the
// next notification. Notifications with buttons go from the screen at the end,
// because nobody would hear them any more. It must not run twice at once.
func (n *Notifier) Serve(ctx context.Context) error { return n.serve(ctx) }

// complain logs what is in the way of notifications, unless that was the last
// thing logged.
func (n *Notifier) complain(what string, err error) {
	for _, e := range n.queue.questions() {
		go e.Unheard()
	}
	if n.complaint != what {
		n.complaint = what
		n.opts.Log.Warn("notifications are not shown: "+what, "err", err)
	}
}

// shown takes note that a notification was shown.
func (n *Notifier) shown() {
	if n.complaint != "" {
		n.complaint = ""
		n.opts.Log.Info("notifications are shown again")
	}
}
