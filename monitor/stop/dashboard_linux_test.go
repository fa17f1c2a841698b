package stop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

func TestAskedToEnd(t *testing.T) {
	for mood, want := range map[string]string{
		"well":     "stop_ordered asked ended",
		"starting": "stop_ordered asked ended",
		"old":      "stop_ordered asked ended",
		"deaf":     "stop_ordered asked terminated ended",
	} {
		g := newGroup(t)
		in, _ := g.server(mood)
		limits := willing()
		if mood == "deaf" {
			limits.Ask = quick().Root
		}
		if r := stopped(t, g.ladder(Options{Limits: limits}), in, Order{}); kinds(r.Steps) != want {
			t.Errorf("%s: %s", mood, kinds(r.Steps))
		}
	}
}

// TestRefusals are those of a policy, which force does not help, and those of a user,
// which it overcomes.
func TestRefusals(t *testing.T) {
	red := func(in *monitor.Instance, _ *Ladder) { in.State = monitor.StateZombie }
	for _, c := range []struct {
		name, mood   string
		change       func(*monitor.Instance, *Ladder)
		policy, user error  // nil: a user may
		says         string // what he is told
	}{
		{"busy", "busy", nil, ErrBusy, ErrBusy, "is at work on find_symbol"},
		{"busy, though red", "busy", red, ErrBusy, ErrBusy, "at work"},
		{"busy, orphaned", "busy", func(in *monitor.Instance, _ *Ladder) { orphan(in) }, ErrBusy, ErrBusy, "at work"},
		{"does not answer", "mute", nil, ErrUnknown, ErrUnknown, "does not say whether it is at work"},
		{"does not answer, and its language server is dead", "mute", func(in *monitor.Instance, _ *Ladder) {
			in.State, in.Cause = monitor.StateZombie, monitor.CauseLanguageServer
		}, ErrUnknown, ErrUnknown, "does not say whether it is at work"},
		{"does not answer, red", "mute", red, ErrUnknown, nil, ""}, // that is what the order is for
		{"suspected", "mute", func(in *monitor.Instance, _ *Ladder) {
			in.Evidence = monitor.Evidence{Suspected: true, ClientGone: true}
		}, ErrUnknown, ErrUnknown, "does not say whether it is at work"},
		{"orphaned, though its client was not seen to end", "mute", func(in *monitor.Instance, _ *Ladder) {
			orphan(in)
			in.Evidence.ClientGone = false
		}, ErrUnknown, nil, ""},
		{"has no queue", "old", nil, ErrUnknown, nil, ""},
		{"has no dashboard", "well", func(in *monitor.Instance, _ *Ladder) { in.Port = 0 }, ErrUnknown, nil, ""},
		{"another kind", "well", func(in *monitor.Instance, _ *Ladder) { in.Kind = "test-server" }, ErrUnknown, nil, ""},
		{"pinned", "well", func(in *monitor.Instance, _ *Ladder) { in.Pinned = true }, ErrPinned, ErrPinned, "is pinned"},
		{"perhaps pinned", "well", func(_ *monitor.Instance, l *Ladder) {
			l.o.Pinned = func(monitor.Identity) (bool, error) { return false, errors.New("no file") }
		}, ErrUnknown, ErrUnknown, "may be pinned"},
		{"a service", "well", func(in *monitor.Instance, l *Ladder) {
			orphan(in)
			serviced(l, "serena.service", nil)
		}, ErrService, ErrService, "serena.service"},
		{"perhaps a service", "well", func(in *monitor.Instance, l *Ladder) {
			orphan(in)
			serviced(l, "", errors.New("no bus"))
		}, ErrUnknown, ErrUnknown, "no bus"},
		{"in a container", "well", func(_ *monitor.Instance, l *Ladder) {
			alter(l).service = func(context.Context) (string, bool, error) { return "", true, nil }
		}, ErrContained, ErrContained, "in a container"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGroup(t)
			in, _ := g.server(c.mood)
			rec := &recorder{}
			l := g.ladder(Options{Limits: quick(), Record: rec.record})
			if c.change != nil {
				c.change(&in, l)
			}
			for _, force := range []bool{false, true} {
				leftAlone(t, l, rec, in, Order{Force: force}, c.policy)
			}
			if c.user == nil {
				stopped(t, l, in, Order{})
				return
			}
			r, err := l.Stop(t.Context(), in, Order{})
			var refusal *Refusal
			if !errors.As(err, &refusal) || !errors.Is(err, c.user) || !refusal.Forceable() || r.Outcome != Refused {
				t.Fatalf("%+v, %v", r, err)
			}
			if !strings.HasPrefix(err.Error(), "Not ended: "+in.Label()+" ") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %q", err)
			}
			if !lives(in.Identity) {
				t.Error("it was ended")
			}
			if l.o.Pinned != nil {
				l.o.Pinned = func(monitor.Identity) (bool, error) { panic("the disk may hang, and force does not need it") }
			}
			stopped(t, l, in, Order{Force: true})
		})
	}
}

func serviced(l *Ladder, unit string, err error) {
	alter(l).service = func(context.Context) (string, bool, error) { return unit, false, err }
}

// TestFactsTakeTheirTime: a service manager that never answers is waited for
// within the limit only.
func TestFactsTakeTheirTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	g := newGroup(t)
	idle, _ := g.server("well")
	busy, _ := g.server("busy")
	limits := quick()
	limits.Check = 200 * time.Millisecond
	l := g.ladder(Options{Limits: limits})
	alter(l).service = func(ctx context.Context) (string, bool, error) {
		<-ctx.Done()
		return "", false, ctx.Err()
	}
	if r, err := l.Stop(ctx, idle, Order{}); !errors.Is(err, ErrUnknown) || r.Outcome != Refused {
		t.Errorf("%+v, %v", r, err)
	}
	// What was found out before counts.
	if r, err := l.Stop(ctx, busy, Order{}); !errors.Is(err, ErrBusy) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestSuspendedServersNeedNoForce, nor are they asked.
func TestSuspendedServersNeedNoForce(t *testing.T) {
	g := newGroup(t)
	suspended, _ := g.server("well")
	signalTo(t, suspended.Identity.PID, syscall.SIGSTOP)
	waitForState(t, suspended.Identity.PID, process.Stopped)
	if r := stopped(t, g.ladder(Options{Limits: quick()}), suspended, Order{}); strings.Contains(kinds(r.Steps), "asked") {
		t.Errorf("a suspended server was asked: %s", kinds(r.Steps))
	}
}

func TestInUseByAnotherProgram(t *testing.T) {
	g := newGroup(t)
	in, mcp := g.server("well")
	rec := &recorder{}
	l := g.ladder(Options{Limits: quick(), Record: rec.record})

	// Ourselves, and whoever looks at the dashboard, is no use.
	for _, port := range []int{mcp, in.Port} {
		c, err := net.Dial("tcp4", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	g.helper("connect " + strconv.Itoa(in.Port))
	if r, err := l.Stop(t.Context(), in, Order{DryRun: true}); err != nil {
		t.Fatalf("%+v, %v", r, err)
	}

	client, _ := g.helper("connect " + strconv.Itoa(mcp))
	leftAlone(t, l, rec, in, Order{Force: true}, ErrInUse)
	_, err := l.Stop(t.Context(), in, Order{})
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), fmt.Sprintf("(%d)", client.PID)) {
		t.Errorf("%v", err)
	}
	stopped(t, l, in, Order{Force: true})
	if !lives(client) {
		t.Error("the client was ended")
	}
}

// TestOtherServersInUse: the port that an instance of another kind has is where
// its clients are, also when a process below it listens there.
func TestOtherServersInUse(t *testing.T) {
	g := newGroup(t)
	direct, mcp := g.server("well")
	below, deep := g.server("below")
	for port, in := range map[int]monitor.Instance{mcp: direct, deep: below} {
		in.Kind, in.Port, in.MCPURL = "test-server", port, ""
		l := g.ladder(Options{Limits: quick()})
		if r, err := l.Stop(t.Context(), in, Order{DryRun: true}); err != nil {
			t.Errorf("nobody uses it: %+v, %v", r, err)
		}
		client, _ := g.helper("connect " + strconv.Itoa(port))
		if r, err := l.Stop(t.Context(), in, Order{}); !errors.Is(err, ErrInUse) || !strings.Contains(r.Detail, fmt.Sprintf("(%d)", client.PID)) {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// TestAnotherAddressIsNotAsked: the port is the tree's, at an address where
// nobody asks; at the one where it would be asked it is another's.
func TestAnotherAddressIsNotAsked(t *testing.T) {
	g := newGroup(t)
	in, _ := g.server("elsewhere")
	var asked atomic.Int32
	at, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(in.Port))
	if err != nil {
		t.Fatal(err)
	}
	other := &httptest.Server{Listener: at, Config: &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) })}}
	other.Start()
	defer other.Close()
	l := g.ladder(Options{Limits: willing()})
	if _, err := l.Stop(t.Context(), in, Order{}); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
	// It moves there after it was looked at.
	looks := 0
	alter(l).listeners = func(pids []int) ([]process.Listener, error) {
		found, err := process.Local().Listeners(pids)
		if looks++; looks == 1 {
			found = []process.Listener{{PID: in.Identity.PID, Addr: netip.MustParseAddrPort("127.0.0.1:" + strconv.Itoa(in.Port))}}
		}
		return found, err
	}
	l.o.Dashboards = idle{l.o.Dashboards}
	if r := stopped(t, l, in, Order{}); kinds(r.Steps) != "stop_ordered asked terminated ended" {
		t.Errorf("%s", kinds(r.Steps))
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the other server was asked %d times", n)
	}
}

// idle are dashboards that all say so.
type idle struct{ Dashboards }

func (idle) Queue(context.Context, int) ([]serena.Task, error) { return nil, nil }
