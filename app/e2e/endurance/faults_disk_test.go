//go:build real && full && linux

package endurance

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
)

// smallDisk is a home on a disk of its own that can be filled.
type smallDisk struct {
	*faulty
	ballast string
}

// diskSize has room for what the tests need.
const diskSize = 8 << 20

// onSmallDisk is a home whose files are all on a small disk: settings, state,
// sockets, the registry.
func onSmallDisk(t *testing.T) *smallDisk {
	t.Helper()
	m := e2e.ManagerHome(t)
	// In a mount namespace of its own, which build/isolated.sh has made.
	if err := syscall.Mount("tmpfs", m.Dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", diskSize)); err != nil {
		t.Fatalf("mounting a small disk: %v; run the tests in build/isolated.sh", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(m.Dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	for _, dir := range []string{"run", "bin"} {
		if err := os.Mkdir(m.Path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return &smallDisk{faulty: faultyOn(t, m), ballast: m.Path("ballast")}
}

// fill leaves no room at all.
func (d *smallDisk) fill(t *testing.T) {
	t.Helper()
	file, err := os.OpenFile(d.ballast, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 64<<10)) // in the end only a part of it fits
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// room makes room again.
func (d *smallDisk) room(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.ballast); err != nil {
		t.Fatal(err)
	}
}

// content is what lies in the files that remember something, by their paths.
func (d *smallDisk) content(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{
		filepath.Join(d.State(), "*.json"), filepath.Join(d.State(), "workspaces", "records", "*.json"),
		filepath.Join(d.State(), "servers", "*", "record.json"), d.Path(".config", "lamplighter", "*"), d.Path(".serena", "*.yml"),
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all[path] = string(text)
		}
	}
	return all
}

// told are the lines of the lifecycle log, all of them whole.
func (d *smallDisk) told(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.State(), "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(text)))
}

// tellsOf waits until the lifecycle log has each of these servers with that kind.
func (d *smallDisk) tellsOf(t *testing.T, kind string, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		apptest.Eventually(t, fmt.Sprintf("the lifecycle log has that %d %s", pid, kind), func() bool {
			return slices.ContainsFunc(d.told(t), func(line string) bool {
				var e struct {
					Kind string
					PID  int
				}
				return json.Unmarshal([]byte(line), &e) == nil && e.Kind == kind && e.PID == pid
			})
		})
	}
}

// TestFaultDiskFull: on a disk that is full lamplighter goes on, says so, and loses
// nothing; when there is room again it does all that it could not do.
func TestFaultDiskFull(t *testing.T) {
	d := onSmallDisk(t)
	d.Set(t, e2e.PatientStart)
	d.Begin(t)
	one, two := d.finds(t), d.finds(t)
	d.lists(t, one.pid(), two.pid())
	if status, answer := d.pins(one.pid(), true); status != http.StatusOK {
		t.Fatalf("pinning: %d %s", status, answer)
	}
	project := d.Path("alpha")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	client := d.Wrap(t, project, sharedCommand...)
	client.Handshake(t)
	server := where(t, client, 1)
	j := e2e.Jobs{Manager: d.Manager}
	kept := j.Creates(t, "--kind", "persistent", "--job", "kept")
	if err := os.WriteFile(filepath.Join(kept.Path, "note"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	j.Ok(t, "keep", kept.ID, "-m", "kept")
	d.tellsOf(t, "started", one.pid(), two.pid(), server)
	apptest.Eventually(t, "the registry has them", func() bool {
		text, err := os.ReadFile(d.Path(".serena", "instances.json"))
		return err == nil && strings.Count(string(text), `"pid":`) == 3
	})

	d.fill(t)
	before, told := d.content(t), d.told(t)
	if status, answer := d.pins(two.pid(), true); status < 400 || !strings.Contains(answer, "no space left") {
		t.Errorf("pinning on a full disk: %d %s", status, answer)
	}
	if status, answer := d.sends(http.MethodPut, "/global-dashboard/policy", `{"paused": true, "minutes": 60}`); status < 400 && !strings.Contains(answer, "no space left") {
		t.Errorf("pausing on a full disk: %d %s", status, answer)
	}
	if out, said, status, err := j.Runs("create", "--kind", "temp", "--job", "full"); err != nil || status == 0 || !strings.Contains(said, "no space left") {
		t.Errorf("a workspace on a full disk: %d, %v, %s%s", status, err, out, said)
	}
	if status, answer, err := e2e.Post(t.Context(), d.At("/request-session"), e2e.RequestBody(project)); err != nil || status != http.StatusInternalServerError || !strings.Contains(answer, "no space left") {
		t.Errorf("a session on a full disk: %d %s, %v", status, answer, err)
	}
	if got := where(t, client, 2); got != server {
		t.Errorf("the shared server is %d, was %d", got, server)
	}
	three := d.finds(t)
	two.leaves(t)
	d.lists(t, one.pid(), three.pid())
	if status, out, said := d.Does(t, "events"); status != 0 || said != "" || strings.Count(out, "\n") < len(told) {
		t.Errorf("events on a full disk: %d, %q, %q", status, out, said)
	}
	if _, out, _ := d.Does(t, "doctor"); !strings.Contains(out, "the disk is full") {
		t.Errorf("doctor says\n%s", out)
	}
	for path, text := range d.content(t) {
		if old, was := before[path]; was && old != text {
			t.Errorf("%s held %q and holds %q", path, e2e.ExcerptOf(old), e2e.ExcerptOf(text))
		}
		delete(before, path)
	}
	if len(before) > 0 {
		t.Errorf("these are lost: %v", before)
	}

	d.room(t)
	four := d.finds(t)
	d.lists(t, one.pid(), three.pid(), four.pid())
	d.tellsOf(t, "started", three.pid(), four.pid())
	d.tellsOf(t, "stopped", two.pid())
	if now := d.told(t); len(now) < len(told) || !slices.Equal(now[:len(told)], told) {
		t.Errorf("the lifecycle log was\n%s\nand is\n%s", told, now)
	}
	if status, answer := d.pins(three.pid(), true); status != http.StatusOK {
		t.Errorf("pinning: %d %s", status, answer)
	}
	other := d.Path("beta")
	if err := os.MkdirAll(filepath.Join(other, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	next := d.Wrap(t, other, sharedCommand...)
	next.Handshake(t)
	where(t, next, 1)
	if got := where(t, client, 3); got != server {
		t.Errorf("the shared server is %d, was %d", got, server)
	}
	j.Ok(t, "rm", j.Creates(t, "--kind", "temp", "--job", "again").ID)
	if list := j.List(t); len(list) != 1 || list[0].ID != kept.ID {
		t.Errorf("workspaces: %+v", list)
	}
	d.quietEnd(t)
}

// TestFaultStartedOnAFullDisk: it starts, doctor says what is wrong, and it is as any
// other once there is room.
func TestFaultStartedOnAFullDisk(t *testing.T) {
	d := onSmallDisk(t)
	d.Set(t, e2e.PatientStart)
	d.Begin(t)
	one := d.finds(t)
	d.lists(t, one.pid())
	if status, answer := d.pins(one.pid(), true); status != http.StatusOK {
		t.Fatalf("pinning: %d %s", status, answer)
	}
	d.tellsOf(t, "started", one.pid())
	killed(t, d.Run)
	d.fill(t)
	before, told := d.content(t), d.told(t)

	d.Begin(t)
	two := d.finds(t)
	d.lists(t, one.pid(), two.pid())
	if status, out, said := d.Does(t, "stop", fmt.Sprint(one.pid())); status != 1 || !strings.Contains(out+said, "pinned") {
		t.Errorf("stopping what is pinned: %d, %q, %q", status, out, said)
	}
	if _, out, _ := d.Does(t, "doctor"); !strings.Contains(out, "the disk is full") {
		t.Errorf("doctor says\n%s", out)
	}
	for path, text := range before {
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s held %q and holds %q, %v", path, e2e.ExcerptOf(text), e2e.ExcerptOf(string(got)), err)
		}
	}
	d.room(t)
	three := d.finds(t)
	d.tellsOf(t, "started", two.pid(), three.pid())
	if now := d.told(t); !slices.Equal(now[:len(told)], told) {
		t.Errorf("the lifecycle log was\n%s\nand is\n%s", told, now)
	}
	if status, answer := d.pins(two.pid(), true); status != http.StatusOK {
		t.Errorf("pinning: %d %s", status, answer)
	}
	session := d.Request(t, e2e.ProjectDir(t, "alpha"))
	d.Release(t, session)
	d.quietEnd(t)
}

// pins pins a server, or takes that back.
func (f *faulty) pins(pid int, pinned bool) (status int, answer string) {
	return f.sends(http.MethodPut, fmt.Sprintf("/global-dashboard/instance/%d/pin", pid), fmt.Sprintf(`{"pinned": %v}`, pinned))
}

// quietEnd ends lamplighter, and checks that it has said few lines in all: one that
// cannot write must not flood who looks.
func (d *smallDisk) quietEnd(t *testing.T) {
	t.Helper()
	d.Ends(t, syscall.SIGTERM)
	if code := d.Run.Cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	said := d.Run.Err.String()
	t.Logf("it said:\n%s", said)
	if n := strings.Count(said, "no space left"); n > 5 {
		t.Errorf("it told %d times that the disk is full", n)
	}
	for line := range strings.Lines(d.Log(t)) {
		if strings.Contains(line, "panic") {
			t.Error(line)
		}
	}
}
