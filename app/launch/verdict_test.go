package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor/statefile"
)

// clock is a time that the test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func key(n int) string { return fmt.Sprintf("%064x", n) }

func good(version string) Verdict {
	v := Verdict{OK: true, Version: version, Detail: "Serena " + version}
	v.Command = []string{"/v/serena"}
	return v
}

func bad() Verdict { return Verdict{Candidate: Candidate{Command: []string{"x"}}, Problem: Failed} }

func TestVerdictsAreKeptForTheirTime(t *testing.T) {
	c := &clock{at: time.Now()}
	s := newVerdicts("", c.now)
	s.put(key(1), good("2.1.0"))
	s.put(key(2), bad())
	known := func(n int) bool { _, ok := s.get(key(n)); return ok }
	for _, step := range []struct {
		after     time.Duration
		good, bad bool
	}{
		{0, true, true},
		{failureFor - time.Second, true, true},
		{time.Second, true, false},
		{verdictFor - failureFor - time.Second, true, false},
		{time.Second, false, false},
	} {
		c.at = c.at.Add(step.after)
		if known(1) != step.good || known(2) != step.bad {
			t.Errorf("after %s: %t, %t", step.after, known(1), known(2))
		}
	}
	s.put(key(1), good("2.1.0"))
	c.at = c.at.Add(-time.Hour)
	if known(1) {
		t.Error("a verdict of the future holds")
	}
}

func TestGoodVerdictsAreOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), verdictsName)
	c := &clock{at: time.Now()}
	one, two := newVerdicts(path, c.now), newVerdicts(path, c.now)
	two.get(key(0)) // has read the file before anything was in it
	one.put(key(1), good("2.1.0"))
	one.put(key(2), bad())
	two.put(key(3), good("1.7.0"))
	three := newVerdicts(path, c.now)
	for n, want := range []string{1: "2.1.0", 2: "", 3: "1.7.0"} {
		if v, ok := three.get(key(n)); ok != (want != "") || v.Version != want {
			t.Errorf("%d: %+v, %t", n, v, ok)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(files) != 1 {
		t.Errorf("left %q", files)
	}
}

func TestAVerdictFileThatIsNone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, verdictsName)
	for _, text := range []string{
		"", "null", "[]", "{", `{"version":2,"verdicts":{}}`, `{"version":1,"verdicts":[1]}`, strings.Repeat("x", mostVerdictBytes+1),
		`{"version":1,"verdicts":{"` + key(1) + `":{"program":"x","serena":"0.9","at":"2026-01-01T00:00:00Z"}}}`,
		`{"version":1,"verdicts":{"` + key(1) + `":{"program":"x","serena":"\u001b[2J","at":"2026-01-01T00:00:00Z"}}}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := newVerdicts(path, time.Now)
		if v, ok := s.get(key(1)); ok {
			t.Errorf("%.40q: got %+v", text, v)
		}
		s.put(key(1), good("2.1.0"))
		if _, ok := newVerdicts(path, time.Now).get(key(1)); !ok {
			t.Errorf("%.40q: was not replaced", text)
		}
	}
	// Where nothing can be written the memory has to do, and nothing is made.
	s := newVerdicts(filepath.Join(dir, "none", verdictsName), time.Now)
	s.put(key(1), good("2.1.0"))
	if _, ok := s.get(key(1)); !ok {
		t.Error("forgotten")
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("a directory was made")
	}
}

// What a save has left that was killed goes with the next start, also when that saves
// nothing.
func TestVerdictsSweep(t *testing.T) {
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, "."+verdictsName+".1.tmp"), filepath.Join(dir, "."+verdictsName+".2.tmp")
	for _, path := range []string{old, fresh} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*statefile.Abandoned)); err != nil {
		t.Fatal(err)
	}
	newVerdicts(filepath.Join(dir, verdictsName), time.Now).get(key(1))
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was left: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("what somebody may be writing: %v", err)
	}
}

func TestVerdictsAreBounded(t *testing.T) {
	c := &clock{at: time.Now()}
	path := filepath.Join(t.TempDir(), verdictsName)
	s := newVerdicts(path, c.now)
	for n := range 3 * mostVerdicts {
		c.at = c.at.Add(time.Second)
		s.put(key(n), good("2.1.0"))
	}
	if _, ok := s.get(key(3*mostVerdicts - 1)); len(s.known) != mostVerdicts || !ok {
		t.Errorf("%d are known", len(s.known))
	}
	if info, err := os.Stat(path); err != nil || info.Size() > mostVerdictBytes {
		t.Errorf("%v, %v", info, err)
	}
}

// What is remembered is never more than what was put, nor older than it may be.
func TestVerdictsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &clock{at: time.Unix(1e9, 0)}
		s := newVerdicts("", c.now)
		put := map[string]remembered{}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k := key(rapid.IntRange(0, 99).Draw(t, "key"))
				v := bad()
				if rapid.Bool().Draw(t, "ok") {
					v = good("2.1.0")
				}
				s.put(k, v)
				put[k] = remembered{v, c.at}
			},
			"wait": func(t *rapid.T) {
				c.at = c.at.Add(time.Duration(rapid.IntRange(0, 40_000).Draw(t, "seconds")) * time.Second)
			},
			"": func(t *rapid.T) {
				if len(s.known) > mostVerdicts {
					t.Fatalf("%d are known", len(s.known))
				}
				for n := range 100 {
					v, ok := s.get(key(n))
					if was, had := put[key(n)]; ok && (!had || !was.fresh(c.at) || was.verdict.OK != v.OK) {
						t.Fatalf("%d: %+v", n, v)
					}
				}
			},
		})
	})
}

func TestTakeWaits(t *testing.T) {
	s := newVerdicts("", time.Now)
	release, err := s.take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.take(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	other()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.take(ctx, "a"); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	taken := make(chan struct{})
	go func() {
		if release, err := s.take(t.Context(), "a"); err == nil {
			release()
		}
		close(taken)
	}()
	release()
	<-taken
}
