//go:build unix

package dashboard

import (
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/process"
	"lamplighter/monitor/watch"
)

// sleepers makes a server of a program that only sleeps.
type sleepers struct{}

func (sleepers) Hides(string, []string) bool { return false }

func (sleepers) Match(_ string, args []string) (string, bool) {
	return "sleeper", slices.Equal(args, []string{"sleep", "4711"})
}

// A process that ends is among the ended, with what the watch says of it.
func TestRecorderOfARealWatch(t *testing.T) {
	model := watch.New(watch.Options{Rules: sleepers{}})
	r := NewRecorder(RecorderOptions{Source: model})
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	running.Go(func() { _ = model.Serve(t.Context()) })
	running.Go(func() { _ = r.Serve(t.Context()) })

	cmd := exec.Command("sleep", "4711")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() { _ = cmd.Wait() })
	t.Cleanup(func() { _ = cmd.Process.Kill(); wait.Wait() })
	st, err := process.ReadStat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "its memory is in its history", func() bool {
		h, ok := r.History(st.Identity)
		return ok && len(h.Times) > 0 && h.RSSBytes[len(h.Times)-1] != nil
	})
	if len(r.Ended()) != 0 {
		t.Errorf("%+v", r.Ended())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "it has ended", func() bool { return len(r.Ended()) == 1 })
	e := r.Ended()[0]
	if string(e.Instance.ID) != st.Identity.String() || e.Instance.Kind != "sleeper" || e.EndedAt == nil || !strings.HasPrefix(e.Why, "it has exited") {
		t.Errorf("%+v", e)
	}
	if h, ok := r.History(st.Identity); !ok || h.Times[len(h.Times)-1] != e.EndedAt.Unix() {
		t.Errorf("%+v", h)
	}
}
