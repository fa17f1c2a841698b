package daemon

import (
	"log/slog"
	"os"
	"reflect"
	"testing"

	"lamplighter/monitor"
)

func TestProofs(t *testing.T) {
	dir := t.TempDir()
	open := func() (*proofs, map[monitor.Identity]monitor.Proof) {
		p := openProofs(dir, slog.New(slog.DiscardHandler))
		told := map[monitor.Identity]monitor.Proof{}
		p.restore(func(id monitor.Identity, proof monitor.Proof) { told[id] = proof })
		return p, told
	}
	p, told := open()
	if len(told) != 0 {
		t.Fatalf("of nothing: %v", told)
	}
	client := &monitor.Client{Identity: monitor.Identity{PID: 3, Start: 4}, Name: "Codex"}
	entry := &monitor.Entry{Name: "notes", Client: "Codex", File: "/c.toml", Scope: "user", Proves: true, Program: "/usr/bin/node"}
	pipe := monitor.Pipe{In: monitor.PipeEnd{Inode: 7}, Out: monitor.PipeEnd{Inode: 8}}
	held := monitor.Instance{Identity: monitor.Identity{PID: 1, Start: 2}, State: monitor.StateLive, Recognised: true, Client: client, Entry: entry, Evidence: monitor.Evidence{Pipe: pipe}}
	ours, unsure, alone := held, held, held
	ours.Identity.PID, ours.Managed = 5, true
	unsure.Identity.PID, unsure.Recognised = 6, false
	alone.Identity.PID, alone.Client = 7, nil
	p.note(&monitor.Snapshot{Instances: []*monitor.Instance{new(held), new(ours), new(unsure), new(alone)}})

	p, told = open()
	if want := map[monitor.Identity]monitor.Proof{held.Identity: {Client: client, Pipe: &pipe, Entry: entry}}; !reflect.DeepEqual(told, want) {
		t.Errorf("told %+v, want %+v", told, want)
	}
	written, err := os.Stat(p.file.Path)
	if err != nil {
		t.Fatal(err)
	}
	p.note(&monitor.Snapshot{Instances: []*monitor.Instance{new(held)}})
	if again, err := os.Stat(p.file.Path); err != nil || again.ModTime() != written.ModTime() {
		t.Errorf("what is the same was written again: %v", err)
	}

	p.boot = "another"
	p.restore(func(monitor.Identity, monitor.Proof) { t.Error("told of another boot") })
	p, _ = open()
	next := held
	next.Identity.PID = 8
	p.note(&monitor.Snapshot{Instances: []*monitor.Instance{&next}})
	if _, told = open(); len(told) != 1 || told[next.Identity].Client == nil {
		t.Errorf("after one has ended and one begun: %v", told)
	}
	if err := os.WriteFile(p.file.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, told = open(); len(told) != 0 {
		t.Errorf("of a broken file: %v", told)
	}
}
