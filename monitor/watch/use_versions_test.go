//go:build unix

package watch

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/serena/serenatest"
)

// replayed is a server that answers as a real Serena did, and what is known of it.
// Its process is the test's.
type replayed struct {
	*testing.T
	*serenatest.Replayed
	loop  *loop
	known *tracked
	now   time.Time
}

func replay(t *testing.T, version, state string) *replayed {
	t.Helper()
	stat, err := process.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	w := New(Options{limits: patient})
	s := &replayed{T: t, Replayed: serenatest.Replay(t, version, state), loop: w.begin(nil), now: time.Now()}
	cmd, ok := serena.ParseCommand(s.Transcript.Exe, s.Transcript.Args)
	if !ok {
		t.Fatalf("not recognised: %q", s.Transcript.Args)
	}
	s.known = s.loop.newTracked(process.Info{Identity: stat.Identity}, monitor.KindSerena, cmd, s.now)
	s.known.in.Recognised, s.known.port = true, s.Port
	s.loop.tracked[stat.Identity] = s.known
	return s
}

// look asks it a minute later, and returns what is shown then. An overview that
// waits is given up, as its limit would have it a second later.
func (s *replayed) look(waits bool) monitor.Instance {
	s.Helper()
	s.now = s.now.Add(time.Minute)
	r := result{question: s.known.question(s.now)}
	r.signOfLife = false
	ctx, giveUp := context.WithCancel(s.Context())
	defer giveUp()
	before, answered := len(s.Asked()), make(chan struct{})
	go func() {
		defer close(answered)
		r.ask(ctx, s.loop.o.Dashboards)
	}()
	if waits {
		waitFor(s.T, "the overview is asked for", func() bool { return slices.Contains(s.Asked()[before:], "GET /get_config_overview") })
		giveUp()
	}
	<-answered
	tree := []process.Stat{{Identity: s.known.in.Identity}}
	r.readLog(s.Context(), s.loop.o.Dashboards)
	s.known.noteAnswer(r, s.now)
	s.known.noteTree(tree, s.now)
	s.loop.noteHealth(s.known, r, tree, s.now)
	in, shown := s.known.instance(s.now)
	if !shown || in.State == monitor.StateZombie {
		s.Errorf("shown %v, red: %+v", shown, in)
	}
	return in
}

// fresh looks at it as Watch.Fresh does.
func (s *replayed) fresh() error {
	s.Helper()
	s.now = s.now.Add(time.Second)
	if err := s.loop.lookFreshly(s.Context(), s.known.in.Identity, make(chan freshAnswer, 1), s.now); err != nil {
		return err
	}
	if s.loop.inFlight > 0 {
		s.loop.absorb(<-s.loop.results, s.now)
	}
	if len(s.loop.answers) != 1 {
		s.Errorf("%d answers", len(s.loop.answers))
	}
	s.loop.answers = nil
	return nil
}

// freshIdle is since when it is idle, by such a look.
func (s *replayed) freshIdle() time.Time {
	s.Helper()
	if err := s.fresh(); err != nil {
		s.Fatal(err)
	}
	return s.known.shownEvidence().IdleSince
}

// TestVersions goes through the states of each version. A tool that runs holds up
// the overview of 1.5.3, and makes nothing red. A call resets the idle time, and
// one that is cut off goes on outside the queue: its server has nothing to do by
// its own word, and is not idle.
func TestVersions(t *testing.T) {
	for _, version := range serenatest.Versions {
		t.Run(version, func(t *testing.T) {
			s := replay(t, version, serenatest.NoProject)
			in := s.look(false)
			if in.State != monitor.StateNoProject || in.Version != version || in.Context != "desktop-app" || len(in.Modes) == 0 || in.Name() != "NO PROJECT" ||
				in.ToolCalls == nil || *in.ToolCalls != 0 || *in.Busy || !in.LastActivity.Equal(in.StartedAt) {
				t.Errorf("when it is ready: %+v", in)
			}
			if e := in.Evidence; e.Transport != "http" || e.KeepsState == nil || *e.KeepsState || e.IdleSince != s.now {
				t.Errorf("evidence %+v", e)
			}
			first := in.Evidence.IdleSince
			if in = s.look(false); in.Evidence.IdleSince != first {
				t.Errorf("nobody has called it, and it is idle since %v", in.Evidence.IdleSince)
			}
			if since := s.freshIdle(); since != first {
				t.Errorf("looked at, and idle since %v", since)
			}

			s.Enter(serenatest.Project)
			if since := s.freshIdle(); since != s.now {
				t.Errorf("called, and idle since %v", since)
			}
			called := s.now
			in = s.look(false)
			if in.State != monitor.StateProject || in.ProjectName != "alpha" || in.ProjectRoot != "/home/user/alpha" || *in.ToolCalls != 1 || in.Evidence.IdleSince != called || *in.Busy {
				t.Errorf("with a project: %+v", in)
			}

			s.Enter(serenatest.Busy)
			if since := s.freshIdle(); !since.IsZero() {
				t.Errorf("at work, and idle since %v", since)
			}
			for range 3 { // each later look says the same
				waits := version == serenatest.Version15 && !s.known.overviewHeld
				if in = s.look(waits); in.State != monitor.StateProject || !*in.Busy || !in.Evidence.IdleSince.IsZero() {
					t.Errorf("at work: %+v", in)
				}
				if since := s.freshIdle(); !since.IsZero() {
					t.Errorf("at work, and idle since %v", since)
				}
			}

			s.Enter(serenatest.Called)
			in = s.look(false)
			if *in.Busy || *in.ToolCalls != 3 || in.Evidence.IdleSince != s.now {
				t.Errorf("after the call: %+v", in)
			}
			if since := s.freshIdle(); since != in.Evidence.IdleSince {
				t.Errorf("looked at, and idle since %v", since)
			}

			s.Enter(serenatest.CutOff)
			if since := s.freshIdle(); !since.IsZero() {
				t.Errorf("a call was cut off, and it is idle since %v", since)
			}
			for range 2 {
				if in = s.look(false); *in.Busy || !in.Evidence.IdleSince.IsZero() {
					t.Errorf("a call was cut off: %+v", in)
				}
				if since := s.freshIdle(); !since.IsZero() {
					t.Errorf("a call was cut off, and it is idle since %v", since)
				}
			}
		})
	}
}
