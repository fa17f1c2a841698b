package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/notify"
	"lamplighter/installer"
)

// switchBoard is a loginInstaller that does what the test says.
type switchBoard struct {
	mu      sync.Mutex
	login   installer.Login
	plan    []installer.Change
	planErr error
	doErr   error
	idle    bool // Do changes nothing
	done    []installer.Plan
	read    int
}

func (s *switchBoard) Login() installer.Login {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read++
	return s.login
}

func (s *switchBoard) PlanLogin(context.Context, bool) (installer.Plan, error) {
	return installer.Plan{Changes: s.plan, Notes: []string{"A note."}}, s.planErr
}

func (s *switchBoard) Do(_ context.Context, p installer.Plan, tell func(installer.Change, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, p)
	for _, c := range p.Changes {
		tell(c, nil)
	}
	if s.doErr == nil && !s.idle {
		s.login.On = !s.login.On
	}
	return s.doErr
}

func (s *switchBoard) set(l installer.Login) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.login = l
}

// switched is the part with what it tells.
type switched struct {
	*atLogin
	board   *switchBoard
	redrawn int
	failed  []string
}

func newSwitched(l installer.Login) *switched {
	s := &switched{board: &switchBoard{login: l, plan: []installer.Change{{Op: installer.OpWrite, Path: "/u/unit"}}}}
	s.atLogin = &atLogin{
		installer: s.board, now: time.Now, log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		changed: func() { s.redrawn++ }, failed: func(text string) { s.failed = append(s.failed, text) },
	}
	return s
}

func TestSwitchStartAtLogin(t *testing.T) {
	can := installer.Login{Can: true, How: "systemd user unit"}
	canOn := can
	canOn.On = true
	foreign := fmt.Errorf("/u/unit is in the way: %w", installer.ErrForeign)
	for _, c := range []struct {
		name    string
		login   installer.Login
		change  func(*switchBoard)
		on      bool
		after   bool
		done    int
		stays   bool
		problem string
	}{
		{name: "on", login: can, on: true, after: true, done: 1},
		{name: "off", login: canOn, on: false, done: 1},
		{name: "on already", login: canOn, change: func(s *switchBoard) { s.planErr = foreign }, on: true, after: true},
		{name: "on already, and cannot be", login: installer.Login{On: true, Why: "An administrator has it."}, on: true, after: true},
		{name: "cannot be", login: installer.Login{On: true, Why: "An administrator has it."}, on: false, after: true, stays: true, problem: "An administrator has it."},
		{name: "cannot be, for no reason", on: true, stays: true, problem: api.ErrLoginStays.Error()},
		{name: "foreign", login: can, change: func(s *switchBoard) { s.planErr = foreign }, on: true, stays: true, problem: foreign.Error()},
		{name: "foreign since", login: can, change: func(s *switchBoard) { s.doErr = foreign }, on: true, done: 1, stays: true, problem: foreign.Error()},
		{name: "no program", login: can, change: func(s *switchBoard) { s.planErr = installer.ErrNoPrograms }, on: true, stays: true, problem: "a program is missing"},
		{name: "full disk", login: can, change: func(s *switchBoard) { s.doErr = errors.New("no space left") }, on: true, done: 1, problem: "no space left"},
		{name: "did not take hold", login: can, change: func(s *switchBoard) { s.idle = true }, on: true, done: 1, problem: "it is still off"},
		{name: "did not take hold, and why", login: installer.Login{Can: true, Why: "It is masked."}, change: func(s *switchBoard) { s.idle = true }, on: true, done: 1, problem: "it is still off: It is masked."},
	} {
		s := newSwitched(c.login)
		if c.change != nil {
			c.change(s.board)
		}
		state, err := s.SetLogin(t.Context(), c.on, "the page")
		if (err != nil) != (c.problem != "") || errors.Is(err, api.ErrLoginStays) != c.stays || err != nil && !strings.HasSuffix(err.Error(), c.problem) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "start at login was not switched "+onOff(c.on)+": ") {
			t.Errorf("%s: %v", c.name, err)
		}
		if on, _ := s.AtLogin(); state.On != c.after || on != c.after || len(s.board.done) != c.done {
			t.Errorf("%s: %+v, the menu shows %v, %d plans carried out", c.name, state, on, len(s.board.done))
		}
		if s.failed != nil {
			t.Errorf("%s: the page has an answer, and the user was told %q", c.name, s.failed)
		}
	}
}

func TestSwitchInTheMenu(t *testing.T) {
	s := newSwitched(installer.Login{Can: true})
	s.SetAtLogin(true)
	if on, can := s.AtLogin(); !on || !can || s.redrawn == 0 {
		t.Errorf("on %v, can %v, drawn %d times", on, can, s.redrawn)
	}
	s.board.doErr = errors.New("no\u202e space left")
	s.SetAtLogin(false)
	if want := []string{"", "start at login was not switched off: no space left"}; !reflect.DeepEqual(s.failed, want) {
		t.Errorf("told %q, want %q", s.failed, want)
	}
	if on, _ := s.AtLogin(); !on {
		t.Error("the menu shows what is not")
	}
}

// The menu never waits, and learns at last what others have switched.
func TestMenuLearnsOfStartAtLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwitched(installer.Login{On: true, Can: true})
		shows := func(when string, want bool, reads, redrawn int) {
			t.Helper()
			on, can := s.AtLogin()
			synctest.Wait()
			if on != want || can != want || s.board.read != reads || s.redrawn != redrawn {
				t.Errorf("%s: on %v, can %v, read %d times, drawn %d times", when, on, can, s.board.read, s.redrawn)
			}
		}
		shows("at first", false, 1, 1)
		shows("read", true, 1, 1)
		s.board.set(installer.Login{})
		time.Sleep(loginFresh - time.Second)
		shows("fresh", true, 1, 1)
		time.Sleep(time.Second)
		shows("not fresh", true, 2, 2)
		shows("read again", false, 2, 2)
		s.board.set(installer.Login{Why: "Another reason."})
		s.Login()
		shows("what the menu does not show", false, 3, 2)
	})
}

func TestWhatFailsInTheMenuIsShown(t *testing.T) {
	d := newDesktop(t)
	b := &background{Program: d.Program, places: d.Places(), log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	var shown []string
	b.notices.show(func(all []string) { shown = all })
	var announced []notify.Notification
	l := b.startLogin(func(n notify.Notification, _ func(string)) bool { announced = append(announced, n); return true })
	l.failed("it did not work")
	if len(shown) != 1 || shown[0] != "it did not work" || len(announced) != 1 || announced[0].Body != "it did not work" {
		t.Errorf("%q, %+v", shown, announced)
	}
	l.failed("")
	if len(shown) != 0 || len(announced) != 1 {
		t.Errorf("%q, %+v", shown, announced)
	}
}
