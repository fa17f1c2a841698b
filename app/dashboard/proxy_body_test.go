package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
)

func TestParseBody(t *testing.T) {
	logs := []field{{"start_idx", number}}
	save := []field{{"memory_name", word}, {"content", prose}}
	for _, c := range []struct {
		fields []field
		body   string
		want   string // anew, or
		wrong  string // parts of the sentence, separated by |
	}{
		{nil, `{}`, `{}`, ""},
		{nil, `{"all":true}`, "", `"all"|no body is needed`},
		{logs, `{"start_idx":0}`, `{"start_idx":0}`, ""},
		{logs, " {\n\"start_idx\" : 9007199254740991 } ", `{"start_idx":9007199254740991}`, ""},
		{logs, `{"start_idx":9007199254740992}`, "", "start_idx|whole number"},
		{logs, `{"start_idx":99999999999999999999999999}`, "", "start_idx|whole number"},
		{logs, `{"start_idx":-1}`, "", "start_idx|whole number"},
		{logs, `{"start_idx":1.5}`, "", "start_idx|whole number"},
		{logs, `{"start_idx":1e3}`, "", "start_idx|whole number"},
		{logs, `{"start_idx":"1"}`, "", "start_idx|whole number"},
		{logs, `{"start_idx":null}`, "", "start_idx|whole number"},
		{logs, `{"start_idx":[1]}`, "", "start_idx|whole number"},
		{logs, `{"start_idx":01}`, "", "not valid JSON"},
		{logs, `{"start_idx":1,"start_idx":2}`, "", "start_idx|twice"},
		{logs, `{"start_idx":1,"x":2}`, "", `"x"|no such field|{"start_idx":0}`},
		{logs, `{"Start_idx":1}`, "", `"Start_idx"|no such field`},
		{logs, `{}`, "", `start_idx is missing|{"start_idx":0}`},
		{logs, ``, "", "not a JSON object"},
		{logs, `[]`, "", "not a JSON object"},
		{logs, `null`, "", "not a JSON object"},
		{logs, `{"start_idx":1`, "", "no end"},
		{logs, `{"start_idx":1,}`, "", "JSON"},
		{logs, `{"start_idx":1} {}`, "", "something follows"},
		{logs, `{"start_idx":1}x`, "", "something follows"},
		{logs, "{\"start_idx\":1,\"\xff\":1}", "", "UTF-8"},
		{logs, "{\"\u202e\u001b[2J" + strings.Repeat("x", 200) + `":1}`, "", "JSON"},
		{logs, `{"\u202e\u001b[2J` + strings.Repeat("x", 200) + `":1}`, "", `"[2Jxx|…|no such field`},
		{save, `{"content":"","memory_name":"a/b"}`, `{"content":"","memory_name":"a/b"}`, ""},
		{save, `{"memory_name":"\u00fc\u0000","content":"<script>"}`, `{"content":"\u003cscript\u003e","memory_name":"ü\u0000"}`, ""},
		{save, `{"memory_name":"","content":"x"}`, "", "memory_name is empty"},
		{save, `{"memory_name":"` + strings.Repeat("x", maxName+1) + `","content":"x"}`, "", "memory_name is longer"},
		{save, `{"memory_name":"x"}`, "", "content is missing"},
		{save, `{"memory_name":"x","content":null}`, "", "content has to be a string"},
		{save, `{"memory_name":"x","content":{"a":1}}`, "", "content has to be a string"},
	} {
		values, err := parseBody([]byte(c.body), c.fields)
		if err != nil {
			for part := range strings.SplitSeq(c.wrong, "|") {
				if c.wrong == "" || !strings.Contains(err.Error(), part) {
					t.Errorf("%.80q: %v", c.body, err)
				}
			}
			if len(err.Error()) > 300 {
				t.Errorf("%.80q: the sentence is long: %v", c.body, err)
			}
			continue
		}
		if anew, err := json.Marshal(values); string(anew) != c.want || err != nil {
			t.Errorf("%.80q became %s (%v), want %s", c.body, anew, err, c.want)
		}
	}
}

// FuzzBody: whatever arrives, an instance gets exactly the fields of the route,
// and what it gets means the same as what arrived.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"start_idx":1}`, `{"memory_name":"a","content":"\ud83d\ude00"}`, `{"task_id":140234}`, `{}`, `[`, "\x00",
		`{"old_name":"a","new_name":"b","new_name":"c"}`, `{"language":"go"}x`,
	} {
		for i := range rules {
			f.Add(i, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, at int, body []byte) {
		fields := rules[int(uint(at)%uint(len(rules)))].fields
		values, err := parseBody(body, fields)
		if err != nil {
			return
		}
		if len(values) != len(fields) {
			t.Errorf("%v for %v", values, fields)
		}
		anew, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseBody(anew, fields)
		if err != nil || !maps.Equal(values, again) {
			t.Errorf("%q became %s, which is %v (%v)", body, anew, again, err)
		}
		var meant map[string]any
		dec := json.NewDecoder(strings.NewReader(string(body)))
		dec.UseNumber()
		if err := dec.Decode(&meant); err != nil {
			t.Fatalf("%q was taken and is not JSON: %v", body, err)
		}
		for name, value := range values {
			if fmt.Sprint(meant[name]) != fmt.Sprint(value) {
				// -0 is a number from 0 on as well.
				if n, ok := value.(int64); !ok || n != 0 || fmt.Sprint(meant[name]) != "-0" {
					t.Errorf("%s: %v became %v", name, meant[name], value)
				}
			}
		}
	})
}

func TestRoutes(t *testing.T) {
	p, seen := NewProxy(ProxyOptions{}), map[Route]bool{}
	for _, route := range Routes() {
		r, known := ruleOf(route)
		if !known || seen[route] {
			t.Errorf("%v: known %v, twice %v", route, known, seen[route])
		}
		seen[route] = true
		if r.Method == "GET" && (len(r.fields) > 0 || r.changes) {
			t.Errorf("%v: a GET takes no body and changes nothing", route)
		}
		for _, version := range []string{"", "1.5.3", "1.6.0", "2.1.0"} {
			if limit, patience := p.limit(r, version), p.patience(r); limit < patience || !r.queues && patience != p.quick {
				t.Errorf("%v of %q: limit %v, patience %v", route, version, limit, patience)
			}
		}
	}
	if len(seen) != 17 {
		t.Errorf("%d routes", len(seen))
	}
}

func TestOldOverviewLingers(t *testing.T) {
	overview, _ := ruleOf(Route{"GET", overviewName})
	for version, want := range map[string]bool{
		"": true, "x": true, "1": true, "1.5.3": true, "0.9": true, "1.6.0": false, "1.10": false, "2.1.0-0abc": false, "3.0": false, "2": true, "99999999999999999999.1": true,
	} {
		if overview.lingers(version) != want {
			t.Errorf("%q: %v", version, !want)
		}
	}
	if stats, _ := ruleOf(Route{"GET", "get_tool_stats"}); stats.lingers("1.5.3") {
		t.Error("only the overview is a task")
	}
}
