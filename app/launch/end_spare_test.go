package launch

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// TestDivide: each family is written as "pid<parent", what people work in with a
// star and the keeper and the server with an exclamation mark. All have started in
// the order of their pids, except those with a minus, which have started first.
func TestDivide(t *testing.T) {
	for _, c := range []struct {
		name, all string
		want      []int
	}{
		{"nobody", "", nil},
		{"a server alone", "2<1! 3<2! 4<3", nil},
		{"a browser", "2<1! 3<2! 4<3*", []int{4}},
		{"with its children", "2<1! 3<2! 4<3* 5<4 6<5 7<3", []int{4, 5, 6}},
		{"children first", "6<5 5<4 4<3* 3<2! 2<1!", []int{4, 5, 6}},
		{"a terminal above all", "3<2! 4<3 5<4*", []int{5}},
		{"a server of such a name", "2<1! 3<2*! 4<3", nil},
		{"a server below such a wrapper", "2<1! 3<2* 4<3! 5<4 6<3", []int{3, 6}},
		{"left behind", "3<1* 4<3 5<1", []int{3, 4}},
		{"its parent's pid is used again", "7<1* 8<7-", []int{7}},
	} {
		all, has := family(c.all)
		var got []int
		spared := divide(all, has("*"), has("!"))
		for id := range maps.Keys(spared) {
			got = append(got, id.PID)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// family reads the processes of a table, and tells whether one of them has a sign;
// see TestDivide.
func family(text string) (all []process.Stat, has func(sign string) func(monitor.Identity) bool) {
	signs := map[monitor.Identity]string{}
	for _, word := range strings.Fields(text) {
		number := func(text string) (n int) {
			for _, digit := range text {
				if digit >= '0' && digit <= '9' {
					n = 10*n + int(digit-'0')
				}
			}
			return n
		}
		pid, parent, _ := strings.Cut(word, "<")
		p := process.Stat{Identity: monitor.Identity{PID: number(pid), Start: uint64(number(pid))}, Parent: number(parent)}
		if strings.Contains(word, "-") {
			p.Start = 0
		}
		signs[p.Identity] = word
		all = append(all, p)
	}
	return all, func(sign string) func(monitor.Identity) bool {
		return func(id monitor.Identity) bool { return strings.Contains(signs[id], sign) }
	}
}
