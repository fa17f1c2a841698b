package cli

import (
	"errors"
	"os"
	"strings"
	"testing"

	"lamplighter/app/setup"
)

// What the page asks for is that of the verb, without a project, and finds a
// lamplighter-connect that was installed since.
func TestSetupPart(t *testing.T) {
	d := newDesktop(t)
	codex := d.withHome(t)
	b := &background{program: d.program, places: d.places()}
	part := b.setupPart()
	connect, err := d.besideUs(connectName)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(connect, connect+".away"); err != nil {
		t.Fatal(err)
	}
	w := setup.Wanted{Client: "codex"}
	if _, err := part.Do(t.Context(), w); !errors.Is(err, setup.ErrNoConnect) {
		t.Errorf("without %s: %v", connect, err)
	}
	list, err := part.List(t.Context(), setup.Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		for _, f := range c.Files {
			if f.Scope != setup.User {
				t.Errorf("%s is of a project", f.Path)
			}
		}
	}
	if err := os.Rename(connect+".away", connect); err != nil {
		t.Fatal(err)
	}
	if result, err := part.Do(t.Context(), w); err != nil || result.Failed() || len(result.Changes) != 1 || !strings.Contains(settingsAt(t, codex), connectName) {
		t.Errorf("%+v, %v: %s", result, err, settingsAt(t, codex))
	}
	w.Undo = true
	if result, err := part.Do(t.Context(), w); err != nil || result.Failed() || settingsAt(t, codex) != codexSettings {
		t.Errorf("%+v, %v: %s", result, err, settingsAt(t, codex))
	}
	b.places.StateDir = ""
	if b.setupPart() != nil {
		t.Error("what could not be undone can be asked for")
	}
}
