package events

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

func TestEncode(t *testing.T) {
	e := monitor.Event{
		At: time.Date(2026, 11, 20, 13, 0, 0, 123456789, time.FixedZone("", 3600)), Kind: monitor.EventZombieDetected,
		ID: "12-34", PID: 12, Label: "2 - al\x1b[2Jpha", Detail: "suspended:\n <it> & \u202eso",
	}
	const want = `{"at":"2026-11-20T12:00:00.123Z","kind":"zombie_detected","id":"12-34","pid":12,"label":"2 - al[2Jpha","detail":"suspended: <it> & so"}` + "\n"
	if got := encode(e); string(got) != want {
		t.Errorf("got %s", got)
	}
	e.Kind, e.FreedBytes = monitor.EventEnded, 640_000_000
	if got := encode(e); !bytes.HasSuffix(got, []byte(`so","freed_bytes":640000000}`+"\n")) {
		t.Errorf("got %s", got)
	}
	if e, err := parse([]byte(`{"at":"2026-11-20T12:00:00Z","kind":"\u001b[2J"}`)); err != nil || e.Kind != "[2J" {
		t.Errorf("read %+v, %v", e, err)
	}
	if got := encode(monitor.Event{At: time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)}); len(got) > 0 {
		t.Error("a year that RFC 3339 cannot express passes")
	}
}

// What is written is one line, reads as the same event, and writes as the same
// line again.
func TestEncodeParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		foreign := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes")) })
		e := monitor.Event{
			At:    noon.Add(time.Duration(rapid.Int64().Draw(t, "after"))),
			Kind:  monitor.EventKind("k" + foreign.Draw(t, "kind")),
			PID:   rapid.Int().Draw(t, "pid"),
			ID:    foreign.Draw(t, "id"),
			Label: foreign.Draw(t, "label"), Detail: foreign.Draw(t, "detail"),
			FreedBytes: rapid.Uint64().Draw(t, "freed"),
		}
		text := encode(e)
		body, ended := bytes.CutSuffix(text, []byte("\n"))
		if !ended || bytes.ContainsFunc(body, monitor.Unprintable) {
			t.Fatalf("%.300q", text)
		}
		back, err := parse(body)
		if err != nil {
			t.Fatal(err)
		}
		if again := encode(back); !bytes.Equal(again, text) {
			t.Errorf("%.300q is %.300q when written again", text, again)
		}
	})
}

// A line of which only a part was written does not spoil the next one.
func TestHalfLine(t *testing.T) {
	dir := t.TempDir()
	write(t, path(dir), line(1)+line(2)[:20])
	if _, err := Write(dir, event(3)); err != nil {
		t.Fatal(err)
	}
	if list := all(t, dir); !slices.Equal(pids(list), []int{1, 3}) || list.Skipped != 1 {
		t.Errorf("%v, %d broken", pids(list), list.Skipped)
	}
}
