package tree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRemove(t *testing.T) {
	for name, list := range map[string][]string{
		"nothing": nil, "everyday": everyday, "many": many(1000), "read-only": {"0444 a/f=1", "0444 g=2"},
	} {
		t.Run(name, func(t *testing.T) {
			root := newDir(t)
			plant(t, root, "beside=1")
			dir := filepath.Join(root, "dir")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			plant(t, dir, list...)
			told, want := Count{}, int64(len(picture(t, dir)))
			id, err := Identity(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := Remove(t.Context(), dir, id, func(c Count) { told = c }); err != nil {
				t.Fatal(err)
			}
			if told.Files != want {
				t.Errorf("told %+v, there were %d", told, want)
			}
			if there, err := os.ReadDir(root); err != nil || len(there) != 1 {
				t.Errorf("%q, %v", there, err)
			}
			if err := Remove(t.Context(), dir, id, nil); err != nil {
				t.Errorf("the second time: %v", err)
			}
		})
	}
}

// What somebody makes in a directory while it is removed goes too.
func TestRemoveOfWhatIsWrittenTo(t *testing.T) {
	dir := newDir(t)
	plant(t, dir, "a/b/one=1", "a/b/two=2")
	late := 0
	if err := Remove(t.Context(), dir, "", func(c Count) {
		if c.Files == 1 {
			plant(t, dir, "a/b/late=3")
			late++
		}
	}); err != nil || late == 0 {
		t.Errorf("after %d late ones: %v", late, err)
	}
	gone(t, dir)
}

func TestRemoveNothing(t *testing.T) {
	dir := newDir(t)
	for _, path := range []string{"none", "none/none"} {
		if err := Remove(t.Context(), filepath.Join(dir, path), "", nil); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestRemoveOfAnother(t *testing.T) {
	root := newDir(t)
	plant(t, root, "dir/f=1", "file=2")
	dir := filepath.Join(root, "dir")
	id, err := Identity(dir)
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(root, "moved")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if now, err := Identity(moved); err != nil || now != id {
		t.Errorf("moved it is %s, was %s, %v", now, id, err)
	}
	plant(t, root, "dir/other=1")
	if now, err := Identity(dir); err != nil || now == id {
		t.Errorf("another one is %s, %v", now, err)
	}
	if err := Remove(t.Context(), dir, id, nil); !errors.Is(err, ErrReplaced) {
		t.Error(err)
	}
	if err := Remove(t.Context(), filepath.Join(root, "file"), "", nil); !errors.Is(err, ErrReplaced) {
		t.Error(err)
	}
	if n := len(picture(t, root)); n != 6 {
		t.Errorf("%d are left", n)
	}
}

func TestRemoveIsCancelled(t *testing.T) {
	dir := newDir(t)
	plant(t, dir, many(1000)...)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	err := Remove(ctx, dir, "", func(c Count) {
		if c.Files > 0 {
			cancel(why)
		}
	})
	if !errors.Is(err, why) {
		t.Error(err)
	}
	if n, err := Measure(t.Context(), dir, nil); err != nil || n.Files == 0 {
		t.Errorf("%+v, %v", n, err)
	}
	if err := Remove(t.Context(), dir, "", nil); err != nil {
		t.Error(err)
	}
	gone(t, dir)
}

func TestMeasure(t *testing.T) {
	dir := newDir(t)
	plant(t, dir, everyday...)
	n, err := Measure(t.Context(), dir, nil)
	if want := len(picture(t, dir)) - 1; err != nil || n.Files != int64(want) || n.Bytes < 1_000_000 || n.Bytes > 2_000_000 {
		t.Errorf("%+v, %v; want %d", n, err, want)
	}
	if _, err := Measure(t.Context(), filepath.Join(dir, "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
