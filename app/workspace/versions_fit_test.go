package workspace

import (
	"slices"
	"testing"
)

func TestFitDiffs(t *testing.T) {
	changes := []Change{{Path: "a", Diff: "xxxx"}, {Path: "b", Diff: "xxx"}, {Path: "c"}, {Path: "d", Diff: "x"}, {Path: "e", Diff: "x"}}
	fitted, left := FitDiffs(changes, 5)
	if want := []Change{{Path: "a", Diff: "xxxx"}, {Path: "b"}, {Path: "c"}, {Path: "d", Diff: "x"}, {Path: "e"}}; !slices.Equal(fitted, want) || left != 2 {
		t.Errorf("%+v, %d", fitted, left)
	}
	if changes[1].Diff == "" {
		t.Error("what was given was changed")
	}
	if fitted, left := FitDiffs(nil, 5); fitted == nil || len(fitted) != 0 || left != 0 {
		t.Errorf("%#v, %d", fitted, left)
	}
}
