package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"syscall"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/loopback"
	"lamplighter/monitor/process"
)

// morePorts is how many ports after the wanted one are tried.
const morePorts = 20

// lookEvery is how often is looked who has a port that is tried more often. A look reads
// what all processes of ours have open: with 1,000 of them once a minute was a fifth of
// all that Lamplighter used while nothing happened.
const lookEvery = 10 * time.Minute

// open takes the wanted port, or the next one that can be had unless the same is
// elsewhere, and says which and why.
func (w *Web) open(ctx context.Context, wanted int) ([]net.Listener, error) {
	l, err := w.listen(ctx, wanted)
	if err == nil {
		if w.told != "" {
			w.options.Log.Info("the port can be had again", "port", wanted)
		}
		w.told, w.why = "", ""
		w.options.Warn()
		return l, nil
	}
	if w.options.Instead != nil {
		// To try costs nothing, to look who has it does.
		if w.why == "" || time.Since(w.lookedAt) > lookEvery {
			w.why, w.lookedAt = unusable(wanted, err), time.Now()
		}
		// Where the same is is known when the other one has come up, or could
		// not, which calls us back.
		if ctx.Err() == nil && (w.options.Like == nil || w.options.Like.settled()) {
			w.warn("%s; %s", w.why, w.options.Instead())
		}
		return nil, err
	}
	why := unusable(wanted, err)
	for port := wanted + 1; port <= min(wanted+morePorts, math.MaxUint16); port++ {
		l, err := w.listen(ctx, port)
		if err != nil {
			continue
		}
		w.warn("%s; %s is at http://%s%s", why, w.options.Serves, l[0].Addr(), w.options.Root)
		return l, nil
	}
	if ctx.Err() == nil {
		w.warn("%s, and none of the next %d can be had; %s is not served: set web_dashboard_global_port to another port", why, morePorts, w.options.Serves)
	}
	return nil, err
}

// wayBack ticks while the port is a substitute for the wanted one. There is no
// timer otherwise.
func (w *Web) wayBack(port int, want place) (tick <-chan time.Time, stop func()) {
	if want.port == 0 || port == want.port {
		return nil, func() {}
	}
	ticker := time.NewTicker(w.limits.Retry)
	return ticker.C, ticker.Stop
}

// goBack takes the wanted port if it has become free and nobody would lose a
// page that is open; nil otherwise.
func (w *Web) goBack(ctx context.Context, wanted int) []net.Listener {
	if w.Watched() {
		return nil
	}
	l, err := w.listen(ctx, wanted)
	if err != nil {
		return nil
	}
	w.told = ""
	w.options.Warn()
	w.options.Log.Info("the global dashboard's own port is free again", "port", wanted)
	return l
}

func (w *Web) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text != w.told {
		w.told = text
		w.options.Log.Warn(text)
	}
	w.options.Warn(text)
}

// unusable says why a port cannot be had, by whom it is taken if that is so.
func unusable(port int, err error) string {
	var errno syscall.Errno
	switch {
	case loopback.Taken(err):
		return fmt.Sprintf("port %d was taken by %s", port, holder(port))
	case errors.As(err, &errno):
		err = errno
	}
	return fmt.Sprintf("port %d cannot be used (%v)", port, err)
}

// holder names the program of ours that listens on a port of the loopback
// interface. It reads the whole process table.
func holder(port int) string {
	table, _ := process.NewTable().Pass() // what cannot be read has no port
	listeners, err := process.ListenersOf(table)
	if p, found := process.Holder(port, listeners, table); found && err == nil {
		return fmt.Sprintf("%s (pid %d)", monitor.Shorten(monitor.Clean(p.Name), 40), p.PID)
	}
	return "another program, perhaps another user's"
}
