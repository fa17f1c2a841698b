package document

import (
	"slices"
	"strings"
	"testing"
)

func TestPlaced(t *testing.T) {
	for _, test := range []struct {
		old, words string
		want       []int
	}{
		{"a b c", "a b c", []int{0, 1, 2}},
		{"a b c", "x y a b c", []int{-1, -1, 0, 1, 2}},
		{"a b c", "a x b c y", []int{0, -1, 1, 2, -1}},
		{"a b c", "a x c", []int{0, 1, 2}},
		{"a b c", "c", []int{2}},
		{"", "a", []int{-1}},
		// Words that are there twice stay where they are.
		{"c e c c e", "x e y z w", []int{0, 1, 2, 3, 4}},
		{"c c", "x c", []int{0, 1}},
		{"c c e c", "c x e y", []int{0, 1, 2, 3}},
	} {
		if got := placed(strings.Fields(test.old), strings.Fields(test.words)); !slices.Equal(got, test.want) {
			t.Errorf("%s → %s: %v, want %v", test.old, test.words, got, test.want)
		}
	}
}
