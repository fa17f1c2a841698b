package dashboard

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

// memory makes a point of which only the memory matters.
func memory(at int64, rss uint64) point { return point{at: at, rss: rss, cpu: noCPU, calls: noCalls} }

func TestSeries(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    []point
		until int64
		want  []point
	}{
		{"nothing", nil, 5, nil},
		{"one", []point{memory(100, 1)}, 100, []point{memory(100, 1)}},
		{"it holds", []point{memory(100, 1)}, 500, []point{memory(100, 1), memory(500, 1)}},
		{"the same again", []point{memory(100, 1), memory(150, 1)}, 150, []point{memory(100, 1), memory(150, 1)}},
		{"too soon for a point, but the newest", []point{memory(100, 1), memory(103, 2)}, 103, []point{memory(100, 1), memory(103, 2)}},
		{"within a second", []point{memory(100, 1), memory(100, 2)}, 100, []point{memory(100, 2)}},
		{
			"too soon for a point, then it held", []point{memory(100, 1), memory(103, 2), memory(200, 3)}, 200,
			[]point{memory(100, 1), memory(110, 2), memory(199, 2), memory(200, 3)},
		},
		{
			"there and back", []point{memory(100, 1), memory(103, 2), memory(105, 1), memory(200, 3)}, 200,
			[]point{memory(100, 1), memory(199, 1), memory(200, 3)},
		},
		{
			"a jump is no slope", []point{memory(100, 1), memory(1000, 9)}, 1000,
			[]point{memory(100, 1), memory(999, 1), memory(1000, 9)},
		},
		{
			"a day later", []point{memory(100, 1), memory(200, 2)}, 200 + 86400 + 50,
			[]point{memory(250, 2), memory(200+86400+50, 2)},
		},
		{
			"the clock was set back", []point{memory(1000, 1), memory(2000, 2), memory(1500, 3)}, 1501,
			[]point{memory(1000, 1), memory(1499, 1), memory(1500, 3), memory(1501, 3)},
		},
		{"set back before all", []point{memory(1000, 1), memory(2000, 2), memory(5, 2)}, 6, []point{memory(5, 2), memory(6, 2)}},
	} {
		s := newSeries()
		for _, p := range c.in {
			s.observe(p)
		}
		if got := s.join(c.until); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %v\nwant %v", c.name, got, c.want)
		}
	}
}

// held is what a figure was, second by second: each value until the next.
type held []point

// between are the values from one second to another, that of before included.
func (h held) between(from, to int64) []uint64 {
	var values []uint64
	for i, p := range h {
		if p.at > to {
			break
		}
		if i+1 == len(h) || h[i+1].at >= from {
			values = append(values, p.rss)
		}
	}
	return values
}

// A series is true to what was observed, to the resolution that it promises.
func TestSeriesIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSeries()
		s.fine.most, s.outline.most = rapid.IntRange(1, 20).Draw(t, "fine"), rapid.IntRange(1, 20).Draw(t, "outline")
		var was held
		at := int64(1_000_000)
		gap := rapid.OneOf(rapid.Int64Range(0, 15), rapid.Int64Range(0, 700))
		for range rapid.IntRange(1, 80).Draw(t, "observations") {
			p := memory(at, rapid.Uint64Range(1, 3).Draw(t, "value"))
			was = append(was, p)
			s.observe(p)
			at += gap.Draw(t, "gap")
		}
		points := s.join(at)
		if len(points) > 2*(s.fine.most+s.outline.most)+2 || s.fine.n > s.fine.most || s.outline.n > s.outline.most {
			t.Fatalf("%d points", len(points))
		}
		if end := points[len(points)-1]; end != memory(at, was[len(was)-1].rss) {
			t.Fatalf("ends with %v, the newest is %v", end, was[len(was)-1])
		}
		began := s.fine.get(0).at
		for i, p := range points {
			if i > 0 && p.at <= points[i-1].at {
				t.Fatalf("times do not ascend: %v", points)
			}
			end := p.at
			if i+1 < len(points) {
				end = points[i+1].at - 1
			}
			step := s.fine.step
			if end < began {
				step = s.outline.step
			}
			// In the outline, what lies between the last of its points and the
			// first detail has been forgotten.
			if p.at < began && end == began-1 {
				end = p.at
			}
			for _, second := range []int64{p.at, (p.at + end) / 2, end} {
				if !slices.Contains(was.between(second-step, second), p.rss) {
					t.Fatalf("at %d it is told to be %d, and was %v: %v of %v", second, p.rss, was.between(second-step, second), points, was)
				}
			}
		}
	})
}

// Whatever the clock does, a series is in order and ends with the newest.
func TestSeriesSurvivesTheClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSeries()
		at := int64(1_000_000)
		for range rapid.IntRange(1, 200).Draw(t, "observations") {
			at += rapid.OneOf(rapid.Int64Range(-20, 30), rapid.Int64Range(-200_000, 200_000)).Draw(t, "gap")
			p := memory(at, rapid.Uint64Range(0, 3).Draw(t, "value"))
			s.observe(p)
			points := s.join(at)
			if !slices.IsSortedFunc(points, func(a, b point) int { return int(a.at - b.at) }) || points[len(points)-1] != p {
				t.Fatalf("%v after %v", points, p)
			}
			for i := range points[1:] {
				if points[i].at == points[i+1].at {
					t.Fatalf("%v is there twice", points[i].at)
				}
			}
		}
	})
}

// What one instance costs, and all together. The package documentation has the
// figures.
func TestCostOfHistory(t *testing.T) {
	const mostOfOne, mostOfAll = 15 << 10, 8 << 20
	size := func(s *series) int {
		return int(unsafe.Sizeof(*s)) + (len(s.fine.points)+len(s.outline.points))*int(unsafe.Sizeof(point{}))
	}
	s := newSeries()
	s.observe(memory(1_000_000, 1))
	if n := size(s); n > 1<<10 {
		t.Errorf("a young one takes %d bytes", n)
	}
	for i := range int64(2 * 24 * 360) {
		s.observe(memory(1_000_000+10*i, uint64(i+1)))
	}
	if n := size(s); s.fine.n != finePoints || s.outline.n != outlineMost || n > mostOfOne {
		t.Errorf("an old one takes %d bytes for %d and %d points", n, s.fine.n, s.outline.n)
	}
	if n := size(s) * seriesMost; n > mostOfAll {
		t.Errorf("all together take %d bytes", n)
	}
	if points := s.join(1_000_000 + 10*2*24*360); points[len(points)-1].at-points[0].at < int64(outlineSpan/time.Second)-300 {
		t.Errorf("it tells of %d s only", points[len(points)-1].at-points[0].at)
	}
}

func TestColumns(t *testing.T) {
	number := func(f float64) *float64 { return &f }
	calls := func(n int64) *int64 { return &n }
	at := time.Unix(100, 5)
	var points []point
	for i, in := range []*monitor.Instance{
		{},
		{RSSBytes: 7, CPUPercent: number(0), ToolCalls: calls(0)},
		{CPUPercent: number(math.NaN()), ToolCalls: calls(-3)},
		{CPUPercent: number(math.Inf(1))},
	} {
		points = append(points, pointOf(in, at.Add(time.Duration(i)*time.Second)))
	}
	text, err := json.Marshal(columns(monitor.Identity{PID: 1, Start: 2}, points))
	const want = `{"id":"1-2","times":[100,101,102,103],"rss_bytes":[null,7,null,null],"cpu_percent":[null,0,null,null],"tool_calls":[null,0,null,null]}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	text, err = json.Marshal(columns(monitor.Identity{PID: 1, Start: 2}, nil))
	if err != nil || string(text) != `{"id":"1-2","times":[],"rss_bytes":[],"cpu_percent":[],"tool_calls":[]}` {
		t.Errorf("%s, %v", text, err)
	}
}
