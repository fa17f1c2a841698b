package tree

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	long := strings.Repeat("x", 3*bufferSize)
	for name, c := range map[string]struct {
		a, b []string
		want []Difference
		unix bool // the lists make what is only there
	}{
		"the same":           {a: everyday, b: everyday},
		"content":            {a: []string{"f=1"}, b: []string{"f=2"}, want: []Difference{{"f", "changed"}}},
		"content at the end": {a: []string{"f=" + long + "1"}, b: []string{"f=" + long + "2"}, want: []Difference{{"f", "changed"}}},
		"length":             {a: []string{"f="}, b: []string{"f=2"}, want: []Difference{{"f", "changed"}}},
		"added": {a: nil, b: []string{"d/e/f=1", "g=2"}, want: []Difference{
			{"d", "added"}, {"d/e", "added"}, {"d/e/f", "added"}, {"g", "added"},
		}},
		"removed":            {a: []string{"d/f=1"}, b: nil, want: []Difference{{"d", "removed"}, {"d/f", "removed"}}},
		"a file for one":     {a: []string{"d/f=1"}, b: []string{"d=1"}, want: []Difference{{"d", "changed"}, {"d/f", "removed"}}},
		"one for a file":     {a: []string{"d=1"}, b: []string{"d/f=1"}, want: []Difference{{"d", "changed"}, {"d/f", "added"}}},
		"read-only":          {a: []string{"0444 f=1"}, b: []string{"f=1"}},
		"target":             {a: []string{"l->a"}, b: []string{"l->b"}, want: []Difference{{"l", "changed"}}, unix: true},
		"a link for a file":  {a: []string{"l=a"}, b: []string{"l->a"}, want: []Difference{{"l", "changed"}}, unix: true},
		"mode":               {a: []string{"0755 f=1"}, b: []string{"0644 f=1"}, want: []Difference{{"f", "mode"}}, unix: true},
		"mode of one":        {a: []string{"0755 d/"}, b: []string{"0700 d/"}, want: []Difference{{"d", "mode"}}, unix: true},
		"a link to the same": {a: []string{"d/f=1", "l->d"}, b: []string{"d/f=1", "l->d"}, unix: true},
	} {
		if c.unix && runtime.GOOS == "windows" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			a, b := newDir(t), newDir(t)
			plant(t, a, c.a...)
			plant(t, b, c.b...)
			found, err := Compare(t.Context(), a, b, nil, 0)
			if err != nil || !slices.Equal(found, c.want) {
				t.Errorf("found %v, %v; want %v", found, err, c.want)
			}
			one, err := Compare(t.Context(), a, b, nil, 1)
			if err != nil || len(one) != min(1, len(c.want)) {
				t.Errorf("found %v, %v", one, err)
			}
		})
	}
}

func TestCompareOfNothing(t *testing.T) {
	dir := newDir(t)
	for _, pair := range [][2]string{{dir, filepath.Join(dir, "none")}, {filepath.Join(dir, "none"), dir}} {
		if _, err := Compare(t.Context(), pair[0], pair[1], nil, 0); err == nil {
			t.Error("no error")
		}
	}
}
