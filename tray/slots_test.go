package tray

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"lamplighter/icons"
	"lamplighter/monitor"

	"pgregory.net/rapid"
)

func genSlots(t *rapid.T, label string, n int) []menuSlot {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) menuSlot {
		return menuSlot{
			Visible: rapid.Bool().Draw(t, "visible"), Enabled: rapid.Bool().Draw(t, "enabled"),
			Title: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "title"), Tooltip: rapid.SampledFrom([]string{"", "t"}).Draw(t, "tooltip"),
			Mark: rapid.SampledFrom([]icons.Mark{icons.Project, icons.Zombie}).Draw(t, "mark"), Checked: rapid.Bool().Draw(t, "checked"),
		}
	}), n, n).Draw(t, label)
}

// seen is what a person sees of slots.
func seen(slots []menuSlot) []menuSlot {
	return slices.DeleteFunc(slices.Clone(slots), func(s menuSlot) bool { return !s.Visible })
}

func TestDiffAndApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(t, "n")
		shown, want := genSlots(t, "shown", n), genSlots(t, "want", n)
		before := slices.Clone(shown)
		ops := diff(shown, want)
		got := apply(shown, ops)
		if !reflect.DeepEqual(shown, before) {
			t.Fatal("Apply changed its argument")
		}
		for i := range want {
			if got[i].Visible != want[i].Visible || want[i].Visible && got[i] != want[i] {
				t.Fatalf("slot %d shows %+v, want %+v", i, got[i], want[i])
			}
		}
		if more := diff(got, want); len(more) != 0 {
			t.Fatalf("what is equal gives %v", more)
		}
		hidden := map[int]bool{}
		for i, op := range ops {
			if one := apply(shown, ops[i:i+1]); one[op.Slot] == shown[op.Slot] {
				t.Fatalf("%+v touches what does not change", op)
			}
			if hidden[op.Slot] {
				t.Fatalf("%+v changes a slot after it was hidden", op)
			}
			hidden[op.Slot] = op.Kind == opHide
		}
	})
}

func genIDs(t *rapid.T, label string, limit int) []string {
	return rapid.SliceOfNDistinct(rapid.Map(rapid.IntRange(0, 30), func(n int) string { return fmt.Sprintf("%02d", n) }),
		0, limit, rapid.ID[string]).Draw(t, label)
}

func TestPlaceKeepsOrderAndPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 20).Draw(t, "size")
		pool := make([]string, size)
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			ids := genIDs(t, "ids", size)
			placed := place(pool, ids)
			got := slices.DeleteFunc(slices.Clone(placed), func(s string) bool { return s == "" })
			if len(placed) != size || !slices.Equal(got, ids) {
				t.Fatalf("%q placed as %q", ids, placed)
			}
			if again := place(placed, ids); !slices.Equal(again, placed) {
				t.Fatalf("%q moved to %q for nothing", placed, again)
			}
			pool = placed
		}
	})
}

func TestOneThatComesOrGoesChangesOneSlot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := genIDs(t, "ids", listLines)
		slices.Sort(ids)
		pool := place(make([]string, poolSize), ids)
		changed := func(ids []string) (n int) {
			for i, id := range place(pool, ids) {
				if id != pool[i] {
					n++
				}
			}
			return n
		}
		if len(ids) > 0 {
			i := rapid.IntRange(0, len(ids)-1).Draw(t, "gone")
			if n := changed(slices.Delete(slices.Clone(ids), i, i+1)); n != 1 {
				t.Fatalf("one gone changed %d slots", n)
			}
		}
		i := rapid.IntRange(0, len(ids)).Draw(t, "new")
		if n := changed(slices.Insert(slices.Clone(ids), i, "new")); n != 1 {
			t.Fatalf("one new changed %d slots", n)
		}
	})
}

func genMenu(t *rapid.T, label string) menu {
	snap := &monitor.Snapshot{}
	for _, id := range genIDs(t, label, 8) {
		pid, err := strconv.Atoi(id)
		if err != nil {
			t.Fatal(err)
		}
		in := serena(pid, "p"+id, rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(t, "idle"), 100)
		in.State = rapid.SampledFrom([]monitor.State{monitor.StateProject, monitor.StateZombie}).Draw(t, "state")
		in.Recognised = rapid.IntRange(0, 3).Draw(t, "recognised") > 0
		in.Pinned, in.Plan = rapid.Bool().Draw(t, "pinned"), genPlan(t)
		snap.Instances = append(snap.Instances, in)
	}
	snap.Recent, snap.Policy = genEvents(t, snap.Instances), genPolicy(t)
	monitor.Sort(snap.Instances)
	snap.Warnings = rapid.SliceOfN(rapid.SampledFrom([]string{"w1", "w2"}), 0, 3).Draw(t, "warnings")
	return buildMenu(snap, noon, menuOptions{
		Login: loginEntry{Shown: rapid.Bool().Draw(t, "login"), On: rapid.Bool().Draw(t, "at login"), Can: rapid.Bool().Draw(t, "can")},
		Stop:  rapid.Bool().Draw(t, "stop"), Policies: rapid.Bool().Draw(t, "policies"), GivenBack: rapid.Uint64().Draw(t, "given back"),
	})
}

func TestHeldMenuMovesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shown, next := genMenu(t, "shown"), genMenu(t, "next")
		held := hold(shown, next)
		if !sameLines(shown, held) {
			t.Fatalf("lines moved:\n%+v\n%+v", shown, held)
		}
		if !reflect.DeepEqual(hold(held, next), held) {
			t.Fatal("holding twice is not holding once")
		}
		renewed := func(held, next []menuEntry, mark icons.Mark) {
			fresh := map[string]menuEntry{}
			for _, e := range next {
				fresh[e.ID] = e
			}
			for _, e := range held {
				if f, ok := fresh[e.ID]; ok && f != e || !ok && (!e.Ended || e.Mark != mark) {
					t.Fatalf("entry %+v, next has %+v", e, f)
				}
			}
		}
		renewed(held.Instances, next.Instances, icons.Ended)
		renewed(held.Stop, next.Stop, icons.None)
		for i, e := range slices.Concat(held.Keep, held.Pins) {
			if was := slices.Concat(shown.Keep, shown.Pins)[i]; e.Ended && next.running[e.ID] && !was.Ended {
				t.Fatalf("entry %+v has ended, but runs", e)
			}
		}
		if !reflect.DeepEqual(held.Recent, shown.Recent) {
			t.Fatal("events moved")
		}
		placed := newPlaces().of(shown)
		if again := placed.of(held); !reflect.DeepEqual(again, placed) {
			t.Fatal("a held menu takes other slots")
		}
		for _, op := range diff(slotsOf(shown, placed), slotsOf(held, placed)) {
			if op.Kind == opShow || op.Kind == opHide {
				t.Fatalf("a held menu gives %+v", op)
			}
		}
		if got := seen(slotsOf(held, placed)); len(got) != len(seen(slotsOf(shown, placed))) {
			t.Fatal("a held menu has another length")
		}
	})
}

func TestHeldEntryThatEnded(t *testing.T) {
	shown := buildMenu(snapshot(serena(24284, "alpha", time.Hour, 100)), noon, menuOptions{})
	e := hold(shown, buildMenu(snapshot(), noon, menuOptions{})).Instances[0]
	if e.Title != "24284 - alpha · ended" || e.Mark != icons.Ended || !e.Ended {
		t.Errorf("%+v", e)
	}
}
