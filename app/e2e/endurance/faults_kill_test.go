//go:build real && full && linux

package endurance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor/serena/serenatest"
)

const (
	// killsVariable says how often lamplighter is killed; ten times without it.
	killsVariable = "LAMPLIGHTER_TEST_KILLS"
	// longestRun is how long after its start, or in the middle of its work, it is
	// killed at the latest. Within this its socket, its records and its first look
	// come about.
	longestRun = 400 * time.Millisecond
)

// TestFaultKilled kills lamplighter again and again, as it starts and in
// the middle of its work. Whatever it has acknowledged holds afterwards, its files
// can be read, and no server that somebody uses has ended.
func TestFaultKilled(t *testing.T) {
	kills := 10
	if text := os.Getenv(killsVariable); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", killsVariable, err)
		}
	}
	v := newVictim(t)
	for i := range kills {
		v.starts(t)
		online := i%2 == 1
		if online {
			v.Ready(t)
			v.settled(t)
		}
		v.strike(t, i%10 == 5)
		v.checkFiles(t)
		if t.Failed() {
			t.Fatalf("after kill %d (online %v)", i+1, online)
		}
	}
	v.ages(t)
	v.Begin(t)
	v.settled(t)
	if now := v.doctorLines(t); !slices.Equal(now, v.healthy) {
		t.Errorf("doctor says\n%s\nand said\n%s", strings.Join(now, "\n"), strings.Join(v.healthy, "\n"))
	}
	for _, do := range v.hands() {
		do(v.rng)
	}
	v.makesSpace() // by chance none may have been made or removed
	v.removesSpace(v.spaceToRemove())
	v.leavesNothing(t)
	t.Logf("%d kills; acknowledged: %d workspaces made and %d removed, %d versions, %d pins, %d orders to the policies, %d sessions; %d calls answered, %d with an error",
		kills, v.made, v.removed, len(v.versions), v.pins, v.orders, len(v.given), v.answered, v.refused)
	for what, n := range map[string]int{
		"workspaces": v.made, "removals": v.removed, "versions": len(v.versions), "pins": v.pins, "orders": v.orders, "sessions": len(v.given), "answers": v.answered,
	} {
		if n == 0 {
			t.Errorf("no %s were acknowledged: nothing is shown of them", what)
		}
	}
}

// claim is what lamplighter has said of one thing: sure is false when a later request
// was not answered, so that both are right.
type claim struct {
	value, sure bool
}

// victim is a lamplighter that is at work, and what it has acknowledged.
type victim struct {
	*faulty
	jobs    e2e.Jobs
	rng     *rand.Rand
	shims   map[*e2e.Shim]int   // clients, by the pid of their server
	waiting map[*e2e.Shim][]int // ids of calls that are not answered yet
	calls   int
	stays   []*foundOne
	comes   *foundOne // and goes
	found   *serenatest.Server
	serena  int // pid of the one that is shared
	kept    e2e.Space
	healthy []string // what doctor says from the beginning
	events  string   // the lifecycle log as it was last

	mu       sync.Mutex // for what the hands note
	pinned   map[int]claim
	paused   claim
	spaces   map[string]claim  // by id: whether it is there
	versions map[string]string // their contents by their paths
	given    []int             // sessions

	made, removed, pins, orders, answered, refused int
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	v := &victim{
		faulty: faultyHome(t), rng: rand.New(rand.NewPCG(apptest.Seed(t), 0)), shims: map[*e2e.Shim]int{}, waiting: map[*e2e.Shim][]int{},
		pinned: map[int]claim{}, spaces: map[string]claim{}, versions: map[string]string{}, paused: claim{sure: true},
	}
	v.Env = append(v.Env, "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	v.Set(t, e2e.PatientStart+"workspace_limit: 200\nsession_limit: 200\n")
	v.jobs = e2e.Jobs{Manager: v.Manager, Repo: serenatest.GoProject(t, "source")}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "Begin"}} {
		v.jobs.Git(t, args...)
	}
	v.Begin(t)
	v.healthy = v.doctorLines(t)

	for range 4 {
		s := v.finds(t)
		v.stays = append(v.stays, s)
		v.pinned[s.pid()] = claim{sure: true}
	}
	v.comes = v.finds(t)
	v.found = serenatest.Start(t, serenatest.Options{Args: []string{"--agent-interface", "tools"}})
	v.found.WaitReady(t)

	// Three clients of one stand-in, one of another, and one of a real Serena.
	for _, name := range []string{"alpha", "alpha", "alpha", "beta"} {
		dir := v.Path(name)
		if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
			t.Fatal(err)
		}
		s := v.Wrap(t, dir, sharedCommand...)
		s.Handshake(t)
		v.shims[s] = where(t, s, 1000)
	}
	s := v.Wrap(t, e2e.NamedProject(t, "gamma"), append([]string{filepath.Join(serenatest.Tools(t), "venv", "bin", "serena")}, e2e.SerenaCommand[1:]...)...)
	s.Handshake(t)
	s.Calls(t, 1000, realTool, map[string]any{})
	found := v.Serenas()
	if len(found) != 1 {
		t.Fatalf("real Serenas that are shared: %v of %v", found, v.Servers())
	}
	v.serena = found[0]
	v.shims[s] = v.serena

	v.kept = v.jobs.Creates(t, "--kind", "persistent", "--from", v.jobs.Repo, "--job", "kept")
	v.spaces[v.kept.ID] = claim{true, true}
	killed(t, v.Run)
	v.checkFiles(t)
	return v
}

// starts starts lamplighter and waits for nothing.
func (v *victim) starts(t *testing.T) {
	t.Helper()
	v.Run = v.Start(t, "run")
}

// hands are what lamplighter is given to do.
func (v *victim) hands() []func(*rand.Rand) {
	return []func(*rand.Rand){v.pinsSome, v.pauses, v.makesSpaces, v.keepsVersions, v.asksForSession}
}

// strike gives lamplighter work and kills it in the middle of that; on request not
// before it has given a session, which takes longer than the rest.
func (v *victim) strike(t *testing.T, session bool) {
	t.Helper()
	var work sync.WaitGroup
	had := len(v.given)
	for _, do := range v.hands() {
		own := rand.New(rand.NewPCG(v.rng.Uint64(), 0))
		work.Go(func() {
			for v.Run.Running() {
				do(own)
			}
		})
	}
	for s := range v.shims {
		v.calls++
		s.Call(t, v.calls, v.toolOf(s), map[string]any{})
		v.waiting[s] = append(v.waiting[s], v.calls)
	}
	v.comes.leaves(t)
	v.comes = v.finds(t)
	if session {
		apptest.Eventually(t, "a session is given", func() (is bool) {
			v.note(func() { is = len(v.given) > had })
			return is || !v.Run.Running()
		})
	}
	// The moment is the fault itself; nothing is awaited by it.
	moment := time.After(time.Duration(v.rng.Int64N(int64(longestRun))))
	select {
	case <-moment:
	case <-v.Run.Ended:
		t.Errorf("it has ended by itself with %v: %s", v.Run.Cmd.ProcessState, v.Run.Err.String())
		return
	}
	killed(t, v.Run)
	work.Wait()
}

// realTool is one of a real Serena that is quick.
const realTool = "list_memories"

// toolOf is one that the server of a client has.
func (v *victim) toolOf(s *e2e.Shim) string {
	if v.shims[s] == v.serena {
		return realTool
	}
	return "where"
}

func (v *victim) pinsSome(rng *rand.Rand) {
	pid, value := v.stays[rng.IntN(len(v.stays))].pid(), rng.IntN(2) == 0
	status, _ := v.sends(http.MethodPut, fmt.Sprintf("/global-dashboard/instance/%d/pin", pid), fmt.Sprintf(`{"pinned": %v}`, value))
	v.note(func() {
		switch status {
		case http.StatusOK:
			v.pinned[pid], v.pins = claim{value, true}, v.pins+1
		case 0:
			v.pinned[pid] = claim{}
		}
	})
}

func (v *victim) pauses(rng *rand.Rand) {
	value, body := true, `{"paused": true, "minutes": 60}`
	if rng.IntN(2) == 0 {
		value, body = false, `{"paused": false}`
	}
	status, _ := v.sends(http.MethodPut, "/global-dashboard/policy", body)
	v.note(func() {
		switch status {
		case http.StatusOK:
			v.paused, v.orders = claim{value, true}, v.orders+1
		case 0:
			v.paused = claim{}
		}
	})
}

// makesSpaces makes a workspace, or removes one.
func (v *victim) makesSpaces(rng *rand.Rand) {
	id := v.spaceToRemove()
	if id == "" || rng.IntN(2) == 0 {
		v.makesSpace()
		return
	}
	v.removesSpace(id)
}

func (v *victim) makesSpace() {
	status, answer := v.sends(http.MethodPost, "/workspaces", fmt.Sprintf(`{"kind": "temp", "from": %q, "job": "j", "cleanup": "manual"}`, v.jobs.Repo))
	var made e2e.Space
	if status == http.StatusCreated && json.Unmarshal([]byte(answer), &made) == nil {
		v.note(func() { v.spaces[made.ID], v.made = claim{true, true}, v.made+1 })
	}
}

func (v *victim) removesSpace(id string) {
	v.note(func() { v.spaces[id] = claim{} })
	if status, _ := v.sends(http.MethodDelete, "/workspaces/"+id, ""); status == http.StatusOK {
		v.note(func() { v.spaces[id], v.removed = claim{false, true}, v.removed+1 })
	}
}

// spaceToRemove is the id of a workspace that is known to be there, "" for none.
func (v *victim) spaceToRemove() (id string) {
	v.note(func() {
		for some, s := range v.spaces {
			if s.sure && s.value && some != v.kept.ID {
				id = some
			}
		}
	})
	return id
}

// keepsVersions keeps a version with a content of its own.
func (v *victim) keepsVersions(rng *rand.Rand) {
	text := strconv.FormatUint(rng.Uint64(), 16)
	if os.WriteFile(filepath.Join(v.kept.Path, "note"), []byte(text), 0o600) != nil {
		return // the check of its versions says more
	}
	status, answer := v.sends(http.MethodPost, "/workspaces/"+v.kept.ID+"/keep", `{"message": "note"}`)
	var made struct{ Path string }
	if status == http.StatusCreated && json.Unmarshal([]byte(answer), &made) == nil {
		v.note(func() { v.versions[made.Path] = text })
	}
}

// asksForSession asks for a server of its own, which ends with lamplighter.
func (v *victim) asksForSession(*rand.Rand) {
	status, answer := v.sends(http.MethodPost, "/request-session", e2e.RequestBody(v.jobs.Repo))
	if s, err := e2e.Given(status, answer); err == nil {
		v.note(func() { v.given = append(v.given, s.ID) })
	}
}

// note changes or reads what is noted, whoever else does.
func (v *victim) note(do func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	do()
}
