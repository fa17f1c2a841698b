package tray

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// The desktop library keeps its state for a whole process, so the tests over a
// real bus run the tray in a child of the test binary: snapshots come in as
// lines of JSON (or "style NAME"), orders and log lines go out.
const childEnv = "LAMPLIGHTER_TEST_TRAY_CHILD"

type childSource struct {
	feed monitor.Feed[*monitor.Snapshot]
}

func (s *childSource) Snapshot() *monitor.Snapshot                   { return s.feed.Latest() }
func (s *childSource) Subscribe() (<-chan *monitor.Snapshot, func()) { return s.feed.Subscribe() }

type childActions struct {
	mu     *sync.Mutex
	login  *atomic.Bool
	redraw func()
	quit   func()
}

func (a childActions) say(s string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Println(s)
}

func (a childActions) Do(o view.Order) {
	if o.Verb == view.Login {
		a.login.Store(o.On)
	}
	a.say(orderText(o))
	switch o.Verb {
	case view.Login:
		a.redraw()
	case view.Quit:
		a.quit()
	}
}

// runChild returns the exit status: 0 served and ended, 3 no bus, 4 bus lost.
func runChild() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	source := &childSource{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	var t *Tray
	var icon atomic.Value // its style
	icon.Store(os.Getenv(childEnv))
	read := func() bool {
		if !lines.Scan() {
			return false
		}
		if style, ok := strings.CutPrefix(lines.Text(), "style "); ok {
			icon.Store(style)
			t.Redraw()
			return true
		}
		var snap monitor.Snapshot
		if err := json.Unmarshal(lines.Bytes(), &snap); err != nil {
			fmt.Println("bad snapshot:", err)
			return false
		}
		source.feed.Publish(&snap)
		return true
	}
	if !read() {
		return 2
	}
	actions := childActions{mu: &sync.Mutex{}, login: &atomic.Bool{}, redraw: func() { t.Redraw() }, quit: cancel}
	opts := Options{
		Source: source, Orders: actions, Tell: actions.say,
		Extras: func() Extras {
			return Extras{Version: "1.2.3", Style: icon.Load().(string), AtLogin: actions.login.Load(), CanSwitch: true}
		},
	}
	t = New(opts)
	go func() {
		for read() {
		}
		cancel()
	}()
	err := t.Serve(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrNoBus):
		fmt.Println(err)
		return 3
	case errors.Is(err, ErrBusLost):
		fmt.Println(err)
		return 4
	}
	fmt.Println(err)
	return 1
}
