package policies

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/statefile"
)

func TestParseWishes(t *testing.T) {
	full := policy.Wishes{
		Kept: map[monitor.Identity]time.Time{who(4): noon}, Paused: true, PausedUntil: noon.Add(time.Hour), Off: map[policy.Rule]bool{policy.Idle: true},
	}
	text, err := encode("b", full)
	want := `{"boot":"b","kept":{"4-7":"2026-03-04T12:00:00Z"},"paused":true,"paused_until":"2026-03-04T13:00:00Z","off":["idle"]}` + "\n"
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	for text, want := range map[string]policy.Wishes{
		string(text):      full,
		"{}":              policy.Wishes{}.Clone(),
		`{"boot":"b"}`:    policy.Wishes{}.Clone(),
		" {\"off\":[]}\n": policy.Wishes{}.Clone(),
		`{"boot":"other","kept":{"4-7":"2026-03-04T12:00:00Z"},"paused":true,"off":["memory"]}`: {
			Kept: map[monitor.Identity]time.Time{}, Paused: true, Off: map[policy.Rule]bool{policy.Memory: true},
		},
	} {
		if got, err := parse([]byte(text), "b"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{
		"":                                      "EOF",
		"null":                                  "says nothing",
		"[]":                                    "array",
		"{":                                     "EOF",
		"{}{}":                                  "behind its end",
		"{} x":                                  "behind its end",
		`{"pauzed":true}`:                       `unknown field "pauzed"`,
		`{"kept":{"4":"x"}}`:                    "parsing time",
		`{"kept":{"4":"2026-03-04T12:00:00Z"}}`: "not an instance id",
		`{"off":["naps"]}`:                      `no rule is called "naps"`,
		`{"paused":"yes"}`:                      "string",
	} {
		if _, err := parse([]byte(text), "b"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// fileIn is the path of a file in a new state directory.
func fileIn(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "policy.json") }

func names(t testing.TB, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// What the user has said is there again after a restart; what is of another boot
// is not.
func TestSaidIsRemembered(t *testing.T) {
	w, path := newWorld(), fileIn(t)
	o := w.options()
	o.Path = path
	boot := "one"
	open := func() *Engine { return newEngine(o, w.now, func() (string, error) { return boot, nil }) }
	e := open()
	for _, err := range []error{
		e.Keep(server(4, noon), time.Hour, "a test"), e.Pause(noon.Add(2*time.Hour), "a test"), e.Switch(policy.Idle, false, "a test"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if list := names(t, path); !slices.Equal(list, []string{"policy.json"}) {
		t.Errorf("%v", list)
	}
	s := open().wishesNow()
	if until, kept := s.KeptAt(who(4), noon); !kept || !until.Equal(noon.Add(time.Hour)) || !s.PausedAt(noon) || s.PausedAt(noon.Add(2*time.Hour)) || !s.Off[policy.Idle] {
		t.Errorf("%+v", s)
	}
	boot = "two"
	if s = open().wishesNow(); len(s.Kept) > 0 || !s.PausedAt(noon) || !s.Off[policy.Idle] {
		t.Errorf("after another boot: %+v", s)
	}
}

// A file that nobody can read counts as a pause: it may have said so.
func TestBrokenFile(t *testing.T) {
	for name, text := range map[string]string{"half of it": `{"boot":"one","paus`, "empty": "", "rubbish": "\x00\x01", "too large": strings.Repeat(" ", maxSize) + "{}"} {
		t.Run(name, func(t *testing.T) {
			w, path := newWorld(), fileIn(t)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			o := w.options()
			o.Path = path
			o.Active = false
			if e := w.engine(o); !e.wishesNow().Paused || len(names(t, path)) != 1 {
				t.Errorf("who does not act touches the file: %v", names(t, path))
			}
			o.Active = true
			e := w.engine(o)
			e.tellProblem()
			e.tellProblem()
			if len(w.notices) != 1 || !strings.Contains(w.notices[0].Body, "set aside as ") || !strings.Contains(w.notices[0].Body, "until you resume") {
				t.Errorf("%+v", w.notices)
			}
			list := names(t, path)
			if len(list) != 2 || !strings.HasPrefix(list[1], "policy.json.corrupt-20260304T120000") {
				t.Errorf("%v", list)
			}
			if e = w.engine(o); !e.wishesNow().Paused {
				t.Error("the next start does not know of it")
			}
			if err := e.Resume("a test"); err != nil || w.engine(o).wishesNow().Paused {
				t.Error("it cannot be resumed", err)
			}
		})
	}
}

// After an error nothing has changed, and the error says what is in the way.
func TestNothingCanBeWritten(t *testing.T) {
	w, path := newWorld(), fileIn(t)
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	o := w.options()
	o.Path = path
	e := w.engine(o)
	if !e.wishesNow().Paused || e.problem == nil || !strings.Contains(e.problem.Body, "a directory, not a file") {
		t.Errorf("%+v", e.problem)
	}
	err := e.Switch(policy.Orphans, false, "a test")
	if err == nil || !strings.Contains(err.Error(), "was not switched: ") || !strings.Contains(err.Error(), "a directory, not a file") {
		t.Errorf("got %v", err)
	}
	if e.wishesNow().Off[policy.Orphans] || len(w.events) > 0 {
		t.Errorf("%+v, %v", e.wishesNow(), w.events)
	}
}

// What a write that was killed has left is removed by the start of the program that
// acts, what may be another's not.
func TestSweep(t *testing.T) {
	for active, want := range map[bool][]string{
		true:  {".pins.json.3.tmp", ".policy.json.2.tmp"},
		false: {".pins.json.3.tmp", ".policy.json.1.tmp", ".policy.json.2.tmp"},
	} {
		path := fileIn(t)
		dir := filepath.Dir(path)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, age := range map[string]time.Duration{".policy.json.1.tmp": 2 * statefile.Abandoned, ".policy.json.2.tmp": 0, ".pins.json.3.tmp": 2 * statefile.Abandoned} {
			file, at := filepath.Join(dir, name), time.Now().Add(-age)
			if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, at, at)); err != nil {
				t.Fatal(err)
			}
		}
		o := newWorld().options()
		o.Path, o.Active = path, active
		New(o)
		if list := names(t, path); !slices.Equal(list, want) {
			t.Errorf("active %v: %v, want %v", active, list, want)
		}
	}
}
