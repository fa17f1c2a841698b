package registry

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

// now is the time of the tests of pure functions.
var now = time.Unix(1790000000, 0)

func reg(pid, port int) registration {
	return registration{monitor.Identity{PID: pid, Start: uint64(pid) * 10}, Entry{
		PID: pid, Port: port, StartedAt: secondsOf(now.Add(-time.Hour)), LastHeartbeat: secondsOf(now),
		Context: "ide", Modes: []string{"editing"}, ProjectName: "lamp", ProjectRoot: "/w/lamp", State: monitor.StateProject,
	}, false}
}

// everybody lives, started long ago, and is who he was.
func everybody(pid int) (running, bool) { return running{uint64(pid) * 10, 1}, true }

func nobody(int) (running, bool) { return running{}, false }

func literal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// record7 is a document of one record under the pid 7.
func record7(fields string) string { return `{"instances":{"7":{` + fields + `}}}` }

// equal reports whether two texts are the same JSON, but for the order of keys.
func equal(t interface{ Fatal(...any) }, a, b string) bool {
	var values [2]any
	for i, text := range []string{a, b} {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&values[i]); err != nil {
			t.Fatal(err)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

func TestRegister(t *testing.T) {
	ago := func(d time.Duration) string { return literal(secondsOf(now.Add(-d))) }
	right := `"pid":7,"port":24282,"started_at":` + ago(59*time.Minute) + `,"last_heartbeat":` + ago(0) + `,"context":"ide","modes":["editing"],"project_name":"lamp","project_root":"/w/lamp","state":"live_with_project"`
	change := func(from, to string) string { return strings.Replace(right, from, to, 1) }
	old := func(fields string) string { return strings.Replace(fields, ago(0), ago(time.Hour), 1) }
	r := reg(7, 24282)
	ours := map[int]note{7: {r.id.Start, secondsOf(now.Add(-59 * time.Minute)), true}}
	former := map[int]note{7: {1, secondsOf(now.Add(-59 * time.Minute)), true}}
	fresh := literal(r.Entry)
	const same = ""
	for _, c := range []struct {
		name   string
		before string
		known  map[int]note
		after  string
	}{
		{"new", `{"instances":{}}`, nil, `{"instances":{"7":` + fresh + `}}`},
		{"new in an array", `[]`, nil, `[` + fresh + `]`},
		{"right", record7(right), nil, same},
		{"right, in an array", `[{` + right + `}]`, nil, same},
		{"right, with more than we know", record7(right + `,"zombie_detected_at":null,"x":[1.50]`), nil, same},
		{"it touches itself", record7(change(ago(0), ago(-5*time.Second))), nil, same},
		{"a little old", record7(change(ago(0), ago(20*time.Second))), nil, same},
		{"old", record7(change(ago(0), ago(time.Minute))), nil, record7(right)},
		{"another state", record7(change("live_with_project", "live_no_project")), nil, record7(right)},
		{"called a zombie", record7(change("live_with_project", "zombie") + `,"zombie_detected_at":1.5,"x":1.50`), nil, record7(right + `,"zombie_detected_at":null,"x":1.50`)},
		{"no project", record7(change(`"project_name":"lamp","project_root":"/w/lamp"`, `"project_name":null,"project_root":null`)), nil, record7(right)},
		{"the directory spelled otherwise", record7(change("/w/lamp", "/w/lamp/")), nil, same},
		{"another context and other modes", record7(change(`"context":"ide","modes":["editing"]`, `"context":"mine","modes":["x"]`)), nil, same},
		{"another context and other modes, in ours", record7(change(`"context":"ide","modes":["editing"]`, `"context":"mine","modes":["x"]`)), ours, record7(right)},
		{"no context and no modes", record7(change(`"context":"ide","modes":["editing"]`, `"context":null,"modes":[]`)), nil, record7(right)},
		{"another port, known", record7(change("24282", "24290")), ours, record7(right)},
		{"another port, unknown, fresh", record7(change("24282", "24290")), nil, same},
		{"another port, unknown, old", record7(old(change("24282", "24290"))), nil, `{"instances":{"7":` + fresh + `}}`},
		{"another port, of an earlier process, fresh", record7(change("24282", "24290")), former, same},
		{"written before it started, fresh", record7(change(ago(59*time.Minute), ago(2*time.Hour))), nil, same},
		{"written before it started, old", record7(old(change(ago(59*time.Minute), ago(2*time.Hour)))), nil, `{"instances":{"7":` + fresh + `}}`},
		{"others beside it", `{"b":1.0,"instances":{"8":{"pid":8,"y":1e2},"x":null},"a":2}`, nil, `{"b":1.0,"instances":{"8":{"pid":8,"y":1e2},"x":null,"7":` + fresh + `},"a":2}`},
	} {
		if c.after == same {
			c.after = c.before
		}
		d, known := mustParse(t, c.before), map[int]note{}
		maps.Copy(known, c.known)
		if changed := d.register(r, known, now); changed != (c.after != c.before) {
			t.Errorf("%s: changed %v", c.name, changed)
		}
		if got := rendered(t, d); !equal(t, got, c.after) {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.after)
		}
		if d.register(r, known, now) {
			t.Errorf("%s: the second time it changes again", c.name)
		}
	}
}

func TestJudge(t *testing.T) {
	before := func(d time.Duration) seconds { return secondsOf(now.Add(-d)) }
	e := func(started, beat time.Duration) Entry {
		return Entry{PID: 7, Port: 24282, StartedAt: before(started), LastHeartbeat: before(beat)}
	}
	const h, m = time.Hour, time.Minute
	const stays, ended, vanished, reused = "", "its process has ended", "its process is gone", "its pid belongs to another process"
	for _, c := range []struct {
		name  string
		e     Entry
		noted bool // with the start 70
		p     running
		lives bool
		want  string
	}{
		{"known, lives", e(h, h), true, running{start: 70}, true, stays},
		{"known, lives, hidden from us", e(h, h), true, running{}, true, stays},
		{"known, gone", e(h, 0), true, running{}, false, ended},
		{"known, another process", e(h, 0), true, running{start: 71}, true, ended},
		{"theirs, lives", e(h, 50*m), false, running{1, before(h)}, true, stays},
		{"theirs, gone, fresh", e(h, 9*m), false, running{}, false, stays},
		{"theirs, gone, old", e(h, 10*m), false, running{}, false, vanished},
		{"theirs, gone, of the future", e(h, -h), false, running{}, false, stays},
		{"theirs, reused, fresh", e(h, m), false, running{1, before(m)}, true, stays},
		{"theirs, reused, old", e(h, 30*m), false, running{1, before(m)}, true, reused},
		{"theirs, started a little later, old", e(h, 30*m), false, running{1, before(h - m)}, true, stays},
		{"theirs, start not known, old", e(h, 30*m), false, running{1, 0}, true, stays},
		{"theirs, no heartbeat, old", Entry{PID: 7, StartedAt: before(h)}, false, running{}, false, vanished},
		{"theirs, no time at all", Entry{PID: 7}, false, running{}, false, stays},
	} {
		if got := judge(c.e, note{start: 70}, c.noted, c.p, c.lives, now); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Of whom is taken out only the end of somebody else's is told: that of 3 was
// seen, and told by who saw it.
func TestUpdatePrunes(t *testing.T) {
	const old = `"started_at":1,"last_heartbeat":1`
	d := mustParse(t, `{"instances":{"3":{`+old+`},"4":{"project_name":"a\u001bb","port":5,`+old+`},"5":{"last_heartbeat":1790000000.0},"6":null}}`)
	known := map[int]note{3: {30, 1, true}, 9: {90, 1, true}}
	changed, pruned := d.update(nil, known, nobody, now)
	if !changed || len(pruned) != 1 || pruned[0].Kind != monitor.EventPruned || pruned[0].PID != 4 || pruned[0].Label != "4 - ab" || !pruned[0].At.Equal(now) {
		t.Errorf("%v, %+v", changed, pruned)
	}
	if got := rendered(t, d); got != `{"instances":{"5":{"last_heartbeat":1790000000.0},"6":null}}` || len(known) != 0 {
		t.Errorf("%s, known %v", got, known)
	}
}

func TestUpdateGivesUp(t *testing.T) {
	d, known, r := mustParse(t, `{"instances":{}}`), map[int]note{}, reg(7, 24282)
	d.update([]registration{r}, known, everybody, now)
	given := r
	given.givenUp = true
	if changed, pruned := d.update([]registration{given}, known, everybody, now); !changed || len(pruned) != 0 || len(d.all) != 0 {
		t.Errorf("given up: changed %v, pruned %v, %d left", changed, pruned, len(d.all))
	}
	if changed, _ := d.update([]registration{r}, known, everybody, now); !changed || len(d.all) != 1 {
		t.Errorf("back: changed %v, %d entries", changed, len(d.all))
	}
}

// TestTwoWriters lets another program and us change one registry in turn. What
// the other wrote and what nobody understands must stay as it is.
func TestTwoWriters(t *testing.T) {
	values := rapid.SampledFrom([]string{`1`, `1.50`, `-0`, `1e400`, `9007199254740993`, `12345678901234567890`, `"<&>\u00e4"`, `null`, `[]`, `[1.0,{"b":null}]`})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.Bool().Draw(t, "list")
		theirs := map[int]string{} // their records by pid, as they wrote them
		top := "1.50"
		data := `{"instances":{"x":null},"top":1.50}`
		if list {
			data = `[null]`
		}
		known, mine := map[int]note{}, map[int]registration{}
		lookup := func(pid int) (running, bool) {
			_, own := mine[pid]
			_, other := theirs[pid]
			return running{uint64(pid) * 10, 1}, own || other && pid%2 == 0
		}
		update := func() (changed bool) {
			d := mustParse(t, data)
			changed, pruned := d.update(slices.Collect(maps.Values(mine)), known, lookup, now)
			if len(pruned) > 0 {
				t.Fatalf("pruned: %+v", pruned)
			}
			data = rendered(t, d)
			return changed
		}
		pids := rapid.IntRange(1, 12)
		t.Repeat(map[string]func(*rapid.T){
			"they write": func(t *rapid.T) {
				pid := pids.Draw(t, "pid")
				if _, own := mine[pid]; own || known[pid] != (note{}) {
					return
				}
				theirs[pid] = fmt.Sprintf(`{"pid":%d,"port":%d,"started_at":1,"last_heartbeat":%s,"x":%s}`, pid, pid+100, literal(secondsOf(now)), values.Draw(t, "x"))
				d := mustParse(t, data)
				if i := d.find(pid); i >= 0 {
					d.all = slices.Delete(d.all, i, i+1)
				}
				d.all = append(d.all, record{key: strconv.Itoa(pid), raw: json.RawMessage(theirs[pid])})
				data = rendered(t, d)
			},
			"they remove": func(t *rapid.T) {
				pid := pids.Draw(t, "pid")
				if _, there := theirs[pid]; !there {
					return
				}
				d := mustParse(t, data)
				d.all = slices.Delete(d.all, d.find(pid), d.find(pid)+1)
				delete(theirs, pid)
				data = rendered(t, d)
			},
			"they write something else": func(t *rapid.T) {
				d := mustParse(t, data)
				if list {
					return // there is nothing else in one
				}
				top = values.Draw(t, "top")
				d.top["top"] = json.RawMessage(top)
				data = rendered(t, d)
			},
			"one of ours begins": func(t *rapid.T) {
				pid := pids.Draw(t, "pid")
				if _, other := theirs[pid]; other {
					return
				}
				r := reg(pid, 24282+pid)
				r.State = rapid.SampledFrom([]monitor.State{monitor.StateProject, monitor.StateNoProject, monitor.StateZombie}).Draw(t, "state")
				r.ProjectName = text(rapid.String().Draw(t, "project"))
				mine[pid] = r
			},
			"one of ours ends": func(t *rapid.T) { delete(mine, pids.Draw(t, "pid")) },
			"we update": func(t *rapid.T) {
				update()
				if update() {
					t.Fatalf("not in step: %s", data)
				}
				d := mustParse(t, data)
				for _, e := range d.entries() {
					if _, own := mine[e.PID]; !own && theirs[e.PID] == "" {
						t.Fatalf("a dead entry is left: %+v", e)
					}
				}
				for pid := range mine {
					i := d.find(pid)
					if i < 0 {
						t.Fatalf("our %d is missing: %s", pid, data)
					}
					var fields map[string]any
					if err := json.Unmarshal(d.all[i].raw, &fields); err != nil || len(fields) != 9 {
						t.Fatalf("our record has other fields: %s", d.all[i].raw)
					}
				}
			},
			"": func(t *rapid.T) {
				d := mustParse(t, data)
				if d.list != list || !list && !equal(t, string(d.top["top"]), top) || !strings.Contains(data, "null") {
					t.Fatalf("another shape, or something is lost: %s", data)
				}
				for pid, want := range theirs {
					if i := d.find(pid); i < 0 || !equal(t, string(d.all[i].raw), want) {
						t.Fatalf("their %d is not %s: %s", pid, want, data)
					}
				}
			},
		})
	})
}
