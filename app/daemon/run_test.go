package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/config"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/app/notify"
	"lamplighter/monitor"
	"lamplighter/monitor/events"
	"lamplighter/monitor/process"
	"lamplighter/monitor/view"
)

func TestDesk(t *testing.T) {
	bare := daemontest.SerenaAt(3, 0, "bare")
	bare.DashboardURL = ""
	var opened []string
	var log apptest.Buffer
	quit := false
	d := &desk{
		parts: api.Parts{
			Source: &daemontest.Model{Current: &monitor.Snapshot{Instances: []*monitor.Instance{new(daemontest.SerenaAt(1, 24282, "a")), new(daemontest.SerenaAt(2, 24283, "b")), new(bare)}}},
			Log:    slog.New(slog.NewTextHandler(&log, nil)),
		},
		open: func(url string) error { opened = append(opened, url); return nil },
		quit: func() { quit = true },
	}
	const url = "http://127.0.0.1:1/dashboard/index.html"
	if got, err := d.Show(); got != url || err != nil {
		t.Errorf("Show: %q, %v", got, err)
	}
	d.Do(view.Order{Verb: view.OpenPage})
	d.Do(view.Order{Ref: view.Ref{ID: "1-10"}, Verb: view.Open})
	if want := []string{url, url, url}; !slices.Equal(opened, want) {
		t.Errorf("opened %q", opened)
	}
	d.Do(view.Order{Ref: view.Ref{ID: "9-90"}, Verb: view.Open})
	d.Do(view.Order{Ref: view.Ref{ID: "3-30"}, Verb: view.Open})
	apptest.Contains(t, log.String(), "has ended meanwhile", "has no dashboard")
	if d.Do(view.Order{Verb: view.Quit}); !quit {
		t.Error("Quit does not quit")
	}
	d.parts.Source = &daemontest.Model{Current: &monitor.Snapshot{}}
	if got, err := d.Show(); got != "" || !errors.Is(err, ErrNoInstance) {
		t.Errorf("Show without instances: %q, %v", got, err)
	}
}

// The page is what an order opens, and shows what has none of its own. What is
// told is without the token.
func TestDeskWithThePage(t *testing.T) {
	bare := daemontest.SerenaAt(3, 0, "bare")
	bare.DashboardURL = ""
	var opened []string
	d := &desk{
		parts: api.Parts{
			Source: &daemontest.Model{Current: &monitor.Snapshot{Instances: []*monitor.Instance{new(daemontest.SerenaAt(1, 24282, "a")), new(bare)}}},
			Log:    slog.New(slog.DiscardHandler),
		},
		web:  &fakePage{url: pageURL, token: "x", watched: true},
		open: func(url string) error { opened = append(opened, url); return nil },
	}
	if got, err := d.Show(); got != pageURL || err != nil {
		t.Errorf("Show: %q, %v", got, err)
	}
	d.Do(view.Order{Verb: view.OpenPage})
	d.Do(view.Order{Ref: view.Ref{ID: "1-10"}, Verb: view.Open})
	d.Do(view.Order{Ref: view.Ref{ID: "3-30"}, Verb: view.Open})
	want := []string{pageURL + "#token=x", pageURL + "#token=x", "http://127.0.0.1:1/dashboard/index.html", pageURL + "#/3-30&token=x"}
	if !slices.Equal(opened, want) {
		t.Errorf("opened %q, want %q", opened, want)
	}
	d.parts.Source = &daemontest.Model{Current: &monitor.Snapshot{}}
	if got, err := d.Show(); got != pageURL || err != nil {
		t.Errorf("Show without instances: %q, %v", got, err)
	}
	opened, d.web = nil, &fakePage{}
	d.parts.Source = &daemontest.Model{Current: &monitor.Snapshot{Instances: []*monitor.Instance{new(daemontest.SerenaAt(1, 24282, "a"))}}}
	if got, err := d.Show(); got == pageURL || err != nil || len(opened) != 1 {
		t.Errorf("Show while it is not served: %q, %v, opened %q", got, err, opened)
	}
}

// A part that crashes is started again, and the log has a line for the first
// time and for each doubling.
func TestSupervisor(t *testing.T) {
	var log apptest.Buffer
	s := newSupervisor(slog.New(slog.NewTextHandler(&log, nil)), time.Minute)
	runs, third := 0, make(chan struct{})
	s.Add(service{"shaky", func(ctx context.Context) error {
		switch runs++; runs {
		case 1:
			return errors.New("first")
		case 2:
			panic("second")
		}
		close(third)
		<-ctx.Done()
		return ctx.Err()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := s.ServeBackground(ctx)
	select {
	case <-third:
	case <-time.After(time.Minute):
		t.Error("not started again")
	}
	cancel()
	<-ended
	apptest.Contains(t, log.String(), "part=shaky why=first count=1", `part=shaky why="panic: second`, "count=2 stack=")
}

func TestFailuresAreLoggedSparingly(t *testing.T) {
	var log apptest.Buffer
	f := failures{log: slog.New(slog.NewTextHandler(&log, nil)), count: map[string]int{}}
	for range 100 {
		f.failed("x", "why")
	}
	if n := strings.Count(log.String(), "\n"); n != 7 {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	places := config.Places{StateDir: filepath.Join(dir, "state"), LockFallback: filepath.Join(dir, "run", "s.lock")}
	first, err := TakeLock(places, true)
	if err != nil {
		t.Fatal(err)
	}
	_, err = TakeLock(places, true)
	var locked lockedError
	if !errors.Is(err, errLocked) || !errors.As(err, &locked) || locked.path != first.Path() {
		t.Errorf("a second time: %v", err)
	}
	// Windows lets nobody write into a locked file; Wine does.
	if got := readPID(first.Path()); got != os.Getpid() && (got != 0 || runtime.GOOS != "windows") {
		t.Errorf("held by %d", got)
	}
	fallback, err := TakeLock(places, false)
	if err != nil || fallback.Path() != places.LockFallback {
		t.Errorf("%v, %v", fallback, err)
	}
	if err := errors.Join(first.Close(), fallback.Close()); err != nil {
		t.Fatal(err)
	}
	if again, err := TakeLock(places, true); err != nil {
		t.Errorf("after the end: %v", err)
	} else if err := again.Close(); err != nil {
		t.Error(err)
	}
	for _, nowhere := range []config.Places{{}, {StateDir: file, LockFallback: filepath.Join(file, "x")}} {
		if _, err := TakeLock(nowhere, true); err == nil || errors.Is(err, errLocked) {
			t.Errorf("%+v: %v", nowhere, err)
		}
	}
}

// A pid in the lock file is named only when it is a lamplighter's.
func TestLockHolder(t *testing.T) {
	const pid = 4711
	path := filepath.Join(t.TempDir(), lockFile)
	for name, test := range map[string]struct {
		text string
		exe  string
		err  error
		want int
	}{
		"a lamplighter":                 {"4711\n", "/usr/bin/lamplighter", nil, pid},
		"replaced meanwhile":            {"4711\n", "/usr/bin/lamplighter (deleted)", nil, pid},
		"this program, another name":    {"4711\n", "/opt/lamp", nil, pid},
		"another program":               {"4711\n", "/usr/bin/mail", nil, 0},
		"another user's":                {"4711\n", "", nil, 0},
		"ended":                         {"4711\n", "", process.ErrGone, 0},
		"our own, from an earlier life": {strconv.Itoa(os.Getpid()), "/opt/lamp", nil, 0},
		"not a pid":                     {"-4711", "/opt/lamp", nil, 0},
		"nothing":                       {"", "/opt/lamp", nil, 0},
	} {
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := &Program{Self: "/opt/lamp", Process: func(int) (process.Info, error) {
			return process.Info{Exe: test.exe}, test.err
		}}
		if got := p.LockHolder(path); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// On a full disk the user is told once, and may go on.
func TestLogThatCannotBeWritten(t *testing.T) {
	full := errors.New("no space left on device")
	var told []error
	w := &watchedWriter{Writer: failing{full}, failed: func(err error) { told = append(told, err) }}
	log := slog.New(slog.NewTextHandler(w, nil))
	log.Info("one")
	log.Info("two")
	if len(told) != 1 || !errors.Is(told[0], full) {
		t.Errorf("told %v", told)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestLifecycle(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	for hours := range 4 {
		e := monitor.Event{At: now.Add(time.Duration(hours-3) * time.Hour), Kind: monitor.EventStopped, ID: "7-70", PID: 7, Label: "7 - alpha"}
		if _, err := events.Write(dir, e); err != nil {
			t.Fatal(err)
		}
	}
	log := lifecycle{dir}
	if list, err := log.Events(time.Now().Add(-90 * time.Minute)); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := (lifecycle{}).Events(daemontest.Noon); !errors.Is(err, ErrNoStateDir) {
		t.Error(err)
	}
}

// The menu ends what is idle or orphaned when it is chosen, and is still just
// before its end.
func TestMenuStopsAll(t *testing.T) {
	for what, want := range map[string]string{"idle": "1-10", "orphans": "6-60"} {
		ladder := &daemontest.Ladder{}
		d := &desk{parts: api.Parts{
			Source:   &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: daemontest.List(daemontest.Watched()...)}},
			Policies: daemontest.Selecting{}, Stop: ladder, Log: slog.New(slog.DiscardHandler),
		}}
		d.Do(view.Order{Verb: view.StopAll, What: what})
		if got := strings.Join(ladder.IDs, " "); got != want {
			t.Fatalf("%s: ended %q", what, got)
		}
		o := ladder.Orders[0]
		if o.Confirm == nil || o.Automatic || o.Force {
			t.Fatalf("%s: ordered %+v", what, o)
		}
		if err := o.Confirm(t.Context()); err == nil || err.Error() != "asked whether "+want+" is of "+what {
			t.Error(err)
		}
		d.Do(view.Order{Ref: view.Ref{ID: "2-20"}, Verb: view.Stop})
		if o := ladder.Orders[1]; o.Confirm != nil {
			t.Error("one that the user names needs a reason")
		}
	}
}

// The menu asks before it ends what a client holds: by a notification, or the page.
func TestStopInTheMenuAsks(t *testing.T) {
	held, free := daemontest.SerenaAt(1, 24282, "held"), daemontest.SerenaAt(2, 24283, "free")
	held.Client, held.Recognised = &monitor.Client{Identity: monitor.Identity{PID: 9, Start: 90}, Name: "Codex"}, true
	free.Client = nil
	for name, c := range map[string]struct {
		server, answer string
		notifies, page bool
		ended, opened  int
	}{
		"nobody holds it":  {"2-20", "", true, true, 1, 0},
		"stop":             {"1-10", keyStop, true, true, 1, 0},
		"cancel":           {"1-10", keyCancel, true, true, 0, 0},
		"no buttons":       {"1-10", "unheard", true, true, 0, 1},
		"no notifications": {"1-10", "", false, true, 0, 1},
		"nor a page":       {"1-10", "", false, false, 1, 0},
	} {
		ladder, opened := &daemontest.Ladder{}, 0
		d := &desk{
			parts: api.Parts{
				Source: &daemontest.Model{Current: &monitor.Snapshot{Instances: []*monitor.Instance{new(held), new(free)}}}, Stop: ladder, Log: slog.New(slog.DiscardHandler),
			},
			open: func(string) error { opened++; return nil },
			ask: func(n notify.Notification, chosen func(string)) bool {
				switch {
				case !c.notifies:
				case n.Summary != "Stop 1 - held?" || !strings.Contains(n.Body, "Codex, loses it"):
					t.Errorf("%+v", n)
				case c.answer == "unheard":
					n.Unheard()
				default:
					chosen(c.answer)
				}
				return c.notifies
			},
		}
		if c.page {
			d.web = &fakePage{url: pageURL}
		}
		d.Do(view.Order{Ref: view.Ref{ID: view.ID(c.server)}, Verb: view.Stop})
		if len(ladder.IDs) != c.ended || opened != c.opened {
			t.Errorf("%s: ended %q, opened %d", name, ladder.IDs, opened)
		}
	}
}
