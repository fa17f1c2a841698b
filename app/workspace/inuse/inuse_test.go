package inuse

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// A child that is about to run another program is not seen for long; all others are
// told as they are found.
func TestSettled(t *testing.T) {
	own, other := Process{PID: 1, Name: "us"}, Process{PID: 2, Name: "bash"}
	broken := errors.New("nobody can look")
	for name, test := range map[string]struct {
		looks [][]Process
		err   error
		want  []Process
		times int
	}{
		"nobody":                   {[][]Process{nil}, nil, nil, 1},
		"another program":          {[][]Process{{other}}, nil, []Process{other}, 1},
		"also another program":     {[][]Process{{own, other}}, nil, []Process{own, other}, 1},
		"ours for a moment":        {[][]Process{{own}, nil}, nil, nil, 2},
		"ours, then another":       {[][]Process{{own}, {own}, {other}}, nil, []Process{other}, 3},
		"ours that stays":          {[][]Process{{own}, {own}, {own}, {own}}, nil, []Process{own}, mostLooks},
		"what cannot be looked at": {[][]Process{nil}, broken, nil, 1},
	} {
		n := 0
		found, err := settled(t.Context(), func() ([]Process, error) {
			n++
			return test.looks[n-1], test.err
		}, "us", 1)
		if !slices.Equal(found, test.want) || !errors.Is(err, test.err) || n != test.times {
			t.Errorf("%s: %v, %v after %d looks", name, found, err, n)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := settled(ctx, func() ([]Process, error) { return []Process{own}, nil }, "us", lookAgain); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
