package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

// now is the time of the tests of pure functions.
var now = at(1790000000)

func reg(pid, port int) registration {
	return registration{monitor.Identity{PID: pid, Start: uint64(pid) * 10}, Entry{
		PID: pid, Port: port, StartedAt: now.Add(-time.Hour), LastHeartbeat: now,
		Context: "ide", Modes: []string{"editing"}, ProjectName: "lamp", ProjectRoot: "/w/lamp", State: monitor.StateProject,
	}}
}

// everybody lives, started long ago, and is who he was.
func everybody(pid int) (alive, bool) { return alive{uint64(pid) * 10, at(0)}, true }

func nobody(int) (alive, bool) { return alive{}, false }

func mustParse(t interface{ Fatal(...any) }, data string) *document {
	d, err := parseDocument([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// records is a document of one record under the pid 7.
func record7(fields string) string { return `{"instances":{"7":{` + fields + `}}}` }

func TestRegister(t *testing.T) {
	ago := func(d time.Duration) string { return string(literal(seconds(now.Add(-d)))) }
	right := `"pid":7,"port":24282,"started_at":` + ago(59*time.Minute) + `,"last_heartbeat":` + ago(0) + `,"context":"ide","modes":["editing"],"project_name":"lamp","project_root":"/w/lamp","state":"live_with_project"`
	change := func(from, to string) string { return strings.Replace(right, from, to, 1) }
	r := reg(7, 24282)
	ours := notes{7: {Start: r.id.Start, Entry: now.Add(-59 * time.Minute).UnixMicro(), Created: true}}
	theirs := notes{7: {Start: r.id.Start, Entry: now.Add(-59 * time.Minute).UnixMicro()}}
	former := notes{7: {Start: 1, Entry: now.Add(-59 * time.Minute).UnixMicro()}}
	fresh := string(r.record())
	for _, c := range []struct {
		name   string
		before string
		known  notes
		out    outcome
		after  string // "": as before
	}{
		{"new", `{"instances":{}}`, nil, added, `{"instances":{"7":` + fresh + `}}`},
		{"new in an array", `[]`, nil, added, `[` + fresh + `]`},
		{"new in an array inside", `{"instances":[]}`, nil, added, `{"instances":[` + fresh + `]}`},
		{"right", record7(right), nil, unchanged, ""},
		{"right, in an array", `[{` + right + `}]`, nil, unchanged, ""},
		{"right, with more than we know", record7(right + `,"zombie_detected_at":null,"x":[1.50]`), nil, unchanged, ""},
		{"it touches itself", record7(change(ago(0), ago(-5*time.Second))), nil, unchanged, ""},
		{"a little old", record7(change(ago(0), ago(20*time.Second))), nil, unchanged, ""},
		{"old", record7(change(ago(0), ago(time.Minute))), nil, corrected, record7(right)},
		{"of the future", record7(change(ago(0), ago(-time.Hour))), nil, corrected, record7(right)},
		{"another state", record7(change("live_with_project", "live_no_project")), nil, corrected, record7(right)},
		{"called a zombie", record7(change("live_with_project", "zombie") + `,"zombie_detected_at":1.5,"x":1`), nil, corrected, record7(right + `,"zombie_detected_at":null,"x":1`)},
		{"no project", record7(change(`"project_name":"lamp","project_root":"/w/lamp"`, `"project_name":null,"project_root":null`)), nil, corrected, record7(right)},
		{"the directory spelled otherwise", record7(change("/w/lamp", "/w/lamp/")), nil, unchanged, ""},
		{"its own context and modes", record7(change(`"context":"ide","modes":["editing"]`, `"context":"mine","modes":["x"]`)), theirs, unchanged, ""},
		{"modes that we wrote", record7(change(`["editing"]`, `["x"]`)), ours, corrected, record7(right)},
		{"another port, known", record7(change("24282", "24290")), ours, corrected, record7(right)},
		{"another port, unknown, fresh", record7(change("24282", "24290")), nil, taken, ""},
		{"another port, unknown, old", record7(strings.Replace(change("24282", "24290"), ago(0), ago(time.Hour), 1)), nil, replaced, `{"instances":{"7":` + fresh + `}}`},
		{"written before it started, fresh", record7(change(ago(59*time.Minute), ago(2*time.Hour))), nil, taken, ""},
		{"written before it started, old", record7(strings.Replace(change(ago(59*time.Minute), ago(2*time.Hour)), ago(0), ago(time.Hour), 1)), nil, replaced, `{"instances":{"7":` + fresh + `}}`},
		{"of an earlier process that we knew", record7(right), former, replaced, `{"instances":{"7":` + fresh + `}}`},
		{"the last of two", `{"instances":{"7":{"x":1},"7":{` + change("live_with_project", "zombie") + `}}}`, nil, corrected, `{"instances":{"7":{"x":1},"7":{` + right + `}}}`},
		{"others beside it", `{"b":1.0,"instances":{"8":{"pid":8,"y":1e2},"x":null},"a":2}`, nil, added, `{"b":1.0,"instances":{"8":{"pid":8,"y":1e2},"x":null,"7":` + fresh + `},"a":2}`},
	} {
		d := mustParse(t, c.before)
		out, _ := d.register(r, c.known, now)
		if out != c.out {
			t.Errorf("%s: outcome %d, want %d", c.name, out, c.out)
		}
		if c.after == "" {
			c.after = c.before
		}
		if got := compact(t, d.render()); got != c.after {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.after)
		}
		if out != taken {
			known := maps.Clone(c.known)
			if known == nil {
				known = notes{}
			}
			var again changes
			again.register(d, r, known, now)
			if again.changed {
				t.Errorf("%s: the second time it changes again", c.name)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	e := func(started, beat time.Duration) Entry {
		return Entry{PID: 7, Port: 24282, StartedAt: now.Add(-started), LastHeartbeat: now.Add(-beat)}
	}
	const h, m = time.Hour, time.Minute
	known := note{Start: 70, Entry: now.Add(-h).UnixMicro()}
	for _, c := range []struct {
		name  string
		e     Entry
		n     note
		noted bool
		p     alive
		lives bool
		want  reason
	}{
		{"known, lives", e(h, h), known, true, alive{start: 70}, true, stays},
		{"known, lives, hidden from us", e(h, h), known, true, alive{}, true, stays},
		{"known, gone", e(h, 0), known, true, alive{}, false, ended},
		{"known, another process", e(h, 0), known, true, alive{start: 71}, true, ended},
		{"another entry under a pid we knew", e(h-m, 0), known, true, alive{start: 71}, true, stays},
		{"theirs, lives", e(h, 50*m), note{}, false, alive{1, now.Add(-h)}, true, stays},
		{"theirs, gone, fresh", e(h, 9*m), note{}, false, alive{}, false, stays},
		{"theirs, gone, old", e(h, 10*m), note{}, false, alive{}, false, vanished},
		{"theirs, gone, of the near future", e(h, -23*h), note{}, false, alive{}, false, stays},
		{"theirs, gone, of the far future", e(h, -25*h), note{}, false, alive{}, false, vanished},
		{"theirs, lives, of the far future", e(h, -25*h), note{}, false, alive{1, now.Add(-2 * h)}, true, stays},
		{"theirs, reused, fresh", e(h, m), note{}, false, alive{1, now.Add(-m)}, true, stays},
		{"theirs, reused, old", e(h, 30*m), note{}, false, alive{1, now.Add(-m)}, true, reused},
		{"theirs, started a little later, old", e(h, 30*m), note{}, false, alive{1, now.Add(-h + m)}, true, stays},
		{"theirs, start not known, old", e(h, 30*m), note{}, false, alive{1, time.Time{}}, true, stays},
		{"theirs, no heartbeat, old", Entry{PID: 7, StartedAt: now.Add(-h)}, note{}, false, alive{}, false, vanished},
		{"theirs, no time at all", Entry{PID: 7}, note{}, false, alive{}, false, stays},
	} {
		if got := judge(c.e, c.n, c.noted, c.p, c.lives, now); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSyncEvents(t *testing.T) {
	old := `"started_at":1,"last_heartbeat":1`
	d := mustParse(t, `{"instances":{"3":{`+old+`},"4":{"project_name":"a\u001bb","port":5,`+old+`},"5":{`+old+`},"6":null,"7":{"port":9,`+old+`}}}`)
	known := notes{
		3: {Start: 30, Entry: at(1).UnixMicro(), Present: true},
		5: {Start: 50, Entry: at(1).UnixMicro()},
	}
	c := d.sync([]registration{reg(7, 24282)}, map[int]bool{7: true}, known, nobody, now)
	var got []string
	for _, e := range c.events {
		if e.Kind != monitor.EventPruned || !e.At.Equal(now) || e.Detail == "" {
			t.Errorf("event %+v", e)
		}
		got = append(got, fmt.Sprintf("%s|%d|%s", e.ID, e.PID, e.Label))
	}
	// The end of 3 was seen, and told by who saw it.
	want := []string{"|7|9 - NO PROJECT", "|4|5 - ab", "5-50|5|pid 5 - NO PROJECT"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(known) != 1 || known[7].Start != 70 || !known[7].Created {
		t.Errorf("notes %+v", known)
	}
	if got := compact(t, d.render()); got != `{"instances":{"6":null,"7":`+string(reg(7, 24282).record())+`}}` {
		t.Error(got)
	}
}

// changes is change, whose name a function of a test hides.
type changes = change

// TestTwoWriters lets another program and us change one registry in turn. What
// the other wrote and what nobody understands must stay as it is.
func TestTwoWriters(t *testing.T) {
	values := rapid.SampledFrom([]string{`1`, `1.50`, `-0`, `1e400`, `9007199254740993`, `12345678901234567890`, `"<&>\u00e4\ud800"`, `null`, `[]`, `{"a":{"a":1,"a":2}}`, `[1.0,{"b":null}]`})
	rapid.Check(t, func(t *rapid.T) {
		array := rapid.Bool().Draw(t, "array")
		top := map[string]string{}
		theirs := map[int]string{} // their records by pid, as they wrote them
		data := []byte(`{"instances":{},"version":1.0}`)
		if array {
			data = []byte(`[null]`)
		} else {
			top["version"] = "1.0"
		}
		known, mine := notes{}, map[int]registration{}
		parsed := func() *document {
			d, err := parseDocument(data)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		lookup := func(pid int) (alive, bool) {
			_, own := mine[pid]
			_, other := theirs[pid]
			return alive{uint64(pid) * 10, at(0)}, own || (other && pid%2 == 0)
		}
		pids := rapid.IntRange(1, 12)
		t.Repeat(map[string]func(*rapid.T){
			"they write": func(t *rapid.T) {
				pid := pids.Draw(t, "pid")
				if _, own := mine[pid]; own {
					return
				}
				record := fmt.Sprintf(`{"pid":%d,"port":%d,"started_at":1,"last_heartbeat":%s,"x":%s}`, pid, pid+100, literal(seconds(now)), values.Draw(t, "x"))
				d := parsed()
				if i := d.find(pid); i >= 0 {
					d.slots[i].value = json.RawMessage(record)
				} else if array {
					d.slots = append(d.slots, slot{value: json.RawMessage(record)})
				} else {
					d.slots = append(d.slots, slot{raw: literal(strconv.Itoa(pid)), value: json.RawMessage(record)})
				}
				theirs[pid], data = record, d.render()
			},
			"they remove": func(t *rapid.T) {
				pid := pids.Draw(t, "pid")
				if _, there := theirs[pid]; !there {
					return
				}
				d := parsed()
				d.slots = slices.Delete(d.slots, d.find(pid), d.find(pid)+1)
				delete(theirs, pid)
				data = d.render()
			},
			"they write something else": func(t *rapid.T) {
				if array {
					return
				}
				d, key := parsed(), rapid.SampledFrom([]string{"lifecycle_events", "a", "ä"}).Draw(t, "key")
				top[key] = values.Draw(t, "value")
				d.top.set(key, json.RawMessage(top[key]))
				data = d.render()
			},
			"we register": func(t *rapid.T) {
				pid := pids.Draw(t, "pid")
				if _, other := theirs[pid]; other {
					return
				}
				r := reg(pid, 24282+pid)
				r.State = rapid.SampledFrom([]monitor.State{monitor.StateProject, monitor.StateNoProject, monitor.StateZombie}).Draw(t, "state")
				r.ProjectName = rapid.String().Draw(t, "project")
				mine[pid] = r
				d := parsed()
				var c change
				c.register(d, r, known, now)
				data = d.render()
			},
			"one of ours ends": func(t *rapid.T) {
				delete(mine, pids.Draw(t, "pid"))
			},
			"we sync": func(t *rapid.T) {
				d := parsed()
				var want []registration
				live := map[int]bool{}
				for pid, r := range mine {
					want, live[pid] = append(want, r), true
				}
				c := d.sync(want, live, known, lookup, now)
				if len(c.events) > 0 {
					t.Fatalf("pruned: %+v", c.events)
				}
				if c.changed {
					data = d.render()
				}
				d = parsed()
				if c := d.sync(want, live, known, lookup, now); c.changed {
					t.Fatalf("not in step: %s", data)
				}
				for _, e := range d.entries() {
					if _, own := mine[e.PID]; !own && theirs[e.PID] == "" {
						t.Fatalf("a dead entry is left: %+v", e)
					}
				}
			},
			"": func(t *rapid.T) {
				d := parsed()
				if d.array != array {
					t.Fatal("another shape")
				}
				for key, want := range top {
					if got := compact(t, d.top.get(key)); got != compact(t, []byte(want)) {
						t.Fatalf("%s is %s, was %s", key, got, want)
					}
				}
				for pid, want := range theirs {
					if i := d.find(pid); i < 0 || compact(t, d.slots[i].value) != compact(t, []byte(want)) {
						t.Fatalf("their %d is not %s: %s", pid, want, data)
					}
				}
				if array && !bytes.Contains(data, []byte("null")) {
					t.Fatal("what nobody understands is gone")
				}
				for pid := range mine {
					i := d.find(pid)
					if i < 0 || !known[pid].Created {
						t.Fatalf("our %d is missing: %s", pid, data)
					}
					o, err := parseObject(d.slots[i].value)
					if err != nil || len(o) != 9 {
						t.Fatalf("our record has other fields: %s", d.slots[i].value)
					}
				}
			},
		})
	})
}
