package registry

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/monitor"
	"lamplighter/monitor/plainfile"
)

// open opens the registry of a folder in a world of its own: everybody lives,
// and the time is now.
func open(t *testing.T, dir string) *File {
	t.Helper()
	f := Open(dir, Options{Notes: filepath.Join(t.TempDir(), "notes.json")})
	f.now, f.look = func() time.Time { return now }, everybody
	return f
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	file, err := plainfile.OpenShared(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// names are what lies in a folder, the lock aside.
func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range list {
		if e.Name() != lockName {
			all = append(all, e.Name())
		}
	}
	return strings.Join(all, " ")
}

// put writes the entry of one instance, or corrects it.
func put(ctx context.Context, f *File, r registration) error {
	_, err := f.sync(ctx, []registration{r}, map[int]bool{r.PID: true})
	return err
}

func register(t *testing.T, f *File, pid int) registration {
	t.Helper()
	r := reg(pid, 24282+pid)
	if err := put(t.Context(), f, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSync follows two instances from the first to the end of one.
func TestSync(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "not", "there")
	f := open(t, dir)
	if list, err := f.List(ctx); err != nil || list != nil {
		t.Errorf("list of nothing: %v, %v", list, err)
	}
	if _, err := f.sync(ctx, nil, nil); err != nil {
		t.Error(err)
	}
	if exists(dir) {
		t.Fatal("a directory was made for nothing")
	}

	r := register(t, f, 7)
	register(t, f, 8)
	if got, want := compact(t, []byte(content(t, f.path))), `{"instances":{"7":`+string(reg(7, 24289).record())+`,"8":`+string(reg(8, 24290).record())+`}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if info, err := os.Stat(f.path); err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	r.ProjectName, r.ProjectRoot, r.State = "", "", monitor.StateNoProject
	r.LastHeartbeat = now.Add(touchAfter)
	if err := put(ctx, f, r); err != nil {
		t.Error(err)
	}
	list, err := f.List(ctx)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	if e := list[0]; e.ProjectName != "" || e.ProjectRoot != "" || e.State != monitor.StateNoProject || !e.LastHeartbeat.Equal(r.LastHeartbeat) {
		t.Errorf("%+v", e)
	}
	f.look = func(pid int) (alive, bool) {
		if pid == 7 {
			return alive{}, false
		}
		return everybody(pid)
	}
	for range 2 {
		if _, err := f.sync(ctx, nil, nil); err != nil {
			t.Error(err)
		}
	}
	if got, want := compact(t, []byte(content(t, f.path))), `{"instances":{"8":`+string(reg(8, 24290).record())+`}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := names(t, dir); got != fileName {
		t.Errorf("left behind: %s", got)
	}
}

func TestTaken(t *testing.T) {
	f := open(t, t.TempDir())
	theirs := `{"instances":{"7":{"pid":7,"port":1,"started_at":` + string(literal(seconds(now))) + `,"last_heartbeat":` + string(literal(seconds(now))) + `}}}`
	write(t, f.path, theirs)
	register(t, f, 7)
	if got := content(t, f.path); got != theirs {
		t.Errorf("written to: %s", got)
	}
}

// TestWritesOnlyChanges: a file that is right stays the same file.
func TestWritesOnlyChanges(t *testing.T) {
	f := open(t, t.TempDir())
	r := register(t, f, 7)
	before, err := os.Stat(f.path)
	if err != nil {
		t.Fatal(err)
	}
	register(t, f, 7)
	if _, err := f.sync(t.Context(), []registration{r}, map[int]bool{7: true}); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(f.path)
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("written without a change: %v", err)
	}
}

func TestSetAside(t *testing.T) {
	large := strings.Repeat(" ", 50<<20)
	for name, data := range corrupt {
		t.Run(name, func(t *testing.T) { setsAside(t, data) })
	}
	t.Run("50 MB", func(t *testing.T) { setsAside(t, large) })
}

func setsAside(t *testing.T, data string) {
	f := open(t, t.TempDir())
	write(t, f.path, data)
	if list, err := f.List(t.Context()); !errors.Is(err, errCorrupt) {
		t.Fatalf("listed: %v, %v", list, err)
	}
	if _, err := f.sync(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if got := names(t, f.dir()); got != fileName {
		t.Fatalf("set aside although there is nothing to write: %s", got)
	}
	register(t, f, 7)
	want := "instances.json.corrupt-20260921T141320.000Z"
	if got := names(t, f.dir()); got != fileName+" "+want {
		t.Fatalf("kept %s", got)
	}
	if content(t, filepath.Join(f.dir(), want)) != data {
		t.Error("what was set aside is not what was there")
	}
	if list, err := f.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestSetAsideKeepsTheFirst(t *testing.T) {
	f := open(t, t.TempDir())
	for i := range maxAside + 3 {
		write(t, f.path, strings.Repeat("x", i+1))
		register(t, f, 7)
	}
	kept := strings.Fields(names(t, f.dir()))
	if len(kept) != maxAside+1 {
		t.Fatalf("%q", kept)
	}
	sizes := map[int]bool{}
	for _, name := range kept[1:] {
		sizes[len(content(t, filepath.Join(f.dir(), name)))] = true
	}
	for _, want := range []int{1, 2, 3, 4, maxAside + 3} {
		if !sizes[want] {
			t.Errorf("of the sizes, %v, %d is missing", sizes, want)
		}
	}
}

func TestSetAsideFolder(t *testing.T) {
	f := open(t, t.TempDir())
	if err := os.MkdirAll(filepath.Join(f.path, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	register(t, f, 7)
	if kept := strings.Fields(names(t, f.dir())); len(kept) != 2 || !exists(filepath.Join(f.dir(), kept[1], "inside")) {
		t.Errorf("%q", kept)
	}
}

// TestFullDisk: what cannot be written leaves the old file as it was, and
// nothing beside it.
func TestFullDisk(t *testing.T) {
	for name, fault := range map[string]func(*os.File, []byte) error{
		"nothing written": func(*os.File, []byte) error { return syscall.ENOSPC },
		"half written": func(file *os.File, data []byte) error {
			_, err := file.Write(data[:len(data)/2])
			return errors.Join(err, syscall.ENOSPC)
		},
	} {
		f := open(t, t.TempDir())
		register(t, f, 7)
		before := content(t, f.path)
		f.write = fault
		r := reg(8, 24290)
		if err := put(t.Context(), f, r); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
		if got := names(t, f.dir()); got != fileName || content(t, f.path) != before {
			t.Errorf("%s: %s: %s", name, got, content(t, f.path))
		}
		f.write = writeSynced
		register(t, f, 8)
	}
}

// TestLocked: a lock that is held is waited for, not for ever, and the same
// operation works when it is free.
func TestLocked(t *testing.T) {
	f := open(t, t.TempDir())
	f.limit = 30 * time.Millisecond
	other := flock.New(f.lockPath())
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	r := reg(7, 24282)
	write(t, f.path, "[]")
	if err := put(t.Context(), f, r); !errors.Is(err, ErrLocked) {
		t.Errorf("%v", err)
	}
	if _, err := f.List(t.Context()); !errors.Is(err, ErrLocked) {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := put(ended, f, r); !errors.Is(err, context.Canceled) || errors.Is(err, ErrLocked) {
		t.Errorf("%v", err)
	}
	if got := content(t, f.path); got != "[]" {
		t.Errorf("written to: %s", got)
	}
	// It is let go while we wait.
	f.limit = time.Minute
	done := make(chan error)
	go func() { done <- put(t.Context(), f, r) }()
	if err := other.Unlock(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := content(t, f.path); !strings.HasPrefix(got, "[") {
		t.Errorf("another shape: %s", got)
	}
}

func TestLockIsNoFile(t *testing.T) {
	f := open(t, t.TempDir())
	if err := os.Mkdir(f.lockPath(), 0o700); err != nil {
		t.Fatal(err)
	}
	r := reg(7, 24282)
	if err := put(t.Context(), f, r); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("%v", err)
	}
}

// TestNotes: a later process knows whose entries the earlier one wrote, and
// takes out those that have died.
func TestNotes(t *testing.T) {
	f := open(t, t.TempDir())
	register(t, f, 7)
	register(t, f, 8)
	var pruned []monitor.Event
	later := Open(f.dir(), Options{Notes: f.notesPath, Event: func(e monitor.Event) { pruned = append(pruned, e) }})
	later.now = f.now
	later.look = func(pid int) (alive, bool) { return alive{80, at(0)}, true } // 7 is somebody else's pid
	if !later.remembers(map[int]bool{7: true}) || later.remembers(map[int]bool{7: true, 8: true}) {
		t.Error("it does not remember them")
	}
	if _, err := later.sync(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if list, err := later.List(t.Context()); err != nil || len(list) != 1 || list[0].PID != 8 {
		t.Errorf("%v, %v", list, err)
	}
	if len(pruned) != 1 || pruned[0].ID != "7-70" || pruned[0].Label != "24289 - lamp" {
		t.Errorf("%+v", pruned)
	}
	if got, want := content(t, f.notesPath), `"id":"8-80"`; !strings.Contains(got, want) || strings.Contains(got, "7-70") {
		t.Error(got)
	}
}

// TestNotesUnusable: the registry is kept without them.
func TestNotesUnusable(t *testing.T) {
	for name, data := range map[string]string{"garbage": "{", "another version": `{"version":2}`, "wrong types": `{"version":1,"entries":3}`, "bad entries": `{"version":1,"entries":[{"id":"x"},{"id":"-1-1"}]}`} {
		f := open(t, t.TempDir())
		write(t, f.notesPath, data)
		register(t, f, 7)
		if !strings.Contains(content(t, f.notesPath), `"7-70"`) {
			t.Errorf("%s: %s", name, content(t, f.notesPath))
		}
	}
	f := open(t, t.TempDir())
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	f.notesPath = filepath.Join(file, "below", "it")
	register(t, f, 7)
	register(t, f, 8)
}

func FuzzParseNotes(f *testing.F) {
	f.Add([]byte(`{"version":1,"entries":[{"id":"7-70","started_at":5,"created":true}]}`))
	f.Add([]byte(`{"version":1,"entries":[{"id":"7-18446744073709551615"},null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := parseNotes(data)
		if err != nil {
			return
		}
		again, err := parseNotes(n.encode())
		if err != nil || len(again) != len(n) {
			t.Fatalf("%v: %v, was %v", err, again, n)
		}
	})
}

func TestLookAt(t *testing.T) {
	if p, lives := lookAt(os.Getpid()); !lives || p.start == 0 || p.began.IsZero() {
		t.Errorf("ourselves: %+v, %v", p, lives)
	}
	if p, lives := lookAt(1 << 30); lives {
		t.Errorf("nobody: %+v", p)
	}
}
