package launch

import (
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/monitor/programtest"
)

// TestKeepersThatCannotWork say why, with their status and their last line.
func TestKeepersThatCannotWork(t *testing.T) {
	for script, want := range map[string]string{
		"echo first >&2; echo 'no library' >&2; exit 127": "before it could start it (exit status 127): no library",
		"exit 3":     "before it could start it (exit status 3); it printed nothing",
		"kill -9 $$": "before it could start it (signal: killed); it printed nothing",
	} {
		state, program := t.TempDir(), filepath.Join(t.TempDir(), keeperName)
		if err := programtest.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		l, _ := running(t, state, func(l *Launcher) { l.o.Program = program })
		if _, err := l.Launch(t.Context(), order()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", script, err)
		}
		nothingLeft(t, state)
	}
}
