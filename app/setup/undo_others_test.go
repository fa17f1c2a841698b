package setup

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Undo reverses what setup has done, and leaves what others have put behind
// lamplighter-connect.
func TestUndoLeavesWhatOthersWrote(t *testing.T) {
	for _, elsewhere := range []string{"", "\n// new\n"} {
		for name, notes := range map[string]string{
			"by hand":  `"lamplighter-connect", "args": ["connect", "--or-direct", "--", "notes-server"]`,
			"the verb": `"lamplighter", "args": ["connect", "--", "notes-server"]`,
		} {
			b := newBed(t)
			b.env["PATH"] += string(filepath.ListSeparator) + filepath.Dir(b.connect)
			b.program("opt", "lamplighter")
			text := `{"mcpServers": {"notes": {"command": ` + notes + `}, "serena": {"command": "serena", "args": ["start-mcp-server"]}}}`
			path := b.write(cursorFile, text)
			if c := b.done(Wanted{}); names(c.Entries) != "serena" {
				t.Fatalf("%s: %+v", name, c)
			}
			b.write(path, b.read(path)+elsewhere)
			c := b.done(Wanted{Undo: true})
			if b.read(path) != text+elsewhere || names(c.Entries) != "serena" || c.Whole != (elsewhere == "") {
				t.Errorf("%s: %+v\n%s", name, c, b.read(path))
			}
			if names(c.Left) != "notes" || !strings.Contains(c.Left[0].Why, "did not write it") || !strings.Contains(c.Left[0].Why, "lamplighter setup cursor --undo --server notes") {
				t.Errorf("%s: %+v", name, c.Left)
			}
			if c := b.done(Wanted{Undo: true}); len(c.Entries) > 0 || names(c.Left) != "notes" || b.read(path) != text+elsewhere {
				t.Errorf("%s, again: %+v\n%s", name, c, b.read(path))
			}
			if c := b.done(Wanted{Undo: true, Servers: []string{"notes"}}); names(c.Entries) != "notes" || strings.Contains(b.read(path), "connect") {
				t.Errorf("%s: %+v\n%s", name, c, b.read(path))
			}
		}
	}
}

// Also where setup knows of a step, naming an entry takes it out.
func TestUndoByNameOfWhatOthersWrote(t *testing.T) {
	b := newBed(t)
	b.env["PATH"] += string(filepath.ListSeparator) + filepath.Dir(b.connect)
	path := b.write(cursorFile, `{"mcpServers": {"notes": {"command": "lamplighter-connect", "args": ["connect", "--", "n"]}, "serena": {"command": "serena", "args": ["start-mcp-server"]}}}`)
	b.done(Wanted{})
	if c := b.done(Wanted{Undo: true, Servers: []string{"notes"}}); names(c.Entries) != "notes" || b.listed(path, "notes").State != Direct || b.listed(path, "serena").State != Shared {
		t.Errorf("%+v\n%s", c, b.read(path))
	}
	if c := b.done(Wanted{Undo: true}); names(c.Entries) != "serena" || len(c.Left) > 0 || strings.Contains(b.read(path), "connect") {
		t.Errorf("%+v\n%s", c, b.read(path))
	}
}

// A record of which a part was lost does not know what setup has written, from
// then on: what is ours is taken out by its words.
func TestUndoWithAPartOfTheRecord(t *testing.T) {
	b := newBed(t)
	cursor, codex := b.write(cursorFile, direct), b.write(codexFile, "[mcp_servers.serena]\ncommand = \"serena\"\nargs = [\"start-mcp-server\"]\n")
	b.do(Wanted{Client: "cursor"})
	record := filepath.Join(b.state, recordName)
	b.write(record, strings.Replace(b.read(record), `"before_sha256": "`, `"before_sha256": "?`, 1))
	b.do(Wanted{Client: "codex"}) // writes the rest of it
	if r := b.do(Wanted{Undo: true}); r.Failed() || len(r.Changes) != 2 || len(r.Changes[0].Left)+len(r.Changes[1].Left) > 0 {
		t.Errorf("%+v", r)
	}
	for _, path := range []string{cursor, codex} {
		if strings.Contains(b.read(path), "connect") {
			t.Errorf("%s", b.read(path))
		}
	}
}

// An entry of another installation, there or not, is that again.
func TestUndoOfARepointedEntry(t *testing.T) {
	for _, there := range []bool{true, false} {
		for change, from := range map[string]string{"": "", "\n# new\n": "", "with other args": `"start-mcp-server"`} {
			b := newBed(t)
			other := filepath.Join(filepath.Dir(b.home), "gone", "lamplighter-connect")
			if there {
				other = b.program("other", "lamplighter-connect")
			}
			text := "[mcp_servers.serena]\ncommand = \"" + inJSON(other) + "\" # mine\nargs = [ \"connect\",\"--flag\",\"a\",\"--\", \"serena\", \"start-mcp-server\" ]\n"
			path := b.write(codexFile, text)
			b.done(Wanted{NoPage: true})
			want := text
			if from == "" {
				b.write(path, b.read(path)+change)
				want += change
			} else {
				b.write(path, strings.Replace(b.read(path), from, from+`, "--log-level", "DEBUG"`, 1))
			}
			c := b.done(Wanted{Undo: true})
			got := b.read(path)
			if from != "" {
				e := b.listed(path, "serena")
				if (e.State != Other && e.State != Gone) || !strings.Contains(e.Runs, "DEBUG") || strings.Contains(e.Runs, pageOption) || !strings.Contains(got, inJSON(other)) && !strings.Contains(got, "'"+other+"'") || !strings.Contains(got, `"--flag"`) || strings.Contains(got, orDirectFlag) {
					t.Errorf("there %v, %q: %+v\n%s", there, change, c, got)
				}
			} else if got != want || c.Whole != (change == "") || names(c.Left) != "serena" {
				t.Errorf("there %v, %q: %+v\n%s", there, change, c, got)
			}
			if rec, err := loadRecord(b.state); err != nil || len(rec.all) > 0 && from == "" {
				t.Errorf("there %v, %q: %+v, %v", there, change, rec, err)
			}
			b.done(Wanted{Undo: true, Servers: []string{"serena"}})
			if e := b.listed(path, "serena"); e.State != Direct {
				t.Errorf("there %v, %q: %+v", there, change, e)
			}
		}
	}
}

// A record that is none is told about before anything is done, and kept.
func TestUndoTellsOfABrokenRecord(t *testing.T) {
	for _, text := range []string{"{", "garbage", `{"version": 0, "steps": []}`, `{"version": 1, "steps": [{}]}`} {
		b := newBed(t)
		b.write(cursorFile, direct)
		b.done(Wanted{})
		b.write(filepath.Join(b.state, recordName), text)
		for _, dry := range []bool{true, false} {
			r := b.do(Wanted{Undo: true, DryRun: dry})
			if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "not what setup has written") || !strings.HasSuffix(r.Notes[0], ".") || len(r.Changes) != 1 {
				t.Errorf("%q: %+v", text, r)
			}
		}
		var kept bool
		for _, name := range b.beside(filepath.Join(b.state, recordName)) {
			kept = kept || name != lockName && b.read(filepath.Join(b.state, name)) == text
		}
		if !kept {
			t.Errorf("%q is gone", text)
		}
		if r := b.do(Wanted{Undo: true}); len(r.Notes) > 0 {
			t.Errorf("again: %+v", r)
		}
	}
}

// What was written is not denied where it cannot be noted.
func TestUndoThatCannotBeNoted(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, direct)
	b.done(Wanted{})
	s := New(b.o)
	s.written = func(string) {
		if err := errors.Join(os.Remove(filepath.Join(b.state, recordName)), os.MkdirAll(filepath.Join(b.state, recordName, "x"), 0o700)); err != nil {
			t.Error(err)
		}
	}
	r, err := s.Do(t.Context(), Wanted{Undo: true})
	if err != nil || len(r.Changes) != 1 || !r.Failed() || !r.Changes[0].Written || !strings.Contains(r.Changes[0].Problem, "was put back as it was, but that could not be noted") || b.read(path) != direct {
		t.Errorf("%+v, %v", r, err)
	}
}

// A lamplighter-connect that cannot be run is none, and what is wrong with it is
// told.
func TestConnectThatCannotBeRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no modes
	}
	for want, make := range map[string]func(path string) error{
		"is a directory": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"may not be run": func(path string) error { return os.Chmod(path, 0o644) },
		"is not there":   os.Remove,
	} {
		b := newBed(t)
		path := b.write(cursorFile, direct)
		b.done(Wanted{})
		written := b.read(path)
		if err := make(b.connect); err != nil {
			t.Fatal(err)
		}
		if e := b.listed(path, "serena"); e.State != Gone || !strings.HasPrefix(e.Broken, want) {
			t.Errorf("%s: %+v", want, e)
		}
		b.write(path, direct)
		_, err := New(b.o).Do(t.Context(), Wanted{})
		if wrong := ErrUnfitConnect; want == "is not there" && !errors.Is(err, ErrNoConnect) || want != "is not there" && (!errors.Is(err, wrong) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", want, err)
		}
		if b.read(path) != direct || written == direct {
			t.Errorf("%s: %s", want, b.read(path))
		}
	}
}

// Before this installation goes, what would not start without it is taken out,
// whoever wrote it, and what runs another one stays.
func TestUndoBeforeAnUninstall(t *testing.T) {
	const args = `"args": ["connect", "--or-direct", "--", "n", "a"]`
	for _, recorded := range []bool{false, true} {
		b := newBed(t)
		other, gone := b.program("other", "lamplighter-connect"), filepath.Join(b.home, "no", "lamplighter-connect")
		text := `{"mcpServers": {"mine": {"command": "` + inJSON(b.connect) + `", ` + args + `}, "gone": {"command": "` + inJSON(gone) + `", ` + args + `},
			"other": {"command": "` + inJSON(other) + `", ` + args + `}, "serena": {"command": "serena", "args": ["start-mcp-server"]}}}`
		path := b.write(cursorFile, text)
		if recorded {
			b.done(Wanted{Servers: []string{"serena"}})
		}
		project := b.write(filepath.Join(b.dir, ".mcp.json"), strings.Replace(b.shared(), "serena", "theirs", 1))
		before := b.read(project)

		w := Wanted{Undo: true, Uninstall: true, DryRun: true}
		dry := b.do(w)
		w.DryRun = false
		r := b.do(w)
		for _, result := range []Result{dry, r} {
			want := "mine gone"
			if recorded {
				want += " serena"
			}
			if len(result.Changes) != 2 || names(result.Changes[0].Left) != "theirs" || result.Changes[0].Left[0].State != Shared || names(result.Changes[1].Entries) != want || len(result.Changes[1].Left) > 0 || result.Failed() {
				t.Errorf("recorded %v: %+v", recorded, result)
			}
		}
		direct := `{"command": "n", "args": ["a"]}`
		want := strings.Replace(strings.Replace(text, `{"command": "`+inJSON(b.connect)+`", `+args+`}`, direct, 1), `{"command": "`+inJSON(gone)+`", `+args+`}`, direct, 1)
		if b.read(path) != want || b.read(project) != before {
			t.Errorf("recorded %v:\n%s\n%s", recorded, b.read(path), b.read(project))
		}
	}

	// What setup has pointed to this installation goes back to the other one, or is
	// taken out where that is gone.
	for _, there := range []bool{true, false} {
		b := newBed(t)
		from := filepath.Join(b.home, "no", "lamplighter-connect")
		if there {
			from = b.program("other", "lamplighter-connect")
		}
		text := `{"mcpServers": {"n": {"command": "` + inJSON(from) + `", ` + args + `}}}`
		path := b.write("elsewhere/mcp.json", text) // which the record alone knows
		b.done(Wanted{File: path})
		want := text
		if !there {
			want = `{"mcpServers": {"n": {"command": "n", "args": ["a"]}}}`
		}
		if b.done(Wanted{Undo: true, Uninstall: true}); b.read(path) != want {
			t.Errorf("there %v: %s", there, b.read(path))
		}
	}

	// Another installation may have taken it over since.
	b := newBed(t)
	path := b.write(cursorFile, direct)
	b.done(Wanted{})
	now := strings.Replace(b.read(path), inJSON(b.connect), inJSON(b.program("other", "lamplighter-connect")), 1)
	b.write(path, now)
	if r := b.do(Wanted{Undo: true, Uninstall: true}); len(r.Changes) > 0 || b.read(path) != now {
		t.Errorf("%+v\n%s", r, b.read(path))
	}
}

// What cannot be taken apart and still runs a program of ours is named, and nothing
// else is: a project may be called so too.
func TestWhatAnUninstallLeaves(t *testing.T) {
	b := newBed(t)
	ours, other := inJSON(b.connect), inJSON(b.program("other", "lamplighter-connect"))
	left := map[string]string{
		"assistant": `"command": "` + inJSON(filepath.Join(filepath.Dir(b.connect), "lamplighter")) + `", "args": ["workspace", "mcp"]`,
		"shell":     `"command": "bash", "args": ["-lc", "exec ` + ours + ` connect -- n"]`,
		"behind":    `"command": "nohup", "args": ["` + ours + `", "connect", "--", "n"]`,
		"string":    `"command": "` + ours + ` connect -- n", "args": []`,
		"odd":       `"command": "` + ours + `", "args": ["connect"]`,
		"twice":     `"command": "` + ours + `", "args": ["connect", "--", "` + ours + `", "connect", "--", "n"]`,
	}
	entries := []string{
		`"other": {"command": "` + other + `", "args": ["version"]}`,
		`"project": {"command": "serena", "args": ["start-mcp-server", "--project", "/home/alex/lamplighter"]}`,
	}
	for name, entry := range left {
		entries = append(entries, `"`+name+`": {`+entry+`}`)
	}
	b.write(cursorFile, `{"mcpServers": {`+strings.Join(entries, ", ")+`}}`)
	r := b.do(Wanted{Undo: true, Uninstall: true, DryRun: true})
	if len(r.Changes) != 1 {
		t.Fatalf("%+v", r)
	}
	for _, e := range r.Changes[0].Left {
		if would := e.State == Shared || e.State == Gone; would != (left[e.Name] != "") || e.Why == "" {
			t.Errorf("%+v", e)
		}
		delete(left, e.Name)
	}
	if len(left) > 0 {
		t.Errorf("not named: %v", left)
	}
}
