package gitwork

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What git was told not to look at has work all the same.
func TestStatusOfHiddenFiles(t *testing.T) {
	for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
		t.Run(flag, func(t *testing.T) {
			temporary := temp(t)
			t.Setenv("TMPDIR", temporary)
			r := repository(t)
			w := add(t, r, "tree", "tree")
			run(t, w.Path, "update-index", flag, "read me.txt", "src/a.go")
			index, err := os.ReadFile(filepath.Join(w.Admin, "index"))
			if err != nil {
				t.Fatal(err)
			}
			if s, err := r.Status(t.Context(), w.Path, w.Admin); err != nil || len(s.Uncommitted) > 0 {
				t.Errorf("%+v, %v", s, err)
			}
			write(t, filepath.Join(w.Path, "read me.txt"), "mine")
			if err := os.Remove(filepath.Join(w.Path, "src", "a.go")); err != nil {
				t.Fatal(err)
			}
			s, err := r.Status(t.Context(), w.Path, w.Admin)
			if err != nil || !slices.Equal(s.Uncommitted, []string{"read me.txt"}) {
				t.Errorf("%+v, %v", s, err)
			}
			if now, err := os.ReadFile(filepath.Join(w.Admin, "index")); err != nil || string(now) != string(index) {
				t.Error("its index was changed", err)
			}
			if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
				t.Error(left, err)
			}
		})
	}
}

func FuzzParseHidden(f *testing.F) {
	f.Add("H a\x00h b c\x00S d\x00s e\x00? f\x00M g\x00h ../x\x00h")
	f.Fuzz(func(t *testing.T, text string) {
		for _, path := range parseHidden(text) {
			if !filepath.IsLocal(filepath.FromSlash(path)) {
				t.Errorf("%q", path)
			}
		}
	})
}

func TestParseHidden(t *testing.T) {
	if got := parseHidden("H a\x00h b c\x00S d\x00s e\x00? f\x00M g\x00h ../x\x00h"); !slices.Equal(got, []string{"b c", "d", "e"}) {
		t.Errorf("%q", got)
	}
}
