package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/monitor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// foreign is a registry as the programs that know it write it.
const foreign = `{"instances": {"31093": {"pid": 31093, "port": 24282, "started_at": 1790000000.25, "last_heartbeat": 1790000060.5,
 "context": "ide", "modes": ["editing", "interactive"], "project_name": "lamp", "project_root": "/w/lamp", "state": "live_with_project", "zombie_detected_at": null}},
 "lifecycle_events": [{"timestamp": 1.5e9, "pid": 12345678901234567890}], "global_dashboard_pid": null, "global_dashboard_port": 25282}`

func TestParseDocument(t *testing.T) {
	lamp := Entry{31093, 24282, 1790000000.25, 1790000060.5, "ide", []string{"editing", "interactive"}, "lamp", "/w/lamp", monitor.StateProject}
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
		{"array of records", `[{"pid": 7, "port": 1}, {"pid": 8}]`, []Entry{{PID: 7, Port: 1}, {PID: 8}}},
		{"the pid in the key alone", `{"instances": {"7": {"port": 1}}}`, []Entry{{PID: 7, Port: 1}}},
		{"bad among good", `{"instances": {"x": {"pid": 9}, "-4": {}, "0": {}, "5": null, "6": "s", "7": {"port": 1}, "8": {"pid": 9}}}`, []Entry{{PID: 7, Port: 1}}},
		{"bad in an array", `[1, null, "s", [], {}, {"pid": "7"}, {"pid": 7.5}, {"pid": -1}, {"pid": 1e99}, {"pid": 7}]`, []Entry{{PID: 7}}},
		{"wrong types", `[{"pid": 7, "port": "x", "started_at": "y", "last_heartbeat": 1e400, "context": 1, "modes": 2, "state": [], "project_name": "p"}]`, []Entry{{PID: 7, ProjectName: "p"}}},
	} {
		d, err := parseDocument([]byte(c.data))
		if got := d.entries(); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

// broken is what no program can read, by name.
var broken = map[string]string{
	"garbage":         "{{{ not json",
	"cut off":         foreign[:len(foreign)/2],
	"something after": foreign + "x",
	"a number":        "42",
	"a string":        `"instances"`,
	"wrong type":      `{"instances": "none"}`,
	"wrong number":    `{"instances": 3}`,
	"array inside":    `{"instances": [{"pid": 7}]}`,
	"zeros":           strings.Repeat("\x00", 4096),
	"UTF-16":          "\xff\xfe{\x00}\x00",
	"nested too deep": strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
}

func TestParseBroken(t *testing.T) {
	for name, data := range broken {
		if d, err := parseDocument([]byte(data)); err == nil {
			t.Errorf("%s: %+v", name, d)
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

func rendered(t interface{ Fatal(...any) }, d document) string {
	text, err := d.format()
	if err != nil {
		t.Fatal(err)
	}
	return compact(t, text)
}

func mustParse(t interface{ Fatal(...any) }, data string) document {
	d, err := parseDocument([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What is not changed is written as it was read, but for the order of keys.
func TestFormatKeeps(t *testing.T) {
	for data, want := range map[string]string{
		`[{"pid":7,"x":1.50,"y":1E+2},null,"s",12345678901234567890]`: "",
		`[]`: "",
		`{"a":[1,{"b":"c"}],"instances":{"7":{"pid":7}},"z":null}`:                            "",
		`{"n":9007199254740993,"instances":{"7":{"b":1.0,"a":"<>&\/\udfff"},"x":null},"a":1}`: `{"a":1,"instances":{"7":{"b":1.0,"a":"<>&\/\udfff"},"x":null},"n":9007199254740993}`,
		``:                    `{"instances":{}}`,
		`null`:                `{"instances":{}}`,
		`{"instances": null}`: `{"instances":{}}`,
	} {
		if want == "" {
			want = data
		}
		if got := rendered(t, mustParse(t, data)); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}

func TestRecord(t *testing.T) {
	for want, e := range map[string]Entry{
		`{"pid":7,"port":24282,"started_at":1790000000.0,"last_heartbeat":1790000000.123456,"context":"ide","modes":["a"],"project_name":"p","project_root":"/p","state":"live_with_project"}`: {7, 24282, 1790000000, 1790000000.123456, "ide", []string{"a"}, "p", "/p", monitor.StateProject},
		`{"pid":7,"port":24282,"started_at":1.5,"last_heartbeat":1.5,"context":null,"modes":[],"project_name":null,"project_root":null,"state":"live_no_project"}`:                             {7, 24282, 1.5, 1.5, "", []string{}, "", "", monitor.StateNoProject},
	} {
		got, err := json.Marshal(e)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
		if back := parseRecord("7", got).entry; !reflect.DeepEqual(back, e) {
			t.Errorf("read back: %+v, want %+v", back, e)
		}
	}
}

func FuzzParseDocument(f *testing.F) {
	f.Add([]byte(foreign))
	f.Add([]byte(`[{"pid":7},null]`))
	f.Add([]byte(`{"instances":{"7":{"a":1,"a":2},"\u0037":{}}}`))
	for _, data := range broken {
		if len(data) < 5000 {
			f.Add([]byte(data))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parseDocument(data)
		if err != nil {
			return
		}
		again := mustParse(t, rendered(t, d))
		if !reflect.DeepEqual(again.entries(), d.entries()) || rendered(t, again) != rendered(t, d) {
			t.Fatal("written otherwise than read")
		}
		// Any change to it must be readable.
		d.update([]registration{reg(7, 24282)}, map[int]note{}, everybody, now)
		if after := mustParse(t, rendered(t, d)); after.find(7) < 0 {
			t.Fatal("the new entry is missing")
		}
	})
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	if _, err := List(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	write(t, path, foreign)
	if list, err := List(dir); err != nil || len(list) != 1 || list[0].PID != 31093 {
		t.Errorf("%v, %v", list, err)
	}
	for _, data := range []string{"{", strings.Repeat(" ", maxSize+1)} {
		write(t, path, data)
		if _, err := List(dir); !errors.Is(err, ErrBroken) {
			t.Error(err)
		}
	}
}

func TestLook(t *testing.T) {
	if p, lives := look(os.Getpid()); !lives || p.start == 0 || p.began == 0 || p.began > secondsOf(time.Now()) {
		t.Errorf("ourselves: %+v, %v", p, lives)
	}
	if p, lives := look(1 << 30); lives || !(Entry{PID: 1 << 30}).Ended() {
		t.Errorf("nobody: %+v", p)
	}
}
