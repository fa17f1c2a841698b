package monitor

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestIdentityRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := Identity{PID: rapid.IntRange(1, 1<<30).Draw(t, "pid"), Start: rapid.Uint64().Draw(t, "start")}
		got, err := ParseIdentity(id.String())
		if err != nil || got != id {
			t.Fatalf("%v became %v, %v", id, got, err)
		}
	})
	for _, bad := range []string{"", "7", "-", "7-", "-7", "a-1", "0-1", "7-x", "7-1-2", "-7-70", "7-18446744073709551616", "9223372036854775808-1", "7\n-70", "٧-٧"} {
		if id, err := ParseIdentity(bad); err == nil {
			t.Errorf("%q became %v", bad, id)
		}
	}
}

func TestLabel(t *testing.T) {
	for _, c := range []struct {
		in   Instance
		want string
	}{
		{Instance{Kind: KindSerena, Identity: Identity{PID: 4}}, "4 - NO PROJECT"},
		{Instance{Kind: KindSerena, Identity: Identity{PID: 4}, ProjectName: "\u202e\x1b"}, "4 - NO PROJECT"},
		{Instance{Kind: KindSerena, Identity: Identity{PID: 7295}, Port: 24284, ProjectName: "alpha"}, "7295 - alpha"},
		{Instance{Kind: "playwright", Identity: Identity{PID: 5}, Port: 24285, ProjectName: "alpha"}, "5 - playwright"},
		{Instance{Kind: KindSerena, State: StateParked, ProjectName: "alpha"}, "parked - alpha"},
	} {
		if got := c.in.Label(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		"alpha":                      "alpha",
		"two words":                  "two words",
		" padded \t\n out ":          "padded out",
		"项目":                         "项目",
		"zażółć 🚀":                   "zażółć 🚀",
		"a\x1b[31mred\x1b[0m":        "a[31mred[0m",
		"evil\u202egnp.exe":          "evilgnp.exe",
		"\u2066iso\u2069":            "iso",
		"zero\u200bwidth\ufeff":      "zerowidth",
		"c1\u009b31m":                "c131m",
		"line\u2028sep\u2029par":     "line sep par",
		"bad\xff\xfeutf8":            "bad\ufffd\ufffdutf8",
		"\x00\x07\x7f":               "",
		"\u0085next line\u00a0space": "next line space",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("alpha")
	f.Add("\u202e\x1b]0;title\x07 \xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, Unprintable) || strings.Contains(got, "  ") || got != strings.TrimSpace(got) {
			t.Fatalf("Clean(%q) = %q", s, got)
		}
		if again := Clean(got); again != got {
			t.Fatalf("Clean is not idempotent: %q, %q", got, again)
		}
	})
}

func TestSortIsStableUnderReordering(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) *Instance {
			return &Instance{
				Kind:     KindSerena,
				Identity: Identity{PID: rapid.IntRange(1, 5).Draw(t, "pid"), Start: rapid.Uint64Range(0, 3).Draw(t, "start")},
				Port:     rapid.IntRange(0, 3).Draw(t, "port"), ProjectName: rapid.SampledFrom([]string{"", "a", "B", "b"}).Draw(t, "name"),
				State: rapid.SampledFrom([]State{StateStarting, StateProject, StateZombie}).Draw(t, "state"),
			}
		}), 0, 12, func(in *Instance) Identity { return in.Identity }).Draw(t, "list")
		a, b := slices.Clone(list), rapid.Permutation(list).Draw(t, "order")
		Sort(a)
		Sort(b)
		for i := range a {
			if a[i].Label() != b[i].Label() || a[i].Identity != b[i].Identity {
				t.Fatalf("order depends on the input at %d: %v, %v", i, a[i], b[i])
			}
			if i > 0 && a[i].State == StateZombie && a[i-1].State != StateZombie {
				t.Fatal("needing attention comes first")
			}
		}
	})
}

func TestWorstAndTotals(t *testing.T) {
	s := &Snapshot{}
	if s.Worst() != "" || s.Totals() != (Totals{}) {
		t.Errorf("empty: %q %+v", s.Worst(), s.Totals())
	}
	for _, step := range []struct{ add, worst State }{
		{StateParked, StateParked}, {StateProject, StateProject}, {StateStarting, StateStarting},
		{StateNoProject, StateNoProject}, {StateStarting, StateNoProject}, {StateZombie, StateZombie}, {StateProject, StateZombie},
	} {
		s.Instances = append(s.Instances, new(Instance{State: step.add, RSSBytes: 10}))
		if got := s.Worst(); got != step.worst {
			t.Errorf("with %s: worst is %s, want %s", step.add, got, step.worst)
		}
	}
	if got := s.Totals(); got != (Totals{Instances: 7, Attention: 1, Parked: 1, RSSBytes: 70}) {
		t.Errorf("totals %+v", got)
	}
}

// The states are part of the JSON contract.
func TestStateValues(t *testing.T) {
	got, err := json.Marshal([]State{StateStarting, StateProject, StateNoProject, StateZombie, StateParked})
	if want := `["starting","live_with_project","live_no_project","zombie","parked"]`; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}
