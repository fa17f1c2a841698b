package situation

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lamplighter/monitor/policy"
)

const collection = "../testdata/situations"

// TestCollection decides every situation of the collection again.
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
			s, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case s.Name != name:
				t.Errorf("it is called %q", s.Name)
			case s.Source == "" || s.Story == "":
				t.Error("it does not say where it comes from, or what happened")
			case s.Origin == Constructed && !strings.HasPrefix(s.Source, "https://") && !strings.HasPrefix(s.Source, "on record with this project: "):
				t.Errorf("it names no report: %q", s.Source)
			case len(s.Expect) == 0:
				t.Error("nothing is expected of it")
			}
			if s.Origin == Recorded {
				recorded++
			}
			for _, difference := range s.Differences() {
				t.Error(difference)
			}
			if again, err := s.Marshal(); err != nil || string(again) != string(text) {
				t.Errorf("it is not written as Marshal writes it (%v); write it anew", err)
			}
		})
	}
	if len(files) < 40 || recorded < 15 {
		t.Errorf("there are %d situations, %d of them recorded; want 40 and 15", len(files), recorded)
	}
}

// TestOrderOfTheTable: what is decided does not depend on how the processes, the
// servers and the descriptors are listed.
func TestOrderOfTheTable(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(collection, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		before := s.Decide()
		reverse(s.Processes)
		reverse(s.Servers)
		reverse(s.Units)
		for i := range s.Processes {
			reverse(s.Processes[i].Descriptors)
		}
		if after := s.Decide(); !reflect.DeepEqual(before, after) {
			t.Errorf("%s: %v became %v", filepath.Base(path), before, after)
		}
	}
}

func reverse[T any](list []T) {
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
}

const small = `{"name":"a","source":"https://example.org/1","origin":"constructed","story":"","platform":"linux","now":"2026-11-20T10:00:00Z","uid":1000,
	"processes":[{"pid":2,"ppid":1,"start":5,"uid":1000,"name":"python3","exe":"/usr/bin/python3","args":["python3","/usr/bin/serena","start-mcp-server"],
	"fds":[{"fd":0,"pipe":7,"access":"r","closed":true},{"fd":1,"pipe":8,"access":"w","closed":true}]}],
	"servers":[{"pid":2,"client":{"pid":3,"start":4,"name":"Codex"},"link":{"in":7,"out":8},"alone_since":"2026-11-20T09:00:00Z"}],
	"settings":{},"expect":[{"pid":2,"do":"end","rule":"orphans","because":"has ended"}]}`

func TestParse(t *testing.T) {
	s, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if differences := s.Differences(); len(differences) > 0 {
		t.Error(differences)
	}
	for change, want := range map[string]string{
		`"name":"a"|"nmae":"a"`:                                                                    "unknown field",
		`"name":"a"|"name":""`:                                                                     "no name",
		`"origin":"constructed"|"origin":"heard"`:                                                  "its origin",
		`"now":"2026-11-20T10:00:00Z"|"now":"yesterday"`:                                           "yesterday",
		`"platform":"linux"|"platform":"beos"`:                                                     "its platform",
		`"uid":1000,|"uid":1000,"self":9,`:                                                         "self is process 9",
		`"uid":1000,|"uid":1000,"order":"some",`:                                                   "its order",
		`{"pid":2,"ppid":1|{"pid":-2,"ppid":1`:                                                     "cannot be",
		`"access":"r"|"access":"x"`:                                                                "access",
		`"pipe":7,"access":"r"|"pipe":7,"file":"null"`:                                             "not one of",
		`"fd":0,"pipe":7|"fd":-1,"pipe":7`:                                                         "no descriptor",
		`"pipe":8,"access":"w"|"pipe":7,"access":"w"`:                                              "closed at the other end, which process 2 holds",
		`"servers":[{"pid":2|"servers":[{"pid":3`:                                                  "not among the processes",
		`"link":{"in":7,"out":8}|"link":{"in":7,"out":0}`:                                          "lacks an end",
		`"client":{"pid":3,"start":4,"name":"Codex"},|`:                                            "with which client",
		`"settings":{}|"settings":{"orphan_grace_minutes":-1}`:                                     "cannot be",
		`"do":"end"|"do":"maybe"`:                                                                  "maybe",
		`"rule":"orphans"|"rule":"luck"`:                                                           "no such rule",
		`"expect":[{"pid":2|"expect":[{"pid":4`:                                                    "something is expected of process 4",
		`"settings":{}|"settings":{},"then":{"ended":[9]}`:                                         "then: process 9 ends",
		`"settings":{}|"settings":{},"rules":[{"name":"x","program":"python","arguments":["-c"]}]`: "its rule",
		`]}` + "\n" + `|`:                                                                          "",
	} {
		from, to, _ := strings.Cut(change, "|")
		text := strings.Replace(small, from, to, 1)
		if want == "" {
			text = small + "{}"
			want = "more follows"
		}
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
}

func TestDifferences(t *testing.T) {
	s, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		expect []Expectation
		want   int
	}{
		"nothing":         {nil, 1},
		"another":         {[]Expectation{{PID: 2, Do: policy.Notify}}, 2},
		"to be left":      {[]Expectation{{PID: 2, Do: Leave}}, 2},
		"another reason":  {[]Expectation{{PID: 2, Do: policy.End, Because: "no call"}}, 2},
		"the rule":        {[]Expectation{{PID: 2, Do: policy.End, Rule: policy.Idle}}, 2},
		"as it should be": {[]Expectation{{PID: 2, Do: policy.End}}, 0},
	} {
		s.Expect = c.expect
		if got := s.Differences(); len(got) != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// FuzzParse: whatever is taken for a situation can be decided, written and read
// again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{}`))
	files, err := filepath.Glob(filepath.Join(collection, "*.json"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		verdicts := s.Decide()
		s.Differences()
		again, err := s.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		same, err := Parse(again)
		if err != nil {
			t.Fatalf("%v in %s", err, again)
		}
		if got := same.Decide(); !reflect.DeepEqual(got, verdicts) {
			t.Errorf("%v became %v", verdicts, got)
		}
	})
}
