//go:build unix

package gitwork

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Settings that git sees only where it reads all files together, or through links.
func TestWaryOfSettingsElsewhere(t *testing.T) {
	const url = "https://x.example/"
	for name, set := range map[string]func(t *testing.T, r Repo, own, evil string){
		"link": func(t *testing.T, _ Repo, own, evil string) {
			if err := os.Symlink(evil, own); err != nil {
				t.Fatal(err)
			}
		},
		"condition in the repository's": func(t *testing.T, r Repo, own, evil string) {
			run(t, r.Top, "config", "remote.o.url", url)
			write(t, own, "[includeIf \"hasconfig:remote.*.url:"+url+"\"]\n\tpath = "+evil+"\n")
		},
		"condition in the worktree's": func(t *testing.T, r Repo, own, evil string) {
			write(t, own, "[remote \"o\"]\n\turl = "+url+"\n")
			run(t, r.Top, "config", "includeIf.hasconfig:remote.*.url:"+url+".path", evil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := repository(t)
			program, mark := trap(t)
			run(t, r.Top, "config", "extensions.worktreeConfig", "true")
			w := add(t, r, "tree", "x")
			evil := filepath.Join(temp(t), "evil")
			write(t, evil, "[filter \"trap\"]\n\tclean = "+program+"\n")
			set(t, r, filepath.Join(w.Admin, "config.worktree"), evil)
			write(t, filepath.Join(w.Path, ".gitattributes"), "*.txt filter=trap\n")
			write(t, filepath.Join(w.Path, "read me.txt"), "eno\n") // of the same size, so that it has to be read
			if s, err := r.Wary().Status(t.Context(), w.Path, w.Admin); err == nil && len(s.Uncommitted) != 2 {
				t.Errorf("%+v", s)
			}
			if err := r.Wary().Remove(t.Context(), w.Path, false); err == nil {
				t.Error("changes were removed")
			}
			unsprung(t, mark)
		})
	}
}

// A filter of the user's own is run, unless the repository says something of it too.
func TestParseFilters(t *testing.T) {
	for _, test := range []struct {
		text   string
		scoped bool
		want   []string
		fails  bool
	}{
		{"", true, nil, false},
		{"local\x00filter.a.clean\x00worktree\x00filter.b.c.process\x00", true, []string{"a", "b.c"}, false},
		{"global\x00filter.lfs.clean\x00system\x00filter.s.clean\x00local\x00filter.a.clean\x00local\x00filter.a.smudge\x00", true, []string{"a"}, false},
		{"global\x00filter.a.clean\x00local\x00filter.a.clean\x00", true, []string{"a"}, false},
		{"unknown\x00filter.a.clean\x00", true, []string{"a"}, false},
		{"filter.a.clean\x00filter.lfs.clean\x00", false, []string{"a", "lfs"}, false},
		{"local\x00filter.a=b.clean\x00", true, nil, true},
		{"local\x00filter.a\nb.clean\x00", true, nil, true},
		{"local\x00filter.a.clean\x00local", true, nil, true},
	} {
		if got, err := parseFilters(test.text, test.scoped); !slices.Equal(got, test.want) || (err != nil) != test.fails {
			t.Errorf("%q: %q, %v", test.text, got, err)
		}
	}
}
