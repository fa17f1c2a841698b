package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// It has ended although another one, which systemd has started for a client, holds
// the lock and may not answer yet.
func TestHasEnded(t *testing.T) {
	id := monitor.Identity{PID: 4711, Start: 7}
	for name, test := range map[string]struct {
		found   running
		process monitor.Identity // that has this pid now, zero for none
		answers int              // pid, 0 for none
		free    bool             // the lock
		want    bool
	}{
		"it answers":                       {found: running{pid: 4711, id: id}, process: id, answers: 4711, free: true},
		"another one answers":              {found: running{pid: 4711}, answers: 4712, want: true},
		"another one begins":               {found: running{pid: 4711, id: id}, want: true},
		"another one begins, its pid used": {found: running{pid: 4711, id: id}, process: monitor.Identity{PID: 4711, Start: 8}, want: true},
		"it is ending":                     {found: running{pid: 4711, id: id}, process: id},
		"it has let go of the lock":        {found: running{pid: 4711, id: id}, process: id, free: true, want: true},
		"nobody knows":                     {found: running{pid: 4711}},
		"nobody has the lock":              {found: running{pid: 4711}, free: true, want: true},
	} {
		m := newMachine(t)
		m.process = func(int) (process.Info, error) {
			if test.process == (monitor.Identity{}) {
				return process.Info{}, process.ErrGone
			}
			return process.Info{Identity: test.process}, nil
		}
		lock, err := takeLock(m.places(), true)
		if err != nil {
			t.Fatal(err)
		}
		if test.free {
			lock.Close()
		}
		if test.answers != 0 {
			(&fakeBackground{pid: test.answers}).serve(t, m.desktop)
		}
		if got := m.hasEnded(t.Context(), &test.found); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
		if err := m.program.ended(t.Context(), &test.found, time.Nanosecond); (err == nil) != test.want {
			t.Errorf("%s: %v", name, err)
		}
		lock.Close()
	}
}

// Who has taken the place of the one that was found is ended in its stead.
func TestEndOfAnother(t *testing.T) {
	m := newMachine(t)
	m.next.serve(t, m.desktop)
	if err := m.end(t.Context(), &running{pid: 4711, version: "1.2.2"}, true); err != nil || !slices.Equal(m.next.quits, []bool{true}) {
		t.Errorf("%v, quits %v", err, m.next.quits)
	}
	if !m.hasEnded(t.Context(), &running{pid: 4712}) {
		t.Error("it goes on")
	}
}

// A lock that cannot be tried is not a free one.
func TestHeldOf(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) lockPlace { return lockPlace{filepath.Join(dir, name), "X"} }
	places := []lockPlace{at("none"), at("directory"), at("link"), at("first"), at("second")}
	for _, err := range []error{
		os.Mkdir(places[1].path, 0o700), os.Symlink(dir, places[2].path), os.WriteFile(places[3].path, nil, 0o600), os.WriteFile(places[4].path, nil, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	gone := &fs.PathError{Op: "open", Path: places[3].path, Err: syscall.ENOENT}
	for name, test := range map[string]struct {
		free bool // the first one
		err  error
		held bool // the second one
		want string
		told string
	}{
		"free":              {free: true},
		"held":              {want: places[3].path},
		"the second":        {free: true, held: true, want: places[4].path},
		"gone meanwhile":    {err: gone, held: true, want: places[4].path},
		"no locks there":    {err: syscall.ENOLCK, told: places[3].path + ": no locks available; quit it, remove that file, and do this again"},
		"it cannot be read": {err: &fs.PathError{Op: "open", Path: places[3].path, Err: syscall.EACCES}, told: places[3].path + ": permission denied; quit it"},
	} {
		got, err := heldOf(places, func(path string) (bool, error) {
			switch path {
			case places[3].path:
				return test.free, test.err
			case places[4].path:
				return !test.held, nil
			}
			t.Errorf("%s: tried %s", name, path)
			return false, nil
		})
		if got != test.want || (err != nil) != (test.told != "") || err != nil && !strings.Contains(err.Error(), test.told) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
