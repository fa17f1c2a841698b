package situation

import (
	"cmp"
	"fmt"
	"slices"

	"lamplighter/monitor"
	"lamplighter/monitor/bystander"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/stop"
)

// Verdict is what becomes of one instance.
type Verdict struct {
	PID     int
	Do      policy.Do
	Rule    policy.Rule
	Reason  string
	Because string
	// Tree are with End the pids of all processes that would be ended, ascending.
	Tree []int
}

// String is a verdict in a line, for the messages of a test.
func (v Verdict) String() string {
	text := fmt.Sprintf("process %d: %s", v.PID, v.Do)
	if v.Rule != "" {
		text += " by " + string(v.Rule)
	}
	for _, more := range []string{v.Reason, v.Because} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}

// Decide says what the policies, or the user's order, come to: what is to be
// ended goes through the stop ladder's own check too, on the facts as they are
// then. The verdicts are sorted by pid.
func (s *Situation) Decide() []Verdict {
	snap, rules := s.Snapshot(), s.Settings.rules()
	order := stop.Order{Automatic: s.Order == "", By: "the policies"}
	var actions []policy.Action
	if order.Automatic {
		actions = policy.Decide(snap, rules, s.Now)
	} else {
		actions = policy.Select(snap, s.Order, rules, s.Now)
	}
	before := s.find()
	var verdicts []Verdict
	for _, a := range actions {
		v := Verdict{PID: a.ID.PID, Do: a.Do, Rule: a.Rule, Reason: a.Reason, Because: a.Because}
		if a.Do == policy.End {
			v.Do, v.Because, v.Tree = s.after().end(a, of(before, a.ID), order)
		}
		verdicts = append(verdicts, v)
	}
	slices.SortStableFunc(verdicts, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Rule, b.Rule))
	})
	return verdicts
}

// Decided is what Decide says, as what may be expected.
func (s *Situation) Decided() []Expectation {
	there := pidsOf(s.Processes)
	list := []Expectation{}
	for _, v := range s.Decide() {
		if there[v.PID] {
			list = append(list, Expectation{PID: v.PID, Do: v.Do, Rule: v.Rule, Because: v.Because})
		}
	}
	return list
}

func of(list []*found, id monitor.Identity) *found {
	for _, f := range list {
		if f.instance.Identity == id {
			return f
		}
	}
	return nil
}

// end does in the table what the stop ladder does before its first signal.
func (s *Situation) end(a policy.Action, decided *found, o stop.Order) (do policy.Do, because string, tree []int) {
	t := s.table()
	if p := t.byPID[a.ID.PID]; p == nil || p.Start != a.ID.Start {
		return policy.Refuse, "it has ended, and its pid may be another process's by now", nil
	}
	now := of(s.find(), a.ID)
	if now == nil {
		return policy.Refuse, "it is no instance any more", nil
	}
	members := t.tree(now)
	if o.Automatic {
		why := t.notIdle(decided, now)
		if a.Rule == policy.Orphans {
			why = notAlone(now)
		}
		if why != "" {
			return policy.Refuse, why, nil
		}
	}
	if refusal := stop.Check(t.facts(now, members), o); refusal != nil {
		return policy.Refuse, refusal.Error(), nil
	}
	for _, p := range members {
		tree = append(tree, p.PID)
	}
	slices.Sort(tree)
	return policy.End, "", tree
}

// notAlone says what stands against ending a proven orphan when its tree is held,
// "" for nothing: watch.Watch.StillAlone.
func notAlone(now *found) string {
	switch e := &now.instance.Evidence; {
	case !e.ClientGone:
		return "its client runs"
	case !e.Orphaned:
		return "somebody holds the other end of its pipes"
	}
	return ""
}

// notIdle says what stands against ending an idle server when its tree is held,
// "" for nothing: watch.Watch.StillIdle.
func (t *table) notIdle(decided, now *found) string {
	was, is, d := decided.known.Dashboard, now.known.Dashboard, &now.instance
	switch {
	case was == nil || is == nil:
		return "it has no dashboard that says whether it is at work"
	case now.server.State == Stopped:
		return "it is suspended, so that it cannot say whether it is at work"
	case !t.listens(now.members, is.Port):
		return fmt.Sprintf("port %d is no longer its own", is.Port)
	case d.Busy == nil:
		return "it does not say whether it is at work"
	case *d.Busy:
		return "it is at work"
	case d.Evidence.IdleSince.IsZero():
		return "it is not known to be idle"
	case d.Evidence.IdleSince.After(decided.instance.Evidence.IdleSince):
		return "it was used since"
	case was.Calls == nil || is.Calls == nil:
		return "how many calls it has had is not known"
	case *was.Calls != *is.Calls || was.LastTask != is.LastTask:
		return "it has just been used"
	}
	return ""
}

// tree are the processes that would be ended with an instance: its wrappers, and
// all below except what people work in.
func (t *table) tree(f *found) []*Process {
	browsers := bystander.Browses(f.instance.Kind)
	return t.below(f.root.PID, func(p *Process) bool { return bystander.Is(p.Exe, p.Name, browsers) })
}

// facts are what the ladder finds out about a held tree.
func (t *table) facts(f *found, members []*Process) stop.Facts {
	in := &f.instance
	facts := stop.Facts{
		Label: in.Label(), Recognised: in.Recognised, Pinned: in.Pinned, Red: in.State == monitor.StateZombie,
		Orphaned:  in.Evidence.Orphaned && in.Evidence.ClientGone,
		Contained: f.server.Contained, Service: t.service(members), Users: t.users(f, members),
	}
	above := map[int]bool{}
	if t.s.Self != 0 {
		ids, _ := t.view().Ancestors(t.s.Self) // the table has all of them
		for _, id := range ids {
			above[id.PID] = true
		}
	}
	for _, p := range members {
		who := stop.Process{PID: p.PID, Name: p.Name}
		switch {
		case p.PID == t.s.Self:
			facts.Ours = append(facts.Ours, who)
		case above[p.PID]:
			facts.Above = append(facts.Above, who)
		case p.UID != t.s.UID:
			facts.Foreign = append(facts.Foreign, who)
		}
	}
	if d := f.known.Dashboard; d != nil && in.Kind == monitor.KindSerena && f.server.State != Stopped {
		facts.Work = stop.Silent
		if d.FailingSince.IsZero() && owns(members, d.Port) {
			facts.Work, facts.Call = stop.WorkIn(tasks(d.Queue))
		}
	}
	return facts
}

func tasks(names []string) []serena.Task {
	var list []serena.Task
	for _, name := range names {
		list = append(list, serena.Task{Name: name})
	}
	return list
}

// owns tells whether one of these listens there.
func owns(members []*Process, port int) bool {
	return slices.ContainsFunc(members, func(p *Process) bool { return p.listens(port) })
}

// listens is owns by pid.
func (t *table) listens(members []int, port int) bool {
	return slices.ContainsFunc(members, func(pid int) bool { return t.byPID[pid].listens(port) })
}

func (p *Process) listens(port int) bool {
	return slices.ContainsFunc(p.Ports, func(at Port) bool { return at.Port == port })
}

// service is what manages a tree, as process.ServiceOf finds it.
func (t *table) service(members []*Process) string {
	ours := ""
	if self := t.byPID[t.s.Self]; self != nil {
		ours = process.ReadControl(self.Cgroup).Container
	}
	mains := map[string]int{}
	for _, u := range t.s.Units {
		mains[u.Name] = u.Main
	}
	in := map[int]bool{}
	for _, p := range members {
		in[p.PID] = true
	}
	for _, p := range members {
		c := process.ReadControl(p.Cgroup)
		if c.Container != "" && c.Container != ours {
			return c.Container
		}
		if main := mains[c.Unit]; c.Unit != "" && main != 0 && in[main] {
			return c.Unit
		}
	}
	return ""
}

// users are who is connected to the ports on which a server takes clients: of a
// Serena all but the dashboard's, of another server all of its tree.
func (t *table) users(f *found, members []*Process) []stop.Process {
	in := map[int]bool{t.s.Self: true}
	for _, p := range members {
		in[p.PID] = true
	}
	serenas := f.instance.Kind == monitor.KindSerena
	var users []stop.Process
	for _, p := range members {
		if serenas && p != f.server {
			continue
		}
		for _, port := range p.Ports {
			if serenas && port.Port == f.instance.Port {
				continue
			}
			for _, pid := range port.Users {
				if in[pid] && pid != 0 {
					continue
				}
				user := stop.Process{PID: pid}
				if who := t.byPID[pid]; who != nil {
					user.Name = who.Name
				}
				users = append(users, user)
			}
		}
	}
	return users
}
