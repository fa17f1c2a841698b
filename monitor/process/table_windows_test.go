package process

import (
	"os"
	"slices"
	"testing"
)

// passed is what a pass returned of pid, at most once.
func passed(t *testing.T, table *Table, pid int) *Info {
	t.Helper()
	fresh, err := table.Pass()
	if err != nil {
		t.Fatal(err)
	}
	var found *Info
	for _, info := range fresh {
		if info.PID != pid {
			continue
		}
		if found != nil {
			t.Errorf("%d is there twice", pid)
		}
		found = &info
	}
	return found
}

func TestPassReturnsEachProcessOnce(t *testing.T) {
	table := NewTable()
	me := passed(t, table, os.Getpid())
	if me == nil || !slices.Equal(me.Args[1:], os.Args[1:]) {
		t.Fatalf("we are %+v", me)
	}
	if again := passed(t, table, os.Getpid()); again != nil {
		t.Errorf("once more: %+v", again)
	}
	h := start(t, "idle", "one", "two words")
	info := passed(t, table, h.PID)
	if info == nil {
		t.Fatal("a new process was not seen")
	}
	if info.Identity != h.Identity || info.Parent != os.Getpid() || !slices.Equal(info.Args[1:], []string{"one", "two words"}) {
		t.Errorf("%+v", info)
	}
	for range 3 {
		if again := passed(t, table, h.PID); again != nil {
			t.Errorf("once more: %+v", again)
		}
	}
	h.kill()
	if again := passed(t, table, h.PID); again != nil {
		t.Errorf("after its end: %+v", again)
	}
}
