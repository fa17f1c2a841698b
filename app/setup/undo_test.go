package setup

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// ours is an entry behind any lamplighter-connect.
func ours(connect, rest string) string {
	return `{"mcpServers": {"serena": {"command": "` + inJSON(connect) + `", "args": [` + rest + `]}}}`
}

// After a change elsewhere only what setup has written is taken back.
func TestUndoAfterAChangeElsewhere(t *testing.T) {
	for name, test := range map[string]struct{ file, text, from, to string }{
		"JSON": {cursorFile, "{\n\t\"mcpServers\": {\n\t\t\"serena\": {\n\t\t\t\"command\": \"serena\",\n\t\t\t\"args\": [ // mine\n\t\t\t\t\"start-mcp-server\"\n\t\t\t]\n\t\t}\n\t}\n}\n", "{\n\t\"mcp", "{\n\t\"new\": 1,\n\t\"mcp"},
		"TOML": {codexFile, "[mcp_servers.serena]\ncommand = 'serena'\nargs = [\n  'start-mcp-server', # mine\n]\n", "[mcp_servers.serena]", "new = 1\n[mcp_servers.serena]\nx = 2"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			path := b.write(test.file, test.text)
			first := b.done(Wanted{})
			b.write(path, strings.Replace(b.read(path), test.from, test.to, 1))
			c := b.done(Wanted{Undo: true})
			if want := strings.Replace(test.text, test.from, test.to, 1); b.read(path) != want || c.Whole || c.Backup != first.Backup || names(c.Entries) != "serena" || len(c.Left) > 0 {
				t.Errorf("%+v\n%s\n%s", c, b.read(path), want)
			}
			if b.read(first.Backup) != test.text || len(b.beside(path)) != 1 {
				t.Errorf("the backup is gone: %q", b.beside(path))
			}
			if r := b.do(Wanted{Undo: true}); len(r.Changes) > 0 {
				t.Errorf("again: %+v", r)
			}
		})
	}
}

// What was changed in an entry stays; what is no longer ours is left alone.
func TestUndoOfAnEditedEntry(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, direct)
	b.done(Wanted{NoPage: true})
	b.write(path, strings.Replace(b.read(path), `"ide"`, `"ide", "--log-level", "DEBUG"`, 1))
	if c := b.done(Wanted{Undo: true}); c.Whole || b.read(path) != strings.Replace(direct, `"ide"`, `"ide", "--log-level", "DEBUG"`, 1) {
		t.Errorf("%+v\n%s", c, b.read(path))
	}

	b = newBed(t)
	path = b.write(cursorFile, direct)
	b.done(Wanted{})
	mine := `{"mcpServers": {"serena": {"command": "mine"}}}`
	b.write(path, mine)
	if c := b.done(Wanted{Undo: true}); len(c.Entries) > 0 || names(c.Left) != "serena" || !strings.Contains(c.Left[0].Why, "changed since") || b.read(path) != mine {
		t.Errorf("%+v", c)
	}

	b = newBed(t)
	path = b.write(cursorFile, direct)
	b.done(Wanted{})
	b.write(path, "{}")
	if c := b.done(Wanted{Undo: true}); len(c.Left) != 1 || !strings.Contains(c.Left[0].Why, "no longer in the file") || c.Left[0].Path[0] != "mcpServers" || b.read(path) != "{}" || c.Backup == "" {
		t.Errorf("%+v", c)
	}
	if r := b.do(Wanted{Undo: true}); len(r.Changes) > 0 {
		t.Errorf("again: %+v", r)
	}
}

// Entries that no record knows are taken apart by their words.
func TestUndoWithoutARecord(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone", "lamplighter-connect")
	for name, test := range map[string]struct{ text, want string }{
		"gone":          {ours(gone, `"connect", "--or-direct", "--", "serena", "start-mcp-server"`), ours("serena", `"start-mcp-server"`)},
		"by hand":       {ours("lamplighter-connect", `"connect", "serena", "start-mcp-server"`), ours("serena", `"start-mcp-server"`)},
		"the verb":      {ours("lamplighter", `"connect", "--", "serena"`), ours("serena", ``)},
		"with a socket": {ours("lamplighter-connect.exe", `"connect", "--socket", "/s", "--", "npx", "x"`), ours("npx", `"x"`)},
	} {
		b := newBed(t)
		path := b.write(cursorFile, test.text)
		c := b.done(Wanted{Undo: true})
		if b.read(path) != test.want || c.Whole || c.Backup == "" || b.read(c.Backup) != test.text {
			t.Errorf("%s: %+v\n%s", name, c, b.read(path))
		}
	}

	b := newBed(t)
	path := b.write(cursorFile, direct)
	b.done(Wanted{})
	b.write(filepath.Join(b.state, recordName), "{")
	if c := b.done(Wanted{Undo: true}); b.read(path) != direct || len(c.Entries) != 1 {
		t.Errorf("%+v\n%s", c, b.read(path))
	}

	b = newBed(t)
	empty := ours("lamplighter-connect", `"connect", "--"`)
	path = b.write(cursorFile, empty)
	if c := b.done(Wanted{Undo: true}); len(c.Entries) > 0 || b.read(path) != empty || len(c.Left) != 1 || !strings.Contains(c.Left[0].Why, "without the command") {
		t.Errorf("%+v", c)
	}
}

// Lamplighter has moved, or is another one: what was written twice is undone
// twice.
func TestTwoSteps(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, direct)
	b.done(Wanted{})
	first := b.read(path)
	b.o.Connect = b.program("moved", "lamplighter-connect")
	if e := b.listed(path, "serena"); e.State != Other || e.Becomes == "" {
		t.Errorf("%+v", e)
	}
	if err := os.Remove(b.connect); err != nil {
		t.Fatal(err)
	}
	if e := b.listed(path, "serena"); e.State != Gone || e.Becomes == "" {
		t.Errorf("%+v", e)
	}
	second := b.done(Wanted{})
	if second.Backup != path+".lamplighter-backup-2" || b.read(second.Backup) != first {
		t.Errorf("%+v", second)
	}
	undone := *b
	if c := undone.done(Wanted{Undo: true}); !c.Whole || b.read(path) != direct || len(b.beside(path)) > 0 {
		t.Errorf("%+v, %q", c, b.beside(path))
	}

	// The same when something else has changed since, and when a backup is lost.
	for _, elsewhere := range []string{"", "\n// new\n"} {
		b = newBed(t)
		path = b.write(cursorFile, direct)
		lost := b.done(Wanted{})
		b.o.Connect = b.program("moved", "lamplighter-connect")
		b.done(Wanted{NoPage: true})
		b.write(path, b.read(path)+elsewhere)
		if err := os.Remove(lost.Backup); err != nil {
			t.Fatal(err)
		}
		if c := b.done(Wanted{Undo: true}); b.read(path) != direct+elsewhere || c.Whole != (elsewhere == "") || len(c.Left) > 0 {
			t.Errorf("%+v\n%s", c, b.read(path))
		}
	}
}

func TestUndoOfOneEntry(t *testing.T) {
	b := newBed(t)
	two := `{"mcpServers": {"serena": {"command": "serena", "args": ["start-mcp-server"]}, "other": {"command": "serena", "args": ["start-mcp-server"]}}}`
	path := b.write(cursorFile, two)
	b.done(Wanted{})
	c := b.done(Wanted{Undo: true, Servers: []string{"other"}})
	if names(c.Entries) != "other" || c.Whole || b.listed(path, "other").State != Direct || b.listed(path, "serena").State != Shared {
		t.Errorf("%+v\n%s", c, b.read(path))
	}
	if c := b.done(Wanted{Undo: true}); names(c.Entries) != "serena" || !c.Whole || len(c.Left) > 0 || b.read(path) != two || len(b.beside(path)) > 0 {
		t.Errorf("%+v\n%s %q", c, b.read(path), b.beside(path))
	}
}

// Whoever is killed between the record and the file has changed nothing.
func TestKilledBeforeTheFileWasWritten(t *testing.T) {
	for _, w := range []Wanted{{}, {Undo: true}} {
		b := newBed(t)
		path := b.write(cursorFile, direct)
		backup := b.write(path+".lamplighter-backup", direct)
		rec, err := loadRecord(b.state)
		if err == nil {
			err = rec.push(step{Path: path, At: time.Unix(1, 0), Before: sum([]byte(direct)), After: sum(nil), Backup: backup, Entries: []stepEntry{}})
		}
		if err != nil {
			t.Fatal(err)
		}
		if list, err := New(b.o).List(t.Context(), Wanted{File: path}); err != nil || list[0].Files[0].Changed != nil || list[0].Files[0].Backup != "" {
			t.Errorf("%+v, %v", list, err)
		}
		b.do(w)
		want := 0
		if !w.Undo {
			want = 1
		}
		if rec, err = loadRecord(b.state); err != nil || len(rec.all) != want || len(b.beside(path)) != want {
			t.Errorf("%+v, %v, %q", rec, err, b.beside(path))
		}
		b.do(Wanted{Undo: true})
		if b.read(path) != direct || len(b.beside(path)) > 0 {
			t.Errorf("%s, %q", b.read(path), b.beside(path))
		}
	}
}

// Whoever is killed between undoing and the record has undone it.
func TestKilledBeforeTheRecordWasDropped(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, direct)
	b.done(Wanted{})
	b.done(Wanted{NoPage: true})
	b.write(path, direct)
	if r := b.do(Wanted{Undo: true}); len(r.Changes) > 0 || b.read(path) != direct || len(b.beside(path)) > 0 {
		t.Errorf("%+v, %q", r, b.beside(path))
	}
	if rec, err := loadRecord(b.state); err != nil || len(rec.all) > 0 {
		t.Errorf("%+v, %v", rec, err)
	}
}

// A text that cannot be put back does not keep the entry from being undone.
func TestUndoWhereTheTextCannotBePutBack(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, b.shared())
	all, err := New(b.o).places(Wanted{File: path})
	if err != nil {
		t.Fatal(err)
	}
	set, err := all[0].read()
	if err != nil {
		t.Fatal(err)
	}
	name := set.entries[0].Path
	after, err := set.doc.Source(name)
	if err != nil {
		t.Fatal(err)
	}
	bad := after
	bad.Command = "serena" // without its quotation marks
	r := run{s: New(b.o), m: New(b.o).machine(), w: Wanted{Undo: true}}
	v := reversal{doc: set.doc, done: map[string][]string{}, left: map[string]Entry{}, asBefore: map[string]bool{}}
	steps := []step{{Entries: []stepEntry{{Path: name, Before: bad, After: after}}}}
	if r.bySources(&v, steps); len(v.left) != 1 || len(v.done) > 0 {
		t.Errorf("%+v", v)
	}
	if r.byWords(&v, all[0], steps); len(v.left) > 0 || string(v.doc.Bytes()) != direct {
		t.Errorf("%+v: %s", v.left, v.doc.Bytes())
	}
}

// A backup with the only copy of what somebody wrote stays, and is told.
func TestBackupWithTheOnlyCopy(t *testing.T) {
	for _, undo := range []bool{false, true} {
		b := newBed(t)
		path := b.write(cursorFile, direct)
		b.done(Wanted{})
		edited := strings.Replace(direct, "serena\": {", "notes\": {\"command\": \"n\"}, \"serena\": {", 1)
		b.write(path, edited)
		second := b.done(Wanted{})
		b.write(path, direct) // as git puts it back
		c := b.done(Wanted{Undo: undo})
		if b.read(second.Backup) != edited || len(c.Kept) != 1 || c.Kept[0] != second.Backup {
			t.Errorf("undo %v: %+v, %q", undo, c, b.beside(path))
		}
		if b.do(Wanted{Undo: true}); b.read(path) != direct || len(b.beside(path)) != 1 {
			t.Errorf("undo %v: %s, %q", undo, b.read(path), b.beside(path))
		}
	}
}

// Of a file that has gone, undo tells where it is kept.
func TestUndoOfAFileThatHasGone(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, direct)
	backup := b.done(Wanted{}).Backup
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, w := range []Wanted{{Undo: true}, {Undo: true, DryRun: true}, {Undo: true, File: path}} {
		if r := b.do(w); len(r.Changes) != 1 || !strings.Contains(r.Changes[0].Problem, backup) || b.read(backup) != direct {
			t.Errorf("%+v: %+v", w, r)
		}
	}
	if r := b.do(Wanted{}); len(r.Changes) > 0 {
		t.Errorf("there is nothing to share: %+v", r)
	}
	if err := os.Remove(backup); err != nil {
		t.Fatal(err)
	}
	if r := b.do(Wanted{Undo: true}); len(r.Changes) > 0 {
		t.Errorf("%+v", r)
	}
}

// A file that cannot be understood is told about only where it may be ours.
func TestUndoOfBrokenFiles(t *testing.T) {
	b := newBed(t)
	b.write(codexFile, "x")
	path := b.write(cursorFile, direct)
	b.done(Wanted{Client: "cursor"})
	if c := b.done(Wanted{Undo: true}); !c.Whole {
		t.Errorf("%+v", c)
	}
	b.done(Wanted{Client: "cursor"})
	b.write(path, "{")
	if r := b.do(Wanted{Undo: true}); len(r.Changes) != 1 || r.Changes[0].Path != path || !r.Failed() {
		t.Errorf("with a record: %+v", r)
	}
	b.write(codexFile, "Lamplighter-connect")
	if r := b.do(Wanted{Undo: true}); len(r.Changes) != 2 {
		t.Errorf("with our name: %+v", r)
	}
}

// A backup that somebody has changed is not put back, and not removed.
func TestBackupWasChanged(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, direct)
	c := b.done(Wanted{})
	b.write(c.Backup, "mine")
	if c := b.done(Wanted{Undo: true}); !c.Whole || b.read(path) != direct || b.read(path+".lamplighter-backup") != "mine" {
		t.Errorf("%+v", c)
	}
}

// A file that somebody writes meanwhile is read again, but not for ever.
func TestChangedMeanwhile(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, direct)
	changes := 1
	b.o.Now = func() time.Time { // between reading and writing
		if changes--; changes >= 0 {
			b.write(path, b.read(path)+"\n")
		}
		return time.Unix(1e9, 0)
	}
	if c := b.done(Wanted{}); b.read(path) != b.shared()+"\n" || b.read(c.Backup) != direct+"\n" || len(b.beside(path)) != 1 {
		t.Errorf("%+v %q", c, b.beside(path))
	}
	if c := b.done(Wanted{Undo: true}); !c.Whole || b.read(path) != direct+"\n" {
		t.Errorf("%+v", c)
	}
	changes = 100
	r := b.do(Wanted{})
	if len(r.Changes) != 1 || !strings.Contains(r.Changes[0].Problem, "has changed it meanwhile") || len(b.beside(path)) > 0 || !strings.HasPrefix(b.read(path), direct) || changes != 100-mostTries {
		t.Errorf("%+v %q", r, b.beside(path))
	}
	if rec, err := loadRecord(b.state); err != nil || len(rec.all) > 0 {
		t.Errorf("%+v, %v", rec, err)
	}
}

// Where what undo needs cannot be noted, the file is left as it is.
func TestRecordFails(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, direct)
	b.o.Now = func() time.Time { // after the record was read
		if err := os.MkdirAll(filepath.Join(b.state, recordName), 0o700); err != nil {
			t.Error(err)
		}
		return time.Unix(1e9, 0)
	}
	r := b.do(Wanted{})
	if len(r.Changes) != 1 || !r.Failed() || b.read(path) != direct || len(b.beside(path)) > 0 {
		t.Errorf("%+v, %q", r, b.beside(path))
	}
}

func TestFilesThatAreLeftAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		// The modes are of other systems; app/setup/foreignfile tests Windows'.
		return
	}
	b := newBed(t)
	path := b.write(cursorFile, direct)
	for name, test := range map[string]struct {
		make, mend func() error
		want       string
	}{
		"read-only":  {func() error { return os.Chmod(path, 0o444) }, func() error { return os.Chmod(path, 0o600) }, "read-only"},
		"hard links": {func() error { return os.Link(path, path+".2") }, func() error { return os.Remove(path + ".2") }, "hard links"},
	} {
		if err := test.make(); err != nil {
			t.Fatal(err)
		}
		before := len(b.beside(path))
		for _, w := range []Wanted{{DryRun: true}, {}} {
			r := b.do(w)
			if len(r.Changes) != 1 || !strings.Contains(r.Changes[0].Problem, test.want) || b.read(path) != direct || len(b.beside(path)) != before {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if err := test.mend(); err != nil {
			t.Fatal(err)
		}
	}
	// A directory, and a file of no settings, in the place of others.
	if err := errors.Join(os.MkdirAll(filepath.Join(b.home, codexFile), 0o700)); err != nil {
		t.Fatal(err)
	}
	if r := b.do(Wanted{Client: "codex"}); !r.Failed() || !strings.Contains(r.Changes[0].Problem, "directory") {
		t.Errorf("%+v", r)
	}
}
