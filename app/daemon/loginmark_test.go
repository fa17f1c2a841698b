package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// claims checks what a mark says, call after call.
func claims(t *testing.T, what string, m loginMark, want ...bool) {
	t.Helper()
	for i, w := range want {
		if got, err := m.claim(); got != w || err != nil {
			t.Errorf("%s, call %d: %v, %v", what, i+1, got, err)
		}
	}
}

func TestLoginMark(t *testing.T) {
	in := func(login string) func() (string, error) { return func() (string, error) { return login, nil } }
	fails := func() (string, error) { return "", errors.New("no such thing") }
	runtime, state := t.TempDir(), t.TempDir()

	m := newLoginMark(runtime, state)
	m.login = in("first")
	claims(t, "in the runtime directory", m, true, false, false)
	claims(t, "after a restart", newMark(runtime, state, in("first")), false)
	claims(t, "a runtime directory that outlives its boot", newMark(runtime, state, in("second")), true, false)
	if err := os.RemoveAll(filepath.Join(runtime, "lamplighter")); err != nil {
		t.Fatal(err)
	}
	claims(t, "after logout", newMark(runtime, state, in("second")), true, false)
	claims(t, "logins that look the same", newMark(t.TempDir(), "", fails), true, false)

	claims(t, "in the state directory", newMark("", state, in("first")), true, false)
	claims(t, "after a restart", newMark("", state, in("first")), false)
	claims(t, "in the next login", newMark("", state, in("second")), true, false)
	if _, err := newMark("", state, fails).claim(); err == nil {
		t.Error("claimed, although the next login could not")
	}
	if _, err := newLoginMark("", "").claim(); err == nil || !strings.Contains(err.Error(), "set XDG_RUNTIME_DIR") {
		t.Errorf("without a place: %v", err)
	}
}

func newMark(runtime, state string, login func() (string, error)) loginMark {
	m := newLoginMark(runtime, state)
	m.login = login
	return m
}

// Whatever lies in its place, nothing is claimed and nothing else is touched.
func TestLoginMarkInTheWay(t *testing.T) {
	state := t.TempDir()
	mark := filepath.Join(state, markFile)
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func() error{
		"a link":          func() error { return os.Symlink(victim, mark) },
		"a dangling link": func() error { return os.Symlink(victim+"-new", mark) },
		"a directory":     func() error { return os.Mkdir(mark, 0o700) },
	} {
		err := put()
		if err == nil {
			_, err = os.Lstat(mark)
		}
		if err != nil {
			t.Logf("%s: %v", name, err) // Wine makes no links, and says that it did
			continue
		}
		if first, err := newLoginMark("", state).claim(); first || err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: %v, %v", name, first, err)
		}
		if err := os.Remove(mark); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Lstat(victim + "-new"); err == nil {
		t.Error("a file was made behind a link")
	}
	if err := os.WriteFile(mark, []byte(strings.Repeat("x", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	claims(t, "a file of something else", newLoginMark("", state), true, false)
}

// The system has a name for this login, and it is always the same one.
func TestLoginID(t *testing.T) {
	one, err := loginID()
	if err != nil || len(one) < 3 || len(one) > 100 || strings.ContainsAny(one, "\n\x00") {
		t.Fatalf("%q, %v", one, err)
	}
	if again, err := loginID(); again != one || err != nil {
		t.Errorf("%q, then %q, %v", one, again, err)
	}
}
