package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/monitor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deadline is how long a test waits for what has to happen.
const deadline = 2 * time.Minute

// news is what a watcher told.
type news struct {
	settings Settings
	err      error
}

// watched is a Watcher whose Serve runs until the test ends.
type watched struct {
	*Watcher
	t    *testing.T
	news chan news
}

// at once is the quiet time of tests that do not look into it.
func atOnce(time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}

func newWatched(t *testing.T, path string, required bool) *watched {
	w := &watched{t: t, news: make(chan news, 1000)}
	w.Watcher = NewWatcher(path, required, func(s Settings, err error) { w.news <- news{s, err} })
	w.after = atOnce
	return w
}

// serve runs Serve and returns when it watches.
func (w *watched) serve() {
	w.t.Helper()
	ready := monitor.NewBell()
	inner := w.Watcher.read
	w.Watcher.read = func(path string) ([]byte, error) {
		ready.Ring()
		return inner(path)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Serve(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			w.t.Errorf("Serve ended with %v", err)
		}
	})
	select {
	case <-ready:
	case <-time.After(deadline):
		w.t.Fatal("the first look did not come")
	}
}

// wants waits for news that the settings have this icon.
func (w *watched) wants(icon TrayIcon) {
	w.t.Helper()
	limit := time.After(deadline)
	for {
		select {
		case n := <-w.news:
			if n.err == nil && n.settings.TrayIcon == icon {
				return
			}
			w.t.Logf("on the way: %+v", n)
		case <-limit:
			w.t.Fatalf("no news of %q", icon)
		}
	}
}

// wantsProblem waits for news of a problem, with settings of this icon.
func (w *watched) wantsProblem(text string, icon TrayIcon) {
	w.t.Helper()
	limit := time.After(deadline)
	for {
		select {
		case n := <-w.news:
			var file *FileError
			if errors.As(n.err, &file) && strings.Contains(n.err.Error(), text) {
				if n.settings.TrayIcon != icon {
					w.t.Errorf("with the problem came %q, want %q", n.settings.TrayIcon, icon)
				}
				return
			}
			w.t.Logf("on the way: %+v", n)
		case <-limit:
			w.t.Fatalf("no news of a problem with %q", text)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replace writes beside the file and renames, as most editors do.
func replace(t *testing.T, path, text string) {
	t.Helper()
	write(t, path+".new", text)
	whenUnread(t, func() error { return os.Rename(path+".new", path) })
}

func remove(t *testing.T, path string) {
	t.Helper()
	whenUnread(t, func() error { return os.RemoveAll(path) })
}

// whenUnread does what Windows refuses while a file is read. There an editor tries
// again, too.
func whenUnread(t *testing.T, do func() error) {
	t.Helper()
	for limit := time.Now().Add(deadline); ; {
		err := do()
		if err == nil {
			return
		}
		if runtime.GOOS != "windows" || time.Now().After(limit) {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestReload(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	write(t, path, "tray_icon: dark\n")
	w := newWatched(t, path, false)
	if s, err := w.Load(); err != nil || s.TrayIcon != TrayIconDark {
		t.Fatal(s, err)
	}
	w.serve()

	write(t, path, "tray_icon: light\n") // in place
	w.wants(TrayIconLight)

	replace(t, path, "tray_icon: hidden\n")
	w.wants(TrayIconHidden)

	replace(t, path, "tray_icn: dark\n")
	w.wantsProblem(`did you mean "tray_icon"`, TrayIconHidden)
	replace(t, path, "tray_icon: hidden\n") // mended: the same settings are news
	w.wants(TrayIconHidden)

	remove(t, path)
	w.wants(TrayIconAuto)
	write(t, path, "tray_icon: dark\n")
	w.wants(TrayIconDark)

	remove(t, path)
	w.wants(TrayIconAuto)
	must(t, os.Mkdir(path, 0o700))
	w.wantsProblem("is a directory", TrayIconAuto)
	remove(t, path)
	write(t, path, "tray_icon: light\n")
	w.wants(TrayIconLight)

	remove(t, dir) // and all above it
	w.wants(TrayIconAuto)
	write(t, path, "tray_icon: dark\n")
	w.wants(TrayIconDark)
}

func TestReloadOfANamedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "named.yaml")
	write(t, path, "tray_icon: dark\n")
	w := newWatched(t, path, true)
	if _, err := w.Load(); err != nil {
		t.Fatal(err)
	}
	w.serve()
	remove(t, path)
	w.wantsProblem("no such file", TrayIconDark)
	write(t, path, "tray_icon: dark\n")
	w.wants(TrayIconDark)
}

// What changes between Load and Serve is noticed, and nothing else is news.
func TestReloadTellsOnlyWhatIsNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, "tray_icon: dark\n")
	w := newWatched(t, path, false)
	if _, err := w.Load(); err != nil {
		t.Fatal(err)
	}
	write(t, path, "tray_icon: light\n")
	w.serve()
	w.wants(TrayIconLight)
	write(t, path, "# a comment\ntray_icon: light\n")
	write(t, filepath.Join(filepath.Dir(path), "other.yaml"), "tray_icon: dark\n")
	write(t, path, "tray_icon: hidden\n")
	n := <-w.news
	if n.err != nil || n.settings.TrayIcon != TrayIconHidden && n.settings.TrayIcon != TrayIconAuto {
		t.Errorf("told %+v", n) // auto: seen while it was empty
	}
	if n.settings.TrayIcon == TrayIconAuto {
		w.wants(TrayIconHidden)
	}
}

func TestReloadWhereNothingIsYet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "lamplighter", "config.yaml")
	w := newWatched(t, path, false)
	if _, err := w.Load(); err != nil {
		t.Fatal(err)
	}
	w.serve()
	write(t, path, "tray_icon: dark\n")
	w.wants(TrayIconDark)
	write(t, path, "tray_icon: light\n")
	w.wants(TrayIconLight)
}

// A file is read when its writer has had time to finish; one that takes longer
// is not taken as broken for good.
func TestReloadOfAFileInTheMaking(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, "tray_icon: dark\n")
	w := newWatched(t, path, false)
	if _, err := w.Load(); err != nil {
		t.Fatal(err)
	}
	quiet, asked, seen := make(chan time.Time), make(chan struct{}, 100), make(chan struct{}, 1000)
	w.after = func(time.Duration) <-chan time.Time { asked <- struct{}{}; return quiet }
	w.seen = func() { seen <- struct{}{} }
	looked := make(chan struct{}, 100)
	w.read = func(path string) ([]byte, error) {
		defer func() { looked <- struct{}{} }()
		return readSettings(path)
	}
	w.serve()
	<-looked // at the start, what was changed before

	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	must(t, err)
	defer f.Close()
	<-asked
	<-seen
	_, err = f.WriteString("tray_icon: [")
	must(t, err)
	<-seen
	select {
	case n := <-w.news:
		t.Fatalf("told of a file in the making: %+v", n)
	default:
	}
	quiet <- time.Time{}
	w.wantsProblem("sequence", TrayIconDark)

	_, err = f.WriteAt([]byte("tray_icon: light\n"), 0)
	must(t, err)
	<-asked
	quiet <- time.Time{}
	w.wants(TrayIconLight)
}

func TestWatcherWithoutAPlace(t *testing.T) {
	w := newWatched(t, "", false)
	if s, err := w.Load(); err != nil || s.TrayIcon != TrayIconAuto {
		t.Error(s, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.Serve(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
