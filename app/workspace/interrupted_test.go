package workspace

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
)

func TestInterrupted(t *testing.T) {
	ended, end := context.WithCancelCause(t.Context())
	why := errors.New("the program ends")
	end(why)
	for _, test := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{ended, nil, ""},
		{ended, context.Canceled, "interrupted; nothing was made"},
		{ended, fmt.Errorf("git worktree was given up: %w", why), "interrupted; nothing was made"},
		{ended, fmt.Errorf("waiting for a place: %w; %w", why, &TooMany{Limit: 1}), "interrupted; nothing was made"},
		{ended, errors.Join(why, nil), "interrupted; nothing was made"},
		{ended, errors.Join(why, fmt.Errorf("taking it away: %w", syscall.EACCES)), "interrupted: the program ends\ntaking it away: permission denied"},
		{ended, syscall.EACCES, "interrupted: permission denied"},
		{t.Context(), context.Canceled, "context canceled"},
	} {
		got := Interrupted(test.ctx, test.err, "nothing was made")
		if said := fmt.Sprint(got); said != test.want && (got != nil || test.want != "") {
			t.Errorf("of %v: %q", test.err, said)
		}
	}
}
