// Package situationtest decides situations for tests: the watch finds the servers of a
// recorded machine, the policies or the order of the user decide, and the stop ladder
// ends what they mean, all of it as in the product. The clock is that of the situation,
// and the processes that get a signal are those of its table.
package situationtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/rules"
	"lamplighter/monitor/situation"
	"lamplighter/monitor/situation/machinetest"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/watch"
)

// verdict is what becomes of one instance. Because is all that is said of it.
type verdict struct {
	situation.Expectation
	Tree []int // with End the pids of all processes that were ended, ascending
}

// decide says what the policies, or the user's order, come to, and does it.
func decide(t *testing.T, s *situation.Situation) (verdicts []verdict) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		verdicts = play(t, s)
	})
	return verdicts
}

// lead is how long the watch runs before the moment: long enough to look, ask, and
// look again.
const lead = 3 * time.Second

// stage is a machine with a watch that has found its servers by the moment.
type stage struct {
	*machinetest.Machine
	watch  *watch.Watch
	pinned map[monitor.Identity]bool
	kept   map[monitor.Identity]time.Time
	snap   *monitor.Snapshot
}

// set lets time go by until the moment, in a bubble whose clock nobody waits for.
func set(t *testing.T, s *situation.Situation) stage {
	time.Sleep(time.Until(s.Now.Add(-lead)))
	st := stage{Machine: machinetest.New(s), pinned: map[monitor.Identity]bool{}, kept: map[monitor.Identity]time.Time{}}
	st.watch = watch.New(watch.Options{System: st, Dashboards: st, Rules: rules.New(s.Rules), Pinned: func(id monitor.Identity) bool { return st.pinned[id] }})
	for _, p := range s.Processes {
		if p.Server == nil {
			continue
		}
		st.watch.Restore(p.Identity(), p.Server.Proof)
		if p.Server.Launch != nil {
			st.watch.Launched(*p.Server.Launch)
		}
		st.pinned[p.Identity()] = p.Server.Pinned
		if !p.Server.KeptUntil.IsZero() {
			st.kept[p.Identity()] = p.Server.KeptUntil
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = st.watch.Serve(ctx) // until the end of ctx
	}()
	t.Cleanup(func() {
		cancel()
		<-served
	})
	time.Sleep(lead)
	synctest.Wait()
	st.snap = at(st.watch.Snapshot(), s)
	return st
}

func play(t *testing.T, s *situation.Situation) (verdicts []verdict) {
	st := set(t, s)
	policies := policy.Rules{}
	d := json.NewDecoder(bytes.NewReader(s.Policies))
	d.DisallowUnknownFields()
	if err := d.Decode(&policies); err != nil {
		t.Fatalf("reading the policies of %s: %v", s.Name, err)
	}
	policies.Kept = st.kept
	var actions []policy.Action
	if s.Order == "" {
		actions, _ = policy.Decide(st.snap, policies)
	} else {
		actions = policy.Select(st.snap, policy.Rule(s.Order), policies)
	}
	if st.Change(); s.Then != nil {
		synctest.Wait()
	}
	ladder := stop.New(stop.Options{System: st, Dashboards: st, Pinned: func(id monitor.Identity) (bool, error) { return st.pinned[id], nil }})
	for _, a := range actions {
		v := verdict{Expectation: situation.Expectation{PID: a.ID.PID, Do: string(a.Do), Rule: string(a.Rule), Because: a.Reason + ": " + a.Because}}
		if a.Do == policy.End {
			before, in := st.Ended(), st.snap.Instance(a.ID)
			if _, err := ladder.Stop(t.Context(), *in, order(st.watch, s, in, a.Rule, policies)); err != nil {
				v.Do, v.Because = string(policy.Refuse), a.Reason+": "+err.Error()
			}
			v.Tree = slices.DeleteFunc(st.Ended(), func(pid int) bool { return slices.Contains(before, pid) })
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// at is a snapshot at the moment of the situation.
func at(snap *monitor.Snapshot, s *situation.Situation) *monitor.Snapshot {
	now := *snap
	now.At, now.AwakeSince = s.Now, s.AwakeSince
	return &now
}

// order is what the ladder is told, as app/policies and the faces tell it.
func order(w *watch.Watch, s *situation.Situation, in *monitor.Instance, rule policy.Rule, policies policy.Rules) stop.Order {
	what := policy.Rule(s.Order)
	o := stop.Order{By: "the situation", Automatic: what == ""}
	if what == policy.Everything {
		return o
	}
	o.Confirm = func(ctx context.Context) error {
		snap, err := w.Fresh(ctx, in.Identity)
		if err != nil {
			return err
		}
		if what != "" {
			return policy.ConfirmOrder(in, what, at(snap, s), policies)
		}
		return policy.Confirm(in, rule, at(snap, s), policies)
	}
	return o
}

// Differences says where the policies come to something else than is expected: what is
// expected and not decided, and what is decided and not expected, so that nothing
// is done that nobody has thought of. It is empty when all is as it should be.
//
// That a process is ended may also be expected of one that is no server, but in
// the tree of one.
func Differences(t *testing.T, s *situation.Situation) []string {
	t.Helper()
	return differences(s.Expect, decide(t, s))
}

func differences(expect []situation.Expectation, verdicts []verdict) (list []string) {
	for _, e := range expect {
		if !met(e, verdicts) {
			list = append(list, fmt.Sprintf("expected, and not decided: %+v", e))
		}
	}
	for _, v := range verdicts {
		if !slices.ContainsFunc(expect, v.is) {
			list = append(list, fmt.Sprintf("decided, and not expected: %+v", v))
		}
	}
	return list
}

func met(e situation.Expectation, verdicts []verdict) bool {
	in := func(v verdict) bool { return slices.Contains(v.Tree, e.PID) }
	about := func(v verdict) bool { return v.PID == e.PID }
	switch {
	case e.Do == situation.Leave:
		return !slices.ContainsFunc(verdicts, func(v verdict) bool { return about(v) || in(v) })
	case policy.Do(e.Do) == policy.End && !slices.ContainsFunc(verdicts, about):
		return slices.ContainsFunc(verdicts, in)
	}
	return slices.ContainsFunc(verdicts, func(v verdict) bool { return v.is(e) })
}

// is reports whether a verdict is the one that is expected.
func (v verdict) is(e situation.Expectation) bool {
	return v.PID == e.PID && v.Do == e.Do && (e.Rule == "" || v.Rule == e.Rule) && strings.Contains(v.Because, e.Because)
}
