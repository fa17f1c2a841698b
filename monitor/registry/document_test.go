package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
)

// foreign is a registry as the programs that know it write it.
const foreign = `{"instances": {"31093": {"pid": 31093, "port": 24282, "started_at": 1790000000.25, "last_heartbeat": 1790000060.5,
 "context": "ide", "modes": ["editing", "interactive"], "project_name": "lamp", "project_root": "/w/lamp", "state": "live_with_project", "zombie_detected_at": null}},
 "lifecycle_events": [{"timestamp": 1.5e9, "pid": 12345678901234567890}], "global_dashboard_pid": null, "global_dashboard_port": 25282}`

func at(seconds float64) time.Time { return time.UnixMicro(int64(seconds * 1e6)) }

func TestParseDocument(t *testing.T) {
	lamp := Entry{31093, 24282, at(1790000000.25), at(1790000060.5), "ide", []string{"editing", "interactive"}, "lamp", "/w/lamp", monitor.StateProject}
	for _, c := range []struct {
		name, data string
		want       []Entry
	}{
		{"empty", "", nil},
		{"white space", " \n\t", nil},
		{"null", "null", nil},
		{"no instances", `{"lifecycle_events": []}`, nil},
		{"instances null", `{"instances": null}`, nil},
		{"array", "[]", nil},
		{"as it is written", foreign, []Entry{lamp}},
		{"with a byte order mark", "\uFEFF" + foreign, []Entry{lamp}},
		{"array of records", `[{"pid": 7, "port": 1}, {"pid": 8}]`, []Entry{{PID: 7, Port: 1}, {PID: 8}}},
		{"array inside", `{"instances": [{"pid": 7}]}`, []Entry{{PID: 7}}},
		{"two of one pid in an array", `[{"pid": 7, "port": 1}, {"pid": 7, "port": 2}]`, []Entry{{PID: 7, Port: 1}, {PID: 7, Port: 2}}},
		{"the pid in the key alone", `{"instances": {"7": {"port": 1}}}`, []Entry{{PID: 7, Port: 1}}},
		{"the last of two keys", `{"instances": {"7": {"port": 1}, "7": {"port": 2}}}`, []Entry{{PID: 7, Port: 2}}},
		{"the last of two fields", `{"instances": {"7": {"port": 1, "port": 2}}}`, []Entry{{PID: 7, Port: 2}}},
		{"bad among good", `{"instances": {"x": {"pid": 9}, "-4": {}, "0": {}, "5": null, "6": "s", "7": {"port": 1}, "8": {"pid": 9}}}`, []Entry{{PID: 7, Port: 1}}},
		{"bad in an array", `[1, null, "s", [], {}, {"pid": "7"}, {"pid": 7.5}, {"pid": -1}, {"pid": 1e99}, {"pid": 7.0}]`, []Entry{{PID: 7}}},
		{"fields of other types", `[{"pid": 7, "port": "x", "started_at": "x", "last_heartbeat": [], "context": 1, "modes": {}, "project_name": 2, "project_root": false, "state": 3}]`, []Entry{{PID: 7}}},
		{"a port that is none", `[{"pid": 7, "port": 65536}, {"pid": 8, "port": -1}, {"pid": 9, "port": 0}]`, []Entry{{PID: 7}, {PID: 8}, {PID: 9}}},
		{"modes that are not all strings", `[{"pid": 7, "modes": ["a", 1, null, "b"]}]`, []Entry{{PID: 7, Modes: []string{"a", "b"}}}},
		{"times beyond all clocks", `[{"pid": 7, "started_at": -1e400, "last_heartbeat": 1e300}]`, []Entry{{PID: 7, StartedAt: at(-1e11), LastHeartbeat: at(1e11)}}},
	} {
		d, err := parseDocument([]byte(c.data))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := d.entries(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// corrupt is what no program can read, by name.
var corrupt = map[string]string{
	"garbage":         "{{{ not json",
	"cut off":         foreign[:len(foreign)/2],
	"something after": foreign + "x",
	"a number":        "42",
	"a string":        `"instances"`,
	"true":            "true",
	"wrong type":      `{"instances": "none"}`,
	"wrong number":    `{"instances": 3}`,
	"zeros":           strings.Repeat("\x00", 4096),
	"UTF-16":          "\xff\xfe{\x00}\x00",
	"not UTF-8":       "{\"a\": \"\xff\"}",
	"nested too deep": strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
}

func TestParseCorrupt(t *testing.T) {
	for name, data := range corrupt {
		if _, err := parseDocument([]byte(data)); !errors.Is(err, errCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// compact is the JSON without white space outside strings.
func compact(t interface{ Fatal(...any) }, data []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRenderKeeps(t *testing.T) {
	for name, data := range map[string]string{
		"as it is written":  foreign,
		"array":             `[{"pid":7,"x":1.50,"y":1E+2},null,"s",12345678901234567890]`,
		"empty array":       `[]`,
		"array inside":      `{"a":[1,{"b":"c"}],"instances":[{"pid":7}],"z":null}`,
		"keys twice":        `{"a":1,"instances":{"7":{"a":1,"a":2},"7":{},"x":null},"a":2}`,
		"spellings":         `{"\u0061":1e400,"instances":{"\u0037":{"n":1.0,"\ud800":"\udfff<>&\/"}},"\ud800":9007199254740993}`,
		"nothing but other": `{"version":1,"instances":{}}`,
		"instances twice":   `{"instances":{"7":{}},"instances":{"8":{}}}`,
	} {
		d, err := parseDocument([]byte(data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, want := compact(t, d.render()), compact(t, []byte(data)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, data := range []string{"", "null", "{}", `{"instances": null}`} {
		d, err := parseDocument([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		if got := compact(t, d.render()); got != `{"instances":{}}` {
			t.Errorf("%q: %s", data, got)
		}
	}
}

func TestRecord(t *testing.T) {
	for want, e := range map[string]Entry{
		`{"pid":7,"port":24282,"started_at":1790000000.0,"last_heartbeat":1790000000.123456,"context":"ide","modes":["a"],"project_name":"p","project_root":"/p","state":"live_with_project"}`: {7, 24282, at(1790000000), at(1790000000.123456), "ide", []string{"a"}, "p", "/p", monitor.StateProject},
		`{"pid":7,"port":24282,"started_at":1.5,"last_heartbeat":1.5,"context":null,"modes":[],"project_name":null,"project_root":null,"state":"live_no_project"}`:                             {PID: 7, Port: 24282, StartedAt: at(1.5), LastHeartbeat: at(1.5), State: monitor.StateNoProject},
	} {
		if got := string(e.record()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if back, ok := parseEntry([]byte(want), 7); !ok || !reflect.DeepEqual(back, e) {
			t.Errorf("read back: %+v, want %+v", back, e)
		}
	}
}

func FuzzParseDocument(f *testing.F) {
	f.Add([]byte(foreign))
	f.Add([]byte(`[{"pid":7},null]`))
	f.Add([]byte(`{"instances":{"7":{"a":1,"a":2},"\u0037":{}}}`))
	for _, data := range corrupt {
		if len(data) < 5000 {
			f.Add([]byte(data))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parseDocument(data)
		if err != nil {
			if !errors.Is(err, errCorrupt) {
				t.Fatal(err)
			}
			return
		}
		before := d.entries()
		again, err := parseDocument(d.render())
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if !reflect.DeepEqual(again.entries(), before) || !bytes.Equal(again.render(), d.render()) {
			t.Fatal("written otherwise than read")
		}
		// Any change to it must be readable, and touch nobody else.
		d.sync([]registration{reg(7, 24282)}, map[int]bool{7: true}, notes{}, everybody, at(1790000000))
		after, err := parseDocument(d.render())
		if err != nil {
			t.Fatalf("after a change: %v", err)
		}
		if !d.list && after.find(7) < 0 {
			t.Fatal("the new entry is missing")
		}
	})
}
