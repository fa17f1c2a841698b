package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/setup/foreignfile"
)

// What cannot be understood or written is left as it is, and told.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		file, text, want string
	}{
		"no JSON":                 {cursorFile, "{\n  \"mcpServers\": {,}\n}", "line 2, column 18"},
		"half JSON":               {cursorFile, direct[:60], "line 1"},
		"no TOML":                 {codexFile, "[mcp_servers.serena]\ncommand = serena\n", "line 2, column 11"},
		"twice in JSON":           {cursorFile, strings.Replace(direct, `}}}`, `}, "serena": {"command": "x"}}}`, 1), "line 1"},
		"twice in TOML":           {codexFile, "[mcp_servers.serena]\ncommand = 'serena'\n[mcp_servers.serena]\ncommand = 'x'\n", "line 3"},
		"not UTF-8":               {cursorFile, strings.Replace(direct, "ide", "\xff", 1), ""},
		"a table that is none":    {cursorFile, `{"mcpServers": []}`, "line 1"},
		"a table of TOML is none": {codexFile, "mcp_servers = 3\n", "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			path := b.write(test.file, test.text)
			for _, w := range []Wanted{{}, {DryRun: true}, {Undo: true, File: path}} {
				r := b.do(w)
				if len(r.Changes) != 1 || !r.Failed() || r.Changes[0].Err == nil || !strings.Contains(r.Changes[0].Problem, test.want) || strings.Count(r.Changes[0].Problem, path) != 1 || r.Changes[0].After != nil {
					t.Errorf("%+v: %+v", w, r)
				}
			}
			if b.read(path) != test.text || len(b.beside(path)) > 0 {
				t.Errorf("%q, %q", b.read(path), b.beside(path))
			}
			list, err := New(b.o).List(t.Context(), Wanted{File: path})
			if err != nil || !strings.Contains(list[0].Files[0].Problem, test.want) || !list[0].Files[0].Exists {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}

// Nothing that is wrong with one file keeps the others from being done.
func TestOneIsWrong(t *testing.T) {
	b := newBed(t)
	b.write(codexFile, "x")
	path := b.write(cursorFile, direct)
	r := b.do(Wanted{})
	if len(r.Changes) != 2 || r.Changes[0].Problem == "" || r.Changes[1].Problem != "" || b.read(path) != b.shared() {
		t.Errorf("%+v", r)
	}
}

func TestNothingTried(t *testing.T) {
	b := newBed(t)
	b.write(cursorFile, direct)
	s := New(b.o)
	for name, test := range map[string]struct {
		w    Wanted
		want error
	}{
		"client": {Wanted{Client: "emacs"}, ErrNoClient},
		"server": {Wanted{Servers: []string{"serena", "emacs"}}, ErrNoServer},
		"file":   {Wanted{File: filepath.Join(b.home, "emacs.json")}, fs.ErrNotExist},
	} {
		if r, err := s.Do(t.Context(), test.w); !errors.Is(err, test.want) || len(r.Changes) > 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if _, err := s.List(t.Context(), test.w); !errors.Is(err, test.want) && name != "server" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A file that cannot be understood may have an entry only where it has its name.
	b.write(codexFile, "[mcp_servers.emacs")
	if r, err := s.Do(t.Context(), Wanted{Servers: []string{"vim"}}); !errors.Is(err, ErrNoServer) || !strings.Contains(err.Error(), "can be understood") {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := s.Do(t.Context(), Wanted{Servers: []string{"emacs"}}); err != nil || len(r.Changes) != 1 || !r.Failed() {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.Remove(filepath.Join(b.home, codexFile)); err != nil {
		t.Fatal(err)
	}
	unlock, err := foreignfile.Lock(t.Context(), filepath.Join(b.state, lockName))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Do(ctx, Wanted{}); !errors.Is(err, context.Canceled) {
		t.Error("busy:", err)
	}
	if r, err := s.Do(t.Context(), Wanted{DryRun: true}); err != nil || len(r.Changes) != 1 {
		t.Error("a dry run waits for nobody:", err)
	}
	unlock()
	for _, connect := range []string{"", filepath.Join(b.home, "nowhere"), b.home, "lamplighter-connect"} {
		b.o.Connect = connect
		if _, err := New(b.o).Do(t.Context(), Wanted{}); !errors.Is(err, ErrNoConnect) && !errors.Is(err, ErrUnfitConnect) {
			t.Errorf("%q: %v", connect, err)
		}
	}
	if b.read(filepath.Join(b.home, cursorFile)) != direct {
		t.Error("something was written")
	}
	if r, err := New(b.o).Do(t.Context(), Wanted{Undo: true}); err != nil || len(r.Changes) > 0 {
		t.Error("undo needs no lamplighter-connect:", err)
	}
}
