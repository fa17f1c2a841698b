package gitwork

import (
	"path/filepath"
	"testing"
)

func TestAdd(t *testing.T) {
	r := repository(t)
	w := add(t, r, "tree", "lamplighter/x")
	s := status(t, r, w)
	if len(s.Uncommitted) != 0 || !s.Merged || s.HeadAt.IsZero() {
		t.Errorf("%+v", s)
	}
	list, err := r.List(t.Context())
	if err != nil || len(list) != 2 || list[1] != w {
		t.Errorf("%+v, %v", list, err)
	}
	commit(t, w.Path, "mine")
	write(t, filepath.Join(w.Path, "new"), "")
	t.Logf("%+v", status(t, r, w))
	t.Log(r.DropBranch(t.Context(), w.Branch))
	t.Log(r.Remove(t.Context(), w.Path, false))
	t.Log(r.Remove(t.Context(), w.Path, true))
	t.Log(r.DropBranch(t.Context(), w.Branch))
}
