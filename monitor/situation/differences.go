package situation

import (
	"fmt"
	"slices"
	"strings"

	"lamplighter/monitor/policy"
)

// Differences says where Decide comes to something else than is expected: what is
// expected and not decided, and what is decided and not expected, so that nothing
// is done that nobody has thought of. It is empty when all is as it should be.
//
// That a process is ended may also be expected of one that is no server, but in
// the tree of one.
func (s *Situation) Differences() []string {
	verdicts := s.Decide()
	var list []string
	for _, e := range s.Expect {
		if !e.met(verdicts) {
			list = append(list, fmt.Sprintf("expected, and not decided: %s", e))
		}
	}
	for _, v := range verdicts {
		if !slices.ContainsFunc(s.Expect, func(e Expectation) bool { return e.is(v) }) {
			list = append(list, fmt.Sprintf("decided, and not expected: %s", v))
		}
	}
	return list
}

// String is an expectation in a line.
func (e Expectation) String() string {
	return Verdict{PID: e.PID, Do: e.Do, Rule: e.Rule, Because: e.Because}.String()
}

func (e Expectation) met(verdicts []Verdict) bool {
	in := func(v Verdict) bool { return slices.Contains(v.Tree, e.PID) }
	about := func(v Verdict) bool { return v.PID == e.PID }
	switch {
	case e.Do == Leave:
		return !slices.ContainsFunc(verdicts, func(v Verdict) bool { return about(v) || in(v) })
	case e.Do == policy.End && !slices.ContainsFunc(verdicts, about):
		return slices.ContainsFunc(verdicts, in)
	}
	return slices.ContainsFunc(verdicts, e.is)
}

// is tells whether a verdict is the one that is expected.
func (e Expectation) is(v Verdict) bool {
	return v.PID == e.PID && v.Do == e.Do && (e.Rule == "" || v.Rule == e.Rule) && strings.Contains(v.Reason+": "+v.Because, e.Because)
}
