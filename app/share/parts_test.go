package share

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor/serena"
	"lamplighter/monitor/serena/serenatest"
)

func TestDue(t *testing.T) {
	at := func(minutes int) time.Time { return time.Unix(0, 0).Add(time.Duration(minutes) * time.Minute) }
	for name, test := range map[string]struct {
		s    standing
		idle time.Duration
		want int // minutes; -1: never
	}{
		"with clients":             {standing{leases: 2, used: at(5), turned: at(3)}, 10 * time.Minute, 15},
		"with one that has come":   {standing{leases: 1, used: at(5), turned: at(90)}, 10 * time.Minute, 100},
		"without":                  {standing{used: at(5), turned: at(9)}, 10 * time.Minute, 19},
		"without, used later":      {standing{used: at(12), turned: at(9)}, 10 * time.Minute, 22},
		"in flight":                {standing{leases: 1, inFlight: 1, used: at(5)}, 10 * time.Minute, -1},
		"never":                    {standing{leases: 1, used: at(5)}, 0, -1},
		"something goes on":        {standing{leases: 1, used: at(5), until: at(40)}, 10 * time.Minute, 40},
		"something went on":        {standing{leases: 1, used: at(5), until: at(7)}, 10 * time.Minute, 15},
		"looked at":                {standing{leases: 1, used: at(5), wait: at(16)}, 10 * time.Minute, 16},
		"holds variables":          {standing{leases: 1, used: at(5), held: true}, 10 * time.Minute, -1},
		"holds those of who left":  {standing{used: at(5), turned: at(6), held: true}, 10 * time.Minute, 16},
		"without, and it goes on":  {standing{used: at(5), turned: at(6), until: at(30)}, time.Minute, 30},
		"without, never":           {standing{used: at(5), turned: at(6)}, 0, 16},
		"forbidden":                {standing{leases: 1, used: at(5), forbidden: true}, 10 * time.Minute, 5},
		"forbidden, never":         {standing{leases: 1, used: at(5), forbidden: true}, 0, 5},
		"forbidden, in flight":     {standing{leases: 1, inFlight: 1, forbidden: true}, 0, -1},
		"forbidden, variables":     {standing{leases: 1, held: true, forbidden: true}, 0, -1},
		"negative is never":        {standing{leases: 1, used: at(5)}, -time.Minute, -1},
		"in flight, nobody's own":  {standing{inFlight: 3, used: at(5)}, time.Minute, -1},
		"looked at without leases": {standing{used: at(5), wait: at(20)}, time.Minute, 20},
	} {
		got, ok := test.s.due(test.idle)
		if ok != (test.want >= 0) || ok && got.Truncate(time.Minute) != at(test.want) {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
}

func TestCrashLoop(t *testing.T) {
	type end struct{ at, ran, refused int } // seconds; how long it is refused then
	for name, ends := range map[string][]end{
		"now and then":      {{0, 5, 0}, {50, 5, 0}, {100, 5, 0}, {150, 5, 0}},
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

func TestCacheHasLimits(t *testing.T) {
	var c cache
	for _, name := range manyNames(200) {
		c.put("s", question{"initialize", name}, []byte("{}"))
	}
	if n := len(c.answers); n > mostAnswers || n == 0 {
		t.Errorf("%d answers", n)
	}
	c.put("s", question{"tools/list", ""}, make([]byte, longestAnswer+1))
	if _, ok := c.get("s", question{"tools/list", ""}); ok {
		t.Error("it keeps what is too long")
	}
	c.put("", question{"tools/list", ""}, nil)
	if _, ok := c.get("", question{"tools/list", ""}); ok {
		t.Error("it keeps what belongs to no settings")
	}
	c.put("t", question{"tools/list", ""}, nil)
	if len(c.answers) != 1 {
		t.Error("it keeps what belongs to other settings")
	}
}

// All groups together keep no more than so much: those used last keep theirs.
func TestCachesHaveALimit(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		answer := make([]byte, longestAnswer)
		var members []*Client
		for _, key := range manyNames(2 * mostKept / longestAnswer) {
			m := b.Attach(t.Context(), plan(key), claude)
			request(t, m)
			m.Store("tools/list", "u", answer)
			members = append(members, m)
			time.Sleep(time.Second) // of the bubble
		}
		kept := 0
		for _, m := range members {
			kept += m.group.cache.size()
		}
		last := members[len(members)-1]
		if kept > mostKept || kept < mostKept/2 || last.group.cache.size() == 0 || members[0].group.cache.size() != 0 {
			t.Errorf("%d bytes are kept", kept)
		}
		for _, under := range manyNames(mostAnswers) {
			last.Store("tools/list", under, answer)
		}
		if n := last.group.cache.size(); n > mostKept {
			t.Errorf("one keeps %d bytes", n)
		}
	})
}

func TestSessionsHaveLimits(t *testing.T) {
	var s sessions
	for _, name := range manyNames(3 * mostSessions) {
		s.add(name, 1)
	}
	s.add("150", 2)
	if n := s.names(); len(n) > mostSessions || n[len(n)-1] != "150" {
		t.Errorf("%q", n)
	}
	s.add("290", 2)
	if s.forget(1); len(s) < 2 {
		t.Error("what the last server knew may be on its way to the next one")
	}
	if s.forget(2); strings.Join(s.names(), " ") != "150 290" {
		t.Errorf("%q", s.names())
	}
}

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
	defer other.release()
	synctest.Test(t, func(t *testing.T) { // in which nobody waits in earnest
		var locked *lockTaken
		if _, err := lockKey(t.Context(), dir, "aa"); !errors.As(err, &locked) || locked.path != filepath.Join(dir, "aa.lock") {
			t.Error(err)
		} else if locked.pid != os.Getpid() && holder(locked.path) != 0 { // Windows lets nobody read it
			t.Errorf("it is held by %d", locked.pid)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := lockKey(ctx, dir, "aa"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.AfterFunc(time.Second, first.release)
		again, err := lockKey(t.Context(), dir, "aa")
		if err != nil {
			t.Fatal(err)
		}
		again.release()
	})
}

func TestKeyLockThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	for _, key := range []string{"", "../aa", "AA", "a/b", strings.Repeat("a", 200), "a\x00"} {
		if lock, err := lockKey(t.Context(), dir, key); err == nil {
			lock.release()
			t.Errorf("%q is no key", key)
		}
	}
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
	if holder(file) != 0 || holder(dir) != 0 {
		t.Error("garbage is a process")
	}
	none, err := lockKey(t.Context(), "", "aa")
	if err != nil {
		t.Error(err)
	}
	none.release()
	(*keyLock)(nil).release()
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
		m := b.Attach(t.Context(), plan("aa"), claude)
		var locked *lockTaken
		if err := refused(t, m); !errors.As(err, &locked) || w.launched != 0 {
			t.Error(err)
		}
		lock.release()
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
		free.release()
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
		lock.release()
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
	if line, err := replCall(3, "a\"\n"); err != nil ||
		string(line) != `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"serena_repl","arguments":{"session":"a\"\n","code":"s.vars()"}}}` {
		t.Errorf("%s, %v", line, err)
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
		if got, err := (repl{}).holds(t.Context(), s, test.sessions, false); got != test.want || err != nil {
			t.Errorf("%q: %q, %v, want %q", test.sessions, got, err, test.want)
		}
	}
}

// TestInheritedVariables: what an earlier run has seen is not known, so that the REPL
// of its server may hold something for those who have it still.
func TestInheritedVariables(t *testing.T) {
	for state, want := range map[string]bool{serenatest.REPL: true, serenatest.Changed: false} {
		s := &replayed{Replayed: serenatest.Replay(t, serenatest.Version, state)}
		if got, err := (repl{}).holds(t.Context(), s, nil, true); (got != "") != want || err != nil {
			t.Errorf("%s: %q, %v", state, got, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.run("a")
		w.holds = "it may hold variables"
		b := New(w.options())
		defer served(t, b)()
		m := b.Attach(t.Context(), plan("a"), claude)
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

// TestBusyVersions: whether a Serena works is told by each version, and that what
// was cut off may go on.
func TestBusyVersions(t *testing.T) {
	for _, version := range serenatest.Versions {
		s := &replayed{Replayed: serenatest.Replay(t, version, serenatest.NoProject)}
		for _, test := range []struct {
			state string
			want  bool
		}{
			{serenatest.NoProject, false}, {serenatest.Project, false}, {serenatest.Busy, true}, {serenatest.Called, false}, {serenatest.CutOff, true},
		} {
			s.Enter(test.state)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if got, err := newDashboard().busy(ctx, s, time.Minute); got != test.want || err != nil {
				t.Errorf("%s, %s: %v, %v", version, test.state, got, err)
			}
			cancel()
		}
	}
}

func FuzzAnswersAboutVariables(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"No persisted variables.","type":"text"}]}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":null}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if empty, err := isEmpty(answer); empty && (err != nil || !strings.Contains(string(answer), `"`)) {
			t.Errorf("%q: %v, %v", answer, empty, err)
		}
	})
}

func TestBusy(t *testing.T) {
	none, fails := errors.New("no answer"), map[bool]error{true: errors.New("no answer")}
	cut, done := &serena.Task{Name: "Task-22:FindSymbolTool"}, &serena.Task{Name: "Task-22:FindSymbolTool", Finished: true}
	if !cut.CutOff() || done.CutOff() {
		t.Fatal("the tasks are not what they should be")
	}
	for name, test := range map[string]struct {
		queue               []serena.Task
		noQueue, noLast     bool
		last                *serena.Task
		quiet               time.Duration
		want, wantUncertain bool
	}{
		"works":               {queue: []serena.Task{*done}, want: true},
		"works, and is late":  {queue: []serena.Task{*done}, noLast: true, want: true},
		"nothing yet":         {},
		"nothing":             {last: done},
		"something goes on":   {last: cut, quiet: 9 * time.Minute, want: true},
		"something has ended": {last: cut, quiet: 10 * time.Minute},
		"no queue":            {noQueue: true, last: done, wantUncertain: true},
		"no last one":         {noLast: true, wantUncertain: true},
	} {
		d := dashboard{
			queue: func(_ context.Context, port int) ([]serena.Task, error) {
				if port != 24282 {
					return nil, none
				}
				return test.queue, fails[test.noQueue]
			},
			last: func(context.Context, int) (*serena.Task, error) { return test.last, fails[test.noLast] },
		}
		got, err := d.busy(t.Context(), newWorld().run("a"), test.quiet)
		if got != test.want || (err != nil) != test.wantUncertain {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
