//go:build unix

package situationtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/situation"
)

const collection = "../../testdata/situations"

// TestCollection plays every situation of the collection, and what is recorded of it. Nearly all paths there
// begin with a slash, which makes none absolute on Windows.
func TestCollection(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(collection, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	recorded := 0
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := &situation.Situation{}
			if err := json.Unmarshal(text, s); err != nil {
				t.Fatal(err)
			}
			there := map[int]bool{}
			for _, p := range s.Processes {
				if there[p.PID] {
					t.Errorf("process %d is there twice", p.PID)
				}
				there[p.PID] = true
			}
			for _, e := range s.Expect {
				if !there[e.PID] && !slices.ContainsFunc(s.Then, func(p situation.Process) bool { return p.PID == e.PID }) {
					t.Errorf("something is expected of process %d, which is not there", e.PID)
				}
			}
			switch {
			case s.Name != name:
				t.Errorf("it is called %q", s.Name)
			case s.Source == "" || s.Story == "":
				t.Error("it does not say where it comes from, or what happened")
			case s.Origin == situation.Constructed && !strings.HasPrefix(s.Source, "https://") && !strings.HasPrefix(s.Source, "on record with this project: "):
				t.Errorf("it names no report: %q", s.Source)
			case s.Self != 0 && !there[s.Self]:
				t.Errorf("self is process %d, which is not there", s.Self)
			case len(s.Expect) == 0:
				t.Error("nothing is expected of it")
			}
			if s.Origin == situation.Recorded {
				recorded++
			}
			for _, difference := range Differences(t, s) {
				t.Error(difference)
			}
			if again, err := monitor.JSON(s, "  "); err != nil || string(again) != string(text) {
				t.Errorf("it is not written as monitor.JSON writes it (%v); write it anew", err)
			}
			if slices.Contains(unseen, name) {
				return
			}
			for _, difference := range Differences(t, record(t, s)) {
				t.Errorf("when it is recorded: %s", difference)
			}
		})
	}
	if len(files) < 40 || recorded < 15 {
		t.Errorf("there are %d situations, %d of them recorded; want 40 and 15", len(files), recorded)
	}
}

// record is what is recorded of the machine of a situation, which is to be decided as that.
func record(t *testing.T, s *situation.Situation) (r *situation.Situation) {
	synctest.Test(t, func(t *testing.T) {
		st := set(t, s)
		snap := *st.snap
		snap.Instances = slices.Clone(snap.Instances)
		for _, in := range snap.Instances {
			if e := &in.Evidence; e.Orphaned {
				e.Pipe = monitor.Pipe{} // a listing does not tell it, nor does the machine any more
			}
		}
		var err error
		if r, err = situation.Record(t.Context(), st, st, &snap, st.Self()); err != nil {
			t.Fatal(err)
		}
	})
	r.Name, r.Platform, r.Rules, r.Policies, r.Order, r.Then = s.Name, s.Platform, s.Rules, s.Policies, s.Order, s.Then
	for _, e := range s.Expect {
		if slices.ContainsFunc(r.Processes, func(p situation.Process) bool { return p.PID == e.PID }) {
			r.Expect = append(r.Expect, e)
		}
	}
	return r
}

// unseen are the situations of which a snapshot does not tell all that was known before.
var unseen = []string{"cut-off-call-behind-another", "hung-with-a-client", "kept-and-paused"}

func TestDifferences(t *testing.T) {
	ended := []verdict{{situation.Expectation{PID: 2, Do: string(policy.End), Rule: string(policy.Orphans), Because: "its client has ended"}, []int{2, 3}}}
	for name, c := range map[string]struct {
		expect []situation.Expectation
		want   int
	}{
		"nothing":         {nil, 1},
		"another":         {[]situation.Expectation{{PID: 2, Do: string(policy.Notify)}}, 2},
		"to be left":      {[]situation.Expectation{{PID: 2, Do: situation.Leave}}, 2},
		"its tree":        {[]situation.Expectation{{PID: 2, Do: string(policy.End)}, {PID: 3, Do: situation.Leave}}, 1},
		"another reason":  {[]situation.Expectation{{PID: 2, Do: string(policy.End), Because: "no call"}}, 2},
		"the rule":        {[]situation.Expectation{{PID: 2, Do: string(policy.End), Rule: string(policy.Idle)}}, 2},
		"as it should be": {[]situation.Expectation{{PID: 2, Do: string(policy.End)}, {PID: 3, Do: string(policy.End)}}, 0},
	} {
		if got := differences(c.expect, ended); len(got) != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
