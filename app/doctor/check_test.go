package doctor

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/apptest"
)

// The lines come in the order of the checks, whichever ends first.
func TestOrder(t *testing.T) {
	second := make(chan struct{})
	lines := sideBySide(t.Context(), []check{
		{area: Program, limit: time.Minute, run: func(context.Context) []Line { <-second; return []Line{{Mark: OK, Text: "one"}} }},
		{area: Serena, limit: time.Minute, run: func(context.Context) []Line { close(second); return []Line{{Mark: OK, Text: "two"}, {Text: "three"}} }},
	})
	want := []Line{{Area: Program, Mark: OK, Text: "one"}, {Area: Serena, Mark: OK, Text: "two"}, {Area: Serena, Text: "three"}}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("got %+v", lines)
	}
}

// What hangs and cannot be interrupted does not keep the others.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		lines := sideBySide(t.Context(), []check{
			{area: Files, what: "the files", limit: 8 * time.Second, run: func(context.Context) []Line { <-release; return nil }},
			{area: Desktop, what: "the desktop", limit: 8 * time.Second, run: func(ctx context.Context) []Line {
				<-ctx.Done() // what heeds its time says by itself that it is over
				return []Line{{Mark: Broken, Text: ctx.Err().Error()}}
			}},
		})
		close(release)
		synctest.Wait()
		if len(lines) != 2 || lines[0].Mark != Warn || lines[1].Text != "context deadline exceeded" {
			t.Fatalf("got %+v", lines)
		}
		apptest.Contains(t, said(lines), "the files: no answer within 8 s", "network drive")
	})
}

func TestPanics(t *testing.T) {
	lines := sideBySide(t.Context(), []check{{area: Files, what: "the files", limit: time.Minute, run: func(context.Context) []Line { panic("ouch") }}})
	if len(lines) != 1 || lines[0].Mark != Warn {
		t.Fatalf("got %+v", lines)
	}
	apptest.Contains(t, said(lines), "the files: it failed inside (ouch)")
}

func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		if _, err := within(t.Context(), time.Second, func(context.Context) int { <-release; return 1 }); !errors.Is(err, errSlow) {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := within(ctx, time.Hour, func(context.Context) int { <-release; return 1 }); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %v", err)
		}
		close(release)
		if n, err := within(t.Context(), time.Second, func(context.Context) int { return 7 }); n != 7 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	})
}

// What comes from outside cannot disturb the terminal.
func TestFinishCleans(t *testing.T) {
	got := finish(PortsArea, []Line{{Text: "a\x1b[31m\nb", Means: "\u202ec", Do: "d\x07"}})
	if want := (Line{Area: PortsArea, Text: "a[31m b", Means: "c", Do: "d"}); !reflect.DeepEqual(got[0], want) {
		t.Errorf("got %+v", got[0])
	}
}
