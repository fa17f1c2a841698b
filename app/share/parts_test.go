package share

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/monitor/serena/serenatest"
)

func TestDue(t *testing.T) {
	const ten = 10 * time.Minute
	at := func(minutes int) time.Time { return time.Unix(0, 0).Add(time.Duration(minutes) * time.Minute) }
	some := make([]*Client, 2)
	for name, test := range map[string]struct {
		g         group
		idle      time.Duration
		forbidden bool
		want      int // minutes; -1: never
	}{
		"with clients":             {group{members: some, used: at(5)}, ten, false, 15},
		"without":                  {group{used: at(9)}, ten, false, 19},
		"in flight":                {group{members: some, inFlight: 1, used: at(5)}, ten, false, -1},
		"never":                    {group{members: some, used: at(5)}, 0, false, -1},
		"something goes on":        {group{members: some, used: at(5), until: at(40)}, ten, false, 40},
		"something went on":        {group{members: some, used: at(5), until: at(7)}, ten, false, 15},
		"looked at":                {group{members: some, used: at(5), until: at(16)}, ten, false, 16},
		"holds variables":          {group{members: some, used: at(5), held: true}, ten, false, -1},
		"holds those of who left":  {group{used: at(6), held: true}, ten, false, 16},
		"without, and it goes on":  {group{used: at(6), until: at(30)}, time.Minute, false, 30},
		"without, never":           {group{used: at(6)}, 0, false, 16},
		"forbidden":                {group{members: some, used: at(5)}, ten, true, 5},
		"forbidden, never":         {group{members: some, used: at(5)}, 0, true, 5},
		"forbidden, in flight":     {group{members: some, inFlight: 1}, 0, true, -1},
		"forbidden, variables":     {group{members: some, held: true}, 0, true, -1},
		"in flight, nobody's own":  {group{inFlight: 3, used: at(5)}, time.Minute, false, -1},
		"looked at without leases": {group{used: at(5), until: at(20)}, time.Minute, false, 20},
	} {
		got, ok := test.g.due(test.idle, test.forbidden)
		if ok != (test.want >= 0) || ok && got.Truncate(time.Minute) != at(test.want) {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
}

func TestCrashLoop(t *testing.T) {
	type end struct{ at, ran, refused int } // seconds; how long it is refused then
	for name, ends := range map[string][]end{
		"now and then":      {{0, 5, 0}, {300, 5, 0}, {600, 5, 0}, {900, 5, 0}},
		"three in a minute": {{0, 5, 0}, {20, 5, 0}, {40, 5, 5}},
		"doubles":           {{0, 0, 0}, {1, 0, 0}, {2, 0, 5}, {7, 0, 10}, {17, 0, 20}, {37, 0, 40}, {77, 0, 80}, {157, 0, 160}, {317, 0, 300}, {617, 0, 300}},
		"doubles although it is slow": {
			{0, 0, 0}, {1, 0, 0}, {2, 0, 5}, {66, 59, 10},
		},
		"has worked": {{0, 0, 0}, {1, 0, 0}, {2, 0, 5}, {67, 60, 0}, {68, 0, 0}, {69, 0, 5}},
	} {
		var c crashes
		start := time.Unix(1000, 0)
		for i, e := range ends {
			at := start.Add(time.Duration(e.at) * time.Second)
			c.add(at, time.Duration(e.ran)*time.Second, "it broke")
			refused := 0
			for c.refuse(at.Add(time.Duration(refused)*time.Second)) != nil {
				refused++
			}
			if refused != e.refused {
				t.Errorf("%s: end %d: refused for %d s, want %d", name, i, refused, e.refused)
			}
			if !c.matters(at) || c.matters(at.Add(time.Hour)) {
				t.Errorf("%s: end %d: it matters: %v", name, i, c.matters(at))
			}
		}
	}
	var none crashes
	if none.refuse(time.Now()) != nil || none.matters(time.Now()) {
		t.Error("one that has not ended is refused")
	}
}

// What clients can have kept has limits.
func TestLimits(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		request(t, m)
		for _, name := range manyNames(3 * mostSessions) {
			m.Store("initialize", name, []byte("{}"))
			m.Seen(name)
		}
		m.Store("tools/list", "", make([]byte, longestAnswer+1))
		m.Seen("250")
		b.mu.Lock()
		g := m.group
		if n := len(g.answers); n > mostAnswers || n == 0 {
			t.Errorf("%d answers", n)
		}
		if n := len(g.seen); n != mostSessions || g.seen[n-1] != "250" || slices.Index(g.seen, "250") != n-1 {
			t.Errorf("%q", g.seen)
		}
		b.mu.Unlock()
		after(defaultIdle)
		if _, ok := m.Cached("tools/list", ""); ok {
			t.Error("it keeps what is too long")
		}
	})
}

func seen(m *Client) int {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	return len(m.group.seen)
}

// Sessions of a REPL end with their server, but that of a request that is on its way
// and goes to the next one.
func TestSessionsOfTheNextServer(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		for range 2 {
			ended := m.Began()
			m.Seen("x")
			if _, err := m.Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.the(t).dies("exited with status 1")
			synctest.Wait()
			if seen(m) != 1 {
				t.Error("that of a request was forgotten")
			}
			ended()
		}
		request(t, m)
		w.the(t).dies("exited with status 1")
		synctest.Wait()
		if seen(m) != 0 {
			t.Error("they were not forgotten")
		}
	})
}

func unlock(lock *flock.Flock) { (&group{lock: lock}).unlock() }

// The lock of a key is had by one, who is named; it comes back when he lets go.
func TestKeyLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	first, err := lockKey(t.Context(), dir, "aa")
	if err != nil {
		t.Fatal(err)
	}
	other, err := lockKey(t.Context(), dir, "bb")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock(other)
	synctest.Test(t, func(t *testing.T) { // in which nobody waits in earnest
		if _, err := lockKey(t.Context(), dir, "aa"); !errors.Is(err, errTaken) || !strings.Contains(err.Error(), filepath.Join(dir, "aa.lock")) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := lockKey(ctx, dir, "aa"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.AfterFunc(time.Second, func() { unlock(first) })
		again, err := lockKey(t.Context(), dir, "aa")
		if err != nil {
			t.Fatal(err)
		}
		unlock(again)
	})
}

func TestKeyLockThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "aa.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := lockKey(t.Context(), dir, "aa"); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lockKey(t.Context(), file, "aa"); err == nil {
		t.Error("a file is a directory")
	}
	none, err := lockKey(t.Context(), "", "aa")
	if err != nil {
		t.Error(err)
	}
	unlock(none)
}

// What a start fails with reaches who waits, and the key is free again.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	lock, err := lockKey(t.Context(), dir, "aa")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		o := w.options()
		o.LockDir = dir
		b := New(o)
		defer served(t, b)()
		m := b.Attach(plan("aa"), claude)
		if err := refused(t, m); !errors.Is(err, errTaken) || w.launched != 0 {
			t.Error(err)
		}
		unlock(lock)
		request(t, m)
		after(defaultIdle)
		// Windows removes no file that is open, so that an empty one stays there.
		path := filepath.Join(dir, "aa.lock")
		if _, err := os.Stat(path); w.count() != 0 || runtime.GOOS != "windows" && err == nil {
			t.Error("the lock stays")
		}
		free, err := lockKey(t.Context(), dir, "aa")
		if err != nil {
			t.Fatalf("the lock is taken: %v", err)
		}
		unlock(free)
	})
}

// The server of an earlier run is locked, too.
func TestAdoptedIsLocked(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.run("aa")
		o := w.options()
		o.LockDir = dir
		b := New(o)
		end := served(t, b)
		after(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if lock, err := lockKey(ctx, dir, "aa"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the lock is free: %v, %v", lock, err)
		}
		end()
		if w.count() != 1 {
			t.Error("it has ended")
		}
		lock, err := lockKey(t.Context(), dir, "aa")
		if err != nil {
			t.Fatalf("the lock stays: %v", err)
		}
		unlock(lock)
	})
}

func TestAnswersAboutVariables(t *testing.T) {
	for answer, want := range map[string]struct{ empty, failed bool }{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"No persisted variables.","type":"text"}],"isError":false}}`:  {true, false},
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"x: int = 41","type":"text"}],"isError":false}}`:              {false, false},
		`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`:                                                                  {false, false},
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"No persisted variables."},{"text":"and more"}]}}`:            {false, false},
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"Unknown tool: serena_repl","type":"text"}],"isError":true}}`: {false, true},
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"No persisted variables."}],"isError":true}}`:                 {false, true},
		`{"jsonrpc":"2.0","id":1,"result":"No persisted variables."}`:                                                       {false, true},
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"No persisted variables."}}`:                              {false, true},
		`No persisted variables.`: {false, true},
		``:                        {false, true},
	} {
		if empty, err := isEmpty([]byte(answer)); empty != want.empty || (err != nil) != want.failed {
			t.Errorf("%s: %v, %v", answer, empty, err)
		}
	}
}

// replayed is a server that answers as a real Serena did.
type replayed struct {
	fakeServer
	*serenatest.Replayed
}

func (s *replayed) DashboardPort() int { return s.Port }
func (s *replayed) MCPURL() string     { return s.Replayed.MCPURL }

// TestHoldsVariables asks a Serena with the interface REPL, before and after its
// client has cleared what it had.
func TestHoldsVariables(t *testing.T) {
	s := &replayed{Replayed: serenatest.Replay(t, serenatest.Version, serenatest.REPL)}
	for _, test := range []struct {
		sessions []string
		want     string
	}{
		{nil, ""},
		{[]string{"nobody's"}, ""},
		{[]string{"nobody's", "mine"}, `it holds variables of the session "mine"`},
		{[]string{"nobody's", "mine"}, ""},
	} {
		if got, err := holds(t.Context(), Look{Server: s, Sessions: test.sessions}); got != test.want || err != nil {
			t.Errorf("%q: %q, %v, want %q", test.sessions, got, err, test.want)
		}
	}
}

// TestInheritedVariables: what an earlier run has seen is not known, so that the REPL
// of its server may hold something for those who have it still.
func TestInheritedVariables(t *testing.T) {
	for state, want := range map[string]bool{serenatest.REPL: true, serenatest.Changed: false} {
		s := &replayed{Replayed: serenatest.Replay(t, serenatest.Version, state)}
		if got, err := holds(t.Context(), Look{Server: s, Inherited: true}); (got != "") != want || err != nil {
			t.Errorf("%s: %q, %v", state, got, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.run("a")
		w.holds = "it may hold variables"
		b := New(w.options())
		defer served(t, b)()
		m := b.Attach(plan("a"), claude)
		after(5 * time.Hour)
		if w.count() != 1 {
			t.Error("it was parked")
		}
		m.Detach()
		after(time.Hour)
		if w.count() != 0 {
			t.Error("it goes on without a client")
		}
	})
}

// TestWorksVersions: whether a Serena works is told by each version, and that what
// was cut off may go on.
func TestWorksVersions(t *testing.T) {
	for _, version := range serenatest.Versions {
		s := &replayed{Replayed: serenatest.Replay(t, version, serenatest.NoProject)}
		for _, test := range []struct {
			state string
			quiet time.Duration
			want  bool
		}{
			{serenatest.NoProject, 0, false},
			{serenatest.Project, 0, false},
			{serenatest.Busy, time.Hour, true},
			{serenatest.Called, 0, false},
			{serenatest.CutOff, 9 * time.Minute, true},
			{serenatest.CutOff, 10 * time.Minute, false},
		} {
			s.Enter(test.state)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if why, err := works(ctx, Look{Server: s, Quiet: test.quiet}); (why != "") != test.want || err != nil {
				t.Errorf("%s, %s: %q, %v", version, test.state, why, err)
			}
			cancel()
		}
		s.Close()
		if _, err := works(t.Context(), Look{Server: s}); err == nil {
			t.Errorf("%s: it is known although it does not answer", version)
		}
	}
}

func TestProgramOf(t *testing.T) {
	for line, want := range map[string]string{
		"":                               "",
		"python3 /w/srv.py":              "srv.py",
		"python3 -c print()":             "python3",
		"uvx --from serena-agent serena": "serena",
		"./evil\x1b[2J":                  "evil[2J",
	} {
		if got := programOf(strings.Fields(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	if got := programOf([]string{strings.Repeat("x", 4000)}); len(got) > 200 {
		t.Errorf("%d bytes", len(got))
	}
	if programOf([]string{""}) != "" || programOf([]string{"node", "/"}) != "" {
		t.Error("nothing has a name")
	}
}
