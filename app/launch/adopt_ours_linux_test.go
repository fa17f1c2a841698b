package launch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// TestOnlyWhatIsOurs leaves alone what cannot be proved to be ours.
func TestOnlyWhatIsOurs(t *testing.T) {
	state := t.TempDir()
	dir := func(name string) string { return filepath.Join(state, serversDir, name) }
	write := func(r record) {
		if err := errors.Join(os.MkdirAll(dir(r.ID), 0o700), writeRecord(dir(r.ID), &r)); err != nil {
			t.Fatal(err)
		}
	}
	stranger := stranger(t)
	id := stranger.identity
	boot, err := process.BootID()
	if err != nil {
		t.Fatal(err)
	}
	another := monitor.Identity{PID: id.PID, Start: id.Start + 1}
	base := record{Version: recordVersion, Lifetime: Session, BootID: boot, Path: "/mcp", Name: "x", Kind: "x"}
	for i, change := range []func(*record){
		func(r *record) { r.BootID, r.Keeper, r.Server, r.Port = "another boot", id.String(), id.String(), 1 },
		func(r *record) { r.Keeper, r.Server, r.Port = another.String(), another.String(), 1 }, // its pid is used again
		func(r *record) {
			r.Lifetime, r.Keeper, r.Server, r.Port = Shared, another.String(), another.String(), 1
		},
		func(r *record) { r.Keeper, r.Server, r.Port = id.String(), id.String(), 1 }, // without its mark
		func(r *record) { r.Lifetime, r.Keeper, r.Server, r.Port = Shared, id.String(), id.String(), 1 },
		func(r *record) { r.BootID, r.Keeper, r.Server, r.Port = "", id.String(), id.String(), 1 },
	} {
		r := base
		r.ID = someID[:35] + string(rune('a'+i))
		change(&r)
		write(r)
	}
	broken := someID[:35] + "9"
	if err := errors.Join(
		os.MkdirAll(dir(broken), 0o700), os.WriteFile(filepath.Join(dir(broken), recordFile), []byte("{"), 0o600),
		os.MkdirAll(dir("not ours"), 0o700), os.WriteFile(dir("file"), nil, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	marked := markedDaemon(t, broken) // whose record cannot be read
	l, stop := running(t, state, nil)
	apptest.Eventually(t, "what was left is dealt with", func() bool {
		left, err := os.ReadDir(filepath.Join(state, serversDir))
		return err == nil && len(left) == 2 // what has no name of ours
	})
	if !lives(id) || lives(marked.identity) || len(l.Servers()) != 0 {
		t.Errorf("stranger %v, marked %v", lives(id), lives(marked.identity))
	}
	stop()
}
