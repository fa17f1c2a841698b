//go:build real && full && linux

package endurance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor/statefile"
)

// settled waits until lamplighter knows everything again, and checks that what it
// has acknowledged holds.
func (v *victim) settled(t *testing.T) {
	t.Helper()
	for s, ids := range v.waiting {
		for _, id := range ids {
			v.checkAnswer(t, s, s.Await(t, strconv.Itoa(id)))
		}
		delete(v.waiting, s)
		v.calls++
		s.Call(t, v.calls, v.toolOf(s), map[string]any{})
		if r := s.Await(t, strconv.Itoa(v.calls)); r.Error != nil {
			t.Errorf("a call while nobody is killed: %s", e2e.ExcerptOf(r.Line))
		}
	}
	want := []int{v.comes.pid(), v.found.ServerPID}
	for _, s := range v.stays {
		want = append(want, s.pid())
	}
	v.lists(t, want...)
	v.checkServers(t)
	v.checkPins(t)
	v.checkSpaces(t)
	_, _, body := e2e.Fetch(t, e2e.PageAt(v.Page)+"policy")
	var policy struct{ Paused bool }
	if err := json.Unmarshal([]byte(body), &policy); err != nil || v.paused.sure && policy.Paused != v.paused.value {
		t.Errorf("the policies: %s, %v; last acknowledged %+v", e2e.ExcerptOf(body), err, v.paused)
	}
	apptest.Eventually(t, "status says nothing odd", func() bool {
		status, _, said := v.Does(t, "status")
		return status == 0 && said == ""
	})
	if status, out, said := v.Does(t, "events", "--json"); status != 0 || said != "" || out == "" {
		t.Errorf("events: %d, %q", status, said)
	}
}

// checkAnswer checks that a call was answered by the server that the client has had
// from the beginning, or that its fate is told.
func (v *victim) checkAnswer(t *testing.T, s *e2e.Shim, r e2e.Reply) {
	t.Helper()
	if r.Error != nil {
		if !strings.Contains(r.Error.Message, "carried out") {
			t.Errorf("its fate is not told: %s", r.Line)
		}
		v.refused++
		return
	}
	v.answered++
	if server := v.shims[s]; server != v.serena && toPID(t, r.Text(t)) != server {
		t.Errorf("%s answers, and %d did before", r.Text(t), server)
	}
}

// checkServers waits until exactly the servers are left that clients use, each with
// its keeper, and lamplighter shows that.
func (v *victim) checkServers(t *testing.T) {
	t.Helper()
	clients := map[int]int{}
	for _, pid := range v.shims {
		clients[pid]++
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%v are shared; these run: %v", clients, v.Servers())
		}
	})
	for pid := range clients {
		if !e2e.Alive(pid) {
			t.Fatalf("the server %d has ended, and its clients are there", pid)
		}
	}
	apptest.Eventually(t, "the servers that clients use are left, and no others", func() bool {
		now := append(v.standIns(), v.Serenas()...)
		return len(now) == len(clients) && !slices.ContainsFunc(now, func(pid int) bool { return clients[pid] == 0 })
	})
	apptest.Eventually(t, "each of them has a keeper", func() bool { return len(v.Running("-connect keep ")) == len(clients) })
	apptest.Eventually(t, "their clients are shown", func() bool {
		all := v.Shared(t)
		for _, s := range all {
			if s.PID == nil || *s.SharedBy != clients[*s.PID] {
				return false
			}
		}
		return len(all) == len(clients)
	})
	if list := v.Sessions(t); len(list) > 0 {
		t.Errorf("sessions of the one that was killed: %+v", list)
	}
}

func (v *victim) checkPins(t *testing.T) {
	t.Helper()
	_, _, body := e2e.Fetch(t, e2e.PageAt(v.Page)+"instances")
	var list struct {
		Instances []struct {
			PID    *int
			Pinned bool
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatalf("%v: %s", err, e2e.ExcerptOf(body))
	}
	for _, in := range list.Instances {
		if in.PID == nil {
			continue
		}
		if said, ours := v.pinned[*in.PID]; ours && said.sure && said.value != in.Pinned {
			t.Errorf("%d is pinned: %v, and %v was acknowledged", *in.PID, in.Pinned, said.value)
		}
	}
}

// checkSpaces checks that the workspaces are there that are to be, and every version
// with what was kept in it.
func (v *victim) checkSpaces(t *testing.T) {
	t.Helper()
	status, _, body := e2e.Fetch(t, fmt.Sprintf("http://127.0.0.1:%d/workspaces", v.Page))
	var list struct {
		Workspaces []e2e.Space
		Problem    *string
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK || list.Problem != nil {
		t.Fatalf("workspaces: %d, %v, %s", status, err, e2e.ExcerptOf(body))
	}
	there := map[string]bool{}
	for _, s := range list.Workspaces {
		there[s.ID] = true
		if e2e.IsGone(s.Path) {
			t.Errorf("the tree of %s is not there", s.ID)
		}
		if _, known := v.spaces[s.ID]; !known {
			v.spaces[s.ID] = claim{true, true} // it was made, and the answer was lost
		}
	}
	for id, s := range v.spaces {
		if s.sure && s.value != there[id] {
			t.Errorf("the workspace %s is there: %v, and %v was acknowledged", id, there[id], s.value)
		}
		v.spaces[id] = claim{there[id], true}
	}
	for path, text := range v.versions {
		if got, err := os.ReadFile(filepath.Join(path, "note")); err != nil || string(got) != text {
			t.Errorf("%s has %q, %v; %q was kept", path, got, err, text)
		}
	}
}

// doctorLines are what doctor says that is not fine.
func (v *victim) doctorLines(t *testing.T) (lines []string) {
	t.Helper()
	_, out, said := v.Does(t, "doctor", "--json")
	var report struct {
		Lines []struct{ Area, Mark, Text string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("doctor: %v: %s%s", err, e2e.ExcerptOf(out), said)
	}
	for _, l := range report.Lines {
		if l.Mark != "ok" {
			lines = append(lines, l.Area+" "+l.Mark+" "+l.Text)
		}
	}
	return lines
}

// checkFiles checks what is on the disk after a kill: all of it can be read, and the
// lifecycle log has only grown.
func (v *victim) checkFiles(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(v.State(), "events.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, []byte(v.events)) {
		t.Errorf("what was in the lifecycle log is not any more: %q, was %q", e2e.ExcerptOf(string(text)), e2e.ExcerptOf(v.events))
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		// The same may be ordered twice in one millisecond, and be done twice.
		if seen[line] && !strings.Contains(line, "by a request") {
			t.Errorf("twice in the lifecycle log: %s", line)
		}
		seen[line] = true
		if !strings.HasSuffix(line, "\n") || !json.Valid([]byte(line)) {
			t.Errorf("no whole line in the lifecycle log: %q", line)
		}
	}
	v.events = string(text)

	records, err := filepath.Glob(filepath.Join(v.State(), "servers", "*", "record.json"))
	spaces, err2 := filepath.Glob(filepath.Join(v.State(), "workspaces", "records", "*.json"))
	own, err3 := filepath.Glob(filepath.Join(v.State(), "*.json"))
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Concat(records, spaces, own, []string{v.Path(".serena", "instances.json")}) {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err == nil && !json.Valid(text) {
			t.Errorf("%s holds %q", path, e2e.ExcerptOf(string(text)))
		}
	}
	v.checkRegistry(t)
	v.checkRecords(t, records)
}

// checkRegistry checks that no server is in the registry twice.
func (v *victim) checkRegistry(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(v.Path(".serena", "instances.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var list struct {
		Instances map[string]struct {
			PID  int
			Port *int
		}
	}
	if err := errors.Join(err, json.Unmarshal(text, &list)); err != nil {
		t.Errorf("the registry: %v, %s", err, e2e.ExcerptOf(string(text)))
	}
	ports := map[int]string{}
	for key, in := range list.Instances {
		if strconv.Itoa(in.PID) != key {
			t.Errorf("the registry has %d as %s", in.PID, key)
		}
		if in.Port == nil || *in.Port == 0 || !e2e.Alive(in.PID) {
			continue
		}
		if other := ports[*in.Port]; other != "" {
			t.Errorf("the registry has %s and %s with one port", other, key)
		}
		ports[*in.Port] = key
	}
	// Each key is there once: the decoder would hide a second one.
	for key := range list.Instances {
		if n := strings.Count(string(text), `"`+key+`":`); n != 1 {
			t.Errorf("the registry has %s %d times", key, n)
		}
	}
}

// checkRecords checks that of each key there is one server at most.
func (v *victim) checkRecords(t *testing.T, records []string) {
	t.Helper()
	keys := map[string]string{}
	for _, path := range records {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // a keeper has taken it away meanwhile
		}
		var r struct{ ID, Key, Server string }
		if err := json.Unmarshal(text, &r); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		pid, _, _ := strings.Cut(r.Server, "-")
		if r.Key == "" || r.Server == "" || !e2e.Alive(toPID(t, pid)) {
			continue
		}
		if other := keys[r.Key]; other != "" {
			t.Errorf("two servers of one key: %s and %s", other, r.ID)
		}
		keys[r.Key] = r.ID
	}
}

// leavesNothing quits, and checks that nothing is left of what was killed.
func (v *victim) leavesNothing(t *testing.T) {
	t.Helper()
	for s := range v.shims {
		s.Terminated(t)
	}
	v.quits(t)
	v.NothingLeft(t)
	for _, s := range append(v.stays, v.comes) {
		if !e2e.Alive(s.pid()) {
			t.Errorf("%d has ended, and its client is there", s.pid())
		}
	}
	if !e2e.Alive(v.found.ServerPID) {
		t.Error("the real Serena has ended, and its client is there")
	}
	for _, dir := range []string{filepath.Join(v.State(), "servers"), filepath.Join(v.State(), "workspaces", "making")} {
		if entries, err := os.ReadDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) || len(entries) > 0 {
			t.Errorf("left in %s: %v, %v", dir, entries, err)
		}
	}
	for _, path := range v.halfWritten(t) {
		t.Errorf("left: %s", path)
	}
}

// halfWritten are the files that were being written.
func (v *victim) halfWritten(t *testing.T) (found []string) {
	t.Helper()
	for _, dir := range []string{v.State(), v.Path("run"), v.Path(".config"), v.Path(".serena")} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() && e.Name() == "trees" {
				return fs.SkipDir
			}
			if err == nil && strings.HasSuffix(path, ".tmp") {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	return found
}

// ages makes what was being written as old as it is after a while, when nobody can be
// writing it any more.
func (v *victim) ages(t *testing.T) {
	t.Helper()
	found := v.halfWritten(t)
	for _, path := range found {
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-2*statefile.Abandoned)); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d files were being written as it was killed", len(found))
}
